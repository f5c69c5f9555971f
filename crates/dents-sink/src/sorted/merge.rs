//! The merge of sorted frames.
//!
//! The rows of a directory come one after the other, unless rows of a subdirectory are between them. So the merge compares paths once
//! for a frame, and names only in frames that another source interrupts.

use super::frame::{Frame, damaged, is_second};
use crate::coding::Rows;
use crate::row::Row;
use dents_core::path::{push, separator};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io;

/// Receives rows in order.
pub(super) trait Receive {
    /// A whole frame, and its path.
    fn frame(&mut self, frame: &Frame<'_>, path: &[u8]) -> io::Result<()>;

    /// A single row.
    fn row(&mut self, row: &Row<'_>) -> io::Result<()>;
}

/// Frames, sorted among themselves, and the next row of them.
pub(super) struct Source<'a> {
    /// The frames after this one.
    rest: &'a [u8],
    frame: Frame<'a>,
    /// The path of the frame.
    path: Cow<'a, [u8]>,
    /// The rows after the next one, and their number.
    rows: Rows<'a>,
    left: u64,
    /// The next row, without its parent.
    row: Row<'a>,
    /// The path of the next row while the source waits.
    key: Vec<u8>,
    /// The number of the source. If two rows are equal, that of the source with the lower number comes first.
    number: usize,
}

/// A path with which rows are compared.
#[derive(Clone, Copy)]
struct Limit<'k> {
    path: &'k [u8],
    /// Rows of the same path come before the limit if their [`Source::turn`] is earlier; if this is `None`, no such row does.
    turn: Option<(bool, usize)>,
}

/// The position of the rows of a frame relative to a limit.
enum Side<'k> {
    Before,
    /// The limit is a path in or below the same directory, with these bytes after the slash.
    Around(&'k [u8]),
    After,
}

/// Passes all rows of these frames on in order. Each frame is sorted.
///
/// Most frames are passed on at once, from the first row to the last. So frames are sorted by their first rows, and only a frame that another
/// one interrupts waits in the heap.
pub(super) fn sort(mut frames: &[u8], out: &mut dyn Receive) -> io::Result<()> {
    let mut firsts = Vec::new();
    while !frames.is_empty() {
        let before = frames;
        let frame = Frame::take(&mut frames).ok_or_else(damaged)?;
        let name = frame.rows.clone().row().ok_or_else(damaged)?.name;
        let path = frame.path().ok_or_else(damaged)?;
        firsts.push(First { path, name, raw: &before[..frame.raw.len()], number: firsts.len() });
    }
    // The frames of a worker are often in order already, which a stable sort detects.
    firsts.sort_by(First::order);
    let mut waiting: BinaryHeap<Source<'_>> = BinaryHeap::new();
    let mut firsts = firsts.into_iter();
    let mut next = Source::first(firsts.next())?;
    loop {
        let is_next = match (&next, waiting.peek()) {
            (Some(next), Some(first)) => next > first,
            (None, None) => return Ok(()),
            (next, _) => next.is_some(),
        };
        let source = if is_next {
            let following = Source::first(firsts.next())?;
            std::mem::replace(&mut next, following)
        } else {
            waiting.pop()
        };
        let Some(mut source) = source else { return Ok(()) };
        let limit = next.iter().chain(waiting.peek()).max().map(Source::limit);
        if source.give(limit, out)? {
            source.wait();
            waiting.push(source);
        }
    }
}

/// A frame, and its first row.
struct First<'a> {
    path: &'a [u8],
    name: &'a [u8],
    raw: &'a [u8],
    /// Its position among all frames.
    number: usize,
}

impl First<'_> {
    fn order(&self, other: &Self) -> Ordering {
        let both = self.path.len().min(other.path.len());
        self.path[..both].cmp(&other.path[..both]).then_with(|| {
            let rest = |one: &Self| one.path[both..].iter().chain(separator(one.path)).chain(one.name);
            rest(self).cmp(rest(other)).then(self.number.cmp(&other.number))
        })
    }
}

/// Passes on, in order, all rows of these sources from `from` on and before `to`.
pub(super) fn merge(
    sources: Vec<Source<'_>>,
    (from, to): (Option<&[u8]>, Option<&[u8]>),
    out: &mut dyn Receive,
) -> io::Result<()> {
    let mut waiting = Vec::with_capacity(sources.len());
    for mut source in sources {
        let has_more = from.map_or(Ok(true), |from| source.skip(from))?;
        if has_more {
            source.wait();
            waiting.push(source);
        }
    }
    let mut waiting = BinaryHeap::from(waiting);
    while let Some(mut source) = waiting.pop() {
        if to.is_some_and(|to| source.key[..] >= *to) {
            return Ok(());
        }
        let next = waiting.peek().map(Source::limit);
        let end = to.map(|path| Limit { path, turn: None });
        let limit = match (next, end) {
            (Some(next), Some(end)) if end.path <= next.path => Some(end),
            (next, end) => next.or(end),
        };
        if source.give(limit, out)? {
            source.wait();
            waiting.push(source);
        }
    }
    Ok(())
}

impl<'a> Source<'a> {
    /// A source of these frames, after a frame with the path `before`; `None` if there are none.
    pub(super) fn new(frames: &'a [u8], before: &'a [u8], number: usize) -> io::Result<Option<Source<'a>>> {
        let (mut rest, mut path) = (frames, Cow::Borrowed(before));
        if rest.is_empty() {
            return Ok(None);
        }
        let frame = Frame::take(&mut rest).ok_or_else(damaged)?;
        frame.follow(&mut path)?;
        let mut rows = frame.rows.clone();
        let row = rows.row().ok_or_else(damaged)?;
        let left = frame.count - 1;
        Ok(Some(Source { rest, frame, path, rows, left, row, key: Vec::new(), number }))
    }

    /// The source of the next frame.
    fn first(first: Option<First<'a>>) -> io::Result<Option<Source<'a>>> {
        let Some(First { raw, number, .. }) = first else { return Ok(None) };
        let mut source = Source::new(raw, b"", number)?;
        source.iter_mut().for_each(Source::wait);
        Ok(source)
    }

    /// The limit for other sources: they pass on the rows before the next row of this one.
    fn limit(&self) -> Limit<'_> {
        Limit { path: &self.key, turn: Some(self.turn()) }
    }

    /// The order of rows with the same path.
    fn turn(&self) -> (bool, usize) {
        (is_second(&self.row), self.number)
    }

    fn wait(&mut self) {
        self.key.clear();
        push(&self.path, self.row.name, &mut self.key);
    }

    /// Moves to the next frame; false at the end.
    fn next_frame(&mut self) -> io::Result<bool> {
        if self.rest.is_empty() {
            return Ok(false);
        }
        self.frame = Frame::take(&mut self.rest).ok_or_else(damaged)?;
        self.frame.follow(&mut self.path)?;
        self.rows = self.frame.rows.clone();
        self.left = self.frame.count;
        self.next_row()
    }

    /// Moves to the next row of the frame; false at the end.
    fn next_row(&mut self) -> io::Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        self.row = self.rows.row().ok_or_else(damaged)?;
        Ok(true)
    }

    /// Skips the rows before this path; false if no rows are left.
    fn skip(&mut self, path: &[u8]) -> io::Result<bool> {
        self.give(Some(Limit { path, turn: None }), &mut Nowhere)
    }

    /// Passes on the rows before the limit; false if no rows are left.
    fn give(&mut self, limit: Option<Limit<'_>>, out: &mut dyn Receive) -> io::Result<bool> {
        loop {
            match limit.map_or(Side::Before, |limit| limit.side_of(&self.path)) {
                Side::After => return Ok(true),
                Side::Around(rest) => {
                    let turn = limit.and_then(|limit| limit.turn);
                    loop {
                        if self.row.name > rest || (self.row.name == rest && Some(self.turn()) > turn) {
                            return Ok(true);
                        }
                        out.row(&Row { parent: &self.path, ..self.row })?;
                        if !self.next_row()? {
                            break;
                        }
                    }
                }
                Side::Before if self.left + 1 == self.frame.count => out.frame(&self.frame, &self.path)?,
                Side::Before => loop {
                    out.row(&Row { parent: &self.path, ..self.row })?;
                    if !self.next_row()? {
                        break;
                    }
                },
            }
            if !self.next_frame()? {
                return Ok(false);
            }
        }
    }
}

impl<'k> Limit<'k> {
    /// The position of the rows of this directory. Their paths have the same beginning, so a limit with another beginning is not between them.
    fn side_of(self, directory: &[u8]) -> Side<'k> {
        // Once, and as slices: a path may have megabytes.
        let (begin, rest) = self.path.split_at(directory.len().min(self.path.len()));
        let slash = separator(directory);
        match directory[..begin.len()].cmp(begin) {
            Ordering::Less => Side::Before,
            Ordering::Equal if directory.len() == begin.len() => match rest.strip_prefix(slash) {
                Some(rest) => Side::Around(rest),
                None if slash < rest => Side::Before,
                None => Side::After,
            },
            _ => Side::After,
        }
    }
}

/// Discards what it receives.
struct Nowhere;

impl Receive for Nowhere {
    fn frame(&mut self, _: &Frame<'_>, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, _: &Row<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// The source whose row comes first is the largest, because the heap returns the largest.
impl Ord for Source<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key).then_with(|| other.turn().cmp(&self.turn()))
    }
}

impl PartialOrd for Source<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Source<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Source<'_> {}
