//! Walks by batches.

use crate::entry::View;
use crate::threads::Threads;
use crate::{Error, Step, Summary, Walk};
use dents_core::batch::{self as core, Asked};
use dents_core::tree::{self, End, Failure, Place, Problem, Visitor};
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a directory hands down to those in it.
#[derive(Clone, Default)]
pub(crate) struct State {
    #[cfg(feature = "gitignore")]
    pub(crate) rules: Option<std::sync::Arc<crate::gitignore::Rules>>,
}

/// Entries of one directory, or a piece of a large one; or a directory that could not be read.
pub struct Batch<'b> {
    path: &'b [u8],
    depth: usize,
    follow: bool,
    core: Option<&'b core::Batch>,
    kept: Option<&'b [bool]>,
    error: Option<Error>,
}

impl<'b> Batch<'b> {
    /// The directory; empty for the roots.
    #[must_use]
    pub fn path(&self) -> &'b Path {
        Path::new(OsStr::from_bytes(self.path))
    }

    /// The depth of the entries: 0 for roots.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Why the directory could not be opened, or not be read to its end. Such a batch has no entries.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// The entries, without those that could not be asked.
    pub fn iter(&self) -> impl Iterator<Item = View<'b>> + use<'_, 'b> {
        let (path, depth, follow) = (self.path, self.depth, self.follow);
        let is_kept = |entry: &core::Entry<'_>| self.kept.is_none_or(|kept| kept[entry.index()]);
        let was_asked = |entry: &core::Entry<'_>| !matches!(entry.fault(), Some((Asked::Stat, _)));
        let entries = self.core.into_iter().flat_map(core::Batch::iter);
        let entries = entries.filter(move |entry| is_kept(entry) && was_asked(entry));
        entries.map(move |entry| View { path, depth, follow, entry })
    }

    /// Entries that could not be asked, each with its error.
    pub fn errors(&self) -> impl Iterator<Item = Error> + use<'_> {
        let faulty = self.core.filter(|core| core.has_faults());
        faulty.into_iter().flat_map(core::Batch::iter).filter_map(|entry| match entry.fault() {
            Some((Asked::Stat, errno)) => {
                Some(Error::new(&crate::entry::join(self.path, entry.name()), self.depth, errno))
            }
            _ => None,
        })
    }
}

/// What a directory hands down.
pub(crate) fn opened(walk: &Walk, place: &Place<'_>, state: &mut State) {
    #[cfg(feature = "gitignore")]
    if walk.gitignore {
        let above = state.rules.take();
        state.rules = place.dir.and_then(|dir| {
            crate::gitignore::enter(place.path, place.depth == 1, dir, above.as_ref(), &mut |_, _| {})
        });
    }
    let _ = (walk, place, state);
}

/// Which entries are given and entered, if not all are.
pub(crate) fn kept(walk: &Walk, place: &Place<'_>, batch: &core::Batch, state: &State) -> Option<Vec<bool>> {
    let (path, depth, follow) = (place.path, place.depth as usize, walk.follow);
    let by_caller = |entry: core::Entry<'_>| {
        walk.keeps.as_ref().is_none_or(|keeps| keeps(&View { path, depth, follow, entry }))
    };
    #[cfg(feature = "gitignore")]
    if let Some(rules) = &state.rules {
        let (mut path, mut scratch) = (Vec::new(), Vec::new());
        let mut keeps = |entry: core::Entry<'_>| {
            place.join(entry.name(), &mut path);
            let is_dir = entry.kind() == dents_core::needs::Kind::Dir;
            entry.name() != b".git" && !rules.ignores(&path, is_dir, &mut scratch) && by_caller(entry)
        };
        return Some(batch.iter().map(&mut keeps).collect());
    }
    let _ = state;
    walk.keeps.is_some().then(|| batch.iter().map(by_caller).collect())
}

/// The error of a directory.
pub(crate) fn error_of(failure: &Failure<'_>) -> Error {
    // The depth that its entries would have is one more than its own.
    let depth = (failure.depth as usize).saturating_sub(1);
    let error = Error::new(failure.path, depth, failure.errno);
    if failure.problem == Problem::Loop { error.of_loop() } else { error }
}

struct Batches<'w, V> {
    walk: &'w Walk,
    visit: V,
    kept: Option<Vec<bool>>,
}

impl<V: FnMut(&Batch<'_>) -> Step> Visitor for Batches<'_, V> {
    type State = State;

    fn opened(&mut self, place: &Place<'_>, state: &mut State) -> Step {
        opened(self.walk, place, state);
        Step::Enter
    }

    fn entries(&mut self, place: &Place<'_>, batch: &core::Batch, state: &State) -> Step {
        self.kept = kept(self.walk, place, batch, state);
        if (place.depth as usize) < self.walk.min_depth {
            return Step::Enter;
        }
        (self.visit)(&Batch {
            path: place.path,
            depth: place.depth as usize,
            follow: self.walk.follow,
            core: Some(batch),
            kept: self.kept.as_deref(),
            error: None,
        })
    }

    fn descend(&mut self, _: &Place<'_>, entry: &core::Entry<'_>, _: &State) -> Step {
        let is_kept = self.kept.as_ref().is_none_or(|kept| kept[entry.index()]);
        if is_kept { Step::Enter } else { Step::Skip }
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        let error = error_of(failure);
        let (path, depth) = (failure.path, failure.depth as usize);
        let step = (self.visit)(&Batch {
            path,
            depth,
            follow: self.walk.follow,
            core: None,
            kept: None,
            error: Some(error),
        });
        if step == Step::Stop { step } else { Step::Enter }
    }
}

pub(crate) fn run<F, V>(walk: &Walk, make: &F) -> Summary
where
    F: Fn() -> V + Sync,
    V: FnMut(&Batch<'_>) -> Step + Send,
{
    let roots = walk.c_roots();
    let roots: Vec<&CStr> = roots.iter().map(CString::as_c_str).collect();
    let outcome =
        tree::walk(&roots, &walk.options(), &Threads, |_| Batches { walk, visit: make(), kept: None });
    let tally = outcome.tally;
    Summary {
        entries: tally.entries,
        directories: tally.directories,
        errors: tally.faults,
        is_complete: outcome.end == End::Complete,
    }
}
