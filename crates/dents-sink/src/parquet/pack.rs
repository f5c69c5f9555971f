//! Packs numbers by two encodings of Parquet, which its
//! [specification](https://parquet.apache.org/docs/file-format/data-pages/encodings/) describes.

use crate::bytes::{put_number, put_signed};

/// Appends numbers of `width` bits each, the lowest bits first, and fills the last byte.
fn pack(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u32) {
    let (mut held, mut bits) = (0_u128, 0);
    for value in values {
        held |= u128::from(value) << bits;
        bits += width;
        if bits >= 64 {
            out.extend_from_slice(&(held as u64).to_le_bytes());
            held >>= 64;
            bits -= 64;
        }
    }
    out.extend_from_slice(&(held as u64).to_le_bytes()[..bits.div_ceil(8) as usize]);
}

/// Appends truth values in the encoding PLAIN.
pub(super) fn bits(out: &mut Vec<u8>, values: &[bool]) {
    pack(out, values.iter().map(|bit| u64::from(*bit)), 1);
}

/// RLE: runs of equal numbers of `width` bits, and between them packed numbers, a multiple of eight.
pub(super) fn runs<T: Copy + Eq + Into<u32>>(out: &mut Vec<u8>, values: &[T], width: u32) {
    /// Shorter runs are packed.
    const RUN: usize = 8;
    let starts_run =
        |at: usize| values[at..].len() >= RUN && values[at..at + RUN].iter().all(|one| *one == values[at]);
    let mut at = 0;
    while at < values.len() {
        let start = at;
        if starts_run(at) {
            at += values[at..].iter().take_while(|value| **value == values[start]).count();
            put_number(out, (at - start) as u64 * 2);
            let value: u32 = values[start].into();
            out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
        } else {
            while at < values.len() && !starts_run(at) {
                at += RUN;
            }
            let groups = (at - start) / RUN;
            at = at.min(values.len());
            put_number(out, groups as u64 * 2 + 1);
            let numbers = values[start..at].iter().map(|value| u64::from((*value).into()));
            pack(out, numbers.chain(std::iter::repeat(0)).take(groups * RUN), width);
        }
    }
}

/// DELTA_BINARY_PACKED: each number as its difference from the number before.
pub(super) fn differences(out: &mut Vec<u8>, mut values: impl ExactSizeIterator<Item = i64>) {
    const BLOCK: usize = 128;
    const PART: usize = 32;
    put_number(out, BLOCK as u64);
    put_number(out, (BLOCK / PART) as u64);
    put_number(out, values.len() as u64);
    let mut last = values.next().unwrap_or(0);
    put_signed(out, last);
    let mut block = [0; BLOCK];
    while values.len() > 0 {
        let count = values.len().min(BLOCK);
        for (delta, value) in block.iter_mut().zip(values.by_ref().take(count)) {
            *delta = value.wrapping_sub(last);
            last = value;
        }
        let deltas = &block[..count];
        let least = deltas.iter().copied().min().unwrap_or(0);
        put_signed(out, least);
        let above = |delta: &i64| delta.wrapping_sub(least) as u64;
        let mut widths = [0; BLOCK / PART];
        for (width, part) in widths.iter_mut().zip(deltas.chunks(PART)) {
            *width = u64::BITS - part.iter().map(above).fold(0, |all, one| all | one).leading_zeros();
        }
        out.extend(widths.map(|width| width as u8));
        for (width, part) in widths.iter().zip(deltas.chunks(PART)) {
            pack(out, part.iter().map(above).chain(std::iter::repeat(0)).take(PART), *width);
        }
    }
}

/// The number of bits of numbers up to this one.
pub(super) fn width(greatest: u32) -> u32 {
    u32::BITS - greatest.leading_zeros()
}

#[cfg(test)]
#[path = "pack_tests.rs"]
mod tests;
