//! Fuzz targets of a journal's segments.

use super::frame;
use super::key::Keys;
use super::recover::{recover, replay};
use super::segment::Segment;
use crate::bytes::Bytes;
use crate::coding::{Before, Rows, put_row};
use crate::dir::Dir;
use crate::fuzzing::TemporaryDir;
use crate::ndjson::fuzzing::comes_back;

const SEGMENT: Segment = Segment { run: 1, writer: 0 };

/// A segment, unchanged and with corrected checksums: it is recovered and replayed, or refused. Rows that are encoded again stay the same.
pub fn frames(bytes: &[u8]) {
    segment_of(bytes);
    let mut mended = bytes.to_vec();
    mend(&mut mended);
    segment_of(&mended);
}

/// The rows of a frame, without the frame: decoded rows that are encoded again stay the same.
pub fn rows(bytes: &[u8]) {
    let mut reader = Rows::new(Bytes(bytes), b"dir", 3);
    let (mut again, mut before) = (Vec::new(), Before::default());
    let mut rows = Vec::new();
    while let Some(row) = reader.row() {
        put_row(&mut again, &row, b"dir", 3, &mut before);
        rows.push(row);
    }
    assert!(rows.len() <= bytes.len());
    let mut reader = Rows::new(Bytes(&again), b"dir", 3);
    assert!(rows.iter().all(|row| reader.row().as_ref() == Some(row)));
    assert!(reader.row().is_none());
}

fn segment_of(bytes: &[u8]) {
    let made = TemporaryDir::new();
    made.file("000001-0000.rows", bytes);
    let keys = Keys { secret: [7; 16] };
    let dir = Dir::open(&made.0).expect("a directory of this process");
    let Ok(found) = recover(&dir, &[SEGMENT], &keys) else { return };
    assert!(found.torn <= bytes.len() as u64 && found.start_points.len() <= bytes.len());
    let mut rows = 0;
    let replayed = replay(&dir, (&SEGMENT, 0), &keys, &found.void, &mut |row| {
        rows += 1;
        comes_back(row);
        Ok(())
    });
    assert!(
        rows <= bytes.len() as u64 && replayed.is_ok_and(|given| given == rows) || rows < bytes.len() as u64
    );
}

/// Corrects the checksum of each frame, as far as the lengths are valid.
pub(crate) fn mend(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(len) = frame::length(&bytes[at..]).and_then(|len| usize::try_from(len).ok()) {
        let Some(frame) = at.checked_add(len).and_then(|end| bytes.get_mut(at..end)) else { break };
        let crc = crc32fast::hash(&frame[frame::HEAD..]);
        frame[4..frame::HEAD].copy_from_slice(&crc.to_le_bytes());
        at += len;
    }
}

/// The encoded rows of a frame.
#[cfg(test)]
pub(crate) fn encoded(rows: &[crate::Row<'_>]) -> Vec<u8> {
    let (mut out, mut before) = (Vec::new(), Before::default());
    rows.iter().for_each(|row| put_row(&mut out, row, b"dir", 3, &mut before));
    out
}

/// Three frames: the operands, a directory in two pieces.
#[cfg(test)]
pub(crate) fn segment(rows: &[crate::Row<'_>]) -> Vec<u8> {
    use crate::bytes::{put_bytes, put_number};
    let mut segment = Vec::new();
    for (path, depth, piece, last) in [(&b""[..], 0, 0, true), (b"dir", 1, 0, false), (b"dir", 1, 1, true)] {
        let mut payload = Vec::new();
        frame::About { path, depth, piece, last }.put(&mut payload);
        put_number(&mut payload, 1);
        put_bytes(&mut payload, if depth == 0 { b"dir" } else { b"sub" });
        put_number(&mut payload, rows.len() as u64);
        assert!(frame::put(&mut segment, piece, &[&payload, &encoded_in(rows, path, depth)]));
    }
    assert!(
        frame::Frame::parse(frame::check(&segment[..frame::length(&segment).unwrap() as usize]).unwrap().1)
            .is_some()
    );
    segment
}

#[cfg(test)]
fn encoded_in(rows: &[crate::Row<'_>], path: &[u8], depth: u32) -> Vec<u8> {
    let (mut out, mut before) = (Vec::new(), Before::default());
    rows.iter().for_each(|row| put_row(&mut out, row, path, depth, &mut before));
    out
}
