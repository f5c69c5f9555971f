//! Names of tasks, attempts and files in the directory of a scan, and how its files are written.

use crate::dir::{Named, PRIVATE};
use crate::message;
use std::io::{self, ErrorKind};
use std::time::SystemTime;

/// Whether a task may have this ID: up to 100 letters, digits, `-` and `_`.
#[must_use]
pub fn is_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=100).contains(&id.len()) && id.bytes().all(plain)
}

pub(super) fn shard_name(id: &str) -> String {
    format!("{id}.parquet")
}

/// An error of the command line: another plan, a task that does not exist.
pub(super) fn wrong(text: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, text)
}

/// A file in `tmp`, removed when dropped.
pub(super) struct Temporary(pub(super) Named);

impl Temporary {
    pub(super) fn publish(&self, to: &Named) -> io::Result<bool> {
        self.0.publish(to).map_err(|error| message::cannot_write(&to.path(), &error))
    }

    /// When it was written, by the clock of the file server.
    pub(super) fn modified(&self) -> io::Result<SystemTime> {
        modified(&self.0)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = self.0.remove();
    }
}

/// When a file was changed.
pub(super) fn modified(file: &Named) -> io::Result<SystemTime> {
    let there = file.open().and_then(|file| file.metadata()).and_then(|about| about.modified());
    there.map_err(|error| message::cannot_read(&file.path(), &error))
}

/// The message about a file that is written, unless there is one already: errors of reading have one.
pub(super) fn written(file: &Named, error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() { message::cannot_write(&file.path(), &error) } else { error }
}

/// A name that no other attempt has.
pub(super) fn random() -> String {
    use std::hash::BuildHasher;
    let half = || std::hash::RandomState::new().hash_one((std::process::id(), std::time::SystemTime::now()));
    format!("{:016x}{:016x}", half(), half())
}

/// Whether an attempt may have this name.
pub(super) fn is_attempt(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Creates an empty file, unless there is one, and waits until its name is on the disk.
pub(super) fn mark(file: &Named) -> io::Result<()> {
    let made = match file.create(PRIVATE) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    };
    made.and_then(|()| file.dir().sync()).map_err(|error| message::cannot_write(&file.path(), &error))
}
