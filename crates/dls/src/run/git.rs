//! `--git` and `--gitignore` in a listing. Without these options none of this code is executed or loaded.

use super::directory::Origin;
use super::paths::Paths;
use super::printer::Printer;
use super::session::Session;
use crate::explain::visible;
use crate::git::{Bounds, Device, GitPath, Repositories, WorkTree, begins, ceilings, top_of};
use crate::plan::GitPlan;
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

/// The requests to git. Needs the directories and operands before they are read; gives the states of their entries.
pub(super) struct GitStates<'l> {
    session: &'l Session<'l>,
    plan: &'l GitPlan<'l>,
    repositories: Repositories<'l>,
    /// The current operand: its path, and its canonical path, from which those of directories below follow without
    /// system calls.
    root: (Vec<u8>, Vec<u8>),
    /// The agent of look-ups that may never end, where the listing has none: started for the first, and `None` if that
    /// failed.
    agent: Option<Option<Deadline>>,
}

impl<'l> GitStates<'l> {
    /// Starts nothing.
    pub(super) fn new(session: &'l Session<'l>) -> Option<Box<GitStates<'l>>> {
        let plan = session.plan.git.as_ref()?;
        let repositories = Repositories::new(session.system.programs, plan.budget_ns, plan.hides);
        let root = (Vec::new(), Vec::new());
        Some(Box::new(GitStates { session, plan, repositories, root, agent: None }))
    }

    /// Starts git for all operands: those shown as entries, and the directories to be listed.
    #[cold]
    #[inline(never)]
    pub(super) fn ask_of_operands(
        &mut self,
        batch: &Batch,
        entries: &[u32],
        directories: &[u32],
        paths: &mut Paths<'_>,
    ) {
        let mut wanted = Vec::new();
        for index in entries {
            let entry = batch.entry(*index as usize);
            let (directory, name) = self.place_of_operand(&entry, paths);
            let path = if name == b"." { directory.clone() } else { join(&directory, name) };
            wanted.push(GitPath { directory, path });
        }
        for index in directories {
            let directory = paths.canonical(batch.entry(*index as usize).name());
            wanted.push(GitPath { path: directory.clone(), directory });
        }
        self.ask(wanted);
    }

    /// Starts git for a directory before it is read, unless git runs for it already.
    #[cold]
    #[inline(never)]
    pub(super) fn ask_of_directory(&mut self, path: &[u8], origin: Origin, paths: &mut Paths<'_>) {
        let directory = self.place_of_directory(path, paths);
        if origin == Origin::Operand || self.session.plan.follows_entries() {
            self.root = (path.to_vec(), directory.clone());
        } else if !self.begins(&directory) {
            // It is in the repository of its parent, which is known.
            return;
        }
        self.ask(Vec::from([GitPath { path: directory.clone(), directory }]));
    }

    /// Finds the repositories, within the time limit, and starts git in them.
    fn ask(&mut self, wanted: Vec<GitPath>) {
        let since_ns = clock::monotonic_ns();
        let GitStates { session, plan, repositories, agent, .. } = self;
        let (value, crosses) = (plan.ceilings, plan.crosses);
        let until_ns = plan.budget_ns.map(|budget_ns| since_ns.saturating_add(budget_ns));
        repositories.ask(wanted, since_ns, &mut |directories| {
            let answers = directories.iter().all(|directory| session.mounts.answer_above(directory));
            let start = || Deadline::for_calls((session.system.agent)()?).ok();
            let agent = match (session.deadline(), until_ns) {
                (Some(deadline), _) => Some(deadline),
                (None, Some(_)) if !answers => agent.get_or_insert_with(start).as_ref(),
                _ => None,
            };
            let search = |directory: Vec<u8>| {
                let value = value.to_vec();
                move || -> WorkTree {
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
        let Some(deadline) = self.session.deadline() else { return begins(directory, &look) };
        let directory = directory.to_vec();
        deadline.calls(None, once(move || begins(&directory, &look))) == [Some(true)]
    }

    /// Waits for git, within its time limit, and adds its states to the notes of some entries of a directory, or of
    /// operands. Ignored entries are removed from `entries` if the plan demands that, unless the whole directory is
    /// ignored: then the user named it.
    #[cold]
    #[inline(never)]
    pub(super) fn note(
        &mut self,
        batch: &Batch,
        directory: Option<&[u8]>,
        entries: &mut Vec<u32>,
        notes: &mut [Note],
        (paths, printer): (&mut Paths<'_>, &mut Printer<'_, '_>),
    ) {
        let entry = |index: &u32| batch.entry(*index as usize);
        let Some(directory) = directory else {
            for index in entries.iter() {
                let (directory, name) = self.place_of_operand(&entry(index), paths);
                notes[*index as usize].git = self.repositories.within(&directory).entry(name);
            }
            return self.tell(false, printer);
        };
        let directory = self.place_of_directory(directory, paths);
        let hides = self.plan.hides;
        let answer = self.repositories.within(&directory);
        entries.iter().for_each(|index| notes[*index as usize].git = answer.entry(entry(index).name()));
        if hides && !answer.is_ignored() {
            entries.retain(|index| notes[*index as usize].git != IGNORED);
        }
        self.tell(hides, printer);
    }

    /// Reports once why git gave no answer, if the column does not show it.
    fn tell(&mut self, hides: bool, printer: &mut Printer<'_, '_>) {
        let follows = if hides { ": what it ignores is not left out" } else { ": its column shows nothing" };
        if let Some(why) = self.repositories.tell_once(hides) {
            printer.message().text(&why).text(follows).send(printer.out);
        }
    }

    /// The result of git, for `--explain`.
    #[cold]
    #[inline(never)]
    pub(super) fn explain(&self, printer: &mut Printer<'_, '_>) {
        printer.out.message(visible(self.repositories.account().as_bytes()).as_bytes());
    }

    /// The canonical path of a directory that is an operand or below one.
    fn place_of_directory(&self, path: &[u8], paths: &mut Paths<'_>) -> Vec<u8> {
        let (said, place) = &self.root;
        match path.strip_prefix(&said[..]) {
            Some([]) if !said.is_empty() => place.clone(),
            Some(rest) if !said.is_empty() && (rest[0] == b'/' || said.ends_with(b"/")) => {
                join(place, rest.strip_prefix(b"/").unwrap_or(rest))
            }
            _ => paths.canonical(path),
        }
    }

    /// The directory of an operand that is shown as an entry, and the name of the operand in it. A directory is `.` in
    /// itself.
    fn place_of_operand<'e>(&self, entry: &Entry<'e>, paths: &mut Paths<'_>) -> (Vec<u8>, &'e [u8]) {
        let path = entry.name();
        if entry.kind() == Kind::Dir {
            return (paths.canonical(path), b".");
        }
        let slash = memchr::memrchr(b'/', path);
        let name = slash.map_or(path, |slash| &path[slash + 1..]);
        // The last component is a name, even if it is a link; the components before it are resolved.
        let directory = slash.map_or(&b"."[..], |slash| &path[..=slash]);
        (paths.canonical(directory), name)
    }
}

/// The device of a path that exists: one `statx`.
fn look(path: &CStr) -> Result<Device, Errno> {
    statx(CWD, path, Flags::NOFOLLOW | Flags::NO_AUTOMOUNT, Mask::TYPE).map(|found| found.dev())
}
