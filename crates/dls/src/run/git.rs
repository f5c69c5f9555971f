//! `--git` and `--gitignore` in a listing. Without these options none of this code is executed or loaded.

use super::Listing;
use super::directory::{Directory, Origin};
use super::notes::Notes;
use crate::explain::visible;
use crate::git::{Bounds, Device, Found, Repositories, Wanted, begins, ceilings, top_of};
use crate::message::Message;
use crate::plan::Plan;
use crate::system::System;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::iter::once;
use dents_core::batch::{Batch, Entry};
use dents_core::canonical::canonicalize;
use dents_core::deadline::Deadline;
use dents_core::needs::Kind;
use dents_core::path::join;
use dents_render::{Change, Git, Note};
use dents_sys::stat::{Flags, Mask, statx};
use dents_sys::{CWD, Errno, clock};

/// The state of an ignored entry.
const IGNORED: Git = Git::Status { staged: Change::None, unstaged: Change::Ignored };

/// The requests to git.
pub(super) struct Asked<'l> {
    repositories: Repositories<'l>,
    /// The current operand: its path, and its canonical path, from which those of directories below follow without
    /// system calls.
    root: (Vec<u8>, Vec<u8>),
    /// The value of GIT_CEILING_DIRECTORIES.
    ceilings: &'l [u8],
    /// Whether the search for a repository goes on above a mount point.
    crosses: bool,
    budget_ns: Option<u64>,
    /// The agent of look-ups that may never end, where the listing has none: started for the first, and `None` if that failed.
    agent: Option<Option<Deadline>>,
}

impl<'l> Listing<'l, '_, '_> {
    /// The state before the first request.
    pub(super) fn git(system: &'l System<'_>, plan: &'l Plan<'_>) -> Option<Box<Asked<'l>>> {
        let wishes = plan.git.as_ref()?;
        Some(Box::new(Asked {
            repositories: Repositories::new(system.programs, wishes.budget_ns),
            root: (Vec::new(), Vec::new()),
            ceilings: wishes.ceilings,
            crosses: wishes.crosses,
            budget_ns: wishes.budget_ns,
            agent: None,
        }))
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
        self.with_git(|listing, git| listing.ask_git(git, wanted));
    }

    /// Starts git for a directory before it is read, unless git runs for it already.
    #[cold]
    #[inline(never)]
    pub(super) fn ask_git_of_directory(&mut self, path: &[u8], origin: Origin) {
        let directory = self.place_of_directory(path);
        let anywhere = origin == Origin::Operand || self.plan.follows_entries();
        self.with_git(|listing, git| {
            if anywhere {
                git.root = (path.to_vec(), directory.clone());
            } else if !listing.begins(&directory) {
                // It is in the repository of its parent, which is known.
                return;
            }
            listing.ask_git(git, Vec::from([Wanted { path: directory.clone(), directory }]));
        });
    }

    /// Finds the repositories, within the time limit, and starts git in them.
    fn ask_git(&self, git: &mut Asked<'l>, wanted: Vec<Wanted>) {
        let since_ns = clock::monotonic_ns();
        let Asked { repositories, ceilings: value, crosses, budget_ns, agent, .. } = git;
        let crosses = *crosses;
        let until_ns = budget_ns.map(|budget_ns| since_ns.saturating_add(budget_ns));
        repositories.ask(wanted, since_ns, &mut |directories| {
            let answers = directories.iter().all(|directory| self.session.mounts.answer_above(directory));
            let start = || Deadline::for_calls((self.system.agent)()?).ok();
            let agent = match (&self.timeout, until_ns) {
                (Some(timeout), _) => Some(&timeout.deadline),
                (None, Some(_)) if !answers => agent.get_or_insert_with(start).as_ref(),
                _ => None,
            };
            let search = |directory: Vec<u8>| {
                let value = value.to_vec();
                move || -> Found {
                    let ceilings = ceilings(&value, |path| canonicalize(b"/", path));
                    top_of(&directory, &Bounds { ceilings, crosses, is_wary: !answers }, &look)
                }
            };
            match agent {
                Some(agent) => agent.calls(until_ns, directories.into_iter().map(search)),
                None => directories.into_iter().map(|directory| Some(search(directory)())).collect(),
            }
        });
    }

    /// Whether a directory that is listed, and so read in any case, is the top of a repository.
    fn begins(&self, directory: &[u8]) -> bool {
        let Some(timeout) = &self.timeout else { return begins(directory, &look) };
        let directory = directory.to_vec();
        timeout.deadline.calls(None, once(move || begins(&directory, &look))) == [Some(true)]
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

/// The device of a path that exists: one `statx`.
fn look(path: &CStr) -> Result<Device, Errno> {
    statx(CWD, path, Flags::NOFOLLOW | Flags::NO_AUTOMOUNT, Mask::TYPE).map(|found| found.dev())
}
