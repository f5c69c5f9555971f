//! Lists of directories: frames of a journal, each with its length and its CRC-32, after a frame that says what the file is.
//!
//! A record is the depth of the directory's entries, how often it could not be opened, the path of its parent and its name, each with its length: see [`Directory`].

use crate::bytes::{Bytes, put_bytes, put_number};
use crate::dir::{Named, PRIVATE};
use crate::journal::{frame, segment::Frames};
use crate::message;
use dents_core::tree::StartPoint;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};

/// Bytes of records in a frame, about.
const FRAME: usize = 32 << 10;

/// A directory that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directory {
    /// A root: its own row is not written yet.
    Root(CString),
    /// Where a walk begins, and how often it failed to.
    Below(StartPoint, u32),
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'r> {
    /// The depth of its entries; 0 for a root whose row is not written yet.
    pub(super) depth: u32,
    /// How often it could not be opened.
    pub(super) tries: u32,
    pub(super) parent: &'r [u8],
    pub(super) name: &'r [u8],
}

impl<'r> Record<'r> {
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_number(out, u64::from(self.depth));
        put_number(out, u64::from(self.tries));
        put_bytes(out, self.parent);
        put_bytes(out, self.name);
    }

    /// `None` if the bytes are invalid.
    pub(super) fn take(bytes: &mut Bytes<'r>) -> Option<Record<'r>> {
        let record = Record {
            depth: bytes.small()?,
            tries: bytes.small()?,
            parent: bytes.bytes()?,
            name: bytes.bytes()?,
        };
        let Record { depth, parent, name, .. } = record;
        let is_root = depth < 2;
        let is_plain = is_root || !name.contains(&b'/');
        let valid = !name.is_empty() && is_plain && parent.is_empty() == is_root;
        (valid && !name.contains(&0) && !parent.contains(&0)).then_some(record)
    }

    pub(super) fn to_owned(self) -> Directory {
        // There is no NUL in it.
        let name = CString::new(self.name).unwrap_or_default();
        match self.depth {
            0 => Directory::Root(name),
            depth => Directory::Below(StartPoint { parent: self.parent.to_vec(), name, depth }, self.tries),
        }
    }
}

/// Writes a list.
#[derive(Debug)]
pub(super) struct Writer {
    file: File,
    block: Vec<u8>,
    frame: Vec<u8>,
    records: u64,
}

impl Writer {
    /// Begins a file, which must be new.
    pub(super) fn create(named: &Named, head: &[u8]) -> io::Result<Writer> {
        let file = named.create(PRIVATE)?;
        let mut writer = Writer { file, block: head.to_vec(), frame: Vec::new(), records: 0 };
        writer.flush()?;
        Ok(writer)
    }

    pub(super) fn push(&mut self, record: &Record<'_>) -> io::Result<()> {
        record.put(&mut self.block);
        self.records += 1;
        if self.block.len() >= FRAME { self.flush() } else { Ok(()) }
    }

    /// Writes all, and waits until it is on the disk. Returns the number of records.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.flush()?;
        self.file.sync_all()?;
        Ok(self.records)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.frame.clear();
        if !frame::put(&mut self.frame, 0, &[&self.block]) {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.block.clear();
        self.file.write_all(&self.frame)
    }
}

/// A place in a list: a frame, and how many of its records were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) frame: u64,
    pub(super) skip: u64,
}

/// Reads a list, or a file that begins with another frame.
pub(super) struct Reader {
    file: Named,
    frames: Frames,
    payload: Vec<u8>,
    /// Bytes of the payload that were taken.
    used: usize,
    at: Cursor,
    after: u64,
}

impl Reader {
    pub(super) fn open(file: Named, at: Cursor) -> io::Result<Reader> {
        let mut frames =
            Frames::open(file.clone()).map_err(|error| message::cannot_read(&file.path(), &error))?;
        frames.go_to(at.frame);
        let mut reader = Reader { file, frames, payload: Vec::new(), used: 0, at, after: at.frame };
        let skip = std::mem::take(&mut reader.at.skip);
        for _ in 0..skip {
            if reader.next()?.is_none() {
                return Err(reader.damaged());
            }
        }
        Ok(reader)
    }

    /// The first frame, and where the next one begins.
    pub(super) fn head(file: Named) -> io::Result<(Vec<u8>, Cursor)> {
        let mut reader = Reader::open(file, Cursor::default())?;
        if !reader.load()? {
            return Err(reader.damaged());
        }
        Ok((reader.payload, Cursor { frame: reader.after, skip: 0 }))
    }

    fn damaged(&self) -> io::Error {
        message::damaged(&self.file.path(), "not a whole list of directories")
    }

    /// Where the next record is.
    pub(super) fn cursor(&self) -> Cursor {
        match self.used < self.payload.len() {
            true => self.at,
            false => Cursor { frame: self.after, skip: 0 },
        }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        if self.used == self.payload.len() && !self.load()? {
            return Ok(None);
        }
        let mut bytes = Bytes(&self.payload[self.used..]);
        let Some(record) = Record::take(&mut bytes) else {
            return Err(message::damaged(&self.file.path(), "not a list of directories"));
        };
        self.used = self.payload.len() - bytes.0.len();
        self.at.skip += 1;
        Ok(Some(record))
    }

    fn load(&mut self) -> io::Result<bool> {
        let failed = |error: io::Error| message::cannot_read(&self.file.path(), &error);
        let Some(found) = self.frames.next().map_err(failed)? else { return Ok(false) };
        self.payload.clear();
        self.payload.extend_from_slice(found.payload);
        self.used = 0;
        self.at = Cursor { frame: self.after, skip: 0 };
        self.after = self.frames.offset();
        Ok(true)
    }
}
