//! Metadata by inode number, packed: only the fields that are needed.
//!
//! Inode numbers are dense: XFS and btrfs allocate them in order. So the table has an entry for each 64 numbers with a bit for each
//! inode, and a row of 32-bit words for each bit that is set:
//!
//! | words | field |
//! |---|---|
//! | 1 | mode, and a link count below 65,536 |
//! | 1 | owner, if needed |
//! | 1 | group, if needed |
//! | 2 | size, if needed |
//! | 1 | blocks, if needed: below 2 TiB |
//! | 2 | each time that is needed: 34 bits of seconds, 30 bits of nanoseconds |
//!
//! An inode whose values do not fit is left out. `du` takes 8 bytes for each inode, all facts 56; a quarter of a byte is for the bits.

use alloc::vec::Vec;
use dents_sys::Timestamp;
use dents_sys::stat::{Fields, Mask};

/// Inodes of an entry.
const CHUNK: u64 = 64;

/// Which fields a row has.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    mask: Mask,
    words: usize,
}

/// The times, in the order of a row.
const TIMES: [Mask; 4] = [Mask::ATIME, Mask::BTIME, Mask::CTIME, Mask::MTIME];

impl Layout {
    pub(super) fn of(mask: Mask) -> Self {
        let words = |bit, words| if mask.contains(bit) { words } else { 0 };
        let times: usize = TIMES.into_iter().map(|time| words(time, 2)).sum();
        let ids = words(Mask::UID, 1) + words(Mask::GID, 1);
        Layout { mask, words: 1 + ids + words(Mask::SIZE, 2) + words(Mask::BLOCKS, 1) + times }
    }

    /// Appends a row. `None`, and nothing is appended, if a value does not fit.
    fn pack(self, fields: &Fields, rows: &mut Vec<u32>) -> Option<()> {
        let (mut row, mut at) = ([0; MOST_WORDS], 0);
        let mut put = |word| {
            row[at] = word;
            at += 1;
        };
        let has = |bit| self.mask.contains(bit);
        put(u32::from(fields.mode) << 16 | u32::from(u16::try_from(fields.nlink).ok()?));
        if has(Mask::UID) {
            put(fields.uid);
        }
        if has(Mask::GID) {
            put(fields.gid);
        }
        if has(Mask::SIZE) {
            [fields.size as u32, (fields.size >> 32) as u32].into_iter().for_each(&mut put);
        }
        if has(Mask::BLOCKS) {
            put(u32::try_from(fields.blocks).ok()?);
        }
        let times = [fields.atime, fields.btime, fields.ctime, fields.mtime];
        for (bit, time) in TIMES.into_iter().zip(times) {
            if has(bit) {
                let fits = (-SECONDS..SECONDS).contains(&time.sec) && time.nsec < 1 << 30;
                let packed = fits.then(|| (time.sec as u64) << 30 | u64::from(time.nsec))?;
                [packed as u32, (packed >> 32) as u32].into_iter().for_each(&mut put);
            }
        }
        rows.extend_from_slice(&row[..at]);
        Some(())
    }

    fn unpack(self, ino: u64, row: &[u32]) -> Fields {
        let mut words = row.iter().copied();
        let mut word = |bit| if self.mask.contains(bit) { words.next().unwrap_or(0) } else { 0 };
        let first = word(Mask::empty());
        let (uid, gid) = (word(Mask::UID), word(Mask::GID));
        let mut long = |bit| u64::from(word(bit)) | u64::from(word(bit)) << 32;
        let size = long(Mask::SIZE);
        let blocks = u64::from(word(Mask::BLOCKS));
        let [atime, btime, ctime, mtime] = TIMES.map(|bit| {
            let packed = u64::from(word(bit)) | u64::from(word(bit)) << 32;
            Timestamp { sec: packed as i64 >> 30, nsec: packed as u32 & 0x3fff_ffff }
        });
        let (mode, nlink) = ((first >> 16) as u16, first & 0xffff);
        Fields { mask: Mask::empty(), ino, size, blocks, mode, nlink, uid, gid, atime, mtime, ctime, btime }
    }
}

/// Times lie within 272 years of 1970.
const SECONDS: i64 = 1 << 33;

/// The words of a row with all fields.
const MOST_WORDS: usize = 14;

/// Inodes of one part, in the order of their numbers.
pub(super) struct Run {
    layout: Layout,
    chunks: Vec<Chunk>,
    rows: Vec<u32>,
}

/// 64 inode numbers.
struct Chunk {
    first: u64,
    present: u64,
    /// The number of the first row.
    row: u32,
}

impl Run {
    pub(super) fn new(layout: Layout) -> Self {
        Run { layout, chunks: Vec::new(), rows: Vec::new() }
    }

    /// With room for as many rows as a run may have.
    pub(super) fn large(layout: Layout) -> Self {
        Run { rows: Vec::with_capacity(Run::WORDS), ..Run::new(layout) }
    }

    /// The words of a run, 512 KiB. A vector of megabytes that grows would be copied to new pages each time.
    const WORDS: usize = 128 << 10;

    /// Whether the inode belongs into the next run: it begins another 64, for which there is no room.
    pub(super) fn is_full(&self, ino: u64) -> bool {
        let is_begun = self.chunks.last().is_some_and(|last| last.first == ino & !(CHUNK - 1));
        !is_begun && Run::WORDS - self.rows.len() < CHUNK as usize * self.layout.words
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.len() * size_of::<u32>() + self.chunks.len() * size_of::<Chunk>()
    }

    /// Appends an inode with a number above the last. False if it is left out, because a value does not fit.
    pub(super) fn push(&mut self, fields: &Fields) -> bool {
        let (first, bit) = (fields.ino & !(CHUNK - 1), 1 << (fields.ino % CHUNK));
        let Ok(row) = u32::try_from(self.rows.len() / self.layout.words) else { return false };
        let is_next = self
            .chunks
            .last()
            .is_none_or(|last| last.first < first || last.first == first && last.present < bit);
        if !is_next || self.layout.pack(fields, &mut self.rows).is_none() {
            return false;
        }
        match self.chunks.last_mut() {
            Some(last) if last.first == first => last.present |= bit,
            _ => self.chunks.push(Chunk { first, present: bit, row }),
        }
        true
    }
}

/// Where the last inode was found: the next is likely in the same chunk.
#[derive(Clone, Copy, Default)]
pub(super) struct Hint {
    run: usize,
    chunk: usize,
}

pub(super) struct Table {
    layout: Layout,
    /// In the order of inode numbers.
    runs: Vec<Run>,
    /// What the answers contain.
    mask: Mask,
}

impl Table {
    pub(super) fn new(layout: Layout, mut runs: Vec<Run>, mask: Mask) -> Self {
        runs.retain(|run| !run.chunks.is_empty());
        runs.sort_unstable_by_key(|run| run.chunks.first().map(|chunk| chunk.first));
        Table { layout, runs, mask }
    }

    pub(super) fn inodes(&self) -> u64 {
        self.runs.iter().map(|run| (run.rows.len() / self.layout.words) as u64).sum()
    }

    /// The metadata of an inode.
    pub(super) fn get(&self, ino: u64, hint: &mut Hint) -> Option<Fields> {
        let first = ino & !(CHUNK - 1);
        let hinted = self.runs.get(hint.run).and_then(|run| run.chunks.get(hint.chunk));
        if hinted.is_none_or(|chunk| chunk.first != first) {
            *hint = self.find(first)?;
        }
        let run = self.runs.get(hint.run)?;
        let chunk = run.chunks.get(hint.chunk)?;
        let bit = 1 << (ino % CHUNK);
        if chunk.present & bit == 0 {
            return None;
        }
        let row =
            (chunk.row as usize + (chunk.present & (bit - 1)).count_ones() as usize) * self.layout.words;
        let row = run.rows.get(row..row + self.layout.words)?;
        Some(Fields { mask: self.mask, ..self.layout.unpack(ino, row) })
    }

    fn find(&self, first: u64) -> Option<Hint> {
        let after =
            self.runs.partition_point(|run| run.chunks.first().is_some_and(|chunk| chunk.first <= first));
        let run = after.checked_sub(1)?;
        let chunk = self.runs[run].chunks.binary_search_by_key(&first, |chunk| chunk.first).ok()?;
        Some(Hint { run, chunk })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn fields(ino: u64) -> Fields {
        let small = ino % 100_000;
        let time = |nth: i64| Timestamp { sec: small as i64 * nth - 9, nsec: 999_999_999 - small as u32 };
        let (mask, mode) = (Mask::all(), 0o100_644);
        let (uid, gid, size, blocks) = (ino as u32, u32::MAX - 7, u64::MAX - ino, small * 8);
        let (atime, mtime, ctime, btime) = (time(1), time(-2), time(3), time(4));
        Fields { mask, ino, size, blocks, mode, nlink: 3, uid, gid, atime, mtime, ctime, btime }
    }

    fn table(layout: Layout, runs: &[&[u64]]) -> Table {
        let run = |inos: &&[u64]| {
            let mut run = Run::new(layout);
            inos.iter().for_each(|ino| assert!(run.push(&fields(*ino)), "{ino}"));
            run
        };
        Table::new(layout, runs.iter().map(run).collect(), Mask::all())
    }

    #[test]
    fn what_was_put_in_comes_out_and_nothing_else() {
        let layout = Layout::of(Mask::all());
        let inos: [&[u64]; 3] = [&[1 << 33, (1 << 33) + 63, (1 << 33) + 64], &[128, 129, 191, 192, 700], &[]];
        let table = table(layout, &inos);
        let mut hint = Hint::default();
        for ino in (0..1000).chain((1 << 33) - 70..(1 << 33) + 140) {
            let expected = inos.iter().any(|run| run.contains(&ino)).then(|| fields(ino));
            assert_eq!(table.get(ino, &mut hint), expected, "{ino} with the last hint");
            assert_eq!(table.get(ino, &mut Hint::default()), expected, "{ino}");
        }
        assert_eq!(table.inodes(), 8);
    }

    #[test]
    fn a_run_ends_between_two_chunks() {
        let layout = Layout::of(Mask::all());
        let (mut runs, mut run) = (Vec::new(), Run::new(layout));
        for ino in 32..30_000 {
            if run.is_full(ino) {
                assert_eq!(ino % CHUNK, 0);
                runs.push(core::mem::replace(&mut run, Run::large(layout)));
            }
            assert!(run.push(&fields(ino)));
        }
        runs.push(run);
        assert!(runs.len() > 2 && runs.iter().all(|run| run.bytes() < 600 << 10));
        let table = Table::new(layout, runs, Mask::all());
        let mut hint = Hint::default();
        assert!((32..30_000).all(|ino| table.get(ino, &mut hint) == Some(fields(ino))));
    }

    #[test]
    fn only_needed_fields_take_room() {
        let words = |mask| Layout::of(mask).words;
        assert_eq!(words(Mask::TYPE | Mask::MODE | Mask::NLINK | Mask::BLOCKS), 2);
        assert_eq!(words(Mask::SIZE | Mask::UID | Mask::MTIME), 6);
        assert_eq!(words(Mask::all()), MOST_WORDS);
        let table = table(Layout::of(Mask::MTIME | Mask::GID), &[&[77]]);
        let found = table.get(77, &mut Hint::default()).expect("it was put in");
        assert_eq!((found.mtime, found.gid, found.mode), (fields(77).mtime, fields(77).gid, 0o100_644));
        assert_eq!((found.size, found.atime), (0, Timestamp::default()));
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let mut run = Run::new(Layout::of(Mask::all()));
        let good = fields(5);
        let late = Timestamp { sec: SECONDS, nsec: 0 };
        for bad in [
            Fields { nlink: 1 << 16, ..good },
            Fields { blocks: 1 << 32, ..good },
            Fields { mtime: late, ..good },
        ] {
            assert!(!run.push(&bad));
        }
        assert!(run.push(&good));
        assert!(!run.push(&good), "the number is not above the last");
        let table = Table::new(Layout::of(Mask::all()), vec![run], Mask::all());
        assert_eq!((table.inodes(), table.get(5, &mut Hint::default())), (1, Some(good)));
    }
}
