//! Shared by the tests: rows of every kind, and a temporary directory.

use dents_core::batch::Time;
use dents_core::facts::Type;
use dents_core::needs::Kind;
use dents_sink::read::Columns;
use dents_sink::time::Unit;
use dents_sink::{About, Asked, Detail, Draft, Extent, Facts, Fault, Format, Row, Value, create, read};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A row that owns its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) parent: Vec<u8>,
    pub(crate) name: Vec<u8>,
    user: Option<Vec<u8>>,
    group: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    details: Draft,
    pub(crate) row: Row<'static>,
}

impl Owned {
    pub(crate) fn of(row: &Row<'_>) -> Owned {
        let facts = row.facts.as_ref();
        Owned {
            parent: row.parent.to_vec(),
            name: row.name.to_vec(),
            user: facts.and_then(|facts| facts.user).map(<[u8]>::to_vec),
            group: facts.and_then(|facts| facts.group).map(<[u8]>::to_vec),
            target: row.target.map(<[u8]>::to_vec),
            details: row.details.into(),
            row: row.without_texts(),
        }
    }

    /// The row without details, as files of earlier versions have it.
    pub(crate) fn without_details(self) -> Owned {
        Owned { details: Draft::default(), ..self }
    }

    /// The row with its times in this unit: rounded down, unless the unit cannot represent them.
    pub(crate) fn in_units(mut self, unit: Unit) -> Owned {
        let rounded = |time: Time| match unit.count(time) {
            (count, true) => unit.time(count),
            (_, false) => time,
        };
        self.row.facts = self.row.facts.map(|facts| Facts {
            atime: rounded(facts.atime),
            btime: facts.btime.map(rounded),
            ctime: rounded(facts.ctime),
            mtime: rounded(facts.mtime),
            ..facts
        });
        self
    }

    pub(crate) fn path(&self) -> Vec<u8> {
        let mut path = Vec::new();
        self.row().path(&mut path);
        path
    }

    pub(crate) fn row(&self) -> Row<'_> {
        let others = [&self.user, &self.group, &self.target].map(Option::as_deref);
        self.row.with_texts([&self.parent, &self.name], others, self.details.details())
    }
}

/// A small seeded generator (SplitMix64).
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which must not be 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A number that is small, random, or at the limit of a type.
    pub(crate) fn number(&mut self) -> u64 {
        match self.below(6) {
            0 => self.below(3),
            1 => u64::MAX - self.below(3),
            2 => (i64::MAX as u64).wrapping_add(self.below(4)).wrapping_sub(1),
            3 => self.next(),
            _ => self.next() >> self.below(64),
        }
    }

    fn time(&mut self) -> Time {
        let nsec = match self.below(3) {
            0 => 0,
            1 => 999_999_999,
            _ => self.below(1_000_000_000) as u32,
        };
        let sec = match self.below(8) {
            0 => i64::MIN + self.below(2) as i64,
            1 => i64::MAX - self.below(2) as i64,
            2 => self.next() as i64,
            // The limits of 64 bits of nanoseconds, and of years of four digits.
            3 => 9_223_372_036 + self.below(3) as i64 - 1,
            4 => -9_223_372_037 + self.below(3) as i64 - 1,
            5 => -(self.below(1 << 40) as i64),
            6 => 253_402_300_799 + self.below(3) as i64 - 1,
            _ => self.below(1 << 31) as i64,
        };
        Time { sec, nsec }
    }

    /// A valid name: up to 255 bytes of any value but `/` and NUL.
    pub(crate) fn name(&mut self) -> Vec<u8> {
        let len = if self.one_in(8) { 255 } else { 1 + self.below(24) };
        let style = self.below(6);
        let byte = |rng: &mut Rng| match style {
            0 => rng.next() as u8,
            1 => b"\x01\x1b\n\r\t\"\\'\x7f$`*"[rng.below(12) as usize],
            2 => b"\xc2\x9b\xc3\xa9\xf0\x9f\x98\x80\xff\xed\xa0\x80"[rng.below(12) as usize],
            _ => b"abcxyzABC019._- "[rng.below(16) as usize],
        };
        let mut name: Vec<u8> = match style {
            4 => "é\u{85}\u{9f}\u{2028}\u{fffd}😀ß\"\\".repeat(3).into_bytes(),
            _ => (0..len).map(|_| byte(self)).collect(),
        };
        name.iter_mut().filter(|byte| matches!(**byte, 0 | b'/')).for_each(|byte| *byte = b'_');
        if matches!(&name[..], b"." | b"..") { b"_".to_vec() } else { name }
    }

    pub(crate) fn facts(&mut self) -> Facts<'static> {
        Facts {
            dev: (self.number() as u32, self.number() as u32),
            ino: self.number(),
            mode: self.next() as u16,
            nlink: self.number() as u32,
            uid: self.number() as u32,
            gid: self.number() as u32,
            user: None,
            group: None,
            size: self.number(),
            allocated: self.number(),
            atime: self.time(),
            btime: self.one_in(2).then(|| self.time()),
            ctime: self.time(),
            mtime: self.time(),
            lazy: self.one_in(2),
            unknown: Columns::empty(),
        }
    }

    /// Most rows have none. The other values stay those of files of earlier versions.
    fn details(&self) -> Draft {
        Rng(self.0 ^ 0xde7a).own_details()
    }

    fn own_details(&mut self) -> Draft {
        let mut draft = Draft::default();
        let texts = ["", "a", "user.\u{e9}\n\u{202e}", "access,default"];
        for detail in Detail::ALL.into_iter().filter(|_| self.one_in(2)).collect::<Vec<_>>() {
            let text = texts[self.below(4) as usize];
            let number = if self.one_in(3) { u32::MAX.into() } else { self.below(3) };
            let value = if detail.kind() == Type::Text { Value::Text(text) } else { Value::Number(number) };
            draft.push(detail, Some(value));
        }
        if self.one_in(3) { draft } else { Draft::default() }
    }

    pub(crate) fn row(&mut self, parent: &[u8]) -> Owned {
        let kinds = [Kind::Unknown].into_iter().chain(Kind::KNOWN).collect::<Vec<_>>();
        let asked = [Asked::Stat, Asked::Link, Asked::Open, Asked::Read, Asked::Loop];
        let facts = (!self.one_in(4)).then(|| self.facts());
        let fault = Fault { asked: asked[self.below(5) as usize], errno: self.below(140) as i32 };
        Owned {
            parent: parent.to_vec(),
            name: self.name(),
            user: facts.filter(|_| self.one_in(2)).map(|_| self.name()),
            group: facts.filter(|_| self.one_in(2)).map(|_| self.name()),
            target: self.one_in(4).then(|| self.name()),
            details: self.details(),
            row: Row {
                parent: b"",
                name: b"",
                depth: if self.one_in(9) {
                    deepest(parent)
                } else {
                    1.max(self.below(9) as u32 % (deepest(parent) + 1)).min(deepest(parent))
                },
                kind: kinds[self.below(9) as usize],
                facts,
                target: None,
                details: Default::default(),
                fault: self.one_in(5).then_some(fault),
            },
        }
    }

    /// Rows in an order that a walk may have: those of a directory are consecutive.
    pub(crate) fn rows(&mut self, count: usize) -> Vec<Owned> {
        let mut rows = Vec::with_capacity(count);
        while rows.len() < count {
            let parent = match self.below(6) {
                0 => Vec::new(),
                1 => b"/".to_vec(),
                2 => [&self.name()[..], b"/"].concat(),
                3 => [&b"/"[..], &self.name(), b"/", &self.name()].concat(),
                _ => self.name(),
            };
            for _ in 0..self.below(20).min((count - rows.len()) as u64) {
                rows.push(self.row(&parent));
            }
        }
        rows
    }
}

/// The greatest depth of an entry of a directory.
fn deepest(parent: &[u8]) -> u32 {
    let slashes = parent.iter().filter(|byte| **byte == b'/').count() as u32;
    match parent {
        b"" => 0,
        b"/" => 1,
        _ if parent.ends_with(b"/") => slashes,
        _ => slashes + 1,
    }
}

/// Rows in the order in which one part writes them to a file of this format.
pub(crate) fn as_written(format: Format, mut rows: Vec<Owned>) -> Vec<Owned> {
    if format.name() == "parquet" {
        let is_second = |row: &Owned| row.row().fault.is_some_and(|fault| fault.is_of_directory());
        rows.sort_by_cached_key(|row| (row.path(), is_second(row)));
    }
    rows
}

/// The metadata of the files of tests. Times are nanoseconds, which lose nothing.
pub(crate) const ABOUT: About<'static> = About {
    program: "a test",
    begun: Time { sec: 1_700_000_000, nsec: 1 },
    ended: None,
    timestamps: Unit::Nanos,
    index: false,
    subvolumes: &[],
    details: Columns::DETAILS,
};

/// Writes the rows of a complete scan through this number of parts, and ends the file.
pub(crate) fn write(path: &Path, format: Format, rows: &[Owned], parts: usize) -> io::Result<()> {
    write_about(path, format, &ABOUT, rows, parts, Extent::Complete).map(drop)
}

/// The same, with times in this unit.
pub(crate) fn write_in(path: &Path, format: Format, timestamps: Unit, rows: &[Owned]) -> io::Result<()> {
    write_about(path, format, &About { timestamps, ..ABOUT }, rows, 1, Extent::Complete).map(drop)
}

/// The same for any scan. Returns the path of the file.
pub(crate) fn write_as(
    path: &Path,
    format: Format,
    rows: &[Owned],
    parts: usize,
    extent: Extent,
) -> io::Result<Option<PathBuf>> {
    write_about(path, format, &ABOUT, rows, parts, extent)
}

pub(crate) fn write_about(
    path: &Path,
    format: Format,
    about: &About<'_>,
    rows: &[Owned],
    parts: usize,
    extent: Extent,
) -> io::Result<Option<PathBuf>> {
    let sink = create(path, format, about)?;
    std::thread::scope(|scope| {
        let share = rows.len().div_ceil(parts).max(1);
        let workers = rows.chunks(share).map(|rows| {
            let mut part = sink.part();
            scope.spawn(move || {
                rows.iter().try_for_each(|row| part.row(&row.row()))?;
                part.flush()
            })
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
    })?;
    sink.finish(extent)
}

/// The rows of a file with a complete scan.
pub(crate) fn read(path: &Path) -> io::Result<Vec<Owned>> {
    let (rows, extent) = read_any(path)?;
    assert_eq!(extent, Some(Extent::Complete), "{}", path.display());
    Ok(rows)
}

/// The rows of a file, and whether they are complete.
pub(crate) fn read_any(path: &Path) -> io::Result<(Vec<Owned>, Option<Extent>)> {
    let mut rows = Vec::new();
    let extent = read::open(path)?.for_each(&mut |row| {
        rows.push(Owned::of(row));
        Ok(())
    })?;
    Ok((rows, extent))
}

/// A temporary directory, removed with its contents.
pub(crate) struct Playground(pub(crate) PathBuf);

impl Playground {
    pub(crate) fn new() -> Playground {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dents-sink-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Playground(path)
    }

    pub(crate) fn file(&self, format: Format) -> PathBuf {
        self.0.join(format!("scan.{}", format.name()))
    }

    /// The names in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).expect("readable");
        names.map(|one| one.expect("an entry").file_name().into_string().expect("UTF-8")).collect()
    }
}

impl Drop for Playground {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
