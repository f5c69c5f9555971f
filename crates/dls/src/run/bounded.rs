//! `--timeout`: who asks until then, and what is said about those that did not answer.

use super::Listing;
use crate::Status;
use crate::output::Message;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents::batch::{Asked, Batch};
use dents::bounded::{Bounded, Part, Sheet, UNANSWERED, Wanted};
use dents::owners::Getent;
use dents::stat::Report;
use dents::stat::ledger::Account;
use dents_render::quote;
use dents_sys::{Errno, Result, clock};

/// The deadline, and what has been missed so far.
pub(super) struct Limit {
    bounded: Bounded,
    /// How it was said: `2s`.
    text: String,
    /// Directories that nobody had come to.
    not_reached: usize,
    /// Of the directory that is being shown piece by piece: entries, those unanswered, and whether it ended.
    stream: (usize, usize, bool),
}

impl Limit {
    pub(super) fn bounded(&self) -> &Bounded {
        &self.bounded
    }

    pub(super) fn getent(&self) -> &dyn Getent {
        &self.bounded
    }

    pub(super) fn account(&self) -> Option<Account> {
        self.bounded.account()
    }

    pub(super) fn canonical(&self, base: &[u8], names: Vec<Vec<u8>>) -> Vec<Option<Vec<u8>>> {
        self.bounded.canonical(base, names)
    }
}

impl Listing<'_, '_, '_> {
    /// From here on everything is asked aside, if there is a timeout.
    pub(super) fn set_limit(&mut self) {
        let Some(timeout_ns) = self.plan.timeout_ns else { return };
        let plan = self.plan;
        let wanted = Wanted {
            needs: plan.needs,
            operand_needs: plan.operand_needs,
            dereference: plan.dereference,
            filter: plan.filter.clone(),
            lists_operands: !plan.directory,
            recursive: plan.recursive || plan.below.tree.is_some_and(|depth| depth > 1),
            lazy: plan.lazy,
            watch: self.means.threads.watching(),
            explains: plan.explain.is_some(),
        };
        let until_ns = clock::monotonic_ns() + timeout_ns;
        let started = (self.env.aside)().ok_or(Errno::NOSYS).and_then(|aside| {
            Bounded::start(aside, wanted, (until_ns, timeout_ns / 10), (plan.threads, plan.in_flight))
        });
        match started {
            Ok(bounded) => {
                let text = duration(timeout_ns);
                self.limit = Some(Limit { bounded, text, not_reached: 0, stream: (0, 0, false) });
            }
            Err(errno) => Message::new(plan.program)
                .text("cannot start a process to ask from, going on without a timeout")
                .errno(errno)
                .send(self.out),
        }
    }

    /// All of a directory, as far as it has answered.
    pub(super) fn take_whole(&mut self, sheet: &Arc<Sheet>, path: &CStr) -> (Batch, Report, Result<()>) {
        let Some(limit) = &self.limit else { return (Batch::default(), Report::default(), Ok(())) };
        let Part { batch, report, unanswered, ended } = limit.bounded.whole(sheet);
        self.tell_unanswered(path, batch.len(), unanswered, ended.is_some());
        (batch, report, ended.unwrap_or(Ok(())))
    }

    /// The next piece of a directory.
    pub(super) fn take_next(&mut self, sheet: &Arc<Sheet>, batch: &mut Batch) -> Result<bool> {
        let Some(limit) = &mut self.limit else { return Ok(false) };
        let part = limit.bounded.next(sheet);
        let (entries, unanswered, ended) = &mut limit.stream;
        *entries += part.batch.len();
        *unanswered += part.unanswered;
        *ended |= part.ended.is_some();
        *batch = part.batch;
        self.note(&part.report);
        self.see(batch);
        match part.ended {
            Some(Err(errno)) => Err(errno),
            _ => Ok(!batch.is_empty()),
        }
    }

    /// What was missing from a directory that was shown piece by piece.
    pub(super) fn tell_unanswered_of_stream(&mut self, path: &CStr) {
        let Some(limit) = &mut self.limit else { return };
        let (entries, unanswered, ended) = core::mem::take(&mut limit.stream);
        self.tell_unanswered(path, entries, unanswered, ended);
    }

    fn tell_unanswered(&mut self, path: &CStr, entries: usize, unanswered: usize, ended: bool) {
        let Some(limit) = &self.limit else { return };
        let name = quote::quoteaf(path.to_bytes(), &self.plan.locale);
        let within = format!(" did not answer within {}", limit.text);
        if !ended {
            let told = format!(": only the first {} names are shown", grouped(entries));
            let message = Message::new(self.plan.program).text("reading directory ").text(&name);
            message.text(&within).text(&told).send(self.out);
            let errno = UNANSWERED.raw_os_error();
            self.renderer.fail(
                path.to_bytes(),
                errno,
                "did not answer in time: only the first names are here",
            );
            self.status.raise(Status::Minor);
        }
        if unanswered > 0 {
            let what = if entries == 1 { "entry" } else { "entries" };
            let count = format!("{} of {} {what} of ", grouped(unanswered), grouped(entries));
            let message = Message::new(self.plan.program).text(&count).text(&name);
            message.text(&within).text("; shown with '?'").send(self.out);
            self.status.raise(Status::Minor);
        }
    }

    pub(super) fn tell_late_operands(&mut self, batch: &Batch) {
        for entry in batch.iter() {
            match entry.fault() {
                Some((Asked::Stat, UNANSWERED)) => self.late(entry.name(), true, true),
                // Shown, but for a mark or a link's target.
                Some((_, UNANSWERED)) => self.late(entry.name(), false, true),
                _ => {}
            }
        }
    }

    /// A directory or operand that did not answer at all.
    pub(super) fn late(&mut self, path: &[u8], operand: bool, reached: bool) {
        self.status.raise(if operand { Status::Serious } else { Status::Minor });
        self.renderer.fail(path, UNANSWERED.raw_os_error(), "did not answer in time");
        let Some(limit) = &mut self.limit else { return };
        if !reached && !operand {
            limit.not_reached += 1;
            return;
        }
        let name = quote::quoteaf(path, &self.plan.locale);
        let within = format!(" did not answer within {}", limit.text);
        Message::new(self.plan.program).text(&name).text(&within).send(self.out);
    }

    /// How much of a tree is missing.
    pub(super) fn tell_not_reached(&mut self) {
        let Some(limit) = self.limit.as_ref().filter(|limit| limit.not_reached > 0) else { return };
        let directories = if limit.not_reached == 1 { "directory was" } else { "directories were" };
        let text = format!("{} {directories} not reached within {}", grouped(limit.not_reached), limit.text);
        Message::new(self.plan.program).text(&text).send(self.out);
    }
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: usize) -> String {
    let digits = format!("{number}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Nanoseconds in the unit that suits them: `2s`, `500ms`, `1.5s`.
fn duration(ns: u64) -> String {
    let ms = ns / 1_000_000;
    if ms < 1000 {
        return format!("{ms}ms");
    }
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (10_000, "10,000"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn durations() {
        let ms = 1_000_000;
        for (ns, text) in
            [(ms, "1ms"), (500 * ms, "500ms"), (1000 * ms, "1s"), (1500 * ms, "1.5s"), (90_000 * ms, "90s")]
        {
            assert_eq!(duration(ns), text);
        }
    }
}
