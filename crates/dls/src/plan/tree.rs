//! What follows from `--tree` and the options beside it.

use super::choices::Choices;
use dents_core::sort::{Key, Order};

/// How a tree is read and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreePlan {
    /// The number of levels below the operands.
    pub depth: u32,
    /// How many entries of each directory are shown.
    pub limit: usize,
    /// How many entries of each directory may be entered, if the walk knows which come first: it does not if totals or git
    /// states decide that.
    pub entered: Option<usize>,
    /// The order of entries during the walk. If totals decide, they are first sorted by name.
    pub order: Order,
}

impl TreePlan {
    /// `None` without `--tree`. `hides`: whether git decides which entries are shown.
    pub(super) fn new(choices: &Choices<'_>, order: Order, hides: bool) -> Option<TreePlan> {
        let depth = choices.hierarchy.tree?;
        let sorts_by_totals = order.key == Key::Size && choices.total_ns().is_some();
        let limit = choices.hierarchy.limit.map(|limit| limit as usize);
        Some(TreePlan {
            depth,
            limit: limit.unwrap_or(usize::MAX),
            entered: limit.filter(|_| !sorts_by_totals && !hides),
            order: Order { key: if sorts_by_totals { Key::Name } else { order.key }, ..order },
        })
    }
}
