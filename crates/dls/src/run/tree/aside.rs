//! A tree under a deadline: read by the agent, which reads ahead, and taken from it directory after directory.

use super::super::Listing;
use super::super::source::{Closed, Source};
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents::batch::Batch;
use dents::bounded::{Sheet, below};
use dents::needs::Kind;
use dents::tree::Problem;
use dents::tree::held::{Failed, Held};
use dents_sys::Errno;

/// What is still to do, last first.
enum Todo {
    Take {
        path: CString,
        number: u64,
        depth: u32,
        above: Option<Arc<Sheet>>,
    },
    /// All below the directory entered last was taken.
    Leave,
}

impl Listing<'_, '_, '_> {
    /// Takes the trees from the agent, as far as they answer.
    pub(super) fn hold_aside(&mut self, paths: &[&CStr]) -> Held {
        let mut held = Held::new(Batch::new(self.plan.needs));
        let mut todo: Vec<Todo> = Vec::new();
        let mut numbers = paths.len() as u64 + 1;
        for (nth, path) in paths.iter().enumerate().rev() {
            let number = nth as u64 + 1;
            todo.push(Todo::Take { path: CString::from(*path), number, depth: 1, above: None });
        }
        while let Some(next) = todo.pop() {
            let Todo::Take { path, number, depth, above } = next else {
                self.active.leave();
                continue;
            };
            let Some(sheet) = self.take_sheet(&path, number, depth, above.as_ref(), &mut held) else {
                continue;
            };
            let (batch, order) = self.take_sorted(&sheet, &path, number, &mut held);
            todo.push(Todo::Leave);
            let enters = |index: &&u32| batch.entry(**index as usize).kind() == Kind::Dir;
            let mut children = Vec::new();
            if depth < self.plan.below.tree.unwrap_or(u32::MAX) {
                let cap = self
                    .plan
                    .below
                    .limit
                    .filter(|_| !self.sorts_by_totals())
                    .map_or(usize::MAX, |n| n as usize);
                for index in order.iter().take(cap).rev().filter(enters) {
                    let name = batch.entry(*index as usize).name();
                    let Ok(path) = CString::new(below(path.to_bytes(), name)) else { continue };
                    children.push((*index, numbers));
                    let above = Some(sheet.clone());
                    todo.push(Todo::Take { path, number: numbers, depth: depth + 1, above });
                    numbers += 1;
                }
            }
            held.add(number, &batch, &order, &children);
        }
        held
    }

    /// A directory that opened in time, and does not contain itself.
    fn take_sheet(
        &mut self,
        path: &CStr,
        number: u64,
        depth: u32,
        above: Option<&Arc<Sheet>>,
        held: &mut Held,
    ) -> Option<Arc<Sheet>> {
        let failed = |problem, errno| Failed { path: path.to_bytes().into(), problem, errno };
        match self.source(path, above, None) {
            Ok(source) => match (source.enter(&mut self.active), source) {
                (Ok(true), Source::Sheet(sheet)) => return Some(sheet),
                (Err(errno), _) => held.fail(number, failed(Problem::Open, errno)),
                _ => held.fail(number, failed(Problem::Loop, Errno::LOOP)),
            },
            Err(Closed::Failed(errno)) => held.fail(number, failed(Problem::Open, errno)),
            Err(Closed::Late { reached }) => self.late(path.to_bytes(), depth == 1, reached),
        }
        None
    }

    /// Its entries and their order.
    fn take_sorted(
        &mut self,
        sheet: &Arc<Sheet>,
        path: &CStr,
        number: u64,
        held: &mut Held,
    ) -> (Batch, Vec<u32>) {
        let (batch, report, ended) = self.take_whole(sheet, path);
        if let Err(errno) = ended {
            held.fail(number, Failed { path: path.to_bytes().into(), problem: Problem::Read, errno });
        }
        self.note(&report);
        let mut order = self.sort_by(&self.walk_order(), &batch);
        order.retain(|index| !matches!(batch.entry(*index as usize).name(), b"." | b".."));
        (batch, order)
    }
}
