//! A checksum of rows that come in any order, in NDJSON and SQLite: it is written with the record of the scan, and compared when all rows were
//! read. (Parquet has checksums of bytes, which skip no more than one row group.)
//!
//! The checksum is the sum, in 64 bits, of the CRC-32 of each row. So workers add their rows without order, lines may be sorted, and the
//! checksums of concatenated files add up. A row is not its text but its values: they survive a program that writes the same JSON in another
//! way. The bytes of a row are its numbers, little-endian, and its texts, each with a length of eight bytes before it, 2⁶⁴ − 1 for a text that is missing.

use crate::row::Row;
use crate::words;
use dents_core::batch::Time;
use dents_core::facts::Facts;

/// The sum over some rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checksum {
    sum: u64,
    /// The bytes of a row.
    bytes: Vec<u8>,
}

impl Checksum {
    /// Adds a row.
    pub(crate) fn add(&mut self, row: &Row<'_>) {
        // All fields, so that the compiler tells if a new one is missing here.
        let Row { parent, name, depth, kind, facts, target, details, fault } = *row;
        let bytes = &mut self.bytes;
        bytes.clear();
        let fault = fault.map_or(0, |fault| (1 + fault.asked as u64) | (u64::from(fault.errno as u32) << 32));
        put(bytes, [u64::from(depth) << 8 | kind as u64, fault]);
        put(bytes, [parent.len() as u64]);
        // The path of a directory is not copied: it may have 100 KB.
        let mut crc = crc32fast::Hasher::new();
        crc.update(bytes);
        crc.update(parent);
        bytes.clear();
        for text in [Some(name), target, Some(details.bytes())] {
            put_text(bytes, text);
        }
        if let Some(facts) = &facts {
            put_facts(bytes, facts);
        }
        crc.update(bytes);
        self.sum = self.sum.wrapping_add(crc.finalize().into());
    }

    /// Takes what other rows gave.
    pub(crate) fn take(&mut self, other: &mut Checksum) {
        self.sum = self.sum.wrapping_add(std::mem::take(&mut other.sum));
    }

    /// The form in files.
    pub(crate) fn text(&self) -> String {
        format!("{:016x}", self.sum)
    }

    /// The checksum with this form.
    pub(crate) fn parse(text: &str) -> Option<Checksum> {
        Some(Checksum { sum: u64::from_str_radix(text, 16).ok()?, bytes: Vec::new() })
    }

    /// Whether both are those of the same rows.
    pub(crate) fn is(&self, other: &Checksum) -> bool {
        self.sum == other.sum
    }
}

/// The problem of a file whose rows have another checksum.
pub(crate) const WRONG: &str = "the rows have another checksum than when they were written";

fn put_facts(bytes: &mut Vec<u8>, facts: &Facts<'_>) {
    let Facts {
        dev,
        ino,
        mode,
        nlink,
        uid,
        gid,
        user,
        group,
        size,
        allocated,
        atime,
        btime,
        ctime,
        mtime,
        lazy,
        unknown,
    } = *facts;
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let flags = u64::from(mode)
        | u64::from(lazy) << 16
        | u64::from(btime.is_some()) << 17
        | u64::from(unknown.bits()) << 32;
    put(bytes, [words::device(dev), ino, flags, pair(uid, gid), nlink.into(), size, allocated]);
    for Time { sec, nsec } in [atime, btime.unwrap_or_default(), ctime, mtime] {
        put(bytes, [sec as u64, nsec.into()]);
    }
    put_text(bytes, user);
    put_text(bytes, group);
}

fn put<const N: usize>(bytes: &mut Vec<u8>, numbers: [u64; N]) {
    numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
}

fn put_text(bytes: &mut Vec<u8>, text: Option<&[u8]>) {
    put(bytes, [text.map_or(u64::MAX, |text| text.len() as u64)]);
    bytes.extend_from_slice(text.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::tests::some_rows;

    fn sum<'r>(rows: impl IntoIterator<Item = &'r Row<'r>>) -> String {
        let mut sum = Checksum::default();
        rows.into_iter().for_each(|row| sum.add(row));
        sum.text()
    }

    #[test]
    fn the_order_of_rows_does_not_count_and_each_value_does() {
        let rows = some_rows();
        let all = sum(&rows);
        assert_eq!(all, sum(rows.iter().rev()));
        let known = rows[1].facts.expect("facts");
        let facts = |facts| Row { facts: Some(facts), ..rows[1] };
        for other in [
            Row { name: b"b", ..rows[1] },
            Row { depth: 2, ..rows[1] },
            Row { target: Some(b""), ..rows[1] },
            Row { facts: None, ..rows[1] },
            facts(Facts { btime: Some(Time::default()), ..known }),
            facts(Facts { size: 1, ..known }),
            facts(Facts { user: None, ..known }),
        ] {
            assert_ne!(sum([&rows[1]]), sum([&other]), "{other:?}");
        }
        assert_eq!(Checksum::parse(&all).map(|sum| sum.text()), Some(all));
    }
}
