//! Fills the metadata of a batch.
//!
//! Four strategies have one signature: *fill these slots for these names relative to this directory*.
//!
//! - `classic` (alone.rs) makes one request after another on the calling thread. It is the oracle in tests.
//! - `par` (workers.rs) shares the entries among workers, one for each core.
//! - `flight` (workers.rs) does the same with as many workers as pay off.
//! - `iou` (iou.rs) puts a bounded number of requests at once into an io_uring.
//!
//! [`choose`] is a pure function that chooses one. All make their requests through one `Asker` (ask.rs), so they can
//! differ in the order of requests and the number in flight, never in the requests.

pub(crate) mod alone;
pub(crate) mod ask;
mod directory;
mod iou;
mod marks;
pub(crate) mod operands;
pub mod request_counts;
mod resources;
mod workers;
mod xattrs;

#[cfg(test)]
mod tests;

pub use dents_engine::limit::{choose, policy};
pub use directory::{ReadOutcome, fill_read, read, read_more};
pub use operands::{Dereference, fill_operands};
pub use resources::{Asking, Mode, Resources, Threads, Workers};

use crate::batch::{Batch, Dent, Metas, Names, Texts};
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::ring::Rings;
use crate::watchdog::Watch;
use alloc::vec::Vec;
use choose::{Choice, Signals, Strategy};
use core::cell::OnceCell;
use dents_sys::statfs::{self, FsType};
use dents_sys::{BorrowedFd, CWD, Errno};
use policy::{Lists, Policy};
use request_counts::RequestCounter;
use workers::Entries;

/// The facts to request about entries, and the directory that names are relative to.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The directory the names are relative to.
    pub dir: BorrowedFd<'a>,
    /// The needs of each type.
    pub needs: &'a NeedsByKind,
    /// Whether symbolic links are followed.
    pub follow: bool,
    /// Whether a link's target is looked up by the link's text instead of following the link. On /proc the two differ: `fd/3 ->
    /// pipe:[41]` can be followed although that name does not exist.
    pub by_text: bool,
    /// What a list of attribute names costs and tells, as far as it is known.
    pub lists: Lists,
    /// Where the worker shows its requests.
    pub watch: Option<&'static Watch>,
    /// Whether stale cached values suffice (`AT_STATX_DONT_SYNC`).
    pub lazy: bool,
    /// Where to count requests.
    pub counter: Option<&'a RequestCounter>,
}

/// The result of a fill.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// System calls by kind.
    pub tally: Tally,
    /// The strategy and its reason. `None` if there was nothing to request.
    pub choice: Option<Choice>,
    /// The error of io_uring, if it was requested.
    pub refused: Option<Errno>,
}

/// System calls made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Entries of the batch.
    pub entries: u64,
    /// Entries with a failed request.
    pub faults: u64,
    /// `statx` of entries and of the targets of links.
    pub stats: u64,
    /// Entries without a request: name and `d_type` sufficed.
    pub avoided: u64,
    /// `readlinkat`.
    pub links: u64,
    /// Entries whose metadata was read in bulk.
    pub joined: u64,
    /// `listxattrat` and `getxattrat`; an entry whose attributes were requested through a ring counts as one.
    pub xattrs: u64,
}

impl core::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.entries += other.entries;
        self.faults += other.faults;
        self.stats += other.stats;
        self.avoided += other.avoided;
        self.links += other.links;
        self.joined += other.joined;
        self.xattrs += other.xattrs;
    }
}

/// A directory and its file system, which is looked up when first needed: two system calls, no request to a server.
pub(crate) struct ListedDir<'a> {
    dir: BorrowedFd<'a>,
    fs: OnceCell<Option<FsType>>,
}

impl<'a> ListedDir<'a> {
    /// `fs` is the file system, if it is known.
    pub(crate) fn new(dir: BorrowedFd<'a>, fs: Option<Option<FsType>>) -> Self {
        ListedDir { dir, fs: fs.map_or_else(OnceCell::new, OnceCell::from) }
    }

    fn fs(&self) -> Option<FsType> {
        *self.fs.get_or_init(|| statfs::of_mount(self.dir).ok())
    }

    /// [`Question::lists`], as far as it is known without a system call.
    pub(crate) fn lists(&self) -> Lists {
        self.fs.get().map(|fs| Policy::of(*fs).lists).unwrap_or_default()
    }

    fn policy(&self) -> &'static Policy {
        // Operands may be on any file system.
        if dir_is_cwd(self.dir) { Policy::of(None) } else { Policy::of(self.fs()) }
    }
}

/// The entries that need requests.
pub(crate) struct Todo<'a> {
    question: Question<'a>,
    dents: &'a [Dent],
    names: Names<'a>,
}

/// The results of a strategy beside the slots.
#[derive(Default)]
pub(crate) struct Harvest {
    /// The texts of each asker; slots hold their index.
    texts: Vec<Texts>,
    tally: Tally,
}

/// Fills the needs of every entry of the batch. Names are relative to `dir`.
///
/// Costs for each entry: nothing if its `d_type` suffices; else one `statx`, and only if needed `readlinkat` and a `statx` of the
/// target for a symbolic link, and `listxattrat` for marks. The error of an entry is stored in its slot.
pub fn fill(batch: &mut Batch, dir: BorrowedFd<'_>, asking: &Asking<'_>) -> Report {
    fill_on(batch, dir, None, asking)
}

/// Like [`fill`], where the file system may be known.
pub(crate) fn fill_on(
    batch: &mut Batch,
    dir: BorrowedFd<'_>,
    fs: Option<Option<FsType>>,
    asking: &Asking<'_>,
) -> Report {
    fill_at(batch, &ListedDir::new(dir, fs), asking)
}

/// Like [`fill`], on the calling thread, as in trees: with `follow`, symbolic links are followed, and a dangling link
/// is stat'ed itself. Before each entry it calls `go_on` with the number of requests made so far. If that returns
/// false, the remaining entries stay unknown.
pub fn fill_alone(
    batch: &mut Batch,
    dir: BorrowedFd<'_>,
    needs: &NeedsByKind,
    follow: bool,
    go_on: impl FnMut(u64) -> bool,
) {
    alone::fill(batch, (dir, Lists::default()), needs, (follow, None), (None, None), None, go_on);
}

fn fill_at(batch: &mut Batch, listed: &ListedDir<'_>, asking: &Asking<'_>) -> Report {
    let (dir, Asking { needs, follow, resources }) = (listed.dir, *asking);
    batch.declared = *needs;
    // If only inode numbers are needed, those of `readdir` may be enough.
    let trusting = trusts_readdir(needs, follow);
    let covered = resources.mounts.filter(|_| trusting).and_then(|mounts| mounts.below(dir, batch.len()));
    batch.trusts_d_ino = covered.is_some();
    let todo = batch.place_slots(|kind, name| match &covered {
        Some(covered) if kind != Kind::Unknown => covered.covers(name),
        _ => asks(needs, follow, kind),
    });
    let Batch { arena, dents, metas, .. } = batch;
    let asked = todo.as_deref().unwrap_or(dents);
    let avoided = (dents.len() - asked.len()) as u64;
    let mut tally = Tally { entries: dents.len() as u64, avoided, ..Tally::default() };
    if let Some(counter) = resources.counter {
        counter.note_directory(listed.fs(), dents.len());
    }
    if asked.is_empty() {
        return Report { tally, ..Report::default() };
    }
    let question = resources.question(listed, needs, follow, resolve_by_text(Some(asked), needs, listed));
    let names = Names { bytes: arena, from: 0 };
    let (harvest, mut report) = run(Todo { question, dents: asked, names }, metas, listed, resources);
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

/// Whether links are followed by their text: if the text is needed anyway, because then it costs nothing; and on a
/// file system with magic links, where it is the only way. The file system is looked up only if there is a link to
/// follow, or if not all names are known yet.
pub(crate) fn resolve_by_text(dents: Option<&[Dent]>, needs: &NeedsByKind, listed: &ListedDir<'_>) -> bool {
    let link = needs.get(Kind::Link);
    if !link.contains(Needs::TARGET) || link.contains(Needs::LINK) {
        return true;
    }
    let may_be_link = |dent: &Dent| matches!(dent.kind(), Kind::Link | Kind::Unknown);
    if dents.is_some_and(|dents| !dents.iter().any(may_be_link)) {
        return true;
    }
    // Operands may be on any file system.
    if dir_is_cwd(listed.dir) {
        return true;
    }
    listed.fs().is_none_or(|fs| fs == FsType::PROC)
}

fn dir_is_cwd(dir: BorrowedFd<'_>) -> bool {
    use dents_sys::AsRawFd;
    dir.as_raw_fd() == CWD.as_raw_fd()
}

/// Chooses a strategy, and runs it.
fn run(
    todo: Todo<'_>,
    metas: &mut Metas,
    listed: &ListedDir<'_>,
    resources: &Resources<'_>,
) -> (Harvest, Report) {
    let entries = todo.dents.len();
    metas.clear();
    let few = choose::choose(&Signals::few(entries.min(choose::PROBE_FROM - 1)));
    let asked = |strategy| Choice { strategy, reason: "as asked" };
    let par = || asked(Strategy::Par(resources.threads.count_for(entries)));
    let (mut harvest, mut report) = (Harvest::default(), Report::default());
    let share = |metas: &mut Metas, policy, choice| {
        let entries = Entries::Listed(todo.dents, todo.names);
        let (harvest, choice, _) =
            workers::fill(entries, None, todo.question, resources, (policy, choice), metas);
        (harvest, choice)
    };
    let choice = match resources.mode {
        Mode::Classic => {
            alone::classic(&todo, metas, &mut harvest);
            asked(Strategy::Classic)
        }
        // With a watch, stuck workers can be replaced.
        Mode::Auto if entries < choose::PROBE_FROM && todo.question.watch.is_none() => {
            alone::classic(&todo, metas, &mut harvest);
            few
        }
        Mode::Iou => {
            let own = Rings::default();
            let ring = (resources.rings.unwrap_or(&own), resources.threads.most_in_flight());
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
            let policy = (entries >= choose::PROBE_FROM).then(|| listed.policy());
            (harvest, choice) = share(metas, policy, few);
            choice
        }
    };
    report.choice = Some(choice);
    (harvest, report)
}
