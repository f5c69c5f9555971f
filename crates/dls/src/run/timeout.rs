//! `--timeout`: starts the agent, which makes the requests until the deadline, and reports what did not answer.

use super::Listing;
use super::directory::Origin;
use crate::message::Message;
use crate::status::Status;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::ffi::CStr;
use dents_core::batch::{Asked, Batch};
use dents_core::deadline::{Board, Deadline, Part, UNANSWERED, Wanted};
use dents_core::stat::Report;
use dents_render::quantity::grouped;
use dents_render::quote;
use dents_sys::{Errno, Result, clock};

/// The deadline, and how much has been missed so far.
pub(super) struct Timeout {
    pub(super) deadline: Deadline,
    /// The time as the user wrote it: `2s`.
    text: String,
    /// The number of directories that no worker had begun to open.
    not_reached: usize,
    /// The directory that is streamed: its entries, the unanswered ones, and whether it was read to its end.
    stream: (usize, usize, bool),
}

impl Listing<'_, '_, '_> {
    /// If there is a timeout, the agent makes all requests from here on.
    pub(super) fn set_timeout(&mut self) {
        let Some(timeout_ns) = self.plan.timeout_ns else { return };
        let plan = self.plan;
        let wanted = Wanted {
            needs: plan.needs,
            operand_needs: plan.operand_needs,
            dereference: plan.dereference,
            filter: plan.filter.clone(),
            lists_operands: !plan.directory,
            recursive: plan.recursive || plan.hierarchy.tree.is_some_and(|depth| depth > 1),
            lazy: plan.lazy,
            watch: self.resources.threads.watching(),
            explains: plan.explain.is_some(),
            policy: None,
        };
        let until_ns = clock::monotonic_ns() + timeout_ns;
        let started = (self.system.agent)().ok_or(Errno::NOSYS).and_then(|agent| {
            Deadline::start(agent, wanted, (until_ns, timeout_ns / 10), (plan.threads, plan.in_flight))
        });
        match started {
            Ok(deadline) => {
                let text = duration(timeout_ns);
                self.timeout = Some(Timeout { deadline, text, not_reached: 0, stream: (0, 0, false) });
            }
            Err(errno) => Message::new(plan.program)
                .text("cannot start a process to ask from, going on without a timeout")
                .errno(errno)
                .send(self.out),
        }
    }

    /// All entries of a directory, with the answers so far.
    pub(super) fn take_whole(&mut self, board: &Arc<Board>, path: &CStr) -> (Batch, Report, Result<()>) {
        let Some(timeout) = &self.timeout else { return (Batch::default(), Report::default(), Ok(())) };
        let Part { batch, report, unanswered, ended } = timeout.deadline.whole(board);
        self.tell_unanswered(path, batch.len(), unanswered, ended.is_some());
        (batch, report, ended.unwrap_or(Ok(())))
    }

    /// The next entries of a directory.
    pub(super) fn take_next(&mut self, board: &Arc<Board>, batch: &mut Batch) -> Result<bool> {
        let Some(timeout) = &mut self.timeout else { return Ok(false) };
        let part = timeout.deadline.next(board);
        let (entries, unanswered, ended) = &mut timeout.stream;
        *entries += part.batch.len();
        *unanswered += part.unanswered;
        *ended |= part.ended.is_some();
        *batch = part.batch;
        self.take_report(&part.report);
        self.count_entries(batch);
        match part.ended {
            Some(Err(errno)) => Err(errno),
            _ => Ok(!batch.is_empty()),
        }
    }

    /// Reports what is missing of a streamed directory.
    pub(super) fn tell_unanswered_of_stream(&mut self, path: &CStr) {
        let Some(timeout) = &mut self.timeout else { return };
        let (entries, unanswered, ended) = core::mem::take(&mut timeout.stream);
        self.tell_unanswered(path, entries, unanswered, ended);
    }

    fn tell_unanswered(&mut self, path: &CStr, entries: usize, unanswered: usize, ended: bool) {
        let Some(timeout) = &self.timeout else { return };
        let name = quote::quoteaf(path.to_bytes(), &self.plan.locale);
        let within = format!(" did not answer within {}", timeout.text);
        if !ended {
            let told = format!(": only the first {} names are shown", grouped(entries as u64));
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
            let count = format!("{} of {} {what} of ", grouped(unanswered as u64), grouped(entries as u64));
            let message = Message::new(self.plan.program).text(&count).text(&name);
            message.text(&within).text("; shown with '?'").send(self.out);
            self.status.raise(Status::Minor);
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
    }

    /// Reports a directory or operand that did not answer at all.
    pub(super) fn late(&mut self, path: &[u8], origin: Origin, reached: bool) {
        self.status.raise(origin.status());
        self.renderer.fail(path, UNANSWERED.raw_os_error(), "did not answer in time");
        let Some(timeout) = &mut self.timeout else { return };
        if !reached && origin == Origin::Below {
            timeout.not_reached += 1;
            return;
        }
        let name = quote::quoteaf(path, &self.plan.locale);
        let within = format!(" did not answer within {}", timeout.text);
        Message::new(self.plan.program).text(&name).text(&within).send(self.out);
    }

    /// Reports how much of a hierarchy is missing.
    pub(super) fn tell_not_reached(&mut self) {
        let Some(timeout) = self.timeout.as_ref().filter(|timeout| timeout.not_reached > 0) else { return };
        let directories = if timeout.not_reached == 1 { "directory was" } else { "directories were" };
        let text = format!(
            "{} {directories} not reached within {}",
            grouped(timeout.not_reached as u64),
            timeout.text
        );
        Message::new(self.plan.program).text(&text).send(self.out);
    }
}

/// Nanoseconds in a suitable unit: `2s`, `500ms`, `1.5s`.
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
    fn durations() {
        let ms = 1_000_000;
        for (ns, text) in
            [(ms, "1ms"), (500 * ms, "500ms"), (1000 * ms, "1s"), (1500 * ms, "1.5s"), (90_000 * ms, "90s")]
        {
            assert_eq!(duration(ns), text);
        }
    }
}
