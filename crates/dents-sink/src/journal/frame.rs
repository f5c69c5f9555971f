//! A frame: the rows of one piece of one directory, complete or not at all.
//!
//! ```text
//! length 4 │ CRC-32 4 │ milliseconds since the run began 4 │ depth, path, piece, last?, subdirectories entered, rows
//! ```
//!
//! The length counts the bytes after the CRC, and the CRC covers these bytes; both begin with the low byte. A file that was cut off, or
//! that did not reach the disk completely, has a length beyond its end or a CRC that does not match.

use crate::bytes::{Bytes, put_bytes, put_number};
use crate::coding::Rows;

/// The format of header and segments. Other formats are refused. The first format had neither working directory nor roots.
pub(super) const VERSION: u32 = 2;

/// Length and CRC.
pub(super) const HEAD: usize = 8;
/// The time, which is needed before the rest is decoded.
const TIME: usize = 4;

/// Appends a frame with the time and `payload`. Returns false if a frame cannot be that long.
pub(crate) fn put(out: &mut Vec<u8>, milliseconds: u32, payload: &[&[u8]]) -> bool {
    let len = TIME + payload.iter().map(|part| part.len()).sum::<usize>();
    let Ok(len) = u32::try_from(len) else { return false };
    out.extend_from_slice(&len.to_le_bytes());
    let crc_at = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&milliseconds.to_le_bytes());
    payload.iter().for_each(|part| out.extend_from_slice(part));
    let crc = crc32fast::hash(&out[crc_at + 4..]);
    out[crc_at..crc_at + 4].copy_from_slice(&crc.to_le_bytes());
    true
}

/// The length of a frame including its head, read from the head; `None` if there are too few bytes.
pub(super) fn length(bytes: &[u8]) -> Option<u64> {
    let len = bytes.first_chunk()?;
    Some(HEAD as u64 + u64::from(u32::from_le_bytes(*len)))
}

/// The time in the head of a frame.
pub(super) fn time(frame: &[u8]) -> Option<u32> {
    let time = frame.get(HEAD..)?.first_chunk()?;
    Some(u32::from_le_bytes(*time))
}

/// Time and payload of a frame, if its CRC matches.
pub(super) fn check(frame: &[u8]) -> Option<(u32, &[u8])> {
    let (_, rest) = frame.split_first_chunk::<4>()?;
    let (crc, rest) = rest.split_first_chunk()?;
    if crc32fast::hash(rest) != u32::from_le_bytes(*crc) {
        return None;
    }
    let (milliseconds, payload) = rest.split_first_chunk()?;
    Some((u32::from_le_bytes(*milliseconds), payload))
}

/// Identifies a piece of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct About<'a> {
    pub(super) path: &'a [u8],
    /// The depth of its entries.
    pub(super) depth: u32,
    pub(super) piece: u32,
    pub(super) last: bool,
}

impl<'a> About<'a> {
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_number(out, u64::from(self.depth));
        put_bytes(out, self.path);
        put_number(out, u64::from(self.piece));
        out.push(u8::from(self.last));
    }

    fn take(bytes: &mut Bytes<'a>) -> Option<Self> {
        let (depth, path, piece) = (bytes.small()?, bytes.bytes()?, bytes.small()?);
        let last = bytes.byte()? != 0;
        // The entries of a directory are one level deeper, and pieces are counted from 0 to the last.
        (depth < u32::MAX && piece < u32::MAX).then_some(About { path, depth, piece, last })
    }
}

/// The decoded payload of a frame.
pub(super) struct Frame<'a> {
    pub(super) about: About<'a>,
    /// Names of the subdirectories that were to be entered.
    pub(super) entered: Vec<&'a [u8]>,
    rows: Bytes<'a>,
    count: u64,
}

impl<'a> Frame<'a> {
    /// Decodes a payload; `None` if it is invalid. If the CRC matched, another program wrote the frame.
    pub(super) fn parse(payload: &'a [u8]) -> Option<Frame<'a>> {
        let mut bytes = Bytes(payload);
        let about = About::take(&mut bytes)?;
        let entered = (0..bytes.number()?).map(|_| bytes.bytes()).collect::<Option<_>>()?;
        let count = bytes.number()?;
        Some(Frame { about, entered, rows: bytes, count })
    }

    /// The rows, and their number.
    pub(super) fn rows(&self) -> (Rows<'a>, u64) {
        (Rows::new(self.rows, self.about.path, self.about.depth), self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Vec<u8> {
        let mut payload = Vec::new();
        About { path: b"some/dir", depth: 2, piece: 1, last: true }.put(&mut payload);
        put_number(&mut payload, 2);
        put_bytes(&mut payload, b"sub");
        put_bytes(&mut payload, b"other");
        put_number(&mut payload, 0);
        let mut out = Vec::new();
        assert!(put(&mut out, 77, &[&payload[..3], &payload[3..]]));
        out
    }

    #[test]
    fn what_is_put_is_taken() {
        let frame = frame();
        assert_eq!(length(&frame), Some(frame.len() as u64));
        let (milliseconds, payload) = check(&frame).expect("whole");
        assert_eq!(milliseconds, 77);
        let parsed = Frame::parse(payload).expect("makes sense");
        assert_eq!(parsed.about, About { path: b"some/dir", depth: 2, piece: 1, last: true });
        assert_eq!(parsed.entered, [&b"sub"[..], b"other"]);
        assert_eq!(parsed.rows().1, 0);
    }

    #[test]
    fn no_bit_may_change() {
        let good = frame();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let whole = length(&bad) == Some(bad.len() as u64) && check(&bad).is_some();
            assert!(!whole, "bit {bit}");
        }
        for end in 0..good.len() {
            let whole = length(&good[..end]).is_some_and(|len| len <= end as u64);
            assert!(!whole, "cut off at {end}");
        }
    }

    #[test]
    fn what_could_not_be_counted_on_is_refused() {
        let taken = |depth, piece| {
            let (mut bytes, about) = (Vec::new(), About { path: b"a", depth, piece, last: true });
            about.put(&mut bytes);
            About::take(&mut Bytes(&bytes)).is_some()
        };
        assert!(taken(u32::MAX - 1, u32::MAX - 1));
        assert!(!taken(u32::MAX, 0) && !taken(0, u32::MAX));
    }

    #[test]
    fn rubbish_is_refused_and_harms_nobody() {
        let payload = check(&frame()).expect("whole").1.to_vec();
        for end in 0..payload.len() {
            assert!(Frame::parse(&payload[..end]).is_none(), "cut off at {end}");
        }
        assert!(Frame::parse(&[0xff; 64]).is_none());
        assert!(check(&[0; 8]).is_none(), "zeros, as a lost write leaves them");
    }
}
