//! The largest differences, in memory for as many as are shown.

use super::By;
use super::lists::{Difference, List, Listed};
use crate::top::{Best, Ranked};
use std::cmp::Reverse;
use std::io;

/// A difference with its weight.
pub(crate) type Weighed = Ranked<Difference>;

/// The largest entries of a list that `wanted` takes, and the number of all that it takes. The list may be long, so only these are kept.
pub(crate) fn largest(
    listed: &mut Listed,
    list: List,
    by: By,
    most: usize,
    wanted: impl Fn(&Listed, &Difference) -> bool,
) -> io::Result<(Vec<Weighed>, u64)> {
    let (mut best, mut number) = (Best::new(most), 0);
    while let Some(difference) = listed.next(list)? {
        if !wanted(listed, &difference) {
            continue;
        }
        number += 1;
        let weight = weight(&difference, by);
        if best.wants(weight) {
            let path = difference.path.clone();
            best.offer_with(weight, &path, difference);
        }
    }
    Ok((best.into_sorted(), number))
}

/// How much an entry has grown or shrunk; of equal ones, the larger file is the first. An entry that moved takes what it took before, so its
/// size counts as its growth.
fn weight(difference: &Difference, by: By) -> i128 {
    let Difference { list, old_size, new_size, growth, .. } = difference;
    let size = (*old_size).max(*new_size).unwrap_or_default();
    let growth = match by {
        _ if *list == List::Moved => size.into(),
        By::Size => growth.bytes.unsigned_abs(),
        By::Allocated => growth.allocated.unsigned_abs(),
        By::Entries => 0,
    };
    // The growth of one entry is a difference of two numbers of 64 bits.
    ((growth.min(i64::MAX as u128) as i128) << 64) | i128::from(size)
}

/// At most this many of all lists, the largest first. Each list has a quarter of them if it needs it: a thousand new files do not hide the one that
/// was deleted.
pub(super) fn of_all(lists: [Vec<Weighed>; 4], most: usize) -> Vec<Weighed> {
    let share = most / lists.len();
    let (mut chosen, mut others) = (Vec::new(), Vec::new());
    for list in lists {
        for (nth, one) in list.into_iter().enumerate() {
            let side = if nth < share { &mut chosen } else { &mut others };
            side.push(one);
        }
    }
    let order = |one: &Weighed, other: &Weighed| one.cmp(other).then(key(one).cmp(&key(other)));
    others.sort_unstable_by(order);
    others.truncate(most.saturating_sub(chosen.len()));
    chosen.append(&mut others);
    chosen.sort_unstable_by(order);
    chosen
}

/// Equal paths with equal weights: a deleted entry, and one that moved to its place.
fn key(one: &Weighed) -> Reverse<usize> {
    Reverse(one.more.list as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::changes::Changes;
    use crate::diff::growth::Growth;
    use dents_core::needs::Kind;

    fn difference(list: List, path: &str, allocated: i128) -> Difference {
        Difference {
            list,
            path: path.into(),
            kind: Kind::Reg,
            old_size: None,
            new_size: Some(allocated.unsigned_abs() as u64),
            old_path: None,
            changes: Changes::default(),
            growth: Growth { bytes: 1, allocated, entries: 0 },
        }
    }

    fn weighed(list: List, sizes: &[i128]) -> Vec<Weighed> {
        let mut best = Best::new(sizes.len());
        for size in sizes {
            let one = difference(list, &format!("{}{size}", list.word()), *size);
            let path = one.path.clone();
            best.offer_with(weight(&one, By::Allocated), &path, one);
        }
        best.into_sorted()
    }

    fn names(all: Vec<Weighed>) -> Vec<String> {
        all.into_iter().map(|one| String::from_utf8(one.path.into()).unwrap()).collect()
    }

    #[test]
    fn every_list_has_its_share_and_the_largest_are_first() {
        let lists = || {
            [
                weighed(List::New, &[900, 800, 700, 600, 500, 400]),
                weighed(List::Deleted, &[-850, -3]),
                weighed(List::Changed, &[]),
                weighed(List::Moved, &[1]),
            ]
        };
        assert_eq!(names(of_all(lists(), 4)), ["new900", "deleted-850", "new800", "moved1"]);
        assert_eq!(names(of_all(lists(), 1)), ["new900"]);
        assert_eq!(names(of_all(lists(), 0)), [""; 0]);
        assert_eq!(of_all(lists(), 99).len(), 9);
        assert_eq!(
            names(of_all(lists(), 8)),
            ["new900", "deleted-850", "new800", "new700", "new600", "new500", "deleted-3", "moved1"]
        );
    }

    #[test]
    fn figures_that_weigh() {
        let mut one = difference(List::New, "a", i128::from(u64::MAX));
        let by_size = weight(&one, By::Size);
        assert!(weight(&one, By::Allocated) > by_size && by_size > weight(&one, By::Entries));
        assert!(weight(&one, By::Entries) > 0, "larger files are first where nothing has grown");
        one.growth = Growth::default();
        one.list = List::Moved;
        assert!(weight(&one, By::Allocated) > by_size);
    }
}
