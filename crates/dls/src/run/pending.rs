//! Directories that are still to be listed, each in its turn, and what is read of them ahead of it.

use super::Listing;
use super::source::{Closed, Source};
use crate::loops::ActiveDirectories;
use crate::plan::Plan;
use crate::timing::Phase;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents::ahead::{self, Ahead, Crew, Directory, Hand, Lookahead, Small, Wanted};
use dents::batch::Batch;
use dents::deadline::Board;
use dents::sort::{Collate, Key};
use dents::stat::Means;

/// What is still to do.
enum Turn {
    List {
        directory: Arc<Directory>,
        operand: bool,
        above: Option<Arc<Board>>,
    },
    /// All of the directory entered last, with everything below it, has been listed.
    Leave,
}

impl Turn {
    fn directory(&self) -> Option<&Arc<Directory>> {
        match self {
            Turn::List { directory, .. } => Some(directory),
            Turn::Leave => None,
        }
    }
}

/// All that is still to do.
#[derive(Default)]
pub(super) struct Pending {
    /// Last first.
    turns: Vec<Turn>,
    active: ActiveDirectories,
    /// What is read ahead, if anything.
    lookahead: Option<Arc<Lookahead>>,
    /// Whether each answer is a round trip, as far as that is known.
    is_far: bool,
}

impl Pending {
    /// From here on directories may be read before their turn, if there can be so many of them.
    pub(super) fn look_ahead(&mut self, plan: &Plan<'_>, means: &Means<'_>, operands: usize) {
        let many = plan.recursive || operands >= ahead::WORTH;
        if many && plan.timeout_ns.is_none() && !plan.streams && Lookahead::suits(means) {
            self.lookahead = Some(Arc::default());
        }
    }

    /// What is to be listed before all that is here already.
    fn push(&mut self, directory: Arc<Directory>, operand: bool, above: Option<Arc<Board>>) {
        self.turns.push(Turn::List { directory, operand, above });
    }

    pub(super) fn len(&self) -> usize {
        self.turns.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// The directories from the operand down to the one being listed.
    pub(super) fn active(&mut self) -> &mut ActiveDirectories {
        &mut self.active
    }

    /// Last first.
    pub(super) fn directories(&self) -> impl DoubleEndedIterator<Item = &Arc<Directory>> {
        self.turns.iter().filter_map(Turn::directory)
    }

    /// Operands, the first one first.
    pub(super) fn push_operands(&mut self, paths: impl Iterator<Item = CString>) {
        let directories: Vec<_> = paths.map(Directory::new).collect();
        self.offer(&directories);
        directories.into_iter().rev().for_each(|directory| self.push(directory, true, None));
    }

    fn offer(&self, directories: &[Arc<Directory>]) {
        if let Some(lookahead) = &self.lookahead {
            lookahead.offer(directories.iter());
        }
    }

    /// Gives back what was read ahead and has been shown.
    pub(super) fn give_back(&self, small: Box<Small>) {
        if let Some(lookahead) = &self.lookahead {
            lookahead.give_back(small);
        }
    }

    /// Who helps, once it is time for that; from then on they do, or never.
    fn wants_help(&mut self, means: &Means<'_>) -> Option<(Arc<Lookahead>, Crew)> {
        let crew = self.lookahead.as_ref()?.crew(means)?;
        self.is_far = crew.is_far();
        if !crew.is_any() {
            self.lookahead = None;
        }
        self.lookahead.clone().map(|lookahead| (lookahead, crew))
    }
}

impl Listing<'_, '_, '_> {
    /// Lists all that is pending, and what it leads to.
    pub(super) fn take_turns(&mut self, headers: bool) {
        while !self.pending.is_empty() {
            if let Some((lookahead, crew)) = self.pending.wants_help(&self.means) {
                return self.take_turns_with_help(&lookahead, crew, headers);
            }
            self.take_turn(headers, None);
        }
    }

    fn take_turns_with_help(&mut self, lookahead: &Lookahead, crew: Crew, headers: bool) {
        let (plan, means) = (self.plan, self.means);
        // Widths are the renderer's to tell, and totals are found out when they are needed.
        let sorted = plan.order.key != Key::Width && plan.below.total_ns.is_none();
        let wanted = Wanted {
            filter: &plan.filter,
            needs: &plan.needs,
            follow: plan.follows_entries(),
            order: sorted.then_some(&plan.order),
            recursive: sorted && plan.recursive && !self.git_hides(),
        };
        // Whoever reads sorts by rules of his own.
        let rules = self.collate.clone();
        let rules = rules.as_deref().map(|rules| rules as &dyn Collate);
        let mut now = crew;
        lookahead.run(crew, wanted, &means, rules, &mut |hand| {
            while !self.pending.is_empty() {
                if let Some(more) = lookahead.more(&mut now, &means) {
                    return self.take_turns_with_help(lookahead, more, headers);
                }
                self.take_turn(headers, Some((lookahead, &mut *hand)));
            }
        });
    }

    fn take_turn(&mut self, headers: bool, help: Option<(&Lookahead, &mut Hand<'_>)>) {
        match self.pending.turns.pop() {
            Some(Turn::List { directory, operand, above }) => {
                self.timing.enter(Phase::Read);
                if !directory.is_ready() {
                    self.out.let_out(self.pending.is_far);
                }
                let ahead = match (help, &self.pending.lookahead) {
                    (Some((lookahead, hand)), _) => lookahead.take(&directory, hand),
                    (None, Some(lookahead)) => {
                        lookahead.take_alone(&directory);
                        None
                    }
                    (None, None) => None,
                };
                self.directory(directory.path(), operand, headers, above.as_ref(), ahead);
            }
            Some(Turn::Leave) => self.pending.active.leave(),
            None => {}
        }
    }

    /// One directory, if it can be opened.
    fn directory(
        &mut self,
        path: &CStr,
        operand: bool,
        header: bool,
        above: Option<&Arc<Board>>,
        ahead: Option<Ahead>,
    ) {
        match self.source(path, above, ahead) {
            Ok(source) => self.list(source, path, operand, header),
            Err(Closed::Failed(errno)) => {
                self.cannot("cannot open directory %s", path.to_bytes(), errno, operand);
            }
            Err(Closed::Late { reached }) => self.late(path.to_bytes(), operand, reached),
        }
    }

    /// Puts the subdirectories of the directory entered last on the list, first one on top.
    pub(super) fn descend(&mut self, batch: &Batch, order: &[u32], path: &CStr, source: &mut Source) {
        self.pending.turns.push(Turn::Leave);
        if let Some(below) = source.take_below() {
            return below.into_iter().rev().for_each(|directory| self.pending.push(directory, false, None));
        }
        let below = Directory::all_below(path, batch, order);
        self.pending.offer(&below);
        for directory in below.into_iter().rev() {
            self.pending.push(directory, false, source.board().cloned());
        }
    }

    /// Notes the directory as one being listed; refuses one that is being listed already, or the descent
    /// would never end.
    pub(super) fn enter(&mut self, source: &Source, path: &CStr, operand: bool) -> bool {
        match source.enter(&mut self.pending.active) {
            Ok(true) => true,
            Ok(false) => {
                self.already_listed(path.to_bytes());
                false
            }
            Err(errno) => {
                self.cannot("cannot determine device and inode of %s", path.to_bytes(), errno, operand);
                false
            }
        }
    }
}
