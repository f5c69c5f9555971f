//! Unpacks packed numbers by the rules of the specification.

use super::*;
use crate::bytes::Bytes;

fn unpack(bytes: &mut Bytes<'_>, count: usize, width: u32) -> Vec<u64> {
    let (packed, rest) = bytes.0.split_at((count * width as usize).div_ceil(8));
    bytes.0 = rest;
    let bit = |at: usize| u64::from(packed[at / 8] >> (at % 8) & 1);
    let width = width as usize;
    (0..count).map(|nth| (0..width).map(|at| bit(nth * width + at) << at).sum()).collect()
}

fn unpack_runs(bytes: &[u8], count: usize, width: u32) -> Vec<u32> {
    let (mut bytes, mut all) = (Bytes(bytes), Vec::new());
    while !bytes.0.is_empty() {
        let header = bytes.number().expect("a header");
        if header % 2 == 1 {
            let packed = unpack(&mut bytes, header as usize / 2 * 8, width);
            all.extend(packed.into_iter().map(|value| value as u32));
        } else {
            let value = unpack(&mut bytes, width.div_ceil(8) as usize, 8);
            let value = value.iter().rev().fold(0, |value, byte| value << 8 | *byte as u32);
            all.extend(std::iter::repeat_n(value, header as usize / 2));
        }
    }
    assert!(all.len() < count + 8);
    all.truncate(count);
    all
}

fn unpack_differences(bytes: &[u8]) -> Vec<i64> {
    let mut bytes = Bytes(bytes);
    let [block, parts, count] = [(); 3].map(|()| bytes.number().expect("a header") as usize);
    let mut last = bytes.signed().expect("the first value");
    let mut all = vec![last];
    while all.len() < count {
        let least = bytes.signed().expect("a difference");
        let widths: Vec<u8> = (0..parts).map(|_| bytes.byte().expect("a width")).collect();
        for width in widths.into_iter().take((count - all.len()).div_ceil(block / parts)) {
            for above in unpack(&mut bytes, block / parts, u32::from(width)) {
                last = last.wrapping_add(least).wrapping_add(above as i64);
                all.push(last);
            }
        }
    }
    assert!(bytes.0.is_empty());
    all.truncate(count.max(1));
    all
}

/// Numbers of up to this many bits, with runs among them.
fn numbers(seed: u64, count: usize, bits: u32) -> Vec<u64> {
    let mut state = seed | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut all = Vec::new();
    while all.len() < count {
        let value = next() >> (64 - bits);
        let run = if next() % 3 == 0 { next() % 40 } else { 1 };
        all.extend(std::iter::repeat_n(value, run as usize));
    }
    all.truncate(count);
    all
}

#[test]
fn numbers_come_back() {
    for count in [0, 1, 7, 8, 9, 31, 32, 33, 128, 129, 161, 1000, 5000] {
        for bits in [1, 2, 3, 7, 8, 9, 17, 31, 32] {
            let values: Vec<u32> =
                numbers(count as u64 + 7, count, bits).iter().map(|value| *value as u32).collect();
            let mut out = Vec::new();
            runs(&mut out, &values, bits);
            assert_eq!(unpack_runs(&out, count, bits), values, "{count} of {bits} bits");
        }
        for bits in [1, 5, 31, 33, 63, 64] {
            let values: Vec<i64> =
                numbers(count as u64, count, bits).iter().map(|value| *value as i64).collect();
            let mut out = Vec::new();
            differences(&mut out, values.iter().copied());
            let expected = if count == 0 { &[0] } else { &values[..] };
            assert_eq!(unpack_differences(&out), expected, "{count} of {bits} bits");
        }
    }
}

#[test]
fn a_long_run_takes_few_bytes() {
    let mut out = Vec::new();
    runs(&mut out, &[true; 16 << 10], 1);
    assert_eq!(out.len(), 4);
}

#[test]
fn a_width_has_room_for_the_greatest() {
    assert_eq!([0, 1, 2, 255, 256, u32::MAX].map(width), [0, 1, 2, 8, 9, 32]);
}
