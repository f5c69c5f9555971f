//! `--tree`: everything below the operands, read on all threads, then rendered from top to bottom.
//!
//! ```text
//! operands ─► walk (or, with -L or a deadline, in turn) ─► Hierarchy ─► owners ─► totals ─► notes ─► outline ─► draw
//! ```
//!
//! The whole tree is in memory before its first line is rendered, because the widths of columns depend on all lines.
//! Errors are reported before it, in the order of the tree, whichever thread met them first.

mod in_turn;
mod notes;
mod outline;

use super::directory::Origin;
use super::notes::Notes;
use super::{Listing, Rules};
use crate::message::Message;
use crate::status::Status;
use crate::timing::Phase;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::mem;
use dents_core::batch::{Asked, Batch};
use dents_core::needs::Kind;
use dents_core::read::{Filter, Hidden};
use dents_core::sort::{Collate, Key, Order};
use dents_core::stat::Report;
use dents_core::stat::choose::{Choice, Strategy};
use dents_core::stat::request_counts::RequestCounts;
use dents_core::team::Team;
use dents_core::tree::hierarchy::{Hierarchy, HierarchyOptions, Sorter, collect};
use dents_core::tree::{Follow, Options, StartPoint, Tally};
use dents_render::{FrameKind, Places, Renderer};
use dents_sys::statfs::statfs;
use outline::{Extent, outline};

impl Listing<'_, '_, '_> {
    /// Shows the trees of all operands.
    #[cold]
    #[inline(never)]
    pub(super) fn trees(&mut self, names: &[&CStr]) {
        let batch = self.known_operands(names);
        self.timing.enter(Phase::Sort);
        let mut order = self.sort_by(&self.plan.order, &batch);
        order.retain(|index| !matches!(batch.entry(*index as usize).fault(), Some((Asked::Stat, _))));
        if self.git.is_some() {
            self.ask_git_of_operands(&batch, &order, &[]);
        }
        let is_root = |index: &u32| !self.plan.directory && batch.entry(*index as usize).kind() == Kind::Dir;
        // As in a listing, operands that are not directories come first.
        order.sort_by_key(is_root);
        let roots: Vec<u32> = order.iter().copied().filter(is_root).collect();
        let paths: Vec<&CStr> = roots.iter().map(|index| batch.entry(*index as usize).c_name()).collect();
        // The walk reads and stats at the same time.
        self.timing.enter(Phase::Stat);
        let in_turn = self.timeout.is_some() || self.plan.follows_entries();
        let mut hierarchy = if in_turn { self.collect_in_turn(&paths) } else { self.collect(&paths) };
        self.count_entries(&hierarchy.batch);
        let numbered: Vec<(u32, u64)> = roots.iter().copied().zip(1..).collect();
        hierarchy.add(0, &batch, &order, &numbered);
        if hierarchy.batch.is_full() {
            Message::new(self.plan.program)
                .text("only a part of the tree is shown: it has more than 4 billion entries")
                .send(self.out);
            self.status.raise(Status::Minor);
        }
        self.learn_owners(&hierarchy.batch);
        self.show(hierarchy, &paths);
    }

    /// Computes totals, gets the notes, and renders.
    fn show(&mut self, mut hierarchy: Hierarchy, roots: &[&CStr]) {
        let index = hierarchy.index();
        let depth = self.plan.hierarchy.tree.unwrap_or(u32::MAX);
        let totals = self.totals(roots.iter().map(|path| path.to_bytes()), depth);
        self.timing.enter(Phase::Sort);
        let mut known = self.tree_notes(&index, totals.as_ref());
        for failed in totals.iter().flat_map(|totals| &totals.failures) {
            if !known.told.contains(&failed.path) {
                self.closed(failed, Origin::Below);
            }
        }
        let mut others = mem::take(&mut known.others);
        others.sort_unstable();
        let places = Some(Arc::new(Places { directory: Vec::new(), others }));
        let mut notes = Notes { entries: mem::take(&mut known.entries), places, ..Notes::default() };
        self.finish_notes(index.batch(), &mut notes);
        let limit = self.plan.hierarchy.limit.map_or(usize::MAX, |limit| limit as usize);
        let lines = outline(&index, &known, Extent { depth, limit });
        self.timing.enter(Phase::Render);
        let team = self.team(index.batch());
        let frame = notes.frame(index.batch(), &[], FrameKind::Directory, &self.owners);
        self.renderer.tree(&frame, &lines, &team, self.out);
        self.printed = !lines.is_empty();
    }

    /// Walks the trees on all threads.
    fn collect(&mut self, paths: &[&CStr]) -> Hierarchy {
        let plan = self.plan;
        let beginning =
            |path: &&CStr| StartPoint { parent: Vec::new(), name: CString::from(*path), depth: 1 };
        let start_points: Vec<_> = paths.iter().map(beginning).collect();
        let options = Options {
            needs: plan.needs,
            filter: Filter { hidden: without_dots(plan.filter.hidden), ..plan.filter.clone() },
            max_depth: plan.hierarchy.tree.unwrap_or(u32::MAX),
            follow: Follow::Operands,
            workers: self.walkers(),
            watch: self.resources.threads.watching(),
            counter: self.resources.counter,
            ..Options::default()
        };
        let (order, style, tables) = (self.walk_order(), &plan.style, self.session.collate);
        let sorter = move || -> Sorter<'_> {
            let mut collate = tables.and_then(Rules::new);
            // Made only if it is needed: it measures the widths of names.
            let mut renderer = (order.key == Key::Width).then(|| Box::new(Renderer::new(style)));
            Box::new(move |batch: &Batch| {
                let collate = collate.as_deref_mut().map(|rules| rules as &mut dyn Collate);
                match &mut renderer {
                    Some(renderer) => {
                        order.sort_by_width(batch, collate, &Team::ALONE, &renderer.widths(batch))
                    }
                    None => order.sort(batch, collate, &Team::ALONE),
                }
            })
        };
        let how = HierarchyOptions { sorter: &sorter, cap: self.cap() };
        let (hierarchy, tally) = collect(&start_points, &options, self.system.workers, &how);
        self.take_report(&report(&tally));
        if let (Some(counter), Some(first)) = (self.resources.counter, paths.first()) {
            // A walk does not request the type of its file system.
            counter
                .add(&RequestCounts { fs: (statfs(first).ok(), tally.entries), ..RequestCounts::default() });
        }
        hierarchy
    }

    /// The number of entries of a directory that may be entered. Which come first is unknown until totals and git
    /// states are known.
    fn cap(&self) -> Option<usize> {
        let known = !self.sorts_by_totals() && !self.git_hides();
        self.plan.hierarchy.limit.filter(|_| known).map(|limit| limit as usize)
    }

    /// The order of entries during the walk. If totals decide, they are first sorted by name.
    fn walk_order(&self) -> Order {
        let key = if self.sorts_by_totals() { Key::Name } else { self.plan.order.key };
        Order { key, ..self.plan.order }
    }

    pub(super) fn sorts_by_totals(&self) -> bool {
        self.plan.order.key == Key::Size && self.plan.hierarchy.total_ns.is_some()
    }
}

/// `.` and `..` are not below a directory.
fn without_dots(hidden: Hidden) -> Hidden {
    if hidden == Hidden::All { Hidden::AlmostAll } else { hidden }
}

fn report(tally: &Tally) -> Report {
    let mut report = Report::default();
    report.tally.entries = tally.entries;
    report.tally.faults = tally.faults;
    report.tally.stats = tally.stats;
    report.tally.avoided = tally.avoided;
    let workers = tally.workers as usize;
    report.choice = Some(match workers {
        0 | 1 => Choice { strategy: Strategy::Classic, reason: "a small tree, or as asked" },
        _ => Choice { strategy: Strategy::Par(workers), reason: "each has directories of its own" },
    });
    report
}
