//! Options for the contents of subdirectories: `--tree`, `--total-size`.

use crate::args::numbers::{parse_budget, parse_depth, parse_limit};
use crate::args::{Flag, Said};
use dents_render::Format;

/// How a tree is shown, and whether totals of directories are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hierarchy {
    /// `--tree`: how deep.
    pub tree: Option<u32>,
    /// `--tree-limit`: entries of each directory.
    pub limit: Option<u32>,
    /// `--total-size`: for how long, in nanoseconds; `u64::MAX` is for ever.
    pub total_ns: Option<u64>,
}

/// The default time limit of totals.
const BUDGET_NS: u64 = 1_000_000_000;

impl Hierarchy {
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

    /// Enables totals, with the default time limit if there is none.
    pub(super) fn add_totals(&mut self) {
        self.total_ns.get_or_insert(BUDGET_NS);
    }

    /// A tree has one entry a line, long or not.
    pub(super) fn format(&self, format: Format) -> Format {
        if self.tree.is_some() && format != Format::Long { Format::Lines } else { format }
    }

    /// Whether anything of this was asked for.
    #[must_use]
    pub fn any(&self) -> bool {
        self.tree.is_some() || self.total_ns.is_some()
    }
}
