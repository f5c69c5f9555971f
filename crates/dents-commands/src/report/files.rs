//! The largest files of each directory: a few of each, and in the page as many as fit.

use crate::stats::Now;
use crate::top::{Best, Ranked};
use dents_core::facts::Facts;
use dents_core::needs::{Kind, Needs};
use dents_sink::coding::{Bytes, put_bytes, put_number};

/// The number of files of one directory that may be shown.
const OF_DIRECTORY: usize = 20;

/// What the page shows of a file beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) bytes: u64,
    pub(super) allocated: u64,
    /// The time of the last change in seconds, and its class.
    pub(super) changed: Option<(i64, usize)>,
    pub(super) user: Option<u32>,
}

impl File {
    pub(super) fn of(kind: Kind, facts: &Facts<'_>, now: Now) -> File {
        let changed = facts.time(Needs::MTIME).map(|mtime| (mtime.sec, now.age(mtime)));
        let bytes = if kind.has_length() { facts.size } else { 0 };
        let user = (facts.uid != Facts::NOBODY).then_some(facts.uid);
        File { bytes, allocated: facts.allocated, changed, user }
    }

    /// By allocated space, then by size.
    pub(super) fn score(&self) -> i128 {
        (i128::from(self.allocated >> 1) << 64) | i128::from(self.bytes)
    }
}

/// The largest files of one directory, by their names.
pub(super) struct Files(Best<File>);

impl Files {
    pub(super) fn new() -> Files {
        Files(Best::new(OF_DIRECTORY))
    }

    pub(super) fn offer(&mut self, name: &[u8], file: File) {
        self.0.offer_with(file.score(), name, file);
    }

    /// The largest first, each with its name.
    pub(super) fn into_sorted(self) -> impl Iterator<Item = (Box<[u8]>, File)> {
        self.0.into_sorted().into_iter().map(|Ranked { path, more, .. }| (path, more))
    }

    /// Appends the files to a record.
    pub(super) fn put(self, out: &mut Vec<u8>) {
        for (name, file) in self.into_sorted() {
            put(&name, &file, out);
        }
    }

    /// Adds the files at the end of a record; `None` if it is damaged.
    pub(super) fn take(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        while !bytes.0.is_empty() {
            let name = bytes.bytes()?;
            let [size, allocated, flags] = [bytes.number()?, bytes.number()?, bytes.number()?];
            let changed =
                if flags & CHANGED == 0 { None } else { Some((bytes.number()? as i64, bytes.small()?)) };
            let user = if flags & USER == 0 { None } else { Some(bytes.small()?) };
            self.offer(name, File { bytes: size, allocated, changed, user });
        }
        Some(())
    }
}

/// Flags: which values follow.
const CHANGED: u64 = 1;
const USER: u64 = 2;

/// Appends one file to a record.
pub(super) fn put(name: &[u8], file: &File, out: &mut Vec<u8>) {
    let File { bytes, allocated, changed, user } = *file;
    put_bytes(out, name);
    put_number(out, bytes);
    put_number(out, allocated);
    put_number(out, (u64::from(changed.is_some()) * CHANGED) | (u64::from(user.is_some()) * USER));
    if let Some((seconds, age)) = changed {
        put_number(out, seconds as u64);
        put_number(out, age as u64);
    }
    if let Some(user) = user {
        put_number(out, user.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(size: u64) -> File {
        let changed = size.is_multiple_of(2).then_some((-5, 3));
        let user = size.is_multiple_of(3).then_some(u32::MAX - 1);
        File { bytes: size, allocated: size * 8, changed, user }
    }

    #[test]
    fn the_largest_come_back_from_records() {
        let mut parts = [Files::new(), Files::new()];
        for nth in 0..100 {
            parts[nth as usize % 2].offer(format!("f{nth}").as_bytes(), file(nth));
        }
        let mut whole = Files::new();
        for part in parts {
            let mut record = Vec::new();
            part.put(&mut record);
            assert_eq!(Files::new().take(&mut Bytes(&record[..record.len() - 1])), None);
            whole.take(&mut Bytes(&record)).expect("a record");
        }
        let found: Vec<(Box<[u8]>, File)> = whole.into_sorted().collect();
        let expected: Vec<(Box<[u8]>, File)> = (0..OF_DIRECTORY as u64)
            .map(|nth| (format!("f{}", 99 - nth).into_bytes().into(), file(99 - nth)))
            .collect();
        assert_eq!(found, expected);
    }
}
