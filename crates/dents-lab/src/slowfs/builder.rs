//! Describes a file system before it is mounted: its entries, its latency, its faults.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;

use super::fault::{Fault, Faults, Rule};
use super::fuse::{Habits, Readdirplus};
use super::kind::Kind;
use super::mounted::{Mounted, Parts};
use super::request::Request;
use super::server::Pace;
use super::tree::{ROOT, Tree};
use super::tricks::Tricks;
use crate::fixture::TempDir;
use crate::rng::Rng;

/// How many directories a directory of [`Builder::tree`] holds.
const FANOUT: usize = 8;

/// The slow file system; see [`SlowFs::builder`].
#[derive(Debug)]
pub struct SlowFs;

impl SlowFs {
    /// An empty file system that answers at once and forbids the kernel to cache.
    pub fn builder() -> Builder {
        Builder { owners: vec![(0, 0)], names: "e#####".into(), ..Builder::default() }
    }
}

/// The description of a file system. Paths are relative to its root; `.` is the root itself.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    entries: Vec<(OsString, Kind)>,
    names: String,
    tree: (usize, usize),
    shuffled: Option<u64>,
    owners: Vec<(u32, u32)>,
    xattrs: Vec<(PathBuf, OsString, Vec<u8>)>,
    endless: bool,
    churn: usize,
    faults: Vec<(Option<PathBuf>, Rule)>,
    seed: u64,
    pace: Pace,
    habits: Habits,
    default_permissions: bool,
    tricks: Tricks,
}

impl Builder {
    /// The names of entries made from now on: `#…#` is their number, padded with zeros to that width. The default is
    /// `e#####`.
    pub fn names(mut self, pattern: &str) -> Builder {
        self.names = pattern.to_string();
        self
    }

    /// `count` entries in the root, their kinds taken from `kinds` in turn, numbered on from those before.
    pub fn entries(mut self, count: usize, kinds: &[Kind]) -> Builder {
        let first = self.entries.len();
        let numbered = (first..first + count).zip(kinds.iter().cycle());
        let named: Vec<(OsString, Kind)> =
            numbered.map(|(n, kind)| (numbered_name(&self.names, n), *kind)).collect();
        self.entries.extend(named);
        self
    }

    /// One entry in the root.
    pub fn entry(mut self, name: impl AsRef<OsStr>, kind: Kind) -> Builder {
        self.entries.push((name.as_ref().to_os_string(), kind));
        self
    }

    /// `directories` directories `dir0` … below the root, eight in each, and `files` files `file0` … in each
    /// of them.
    pub fn tree(mut self, directories: usize, files: usize) -> Builder {
        self.tree = (directories, files);
        self
    }

    /// The root lists its entries in an order that `seed` determines, as a hashed directory would, instead of the
    /// order of creation.
    pub fn shuffled(mut self, seed: u64) -> Builder {
        self.shuffled = Some(seed);
        self
    }

    /// The owners and groups of entries, in turns; by default root's.
    pub fn owners(mut self, owners: &[(u32, u32)]) -> Builder {
        if !owners.is_empty() {
            self.owners = owners.to_vec();
        }
        self
    }

    /// An extended attribute of one entry. Without any, `listxattr` answers with an empty list.
    pub fn xattr(mut self, path: impl AsRef<Path>, name: &str, value: &[u8]) -> Builder {
        self.xattrs.push((path.as_ref().into(), name.into(), value.to_vec()));
        self
    }

    /// The root never ends: after its entries come `endless-0`, `endless-1` …, each a file.
    pub fn endless(mut self) -> Builder {
        self.endless = true;
        self
    }

    /// An endless root whose names after its entries are all the same.
    pub fn repeats(mut self) -> Builder {
        self.tricks.repeats = true;
        self.endless()
    }

    /// The root has a directory `down`, which has one too, and so on for ever.
    pub fn bottomless(mut self) -> Builder {
        self.tricks.bottomless = true;
        self
    }

    /// The root has a directory `myself`, which is the root.
    pub fn contains_itself(mut self) -> Builder {
        self.tricks.contains_itself = true;
        self
    }

    /// An entry of the root of one kind, for which directories return the type of another.
    pub fn lie(mut self, name: &str, kind: Kind, told: Kind) -> Builder {
        self.tricks.lies.insert(name.into(), told);
        self.entry(name, kind)
    }

    /// A file in the root with this size, and these seconds since 1970 for all its times. The kernel answers `EIO` where the size is
    /// negative as a signed number.
    pub fn figures(mut self, name: &str, size: u64, seconds: i64) -> Builder {
        self.tricks.figures.insert(name.into(), (size, seconds));
        self.entry(name, Kind::File)
    }

    /// With every piece of the root that is read, `count` names (`passing-0` …) come at random places between
    /// the entries, and those of the last time go.
    pub fn churn(mut self, count: usize) -> Builder {
        self.churn = count;
        self.habits.churns = count > 0;
        self
    }

    /// The duration of every request for whose answer a thread waits.
    pub fn latency(mut self, latency: Duration) -> Builder {
        self.pace.latency = latency;
        self
    }

    /// How long requests of these kinds take instead.
    pub fn latency_of(mut self, requests: &[Request], latency: Duration) -> Builder {
        self.pace.by_kind.extend(requests.iter().map(|request| (*request, latency)));
        self
    }

    /// Each request takes longer by up to this, evenly spread.
    pub fn jitter(mut self, jitter: Duration) -> Builder {
        self.pace.jitter = jitter;
        self
    }

    /// The seed of the jitter.
    pub fn seed(mut self, seed: u64) -> Builder {
        self.seed = seed;
        self
    }

    /// The number of requests that are processed at once; the others queue. By default there is no limit. A request
    /// that is never answered occupies no slot.
    pub fn slots(mut self, slots: usize) -> Builder {
        self.pace.slots = Some(slots.max(1));
        self
    }

    /// With `n` requests in flight, more than `limit`, each takes (n / limit)^power times as long. With a power of 1,
    /// more requests in flight gain nothing; with 2 they lose: the server thrashes.
    pub fn saturates_at(mut self, limit: usize, power: u32) -> Builder {
        self.pace.saturation = Some((limit.max(1), power));
        self
    }

    /// How long the kernel may cache a name, and attributes. By default not at all.
    pub fn ttl(mut self, entry: Duration, attributes: Duration) -> Builder {
        (self.habits.entry_ttl, self.habits.attr_ttl) = (entry, attributes);
        self
    }

    /// Whether the kernel may read names and attributes at once.
    pub fn readdirplus(mut self, readdirplus: Readdirplus) -> Builder {
        self.habits.readdirplus = readdirplus;
        self
    }

    /// Directories return `DT_UNKNOWN` for every entry. Not together with [`readdirplus`](Builder::readdirplus).
    pub fn hide_types(mut self) -> Builder {
        self.habits.hide_types = true;
        self
    }

    /// One lookup and one piece at a time in each directory, as kernels before 4.7 had it, and servers that
    /// do not promise to bear more.
    pub fn serial(mut self) -> Builder {
        self.habits.serial = true;
        self
    }

    /// The kernel checks permissions by the modes that it gets, as in most FUSE mounts for several users; so it also
    /// requests the attributes of the directory with each name.
    pub fn default_permissions(mut self) -> Builder {
        self.default_permissions = true;
        self
    }

    /// Requests of these kinds about this entry meet a fault.
    pub fn fault(self, path: impl AsRef<Path>, requests: &[Request], fault: Fault) -> Builder {
        self.fault_after(path, requests, 0, fault)
    }

    /// The same, once so many such requests have been answered as they should.
    pub fn fault_after(
        mut self,
        path: impl AsRef<Path>,
        requests: &[Request],
        spare: u64,
        fault: Fault,
    ) -> Builder {
        self.faults.push((Some(path.as_ref().into()), Rule::new(requests, spare, fault)));
        self
    }

    /// All requests of these kinds have a fault. `ENOSYS` for [`Request::XATTR`] makes the kernel stop sending them;
    /// `ENOTSUP` does not.
    pub fn fault_everywhere(mut self, requests: &[Request], fault: Fault) -> Builder {
        self.faults.push((None, Rule::new(requests, 0, fault)));
        self
    }

    /// `stat` of this entry never returns ([`Fault::Hang`]).
    pub fn hang(self, path: impl AsRef<Path>) -> Builder {
        self.fault(path, Request::STAT, Fault::Hang)
    }

    /// `stat` of this entry fails.
    pub fn fail(self, path: impl AsRef<Path>, error: Errno) -> Builder {
        self.fault(path, Request::STAT, Fault::Error(error))
    }

    /// This entry is listed, and gone when it is asked for.
    pub fn vanish(self, path: impl AsRef<Path>) -> Builder {
        self.fail(path, Errno::NOENT)
    }

    /// Mounts it in a fresh directory under the system's temporary directory.
    pub fn mount(self) -> Result<Mounted, String> {
        let dir = TempDir::new("slowfs").map_err(|error| format!("no temporary directory: {error}"))?;
        let path = dir.path().to_path_buf();
        Mounted::new(self.parts()?, &path, Some(dir))
    }

    /// Mounts it on this directory.
    pub fn mount_at(self, path: &Path) -> Result<Mounted, String> {
        let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
        Mounted::new(self.parts()?, &path, None)
    }

    /// For tests: mounts it, or prints the reason on standard output and returns `None`. With `DLS_FUSE=required` in
    /// the environment it panics instead.
    pub fn mount_or_skip(self) -> Option<Mounted> {
        match self.mount() {
            Ok(mounted) => Some(mounted),
            Err(why) if std::env::var_os("DLS_FUSE").is_some_and(|value| value == "required") => {
                panic!("DLS_FUSE=required, and no slow file system: {why}")
            }
            Err(why) => {
                println!("skipped: no slow file system, because {why}");
                None
            }
        }
    }

    fn parts(self) -> Result<Parts, String> {
        if self.habits.hide_types && self.habits.readdirplus != Readdirplus::Off {
            return Err("types cannot be hidden from readdirplus, which carries them twice: \
                        turn one of the two off"
                .into());
        }
        let said = |path: &Path, error: Errno| format!("{}: {error}", path.display());
        let mut tree = Tree::new(self.owners.clone(), self.endless, self.churn);
        tree.tricks = self.tricks.clone();
        self.fill(&mut tree)?;
        for (path, name, value) in &self.xattrs {
            let inode = tree.resolve(path).map_err(|error| said(path, error))?;
            tree.set_xattr(inode, name, value);
        }
        let mut faults = Faults::default();
        for (path, rule) in self.faults {
            let inode = path.as_deref().map(|path| tree.resolve(path).map_err(|error| said(path, error)));
            faults.add(inode.transpose()?, rule);
        }
        let (pace, habits, seed) = (self.pace, self.habits, self.seed);
        Ok(Parts { tree, faults, pace, habits, seed, default_permissions: self.default_permissions })
    }

    fn fill(&self, tree: &mut Tree) -> Result<(), String> {
        let mut order: Vec<&(OsString, Kind)> = self.entries.iter().collect();
        if let Some(seed) = self.shuffled {
            let mut rng = Rng::new(seed);
            (1..order.len()).rev().for_each(|last| order.swap(last, rng.below(last + 1)));
        }
        let said = |name: &OsStr, error: Errno| format!("{}: {error}", name.display());
        for (name, kind) in order {
            tree.append(ROOT, name, *kind).map_err(|error| said(name, error))?;
        }
        let (directories, files) = self.tree;
        let mut inodes = Vec::with_capacity(directories);
        for n in 0..directories {
            let parent = if n < FANOUT { ROOT } else { inodes[n / FANOUT - 1] };
            let name = OsString::from(format!("dir{n}"));
            let inode = tree.append(parent, &name, Kind::Directory).map_err(|error| said(&name, error))?;
            for file in 0..files {
                let name = OsString::from(format!("file{file}"));
                tree.append(inode, &name, Kind::File).map_err(|error| said(&name, error))?;
            }
            inodes.push(inode);
        }
        Ok(())
    }
}

/// `pattern` with its first run of `#` replaced by `n`; a pattern without one gets the number at its end.
fn numbered_name(pattern: &str, n: usize) -> OsString {
    let start = pattern.find('#').unwrap_or(pattern.len());
    let rest = pattern[start..].trim_start_matches('#');
    let width = pattern.len() - start - rest.len();
    OsString::from(format!("{}{n:0width$}{rest}", &pattern[..start]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_where_the_pattern_says() {
        assert_eq!(numbered_name("e###.txt", 7), "e007.txt");
        assert_eq!(numbered_name("e#", 123), "e123");
        assert_eq!(numbered_name("plain", 4), "plain4");
    }

    #[test]
    fn a_fault_of_an_unknown_entry_is_an_error() {
        let parts = SlowFs::builder().entries(10, &[Kind::File]).hang("e00010").parts();
        assert!(parts.err().is_some_and(|why| why.contains("e00010")));
        assert!(SlowFs::builder().entries(10, &[Kind::File]).hang("e00009").hang(".").parts().is_ok());
        let clash = SlowFs::builder().hide_types().readdirplus(Readdirplus::Auto).parts();
        assert!(clash.is_err());
    }

    #[test]
    fn trees_are_as_large_as_said() {
        let mut tree = Tree::new(vec![(0, 0)], false, 0);
        SlowFs::builder().tree(100, 2).fill(&mut tree).expect("it can be made");
        for path in ["dir0/dir8/dir72/file1", "dir7/dir71", "dir3/dir39/file0", "dir0/dir11/dir99"] {
            assert!(tree.resolve(Path::new(path)).is_ok(), "{path}");
        }
        assert_eq!(tree.resolve(Path::new("dir8")), Err(Errno::NOENT));
    }
}
