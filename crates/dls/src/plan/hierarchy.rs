//! The options for the contents of subdirectories: `--tree`, `--total-size`.

use crate::args::numbers::{parse_budget, parse_depth, parse_limit};
use crate::args::{Flag, Said};
use dents_render::Format;

/// As they were given.
#[derive(Default)]
pub(super) struct HierarchyOptions {
    /// `--tree`: how deep.
    pub(super) tree: Option<u32>,
    /// `--tree-limit`: entries of each directory.
    pub(super) limit: Option<u32>,
    /// `--total-size`: for how long, in nanoseconds; `u64::MAX` is for ever.
    pub(super) total_ns: Option<u64>,
}

/// The default time limit of totals.
pub(super) const BUDGET_NS: u64 = 1_000_000_000;

impl HierarchyOptions {
    pub(super) fn take(&mut self, said: &Said<'_>) {
        match said.flag {
            Flag::Tree => {
                let depth = |value| parse_depth(value).ok();
                self.tree = said.value.map_or(Some(u32::MAX), depth);
            }
            Flag::TreeLimit => self.limit = said.value.and_then(|value| parse_limit(value).ok()),
            Flag::TotalSize => {
                let budget = said.value.map_or(Some(BUDGET_NS), |value| parse_budget(value).ok());
                self.total_ns = budget.map(|ns| if ns == 0 { u64::MAX } else { ns });
            }
            _ => {}
        }
    }

    /// A tree has one entry a line, long or not.
    pub(super) fn format(&self, format: Format) -> Format {
        if self.tree.is_some() && format != Format::Long { Format::Lines } else { format }
    }
}
