//! The files to which workers append frames, one for each worker and run, and their reader.

use super::frame;
use crate::dir::{Dir, Named};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes of one `read`. While a journal is opened, each segment of a run has this much in memory.
const CHUNK: usize = 64 * 1024;

/// A segment: `RUN-WORKER.rows`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Segment {
    /// The run, counted from 1.
    pub(super) run: u32,
    /// The writer in the run.
    pub(super) writer: u32,
}

impl Segment {
    pub(super) fn name(&self) -> String {
        format!("{:06}-{:04}.rows", self.run, self.writer)
    }

    pub(super) fn file(&self, dir: &Dir) -> io::Result<Named> {
        dir.file(self.name())
    }

    pub(super) fn frames(&self, dir: &Dir) -> io::Result<Frames> {
        self.file(dir).and_then(Frames::open).map_err(|error| at(&dir.path().join(self.name()), error))
    }

    /// The segment with this name; `None` for other names.
    pub(super) fn of_name(name: &str) -> Option<Segment> {
        let (run, writer) = name.strip_suffix(".rows")?.split_once('-')?;
        let number = |digits: &str, least| {
            let plain = digits.len() >= least && digits.bytes().all(|byte| byte.is_ascii_digit());
            if plain { digits.parse().ok() } else { None }
        };
        Some(Segment { run: number(run, 6)?, writer: number(writer, 4)? })
    }
}

/// Reads the frames of a segment, up to the first incomplete one. It keeps no descriptor open between reads, because there may be
/// more segments than descriptors.
pub(crate) struct Frames {
    file: Named,
    /// The length of the whole file.
    len: u64,
    buffer: Vec<u8>,
    /// The bytes that were read, and the number of those that were returned.
    from: u64,
    used: usize,
}

/// A complete frame.
pub(crate) struct Found<'a> {
    /// Where it begins.
    pub(super) offset: u64,
    pub(crate) payload: &'a [u8],
}

impl Frames {
    pub(crate) fn open(file: Named) -> io::Result<Frames> {
        let len = file.open()?.metadata()?.len();
        Ok(Frames { file, len, buffer: Vec::new(), from: 0, used: 0 })
    }

    /// Continues at a frame that was found before.
    pub(crate) fn go_to(&mut self, offset: u64) {
        let at = offset.checked_sub(self.from).filter(|at| *at <= self.buffer.len() as u64);
        if let Some(at) = at {
            self.used = at as usize;
        } else {
            self.buffer.clear();
            (self.from, self.used) = (offset.min(self.len), 0);
        }
    }

    /// Where the next frame begins.
    pub(crate) fn offset(&self) -> u64 {
        self.from + self.used as u64
    }

    pub(super) fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// The time in the head of the next frame, by which frames of several segments are read in the order of writing.
    pub(super) fn peek(&mut self) -> io::Result<Option<u32>> {
        Ok(self.load()?.and_then(|len| frame::time(&self.buffer[self.used..self.used + len])))
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Found<'_>>> {
        let Some(len) = self.load()? else { return Ok(None) };
        let offset = self.offset();
        let start = self.used;
        let Some((_, payload)) = frame::check(&self.buffer[start..start + len]) else {
            return Ok(None);
        };
        self.used += len;
        Ok(Some(Found { offset, payload }))
    }

    /// Bytes that belong to no complete frame, after the last one.
    pub(super) fn torn(&self) -> u64 {
        self.len - self.offset()
    }

    /// Reads the next frame into the buffer. Returns its length, unless the file ends first.
    fn load(&mut self) -> io::Result<Option<usize>> {
        let mut want = frame::HEAD;
        loop {
            let have = self.buffer.len() - self.used;
            if have >= want {
                match frame::length(&self.buffer[self.used..]) {
                    Some(len) if len <= have as u64 => return Ok(Some(len as usize)),
                    Some(len) => want = usize::try_from(len).unwrap_or(usize::MAX),
                    None => return Ok(None),
                }
            }
            let offset = self.offset();
            if want as u64 > self.len - offset {
                return Ok(None);
            }
            self.refill(offset, want).map_err(|error| at(&self.file.path(), error))?;
        }
    }

    fn refill(&mut self, offset: u64, want: usize) -> io::Result<()> {
        self.buffer.drain(..self.used);
        self.from = offset;
        self.used = 0;
        let have = self.buffer.len();
        let most = usize::try_from(self.len - offset).unwrap_or(usize::MAX);
        self.buffer.resize(want.max(CHUNK).min(most), 0);
        self.file.open()?.read_exact_at(&mut self.buffer[have..], offset + have as u64)
    }
}

/// Adds the file to an error.
pub(crate) fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let segment = Segment { run: 3, writer: 17 };
        assert_eq!(segment.name(), "000003-0017.rows");
        assert_eq!(Segment::of_name("000003-0017.rows"), Some(segment));
        for name in [
            "3-17.rows",
            "000003-0017",
            "a00003-0017.rows",
            "000003-0017.rows.gz",
            "000003.rows",
            "+00003-+017.rows",
        ] {
            assert_eq!(Segment::of_name(name), None, "{name}");
        }
    }
}
