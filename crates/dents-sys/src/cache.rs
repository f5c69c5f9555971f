//! The processor's caches.

/// Begins to fetch the cache line at `place`, which the caller will read some hundred nanoseconds later.
///
/// Makes no system call, and only changes the time of that read. On architectures other than x86-64 it does nothing.
#[inline(always)]
pub fn fetch<T: ?Sized>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint reads nothing and faults nowhere, and every x86-64 processor takes it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(place).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
