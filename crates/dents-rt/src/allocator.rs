//! The global allocator, made for a program that allocates a few dozen buffers, and that may run for a millisecond or list a
//! hundred million files.
//!
//! ```text
//! below 128 KiB   rounded up to a size class (four to a doubling: at most a fifth is lost)
//!                 1. the class's list of freed blocks
//!                 2. the bump region: at first 256 KiB of .bss, which cost no system call, and whose
//!                    untouched pages cost nothing; then mmap'ed chunks, each twice the one before
//! from 128 KiB    a mapping of its own: mremap moves it by its page tables, so that a Vec of millions
//!                 of entries doubles without a copy; munmap gives it back
//! ```
//!
//! Freed blocks below 128 KiB go back to their class, never to the kernel: memory is bounded by the sum of what each
//! class needed at its peak. The newest block of the bump region grows, shrinks and is freed in place. No block has a
//! header, because Rust passes the layout to `dealloc`.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{self, Advice, MapFlags, MremapFlags, ProtFlags};

use crate::lock::Lock;

/// The alignment of every block. A block has a greater one only if its layout requires it.
const GRAIN: usize = 16;
const PAGE: usize = 4096;
/// From this size on a block is a mapping of its own.
const LARGE: usize = 128 * 1024;
/// The bump region a program starts with. A listing of some hundred files fits.
const ARENA: usize = 256 * 1024;
const FIRST_CHUNK: usize = 512 * 1024;
const LARGEST_CHUNK: usize = 8 * 1024 * 1024;
/// From this size on, the allocator requests huge pages: one fault instead of 512. To fill three vectors with a
/// million entries of together 100 bytes takes 60 ms instead of 110 ms, and 3 % more memory.
const HUGE: usize = 2 * 1024 * 1024;
/// Classes: 16, 32, 48, 64; then four per doubling, up to 128 KiB.
const CLASSES: usize = class_of(LARGE) + 1;

/// The size class for blocks of `size` bytes.
const fn class_of(size: usize) -> usize {
    if size <= 4 * GRAIN {
        return size.saturating_sub(1) / GRAIN;
    }
    let doubling = (size - 1).ilog2() as usize;
    4 * (doubling - 5) + ((size - 1) >> (doubling - 2)) - 4
}

/// The size of all blocks of a class.
const fn size_of_class(class: usize) -> usize {
    if class < 4 { (class + 1) * GRAIN } else { (class % 4 + 5) << (class / 4 + 3) }
}

/// `size` up to the next multiple of a power of two; sizes come from layouts, which end below `isize::MAX`.
const fn round_up(size: usize, to: usize) -> usize {
    (size + to - 1) & !(to - 1)
}

/// A freed block, on its class's list.
struct Freed {
    next: Option<NonNull<Freed>>,
}

/// The state that the lock guards.
struct Heap {
    /// The bump region, as addresses; all 0 before the first allocation.
    next: usize,
    end: usize,
    /// From this address on the region was never allocated, so it is still zero.
    fresh: usize,
    /// The next chunk's size.
    chunk: usize,
    freed: [Option<NonNull<Freed>>; CLASSES],
}

// SAFETY: the blocks on the lists belong to the heap alone, whichever thread holds its lock.
unsafe impl Send for Heap {}

/// All zero, in .bss, so it takes no space in the program's file. It is not aligned to a page, so it begins in the
/// page where .data ends, which the kernel has touched before the program starts.
#[repr(align(16))]
struct Arena(UnsafeCell<[u8; ARENA]>);

/// The allocator; [`entry!`](crate::entry) makes one of them the global one.
///
/// Without memory it returns null and sets a flag. Rust's infallible interfaces then panic, and the panic handler
/// ends the program with GNU's message (`memory exhausted`, status 2).
// In this order, the heap is in the same page as the beginning of the arena: one page less to touch.
#[repr(C)]
pub struct Allocator {
    heap: Lock<Heap>,
    arena: Arena,
}

// SAFETY: all blocks of the arena are allocated through the locked heap.
unsafe impl Sync for Allocator {}

/// Whether an allocation has failed. It is never reset, and read by the panic handler.
static EXHAUSTED: AtomicBool = AtomicBool::new(false);

/// Whether any allocation has failed.
pub(crate) fn exhausted() -> bool {
    EXHAUSTED.load(Ordering::Relaxed)
}

impl Allocator {
    /// An allocator that has allocated nothing. Its static initial value is all zeros.
    #[expect(clippy::new_without_default, reason = "to be made once, in a static")]
    pub const fn new() -> Self {
        let heap = Heap { next: 0, end: 0, fresh: 0, chunk: 0, freed: [None; CLASSES] };
        Self { heap: Lock::new(heap), arena: Arena(UnsafeCell::new([0; ARENA])) }
    }

    /// A block, and the number of bytes at its beginning that may not be zero.
    fn allocate_small(&self, layout: Layout) -> (*mut u8, usize) {
        let class = class_of(layout.size());
        let mut heap = self.heap.lock();
        if let Some(block) = heap.take_freed(class, layout.align()) {
            return (block.as_ptr().cast(), layout.size());
        }
        if heap.end == 0 {
            heap.next = self.arena.0.get().addr();
            heap.end = heap.next + ARENA;
            heap.fresh = heap.next;
        }
        let size = size_of_class(class);
        let block = heap.bump(size, layout.align()).or_else(|| {
            heap.add_chunk(size + layout.align())?;
            heap.bump(size, layout.align())
        });
        match block {
            // The memory of arena and chunks holds no Rust object, so an exposed address is enough provenance.
            Some(address) => {
                let used = heap.fresh.saturating_sub(address).min(layout.size());
                heap.touch();
                (ptr::with_exposed_provenance_mut(address), used)
            }
            None => (refused(), 0),
        }
    }
}

impl Heap {
    /// A block from the list of the class. Alignments beyond [`GRAIN`] are rare, and then the block freed last is
    /// usually of the same kind, so only this one is checked.
    fn take_freed(&mut self, class: usize, align: usize) -> Option<NonNull<Freed>> {
        let block =
            self.freed[class].filter(|block| align <= GRAIN || block.addr().get().is_multiple_of(align))?;
        // SAFETY: blocks on the list belong to the heap and hold a link.
        self.freed[class] = unsafe { block.as_ref() }.next;
        Some(block)
    }

    fn give_freed(&mut self, class: usize, block: NonNull<Freed>) {
        // SAFETY: the block belongs to the heap again, and blocks of every class are large enough for a link.
        unsafe { block.write(Freed { next: self.freed[class] }) };
        self.freed[class] = Some(block);
    }

    fn bump(&mut self, size: usize, align: usize) -> Option<usize> {
        let address = round_up(self.next, align.max(GRAIN));
        if address > self.end || size > self.end - address {
            return None;
        }
        self.next = address + size;
        Some(address)
    }

    /// From now on, everything before `next` may have been written to.
    fn touch(&mut self) {
        self.fresh = self.fresh.max(self.next);
    }

    /// Continues in a new mapping. The rest of the old region is freed as blocks. One mmap.
    fn add_chunk(&mut self, at_least: usize) -> Option<()> {
        let wanted = self.chunk.max(FIRST_CHUNK);
        // If memory is scarce, a smaller chunk may still be available.
        let (start, size) = [wanted, round_up(at_least, PAGE)]
            .into_iter()
            .find_map(|size| map(size).map(|start| (start, size)))?;
        self.free_remainder();
        self.chunk = (wanted * 2).min(LARGEST_CHUNK);
        self.next = start.expose_provenance();
        self.end = self.next + size;
        self.fresh = self.next;
        Some(())
    }

    fn free_remainder(&mut self) {
        while self.end - self.next >= GRAIN {
            let rest = (self.end - self.next).min(size_of_class(CLASSES - 1));
            let class = class_of(rest);
            let class = if size_of_class(class) > rest { class - 1 } else { class };
            if let Some(block) = NonNull::new(ptr::with_exposed_provenance_mut(self.next)) {
                self.give_freed(class, block);
            }
            self.next += size_of_class(class);
        }
    }

    /// Resizes the newest block in place. Returns false if `block` is not the newest, or if there is no room.
    fn resize_newest(&mut self, block: *mut u8, old: usize, new: usize) -> bool {
        if block.addr() + old != self.next || new > self.end - block.addr() {
            return false;
        }
        self.next = block.addr() + new;
        self.touch();
        true
    }
}

/// Notes that memory is exhausted.
#[cold]
fn refused() -> *mut u8 {
    EXHAUSTED.store(true, Ordering::Relaxed);
    ptr::null_mut()
}

/// Whether such a block is a mapping of its own.
fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE || layout.align() > PAGE
}

/// Zeroed memory from the kernel. One system call.
fn map(size: usize) -> Option<*mut u8> {
    // SAFETY: a new mapping at a place of the kernel's choice disturbs nothing.
    let start = unsafe {
        mm::mmap_anonymous(ptr::null_mut(), size, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
    };
    start.ok().map(<*mut _>::cast)
}

/// Requests huge pages for a mapping that is large enough. It has no effect if the administrator has set huge pages
/// to `always` or `never`.
fn prefer_huge_pages(start: *mut u8, size: usize) {
    if size >= HUGE {
        // SAFETY: advice does not change the contents of the mapping.
        let _ = unsafe { mm::madvise(start.cast(), size, Advice::LinuxHugepage) };
    }
}

/// A mapping of its own: one mmap, and one madvise if huge pages pay off. An alignment beyond a page costs up to two
/// munmap.
fn allocate_large(layout: Layout) -> *mut u8 {
    let size = round_up(layout.size(), PAGE);
    let slack = if layout.align() > PAGE { layout.align() } else { 0 };
    let Some(start) = size.checked_add(slack).and_then(map) else {
        return refused();
    };
    let block = start.wrapping_add(start.align_offset(layout.align()));
    if slack > 0 {
        let before = block.addr() - start.addr();
        unmap(start, before);
        unmap(block.wrapping_add(size), slack - before);
    }
    prefer_huge_pages(block, size);
    block
}

fn unmap(start: *mut u8, size: usize) {
    if size > 0 {
        // SAFETY: callers pass a mapping that they own and no longer use. If the call fails, the memory stays mapped.
        let _ = unsafe { mm::munmap(start.cast(), size) };
    }
}

/// Grows or shrinks a mapping. Nothing is copied: page tables move. One system call, or none within the page.
fn resize_large(block: *mut u8, old: usize, new: usize) -> *mut u8 {
    let (old, new) = (round_up(old, PAGE), round_up(new, PAGE));
    if old == new {
        return block;
    }
    // SAFETY: the mapping has `old` bytes and contains only this block.
    match unsafe { mm::mremap(block.cast(), old, new, MremapFlags::MAYMOVE) } {
        Ok(moved) => {
            if old < HUGE {
                prefer_huge_pages(moved.cast(), new);
            }
            moved.cast()
        }
        Err(_) => refused(),
    }
}

// SAFETY: blocks are disjoint: they are from one bump region, from a list that owns them, or from a mapping of their
// own. Sizes are only rounded up. Class and mapping follow from the layout alone, which the caller passes again.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) { allocate_large(layout) } else { self.allocate_small(layout).0 }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // Memory that the kernel gave and that was never used is zero already, and zeroing would touch its pages: a buffer
        // for getdents64 of 64 KiB costs one fault for a small directory instead of sixteen.
        if is_large(layout) {
            return allocate_large(layout);
        }
        let (block, used) = self.allocate_small(layout);
        if used > 0 {
            // SAFETY: a block, not null, of which `used` bytes are no more than its size.
            unsafe { block.write_bytes(0, used) };
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_large(layout) {
            unmap(block, round_up(layout.size(), PAGE));
            return;
        }
        let class = class_of(layout.size());
        let mut heap = self.heap.lock();
        if heap.resize_newest(block, size_of_class(class), 0) {
            return;
        }
        if let Some(block) = NonNull::new(block.cast()) {
            heap.give_freed(class, block);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new size makes a valid layout.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (is_large(layout), is_large(new)) {
            (true, true) if layout.align() <= PAGE => return resize_large(block, layout.size(), size),
            (false, false) => {
                let (old, new) = (size_of_class(class_of(layout.size())), size_of_class(class_of(size)));
                if old == new || self.heap.lock().resize_newest(block, old, new) {
                    return block;
                }
            }
            _ => {}
        }
        // SAFETY: the blocks are distinct, and both have at least the copied length. The old block is not used
        // afterwards.
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests;
