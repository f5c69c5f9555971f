//! Reads the records of a [`Sorter`](super::Sorter) in order: merges its runs.

use dents_sink::Temporary;
use dents_sink::coding::Bytes;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;
use std::ops::Range;
use std::rc::Rc;

/// Bytes that are read ahead of all runs together. Each run has at least [`LEAST`], even if the sum is larger then.
const AHEAD: usize = 16 << 20;
const MOST: usize = 256 << 10;
const LEAST: usize = 4 << 10;

/// Sorted records.
pub(crate) enum Run {
    /// In memory.
    Held(Vec<u8>),
    /// In the temporary file.
    Written { start: u64, end: u64 },
}

/// The records, one at a time.
pub(crate) struct Sorted {
    /// The position in each run; the run with the next record is the first.
    cursors: BinaryHeap<Cursor>,
}

impl Sorted {
    /// Merges these runs, which are in memory or in this file.
    pub(crate) fn new(file: Option<Rc<Temporary>>, runs: Vec<Run>) -> io::Result<Sorted> {
        let ahead = (AHEAD / runs.len().max(1)).clamp(LEAST, MOST);
        let mut cursors = BinaryHeap::with_capacity(runs.len());
        for run in runs {
            let mut cursor = match run {
                Run::Held(buffer) => Cursor { buffer, ..Cursor::new(None, 0..0, ahead) },
                Run::Written { start, end } => Cursor::new(file.clone(), start..end, ahead),
            };
            if cursor.advance()? {
                cursors.push(cursor);
            }
        }
        Ok(Sorted { cursors })
    }

    /// Key and body of the next record.
    pub(crate) fn head(&self) -> Option<(&[u8], &[u8])> {
        self.cursors.peek().map(|cursor| (&*cursor.key, cursor.body()))
    }

    /// Moves to the next record.
    pub(crate) fn advance(&mut self) -> io::Result<()> {
        if let Some(mut first) = self.cursors.peek_mut()
            && !first.advance()?
        {
            PeekMut::pop(first);
        }
        Ok(())
    }
}

/// A position in a run.
struct Cursor {
    key: Vec<u8>,
    body: Range<usize>,
    file: Option<Rc<Temporary>>,
    /// The part of the file that is not read yet.
    rest: Range<u64>,
    buffer: Vec<u8>,
    /// Where the next record begins in the buffer.
    at: usize,
    ahead: usize,
}

impl Cursor {
    fn new(file: Option<Rc<Temporary>>, rest: Range<u64>, ahead: usize) -> Cursor {
        Cursor { key: Vec::new(), body: 0..0, file, rest, buffer: Vec::new(), at: 0, ahead }
    }

    fn body(&self) -> &[u8] {
        &self.buffer[self.body.clone()]
    }

    /// The next record; false if there is none.
    fn advance(&mut self) -> io::Result<bool> {
        loop {
            if let Some((shared, more, body, left)) = parse(&self.buffer[self.at..]) {
                self.key.truncate(shared);
                self.key.extend_from_slice(more);
                let end = self.buffer.len() - left;
                self.body = end - body..end;
                self.at = end;
                return Ok(true);
            }
            if self.rest.is_empty() {
                return Ok(false);
            }
            self.refill()?;
        }
    }

    /// Reads the next bytes, after those that are left in the buffer.
    fn refill(&mut self) -> io::Result<()> {
        let Some(temporary) = &self.file else { return Ok(()) };
        self.buffer.drain(..self.at);
        self.at = 0;
        let had = self.buffer.len();
        // If a record is longer than the buffer, the buffer doubles.
        let wanted = self.ahead.max(had) as u64;
        let length = wanted.min(self.rest.end - self.rest.start) as usize;
        self.buffer.resize(had + length, 0);
        temporary.read_exact_at(&mut self.buffer[had..], self.rest.start)?;
        self.rest.start += length as u64;
        Ok(())
    }
}

/// Parses the first record. Returns the number of bytes that its key shares with the key before, the rest of its key, the length of its body, and
/// the number of bytes after it.
fn parse(bytes: &[u8]) -> Option<(usize, &[u8], usize, usize)> {
    let mut bytes = Bytes(bytes);
    let (shared, more) = (bytes.small()?, bytes.bytes()?);
    let body = bytes.bytes()?;
    Some((shared, more, body.len(), bytes.0.len()))
}

/// The cursor with the least record is the greatest, because the heap returns the greatest first.
impl Ord for Cursor {
    fn cmp(&self, other: &Cursor) -> Ordering {
        other.key.cmp(&self.key).then_with(|| other.body().cmp(self.body()))
    }
}

impl PartialOrd for Cursor {
    fn partial_cmp(&self, other: &Cursor) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cursor {
    fn eq(&self, other: &Cursor) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cursor {}
