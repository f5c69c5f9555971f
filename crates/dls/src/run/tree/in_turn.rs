//! Reads a tree one directory after the other, in the order of its lines: under a deadline, from the agent, which
//! reads ahead; and with `-L`, where links may lead to one directory in more ways than can be shown. There, each
//! directory is read once.

use super::super::directory::Origin;
use super::super::open_directory::{NotOpen, OpenDirectory};
use super::super::printer::Printer;
use super::super::read::ReadStage;
use super::super::session::Session;
use super::super::sort::SortStage;
use crate::cycle::{ActiveDirectories, Identity};
use crate::plan::TreePlan;
use alloc::collections::BTreeMap;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_core::batch::Batch;
use dents_core::deadline::Board;
use dents_core::needs::Kind;
use dents_core::path::below;
use dents_core::read::Reader;
use dents_core::tree::hierarchy::{Failed, Hierarchy};
use dents_core::tree::{Problem, open_by_path};
use dents_sys::{Errno, Result};

/// A stack of tasks.
enum Todo {
    Take {
        path: CString,
        number: u64,
        depth: u32,
        above: Option<Arc<Board>>,
    },
    /// Leaves the directory entered last.
    Leave,
}

/// Reads a tree in turn.
pub(super) struct InTurn<'t, 'l, 'o> {
    session: &'l Session<'l>,
    tree: &'t TreePlan,
    read: &'t mut ReadStage<'l>,
    sort: &'t mut SortStage<'l>,
    printer: &'t mut Printer<'l, 'o>,
    hierarchy: Hierarchy,
    active: ActiveDirectories,
    /// If links are followed: the numbers of the directories that were read below this operand.
    known: BTreeMap<Identity, u64>,
}

impl<'t, 'l, 'o> InTurn<'t, 'l, 'o> {
    pub(super) fn new(
        session: &'l Session<'l>,
        tree: &'t TreePlan,
        (read, sort, printer): (&'t mut ReadStage<'l>, &'t mut SortStage<'l>, &'t mut Printer<'l, 'o>),
    ) -> InTurn<'t, 'l, 'o> {
        let hierarchy = Hierarchy::new(Batch::new(session.plan.needs));
        let (active, known) = (ActiveDirectories::default(), BTreeMap::new());
        InTurn { session, tree, read, sort, printer, hierarchy, active, known }
    }

    /// Reads the trees, as far as they answer.
    pub(super) fn collect(mut self, paths: &[&CStr]) -> Hierarchy {
        let mut todo: Vec<Todo> = Vec::new();
        let mut numbers = paths.len() as u64 + 1;
        for (nth, path) in paths.iter().enumerate().rev() {
            let number = nth as u64 + 1;
            todo.push(Todo::Take { path: CString::from(*path), number, depth: 1, above: None });
        }
        let most = self.tree.entered.unwrap_or(usize::MAX);
        while let Some(next) = todo.pop() {
            let Todo::Take { path, number, depth, above } = next else {
                self.active.leave();
                continue;
            };
            if depth == 1 {
                // An operand is shown, even if an earlier operand contains it.
                self.known.clear();
            }
            let Some(source) = self.open(&path, number, depth, above.as_ref()) else { continue };
            let above = source.board().cloned();
            let (batch, order) = self.take_sorted(source, &path, number);
            todo.push(Todo::Leave);
            let enters = |index: &&u32| batch.entry(**index as usize).kind() == Kind::Dir;
            let mut children = Vec::new();
            if depth < self.tree.depth {
                for index in order.iter().take(most).rev().filter(enters) {
                    let name = batch.entry(*index as usize).name();
                    let Ok(path) = CString::new(below(path.to_bytes(), name)) else { continue };
                    children.push((*index, numbers));
                    let above = above.clone();
                    todo.push(Todo::Take { path, number: numbers, depth: depth + 1, above });
                    numbers += 1;
                }
            }
            self.hierarchy.add(number, &batch, &order, &children);
        }
        self.hierarchy
    }

    /// Opens a directory; `None` if it did not open in time, contains itself, or was read before.
    fn open(
        &mut self,
        path: &CStr,
        number: u64,
        depth: u32,
        above: Option<&Arc<Board>>,
    ) -> Option<OpenDirectory> {
        let failed = |problem, errno| Failed { path: path.to_bytes().into(), problem, errno };
        let source = match self.read.open(path, true, above, self.printer) {
            Ok(source) => source,
            Err(NotOpen::Failed(errno)) => match beyond_path_max(path, errno) {
                Ok(source) => source,
                Err(errno) => {
                    self.hierarchy.fail(number, failed(Problem::Open, errno));
                    return None;
                }
            },
            Err(NotOpen::Late { reached }) => {
                let origin = if depth == 1 { Origin::Operand } else { Origin::Below };
                self.printer.late(path.to_bytes(), origin, reached);
                return None;
            }
        };
        match source.identity() {
            Err(errno) => self.hierarchy.fail(number, failed(Problem::Open, errno)),
            Ok(identity) if !self.active.enter(identity) => {
                self.hierarchy.fail(number, failed(Problem::Loop, Errno::LOOP));
            }
            Ok(Some(identity)) if self.session.plan.follows_entries() => {
                let first = *self.known.entry(identity).or_insert(number);
                if first == number {
                    return Some(source);
                }
                self.active.leave();
                self.hierarchy.same(number, first);
            }
            Ok(_) => return Some(source),
        }
        None
    }

    /// The entries of a directory, and their order.
    fn take_sorted(&mut self, source: OpenDirectory, path: &CStr, number: u64) -> (Batch, Vec<u32>) {
        let mut source = self.read.with_buffer(source);
        let (batch, report, ended) = self.read.take_all(&mut source, path, self.printer);
        self.read.end(source);
        if let Err(errno) = ended {
            let failed = Failed { path: path.to_bytes().into(), problem: Problem::Read, errno };
            self.hierarchy.fail(number, failed);
        }
        self.printer.take_report(&report);
        let mut order = self.sort.by(&self.tree.order, &batch, self.printer);
        order.retain(|index| !matches!(batch.entry(*index as usize).name(), b"." | b".."));
        (batch, order)
    }
}

/// Opens a directory whose path is too long for one call, as a walk does that follows no links. (GNU `ls -LR` fails there, and so does ours.)
#[cold]
fn beyond_path_max(path: &CStr, errno: Errno) -> Result<OpenDirectory> {
    match errno {
        Errno::NAMETOOLONG => {
            open_by_path(path.to_bytes(), true).map(|dir| OpenDirectory::Reader(Reader::new(dir)))
        }
        errno => Err(errno),
    }
}
