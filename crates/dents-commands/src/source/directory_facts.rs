//! Facts about directories that follow from other rows of a scan file: which are empty, which are on other file systems, and which a user
//! may not look into. They are found in an extra pass over the file, only if a filter needs them.

use super::job::{File, Job};
use super::root::Root;
use crate::entry;
use crate::filter::Viewer;
use crate::session::{Session, Status};
use dents_core::needs::Kind;
use dents_sink::read::{Columns, Wanted};
use dents_sink::{Detail, Row, Value};
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

/// The facts. They take sixteen bytes for each directory with entries, and the path of each directory on another file system or that is shut.
#[derive(Default)]
pub(super) struct DirectoryFacts {
    filled: Option<Filled>,
    /// Directories on another device than that of their operand.
    foreign: HashSet<Box<[u8]>>,
    /// Directories whose entries the user of `--visible-to` does not see; of directories below these only some.
    shut: HashSet<Box<[u8]>>,
}

/// Directories with entries, as two hashes with random keys: no file can provoke a collision of these 128 bits.
struct Filled {
    keys: [RandomState; 2],
    directories: HashSet<[u64; 2]>,
}

type Device = (u32, u32);

impl DirectoryFacts {
    /// Reads the file once for `--empty` and for `--visible-to`, twice for `-x`.
    pub(super) fn of(job: &Job<'_>, file: File<'_>) -> Result<DirectoryFacts, Status> {
        let (filter, walk, session) = (job.filter, job.walk, job.diagnostics.session());
        let (mut directory_facts, one_file_system) = (DirectoryFacts::default(), walk.one_file_system());
        let viewer = filter.viewer();
        if !filter.seeks_empty() && !one_file_system && viewer.is_none() {
            return Ok(directory_facts);
        }
        if file.is_stream() {
            let options = [(one_file_system, "-x"), (viewer.is_some(), "--visible-to")];
            let option =
                options.into_iter().find(|(given, _)| *given).map_or("--empty", |(_, option)| option);
            session.say(
                format!("{option} reads the scan more than once, and a pipe cannot be: name a file")
                    .as_bytes(),
            );
            return Err(Status::WRONG);
        }
        if filter.seeks_empty() {
            directory_facts.filled = Some(Filled::read(file, session)?);
        }
        if one_file_system {
            directory_facts.foreign = foreign(&Root::all(walk), file, session)?;
        }
        if let Some(viewer) = viewer {
            directory_facts.shut = shut(viewer, file, session)?;
        }
        Ok(directory_facts)
    }

    /// Whether a directory has no entries.
    pub(super) fn is_empty(&self, row: &Row<'_>) -> bool {
        let mut path = Vec::new();
        row.path(&mut path);
        self.filled.as_ref().is_some_and(|filled| !filled.has(&path))
    }

    /// Whether there is such a directory.
    pub(super) fn has_foreign(&self) -> bool {
        !self.foreign.is_empty()
    }

    /// Whether a directory is on another file system than its operand, or below such a directory.
    pub(super) fn is_foreign(&self, directory: &[u8]) -> bool {
        self.has_foreign() && self.foreign.contains(directory)
    }
}

impl DirectoryFacts {
    /// Whether a directory, or one above it, is shut.
    pub(super) fn is_shut(&self, directory: &[u8]) -> bool {
        let mut path = directory;
        while !self.shut.is_empty() {
            let upper = entry::above(path);
            if self.shut.contains(path) {
                return true;
            }
            if upper.len() == path.len() {
                break;
            }
            path = upper;
        }
        false
    }
}

/// The directories that are shut to a user. One of which nothing is known is.
fn shut(viewer: &Viewer, file: File<'_>, session: &Session) -> Result<HashSet<Box<[u8]>>, Status> {
    let (mut shut, mut path) = (HashSet::new(), Vec::new());
    each(file, session, Viewer::COLUMNS, |row| {
        // A directory that could not be read has two rows, and only one has its facts.
        if row.kind != Kind::Dir || row.fault.is_some_and(|fault| fault.is_of_directory()) {
            return;
        }
        let has_acl = match row.details.get(Detail::Acl) {
            Some(Value::Text(acl)) => acl.split(',').any(|one| one != "default" && !one.is_empty()),
            _ => false,
        };
        if !row.facts.is_some_and(|facts| viewer.opens(&facts, has_acl)) {
            path.clear();
            row.path(&mut path);
            shut.insert(path.as_slice().into());
        }
    })?;
    Ok(shut)
}

impl Filled {
    fn read(file: File<'_>, session: &Session) -> Result<Filled, Status> {
        let mut filled =
            Filled { keys: [RandomState::new(), RandomState::new()], directories: HashSet::new() };
        let mut last = Vec::new();
        each(file, session, Columns::PATH, |row| {
            // A directory that could not be read may have entries.
            let failed = row.fault.is_some_and(|fault| fault.is_of_directory());
            if failed {
                let mut path = Vec::new();
                row.path(&mut path);
                filled.insert(&path);
            } else if row.depth > 0 && row.parent != last {
                last.clear();
                last.extend_from_slice(row.parent);
                filled.insert(row.parent);
            }
        })?;
        Ok(filled)
    }

    fn key(&self, path: &[u8]) -> [u64; 2] {
        [self.keys[0].hash_one(path), self.keys[1].hash_one(path)]
    }

    fn insert(&mut self, path: &[u8]) {
        self.directories.insert(self.key(path));
    }

    fn has(&self, path: &[u8]) -> bool {
        self.directories.contains(&self.key(path))
    }
}

/// The directories whose device is not that of their operand.
fn foreign(roots: &[Root], file: File<'_>, session: &Session) -> Result<HashSet<Box<[u8]>>, Status> {
    let mut operands: HashMap<Box<[u8]>, Device> = HashMap::new();
    let mut devices: HashSet<Device> = HashSet::new();
    let mut path = Vec::new();
    let columns = Columns::PATH | Columns::INODE;
    each(file, session, columns, |row| {
        let Some(facts) = row.facts else { return };
        devices.insert(facts.dev);
        path.clear();
        row.path(&mut path);
        if operand(roots, row, &path).len() == path.len() {
            operands.insert(path.as_slice().into(), facts.dev);
        }
    })?;
    let mut foreign = HashSet::new();
    if devices.len() < 2 {
        return Ok(foreign);
    }
    each(file, session, columns, |row| {
        let Some(facts) = row.facts.filter(|_| row.kind == Kind::Dir) else { return };
        path.clear();
        row.path(&mut path);
        if operands.get(operand(roots, row, &path)).is_some_and(|device| *device != facts.dev) {
            foreign.insert(path.as_slice().into());
        }
    })?;
    Ok(foreign)
}

/// The path of the operand above an entry: the first such PATH, or the operand of the scan.
fn operand<'p>(roots: &[Root], row: &Row<'_>, path: &'p [u8]) -> &'p [u8] {
    match roots.iter().find(|root| root.below(path).is_some()) {
        Some(root) => &path[..root.path.len()],
        None if row.depth == 0 => path,
        None => &path[..entry::operand(row.parent, row.depth)],
    }
}

/// Passes all rows to `give`.
fn each(
    file: File<'_>,
    session: &Session,
    columns: Columns,
    give: impl FnMut(&Row<'_>) + Send,
) -> Result<(), Status> {
    let mut give = Some(give);
    let outcome = file.reader(session)?.read(&Wanted { columns, below: &[] }, 1, |_| {
        let mut give = give.take();
        move |row: &Row<'_>| {
            give.iter_mut().for_each(|give| give(row));
            Ok(())
        }
    });
    outcome.map(|_| ()).map_err(|error| {
        session.say(error.to_string().as_bytes());
        Status::FAILURE
    })
}
