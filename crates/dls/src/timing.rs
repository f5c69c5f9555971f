//! `--timing`: the time that each stage took, and the numbers of system calls.

use crate::output::Output;
use crate::progress::Progress;
use alloc::string::String;
use core::cell::Cell;
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

/// A stopwatch that is always in one phase. If it is off, it reads no clock and counts nothing.
///
/// All stages share it, so its state is in cells. No stage reads it: what a listing shows does not depend on it.
pub(crate) struct Timing {
    clock: Option<fn() -> u64>,
    /// The line of progress, which must know when the lister waits for the kernel.
    progress: Option<&'static Progress>,
    started: u64,
    spent: Cell<[u64; PHASES.len()]>,
    phase: Cell<Option<Phase>>,
    since: Cell<u64>,
    requests: Cell<Requests>,
}

/// The counts of all fills.
#[derive(Clone, Copy, Default)]
struct Requests {
    tally: Tally,
    /// The strategy of the largest fill.
    choice: Option<Choice>,
    strategies: u32,
}

impl Timing {
    /// A stopwatch that is off.
    #[must_use]
    pub(crate) fn off(progress: Option<&'static Progress>) -> Timing {
        Timing {
            clock: None,
            progress,
            started: 0,
            spent: Cell::default(),
            phase: Cell::default(),
            since: Cell::default(),
            requests: Cell::default(),
        }
    }

    /// A stopwatch that reads nanoseconds from `clock`.
    #[must_use]
    pub(crate) fn on(clock: fn() -> u64, progress: Option<&'static Progress>) -> Timing {
        let now = clock();
        Timing { clock: Some(clock), since: Cell::new(now), started: now, ..Timing::off(progress) }
    }

    /// Begins a phase; a phase may begin again.
    pub(crate) fn enter(&self, phase: Phase) {
        if let Some(progress) = self.progress {
            progress.set_waiting(matches!(phase, Phase::Read | Phase::Stat | Phase::Owners));
        }
        let Some(clock) = self.clock else { return };
        if self.phase.get() != Some(phase) {
            self.close(clock());
            self.phase.set(Some(phase));
        }
    }

    fn close(&self, now: u64) {
        if let Some(phase) = self.phase.get() {
            let mut spent = self.spent.get();
            spent[phase as usize] += now - self.since.get();
            self.spent.set(spent);
        }
        self.since.set(now);
    }

    /// Adds the counts of a fill. The strategy of the largest fill is reported.
    pub(crate) fn note(&self, report: &Report) {
        if self.clock.is_none() {
            return;
        }
        let entries = |tally: &Tally| tally.stats + tally.avoided;
        let mut all = self.requests.get();
        if report.choice.is_some() {
            all.strategies += 1;
            if all.choice.is_none()
                || entries(&report.tally) > entries(&all.tally) / u64::from(all.strategies)
            {
                all.choice = report.choice;
            }
        }
        all.tally += report.tally;
        self.requests.set(all);
    }

    /// The strategy of the largest fill.
    pub(crate) fn choice(&self) -> Option<Choice> {
        self.requests.get().choice
    }

    /// Nanoseconds since the beginning, and the part of them that was spent on requests.
    pub(crate) fn elapsed(&self) -> (u64, u64) {
        let Some(clock) = self.clock else { return (0, 0) };
        let now = clock();
        self.close(now);
        (now - self.started, self.spent.get()[Phase::Stat as usize])
    }

    /// Writes the table to stderr. `lazy`: cached values were accepted.
    pub(crate) fn report(&self, lazy: bool, out: &mut Output<'_>) {
        let Some(clock) = self.clock else { return };
        let now = clock();
        self.close(now);
        out.message(self.table(out.written_ns(), now - self.started, lazy).as_bytes());
    }

    fn table(&self, written: u64, total: u64, lazy: bool) -> String {
        let mut text = String::new();
        let mut spent = self.spent.get();
        // The buffer may be written while lines are rendered: this time is not the renderer's.
        let render = &mut spent[Phase::Render as usize];
        *render = render.saturating_sub(written);
        let rows = PHASES.iter().map(|(phase, name)| (*name, spent[*phase as usize]));
        for (name, ns) in rows.chain([("write", written), ("total", total)]) {
            let us = ns / 1_000;
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name:<9}{:>7}.{:03} ms", us / 1_000, us % 1_000);
        }
        let Requests { tally, choice, .. } = self.requests.get();
        let Tally { stats, avoided, links, xattrs, .. } = tally;
        let _ = writeln!(text, "entries  {:>7}", tally.entries);
        let _ = writeln!(text, "stats    {stats:>7} made, {avoided} avoided");
        let _ = writeln!(text, "also     {links:>7} readlinkat, {xattrs} listxattrat");
        if lazy && stats > 0 {
            let _ = writeln!(text, "lazy     values may be stale: what was remembered of a file did");
        }
        let _ = match choice {
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
