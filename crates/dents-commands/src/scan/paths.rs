//! The plain output: one path for each line, as `find` prints it. It needs nothing but names.

use super::text_output::{Lines, TextOutput};
use crate::consumer::Consumer;
use crate::entry::Found;
use crate::message;
use dents_core::batch::Batch;
use dents_core::path;
use dents_core::tree::{Place, Step};
use dents_render::quote::{Quoter, Quoting};

/// Writes the paths of one worker.
pub(crate) struct Paths<'o> {
    lines: Lines<'o>,
    end: u8,
    /// For a terminal: replaces what is not printable by `?`.
    quoter: Option<Quoter>,
}

impl<'o> Paths<'o> {
    /// With `terminal`, control characters in names are replaced.
    pub(crate) fn new(out: &'o TextOutput<'o>, end: u8, terminal: bool) -> Self {
        let quoter =
            terminal.then(|| Quoter::new(Quoting::Literal, message::locale(), true, b"").and_invisible());
        Paths { lines: Lines::new(out), end, quoter }
    }

    fn line(&mut self, parent: &[u8], name: &[u8]) {
        let bytes = &mut self.lines.bytes;
        match &self.quoter {
            None => path::push(parent, name, bytes),
            Some(quoter) => {
                quoter.write(&path::join(parent, name), bytes);
            }
        }
        bytes.push(self.end);
    }
}

impl Consumer for Paths<'_> {
    type State = ();

    fn entry(&mut self, found: &Found<'_>, (): &()) -> Step {
        self.line(found.parent, found.name);
        Step::Enter
    }

    fn all(&mut self, place: &Place<'_>, batch: &Batch) -> bool {
        batch.iter().for_each(|entry| self.line(place.path, entry.name()));
        true
    }

    fn end(&mut self, _: Option<&Place<'_>>) {
        self.lines.pause();
    }

    fn finish(&mut self) {
        self.lines.flush();
    }
}
