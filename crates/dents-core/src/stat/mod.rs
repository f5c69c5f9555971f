//! Filling the metadata of a batch.
//!
//! One signature, four strategies: *fill these slots for these names relative to this directory*. `classic` (alone.rs)
//! asks one question after another on the calling thread and is the oracle; `par` shares the entries among workers
//! (workers.rs), `flight` too, as many at once as turns out to pay; `iou` puts a bounded number of questions at once into an
//! io_uring. [`choose`] is a pure function that chooses. All of them ask through one `Asker` (ask.rs), so they can differ in
//! order and number in flight, never in the questions.

pub(crate) mod alone;
pub(crate) mod ask;
mod directory;
mod iou;
pub mod ledger;
mod means;
pub(crate) mod operands;
mod workers;
mod xattrs;

#[cfg(test)]
mod tests;

pub use dents_engine::limit::{choose, policy};
pub use directory::{Progress, fill_read, read, read_more};
pub use means::{Asking, Means, Mode, Threads, Workers};
pub use operands::{Dereference, fill_operands};

use crate::batch::{Batch, Dent, Metas, Names, Texts};
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::ring::Rings;
use crate::watchdog::Watch;
use alloc::vec::Vec;
use choose::{Choice, Signals, Strategy};
use core::cell::OnceCell;
use dents_sys::statfs::{self, FsType};
use dents_sys::{BorrowedFd, CWD, Errno};
use ledger::Ledger;
use policy::Policy;
use workers::Entries;

/// What must be known of every entry, and relative to which directory.
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
    /// Where the worker shows what it asks.
    pub watch: Option<&'static Watch>,
    /// Whether what the kernel remembers of an entry will do, however old it is (`AT_STATX_DONT_SYNC`).
    pub lazy: bool,
    /// Where to note what was asked.
    pub ledger: Option<&'a Ledger>,
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
    /// `listxattrat` and `getxattrat`; an entry whose attributes a ring was asked for counts as one.
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

/// A directory, and the file system it is on, found out when first needed: two system calls, no request to a server.
pub(crate) struct Place<'a> {
    dir: BorrowedFd<'a>,
    fs: OnceCell<Option<FsType>>,
}

impl<'a> Place<'a> {
    /// `fs` is the file system, if it is known already.
    pub(crate) fn new(dir: BorrowedFd<'a>, fs: Option<Option<FsType>>) -> Self {
        Place { dir, fs: fs.map_or_else(OnceCell::new, OnceCell::from) }
    }

    fn fs(&self) -> Option<FsType> {
        *self.fs.get_or_init(|| statfs::of_mount(self.dir).ok())
    }

    fn policy(&self) -> &'static Policy {
        // Operands may lie anywhere.
        if dir_is_cwd(self.dir) { Policy::of(None) } else { Policy::of(self.fs()) }
    }
}

/// The entries to ask.
pub(crate) struct Todo<'a> {
    question: Question<'a>,
    dents: &'a [Dent],
    names: Names<'a>,
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
pub fn fill(batch: &mut Batch, dir: BorrowedFd<'_>, asking: &Asking<'_>) -> Report {
    fill_at(batch, &Place::new(dir, None), asking)
}

/// The same on the calling thread, as trees ask: with `follow` through symbolic links, of which one that leads nowhere is answered
/// for itself. Before each entry `go_on` is asked, with the number of requests made so far; where it says no, the rest
/// stays unknown.
pub fn fill_alone(
    batch: &mut Batch,
    dir: BorrowedFd<'_>,
    needs: &NeedsByKind,
    follow: bool,
    go_on: impl FnMut(u64) -> bool,
) {
    alone::fill(batch, dir, needs, (follow, None), (None, None), go_on);
}

fn fill_at(batch: &mut Batch, place: &Place<'_>, asking: &Asking<'_>) -> Report {
    let (dir, Asking { needs, follow, means }) = (place.dir, *asking);
    batch.declared = *needs;
    // Where all that is missing is the inode number, readdir may have told it.
    let trusting = trusts_readdir(needs, follow);
    let covered = means.mounts.filter(|_| trusting).and_then(|mounts| mounts.below(dir, batch.len()));
    batch.trusts_d_ino = covered.is_some();
    let todo = batch.place_slots(|kind, name| match &covered {
        Some(covered) if kind != Kind::Unknown => covered.covers(name),
        _ => asks(needs, follow, kind),
    });
    let Batch { arena, dents, metas, .. } = batch;
    let asked = todo.as_deref().unwrap_or(dents);
    let avoided = (dents.len() - asked.len()) as u64;
    let mut tally = Tally { entries: dents.len() as u64, avoided, ..Tally::default() };
    if let Some(ledger) = means.ledger {
        ledger.note_directory(place.fs(), dents.len());
    }
    if asked.is_empty() {
        return Report { tally, ..Report::default() };
    }
    let question = means.question(place, needs, follow, links_lie(Some(asked), needs, place));
    let names = Names { bytes: arena, from: 0 };
    let (harvest, mut report) = run(Todo { question, dents: asked, names }, metas, place, means);
    batch.texts = harvest.texts;
    tally += harvest.tally;
    batch.faulty = tally.faults > 0;
    report.tally = tally;
    report
}

pub(crate) fn asks(needs: &NeedsByKind, follow: bool, kind: Kind) -> bool {
    needs.asks(kind) || (follow && kind == Kind::Link && !needs.get(kind).is_empty())
}

fn trusts_readdir(needs: &NeedsByKind, follow: bool) -> bool {
    !follow && needs.any() == Needs::INODE | (needs.any() & Needs::TYPE)
}

/// Whether a link must be followed by its text: where that text is wanted anyhow, it costs nothing; on a
/// file system with magic links it is the only way (one look at the file system, only if there is a link to follow, or not all names
/// are known yet).
pub(crate) fn links_lie(dents: Option<&[Dent]>, needs: &NeedsByKind, place: &Place<'_>) -> bool {
    let link = needs.get(Kind::Link);
    if !link.contains(Needs::TARGET) || link.contains(Needs::LINK) {
        return true;
    }
    let may_be_link = |dent: &Dent| matches!(dent.kind(), Kind::Link | Kind::Unknown);
    if dents.is_some_and(|dents| !dents.iter().any(may_be_link)) {
        return true;
    }
    // Operands may lie anywhere.
    if dir_is_cwd(place.dir) {
        return true;
    }
    place.fs().is_none_or(|fs| fs == FsType::PROC)
}

fn dir_is_cwd(dir: BorrowedFd<'_>) -> bool {
    use dents_sys::AsRawFd;
    dir.as_raw_fd() == CWD.as_raw_fd()
}

/// Chooses, and runs what was chosen.
fn run(todo: Todo<'_>, metas: &mut Metas, place: &Place<'_>, means: &Means<'_>) -> (Harvest, Report) {
    let entries = todo.dents.len();
    metas.clear();
    let few = choose::choose(&Signals::few(entries.min(choose::PROBE_FROM - 1)));
    let asked = |strategy| Choice { strategy, reason: "as asked" };
    let par = || asked(Strategy::Par(means.threads.count_for(entries)));
    let (mut harvest, mut report) = (Harvest::default(), Report::default());
    let share = |metas: &mut Metas, policy, choice| {
        let entries = Entries::Listed(todo.dents, todo.names);
        let (harvest, choice, _) =
            workers::fill(entries, None, todo.question, means, (policy, choice), metas);
        (harvest, choice)
    };
    let choice = match means.mode {
        Mode::Classic => {
            alone::classic(&todo, metas, &mut harvest);
            asked(Strategy::Classic)
        }
        // Where there is a watch, stuck workers can be replaced.
        Mode::Auto if entries < choose::PROBE_FROM && todo.question.watch.is_none() => {
            alone::classic(&todo, metas, &mut harvest);
            few
        }
        Mode::Iou => {
            let own = Rings::default();
            let ring = (means.rings.unwrap_or(&own), means.threads.most_in_flight());
            if let Err(errno) = iou::fill(&todo, metas, &mut harvest, ring) {
                report.refused = Some(errno);
                metas.clear();
                harvest = share(metas, None, par()).0;
            }
            asked(Strategy::Iou)
        }
        Mode::Par => {
            let choice;
            (harvest, choice) = share(metas, None, par());
            choice
        }
        Mode::Auto => {
            let choice;
            let policy = (entries >= choose::PROBE_FROM).then(|| place.policy());
            (harvest, choice) = share(metas, policy, few);
            choice
        }
    };
    report.choice = Some(choice);
    (harvest, report)
}
