//! One run of a command.

use crate::records;
use arrow_array::RecordBatch;
use dents_commands::{Host, Message, Session, Status};
use std::ffi::OsString;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of messages that are kept. A tree that cannot be read may cause millions.
const MOST: usize = 1000;

/// A message of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The text that the program writes to standard error: names are quoted and escaped.
    pub text: String,
    /// The file or directory that a system call failed for, byte-exact.
    pub path: Option<Vec<u8>>,
    /// The error number of the call.
    pub errno: Option<i32>,
}

/// The reason why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit status that the program would have: 1 where something could not be read, 2 for wrong options, 130 if the run was stopped.
    pub status: u8,
    /// The last message, or all of them if the options are wrong.
    pub text: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Failure {}

/// The messages of a run that the caller has not taken yet.
#[derive(Default)]
struct Log {
    told: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    all: Vec<Told>,
    /// Messages that were not kept.
    lost: u64,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Teller(Arc<Log>);

impl Host for Teller {
    fn message(&self, message: &Message<'_>) {
        let mut kept = self.0.lock();
        if kept.all.len() == MOST {
            kept.lost += 1;
            return;
        }
        kept.all.push(Told {
            text: String::from_utf8_lossy(message.text).into_owned(),
            path: message.path.map(<[u8]>::to_vec),
            errno: message.errno,
        });
    }
}

/// One run of a command: starts it, stops it, holds its messages. A clone refers to the same run.
#[derive(Clone)]
pub struct Run {
    pub(crate) session: Arc<Session>,
    log: Arc<Log>,
}

impl Default for Run {
    fn default() -> Run {
        let log = Arc::new(Log::default());
        Run { session: Arc::new(Session::inside(Teller(Arc::clone(&log)))), log }
    }
}

impl Run {
    /// Stops the run, from any thread: its workers end after their present system calls.
    pub fn stop(&self) {
        self.session.stop();
    }

    /// The number of directories and of entries that the walk has found so far.
    #[must_use]
    pub fn seen(&self) -> [u64; 2] {
        self.session.seen()
    }

    /// Takes the messages since the last call, and the number of messages that were dropped: at most 1,000 are kept.
    #[must_use]
    pub fn messages(&self) -> (Vec<Told>, u64) {
        let kept = std::mem::take(&mut *self.log.lock());
        (kept.all, kept.lost)
    }

    /// The table of `du`, `top`, `count`, `stats` or `diff`, on this thread.
    ///
    /// # Errors
    /// Wrong options, a scan file that cannot be read, or the run was stopped. Entries that cannot be read are no failure: see [`messages`](Self::messages).
    pub fn table(&self, words: &[OsString]) -> Result<RecordBatch, Failure> {
        let (table, status) = dents_commands::table(words, &self.session);
        match table {
            Some(table) if status.0 < 128 => Ok(records::batch(table)),
            _ => Err(self.failure(status)),
        }
    }

    /// Runs a command that writes a file, such as `scan -o FILE`, on this thread. Returns whether everything could be read.
    ///
    /// # Errors
    /// Any exit status but 0 and 1.
    pub fn run(&self, words: &[OsString]) -> Result<bool, Failure> {
        match dents_commands::run(words, &self.session) {
            Status(0) => Ok(true),
            Status(1) => Ok(false),
            status => Err(self.failure(status)),
        }
    }

    /// Whether [`Run::run`] understands these words. Executes nothing.
    #[must_use]
    pub fn understands(words: &[OsString]) -> bool {
        dents_commands::is_run(words)
    }

    pub(crate) fn failure(&self, status: Status) -> Failure {
        let kept = self.log.lock();
        let last = kept.all.last().map(|told| told.text.clone());
        let text = last.unwrap_or_else(|| "the command ended without a result".to_owned());
        Failure { status: status.0, text }
    }
}
