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
mod question;
pub mod request_counts;
mod resources;
mod workers;
mod xattrs;

#[cfg(test)]
mod tests;

pub use dents_engine::limit::{choose, policy};
pub use directory::{ReadOutcome, fill_read, read, read_more};
pub use operands::{Dereference, fill_operands};
pub(crate) use question::{Harvest, ListedDir, asks, resolve_by_text};
pub use question::{Question, Report, Tally};
pub use resources::{Asking, Mode, Resources, Threads, Workers};

use crate::batch::{Batch, Metas, Names};
use crate::needs::{Kind, NeedsByKind};
use crate::ring::Rings;
use choose::{Choice, Signals, Strategy};
use dents_sys::BorrowedFd;
use dents_sys::statfs::FsType;
use policy::Lists;
use question::{Todo, trusts_readdir};
use workers::Entries;

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
