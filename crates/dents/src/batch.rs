//! Walks by batches.

use crate::entry::{View, join};
use crate::filter::State;
use crate::threads::Threads;
use crate::{Error, Step, Summary, Walk};
use dents_core::batch::{self as core, Asked};
use dents_core::tree::{self, End, Failure, Place, Problem, Visitor};
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The entries of one directory, or of a part of a large one; or the error of a directory.
/// [`Walk::run`](crate::Walk::run) passes it to a visitor.
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

    /// The error, if the directory could not be opened or not be read to its end. A batch with an error has no
    /// entries.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// The entries, without those whose `statx` failed.
    pub fn iter(&self) -> impl Iterator<Item = View<'b>> + use<'_, 'b> {
        let (path, depth, follow) = (self.path, self.depth, self.follow);
        let was_asked = |entry: &core::Entry<'_>| !matches!(entry.fault(), Some((Asked::Stat, _)));
        self.kept().filter(was_asked).map(move |entry| View { path, depth, follow, entry })
    }

    /// The entries whose `statx` failed, each as its error.
    pub fn errors(&self) -> impl Iterator<Item = Error> + use<'_> {
        self.kept().filter_map(|entry| match entry.fault() {
            Some((Asked::Stat, errno)) => Some(Error::new(&join(self.path, entry.name()), self.depth, errno)),
            _ => None,
        })
    }

    /// The entries that no filter of the walk excludes.
    fn kept(&self) -> impl Iterator<Item = core::Entry<'b>> + use<'_, 'b> {
        let entries = self.core.into_iter().flat_map(core::Batch::iter);
        entries.filter(|entry| self.kept.is_none_or(|kept| kept[entry.index()]))
    }
}

/// The error of a directory.
pub(crate) fn error_of(failure: &Failure<'_>) -> Error {
    // `Failure::depth` is that of the directory's entries: one more than its own.
    let depth = (failure.depth as usize).saturating_sub(1);
    let error = Error::new(failure.path, depth, failure.errno);
    if failure.problem == Problem::Loop { error.of_loop() } else { error }
}

/// The filters of a walk: shared by the visitors of walks by batches and by entries.
pub(crate) struct Exclusions<'w> {
    pub(crate) walk: &'w Walk,
    /// Which entries of the last batch are kept; `None` for all.
    pub(crate) kept: Option<Vec<bool>>,
}

impl<'w> Exclusions<'w> {
    pub(crate) fn new(walk: &'w Walk) -> Exclusions<'w> {
        Exclusions { walk, kept: None }
    }

    pub(crate) fn opened(&self, place: &Place<'_>, state: &mut State) -> Step {
        // The directory is open whenever `opened` is called.
        if let Some(dir) = place.dir {
            *state = state.enter(self.walk, place.path, place.depth == 1, dir);
        }
        Step::Enter
    }

    /// Filters a batch. Returns whether its entries are deep enough to be yielded.
    pub(crate) fn take(&mut self, place: &Place<'_>, batch: &core::Batch, state: &State) -> bool {
        let depth = place.depth as usize;
        self.kept = state.kept(self.walk, place.path, depth, batch);
        depth >= self.walk.min_depth
    }

    pub(crate) fn descend(&self, entry: &core::Entry<'_>) -> Step {
        let is_kept = self.kept.as_ref().is_none_or(|kept| kept[entry.index()]);
        if is_kept { Step::Enter } else { Step::Skip }
    }
}

struct Batches<'w, V> {
    exclusions: Exclusions<'w>,
    visit: V,
}

impl<V: FnMut(&Batch<'_>) -> Step> Visitor for Batches<'_, V> {
    type State = State;

    fn opened(&mut self, place: &Place<'_>, state: &mut State) -> Step {
        self.exclusions.opened(place, state)
    }

    fn entries(&mut self, place: &Place<'_>, batch: &core::Batch, state: &State) -> Step {
        if !self.exclusions.take(place, batch, state) {
            return Step::Enter;
        }
        (self.visit)(&Batch {
            path: place.path,
            depth: place.depth as usize,
            follow: self.exclusions.walk.follow,
            core: Some(batch),
            kept: self.exclusions.kept.as_deref(),
            error: None,
        })
    }

    fn descend(&mut self, _: &Place<'_>, entry: &core::Entry<'_>, _: &State) -> Step {
        self.exclusions.descend(entry)
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        let error = error_of(failure);
        let (path, depth) = (failure.path, failure.depth as usize);
        let step = (self.visit)(&Batch {
            path,
            depth,
            follow: self.exclusions.walk.follow,
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
    let outcome = tree::walk(&roots, &walk.options(), &Threads, |_| Batches {
        exclusions: Exclusions::new(walk),
        visit: make(),
    });
    let (tally, mut invalid, mut visit) = (outcome.tally, 0, None);
    for error in walk.invalid_roots() {
        let (path, error) = (error.path().to_owned(), Some(error));
        let path = path.as_os_str().as_bytes();
        visit.get_or_insert_with(make)(&Batch {
            path,
            depth: 1,
            follow: walk.follow,
            core: None,
            kept: None,
            error,
        });
        invalid += 1;
    }
    Summary {
        entries: tally.entries,
        directories: tally.directories,
        errors: tally.faults + invalid,
        is_complete: outcome.end == End::Complete,
    }
}
