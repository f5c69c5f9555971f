//! All rows in order, on one thread, in memory that does not depend on the lengths of paths.
//!
//! Ranges need marks, and a mark has a path. Where paths are long, in trees of thousands of levels, these would take gigabytes. So here each run
//! has a window, of whole frames from its next row on. The least of the last frames in the windows is a limit: all rows before it are in
//! windows. They are merged, and the windows move on.

use super::Storage;
use super::frame::Frame;
use super::merge::{Receive, Source, damaged, merge};
use super::run::Run;
use std::io;

/// Bytes of all windows together, and of one, unless two frames have more.
const ALL: u64 = 64 << 20;
const LEAST: u64 = 64 << 10;
const MOST: u64 = 1 << 20;

/// Frames of a run.
struct Window {
    number: usize,
    /// Bytes of the run that are not read yet.
    at: u64,
    end: u64,
    bytes: Vec<u8>,
    /// The length of the whole frames.
    whole: usize,
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
        let sources = near.iter().map(|window| Source::new(&window.bytes[..window.whole], window.number));
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
        let (at, end, bytes) = (run.begin, run.end, Vec::new());
        let mut window =
            Window { number, at, end, bytes, whole: 0, first: Vec::new(), last: Vec::new(), last_at: 0 };
        window.fill(storage, size)?;
        path(&window.bytes[..window.whole], &mut window.first)?;
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
            let (mut rest, mut has_more) = (&self.bytes[self.whole..], false);
            while let Some(frame) = Frame::take(&mut rest) {
                self.last_at = self.bytes.len() - rest.len() - frame.raw.len();
                has_more = true;
            }
            self.whole = self.bytes.len() - rest.len();
            if has_more {
                path(&self.bytes[self.last_at..], &mut self.last)?;
            }
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
            let (mut rest, mut begin) = (&self.bytes[..self.whole], Vec::new());
            while !rest.is_empty() {
                path(rest, &mut begin)?;
                if begin[..] > *limit {
                    break;
                }
                kept = self.whole - rest.len();
                Frame::take(&mut rest).ok_or_else(damaged)?;
            }
            path(&self.bytes[kept..self.whole], &mut begin)?;
            self.first = limit.to_vec().max(begin);
        }
        self.bytes.drain(..kept);
        self.whole -= kept;
        self.last_at -= kept;
        Ok(())
    }
}

/// Writes the path of the first row of these frames into `into`, which stays empty without frames.
fn path(mut frames: &[u8], into: &mut Vec<u8>) -> io::Result<()> {
    into.clear();
    if frames.is_empty() {
        return Ok(());
    }
    let mut frame = Frame::take(&mut frames).ok_or_else(damaged)?;
    frame.rows.row().ok_or_else(damaged)?.path(into);
    Ok(())
}
