//! The plan: what all processes of a scan must agree on.

use super::files::wrong;
use super::list::{Cursor, Reader, Record, Writer};
use crate::bytes::{Bytes, put_bytes, put_number, put_time};
use crate::dir::Named;
use crate::message;
use crate::root::{self, Machine, Root};
use dents_core::batch::Time;
use dents_core::path;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"dents parts plan 2";

/// What all processes of a scan must agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The options that decide which rows there are, as words of a command line.
    pub options: Vec<OsString>,
    /// The roots, as they were named.
    pub roots: Vec<Vec<u8>>,
    /// The trees that they lead to, at the start.
    pub trees: Trees,
    /// The working directory, from which relative roots start.
    pub cwd: PathBuf,
    /// The start of the scan, by the clock of the machine that began it.
    pub begun: Time,
}

/// The trees to which roots lead: inode number, birth, type of the file system. These are the same on all machines; device numbers are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trees(Vec<Option<Root>>);

impl Trees {
    /// Those of these roots now: one `statfs` and one `statx` for each.
    #[must_use]
    pub fn of(roots: &[Vec<u8>]) -> Trees {
        let tree = |root: &Vec<u8>| CString::new(&root[..]).ok().and_then(|root| Root::with_kind(&root));
        Trees(roots.iter().map(tree).collect())
    }
}

impl Plan {
    /// The head, then a record for each root: so the roots are the first list of waiting directories.
    pub(super) fn write(&self, file: &Named) -> io::Result<()> {
        let mut head = Vec::new();
        put_bytes(&mut head, MAGIC);
        put_time(&mut head, self.begun);
        put_bytes(&mut head, self.cwd.as_os_str().as_bytes());
        put_number(&mut head, self.roots.len() as u64);
        put_number(&mut head, self.options.len() as u64);
        self.options.iter().for_each(|word| put_bytes(&mut head, word.as_bytes()));
        let trees = self.trees.0.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        trees.take(self.roots.len()).for_each(|tree| root::put_with_kind(&mut head, tree));
        let mut writer = Writer::create(file, &head)?;
        for name in &self.roots {
            writer.push(&Record { depth: 0, tries: 0, parent: b"", name })?;
        }
        writer.finish().map(drop)
    }

    pub(super) fn read(file: Named) -> io::Result<Plan> {
        let (head, cursor) = Reader::head(file.clone()).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => no_scan(file.dir().path()),
            _ => error,
        })?;
        let path = file.path();
        let damaged = || message::damaged(&path, "not a plan that this program knows");
        let (mut plan, count) = Plan::parse(&head).ok_or_else(damaged)?;
        let mut reader = Reader::open(file, cursor)?;
        while let Some(Record { depth: 0, name, .. }) = reader.next()? {
            plan.roots.push(name.to_vec());
        }
        if plan.roots.len() as u64 == count { Ok(plan) } else { Err(damaged()) }
    }

    /// The plan without its roots, and how many these are.
    fn parse(head: &[u8]) -> Option<(Plan, u64)> {
        let mut bytes = Bytes(head);
        if bytes.bytes()? != MAGIC {
            return None;
        }
        let (begun, cwd, roots) = (bytes.time()?, bytes.bytes()?, bytes.number()?);
        let count = bytes.number()?;
        let word = |_| bytes.bytes().map(|word| OsString::from_vec(word.to_vec()));
        let options = (0..count).map(word).collect::<Option<_>>()?;
        let trees = Trees((0..roots).map(|_| root::take_with_kind(&mut bytes)).collect::<Option<_>>()?);
        let cwd = PathBuf::from(OsStr::from_bytes(cwd));
        Some((Plan { options, roots: Vec::new(), trees, cwd, begun }, roots))
    }

    /// Whether a directory is one of the roots, or below one. So a file that another program wrote into the directory leads nowhere else.
    pub(super) fn has(&self, directory: &Record<'_>) -> bool {
        let Record { depth, parent, name, .. } = *directory;
        let is_plain = |step: &[u8]| !matches!(step, b"." | b"..");
        let is_below = |root: &[u8]| match parent.strip_prefix(root) {
            Some(rest) if rest.is_empty() || rest.starts_with(path::separator(root)) => {
                rest.split(|byte| *byte == b'/').all(is_plain) && is_plain(name)
            }
            _ => false,
        };
        self.roots.iter().any(|root| if depth < 2 { name == root } else { is_below(root) })
    }

    /// Where the roots are in the file of the plan.
    pub(super) fn cursor(file: Named) -> io::Result<Cursor> {
        Reader::head(file).map(|(_, cursor)| cursor)
    }

    /// Whether `ours` asks for the same rows.
    ///
    /// # Errors
    /// With [`io::ErrorKind::InvalidInput`], if it does not.
    pub fn check(&self, ours: &Plan, dir: &Path) -> io::Result<()> {
        let shown = |words: &[OsString]| {
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            if words.is_empty() { "none".to_string() } else { words.join(" ") }
        };
        let difference = if self.options != ours.options {
            format!("its options are {}, and here they are {}", shown(&self.options), shown(&ours.options))
        } else if self.roots != ours.roots {
            let roots: Vec<OsString> =
                self.roots.iter().map(|root| OsString::from_vec(root.clone())).collect();
            format!("its roots are {}", shown(&roots))
        } else {
            return self.check_place(&ours.cwd, dir);
        };
        Err(other_plan(dir, &difference))
    }

    /// Whether the roots lead to the same trees as at the start: not where one of them is not mounted.
    ///
    /// # Errors
    /// With [`io::ErrorKind::InvalidInput`], if one does not.
    pub fn check_trees(&self, dir: &Path) -> io::Result<()> {
        let now = Trees::of(&self.roots);
        for ((root, then), now) in self.roots.iter().zip(&self.trees.0).zip(&now.0) {
            if let Some(change) = root::change(then.as_ref(), now.as_ref(), Machine::Any) {
                let root = message::shown(Path::new(OsStr::from_bytes(root)));
                let problem = format!("its root {root} is another tree here: {change}");
                let way_out = "mount it here as where the scan was started, or run the task elsewhere";
                return Err(wrong(message::bad_file(dir, &problem, way_out).to_string()));
            }
        }
        Ok(())
    }

    /// Whether relative roots lead to the same places from this working directory.
    ///
    /// # Errors
    /// With [`io::ErrorKind::InvalidInput`], if they do not.
    pub fn check_place(&self, cwd: &Path, dir: &Path) -> io::Result<()> {
        let relative = self.roots.iter().any(|root| !root.starts_with(b"/"));
        match relative && cwd != self.cwd {
            false => Ok(()),
            true => Err(other_plan(dir, &format!("its roots start from {}", self.cwd.display()))),
        }
    }
}

/// The error for a directory without a plan.
pub(super) fn no_scan(dir: &Path) -> io::Error {
    let way_out = "dents parts start makes one";
    wrong(message::bad_file(dir, "not the directory of a scan in parts", way_out).to_string())
}

fn other_plan(dir: &Path, difference: &str) -> io::Error {
    let problem = format!("it has the plan of another scan: {difference}");
    wrong(message::bad_file(dir, &problem, "name another directory").to_string())
}
