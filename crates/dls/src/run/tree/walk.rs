//! Reads a tree on all threads.

use super::super::printer::Printer;
use super::super::rules::Rules;
use super::super::session::Session;
use crate::plan::TreePlan;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_core::batch::Batch;
use dents_core::read::{Filter, Hidden};
use dents_core::sort::{Collate, Key};
use dents_core::stat::Report;
use dents_core::stat::choose::{Choice, Strategy};
use dents_core::stat::request_counts::RequestCounts;
use dents_core::team::Team;
use dents_core::tree::hierarchy::{Hierarchy, HierarchyOptions, Sorter, collect};
use dents_core::tree::{Follow, Options, StartPoint, Tally};
use dents_render::Renderer;
use dents_sys::statfs::statfs;

/// Walks the trees on all threads.
pub(super) fn walk(
    session: &Session<'_>,
    tree: &TreePlan,
    paths: &[&CStr],
    printer: &mut Printer<'_, '_>,
) -> Hierarchy {
    let plan = session.plan;
    let beginning = |path: &&CStr| StartPoint { parent: Vec::new(), name: CString::from(*path), depth: 1 };
    let start_points: Vec<_> = paths.iter().map(beginning).collect();
    let counter = session.counter.as_deref();
    let options = Options {
        needs: plan.needs,
        filter: Filter { hidden: without_dots(plan.filter.hidden), ..plan.filter.clone() },
        max_depth: tree.depth,
        follow: Follow::Operands,
        // Deeper than the operands' entries, a directory may be an operand again.
        mounts_loop: tree.depth > 1 && session.mounts.any_loop(),
        workers: session.walkers(),
        watch: session.threads.watching(),
        counter,
        ..Options::default()
    };
    let (order, style, tables) = (tree.order, &plan.style, session.collate);
    let sorter = move || -> Sorter<'_> {
        let mut collate = tables.and_then(Rules::new);
        // Made only if it is needed: it measures the widths of names.
        let mut renderer = (order.key == Key::Width).then(|| Box::new(Renderer::new(style)));
        Box::new(move |batch: &Batch| {
            let collate = collate.as_deref_mut().map(|rules| rules as &mut dyn Collate);
            match &mut renderer {
                Some(renderer) => order.sort_by_width(batch, collate, &Team::ALONE, &renderer.widths(batch)),
                None => order.sort(batch, collate, &Team::ALONE),
            }
        })
    };
    let how = HierarchyOptions { sorter: &sorter, cap: tree.entered };
    let (hierarchy, tally) = collect(&start_points, &options, session.system.workers, &how);
    printer.take_report(&report(&tally));
    if let (Some(counter), Some(first)) = (counter, paths.first()) {
        // A walk does not request the type of its file system.
        counter.add(&RequestCounts { fs: (statfs(first).ok(), tally.entries), ..RequestCounts::default() });
    }
    hierarchy
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
