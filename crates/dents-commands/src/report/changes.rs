//! What changed between two scans, by `dents diff`.

use crate::diff::{Difference, Growth, Keep, List, Outcome, Pair, Stop, shown};
use crate::filter::Filter;
use crate::inode::path_order;
use crate::output::Diagnostics;
use crate::walk::Walk;
use dents_core::tree::End;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::io;

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
    let pair = Pair { scans, walk, partial, filter, depth: DEPTH, keep: Keep::All };
    let (mut outcome, end) = pair.compare(diagnostics)?;
    if end != End::Complete && !partial {
        return Err(Stop::Reported);
    }
    let mut lists = List::ALL.map(|_| Vec::new());
    for list in List::ALL {
        lists[list as usize] = largest(&mut outcome, list)?;
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

/// The entries of a list with the largest differences, in the order of their paths if they are equal. The list may be long, so only these are kept.
fn largest(outcome: &mut Outcome, list: List) -> io::Result<Vec<Difference>> {
    let mut heap: BinaryHeap<(Reverse<u128>, u64)> = BinaryHeap::new();
    let mut kept = std::collections::HashMap::new();
    let mut nth = 0;
    while let Some(difference) = outcome.listed.next(list)? {
        // A moved entry takes what it took before.
        let size = match list {
            List::Moved => u128::from(difference.new_size.unwrap_or_default()),
            _ => difference.growth.allocated.unsigned_abs(),
        };
        nth += 1;
        if heap.len() == ROWS && heap.peek().is_some_and(|(Reverse(least), _)| *least >= size) {
            continue;
        }
        heap.push((Reverse(size), nth));
        kept.insert(nth, difference);
        if heap.len() > ROWS
            && let Some((_, least)) = heap.pop()
        {
            kept.remove(&least);
        }
    }
    let order = heap.into_sorted_vec();
    Ok(order.into_iter().filter_map(|(_, nth)| kept.remove(&nth)).collect())
}
