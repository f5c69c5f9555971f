//! The state that a directory hands down to its subdirectories: the length of its operand, and the rules of ignore files.

use dents::gitignore::Rules;
use std::sync::Arc;

/// The state of a directory in the walk.
#[derive(Clone, Default)]
pub(crate) struct Origin {
    /// Length of the operand, with which all paths below it begin.
    pub(crate) operand: usize,
    /// The ignore files that apply here, the nearest first.
    pub(crate) rules: Option<Arc<Rules>>,
}

impl Origin {
    /// The part of a path after the operand and its slash.
    pub(crate) fn below<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        let below = path.get(self.operand..).unwrap_or_default();
        below.strip_prefix(b"/").unwrap_or(below)
    }
}
