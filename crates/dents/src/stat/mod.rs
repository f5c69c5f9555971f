//! Filling the metadata of a batch.
//!
//! One signature, four strategies: *fill these slots for these names relative to this directory*. `classic`
//! asks one question after another and is the oracle; `par` deals the entries out to threads; `iou` keeps a
//! bounded number of `statx` in flight in an io_uring; `auto` is a pure function that chooses. All of them
//! ask through one `Asker` (ask.rs), so they can differ in order and number in flight, never in what is asked.

mod ask;
pub mod auto;
mod classic;
mod iou;
mod operands;
mod par;
pub(crate) mod steady;
mod xattrs;

#[cfg(test)]
mod tests;

pub use operands::{Dereference, fill_operands};

use crate::batch::{Batch, Dent, Meta, Texts};
use crate::mounts::Mounts;
use crate::needs::{Kind, Needs, NeedsByKind};
use alloc::vec::Vec;
use auto::{Choice, Signals, Strategy};
use dents_sys::statfs::{self, FsType};
use dents_sys::{BorrowedFd, CWD, Errno, sched};

/// What is asked of every entry, and relative to which directory.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The directory the names are relative to.
    pub dir: BorrowedFd<'a>,
    /// What must be known, by type.
    pub needs: &'a NeedsByKind,
    /// Whether a symbolic link stands for what it leads to.
    pub follow: bool,
    /// Whether a link's target is found by the link's text instead of through the link. On /proc the two
    /// differ: `fd/3 -> pipe:[41]` leads somewhere though no such name exists.
    pub by_text: bool,
}

/// Threads, from whoever has them: the core itself starts none.
pub trait Workers: Sync {
    /// Runs `job(0)` on the calling thread and `job(1)`, `job(2)` … `job(workers - 1)` on others, and returns when
    /// all have ended. A thread that cannot be started is left out; `job(0)` always runs.
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync));

    /// Whether the threads share one descriptor table. If they do, every call that takes the directory's
    /// descriptor also writes to its reference count, and a worker does better with one of its own.
    fn share_descriptors(&self) -> bool {
        true
    }
}

/// How to go about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One thread, one question at a time.
    Classic,
    /// Threads.
    Par,
    /// io_uring.
    Iou,
    /// Whichever suits.
    #[default]
    Auto,
}

/// What a fill was given to work with.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// The strategy asked for.
    pub mode: Mode,
    /// Number of threads; `None` for as many as the process may use cores.
    pub threads: Option<usize>,
    /// Who starts them.
    pub workers: &'a dyn Workers,
    /// Where `readdir` cannot be believed about inode numbers. Without it, it is nowhere believed.
    pub mounts: Option<&'a Mounts>,
}

/// What a fill did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// System calls by kind.
    pub tally: Tally,
    /// The strategy taken, and why. `None` if there was nothing to ask.
    pub choice: Option<Choice>,
    /// Why io_uring was refused, if it was asked for.
    pub refused: Option<Errno>,
}

/// System calls made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Entries of the batch.
    pub entries: u64,
    /// Entries about which a question failed.
    pub faults: u64,
    /// `statx` of entries and of the targets of links.
    pub stats: u64,
    /// Entries that needed none: name and `d_type` answered.
    pub avoided: u64,
    /// `readlinkat`.
    pub links: u64,
    /// `listxattrat` and `getxattrat`.
    pub xattrs: u64,
}

impl core::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.entries += other.entries;
        self.faults += other.faults;
        self.stats += other.stats;
        self.avoided += other.avoided;
        self.links += other.links;
        self.xattrs += other.xattrs;
    }
}

/// The entries to ask and the slots for the answers, side by side.
pub(crate) struct Todo<'a> {
    question: Question<'a>,
    arena: &'a [u8],
    dents: &'a [Dent],
    metas: &'a mut [Meta],
}

impl<'a> Todo<'a> {
    /// Takes the first `count` entries off.
    fn split_front(&mut self, count: usize) -> Todo<'a> {
        let (dents, rest) = self.dents.split_at(count);
        self.dents = rest;
        let (metas, rest) = core::mem::take(&mut self.metas).split_at_mut(count);
        self.metas = rest;
        Todo { question: self.question, arena: self.arena, dents, metas }
    }
}

/// What a strategy brings home beside the filled slots.
#[derive(Default)]
pub(crate) struct Harvest {
    /// The texts of each asker; slots name them by position.
    texts: Vec<Texts>,
    tally: Tally,
}

/// Answers `needs` for every entry of the batch, relative to `dir`.
///
/// Costs, for each entry: nothing if its `d_type` answers; else one `statx`, with `readlinkat` and a `statx` of
/// the target for a symbolic link and `listxattrat` for marks, each only if needed. Failures of an entry
/// stay in its slot.
pub fn fill(
    batch: &mut Batch,
    dir: BorrowedFd<'_>,
    needs: &NeedsByKind,
    follow: bool,
    means: &Means<'_>,
) -> Report {
    batch.declared = *needs;
    let asks = |kind| needs.asks(kind) || (follow && kind == Kind::Link && !needs.get(kind).is_empty());
    // Where all that is missing is the inode number, readdir may have told it.
    let trusting = !follow && needs.any() == Needs::INODE | (needs.any() & Needs::TYPE);
    let covered = means.mounts.filter(|_| trusting).and_then(|mounts| mounts.below(dir, batch.len()));
    batch.trusts_d_ino = covered.is_some();
    let todo = batch.make_slots(|kind, name| match &covered {
        Some(covered) if kind != Kind::Unknown => covered.covers(name),
        _ => asks(kind),
    });
    let Batch { arena, dents, metas, .. } = batch;
    let asked = todo.as_deref().unwrap_or(dents);
    let avoided = (dents.len() - asked.len()) as u64;
    let mut tally = Tally { entries: dents.len() as u64, avoided, ..Tally::default() };
    if asked.is_empty() {
        return Report { tally, ..Report::default() };
    }
    let question = Question { dir, needs, follow, by_text: links_lie(asked, needs, dir) };
    let (harvest, mut report) = run(Todo { question, arena, dents: asked, metas }, means);
    batch.texts = harvest.texts;
    tally += harvest.tally;
    batch.faulty = tally.faults > 0;
    report.tally = tally;
    report
}

/// Whether a link must be followed by its text: where that text is wanted anyhow, it costs nothing; on a
/// file system with magic links it is the only way (one `fstatfs`, only if there is a link to follow).
fn links_lie(dents: &[Dent], needs: &NeedsByKind, dir: BorrowedFd<'_>) -> bool {
    let link = needs.get(Kind::Link);
    if !link.contains(Needs::TARGET) || link.contains(Needs::LINK) {
        return true;
    }
    if !dents.iter().any(|dent| matches!(dent.kind(), Kind::Link | Kind::Unknown)) {
        return true;
    }
    // Operands may lie anywhere.
    if dir_is_cwd(dir) {
        return true;
    }
    statfs::fstatfs(dir).map_or(true, |fs| fs == FsType::PROC)
}

fn dir_is_cwd(dir: BorrowedFd<'_>) -> bool {
    use dents_sys::AsRawFd;
    dir.as_raw_fd() == CWD.as_raw_fd()
}

/// Chooses, and runs what was chosen.
fn run(mut todo: Todo<'_>, means: &Means<'_>) -> (Harvest, Report) {
    let cores = || means.threads.unwrap_or_else(sched::available_cores);
    let mut harvest = Harvest::default();
    let choice = match means.mode {
        Mode::Classic => Choice { strategy: Strategy::Classic, reason: "as asked" },
        Mode::Par => Choice { strategy: Strategy::Par(cores()), reason: "as asked" },
        Mode::Iou => Choice { strategy: Strategy::Iou, reason: "as asked" },
        Mode::Auto if todo.dents.len() < auto::PROBE_FROM => auto::choose(&Signals::few(todo.dents.len())),
        Mode::Auto => {
            let entries = todo.dents.len();
            let mut probe = todo.split_front(auto::PROBE);
            let started = dents_sys::clock::monotonic_ns();
            classic::fill(&mut probe, &mut harvest);
            let latency_ns = (dents_sys::clock::monotonic_ns() - started) / auto::PROBE as u64;
            auto::choose(&Signals { entries, cores: cores(), fixed: means.threads, latency_ns })
        }
    };
    let mut report = Report { choice: Some(choice), ..Report::default() };
    match choice.strategy {
        Strategy::Classic => classic::fill(&mut todo, &mut harvest),
        Strategy::Par(threads) => par::fill(todo, &mut harvest, threads, means.workers),
        Strategy::Iou => match iou::fill(&mut todo, &mut harvest) {
            Ok(()) => {}
            Err(errno) => {
                report.refused = Some(errno);
                harvest = Harvest::default();
                par::fill(todo, &mut harvest, cores(), means.workers);
            }
        },
    }
    (harvest, report)
}
