//! Stacks for threads, and for children between clone and execve. A stack is mapped when it is first needed, then
//! kept, so that the listing of a tree does not map and unmap one for each directory.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{self, MapFlags, MprotectFlags, ProtFlags};

use crate::lock::Lock;

/// The size that a thread may use, its [`Stack::top`] record included. Only touched pages cost memory.
const SIZE: usize = 256 * 1024;
/// Inaccessible memory below the stack, which detects an overflow. A single page would not detect a frame larger than
/// a page.
const GUARD: usize = 16 * 1024;
/// The size of the record at the top of a stack: a cache line, which also keeps the alignment of 16.
const RECORD: usize = 64;

/// The record at a stack's top while no thread uses it.
struct Idle {
    next: Option<NonNull<Idle>>,
}

struct Pool(Option<NonNull<Idle>>);

// SAFETY: the stacks in the pool belong to no thread.
unsafe impl Send for Pool {}

static POOL: Lock<Pool> = Lock::new(Pool(None));

/// A stack for one thread, with room for a record of `T` above where the stack begins.
pub(crate) struct Stack(NonNull<c_void>);

impl Stack {
    /// A stack that was used before, or else a new one: two system calls (mmap, mprotect for the guard).
    pub(crate) fn take() -> Result<Self, Errno> {
        let mut pool = POOL.lock();
        if let Some(idle) = pool.0 {
            // SAFETY: the pool points to the record of an idle stack.
            pool.0 = unsafe { idle.as_ref() }.next;
            return Ok(Self(idle.cast()));
        }
        drop(pool);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::STACK;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping overlaps no other memory, and it is still unused when its lower end is made
        // inaccessible.
        unsafe {
            let start = mm::mmap_anonymous(ptr::null_mut(), GUARD + SIZE, access, flags)?;
            if let Err(error) = mm::mprotect(start, GUARD, MprotectFlags::empty()) {
                let _ = mm::munmap(start, GUARD + SIZE);
                return Err(error);
            }
            Ok(Self(NonNull::new_unchecked(start.byte_add(GUARD + SIZE - RECORD))))
        }
    }

    /// The beginning of the stack, which grows down from here; a record of at most 64 bytes may be above it.
    pub(crate) fn top(&self) -> *mut c_void {
        self.0.as_ptr()
    }

    /// Keeps the stack for the next thread. The thread that ran on it must have ended. No system call.
    pub(crate) fn keep(self) {
        let idle: NonNull<Idle> = self.0.cast();
        let mut pool = POOL.lock();
        // SAFETY: this function owns the stack, and so its record.
        unsafe { idle.write(Idle { next: pool.0 }) };
        pool.0 = Some(idle);
    }

    /// The stack whose [`top`](Self::top) this is.
    ///
    /// # Safety
    /// `top` is that of a stack that was not kept since.
    pub(crate) unsafe fn from_top(top: NonNull<c_void>) -> Self {
        Self(top)
    }

    /// Whether a record of this type has room.
    pub(crate) const fn holds<T>() -> bool {
        size_of::<T>() <= RECORD && align_of::<T>() <= RECORD
    }
}
