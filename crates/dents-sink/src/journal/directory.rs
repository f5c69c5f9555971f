//! The directory of a journal: its lock, and the scan that it belongs to.
//!
//! | file | content |
//! |---|---|
//! | `lock` | locked by `flock` while a process uses the journal, and contains its process ID; the lock ends with the process |
//! | `scan` | the header: a line of text, then one frame with the secret of the keys, the start, the options, the working directory, the paths and their files, the subvolumes |
//! | `000001-0000.rows` | segments: run and writer |
//!
//! The header is written first and appears complete (it is renamed into place), and it is removed first when a scan is done:
//! segments without a header are remains of a scan that was done. The rows of segments are believed, so the directory is one that nobody
//! else may change (`../dir.rs`).

use super::error::Error;
use super::frame::{self, VERSION};
use super::key::Keys;
use super::segment::{Segment, at};
use crate::bytes::{Bytes, put_bytes, put_number, put_time};
use crate::dir::{Dir, PRIVATE};
use crate::message;
use crate::root::{self, Machine, Root};
use crate::{subvolumes, time};
use dents_core::batch::Time;
use dents_core::bulk::Subvolume;
use std::ffi::{CStr, CString, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const LOCK: &str = "lock";
const HEADER: &str = "scan";
const NEW_HEADER: &str = "scan.new";
/// The first line of the header, without the number of the format.
const TITLE: &str = "dents scan journal ";

/// A scan: a journal belongs to one scan. Its identity includes the working directory and the files that the paths lead to (device,
/// inode, birth), which are checked when the journal is opened.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'a> {
    /// All options that decide which rows the scan has, as text. The same options give the same text. The error message for other
    /// options shows it.
    pub options: &'a str,
    /// The operands.
    pub paths: &'a [&'a CStr],
    /// The subvolumes of btrfs where the scan begins, as they are before its start. They are not compared: a journal keeps those of the
    /// first run.
    pub subvolumes: &'a [Subvolume],
}

/// The locked directory.
pub(super) struct Directory {
    pub(super) dir: Dir,
    /// Unlocked when closed.
    _lock: File,
}

/// The data of the header, other than the identity of the scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) keys: Keys,
    pub(super) started: Time,
    /// Whether the scan was begun by an earlier run.
    pub(super) resumed: bool,
    /// The subvolumes at the start.
    pub(super) subvolumes: Vec<Subvolume>,
}

/// The identity of a scan in the header.
#[derive(Debug, PartialEq, Eq)]
struct ScanIdentity {
    options: String,
    /// The working directory; empty if it had no name.
    cwd: PathBuf,
    paths: Vec<CString>,
    /// The file that each path leads to.
    roots: Vec<Option<Root>>,
}

impl ScanIdentity {
    /// The identity of a scan now: one `getcwd`, and one `statx` for each path.
    fn of(scan: &Scan<'_>) -> ScanIdentity {
        ScanIdentity {
            options: scan.options.to_string(),
            cwd: std::env::current_dir().unwrap_or_default(),
            paths: scan.paths.iter().map(|path| (*path).to_owned()).collect(),
            roots: scan.paths.iter().map(|path| Root::of(path)).collect(),
        }
    }
}

/// The error that names the directory, or the file in it, and a remedy.
fn unusable(path: &Path, error: &io::Error) -> Error {
    Error::Io(message::no_journal(path, error))
}

impl Directory {
    /// Makes the directory if there is none, and locks it.
    pub(super) fn lock(dir: &Path) -> Result<Directory, Error> {
        let failed = |error| unusable(dir, &error);
        let opened = Dir::make(dir).map_err(failed)?;
        let names = opened.names().map_err(failed)?;
        if let Some(name) = names.iter().map(|name| name.to_string_lossy()).find(|name| !is_ours(name)) {
            return Err(Error::Foreign { dir: dir.to_path_buf(), name: name.into_owned() });
        }
        let path = dir.join(LOCK);
        let lock = opened.file(LOCK).and_then(|lock| lock.open_or_create(PRIVATE));
        let mut lock = lock.map_err(|error| unusable(&path, &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut by = String::new();
                let _ = lock.read_to_string(&mut by);
                return Err(Error::InUse { dir: dir.to_path_buf(), by: by.trim().to_string() });
            }
            Err(TryLockError::Error(error)) => return Err(unusable(&path, &error)),
        }
        let number = format!("{}\n", std::process::id());
        let written = lock.set_len(0).and_then(|()| lock.write_all(number.as_bytes()));
        written.map_err(|error| unusable(&path, &error))?;
        Ok(Directory { dir: opened, _lock: lock })
    }

    /// The header of the scan that began here. If there is none, removes segments and writes a header.
    pub(super) fn header(&self, scan: &Scan<'_>) -> Result<Header, Error> {
        let path = self.path(HEADER);
        match self.dir.file(HEADER).and_then(|header| header.read()) {
            Ok(bytes) => self.check(&bytes, scan),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                for segment in self.segments()? {
                    let removed = segment.file(&self.dir).and_then(|file| file.remove());
                    removed.map_err(|error| unusable(&self.path(&segment.name()), &error))?;
                }
                let subvolumes = scan.subvolumes.to_vec();
                let header = Header { keys: Keys::new(), started: time::now(), resumed: false, subvolumes };
                self.write(&header, &ScanIdentity::of(scan)).map_err(|error| unusable(&path, &error))?;
                Ok(header)
            }
            Err(error) => Err(unusable(&path, &error)),
        }
    }

    /// For messages.
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn check(&self, bytes: &[u8], scan: &Scan<'_>) -> Result<Header, Error> {
        let dir = || self.dir.path().to_path_buf();
        let version = version(bytes).ok_or_else(|| Error::Damaged { file: self.path(HEADER) })?;
        if version != VERSION {
            return Err(Error::Version { dir: dir(), version });
        }
        let (header, theirs) = parse(bytes).ok_or_else(|| Error::Damaged { file: self.path(HEADER) })?;
        let ours = ScanIdentity::of(scan);
        if theirs.options != ours.options {
            return Err(Error::OtherOptions { dir: dir(), theirs: theirs.options, ours: ours.options });
        }
        if theirs.paths != ours.paths {
            return Err(Error::OtherPaths { dir: dir(), theirs: theirs.paths });
        }
        if theirs.cwd != ours.cwd && ours.paths.iter().any(|path| !path.to_bytes().starts_with(b"/")) {
            return Err(Error::OtherDirectory { dir: dir(), theirs: theirs.cwd, ours: ours.cwd });
        }
        for (path, (then, now)) in ours.paths.into_iter().zip(theirs.roots.iter().zip(&ours.roots)) {
            if let Some(change) = root::change(then.as_ref(), now.as_ref(), Machine::Same) {
                return Err(Error::OtherTree { dir: dir(), path, change });
            }
        }
        Ok(header)
    }

    fn write(&self, header: &Header, identity: &ScanIdentity) -> io::Result<()> {
        let new = self.dir.file(NEW_HEADER)?;
        // That of a process that was killed.
        absent(new.remove())?;
        let mut file = new.create(PRIVATE)?;
        file.write_all(&encode(header, identity))?;
        // One sync of a small file, so that a header is complete after a power failure too.
        file.sync_all()?;
        new.rename(&self.dir.file(HEADER)?)
    }

    /// All segments, in the order of runs and writers.
    pub(super) fn segments(&self) -> Result<Vec<Segment>, Error> {
        let names = self.dir.names().map_err(|error| Error::Io(at(self.dir.path(), error)))?;
        let names = names.iter().map(|name| name.to_string_lossy());
        let mut segments: Vec<_> = names.filter_map(|name| Segment::of_name(&name)).collect();
        segments.sort_unstable();
        Ok(segments)
    }

    /// Removes the journal; the directory too, if it is empty then.
    pub(super) fn clear(self) -> Result<(), Error> {
        let gone = |name: &str| {
            let removed = self.dir.file(name).and_then(|file| absent(file.remove()));
            removed.map_err(|error| Error::Io(at(&self.path(name), error)))
        };
        gone(HEADER)?;
        for segment in self.segments()? {
            gone(&segment.name())?;
        }
        gone(LOCK)?;
        // Only an empty directory is removed, and no link.
        let _ = fs::remove_dir(self.dir.path());
        Ok(())
    }
}

/// No error if there is no such file.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn is_ours(name: &str) -> bool {
    [LOCK, HEADER, NEW_HEADER].contains(&name) || Segment::of_name(name).is_some()
}

fn version(bytes: &[u8]) -> Option<u32> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line).ok()?.strip_prefix(TITLE)?.parse().ok()
}

fn encode(header: &Header, identity: &ScanIdentity) -> Vec<u8> {
    let mut payload = header.keys.secret.to_vec();
    put_time(&mut payload, header.started);
    put_bytes(&mut payload, identity.options.as_bytes());
    put_bytes(&mut payload, identity.cwd.as_os_str().as_bytes());
    put_number(&mut payload, identity.paths.len() as u64);
    for (path, root) in identity.paths.iter().zip(&identity.roots) {
        put_bytes(&mut payload, path.to_bytes());
        root::put(&mut payload, root.as_ref());
    }
    put_bytes(&mut payload, subvolumes::text(&header.subvolumes).as_bytes());
    let mut bytes = format!("{TITLE}{VERSION}\n").into_bytes();
    frame::put(&mut bytes, 0, &[&payload]);
    bytes
}

fn parse(bytes: &[u8]) -> Option<(Header, ScanIdentity)> {
    let line = bytes.iter().position(|byte| *byte == b'\n')?;
    let rest = &bytes[line + 1..];
    let len = frame::length(rest)?;
    let (_, payload) = frame::check(rest.get(..usize::try_from(len).ok()?)?)?;
    let (secret, rest) = payload.split_first_chunk()?;
    let mut bytes = Bytes(rest);
    let started = bytes.time()?;
    let options = String::from_utf8(bytes.bytes()?.to_vec()).ok()?;
    let cwd = PathBuf::from(OsString::from_vec(bytes.bytes()?.to_vec()));
    let (mut paths, mut roots) = (Vec::new(), Vec::new());
    for _ in 0..bytes.number()? {
        paths.push(CString::new(bytes.bytes()?).ok()?);
        roots.push(root::take(&mut bytes)?);
    }
    // Journals of earlier builds end here.
    let subvolumes = bytes.bytes().and_then(|text| std::str::from_utf8(text).ok()).map(subvolumes::parse);
    let subvolumes = subvolumes.unwrap_or_default();
    let header = Header { keys: Keys { secret: *secret }, started, resumed: true, subvolumes };
    Some((header, ScanIdentity { options, cwd, paths, roots }))
}

/// The path without slashes at its end, which do not change the paths of its entries.
pub(super) fn without_slash(path: &CStr) -> &[u8] {
    let bytes = path.to_bytes();
    &bytes[..bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_as_it_was() {
        let subvolumes = [Subvolume { uuid: [7; 16], generation: 9 }];
        let scan = Scan { options: "-x --max-depth 3", paths: &[c"/", c"\xff b\n"], subvolumes: &subvolumes };
        let started = Time { sec: 1_800_000_000, nsec: 123_456_789 };
        let (header, identity) = (
            Header { keys: Keys::new(), started, resumed: true, subvolumes: scan.subvolumes.to_vec() },
            ScanIdentity::of(&scan),
        );
        let bytes = encode(&header, &identity);
        assert!(bytes.starts_with(b"dents scan journal 2\n"));
        assert_eq!(parse(&bytes), Some((header, identity)));
        for end in 0..bytes.len() {
            assert!(parse(&bytes[..end]).is_none(), "cut off at {end}");
        }
    }
}
