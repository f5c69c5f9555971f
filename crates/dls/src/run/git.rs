//! `--git` and `--gitignore` on the way from a directory to its lines. Nothing here runs, nor is loaded, without them.

use super::{Listing, join};
use crate::git::{Answer, Repositories, Wanted};
use crate::output::Message;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents::batch::{Batch, Entry};
use dents::bounded::Opened;
use dents::needs::Kind;
use dents_render::{Change, Git, Note};
use dents_sys::stat::{Flags, Mask, statx};
use dents_sys::{CWD, Errno};

/// What git was asked.
pub(super) struct Asked<'l> {
    repositories: Repositories<'l>,
    /// The operand that is being listed, as it was said and where it is: what is below it need not be looked for.
    root: (Vec<u8>, Vec<u8>),
}

impl<'l> Listing<'l, '_, '_> {
    /// Nothing, as yet.
    pub(super) fn git(env: &'l crate::Env<'_>, plan: &crate::plan::Plan<'_>) -> Option<Box<Asked<'l>>> {
        let wishes = plan.git.as_ref()?;
        let repositories = Repositories::new(env.programs, wishes.budget_ns);
        Some(Box::new(Asked { repositories, root: (Vec::new(), Vec::new()) }))
    }

    /// Has git begin with all operands: those shown as entries, and the directories that wait to be listed.
    #[cold]
    #[inline(never)]
    pub(super) fn ask_git_of_operands(&mut self, batch: &Batch, order: &[u32]) {
        let mut wanted = Vec::new();
        for index in order {
            let entry = batch.entry(*index as usize);
            let (directory, name) = self.place_of_operand(&entry);
            let path = if name == b"." { directory.clone() } else { join(&directory, name) };
            wanted.push(Wanted { directory, path });
        }
        for nth in 0..self.pending.len() {
            let Some(path) = self.pending[nth].path().map(|path| path.to_bytes().to_vec()) else { continue };
            let directory = self.canonical(&path);
            wanted.push(Wanted { path: directory.clone(), directory });
        }
        self.with_git(|listing, git| git.repositories.ask(wanted, &|path| listing.look(path)));
    }

    /// Has git begin with a directory that is about to be read, unless it did already.
    #[cold]
    #[inline(never)]
    pub(super) fn ask_git_of_directory(&mut self, path: &[u8], operand: bool) {
        let directory = self.place_of_directory(path);
        let anywhere = operand || self.plan.follows_entries();
        self.with_git(|listing, git| {
            let look = |path: &CStr| listing.look(path);
            if anywhere {
                git.root = (path.to_vec(), directory.clone());
                let wanted = Wanted { path: directory.clone(), directory };
                git.repositories.ask(Vec::from([wanted]), &look);
            } else {
                git.repositories.ask_below(&directory, &look);
            }
        });
    }

    /// Waits for git, within its budget, and takes what it says of a directory's entries to the renderer. What it ignores
    /// is left out of the order, if that is wanted; but not where all of the directory is ignored, which somebody named.
    #[cold]
    #[inline(never)]
    pub(super) fn note_git(&mut self, batch: &Batch, directory: &[u8], order: &mut Vec<u32>) {
        let hides = self.plan.git.as_ref().is_some_and(|wishes| wishes.hides);
        let directory = self.place_of_directory(directory);
        let Some(mut git) = self.git.take() else { return };
        let answer = git.repositories.within(&directory);
        let notes: Vec<Note> = batch.iter().map(|entry| note(&answer, entry.name())).collect();
        if hides && !answer.is_ignored() {
            let ignored = Git::Status { staged: Change::None, unstaged: Change::Ignored };
            order.retain(|index| notes[*index as usize].git != ignored);
        }
        if hides && let Some(why) = git.repositories.tell_once() {
            Message::new(self.plan.program)
                .text(&why)
                .text(": what it ignores is not left out")
                .send(self.out);
        }
        self.git = Some(git);
        self.renderer.set_notes(notes);
    }

    /// The same for operands, none of which is left out.
    #[cold]
    #[inline(never)]
    pub(super) fn note_git_of_operands(&mut self, batch: &Batch) {
        let places: Vec<_> = batch.iter().map(|entry| self.place_of_operand(&entry)).collect();
        let Some(git) = &mut self.git else { return };
        let notes = places.iter().map(|(directory, name)| note(&git.repositories.within(directory), name));
        self.renderer.set_notes(notes.collect());
    }

    /// What became of it, for `--explain`.
    #[cold]
    #[inline(never)]
    pub(super) fn explain_git(&mut self) {
        if let Some(git) = &self.git {
            self.out.message(git.repositories.account().as_bytes());
        }
    }

    fn with_git(&mut self, act: impl FnOnce(&Self, &mut Asked<'l>)) {
        if let Some(mut git) = self.git.take() {
            act(self, &mut git);
            self.git = Some(git);
        }
    }

    /// Whether something is there: one `statx`. With a deadline it is looked for aside, by opening it, which comes to the
    /// same for directories.
    fn look(&self, path: &CStr) -> Result<(), Errno> {
        let Some(limit) = &self.limit else {
            return statx(CWD, path, Flags::NOFOLLOW | Flags::NO_AUTOMOUNT, Mask::TYPE).map(drop);
        };
        match limit.bounded().open(path, false, None) {
            Opened::Sheet(_) => Ok(()),
            Opened::Failed(errno) => Err(errno),
            Opened::Hung | Opened::NotReached => Err(Errno::TIMEDOUT),
        }
    }

    /// Where a directory is that is an operand or below one.
    fn place_of_directory(&mut self, path: &[u8]) -> Vec<u8> {
        if let Some(git) = &self.git {
            let (said, place) = &git.root;
            match path.strip_prefix(&said[..]) {
                Some([]) if !said.is_empty() => return place.clone(),
                Some(rest) if !said.is_empty() && (rest[0] == b'/' || said.ends_with(b"/")) => {
                    return join(place, rest.strip_prefix(b"/").unwrap_or(rest));
                }
                _ => {}
            }
        }
        self.canonical(path)
    }

    /// Where an operand is that is shown as an entry, and its name there; `.` in itself, if it is a directory.
    fn place_of_operand<'e>(&mut self, entry: &Entry<'e>) -> (Vec<u8>, &'e [u8]) {
        let path = entry.name();
        if entry.kind() == Kind::Dir {
            return (self.canonical(path), b".");
        }
        let slash = memchr::memrchr(b'/', path);
        let name = slash.map_or(path, |slash| &path[slash + 1..]);
        // What follows is a name even where it is a link's; what comes before is looked up.
        let directory = slash.map_or(&b"."[..], |slash| &path[..=slash]);
        (self.canonical(directory), name)
    }
}

fn note(answer: &Answer<'_>, name: &[u8]) -> Note {
    Note { git: answer.entry(name), total: None }
}
