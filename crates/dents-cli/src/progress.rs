//! The line of progress on a terminal, drawn by a thread of its own: no worker waits for the terminal.

use crate::stderr::{self, say};
use dents_commands::message;
use dents_commands::session::{Counters, Progress};
use dents_render::quantity::grouped;
use dents_render::quote::{Quoter, Quoting};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Without --progress the line appears after this time.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line is drawn on a terminal.
const FRAME: Duration = Duration::from_millis(100);
/// How often a line is written if standard error is not a terminal; tests set another number of milliseconds in [`REPORT_MS`].
const REPORT: Duration = Duration::from_secs(10);
const REPORT_MS: &str = "DENTS_TEST_PROGRESS_MS";

/// The line of progress. It is shown until this is dropped.
pub(crate) struct Line {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// The state of the line, for its thread.
#[derive(Default)]
struct Shared {
    counters: Counters,
    done: Mutex<bool>,
    woken: Condvar,
}

impl Line {
    /// Shows progress at once if `asked`; otherwise after a second, if standard error is a terminal and the output goes elsewhere. If
    /// `asked` and standard error is not a terminal, a line is written every [`REPORT`].
    pub(crate) fn start(asked: bool, output_is_elsewhere: bool) -> Option<Line> {
        let terminal = std::io::stderr().is_terminal();
        if !(asked || terminal && output_is_elsewhere) {
            return None;
        }
        let shared = Arc::new(Shared::default());
        let shown = Arc::clone(&shared);
        let patience = if asked { Duration::ZERO } else { PATIENCE };
        let watch = move || shown.show(patience, terminal);
        // If no thread can be started, no progress is shown.
        let thread = std::thread::Builder::new().spawn(watch).ok();
        Some(Line { shared, thread })
    }
}

impl Progress for Line {
    fn counters(&self) -> &Counters {
        &self.shared.counters
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        *unpoisoned(&self.shared.done) = true;
        self.shared.woken.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn show(&self, patience: Duration, terminal: bool) {
        let started = Instant::now();
        if self.waits(patience) {
            return;
        }
        if !terminal {
            let report = report_interval();
            while !self.waits(report) {
                say(self.figures(started).as_bytes());
            }
            return;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}  {wide_msg}") {
            bar.set_style(style);
        }
        stderr::put_below(Some(bar.clone()));
        let quoter = Quoter::new(Quoting::Escape, message::locale(), false, b"").and_invisible();
        let mut path = Vec::new();
        loop {
            bar.set_prefix(self.figures(started));
            path.clear();
            quoter.write(&self.counters.path(), &mut path);
            bar.set_message(String::from_utf8_lossy(&path).into_owned());
            bar.tick();
            if self.waits(FRAME) {
                break;
            }
        }
        stderr::put_below(None);
        bar.finish_and_clear();
    }

    /// Waits for this time. Returns true if the work is done.
    fn waits(&self, time: Duration) -> bool {
        let done = unpoisoned(&self.done);
        match self.woken.wait_timeout_while(done, time, |done| !*done) {
            Ok((done, _)) => *done,
            Err(poisoned) => *poisoned.into_inner().0,
        }
    }

    fn figures(&self, started: Instant) -> String {
        let [directories, entries] = self.counters.seen();
        let rate = grouped((entries as f64 / started.elapsed().as_secs_f64().max(0.001)) as u64);
        let directories = message::counted(directories, "directory", "directories");
        let entries = message::counted(entries, "entry", "entries");
        format!("{directories}, {entries}, {rate}/s")
    }
}

fn report_interval() -> Duration {
    let milliseconds = std::env::var(REPORT_MS).ok().and_then(|text| text.parse().ok());
    milliseconds.map_or(REPORT, Duration::from_millis)
}

/// Locks the mutex, even after a panic: figures and paths are valid at any time.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_ends_the_thread() {
        let progress = Line::start(true, true).expect("asked for");
        assert!(!progress.shared.waits(Duration::ZERO));
        let started = Instant::now();
        drop(progress);
        assert!(started.elapsed() < Duration::from_secs(1));
    }
}
