//! `--timing`: the time that each stage took, and the numbers of system calls.

use crate::output::Output;
use crate::progress::Progress;
use alloc::string::String;
use core::fmt::Write as _;
use dents_core::stat::choose::{Choice, Strategy};
use dents_core::stat::{Report, Tally};

/// A stage of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Opening directories, `getdents64`, parsing.
    Read,
    /// `statx`, `readlinkat`, `listxattrat`.
    Stat,
    /// Ids to names.
    Owners,
    /// The permutation.
    Sort,
    /// From entries to bytes, without the writing.
    Render,
}

const PHASES: [(Phase, &str); 5] = [
    (Phase::Read, "read"),
    (Phase::Stat, "stat"),
    (Phase::Owners, "owners"),
    (Phase::Sort, "sort"),
    (Phase::Render, "render"),
];

/// A stopwatch that is always in one phase. If it is off, it reads no clock.
pub(crate) struct Timing {
    clock: Option<fn() -> u64>,
    /// The line of progress, which must know when the lister waits for the kernel.
    progress: Option<&'static Progress>,
    spent: [u64; PHASES.len()],
    phase: Option<Phase>,
    since: u64,
    started: u64,
    tally: Tally,
    choice: Option<Choice>,
    strategies: u32,
    /// Whether cached values are accepted (`--lazy`).
    pub(crate) lazy: bool,
}

impl Timing {
    /// A stopwatch that is off.
    #[must_use]
    pub(crate) fn off(progress: Option<&'static Progress>) -> Timing {
        Timing {
            clock: None,
            progress,
            spent: [0; PHASES.len()],
            phase: None,
            since: 0,
            started: 0,
            tally: Tally::default(),
            choice: None,
            strategies: 0,
            lazy: false,
        }
    }

    /// A stopwatch that reads nanoseconds from `clock`.
    #[must_use]
    pub(crate) fn on(clock: fn() -> u64, progress: Option<&'static Progress>) -> Timing {
        let now = clock();
        Timing { clock: Some(clock), since: now, started: now, ..Timing::off(progress) }
    }

    /// Begins a phase; a phase may begin again.
    pub(crate) fn enter(&mut self, phase: Phase) {
        if let Some(progress) = self.progress {
            progress.set_waiting(matches!(phase, Phase::Read | Phase::Stat | Phase::Owners));
        }
        let Some(clock) = self.clock else { return };
        if self.phase != Some(phase) {
            self.close(clock());
            self.phase = Some(phase);
        }
    }

    fn close(&mut self, now: u64) {
        if let Some(phase) = self.phase {
            self.spent[phase as usize] += now - self.since;
        }
        self.since = now;
    }

    /// Adds the counts of a fill. The strategy of the largest fill is reported.
    pub(crate) fn note(&mut self, report: &Report) {
        let entries = |tally: &Tally| tally.stats + tally.avoided;
        if report.choice.is_some() {
            self.strategies += 1;
            if self.choice.is_none()
                || entries(&report.tally) > entries(&self.tally) / u64::from(self.strategies)
            {
                self.choice = report.choice;
            }
        }
        self.tally += report.tally;
    }

    /// The strategy of the largest fill.
    pub(crate) fn choice(&self) -> Option<Choice> {
        self.choice
    }

    /// Nanoseconds since the beginning, and the part of them that was spent on requests.
    pub(crate) fn elapsed(&mut self) -> (u64, u64) {
        let Some(clock) = self.clock else { return (0, 0) };
        let now = clock();
        self.close(now);
        (now - self.started, self.spent[Phase::Stat as usize])
    }

    /// Writes the table to stderr.
    pub(crate) fn report(&mut self, out: &mut Output<'_>) {
        let Some(clock) = self.clock else { return };
        let now = clock();
        self.close(now);
        let written = out.written_ns();
        // The buffer may be written while lines are rendered: this time is not the renderer's.
        let render = &mut self.spent[Phase::Render as usize];
        *render = render.saturating_sub(written);
        out.message(self.table(written, now - self.started).as_bytes());
    }

    fn table(&self, written: u64, total: u64) -> String {
        let mut text = String::new();
        let rows = PHASES.iter().map(|(phase, name)| (*name, self.spent[*phase as usize]));
        for (name, ns) in rows.chain([("write", written), ("total", total)]) {
            let us = ns / 1_000;
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name:<9}{:>7}.{:03} ms", us / 1_000, us % 1_000);
        }
        let Tally { stats, avoided, links, xattrs, .. } = self.tally;
        let _ = writeln!(text, "entries  {:>7}", self.tally.entries);
        let _ = writeln!(text, "stats    {stats:>7} made, {avoided} avoided");
        let _ = writeln!(text, "also     {links:>7} readlinkat, {xattrs} listxattrat");
        if self.lazy && stats > 0 {
            let _ = writeln!(text, "lazy     values may be stale: what was remembered of a file did");
        }
        let _ = match self.choice {
            None => writeln!(text, "strategy none: names and types are enough"),
            Some(choice) => {
                let _ = match choice.strategy {
                    Strategy::Classic => write!(text, "strategy classic"),
                    Strategy::Par(threads) => write!(text, "strategy par, {threads} threads"),
                    Strategy::Flight(most) => write!(text, "strategy par, up to {most} in flight"),
                    Strategy::Iou => write!(text, "strategy iou"),
                };
                writeln!(text, ": {}", choice.reason)
            }
        };
        text
    }
}
