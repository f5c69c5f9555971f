//! The allocator as an object, beside the allocator of the test harness: sizes, reuse, growth in place, alignment, threads.

extern crate std;

use super::*;
use std::boxed::Box;
use std::sync::atomic::AtomicU64;
use std::vec::Vec;
use std::{slice, thread};

fn allocator() -> &'static Allocator {
    Box::leak(Box::new(Allocator::new()))
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

/// Compares the bytes with their neighbours, which is one memcmp, even in a build without optimisation.
fn all_are(bytes: &[u8], value: u8) -> bool {
    bytes[0] == value && bytes[1..] == bytes[..bytes.len() - 1]
}

/// An allocated block, filled with a byte that each operation checks.
struct Block<'a> {
    allocator: &'a Allocator,
    start: *mut u8,
    layout: Layout,
    fill: u8,
}

impl<'a> Block<'a> {
    fn new(allocator: &'a Allocator, layout: Layout, fill: u8) -> Self {
        // SAFETY: no layout in these tests has size 0.
        let start = unsafe { allocator.alloc(layout) };
        assert!(!start.is_null() && start.addr().is_multiple_of(layout.align()), "{layout:?}");
        let mut block = Self { allocator, start, layout, fill };
        block.bytes().fill(fill);
        block
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the block is ours and has this size.
        unsafe { slice::from_raw_parts_mut(self.start, self.layout.size()) }
    }

    fn check(&mut self) {
        let fill = self.fill;
        assert!(all_are(self.bytes(), fill), "{:?} was overwritten", self.layout);
    }

    fn resize(&mut self, size: usize) {
        self.check();
        let kept = size.min(self.layout.size());
        // SAFETY: the block has this layout.
        self.start = unsafe { self.allocator.realloc(self.start, self.layout, size) };
        assert!(!self.start.is_null() && self.start.addr().is_multiple_of(self.layout.align()));
        self.layout = layout(size, self.layout.align());
        let fill = self.fill;
        assert!(all_are(&self.bytes()[..kept], fill), "resized to {:?}", self.layout);
        self.bytes().fill(fill);
    }

    fn address(&self) -> usize {
        self.start.addr()
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        self.check();
        // SAFETY: the block has this layout and is not used again.
        unsafe { self.allocator.dealloc(self.start, self.layout) };
    }
}

#[test]
fn classes_are_tight_and_in_order() {
    for size in 1..=LARGE {
        let class = class_of(size);
        let rounded = size_of_class(class);
        assert!(class < CLASSES && rounded >= size && rounded.is_multiple_of(GRAIN), "{size}");
        assert!(class == 0 || size_of_class(class - 1) < size, "{size} fits the class below");
        assert!(
            rounded - size < GRAIN || (rounded - size) * 5 <= rounded,
            "{size} wastes {}",
            rounded - size
        );
    }
    assert_eq!(size_of_class(CLASSES - 1), LARGE);
}

#[test]
fn freed_blocks_are_used_again() {
    let allocator = allocator();
    for (size, align) in [(1, 1), (40, 8), (5000, 16), (100_000, 16), (300, 64), (4096, 4096)] {
        let block = Block::new(allocator, layout(size, align), 1);
        let _newest = Block::new(allocator, layout(16, 1), 2);
        let address = block.address();
        drop(block);
        assert_eq!(Block::new(allocator, layout(size, align), 3).address(), address, "{size}");
    }
}

#[test]
fn the_newest_block_moves_its_end_only() {
    let allocator = allocator();
    let mut block = Block::new(allocator, layout(10, 1), 1);
    let address = block.address();
    for size in [100, 5000, 70_000, 127_000, 20] {
        block.resize(size);
        assert_eq!(block.address(), address, "{size}");
    }
    drop(block);
    assert_eq!(Block::new(allocator, layout(5000, 1), 2).address(), address, "freed in place");
}

#[test]
fn memory_does_not_grow_when_work_repeats() {
    let allocator = allocator();
    let round = || {
        let mut blocks: Vec<_> =
            (1..400).map(|n| Block::new(allocator, layout(n * 37 % 9000 + 1, 8), n as u8)).collect();
        blocks.iter_mut().step_by(3).for_each(|block| block.resize(block.layout.size() * 2));
        blocks.drain(..).step_by(2).for_each(drop);
    };
    round();
    round();
    let region = |heap: &Heap| (heap.chunk, heap.end);
    let before = region(&allocator.heap.lock());
    (0..50).for_each(|_| round());
    assert_eq!(region(&allocator.heap.lock()), before);
}

#[test]
fn large_blocks_grow_and_come_back_zeroed() {
    let allocator = allocator();
    let mut block = Block::new(allocator, layout(LARGE - 1, 8), 7);
    for size in [LARGE, LARGE + 1, 3 << 20, 40 << 20, 9 << 20, LARGE, LARGE - 1, 10] {
        block.resize(size);
    }
    for size in [64, LARGE - 1, LARGE, 9 << 20] {
        drop(Block::new(allocator, layout(size, 8), 0xff));
        // SAFETY: the layout is that of the block, which is read within its size and freed once.
        unsafe {
            let start = allocator.alloc_zeroed(layout(size, 8));
            assert!(all_are(slice::from_raw_parts(start, size), 0));
            allocator.dealloc(start, layout(size, 8));
        }
    }
}

#[test]
fn zeroed_blocks_are_zero_whoever_had_them_before() {
    let allocator = allocator();
    let zeroed = |size| {
        // SAFETY: the layout is that of the block, which is read and written within its size and freed once.
        unsafe {
            let start = allocator.alloc_zeroed(layout(size, 8));
            let bytes = slice::from_raw_parts_mut(start, size);
            assert!(all_are(bytes, 0), "{size}");
            bytes.fill(0xee);
            allocator.dealloc(start, layout(size, 8));
        }
    };
    for size in [16, 70_000, 100, 70_000, 5000, 120_000] {
        // The newest block is given back to the bump region, others to the lists.
        zeroed(size);
        let mut block = Block::new(allocator, layout(size, 8), 0xff);
        block.resize(size * 2);
        let newest = Block::new(allocator, layout(48, 8), 0xfe);
        drop(block);
        drop(newest);
        zeroed(size);
    }
    // Beyond the arena, in chunks.
    let _full: Vec<_> = (0..40).map(|_| Block::new(allocator, layout(100_000, 8), 1)).collect();
    (0..3).for_each(|_| zeroed(90_000));
}

#[test]
fn any_alignment() {
    let allocator = allocator();
    let mut blocks = Vec::new();
    for shift in 0..=22 {
        for size in [1, 100, 4097, LARGE - 1, LARGE, 1 << 20] {
            blocks.push(Block::new(allocator, layout(size, 1 << shift), shift as u8));
        }
    }
    for block in &mut blocks {
        block.resize(block.layout.size() * 3);
    }
}

#[test]
fn what_cannot_be_had_is_null() {
    let allocator = allocator();
    // SAFETY: a valid layout; null is not used.
    unsafe {
        assert!(allocator.alloc(layout(1 << 50, 8)).is_null());
        assert!(allocator.alloc(layout(isize::MAX as usize / 2, 1 << 40)).is_null());
        assert!(exhausted());
        let mut block = Block::new(allocator, layout(1 << 20, 8), 1);
        assert!(allocator.realloc(block.start, block.layout, 1 << 50).is_null());
        block.check();
    }
}

#[test]
fn threads_share_it() {
    static TOTAL: AtomicU64 = AtomicU64::new(0);
    let allocator = allocator();
    thread::scope(|scope| {
        for seed in 1..=4_u64 {
            scope.spawn(move || {
                let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mut blocks: Vec<Block<'_>> = Vec::new();
                for step in 0..10_000_u64 {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let at = (state >> 33) as usize;
                    let size = 1 + at % [60, 700, 9000, 200_000][(state >> 62) as usize];
                    match (blocks.len() > 50, step % 5) {
                        (true, _) => drop(blocks.swap_remove(at % blocks.len())),
                        (_, 0) if !blocks.is_empty() => {
                            let index = at % blocks.len();
                            blocks[index].resize(size);
                        }
                        _ => blocks.push(Block::new(allocator, layout(size, 8), seed as u8)),
                    }
                    TOTAL.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(TOTAL.load(Ordering::Relaxed), 40_000);
}
