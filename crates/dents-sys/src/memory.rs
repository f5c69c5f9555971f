//! Ends a program on std with a message where memory runs out.
//!
//! The size of most allocations follows from the input: a tree, a file. Rust's collections abort the process if one of them fails, which
//! leaves a core and the status 134. This allocator sees each failure first, so no collection needs a check. (`dls` has an allocator of
//! its own, in `dents-rt`.)
//!
//! C libraries call `malloc` themselves, and return errors.

use crate::fatal;
use crate::stdio::STDERR;
use core::alloc::{GlobalAlloc, Layout};

/// An allocator that ends the process where `inner` has no memory: it gives the terminal back, writes `message` to standard error, and
/// exits with `status`. A successful call costs one comparison more.
///
/// So `try_reserve` ends the process too. No destructor runs, and no buffer is written: a file that was not complete stays `.partial`.
#[derive(Debug)]
pub struct OrEnd<A> {
    /// The allocator that is asked.
    pub inner: A,
    /// A line.
    pub message: &'static str,
    /// The exit status.
    pub status: u8,
}

impl<A> OrEnd<A> {
    fn checked(&self, block: *mut u8) -> *mut u8 {
        if block.is_null() {
            self.end();
        }
        block
    }

    /// Allocates nothing, and takes no lock: another thread may have failed while it held one.
    #[cold]
    #[inline(never)]
    fn end(&self) -> ! {
        fatal::give_back();
        // If standard error is closed, the status must do.
        let _ = rustix::io::write(STDERR, self.message.as_bytes());
        fatal::exit(self.status)
    }
}

// SAFETY: every call is passed to `inner` as it came, and its blocks are returned unchanged.
unsafe impl<A: GlobalAlloc> GlobalAlloc for OrEnd<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises of this function, which are the same.
        self.checked(unsafe { self.inner.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { self.inner.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { self.inner.realloc(block, layout, size) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { self.inner.dealloc(block, layout) }
    }
}

/// For the `main.rs` of a program on std, once: a program without memory ends with a message and status 1.
#[macro_export]
macro_rules! exhausted_memory_fails {
    ($program:literal) => {
        #[global_allocator]
        static ALLOCATOR: $crate::memory::OrEnd<::std::alloc::System> = $crate::memory::OrEnd {
            inner: ::std::alloc::System,
            message: concat!($program, ": memory exhausted\n"),
            status: 1,
        };
    };
}
