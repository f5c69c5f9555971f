//! Reads a tree one directory after the other, in the order of its lines: under a deadline, from the agent, which
//! reads ahead; and with `-L`, where links may lead to one directory in more ways than can be shown. There, each
//! directory is read once.

use super::super::Listing;
use super::super::directory::Origin;
use super::super::source::{Closed, Source};
use crate::cycle::Identity;
use alloc::collections::BTreeMap;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_core::batch::Batch;
use dents_core::deadline::Board;
use dents_core::needs::Kind;
use dents_core::path::below;
use dents_core::tree::Problem;
use dents_core::tree::hierarchy::{Failed, Hierarchy};
use dents_sys::Errno;

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

/// The tree read so far.
struct Reading {
    hierarchy: Hierarchy,
    /// If links are followed: the numbers of the directories that were read below this operand.
    known: BTreeMap<Identity, u64>,
}

impl Listing<'_, '_, '_> {
    /// Reads the trees, as far as they answer.
    pub(super) fn collect_in_turn(&mut self, paths: &[&CStr]) -> Hierarchy {
        let hierarchy = Hierarchy::new(Batch::new(self.plan.needs));
        let mut reading = Reading { hierarchy, known: BTreeMap::new() };
        let mut todo: Vec<Todo> = Vec::new();
        let mut numbers = paths.len() as u64 + 1;
        for (nth, path) in paths.iter().enumerate().rev() {
            let number = nth as u64 + 1;
            todo.push(Todo::Take { path: CString::from(*path), number, depth: 1, above: None });
        }
        let cap = self.cap().unwrap_or(usize::MAX);
        while let Some(next) = todo.pop() {
            let Todo::Take { path, number, depth, above } = next else {
                self.turns.active().leave();
                continue;
            };
            if depth == 1 {
                // An operand is shown, even if an earlier operand contains it.
                reading.known.clear();
            }
            let Some(source) = self.take_source(&path, number, depth, above.as_ref(), &mut reading) else {
                continue;
            };
            let above = source.board().cloned();
            let (batch, order) = self.take_sorted(source, &path, number, &mut reading.hierarchy);
            todo.push(Todo::Leave);
            let enters = |index: &&u32| batch.entry(**index as usize).kind() == Kind::Dir;
            let mut children = Vec::new();
            if depth < self.plan.hierarchy.tree.unwrap_or(u32::MAX) {
                for index in order.iter().take(cap).rev().filter(enters) {
                    let name = batch.entry(*index as usize).name();
                    let Ok(path) = CString::new(below(path.to_bytes(), name)) else { continue };
                    children.push((*index, numbers));
                    let above = above.clone();
                    todo.push(Todo::Take { path, number: numbers, depth: depth + 1, above });
                    numbers += 1;
                }
            }
            reading.hierarchy.add(number, &batch, &order, &children);
        }
        reading.hierarchy
    }

    /// Opens a directory; `None` if it did not open in time, contains itself, or was read before.
    fn take_source(
        &mut self,
        path: &CStr,
        number: u64,
        depth: u32,
        above: Option<&Arc<Board>>,
        reading: &mut Reading,
    ) -> Option<Source> {
        let failed = |problem, errno| Failed { path: path.to_bytes().into(), problem, errno };
        let source = match self.source(path, above, None) {
            Ok(source) => source,
            Err(Closed::Failed(errno)) => {
                reading.hierarchy.fail(number, failed(Problem::Open, errno));
                return None;
            }
            Err(Closed::Late { reached }) => {
                let origin = if depth == 1 { Origin::Operand } else { Origin::Below };
                self.late(path.to_bytes(), origin, reached);
                return None;
            }
        };
        match source.identity() {
            Err(errno) => reading.hierarchy.fail(number, failed(Problem::Open, errno)),
            Ok(identity) if !self.turns.active().enter(identity) => {
                reading.hierarchy.fail(number, failed(Problem::Loop, Errno::LOOP));
            }
            Ok(Some(identity)) if self.plan.follows_entries() => {
                let first = *reading.known.entry(identity).or_insert(number);
                if first == number {
                    return Some(source);
                }
                self.turns.active().leave();
                reading.hierarchy.same(number, first);
            }
            Ok(_) => return Some(source),
        }
        None
    }

    /// The entries of a directory, and their order.
    fn take_sorted(
        &mut self,
        source: Source,
        path: &CStr,
        number: u64,
        hierarchy: &mut Hierarchy,
    ) -> (Batch, Vec<u32>) {
        let mut source = source.with_buffer(&mut self.spare);
        let (batch, report, ended) = self.take_all(&mut source, path);
        if let Some(buffer) = source.into_buffer(self.system.rings) {
            self.spare = buffer;
        }
        if let Err(errno) = ended {
            hierarchy.fail(number, Failed { path: path.to_bytes().into(), problem: Problem::Read, errno });
        }
        self.take_report(&report);
        let mut order = self.sort_by(&self.walk_order(), &batch);
        order.retain(|index| !matches!(batch.entry(*index as usize).name(), b"." | b".."));
        (batch, order)
    }
}
