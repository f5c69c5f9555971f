//! Messages about what did not answer within `--timeout`.

use super::directory::Origin;
use super::printer::Printer;
use crate::status::Status;
use alloc::format;
use dents_core::batch::{Asked, Batch};
use dents_core::deadline::UNANSWERED;
use dents_render::quantity::grouped;

/// How much of a directory has been answered in time.
#[derive(Clone, Copy, Default)]
pub(super) struct Answered {
    pub(super) entries: usize,
    /// Those about which a request was not answered.
    pub(super) unanswered: usize,
    /// Whether the directory was read to its end.
    pub(super) ended: bool,
}

impl Printer<'_, '_> {
    /// Reports what is missing of a directory.
    pub(super) fn tell_unanswered(&mut self, path: &[u8], answered: Answered) {
        let Some(timeout) = &self.session.timeout else { return };
        let Answered { entries, unanswered, ended } = answered;
        let name = self.quoted(path);
        let within = format!(" did not answer within {}", timeout.text);
        if !ended {
            let told = format!(": only the first {} names are shown", grouped(entries as u64));
            let message = self.message().text("reading directory ").text(&name);
            message.text(&within).text(&told).send(self.out);
            self.record_late(path, "did not answer in time: only the first names are here");
            self.raise(Status::Minor);
        }
        if unanswered > 0 {
            let what = if entries == 1 { "entry" } else { "entries" };
            let count = format!("{} of {} {what} of ", grouped(unanswered as u64), grouped(entries as u64));
            let message = self.message().text(&count).text(&name);
            message.text(&within).text("; shown with '?'").send(self.out);
            self.raise(Status::Minor);
        }
    }

    pub(super) fn tell_late_operands(&mut self, batch: &Batch) {
        for entry in batch.iter() {
            match entry.fault() {
                Some((Asked::Stat, UNANSWERED)) => self.late(entry.name(), Origin::Operand, true),
                // The entry is shown, without a mark or the target of a link.
                Some((_, UNANSWERED)) => self.late(entry.name(), Origin::Below, true),
                _ => {}
            }
        }
        // A directory may be known by then, while another request about it is not answered: opening it will be late, too.
        let late = batch.iter().filter(|entry| matches!(entry.fault(), Some((_, UNANSWERED))));
        self.told_late = late.map(|entry| entry.name().to_vec()).collect();
    }

    /// Reports a directory or operand that did not answer at all. `reached`: a worker of the agent had begun to open it.
    pub(super) fn late(&mut self, path: &[u8], origin: Origin, reached: bool) {
        self.raise(origin.status());
        if self.told_late.iter().any(|told| told == path) {
            return;
        }
        self.record_late(path, "did not answer in time");
        let Some(timeout) = &self.session.timeout else { return };
        if !reached && origin == Origin::Below {
            self.not_reached += 1;
            return;
        }
        let within = format!(" did not answer within {}", timeout.text);
        self.message().text(self.quoted(path)).text(&within).send(self.out);
    }

    /// Reports how much of a hierarchy is missing.
    pub(super) fn tell_not_reached(&mut self) {
        let Some(timeout) = self.session.timeout.as_ref().filter(|_| self.not_reached > 0) else { return };
        let directories = if self.not_reached == 1 { "directory was" } else { "directories were" };
        let count = grouped(self.not_reached as u64);
        let text = format!("{count} {directories} not reached within {}", timeout.text);
        self.message().text(&text).send(self.out);
    }
}
