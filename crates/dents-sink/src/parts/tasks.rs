//! All tasks of a scan, and the manifest of their shards.

use super::claim::Head;
use super::files::shard_name;
use super::list::{self, Directory};
use super::{Done, Parts};
use crate::format::Extent;
use crate::manifest::{Manifest, Shard};
use crate::{message, time};
use std::io;

/// A task, as [`Parts::tasks`] finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its ID.
    pub id: String,
    /// How many directories it claimed; of the first task also roots that are none.
    pub directories: u64,
    /// The result, if it is committed.
    pub committed: Option<Done>,
}

impl Parts {
    /// The directories of a task.
    ///
    /// # Errors
    /// With [`io::ErrorKind::InvalidInput`], if there is no such task; or if its claim cannot be read.
    pub fn directories(&self, id: &str) -> io::Result<Vec<Directory>> {
        let file = self.claims.file(id)?;
        let path = file.path();
        let head = Head::read(file.clone())?;
        let mut directories = Vec::new();
        let mut reader = list::Reader::open(file, head.cursor)?;
        while let Some(directory) = reader.next()? {
            if !self.plan.has(&directory) {
                return Err(message::damaged(&path, "a directory is not below the roots"));
            }
            directories.push(directory.to_owned());
        }
        match directories.len() as u64 == head.directories {
            true => Ok(directories),
            false => Err(message::damaged(&path, "directories are missing")),
        }
    }

    /// Gives all tasks in the order of their claims.
    ///
    /// # Errors
    /// If a claim or shard cannot be read; or that of `give`.
    pub fn tasks(&self, give: &mut dyn FnMut(Task) -> io::Result<()>) -> io::Result<()> {
        for number in 1..=self.last() {
            let Head { id, directories, .. } = Head::read(self.claim_file(number)?)?;
            let committed = self.done(&id)?;
            give(Task { id, directories, committed })?;
        }
        Ok(())
    }

    /// Writes the manifest: [`crate::read::open`] then reads the directory. It is complete if all tasks are committed, no directory waits, and
    /// each root could be read.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn merge(&self) -> io::Result<Manifest> {
        let (mut shards, mut ended, mut whole) = (Vec::new(), None, true);
        self.tasks(&mut |task| {
            let Some(done) = task.committed else {
                whole = false;
                return Ok(());
            };
            whole &= done.extent == Extent::Complete;
            ended = ended.max(done.span.ended.map(|time| (time.sec, time.nsec)));
            shards.push(Shard { file: shard_name(&task.id), rows: done.entries });
            Ok(())
        })?;
        whole &= self.waiting()? == 0;
        let manifest = Manifest {
            extent: if whole { Extent::Complete } else { Extent::Partial },
            begun: self.plan.begun,
            ended: ended
                .map(|(sec, nsec)| dents_core::batch::Time { sec, nsec })
                .or_else(|| Some(time::now())),
            roots: self.plan.roots.clone(),
            shards,
        };
        manifest.write_in(&self.dir)?;
        Ok(manifest)
    }
}
