//! All rows in order, on one thread, in memory that does not depend on the lengths of paths.
//!
//! Ranges need marks, and a mark has a path. Where paths are long, in trees of thousands of levels, these would take gigabytes. So here each run
//! has a window, of whole frames from its next row on. The least of the last frames in the windows is a limit: all rows before it are in
//! windows. They are merged, and the windows move on.

use super::frame::{Frame, damaged};
use super::merge::{Receive, Source, merge};
use super::run::{Run, Storage};
use dents_core::path::join;
use std::borrow::Cow;
use std::io;
use std::mem::take;

/// Bytes of all windows together, and of one, unless two frames have more.
const ALL: u64 = 64 << 20;
const LEAST: u64 = 64 << 10;
const MOST: u64 = 1 << 20;

/// Frames of a run.
#[derive(Default)]
struct Window {
    number: usize,
    /// Bytes of the run that are not read yet.
    at: u64,
    end: u64,
    bytes: Vec<u8>,
    /// The path of the frame before these bytes.
    before: Vec<u8>,
    /// The length of the whole frames, and the path of the last one.
    whole: usize,
    directory: Vec<u8>,
    /// No row comes before this path.
    first: Vec<u8>,
    /// The path of the first row of the last whole frame, and where that begins.
    last: Vec<u8>,
    last_at: usize,
}

/// Passes all rows of the runs on.
pub(super) fn merge_all(runs: &[Run], storage: &Storage, out: &mut dyn Receive) -> io::Result<()> {
    let size = (ALL / runs.len().max(1) as u64).clamp(LEAST, MOST);
    let windows = runs.iter().enumerate().map(|(number, run)| Window::new(number, run, storage, size));
    let mut windows: Vec<Window> = windows.collect::<io::Result<_>>()?;
    windows.retain(|window| window.whole > 0);
    // The one with the least path comes last.
    windows.sort_by(|a, b| b.first.cmp(&a.first));
    let mut from: Option<Vec<u8>> = None;
    while !windows.is_empty() {
        let (mut near, mut to): (Vec<Window>, Option<Vec<u8>>) = (Vec::new(), None);
        while let Some(mut window) = windows.pop_if(|window| to.as_ref().is_none_or(|to| window.first < *to))
        {
            window.fill(storage, size)?;
            if !window.is_end() && to.as_ref().is_none_or(|to| window.last < *to) {
                to = Some(window.last.clone());
            }
            near.push(window);
        }
        let sources = near
            .iter()
            .map(|window| Source::new(&window.bytes[..window.whole], &window.before, window.number));
        let sources: Vec<Option<Source<'_>>> = sources.collect::<io::Result<_>>()?;
        merge(sources.into_iter().flatten().collect(), (from.as_deref(), to.as_deref()), out)?;
        let Some(limit) = to else { return Ok(()) };
        for mut window in near {
            window.skip(&limit)?;
            let place = windows.partition_point(|other| other.first > window.first);
            windows.insert(place, window);
        }
        from = Some(limit);
    }
    Ok(())
}

impl Window {
    fn new(number: usize, run: &Run, storage: &Storage, size: u64) -> io::Result<Window> {
        let mut window = Window { number, at: run.begin, end: run.end, ..Window::default() };
        window.fill(storage, size)?;
        window.first = first(&window.bytes[..window.whole])?;
        Ok(window)
    }

    /// Whether all other frames of the run are in the window.
    fn is_end(&self) -> bool {
        self.at == self.end
    }

    /// Reads frames until the last one begins after the first row.
    fn fill(&mut self, storage: &Storage, size: u64) -> io::Result<()> {
        while !self.is_end() && ((self.bytes.len() as u64) < size || self.last <= self.first) {
            let next = self.end.min(self.at + size);
            self.bytes.extend_from_slice(&storage.read((self.at, next))?);
            self.at = next;
            let (mut rest, mut path, mut last) =
                (&self.bytes[self.whole..], Cow::from(take(&mut self.directory)), None);
            while let Some(frame) = Frame::take(&mut rest) {
                frame.follow(&mut path)?;
                self.last_at = self.bytes.len() - rest.len() - frame.raw.len();
                last = Some(frame);
            }
            self.whole = self.bytes.len() - rest.len();
            if let Some(mut frame) = last {
                self.last = join(&path, frame.rows.row().ok_or_else(damaged)?.name);
            }
            self.directory = path.into_owned();
        }
        if self.is_end() && self.whole < self.bytes.len() { Err(damaged()) } else { Ok(()) }
    }

    /// Drops the frames that have no row from this path on.
    fn skip(&mut self, limit: &[u8]) -> io::Result<()> {
        let mut kept = 0;
        if self.last[..] == *limit {
            // The usual case: the limit is that of this window.
            kept = self.last_at;
            self.first.clone_from(&self.last);
        } else {
            let (mut rest, mut path) = (&self.bytes[..self.whole], Cow::from(&self.before));
            let mut begin = Vec::new();
            while !rest.is_empty() {
                let at = self.whole - rest.len();
                let mut frame = Frame::take(&mut rest).ok_or_else(damaged)?;
                frame.follow(&mut path)?;
                let next = join(&path, frame.rows.row().ok_or_else(damaged)?.name);
                if at > 0 && next[..] > *limit {
                    break;
                }
                (kept, begin) = (at, next);
            }
            self.first = limit.to_vec().max(begin);
        }
        self.drop(kept)
    }

    /// Drops these bytes, which are whole frames.
    fn drop(&mut self, len: usize) -> io::Result<()> {
        let (mut rest, mut path) = (&self.bytes[..len], Cow::from(take(&mut self.before)));
        while !rest.is_empty() {
            Frame::take(&mut rest).ok_or_else(damaged)?.follow(&mut path)?;
        }
        self.before = path.into_owned();
        self.bytes.drain(..len);
        self.whole -= len;
        self.last_at -= len;
        Ok(())
    }
}

/// The path of the first row of these frames of a run; empty without frames.
fn first(mut frames: &[u8]) -> io::Result<Vec<u8>> {
    if frames.is_empty() {
        return Ok(Vec::new());
    }
    let mut frame = Frame::take(&mut frames).ok_or_else(damaged)?;
    let path = frame.path().ok_or_else(damaged)?;
    Ok(join(path, frame.rows.row().ok_or_else(damaged)?.name))
}
