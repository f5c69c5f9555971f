//! Random trees, as lists of entries that can be built, shortened, built again, and printed as shell commands.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, makedev, mknodat, utimensat};

use crate::fixture::{TempDir, settle};
use crate::process::quote;
use crate::rng::Rng;

/// One entry of a tree.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Relative to the tree; its parent comes before it in the list.
    pub path: PathBuf,
    kind: Kind,
    mode: u32,
    /// Seconds and nanoseconds; when read last, when changed last.
    times: [(i64, i64); 2],
    owner: Option<u32>,
}

#[derive(Clone, Debug)]
enum Kind {
    File(u64),
    Dir,
    Link(PathBuf),
    HardLink(PathBuf),
    Fifo,
    Socket,
    Device(FileType, u32, u32),
}

/// A list of entries.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    entries: Vec<Entry>,
}

/// The parts of names.
const ALPHABETS: &[&[&str]] = &[
    &["a", "b", "c", "A", "B", "1", "2", "10", "0", ".", "-", "_"],
    &["1", "01", "2", "10", "9", "~", "-", "+", ".", "a", "rc", "tar", "gz", ".tar.gz", "v"],
    &[
        " ", "'", "\"", "\\", "$", "`", "!", "*", "?", "[", "]", "{", "}", "(", ")", "<", ">", "|", "&", ";",
        "#", "~", "=", "^", ":", "%", ",",
    ],
    &["\n", "\t", "\r", "\x1b", "\x07", "\x08", "\x7f", "\x01", "a", "'", " "],
    &[
        "é",
        "ß",
        "Å",
        "ñ",
        "e\u{301}",
        "宽",
        "字",
        "한",
        "😀",
        "👩‍👧",
        "ש",
        "\u{200b}",
        "\u{ad}",
        "\u{a0}",
        "\u{202e}",
        "\u{3000}",
        "ﬁ",
        "a",
    ],
    &["x.c", "x.C", ".tar", ".TAR", ".gz", "~", ".bak", "README", "Makefile", ".jpg", ".h"],
];

/// Pieces that are not UTF-8, or not quite.
const BROKEN: &[&[u8]] =
    &[b"\xff", b"\x80", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xc2\x85"];

fn name(rng: &mut Rng) -> Vec<u8> {
    let mut name = Vec::new();
    if rng.one_in(8) {
        name.push(b'.');
    }
    let alphabet = rng.pick(ALPHABETS);
    let longest = if rng.one_in(20) { 60 } else { 8 };
    for _ in 0..1 + rng.below(longest) {
        match rng.below(40) {
            0 => name.extend_from_slice(rng.pick::<&[u8]>(BROKEN)),
            1 => name.extend_from_slice(
                {
                    let other = rng.pick(ALPHABETS);
                    rng.pick(other)
                }
                .as_bytes(),
            ),
            _ => name.extend_from_slice(rng.pick(alphabet).as_bytes()),
        }
    }
    name.truncate(254);
    // GNU before 9.5 quotes these wrongly (see `known`): a few show it, more would hide other differences.
    if quote_at_edge(&name) && !rng.one_in(20) {
        name.push(b'z');
    }
    name
}

impl Tree {
    /// No link leads far out of it: `-LR` would list the machine. A tree of up to 60 entries, most of them in its root.
    pub fn random(rng: &mut Rng, now: i64) -> Tree {
        let mut tree = Tree::default();
        let mut dirs = vec![PathBuf::new()];
        let most = if rng.one_in(3) { 60 } else { 15 };
        for _ in 0..rng.below(most) {
            let dir = if rng.one_in(3) { rng.pick(&dirs).clone() } else { PathBuf::new() };
            let path = dir.join(OsStr::from_bytes(&name(rng)));
            let taken = tree.entries.iter().any(|entry| entry.path == path);
            if taken || [".", ".."].iter().any(|dots| path.ends_with(dots)) || path == dir {
                continue;
            }
            let kind = tree.kind(rng);
            if matches!(kind, Kind::Dir) {
                dirs.push(path.clone());
            }
            // Reading a directory or a link moves its access time until that is later than all its others: one that
            // was changed in the future would never hold still.
            let latest = if matches!(kind, Kind::Dir | Kind::Link(_)) { now - 60 } else { i64::MAX };
            let times = [time(rng, now), time(rng, now)].map(|(s, ns)| (s.min(latest), ns));
            tree.entries.push(Entry {
                path,
                mode: mode(rng, matches!(kind, Kind::Dir)),
                kind,
                times,
                owner: rng.one_in(6).then(|| *rng.pick(&[1, 2, 12_345, 65_534, 4_294_967_294])),
            });
        }
        tree
    }

    fn kind(&self, rng: &mut Rng) -> Kind {
        let other = |rng: &mut Rng| rng.pick(&self.entries).path.clone();
        match rng.below(20) {
            0..4 => Kind::Dir,
            4..7 if !self.entries.is_empty() => Kind::Link(other(rng)),
            7 => Kind::Link(OsStr::from_bytes(&name(rng)).into()),
            8 => Kind::Link(PathBuf::from(*rng.pick(&[".", "..", "/dev/null", "/nowhere", "a/b/c", "./"]))),
            9 if !self.entries.is_empty() => Kind::HardLink(other(rng)),
            10 => Kind::Fifo,
            11 if rng.one_in(2) => Kind::Socket,
            12 if rng.one_in(2) => {
                let kind = *rng.pick(&[FileType::CharacterDevice, FileType::BlockDevice]);
                Kind::Device(kind, *rng.pick(&[1, 8, 259, 4095]), *rng.pick(&[0, 3, 255, 1_048_575]))
            }
            _ => Kind::File(*rng.pick(&[
                0,
                0,
                0,
                1,
                9,
                10,
                999,
                1000,
                1023,
                1024,
                1025,
                4096,
                10_239,
                123_456,
                1 << 20,
                1 << 33,
                1 << 41,
            ])),
        }
    }

    /// How many entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every entry's path, relative to the tree.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.iter().map(|entry| entry.path.as_path())
    }

    /// The tree without some entries, and without the entries below them.
    pub fn without(&self, range: Range<usize>) -> Tree {
        let gone = &self.entries[range.start..range.end.min(self.entries.len())];
        let kept = |entry: &&Entry| !gone.iter().any(|gone| entry.path.starts_with(&gone.path));
        Tree { entries: self.entries.iter().filter(kept).cloned().collect() }
    }

    /// Builds it as `t` in a fresh directory below `parent`, so that `..` holds as still as the tree does.
    /// Entries that the file system or a missing privilege refuses are left out.
    pub fn build(&self, parent: &Path) -> io::Result<TempDir> {
        let dir = TempDir::new_in(parent, "tree")?;
        let root = dir.path().join("t");
        fs::create_dir(&root)?;
        for entry in &self.entries {
            // A name or a size that this file system refuses is left out.
            let _ = entry.make(&root);
        }
        // From the leaves up: a closed directory cannot be entered any more, an entry changes its parent's times.
        for entry in self.entries.iter().rev() {
            let _ = entry.finish(&root);
        }
        settle(dir.path())?;
        Ok(dir)
    }

    /// Commands that build it in an empty directory; times other than "old" do not matter often enough to show.
    pub fn shell(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let path = quote(entry.path.as_os_str());
            let command = match &entry.kind {
                Kind::File(size) => format!("truncate -s{size} -- {path}"),
                Kind::Dir => format!("mkdir -- {path}"),
                Kind::Link(target) => format!("ln -s -- {} {path}", quote(target.as_os_str())),
                Kind::HardLink(target) => format!("ln -- {} {path}", quote(target.as_os_str())),
                Kind::Fifo => format!("mkfifo -- {path}"),
                Kind::Socket => format!("nc -lU -- {path} & sleep .1; kill $!"),
                Kind::Device(kind, major, minor) => {
                    let letter = if *kind == FileType::BlockDevice { 'b' } else { 'c' };
                    format!("mknod -- {path} {letter} {major} {minor}")
                }
            };
            let _ = write!(text, "    {command}");
            if !matches!(entry.kind, Kind::Link(_) | Kind::HardLink(_)) {
                let _ = write!(text, "; chmod {:04o} -- {path}", entry.mode);
            }
            if let Some(owner) = entry.owner {
                let _ = write!(text, "; chown -h {owner}:{owner} -- {path}");
            }
            let [(accessed, _), (changed, nanoseconds)] = entry.times;
            let _ = writeln!(
                text,
                "; touch -ha -d @{accessed} -- {path}; touch -hm -d @{changed}.{nanoseconds:09} -- {path}"
            );
        }
        text
    }
}

impl Entry {
    fn make(&self, root: &Path) -> io::Result<()> {
        let path = root.join(&self.path);
        let node = |kind, device| mknodat(CWD, &path, kind, Mode::from_raw_mode(0o644), device);
        match &self.kind {
            Kind::File(size) => File::create_new(&path)?.set_len(*size)?,
            Kind::Dir => fs::create_dir(&path)?,
            Kind::Link(target) => symlink(target, &path)?,
            Kind::HardLink(target) => fs::hard_link(root.join(target), &path)?,
            Kind::Fifo => node(FileType::Fifo, 0)?,
            Kind::Socket => drop(UnixListener::bind(&path)?),
            Kind::Device(kind, major, minor) => node(*kind, makedev(*major, *minor))?,
        }
        Ok(())
    }

    fn finish(&self, root: &Path) -> io::Result<()> {
        let path = root.join(&self.path);
        if let Some(owner) = self.owner {
            let _ = std::os::unix::fs::lchown(&path, Some(owner), Some(owner));
        }
        if !matches!(self.kind, Kind::Link(_) | Kind::HardLink(_)) {
            fs::set_permissions(&path, fs::Permissions::from_mode(self.mode))?;
        }
        let [accessed, changed] = self.times.map(|(tv_sec, tv_nsec)| Timespec { tv_sec, tv_nsec });
        let times = Timestamps { last_access: accessed, last_modification: changed };
        Ok(utimensat(CWD, &path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }
}

fn mode(rng: &mut Rng, is_dir: bool) -> u32 {
    match (rng.below(4), is_dir) {
        (0, _) => (rng.next_u64() & 0o7777) as u32,
        (1, true) => *rng.pick(&[0o700, 0o777, 0o1777, 0o1755, 0o2755, 0o000]),
        (1, false) => *rng.pick(&[0o600, 0o755, 0o777, 0o4755, 0o2755, 0o000]),
        (_, true) => 0o755,
        (_, false) => 0o644,
    }
}

/// Around now, around half a year ago, the edges of 32 bits, and anywhere between 1902 and 2100.
fn time(rng: &mut Rng, now: i64) -> (i64, i64) {
    const DAY: i64 = 86_400;
    let seconds = match rng.below(8) {
        0 => now - rng.below(300) as i64 * DAY - 10,
        1 => now + 3600 + rng.below(400) as i64 * DAY,
        2 => now - 31_556_952 / 2 + *rng.pick(&[-DAY, DAY]),
        3 => *rng.pick(&[-2_147_483_648, -1, 0, 1, 2_147_483_647, 2_147_483_648, 951_782_400, 1_000_000_000]),
        4 => rng.below(4_102_444_800) as i64,
        // Equal times show how ties are broken.
        5 | 6 => 1_600_000_000,
        _ => rng.below(6_000_000_000) as i64 - 2_145_000_000,
    };
    (seconds, *rng.pick(&[0, 0, 1, 500_000_000, 999_999_999, 120_000_000]))
}

/// Whether a name has a single quote and ends in a byte that may be escaped.
pub fn quote_at_edge(name: &[u8]) -> bool {
    name.contains(&b'\'') && ends_in_escape(name)
}

/// Whether a name ends in a byte that may be escaped.
pub fn ends_in_escape(name: &[u8]) -> bool {
    name.last().is_some_and(|byte| !(b' '..=b'~').contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_built_as_listed_and_can_lose_any_part() {
        let mut rng = Rng::new(3);
        let parent = std::env::temp_dir();
        for _ in 0..20 {
            let tree = Tree::random(&mut rng, 1_700_000_000);
            let dir = tree.build(&parent).expect("a directory");
            let there = |path: &Path| fs::symlink_metadata(dir.path().join("t").join(path)).is_ok();
            let built = tree.paths().filter(|path| there(path)).count();
            assert!(built * 10 >= tree.len() * 7, "{built} of {}", tree.len());
            let less = tree.without(0..2);
            assert!(tree.is_empty() || less.len() < tree.len());
            assert!(tree.shell().lines().count() >= tree.len());
        }
    }
}
