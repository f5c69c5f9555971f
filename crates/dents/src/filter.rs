//! The filters of a walk.

use crate::Walk;
use crate::entry::{View, join};
use dents_core::batch::Batch;
use dents_sys::BorrowedFd;

/// The state that a directory passes to its subdirectories: the rules of ignore files.
#[derive(Clone, Default)]
pub(crate) struct State {
    #[cfg(feature = "gitignore")]
    rules: Option<std::sync::Arc<crate::gitignore::Rules>>,
}

impl State {
    /// The state of a directory that was opened; `self` is the state of its parent.
    pub(crate) fn enter(&self, walk: &Walk, path: &[u8], is_root: bool, dir: BorrowedFd<'_>) -> State {
        #[cfg(feature = "gitignore")]
        if walk.gitignore {
            let rules = crate::gitignore::enter(path, is_root, dir, self.rules.as_ref(), &mut |_, _| {});
            return State { rules };
        }
        let _ = (walk, path, is_root, dir);
        State::default()
    }

    /// Which entries are yielded and entered; `None` for all.
    pub(crate) fn kept(&self, walk: &Walk, path: &[u8], depth: usize, batch: &Batch) -> Option<Vec<bool>> {
        if walk.filter_entry.is_none() && !self.has_rules() {
            return None;
        }
        let mut scratch = Vec::new();
        let is_kept = |entry| {
            let view = View { path, depth, follow: walk.follow, entry };
            !self.ignores(&view, &mut scratch) && walk.filter_entry.as_ref().is_none_or(|keep| keep(&view))
        };
        Some(batch.iter().map(is_kept).collect())
    }

    #[cfg(feature = "gitignore")]
    fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    #[cfg(feature = "gitignore")]
    fn ignores(&self, view: &View<'_>, scratch: &mut Vec<u8>) -> bool {
        let Some(rules) = &self.rules else { return false };
        let name = view.entry.name();
        name == b".git" || rules.ignores(&join(view.path, name), view.file_type().is_dir(), scratch)
    }

    #[cfg(not(feature = "gitignore"))]
    #[expect(clippy::unused_self, reason = "same signature as with the feature")]
    fn has_rules(&self) -> bool {
        false
    }

    #[cfg(not(feature = "gitignore"))]
    #[expect(clippy::unused_self, reason = "same signature as with the feature")]
    fn ignores(&self, view: &View<'_>, _: &mut Vec<u8>) -> bool {
        let _ = (join, view);
        false
    }
}
