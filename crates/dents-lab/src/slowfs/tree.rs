//! The entries of the file system: made once by the builder, changed while they are listed.
//!
//! The inode number determines all metadata of an entry, so two mounts of one description show the same sizes, owners
//! and times.
//!
//! The offsets of a directory are cookies with large gaps, and an entry keeps its cookie: an entry that exists
//! throughout is read exactly once, whatever is added and removed, which is what POSIX demands of `readdir`. New names
//! get random cookies between the old ones, as in a directory ordered by hash.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{FileAttr, INodeNo};
use rustix::io::Errno;

use super::kind::Kind;
use super::tricks::{AGAIN, BOTTOM, DOWN, MYSELF, Tricks};
use crate::rng::Rng;

/// The root's inode number, as FUSE demands it.
pub(super) const ROOT: u64 = 1;
/// The first inode number (and cookie) of the names of an endless directory.
const ENDLESS: u64 = 1 << 40;
/// How far apart the cookies of first entries are: so many names fit between two.
const STRIDE: u64 = 1 << 16;
/// The cookies of `.` and `..`; all others are larger.
const DOTS: [(&str, u64); 2] = [(".", 1), ("..", 2)];
/// 2024-01-01 00:00 UTC; the inode number in minutes is added to it.
const EPOCH: u64 = 1_704_067_200;

#[derive(Debug)]
struct Node {
    name: Arc<OsStr>,
    kind: Kind,
    parent: u64,
    linked: bool,
    children: Option<Box<Children>>,
}

#[derive(Debug, Default)]
struct Children {
    by_cookie: BTreeMap<u64, u64>,
    by_name: HashMap<Arc<OsStr>, u64>,
    directories: u32,
}

/// One entry of a piece of a directory.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) inode: u64,
    pub(super) cookie: u64,
    pub(super) kind: Kind,
    pub(super) name: Arc<OsStr>,
}

/// All nodes; a node's number is its place plus one.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    xattrs: HashMap<u64, Vec<(OsString, Vec<u8>)>>,
    owners: Vec<(u32, u32)>,
    endless: bool,
    churn: Churn,
    rng: Rng,
    pub(super) tricks: Tricks,
}

/// Names that come and go with every piece of the root that is read.
#[derive(Debug, Default)]
struct Churn {
    at_once: usize,
    made: u64,
    there: Vec<OsString>,
}

impl Tree {
    pub(super) fn new(owners: Vec<(u32, u32)>, endless: bool, churn: usize) -> Tree {
        let root = Node {
            name: OsStr::new("").into(),
            kind: Kind::Directory,
            parent: ROOT,
            linked: true,
            children: Some(Box::default()),
        };
        let churn = Churn { at_once: churn, ..Churn::default() };
        Tree {
            nodes: vec![root],
            xattrs: HashMap::new(),
            owners,
            endless,
            churn,
            rng: Rng::new(1),
            tricks: Tricks::default(),
        }
    }

    fn node(&self, inode: u64) -> Result<&Node, Errno> {
        let node = usize::try_from(inode).ok().and_then(|n| self.nodes.get(n.wrapping_sub(1)));
        node.filter(|node| node.linked).ok_or(Errno::NOENT)
    }

    fn children(&self, inode: u64) -> Result<&Children, Errno> {
        self.node(inode)?.children.as_deref().ok_or(Errno::NOTDIR)
    }

    fn is_endless(&self, inode: u64) -> bool {
        self.endless && inode >= ENDLESS
    }

    /// Adds an entry behind all others of its directory.
    pub(super) fn append(&mut self, parent: u64, name: &OsStr, kind: Kind) -> Result<u64, Errno> {
        let last = self.children(parent)?.by_cookie.last_key_value().map_or(0, |(cookie, _)| *cookie);
        self.insert(parent, name, kind, (last / STRIDE + 1) * STRIDE)
    }

    /// Adds an entry at a random place among the others of its directory.
    pub(super) fn add(&mut self, parent: u64, name: &OsStr, kind: Kind) -> Result<u64, Errno> {
        let children = self.children(parent)?;
        let last = children.by_cookie.last_key_value().map_or(STRIDE, |(cookie, _)| *cookie);
        for _ in 0..64 {
            let cookie = STRIDE / 2 + self.rng.below((last - STRIDE / 2) as usize) as u64;
            if !self.children(parent)?.by_cookie.contains_key(&cookie) {
                return self.insert(parent, name, kind, cookie);
            }
        }
        self.append(parent, name, kind)
    }

    fn insert(&mut self, parent: u64, name: &OsStr, kind: Kind, cookie: u64) -> Result<u64, Errno> {
        let inode = self.nodes.len() as u64 + 1;
        let name: Arc<OsStr> = name.into();
        let children = self.nodes[parent as usize - 1].children.as_deref_mut().ok_or(Errno::NOTDIR)?;
        if children.by_name.contains_key(&name) {
            return Err(Errno::EXIST);
        }
        children.by_name.insert(name.clone(), cookie);
        children.by_cookie.insert(cookie, inode);
        children.directories += u32::from(kind == Kind::Directory);
        let children = (kind == Kind::Directory).then(Box::default);
        self.nodes.push(Node { name, kind, parent, linked: true, children });
        Ok(inode)
    }

    /// Takes an entry out of its directory. Requests about its inode fail with `ENOENT` from then on.
    pub(super) fn remove(&mut self, parent: u64, name: &OsStr) -> Result<(), Errno> {
        self.children(parent)?;
        let children = self.nodes[parent as usize - 1].children.as_deref_mut().ok_or(Errno::NOTDIR)?;
        let cookie = children.by_name.remove(name).ok_or(Errno::NOENT)?;
        let inode = children.by_cookie.remove(&cookie).ok_or(Errno::NOENT)?;
        let node = &mut self.nodes[inode as usize - 1];
        node.linked = false;
        if node.kind == Kind::Directory
            && let Some(children) = self.nodes[parent as usize - 1].children.as_deref_mut()
        {
            children.directories -= 1;
        }
        Ok(())
    }

    /// The inode of a name in a directory.
    pub(super) fn lookup(&self, parent: u64, name: &OsStr) -> Result<u64, Errno> {
        let tricks = &self.tricks;
        match name.to_str() {
            Some(DOWN) if tricks.is_below(parent) => return Ok(parent + 1),
            Some(DOWN) if tricks.bottomless && parent == ROOT => return Ok(BOTTOM),
            Some(MYSELF) if tricks.contains_itself && parent == ROOT => return Ok(ROOT),
            Some(AGAIN) if tricks.repeats && parent == ROOT => return Ok(ENDLESS),
            _ => {}
        }
        let children = self.children(parent)?;
        if let Some(inode) = children.by_name.get(name).and_then(|cookie| children.by_cookie.get(cookie)) {
            return Ok(*inode);
        }
        let made_up = || name.to_str()?.strip_prefix("endless-")?.parse::<u64>().ok();
        match made_up() {
            Some(n) if self.endless && parent == ROOT => Ok(ENDLESS + n),
            _ => Err(Errno::NOENT),
        }
    }

    /// The inode of a path below the root; `.` and the empty path are the root.
    pub(super) fn resolve(&self, path: &Path) -> Result<u64, Errno> {
        path.components().try_fold(ROOT, |at, component| match component {
            Component::Normal(name) => self.lookup(at, name),
            Component::CurDir => Ok(at),
            _ => Err(Errno::INVAL),
        })
    }

    /// The directory and the name that a path below the root ends in.
    pub(super) fn split<'a>(&self, path: &'a Path) -> Result<(u64, &'a OsStr), Errno> {
        let parent = self.resolve(path.parent().ok_or(Errno::INVAL)?)?;
        Ok((parent, path.file_name().ok_or(Errno::INVAL)?))
    }

    /// The entries after the one with this cookie, until `take` returns false.
    pub(super) fn list(
        &self,
        inode: u64,
        after: u64,
        take: &mut dyn FnMut(Listed) -> bool,
    ) -> Result<(), Errno> {
        if self.tricks.is_below(inode) {
            self.list_below(inode, after, take);
            return Ok(());
        }
        let node = self.node(inode)?;
        let children = self.children(inode)?;
        for ((name, cookie), dot) in DOTS.into_iter().zip([inode, node.parent]) {
            let listed = Listed { inode: dot, cookie, kind: Kind::Directory, name: OsStr::new(name).into() };
            if cookie > after && !take(listed) {
                return Ok(());
            }
        }
        for (cookie, inode) in children.by_cookie.range(after.saturating_add(1)..) {
            let node = &self.nodes[*inode as usize - 1];
            let kind = self.tricks.told(&node.name, node.kind);
            let listed = Listed { inode: *inode, cookie: *cookie, kind, name: node.name.clone() };
            if !take(listed) {
                return Ok(());
            }
        }
        let tricks = &self.tricks;
        for (is_there, name, other, cookie) in [
            (tricks.contains_itself, MYSELF, ROOT, ENDLESS - 2),
            (tricks.bottomless, DOWN, BOTTOM, ENDLESS - 1),
        ] {
            let listed =
                Listed { inode: other, cookie, kind: Kind::Directory, name: OsStr::new(name).into() };
            if is_there && inode == ROOT && cookie > after && !take(listed) {
                return Ok(());
            }
        }
        if self.endless && inode == ROOT {
            let mut n = after.saturating_add(1).max(ENDLESS) - ENDLESS;
            while take(if tricks.repeats {
                Listed { name: OsStr::new(AGAIN).into(), ..made_up(n) }
            } else {
                made_up(n)
            }) {
                n += 1;
            }
        }
        Ok(())
    }

    fn list_below(&self, inode: u64, after: u64, take: &mut dyn FnMut(Listed) -> bool) {
        let above = if inode == BOTTOM { ROOT } else { inode - 1 };
        for (cookie, inode, name) in [(1, inode, "."), (2, above, ".."), (3, inode + 1, DOWN)] {
            let listed = Listed { inode, cookie, kind: Kind::Directory, name: OsStr::new(name).into() };
            if cookie > after && !take(listed) {
                return;
            }
        }
    }

    /// Before a piece of the root is read: last time's passing names go, as many new ones come.
    pub(super) fn churn(&mut self) {
        for name in std::mem::take(&mut self.churn.there) {
            // The test may have removed it.
            let _ = self.remove(ROOT, &name);
        }
        for _ in 0..self.churn.at_once {
            let name = OsString::from(format!("passing-{}", self.churn.made));
            self.churn.made += 1;
            if self.add(ROOT, &name, Kind::File).is_ok() {
                self.churn.there.push(name);
            }
        }
    }

    /// All attributes of an inode.
    pub(super) fn attributes(&self, inode: u64) -> Result<FileAttr, Errno> {
        let (kind, nlink) = match (self.tricks.is_below(inode), self.is_endless(inode)) {
            (true, _) => (Kind::Directory, 3),
            (_, true) => (Kind::File, 1),
            _ => {
                let node = self.node(inode)?;
                (node.kind, node.children.as_deref().map_or(1, |children| 2 + children.directories))
            }
        };
        let size = match kind {
            Kind::File | Kind::Executable | Kind::Setuid => inode * 37 % 100_003,
            Kind::Directory => 4096,
            Kind::Fifo | Kind::Socket => 0,
            Kind::Link | Kind::Dangling => kind.target().unwrap_or_default().len() as u64,
        };
        let time = SystemTime::UNIX_EPOCH + Duration::new(EPOCH + inode * 60, (inode % 1000) as u32 * 1_000);
        let figures = self.node(inode).ok().and_then(|node| self.tricks.figures(&node.name));
        let (size, time) = figures.unwrap_or((size, time));
        let (uid, gid) = self.owners[(inode % self.owners.len() as u64) as usize];
        Ok(FileAttr {
            ino: INodeNo(inode),
            size,
            blocks: size.div_ceil(4096) * 8,
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind: kind.file_type(),
            perm: kind.mode(),
            nlink,
            uid,
            gid,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    /// Where a link leads.
    pub(super) fn target(&self, inode: u64) -> Result<&'static [u8], Errno> {
        self.node(inode)?.kind.target().ok_or(Errno::INVAL)
    }

    /// Gives an inode an extended attribute.
    pub(super) fn set_xattr(&mut self, inode: u64, name: &OsStr, value: &[u8]) {
        self.xattrs.entry(inode).or_default().push((name.to_os_string(), value.to_vec()));
    }

    /// The value of an extended attribute.
    pub(super) fn xattr(&self, inode: u64, name: &OsStr) -> Result<&[u8], Errno> {
        let found = self.xattrs.get(&inode).and_then(|all| all.iter().find(|row| row.0 == name));
        found.map(|row| row.1.as_slice()).ok_or(Errno::NODATA)
    }

    /// The names of all extended attributes, each ended by a zero byte.
    pub(super) fn xattr_names(&self, inode: u64) -> Vec<u8> {
        let all = self.xattrs.get(&inode).into_iter().flatten();
        all.flat_map(|(name, _)| [name.as_bytes(), b"\0"].concat()).collect()
    }
}

fn made_up(n: u64) -> Listed {
    let name = OsString::from_vec(format!("endless-{n}").into_bytes());
    let cookie = ENDLESS + n;
    Listed { inode: cookie, cookie, kind: Kind::File, name: name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuser::FileType;

    /// The next so many entries.
    fn piece(tree: &Tree, after: u64, count: usize) -> Vec<Listed> {
        let mut piece = Vec::new();
        let mut take = |listed: Listed| {
            piece.push(listed);
            piece.len() < count
        };
        tree.list(ROOT, after, &mut take).expect("the root lists");
        piece
    }

    fn names(piece: Vec<Listed>) -> Vec<OsString> {
        piece.into_iter().map(|listed| listed.name.to_os_string()).collect()
    }

    #[test]
    fn entries_come_in_the_order_they_were_made() {
        let mut tree = Tree::new(vec![(0, 0)], false, 0);
        for name in ["b", "a", "c"] {
            tree.append(ROOT, OsStr::new(name), Kind::File).expect("it is new");
        }
        assert_eq!(tree.append(ROOT, OsStr::new("a"), Kind::File), Err(Errno::EXIST));
        assert_eq!(names(piece(&tree, 0, 9)), [".", "..", "b", "a", "c"]);
        tree.remove(ROOT, OsStr::new("b")).expect("it is there");
        assert_eq!(tree.lookup(ROOT, OsStr::new("b")), Err(Errno::NOENT));
        assert_eq!(names(piece(&tree, 2, 9)), ["a", "c"]);
    }

    #[test]
    fn what_stays_is_listed_once_while_others_pass() {
        let mut tree = Tree::new(vec![(0, 0)], false, 20);
        let stays: Vec<OsString> = (0..100).map(|n| OsString::from(format!("stays-{n}"))).collect();
        for name in &stays {
            tree.append(ROOT, name, Kind::File).expect("it is new");
        }
        let (mut seen, mut after) = (Vec::new(), 2);
        loop {
            tree.churn();
            let piece = piece(&tree, after, 7);
            let Some(last) = piece.last() else { break };
            after = last.cookie;
            seen.extend(names(piece));
        }
        let passing = seen.iter().filter(|name| name.as_bytes().starts_with(b"passing")).count();
        seen.retain(|name| name.as_bytes().starts_with(b"stays"));
        assert_eq!(seen, stays);
        assert!(passing > 0);
    }

    #[test]
    fn an_endless_directory_goes_on() {
        let tree = Tree::new(vec![(0, 0)], true, 0);
        assert_eq!(piece(&tree, 2, 1000).len(), 1000);
        let inode = tree.lookup(ROOT, OsStr::new("endless-999")).expect("it can be looked up");
        assert_eq!(tree.attributes(inode).expect("and asked").kind, FileType::RegularFile);
    }
}
