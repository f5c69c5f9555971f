//! One question after the other, as `classic`, for a walk over a tree: somebody may say stop between two of them.

use super::ask::Asker;
use super::ledger::{Call, Ledger};
use super::{Harvest, Question, Tally};
use crate::batch::{Batch, Meta, Metas, Names};
use crate::needs::{Kind, NeedsByKind};
use crate::watchdog::Watch;
use alloc::vec;
use dents_sys::stat::{self, Statx};
use dents_sys::{BorrowedFd, Errno};

/// Fills the batch. Before each entry `go_on` is asked, with the number of
/// requests made so far; where it says no, the rest stays unknown, and the second answer is false.
///
/// With `follow`, a link that leads nowhere is answered for itself. What is asked is noted in the ledger, and shown at the desk
/// of a watch, where there are such.
pub(crate) fn fill(
    batch: &mut Batch,
    dir: BorrowedFd<'_>,
    needs: &NeedsByKind,
    follow: bool,
    (ledger, watch): (Option<&Ledger>, Option<(&Watch, usize)>),
    mut go_on: impl FnMut(u64) -> bool,
) -> (Tally, bool) {
    batch.declared = *needs;
    batch.trusts_d_ino = false;
    let link = follow && !needs.get(Kind::Link).is_empty();
    let todo = batch.place_slots(|kind, _| needs.asks(kind) || (link && kind == Kind::Link));
    let Batch { arena, dents, metas, .. } = batch;
    let asked = todo.as_deref().unwrap_or(dents);
    // By text, as a link's target is found on any file system, /proc among them.
    let question = Question { dir, needs, follow, by_text: true, lazy: false, ledger, watch: None };
    let (mut asker, names) = (Asker::new(question, 0), Names { bytes: arena, from: 0 });
    let mut answer = Statx::zeroed();
    let mut whole = true;
    for dents in asked.chunks(Metas::CHUNK) {
        let mut slots = vec![Meta::default(); dents.len()];
        for (dent, meta) in dents.iter().zip(&mut slots) {
            let made = asker.tally.stats + asker.tally.links + asker.tally.xattrs;
            whole = whole && go_on(made);
            if !whole {
                break;
            }
            let name = dent.c_name(names);
            let _shown = Shown::begin(watch, name.to_bytes());
            let (flags, mask) = Asker::stat_call(&question, dent.kind());
            if mask.is_empty() {
                asker.ask(dent.kind(), name, meta);
                continue;
            }
            let mut began = asker.clock();
            let mut outcome = stat::statx_into(&mut answer, dir, name, flags, mask);
            if follow && matches!(outcome, Err(Errno::NOENT | Errno::LOOP)) {
                asker.tally.stats += 1;
                asker.note(dent.kind(), Call::Stat, began);
                began = asker.clock();
                outcome = stat::statx_into(&mut answer, dir, name, flags | stat::Flags::NOFOLLOW, mask);
            }
            let known = outcome.map_or(dent.kind(), |()| Kind::from_mode(answer.mode() as u16));
            asker.note(known, Call::Stat, began);
            asker.answered(name, meta, outcome.map(|()| &answer));
        }
        metas.append(slots);
    }
    let avoided = (dents.len() - asked.len()) as u64;
    let mut harvest = Harvest::default();
    harvest.tally.entries = dents.len() as u64;
    harvest.tally.avoided = avoided;
    asker.bring_home(&mut harvest);
    batch.texts = harvest.texts;
    batch.faulty = harvest.tally.faults > 0;
    (harvest.tally, whole)
}

/// An entry that is being asked about, as a thread that looks on sees it.
struct Shown<'w>(Option<(&'w Watch, usize)>);

impl<'w> Shown<'w> {
    fn begin(watch: Option<(&'w Watch, usize)>, name: &[u8]) -> Shown<'w> {
        watch.iter().for_each(|(watch, desk)| watch.begin(*desk, name));
        Shown(watch)
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|(watch, desk)| watch.end(*desk, 1));
    }
}
