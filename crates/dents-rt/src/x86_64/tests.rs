//! Compares the mem functions with simple loops, byte by byte: every size up to several iterations of every loop, every alignment
//! that matters, both directions of overlap, and buffers beside a page that must not be touched.

extern crate std;

use super::*;
use core::ptr;
use std::vec;
use std::vec::Vec;

#[unsafe(naked)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, size: usize) -> *mut u8 {
    naked_asm!(crate::__memmove!())
}

#[unsafe(naked)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, size: usize) -> *mut u8 {
    naked_asm!(crate::__memset!())
}

#[unsafe(naked)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, size: usize) -> i32 {
    naked_asm!(crate::__memcmp!())
}

#[unsafe(naked)]
unsafe extern "C" fn strlen(string: *const u8) -> usize {
    naked_asm!(crate::__strlen!())
}

/// The sizes 0 to 600, and sizes near those from which `rep` is used.
fn sizes() -> impl Iterator<Item = usize> {
    (0..=600).chain(2040..=2056).chain([4096, 5001])
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
}

/// Two pages; the second cannot be accessed.
struct Cliff(*mut u8);

impl Cliff {
    const PAGE: usize = 4096;

    fn new() -> Self {
        use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
        // SAFETY: fresh memory, whose second half is given up before anyone uses it.
        unsafe {
            let both = ProtFlags::READ | ProtFlags::WRITE;
            let start = mmap_anonymous(ptr::null_mut(), 2 * Self::PAGE, both, MapFlags::PRIVATE).unwrap();
            mprotect(start.byte_add(Self::PAGE), Self::PAGE, MprotectFlags::empty()).unwrap();
            Self(start.cast())
        }
    }

    /// The address from which `size` bytes end at the edge.
    fn before_edge(&self, size: usize) -> *mut u8 {
        assert!(size <= Self::PAGE);
        self.0.wrapping_add(Self::PAGE - size)
    }
}

#[test]
fn memmove_moves_whatever_the_overlap() {
    for size in sizes() {
        let distances: &[usize] =
            if size <= 300 { &[0, 1, 3, 8, 15, 16, 17, 63, 64, 65, 200] } else { &[0, 1, 16, 33, 450] };
        for &distance in distances {
            for start in [0, 1, 7, 15] {
                for (from, to) in [(start, start + distance), (start + distance, start)] {
                    let before = pattern(size + distance + 64);
                    let mut expected = before.clone();
                    expected.copy_within(from..from + size, to);
                    let mut found = before;
                    // SAFETY: both ranges are within the buffer.
                    let returned = unsafe {
                        let start = found.as_mut_ptr();
                        memmove(start.add(to), start.add(from), size).offset_from(start)
                    };
                    assert_eq!(returned as usize, to);
                    assert!(found == expected, "size {size} from {from} to {to}");
                }
            }
        }
    }
}

#[test]
fn memmove_between_buffers_touches_nothing_else() {
    for size in sizes() {
        let source = pattern(size + 40);
        for (from, to) in [(0, 0), (1, 0), (0, 1), (5, 9), (16, 3)] {
            let mut found = vec![0xee; size + 40];
            let mut expected = found.clone();
            expected[to..to + size].copy_from_slice(&source[from..from + size]);
            // SAFETY: both ranges are within their buffers.
            unsafe { memmove(found.as_mut_ptr().add(to), source.as_ptr().add(from), size) };
            assert!(found == expected, "size {size} from {from} to {to}");
        }
    }
}

#[test]
fn memset_sets_and_touches_nothing_else() {
    for size in sizes() {
        for start in [0, 1, 9, 15, 16] {
            for byte in [0, 0xa5, -1] {
                let mut found = vec![0x11; size + 40];
                let mut expected = found.clone();
                expected[start..start + size].fill(byte as u8);
                // SAFETY: the range is within the buffer.
                let returned = unsafe { memset(found.as_mut_ptr().add(start), byte, size) };
                assert_eq!(returned, found.as_mut_ptr().wrapping_add(start));
                assert!(found == expected, "size {size} at {start}");
            }
        }
    }
}

#[test]
fn memcmp_orders_by_the_first_difference() {
    let sign = |a: &[u8], b: &[u8]| {
        // SAFETY: both slices have the length that is passed.
        unsafe { memcmp(a.as_ptr(), b.as_ptr(), a.len()) }.signum()
    };
    for size in 0..=600 {
        let last = pattern(size).last().copied().unwrap_or_default();
        for (start_a, start_b) in [(0, 0), (1, 0), (3, 11)] {
            let a: Vec<u8> = [vec![0; start_a], pattern(size)].concat();
            let mut b: Vec<u8> = [vec![0; start_b], pattern(size)].concat();
            assert_eq!(sign(&a[start_a..], &b[start_b..]), 0, "size {size}");
            for at in (0..size).filter(|at| size < 80 || at % 13 == size % 13 || at + 20 > size) {
                let kept = b[start_b + at];
                for other in [0, 0xff, kept.wrapping_add(1), kept.wrapping_sub(1)] {
                    b[start_b + at] = other;
                    if at + 1 < size {
                        // A later difference in the other direction must not matter.
                        b[start_b + size - 1] = !last;
                    }
                    let expected = a[start_a..].cmp(&b[start_b..]) as i32;
                    assert_eq!(sign(&a[start_a..], &b[start_b..]), expected, "size {size} at {at} {other}");
                    b[start_b + size - 1] = last;
                }
                b[start_b + at] = kept;
            }
        }
    }
}

#[test]
fn strlen_finds_the_first_nul() {
    for size in 0..=200 {
        for start in 0..16 {
            let mut buffer = vec![0; start];
            buffer.extend((0..size).map(|at| at as u8 | 1));
            buffer.extend([0, 9, 0]);
            // SAFETY: the string ends within the buffer.
            let found = unsafe { strlen(buffer.as_ptr().add(start)) };
            assert_eq!(found, size, "at {start}");
        }
    }
}

#[test]
fn none_reads_or_writes_beyond_the_edge() {
    let (one, two) = (Cliff::new(), Cliff::new());
    for size in (0..=600).chain([2048, 2050, 4000]) {
        let (a, b) = (one.before_edge(size), two.before_edge(size));
        // SAFETY: both ranges end where their page ends.
        unsafe {
            memset(a, 7, size);
            memmove(b, a, size);
            assert_eq!(memcmp(a, b, size), 0);
            memset(b, 0, size);
            if size > 0 {
                assert_eq!(memcmp(a, b, size).signum(), 1);
                a.add(size - 1).write(0);
                assert_eq!(strlen(a), size - 1);
            }
        }
    }
}
