//! The entries of a sorted batch that are shown.

use crate::plan::Plan;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use dents_core::batch::Batch;
use dents_core::needs::Kinds;

/// Those of the selected types, at most as many as `--top` allows.
pub(super) fn select<'v>(plan: &Plan<'_>, batch: &Batch, order: &'v [u32]) -> Cow<'v, [u32]> {
    let most = plan.top.unwrap_or(usize::MAX);
    match of_shown_types(plan, batch, order) {
        Some(mut some) => {
            some.truncate(most);
            Cow::Owned(some)
        }
        None => Cow::Borrowed(&order[..order.len().min(most)]),
    }
}

/// Those of the selected types; `None` if these are all types. Others may have been read because they are directories to
/// enter, or because their type was unknown.
#[inline]
pub(super) fn of_shown_types(plan: &Plan<'_>, batch: &Batch, order: &[u32]) -> Option<Vec<u32>> {
    let is_shown = |index: &u32| plan.shown.contains(batch.entry(*index as usize).kind());
    (plan.shown != Kinds::ALL).then(|| order.iter().copied().filter(is_shown).collect())
}
