//! The stage between stat and sort: the facts that `statx` does not have. Later stages make no system call.

use super::batch_notes::Notes;
use super::directory::{Directory, Origin};
use super::git::GitStates;
use super::mounts::mounted;
use super::paths::Paths;
use super::printer::Printer;
use super::session::Session;
use super::totals::TotalSizes;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_core::batch::{Batch, Time};
use dents_render::Note;
use dents_sys::clock;

/// Needs batches; gives their notes.
pub(super) struct NoteStage<'l> {
    session: &'l Session<'l>,
    /// For `--git` and `--gitignore`.
    pub(super) git: Option<Box<GitStates<'l>>>,
    pub(super) paths: Paths<'l>,
    pub(super) totals: TotalSizes<'l>,
}

impl<'l> NoteStage<'l> {
    /// Opens and starts nothing.
    pub(super) fn new(session: &'l Session<'l>) -> NoteStage<'l> {
        let git = if session.plan.git.is_some() { GitStates::new(session) } else { None };
        NoteStage { session, git, paths: Paths::new(session), totals: TotalSizes::new(session) }
    }

    /// Starts git for the operands, before the first directory is read.
    pub(super) fn begin_operands(&mut self, batch: &Batch, entries: &[u32], directories: &[u32]) {
        if let Some(git) = &mut self.git {
            git.ask_of_operands(batch, entries, directories, &mut self.paths);
        }
    }

    /// Starts git for a directory, before it is read.
    pub(super) fn begin_directory(&mut self, path: &[u8], origin: Origin) {
        if let Some(git) = &mut self.git {
            git.ask_of_directory(path, origin, &mut self.paths);
        }
    }

    /// The notes of a directory's entries. `place` is the absolute path of the directory.
    pub(super) fn of_directory(
        &mut self,
        batch: &Batch,
        directory: Directory<'_>,
        place: Option<&[u8]>,
        printer: &mut Printer<'_, '_>,
    ) -> Notes<'l> {
        let mut notes = Notes::default();
        if self.session.plan.total_ns.is_some() {
            notes.entries = self.totals.notes(batch, Some(directory), printer);
        }
        if self.git.is_some() {
            let kept = self.add_git(batch, Some(directory.name()), &mut notes.entries, printer);
            let hides = self.session.plan.hides_ignored();
            notes.kept = Some(kept).filter(|kept| hides && kept.len() < batch.len());
        }
        if self.session.plan.style.names.hyperlink.is_some() {
            notes.places = self.paths.locate(batch, place, directory, printer);
        }
        self.finish(batch, &mut notes);
        notes
    }

    /// The notes of the operands. Those that are directories need notes only for the order.
    pub(super) fn of_operands(
        &mut self,
        batch: &Batch,
        entries: &[u32],
        printer: &mut Printer<'_, '_>,
    ) -> Notes<'l> {
        let mut notes = Notes::default();
        if self.session.plan.total_ns.is_some() {
            notes.entries = self.totals.notes(batch, None, printer);
        }
        if entries.is_empty() {
            return notes;
        }
        if self.git.is_some() {
            self.add_git(batch, None, &mut notes.entries, printer);
        }
        if self.session.plan.style.names.hyperlink.is_some() {
            notes.places = Some(Arc::new(self.paths.locate_operands(batch)));
        }
        self.finish(batch, &mut notes);
        notes
    }

    /// Adds git's states. Of all entries: whatever is rendered is a part of them. Returns the positions of those that are
    /// not left out.
    #[cold]
    #[inline(never)]
    fn add_git(
        &mut self,
        batch: &Batch,
        directory: Option<&[u8]>,
        notes: &mut Vec<Note>,
        printer: &mut Printer<'_, '_>,
    ) -> Vec<u32> {
        notes.resize(batch.len(), Note::default());
        let mut kept: Vec<u32> = (0..batch.len() as u32).collect();
        if let Some(git) = &mut self.git {
            git.note(batch, directory, &mut kept, notes, (&mut self.paths, printer));
        }
        kept
    }

    /// Adds the mounts and the current time.
    pub(super) fn finish(&self, batch: &Batch, notes: &mut Notes<'l>) {
        let plan = self.session.plan;
        if plan.style.long.view.as_ref().is_some_and(|view| view.mounts) {
            notes.mounted = mounted(batch, self.session);
        }
        if plan.shows_times {
            let now = clock::realtime();
            notes.now = Time { sec: now.sec, nsec: now.nsec };
        }
        if plan.shows_dates() {
            notes.zone = Some(self.session.zone());
        }
    }
}
