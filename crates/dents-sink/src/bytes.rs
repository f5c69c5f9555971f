//! Numbers, bytes and times, encoded one after another. Numbers are LEB128, seven bits for each byte.

use dents_core::batch::Time;

/// Encodes a number in 1 to 10 bytes.
pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Zigzag encoding: numbers near 0 take few bytes, with either sign.
pub(crate) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, ((number << 1) ^ (number >> 63)) as u64);
}

/// Encodes bytes, with their number before them.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub(crate) fn put_time(out: &mut Vec<u8>, time: Time) {
    put_signed(out, time.sec);
    put_number(out, u64::from(time.nsec));
}

/// Decodes from the front; `None` if the bytes are invalid.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(
    /// The bytes that are left.
    pub &'a [u8],
);

impl<'a> Bytes<'a> {
    /// A byte.
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A number.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            number |= bits << shift;
            if byte < 0x80 {
                return (number >> shift == bits).then_some(number);
            }
        }
        None
    }

    /// A number that fits into the type.
    pub fn small<N: TryFrom<u64>>(&mut self) -> Option<N> {
        N::try_from(self.number()?).ok()
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Bytes, by the number before them.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.small()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn time(&mut self) -> Option<Time> {
        let time = Time { sec: self.signed()?, nsec: self.small()? };
        (time.nsec < 1_000_000_000).then_some(time)
    }
}

/// The length of the common beginning of two sequences of bytes.
pub(crate) fn in_common(a: &[u8], b: &[u8]) -> usize {
    const WORD: usize = size_of::<u64>();
    let words = a.as_chunks::<WORD>().0.iter().zip(b.as_chunks::<WORD>().0);
    let equal = words.take_while(|(a, b)| a == b).count() * WORD;
    equal + a[equal..].iter().zip(&b[equal..]).take_while(|(a, b)| a == b).count()
}
