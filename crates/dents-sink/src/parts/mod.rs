//! A scan in parts: many processes, on one or many machines, scan one tree and share only a directory.
//!
//! ```text
//!          ┌─────────────── directories left over ◄──────────────┐
//!          ▼                                                     │
//! plan ─► log/N ─► claims/ID ─► walk until the budget is used ─► left/ID.ATTEMPT, then ID.parquet
//! roots   a bundle of           one process                      the shard makes it count
//!         directories
//! ```
//!
//! | file | what | appears by |
//! |---|---|---|
//! | `plan` | the options that decide which rows there are, the roots, the start ([`Plan`]) | `link`, once |
//! | `log/N` | the claim of this number, from 1 on: a task, its directories, and what waits after it (`claim.rs`) | `link`, once |
//! | `claims/ID` | the claim of this task: the file of `log/N` | `link`, once |
//! | `left/ID.ATTEMPT` | the directories that one attempt of a task left over (`list.rs`) | written and synced before its shard |
//! | `ID.parquet` | the rows of a task; its metadata name the attempt that won | `link`, once |
//! | `waiting/ID`, `taken/ID` | hints where to look: the task may have left directories over; all of them were claimed | created, empty |
//! | `tmp/…`, `.ID.parquet.….part` | files without a final name; those of killed processes stay | |
//!
//! **Nothing is lost, nothing is there twice.** No file with a final name ever changes, and `link` gives each name to one process only,
//! also on NFS. Claims have consecutive numbers, and each says which directories wait after it. So two processes that claim at once
//! compete for one number, and the one that loses reads the claim of the other and tries the next. A task counts when its shard has its
//! name, which depends on the task alone; what it left over counts from then on. A process that dies before that has changed nothing, and
//! the task can be run again, also while the first process still runs: the second shard is dropped.
//!
//! **Other users.** All processes of a scan are those of one user, or of root: they believe what is in the directory, so nobody else may be
//! able to write to it (`../dir.rs`).
//!
//! **Memory.** Waiting directories are in files, about 20 bytes and a path each. A claim reads those that it takes and keeps none in
//! memory, but for a bundle that is walked.

mod attempt;
mod check;
mod claim;
mod files;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod list;
mod plan;
mod tasks;

pub use attempt::{Attempt, Committed};
pub use check::Verdict;
pub use claim::{Claim, Open};
pub use files::is_id;
pub use list::Directory;
pub use plan::{Plan, Trees};
pub use tasks::Task;

use crate::dir::{Dir, Named};
use crate::format::Extent;
use crate::message;
use crate::parquet;
use files::{Temporary, is_attempt, random, shard_name, written};
use std::io::{self, ErrorKind};
use std::path::Path;

const PLAN: &str = "plan";
const LOG: &str = "log";
const CLAIMS: &str = "claims";
const LEFT: &str = "left";
const WAITING: &str = "waiting";
const TAKEN: &str = "taken";
const TMP: &str = "tmp";

/// The directory of a scan in parts.
pub struct Parts {
    dir: Dir,
    log: Dir,
    claims: Dir,
    left: Dir,
    waiting: Dir,
    taken: Dir,
    tmp: Dir,
    plan: Plan,
}

/// The result of a committed task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Rows in its shard.
    pub entries: u64,
    /// Directories that it left over.
    pub left: u64,
    /// Partial if a root could not be opened or read.
    pub extent: Extent,
    /// The attempt that won.
    attempt: String,
    span: crate::scan_file::Span,
}

impl Parts {
    /// Makes the directory of a scan. If it is there already, with the same plan, nothing changes.
    ///
    /// # Errors
    /// With [`ErrorKind::InvalidInput`], if it has another plan; or if a file cannot be written.
    pub fn start(dir: &Path, plan: Plan) -> io::Result<Parts> {
        let made = Dir::make(dir).map_err(|error| message::cannot_write(dir, &error))?;
        let parts = Parts::with(made, plan, |dir, name| {
            dir.make_sub(name).map_err(|error| message::cannot_write(&dir.path().join(name), &error))
        })?;
        let temporary = parts.temporary(|file| parts.plan.write(file))?;
        if temporary.publish(&parts.dir.file(PLAN)?)? {
            return Ok(parts);
        }
        let there = Parts::open(dir)?;
        there.plan.check(&parts.plan, dir)?;
        Ok(there)
    }

    /// Opens the directory of a scan.
    ///
    /// # Errors
    /// If it has no plan, or one that cannot be read; or if other users may write to it.
    pub fn open(dir: &Path) -> io::Result<Parts> {
        let opened = Dir::open(dir).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => plan::no_scan(dir),
            _ => message::cannot_open(dir, &error),
        })?;
        let plan = Plan::read(opened.file(PLAN)?)?;
        Parts::with(opened, plan, |dir, name| {
            dir.sub(name).map_err(|error| message::cannot_open(&dir.path().join(name), &error))
        })
    }

    fn with(dir: Dir, plan: Plan, sub: impl Fn(&Dir, &str) -> io::Result<Dir>) -> io::Result<Parts> {
        let sub = |name| sub(&dir, name);
        let (log, claims, left) = (sub(LOG)?, sub(CLAIMS)?, sub(LEFT)?);
        let (waiting, taken, tmp) = (sub(WAITING)?, sub(TAKEN)?, sub(TMP)?);
        Ok(Parts { dir, log, claims, left, waiting, taken, tmp, plan })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Whether a task has a claim.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        // Opening the directory makes an NFS client ask for changes.
        let _ = self.dir.sub(CLAIMS);
        self.claims.file(id).is_ok_and(|claim| claim.exists())
    }

    /// The shard of a task.
    fn shard(&self, id: &str) -> io::Result<Named> {
        self.dir.file(shard_name(id))
    }

    /// The result of a task, if it is committed.
    ///
    /// # Errors
    /// If its shard cannot be read.
    pub fn done(&self, id: &str) -> io::Result<Option<Done>> {
        let shard = self.shard(id)?;
        if !shard.exists() {
            return Ok(None);
        }
        let path = shard.path();
        let parquet::Shard { part, rows, extent, span } = parquet::Shard::open(shard)?;
        let parsed = part.split_once(' ').and_then(|(attempt, left)| {
            let left = left.parse().ok()?;
            is_attempt(attempt).then(|| (attempt.to_string(), left))
        });
        let Some((attempt, left)) = parsed else {
            return Err(message::damaged(&path, "it does not tell what its task left over"));
        };
        Ok(Some(Done { entries: rows, left, extent: extent.unwrap_or(Extent::Partial), attempt, span }))
    }

    fn claim_file(&self, number: u64) -> io::Result<Named> {
        self.log.file(number.to_string())
    }

    /// Writes a file in `tmp`.
    fn temporary(&self, write: impl FnOnce(&Named) -> io::Result<()>) -> io::Result<Temporary> {
        let temporary = Temporary(self.tmp.file(random())?);
        write(&temporary.0).map_err(|error| written(&temporary.0, error))?;
        Ok(temporary)
    }
}
