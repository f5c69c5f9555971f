//! Requests on the calling thread, one after the other: the oracle of the other strategies, and the strategy of trees.

use super::ask::Asker;
use super::question::{Harvest, Question, Tally, Todo, asks};
use super::request_counts::RequestCounter;
use crate::batch::{Batch, Dent, Metas, Names};
use crate::bulk::Bulk;
use crate::needs::{Kind, NeedsByKind};
use crate::watchdog::Watch;
use dents_engine::limit::policy::Lists;
use dents_sys::BorrowedFd;

pub(super) fn classic(todo: &Todo<'_>, metas: &mut Metas, harvest: &mut Harvest) {
    let mut asker = Asker::new(todo.question, harvest.texts.len());
    ask(&mut asker, todo.dents, todo.names, metas, |_| true);
    asker.merge_into(harvest);
}

/// Fills the batch. Before each entry it calls `go_on` with the number of requests made so far; after false the remaining entries
/// stay unknown, and the second result is false.
///
/// `selected` limits the requests to these entries, and to those that may be directories. With `follow`, a link that leads nowhere
/// is answered for itself. The requests are counted by the counter and shown at the worker's seat of the watch, if given. Metadata that
/// `bulk` has costs no request. `lists` is that of the file system, if it is known.
pub(crate) fn fill(
    batch: &mut Batch,
    (dir, lists): (BorrowedFd<'_>, Lists),
    needs: &NeedsByKind,
    (follow, selected): (bool, Option<&[bool]>),
    (counter, watch): (Option<&RequestCounter>, Option<(&'static Watch, usize)>),
    bulk: Option<&Bulk>,
    mut go_on: impl FnMut(u64) -> bool,
) -> (Tally, bool) {
    batch.declared = *needs;
    batch.trusts_d_ino = false;
    let may_lead_down = |kind| kind == Kind::Unknown || (follow && kind == Kind::Link);
    let todo = match selected {
        None => batch.place_slots(|kind, _| asks(needs, follow, kind)),
        Some(selected) => Some(batch.place_slots_of(|index, kind| {
            (selected[index] || may_lead_down(kind)) && asks(needs, follow, kind)
        })),
    };
    let Batch { arena, dents, metas, .. } = batch;
    let asked = todo.as_deref().unwrap_or(dents);
    let (watch, seat) = watch.map_or((None, 0), |(watch, seat)| (Some(watch), seat));
    // By text, as a link's target is found on any file system, /proc among them.
    let question = Question { dir, needs, follow, by_text: true, lists, lazy: false, counter, watch };
    let mut asker = Asker::new(question, 0);
    (asker.seat, asker.takes_links, asker.bulk) = (seat, true, bulk);
    let mut whole = true;
    ask(&mut asker, asked, Names { bytes: arena, from: 0 }, metas, |made| {
        whole = whole && go_on(made);
        whole
    });
    let mut harvest = Harvest::default();
    harvest.tally.entries = dents.len() as u64;
    harvest.tally.avoided = (dents.len() - asked.len()) as u64;
    asker.merge_into(&mut harvest);
    batch.texts = harvest.texts;
    batch.faulty = harvest.tally.faults > 0;
    (harvest.tally, whole)
}

fn ask(
    asker: &mut Asker<'_>,
    dents: &[Dent],
    names: Names<'_>,
    metas: &mut Metas,
    mut go_on: impl FnMut(u64) -> bool,
) {
    for dents in dents.chunks(Metas::CHUNK) {
        metas.append(asker.ask_all(dents, names, &mut go_on));
    }
}
