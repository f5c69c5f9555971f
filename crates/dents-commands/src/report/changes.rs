//! What changed between two scans, by `dents diff`.

use crate::diff::{By, Difference, Growth, List, Outcome, Pair, Stop, largest, shown};
use crate::filter::Filter;
use crate::inode::path_order;
use crate::output::Diagnostics;
use crate::walk::Walk;
use dents_core::tree::End;
use std::cmp::Reverse;
use std::ffi::OsStr;

/// The depth down to which directories have a sum.
const DEPTH: u32 = 4;
/// The number of directories and of users, and of the entries of each list.
const ROWS: usize = 300;

/// The differences that the page shows.
pub(super) struct Changes {
    pub(super) total: Growth,
    /// New, deleted, changed, moved.
    pub(super) counts: [Growth; 4],
    /// Entries that could not be compared.
    pub(super) unknown: u64,
    pub(super) directories: Vec<(Vec<u8>, Growth)>,
    pub(super) users: Vec<(Vec<u8>, Growth)>,
    /// The largest differences of each list.
    pub(super) lists: [Vec<Difference>; 4],
}

/// Compares OLD and NEW.
pub(super) fn between(
    scans: [&OsStr; 2],
    walk: &Walk,
    partial: bool,
    filter: &Filter<'_>,
    diagnostics: &Diagnostics<'_>,
) -> Result<Changes, Stop> {
    let pair = Pair { scans, walk, partial, filter, depth: DEPTH, lists: true };
    let (mut outcome, end) = pair.compare(diagnostics)?;
    if end != End::Complete && !partial {
        return Err(Stop::Reported);
    }
    let mut lists = List::ALL.map(|_| Vec::new());
    for list in List::ALL {
        let (largest, _) = largest(&mut outcome.listed, list, By::Allocated, ROWS, |_, _| true)?;
        lists[list as usize] = largest.into_iter().map(|one| one.more).collect();
    }
    let Outcome { sums, listed, unknown, users } = outcome;
    Ok(Changes {
        total: sums.total,
        counts: listed.counts,
        unknown,
        directories: ordered(
            sums.directories.iter().map(|(path, node)| (shown(path).to_vec(), node.growth)).collect(),
        ),
        users: ordered(sums.users.iter().map(|(id, growth)| (users.user(*id), *growth)).collect()),
        lists,
    })
}

/// The largest growth first.
fn ordered(mut rows: Vec<(Vec<u8>, Growth)>) -> Vec<(Vec<u8>, Growth)> {
    rows.retain(|(_, growth)| *growth != Growth::default());
    rows.sort_unstable_by(|(a, one), (b, other)| {
        let size =
            |growth: &Growth| Reverse((growth.allocated.unsigned_abs(), growth.entries.unsigned_abs()));
        size(one).cmp(&size(other)).then_with(|| path_order(a, b))
    });
    rows.truncate(ROWS);
    rows
}
