//! One attempt at a task: the directories that it leaves over, its shard, and the commit of both.

use super::Parts;
use super::files::{mark, random, written};
use super::list::{Record, Writer};
use crate::dir::{Named, PRIVATE};
use crate::format::{About, Extent};
use crate::message;
use crate::output::Output;
use crate::parquet::Parquet;
use crate::sink::Sink;
use std::ffi::CStr;
use std::io::{self, ErrorKind};
use std::sync::{Mutex, PoisonError};

/// One attempt at a task. If it is dropped before its commit, nothing of it stays.
pub struct Attempt<'p> {
    parts: &'p Parts,
    id: String,
    name: String,
    left: Mutex<Option<Writer>>,
    /// What is removed with it.
    file: Option<Named>,
}

/// The end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// Its shard is that of the task.
    Won,
    /// Another attempt was committed before.
    Lost,
}

impl Parts {
    /// Begins an attempt at a task.
    #[must_use]
    pub fn attempt(&self, id: &str) -> Attempt<'_> {
        let name = random();
        let file = self.left_file(id, &name).ok();
        Attempt { parts: self, id: id.to_string(), name, left: Mutex::default(), file }
    }
}

/// After so many attempts that were given up, all other failures are rows.
const MOST_GIVEN_UP: u32 = 2;

impl Parts {
    /// Whether an attempt at a task may be given up, because the rest of a directory may be readable later, or on another machine: that was
    /// not done too often.
    ///
    /// # Errors
    /// If that cannot be found out.
    pub fn may_give_up(&self, id: &str) -> io::Result<bool> {
        Ok(!self.given_up(id, MOST_GIVEN_UP)?.exists())
    }

    /// Records that an attempt was given up. The task stays claimed, and is run again.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn give_up(&self, id: &str) -> io::Result<()> {
        for nth in 1..=MOST_GIVEN_UP {
            let file = self.given_up(id, nth)?;
            match file.create(PRIVATE) {
                // Another process may run the same task.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => return made.and_then(|_| self.left.sync()).map_err(|error| written(&file, error)),
            }
        }
        Ok(())
    }

    /// An empty file. No attempt has its name.
    fn given_up(&self, id: &str, nth: u32) -> io::Result<Named> {
        self.left_file(id, &format!("given-up-{nth}"))
    }
}

impl Attempt<'_> {
    /// Leaves a directory over. `depth` is that of its entries, `tries` how often it could not be opened.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn leave(&self, parent: &[u8], name: &CStr, depth: u32, tries: u32) -> io::Result<()> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.parts.left_file(&self.id, &self.name)?;
        let pushed = match &mut *left {
            Some(left) => Ok(left),
            none => Writer::create(&file, b"dents parts left 2").map(|list| none.insert(list)),
        };
        let pushed =
            pushed.and_then(|left| left.push(&Record { depth, tries, parent, name: name.to_bytes() }));
        pushed.map_err(|error| written(&file, error))
    }

    /// The shard.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn shard(&self, about: &About<'_>) -> io::Result<Parquet> {
        Parquet::new(Output::create_once(self.parts.shard(&self.id)?)?, about)
    }

    /// Commits the task: the list of what is left over, then the shard. Returns how many directories these are.
    ///
    /// # Errors
    /// If one of them cannot be written; then nothing is committed.
    pub fn commit(mut self, mut shard: Parquet, extent: Extent) -> io::Result<(Committed, u64)> {
        let left = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        let count = match left {
            None => 0,
            Some(list) => self.keep(list)?,
        };
        shard.note(format!("{} {count}", self.name));
        match Box::new(shard).finish(extent) {
            Ok(_) => {
                self.file = None;
                Ok((Committed::Won, count))
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok((Committed::Lost, count)),
            Err(error) => Err(error),
        }
    }

    /// The list, and the hint where to look, must be on the disk before the shard.
    fn keep(&self, list: Writer) -> io::Result<u64> {
        let count = list.finish().and_then(|count| {
            self.parts.left.sync()?;
            Ok(count)
        });
        let path = || self.parts.left.path().join(format!("{}.{}", self.id, self.name));
        let count = count.map_err(|error| message::cannot_write(&path(), &error))?;
        mark(&self.parts.waiting.file(&self.id)?)?;
        Ok(count)
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = file.remove();
        }
    }
}
