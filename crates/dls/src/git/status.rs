//! The output of `git status --porcelain=v2 -z`, sorted so that an entry, and all paths below it, are found without
//! allocating.
//!
//! The format is in git-status(1), "Porcelain Format Version 2": records end in NUL; paths are relative to the top of
//! the work tree, and unquoted.

use alloc::vec::Vec;
use core::ops::Range;
use dents_core::tree::sums::path_order;
use dents_render::{Change, Git};

/// The reported paths of a work tree.
#[derive(Debug, Default)]
pub(crate) struct Statuses {
    /// Git's own output; paths are ranges of it.
    bytes: Vec<u8>,
    /// In the order of [`path_order`]: the paths in a directory follow it at once, before names that only begin with
    /// its name.
    records: Vec<Record>,
}

/// A path and its state. A path may have two records: removed from the index, but still in the work tree.
#[derive(Clone, Copy, Debug)]
struct Record {
    start: u32,
    end: u32,
    state: State,
    /// Whether it covers all paths below it: an untracked or ignored directory.
    whole: bool,
}

/// Last commit to index, and index to file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    staged: Change,
    unstaged: Change,
}

impl State {
    /// As a repository's own directory counts, which git never shows, with all that is in it.
    const IGNORED: State = State { staged: Change::None, unstaged: Change::Ignored };

    /// The gravest of both.
    fn and(self, other: State) -> State {
        State { staged: self.staged.max(other.staged), unstaged: self.unstaged.max(other.unstaged) }
    }

    fn is_ignored(self) -> bool {
        self.unstaged == Change::Ignored
    }
}

impl From<State> for Git {
    fn from(State { staged, unstaged }: State) -> Git {
        Git::Status { staged, unstaged }
    }
}

impl Statuses {
    /// Parses the output, which must be shorter than 4 GiB. Records of unknown kinds are skipped.
    pub(crate) fn parse(bytes: Vec<u8>) -> Statuses {
        let mut records = records(&bytes);
        records.sort_unstable_by(|a, b| path_order(a.path(&bytes), b.path(&bytes)));
        Statuses { bytes, records }
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The states in a directory; its path is relative to the top, which is the empty path.
    pub(crate) fn within(&self, directory: &[u8]) -> Within<'_> {
        let prefix = if directory.is_empty() { Vec::new() } else { [directory, b"/"].concat() };
        let from =
            self.records.partition_point(|record| path_order(record.path(&self.bytes), &prefix).is_lt());
        let below = &self.records[from..];
        let count = below.partition_point(|record| record.path(&self.bytes).starts_with(&prefix));
        let own = self.own(directory);
        let is_gits = directory.split(|byte| *byte == b'/').any(|name| name == b".git");
        let slashes = (0..directory.len()).filter(|at| directory[*at] == b'/');
        // The nearest one: an ignored directory may be in an untracked one.
        let from_below = [directory].into_iter().chain(slashes.rev().map(|at| &directory[..at]));
        let above = || from_below.into_iter().find_map(|above| self.whole(above));
        let inherited = is_gits.then_some(State::IGNORED).or_else(above);
        Within { bytes: &self.bytes, below: &below[..count], prefix: prefix.len(), inherited, own }
    }

    /// The records of a path.
    fn at<'p>(&'p self, path: &'p [u8]) -> impl Iterator<Item = &'p Record> {
        let from = self.records.partition_point(|record| path_order(record.path(&self.bytes), path).is_lt());
        self.records[from..].iter().take_while(move |record| record.path(&self.bytes) == path)
    }

    fn own(&self, path: &[u8]) -> State {
        self.at(path).fold(State::default(), |all, record| all.and(record.state))
    }

    /// The state of an untracked or ignored directory that is, or contains, a path.
    fn whole(&self, path: &[u8]) -> Option<State> {
        self.at(path).find(|record| record.whole).map(|record| record.state)
    }
}

impl Record {
    fn path<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.start as usize..self.end as usize]
    }
}

/// The states of the entries of one directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within<'s> {
    bytes: &'s [u8],
    /// All below it.
    below: &'s [Record],
    /// Of each of these paths, up to the names of the directory's entries.
    prefix: usize,
    /// The state of all entries that git does not ignore, if the directory is untracked or ignored as a whole.
    inherited: Option<State>,
    /// The state of the directory itself.
    own: State,
}

impl Within<'_> {
    /// Whether the directory is ignored with all that is in it.
    pub(crate) fn is_ignored(&self) -> bool {
        self.inherited.is_some_and(State::is_ignored)
    }

    /// The state of an entry: its own, or the most important one below it. Git was not asked about `..`; it never
    /// reports `.git`, so that counts as ignored.
    pub(crate) fn entry(&self, name: &[u8]) -> Git {
        match name {
            b".." => Git::Outside,
            b".git" => State::IGNORED.into(),
            name if let Some(inherited) = self.inherited => {
                // Git reports what is ignored in an untracked directory, one by one.
                let is_ignored = name != b"." && self.named(name).is_ignored();
                if is_ignored { State::IGNORED.into() } else { inherited.into() }
            }
            b"." => self.below.iter().fold(self.own, |all, record| all.and(upwards(record))).into(),
            name => self.named(name).into(),
        }
    }

    fn named(&self, name: &[u8]) -> State {
        let rest = |record: &Record| &self.bytes[record.start as usize + self.prefix..record.end as usize];
        let from = self.below.partition_point(|record| path_order(rest(record), name).is_lt());
        let mut state = State::default();
        for record in &self.below[from..] {
            match rest(record).strip_prefix(name) {
                Some([]) => state = state.and(record.state),
                Some([b'/', ..]) => state = state.and(upwards(record)),
                _ => break,
            }
        }
        state
    }
}

/// The state that a record gives to the directories above it. An ignored path gives them none.
fn upwards(record: &Record) -> State {
    if record.state.is_ignored() { State::default() } else { record.state }
}

/// The records of an output, in its order.
fn records(bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut pieces = pieces(bytes);
    while let Some(piece) = pieces.next() {
        let Some((at, state)) = read(&bytes[piece.clone()]) else { continue };
        records.extend(record(bytes, piece.start + at..piece.end, state));
        if bytes[piece.start] == b'2'
            && let Some(origin) = pieces.next()
        {
            // A renamed file is missing from its old directory, which must be shown there. A copied one is not.
            let renamed = |change: Change| if change == Change::Renamed { change } else { Change::None };
            let State { staged, unstaged } = state;
            let state = State { staged: renamed(staged), unstaged: renamed(unstaged) };
            records.extend(record(bytes, origin, state));
        }
    }
    records
}

/// Where the pieces between NULs are.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    core::iter::from_fn(move || {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let len = memchr::memchr(0, rest).unwrap_or(rest.len());
        let piece = start..start + len;
        start += len + 1;
        Some(piece)
    })
}

/// The offset of the path in a record, and its state.
fn read(record: &[u8]) -> Option<(usize, State)> {
    // Fields before the path, each with a blank behind it.
    let fields = match record.first()? {
        b'1' => 8,
        b'2' => 9,
        b'u' => 10,
        b'?' | b'!' => 1,
        _ => return None,
    };
    let at = memchr::memchr_iter(b' ', record).nth(fields - 1)? + 1;
    let state = match record {
        [b'?', ..] => State { staged: Change::None, unstaged: Change::New },
        [b'!', ..] => State { staged: Change::None, unstaged: Change::Ignored },
        [b'u', ..] => State { staged: Change::Conflicted, unstaged: Change::Conflicted },
        [_, b' ', staged, unstaged, b' ', ..] => {
            State { staged: change(*staged), unstaged: change(*unstaged) }
        }
        _ => return None,
    };
    (at < record.len()).then_some((at, state))
}

/// The letters of git-status(1).
fn change(letter: u8) -> Change {
    match letter {
        b'M' => Change::Modified,
        b'T' => Change::Typechange,
        b'A' | b'C' => Change::New,
        b'D' => Change::Deleted,
        b'R' => Change::Renamed,
        b'U' => Change::Conflicted,
        _ => Change::None,
    }
}

/// A record of a path; a directory's ends in a slash.
fn record(bytes: &[u8], path: Range<usize>, state: State) -> Option<Record> {
    let whole = bytes[path.clone()].ends_with(b"/");
    let (start, end) = (u32::try_from(path.start).ok()?, u32::try_from(path.end - usize::from(whole)).ok()?);
    Some(Record { start, end, state, whole })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Change::{Conflicted, Deleted, Ignored, Modified, New, None as Same, Renamed, Typechange};
    use alloc::format;
    use alloc::string::String;

    const HASHES: &str = "N... 100644 100644 100644 0000000000 1111111111";

    fn statuses(records: &[&str]) -> Statuses {
        let text: String = records.iter().map(|record| format!("{record}\0")).collect();
        Statuses::parse(text.replace('#', HASHES).into_bytes())
    }

    fn is(staged: Change, unstaged: Change) -> Git {
        Git::Status { staged, unstaged }
    }

    #[test]
    fn every_record() {
        let all = statuses(&[
            "1 .M # a b",
            "1 A. # added",
            "1 MT # both",
            "2 R. # R100 new name",
            "old/name",
            "2 C. # C75 copy",
            "a b",
            "u UU N... 1 2 3 4 5 6 7 torn",
            "? free",
            "! junk",
            "1 D. # gone",
            "? gone",
        ]);
        let top = all.within(b"");
        for (name, expected) in [
            ("a b", is(Same, Modified)),
            ("added", is(New, Same)),
            ("both", is(Modified, Typechange)),
            ("new name", is(Renamed, Same)),
            ("old", is(Renamed, Same)),
            ("copy", is(New, Same)),
            ("torn", is(Conflicted, Conflicted)),
            ("free", is(Same, New)),
            ("junk", is(Same, Ignored)),
            ("gone", is(Deleted, New)),
            ("clean", is(Same, Same)),
            ("a", is(Same, Same)),
            (".git", is(Same, Ignored)),
            ("..", Git::Outside),
            (".", is(Conflicted, Conflicted)),
        ] {
            assert_eq!(top.entry(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn directories_take_the_gravest_below_them() {
        let all = statuses(&[
            "1 .M # d/e/f",
            "1 .D # d/g",
            "1 M. # d-1",
            "? d.x",
            "! d/junk",
            "! i/junk",
            "1 .T # d0",
        ]);
        let top = all.within(b"");
        assert_eq!(top.entry(b"d"), is(Same, Deleted));
        assert_eq!(top.entry(b"d-1"), is(Modified, Same));
        assert_eq!(top.entry(b"d.x"), is(Same, New));
        assert_eq!(top.entry(b"d0"), is(Same, Typechange));
        assert_eq!(top.entry(b"i"), is(Same, Same), "what is ignored is nothing to what is above it");
        let below = all.within(b"d");
        assert_eq!(below.entry(b"e"), is(Same, Modified));
        assert_eq!(below.entry(b"junk"), is(Same, Ignored));
        assert_eq!(below.entry(b"."), is(Same, Deleted));
        assert_eq!(all.within(b"d/e").entry(b"f"), is(Same, Modified));
        assert_eq!(all.within(b"none").entry(b"."), is(Same, Same));
    }

    #[test]
    fn all_in_an_untracked_or_ignored_directory_is() {
        let all = statuses(&["? new/", "! target/", "1 .M # target.rs"]);
        assert_eq!(all.within(b"").entry(b"new"), is(Same, New));
        assert_eq!(all.within(b"new").entry(b"x"), is(Same, New));
        assert_eq!(all.within(b"new/sub/deep").entry(b"."), is(Same, New));
        assert_eq!(all.within(b"target/debug").entry(b"x"), is(Same, Ignored));
        assert!(all.within(b"target/debug").is_ignored() && !all.within(b"new").is_ignored());
        assert_eq!(all.within(b"newer").entry(b"x"), is(Same, Same));
        for gits in [&b".git"[..], b".git/refs", b"new/.git"] {
            assert!(all.within(gits).is_ignored());
            assert_eq!(
                [".", "HEAD"].map(|name| all.within(gits).entry(name.as_bytes())),
                [is(Same, Ignored); 2]
            );
        }
        assert!(!all.within(b".github").is_ignored());
    }

    #[test]
    fn what_is_ignored_in_an_untracked_directory_is() {
        let all =
            statuses(&["? new/", "! new/a.pyc", "! new/node_modules/", "! new/src/b.pyc", "? new/a.py"]);
        let new = all.within(b"new");
        assert_eq!(["a.pyc", "node_modules"].map(|name| new.entry(name.as_bytes())), [is(Same, Ignored); 2]);
        assert_eq!(["src", "a.py", "other", "."].map(|name| new.entry(name.as_bytes())), [is(Same, New); 4]);
        assert_eq!(all.within(b"new/src").entry(b"b.pyc"), is(Same, Ignored));
        assert_eq!(all.within(b"new/src").entry(b"b.py"), is(Same, New));
        assert!(all.within(b"new/node_modules/big").is_ignored() && !new.is_ignored());
        assert_eq!(all.within(b"").entry(b"new"), is(Same, New));
    }

    #[test]
    fn nonsense_is_passed_over() {
        let all =
            statuses(&["", "# branch.oid x", "1", "1 .M", "?", "? ", "1 .M # ", "x y z", "2 R. # R1 moved"]);
        assert_eq!(all.within(b"").entry(b"moved"), is(Renamed, Same), "though its origin is missing");
        assert_eq!(all.len(), 1);
        assert_eq!(Statuses::parse(b"? no end".to_vec()).within(b"").entry(b"no end"), is(Same, New));
    }

    #[test]
    fn the_order_is_by_components() {
        let mut paths = ["a-b", "a/b", "a", "a/b/c", "a/b-", "a0", "a\x01"];
        paths.sort_by(|a, b| path_order(a.as_bytes(), b.as_bytes()));
        assert_eq!(paths, ["a", "a/b", "a/b/c", "a/b-", "a\x01", "a-b", "a0"]);
    }
}
