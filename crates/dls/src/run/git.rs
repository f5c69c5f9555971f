//! `--git` and `--gitignore` in a listing. Without these options none of this code is executed or loaded.

use super::Listing;
use super::directory::{Directory, Origin};
use super::notes::Notes;
use crate::explain::visible;
use crate::git::{Repositories, Wanted};
use crate::message::Message;
use crate::plan::Plan;
use crate::system::System;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_core::batch::{Batch, Entry};
use dents_core::deadline::Opened;
use dents_core::needs::Kind;
use dents_core::path::join;
use dents_render::{Change, Git, Note};
use dents_sys::stat::{Flags, Mask, statx};
use dents_sys::{CWD, Errno};

/// The state of an ignored entry.
const IGNORED: Git = Git::Status { staged: Change::None, unstaged: Change::Ignored };

/// The requests to git.
pub(super) struct Asked<'l> {
    repositories: Repositories<'l>,
    /// The current operand: its path, and its canonical path, from which those of directories below follow without
    /// system calls.
    root: (Vec<u8>, Vec<u8>),
}

impl<'l> Listing<'l, '_, '_> {
    /// The state before the first request.
    pub(super) fn git(system: &'l System<'_>, plan: &Plan<'_>) -> Option<Box<Asked<'l>>> {
        let wishes = plan.git.as_ref()?;
        let repositories = Repositories::new(system.programs, wishes.budget_ns);
        Some(Box::new(Asked { repositories, root: (Vec::new(), Vec::new()) }))
    }

    /// Starts git for all operands: those shown as entries, and the directories to be listed.
    #[cold]
    #[inline(never)]
    pub(super) fn ask_git_of_operands(&mut self, batch: &Batch, entries: &[u32], directories: &[u32]) {
        let mut wanted = Vec::new();
        for index in entries {
            let entry = batch.entry(*index as usize);
            let (directory, name) = self.place_of_operand(&entry);
            let path = if name == b"." { directory.clone() } else { join(&directory, name) };
            wanted.push(Wanted { directory, path });
        }
        for index in directories {
            let directory = self.canonical(batch.entry(*index as usize).name());
            wanted.push(Wanted { path: directory.clone(), directory });
        }
        self.with_git(|listing, git| git.repositories.ask(wanted, &|path| listing.look(path)));
    }

    /// Starts git for a directory before it is read, unless git runs for it already.
    #[cold]
    #[inline(never)]
    pub(super) fn ask_git_of_directory(&mut self, path: &[u8], origin: Origin) {
        let directory = self.place_of_directory(path);
        let anywhere = origin == Origin::Operand || self.plan.follows_entries();
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

    /// Waits for git, within its time limit, and adds its states to the notes of a directory's entries, or of
    /// operands. If ignored entries are left out, the notes also get the positions of the others.
    #[cold]
    #[inline(never)]
    pub(super) fn note_git(
        &mut self,
        batch: &Batch,
        directory: Option<Directory<'_>>,
        notes: &mut Notes<'_>,
    ) {
        notes.entries.resize(batch.len(), Note::default());
        // Of all entries: whatever is rendered is a part of them.
        let mut kept: Vec<u32> = (0..batch.len() as u32).collect();
        self.note_git_of_frame(batch, directory.map(Directory::name), &mut kept, &mut notes.entries);
        if directory.is_some() && self.git_hides() && kept.len() < batch.len() {
            notes.kept = Some(kept);
        }
    }

    /// The same for some entries of one directory, or some operands. Ignored entries are removed from `order` if the
    /// plan demands that, unless the whole directory is ignored: then the user named it.
    #[cold]
    #[inline(never)]
    pub(super) fn note_git_of_frame(
        &mut self,
        batch: &Batch,
        directory: Option<&[u8]>,
        entries: &mut Vec<u32>,
        notes: &mut [Note],
    ) {
        let entry = |index: &u32| batch.entry(*index as usize);
        let Some(directory) = directory else {
            let places: Vec<_> = entries.iter().map(|index| self.place_of_operand(&entry(index))).collect();
            let Some(git) = &mut self.git else { return };
            for (index, (directory, name)) in entries.iter().zip(&places) {
                notes[*index as usize].git = git.repositories.within(directory).entry(name);
            }
            return self.tell_git(false);
        };
        let directory = self.place_of_directory(directory);
        let hides = self.git_hides();
        let Some(git) = &mut self.git else { return };
        let answer = git.repositories.within(&directory);
        entries.iter().for_each(|index| notes[*index as usize].git = answer.entry(entry(index).name()));
        if hides && !answer.is_ignored() {
            entries.retain(|index| notes[*index as usize].git != IGNORED);
        }
        self.tell_git(hides);
    }

    /// Reports once why git gave no answer, if the column does not show it.
    fn tell_git(&mut self, hides: bool) {
        let why = self.git.as_mut().and_then(|git| git.repositories.tell_once(hides));
        let follows = if hides { ": what it ignores is not left out" } else { ": its column shows nothing" };
        if let Some(why) = why {
            Message::new(self.plan.program).text(&why).text(follows).send(self.out);
        }
    }

    /// Whether ignored entries are left out.
    pub(super) fn git_hides(&self) -> bool {
        self.plan.git.as_ref().is_some_and(|wishes| wishes.hides)
    }

    /// The result of git, for `--explain`.
    #[cold]
    #[inline(never)]
    pub(super) fn explain_git(&mut self) {
        if let Some(git) = &self.git {
            self.out.message(visible(git.repositories.account().as_bytes()).as_bytes());
        }
    }

    fn with_git(&mut self, act: impl FnOnce(&Self, &mut Asked<'l>)) {
        if let Some(mut git) = self.git.take() {
            act(self, &mut git);
            self.git = Some(git);
        }
    }

    /// Checks whether a path exists: one `statx`. With a deadline the agent opens it instead, which gives the same
    /// answer for directories.
    fn look(&self, path: &CStr) -> Result<(), Errno> {
        let Some(timeout) = &self.timeout else {
            return statx(CWD, path, Flags::NOFOLLOW | Flags::NO_AUTOMOUNT, Mask::TYPE).map(drop);
        };
        match timeout.deadline.open(path, false, None) {
            Opened::Board(_) => Ok(()),
            Opened::Failed(errno) => Err(errno),
            Opened::Late | Opened::NotReached => Err(Errno::TIMEDOUT),
        }
    }

    /// The canonical path of a directory that is an operand or below one.
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

    /// The directory of an operand that is shown as an entry, and the name of the operand in it. A directory is `.` in
    /// itself.
    fn place_of_operand<'e>(&mut self, entry: &Entry<'e>) -> (Vec<u8>, &'e [u8]) {
        let path = entry.name();
        if entry.kind() == Kind::Dir {
            return (self.canonical(path), b".");
        }
        let slash = memchr::memrchr(b'/', path);
        let name = slash.map_or(path, |slash| &path[slash + 1..]);
        // The last component is a name, even if it is a link; the components before it are resolved.
        let directory = slash.map_or(&b"."[..], |slash| &path[..=slash]);
        (self.canonical(directory), name)
    }
}
