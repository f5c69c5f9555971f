//! The plain output: one path for each line, as `find` prints it. It needs nothing but names.

use super::emit::Emit;
use super::origin::Origin;
use super::out::{Lines, Out};
use crate::message;
use dents_core::batch::{Batch, Entry};
use dents_core::tree::Place;
use dents_render::quote::{Quoter, Quoting};

/// Writes the paths of one worker.
pub(crate) struct Paths<'o> {
    lines: Lines<'o>,
    /// The path of the directory, with a slash: all paths of a batch begin with it.
    prefix: Vec<u8>,
    end: u8,
    /// For a terminal: replaces what is not printable by `?`.
    quoter: Option<Quoter>,
}

impl<'o> Paths<'o> {
    /// With `terminal`, control characters in names are replaced.
    pub(crate) fn new(out: &'o Out<'o>, end: u8, terminal: bool) -> Self {
        let quoter = terminal.then(|| Quoter::new(Quoting::Literal, message::locale(), true, b""));
        Paths { lines: Lines::new(out), prefix: Vec::new(), end, quoter }
    }

    fn line(&mut self, name: &[u8]) {
        match &self.quoter {
            None => {
                self.lines.bytes.extend_from_slice(&self.prefix);
                self.lines.bytes.extend_from_slice(name);
            }
            Some(quoter) => {
                let path = [&self.prefix, name].concat();
                quoter.write(&path, &mut self.lines.bytes);
            }
        }
        self.lines.bytes.push(self.end);
    }
}

impl Emit for Paths<'_> {
    fn begin(&mut self, place: &Place<'_>, _: &Batch) {
        place.join(b"", &mut self.prefix);
    }

    fn entry(&mut self, _: &Place<'_>, _: &Origin, entry: &Entry<'_>) {
        self.line(entry.name());
    }

    fn all(&mut self, _: &Place<'_>, _: &Origin, batch: &Batch) {
        for entry in batch.iter() {
            self.line(entry.name());
        }
    }

    fn end(&mut self) {
        self.lines.pause();
    }

    fn finish(&mut self) {
        self.lines.flush();
    }
}
