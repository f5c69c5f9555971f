//! What a directory hands down to those below: where its operand ends, and the rules of its ignore files.

use dents::gitignore::Rules;
use std::sync::Arc;

/// The state of a directory in the walk.
#[derive(Clone, Default)]
pub(crate) struct Origin {
    /// Bytes of the operand at the beginning of all paths below it.
    pub(crate) operand: usize,
    /// The ignore files that hold here, the nearest first.
    pub(crate) rules: Option<Arc<Rules>>,
}

impl Origin {
    /// What of a path in a directory with this origin comes after the operand and its slash.
    pub(crate) fn below<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        let below = path.get(self.operand..).unwrap_or_default();
        below.strip_prefix(b"/").unwrap_or(below)
    }
}
