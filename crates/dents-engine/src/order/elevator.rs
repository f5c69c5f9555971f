//! Members in the order in which the head of a disk passes them.
//!
//! ```text
//! found ─► first sweep, by key: the worker looks where it is ─► second sweep, by place: the worker executes it, and finds more
//! ```
//!
//! The first sweep ends when no member is left that waits for it; so does the second. In two sweeps the head goes over the disk once for
//! each. If each member were executed where its first sweep meets it, the head would move to and fro between the two.

use alloc::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct Elevator<M> {
    /// The first sweep, and the second.
    sweeps: [Sweep<M>; 2],
    /// The number of the sweep that goes on.
    now: usize,
    /// Makes keys unique.
    number: u64,
}

#[derive(Debug)]
struct Sweep<M> {
    members: BTreeMap<(u64, u64), M>,
    last: u64,
}

impl<M> Sweep<M> {
    /// Upwards from the last key, then again from the lowest.
    fn take(&mut self) -> Option<M> {
        let ahead = self.members.range((self.last, 0)..).next().map(|(key, _)| *key);
        let key = ahead.or_else(|| self.members.keys().next().copied())?;
        self.last = key.0;
        self.members.remove(&key)
    }
}

impl<M> Elevator<M> {
    pub(super) const fn new() -> Elevator<M> {
        let sweeps = [const { Sweep { members: BTreeMap::new(), last: 0 } }; 2];
        Elevator { sweeps, now: 0, number: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.sweeps.iter().map(|sweep| sweep.members.len()).sum()
    }

    /// Adds a member to the first sweep (0) or the second (1).
    pub(super) fn add(&mut self, sweep: usize, key: u64, member: M) {
        self.number += 1;
        self.sweeps[sweep].members.insert((key, self.number), member);
    }

    /// The next member, and the number of its sweep.
    pub(super) fn take(&mut self) -> Option<(M, usize)> {
        for _ in 0..2 {
            if let Some(member) = self.sweeps[self.now].take() {
                return Some((member, self.now));
            }
            self.now = 1 - self.now;
            // The disk is passed from its beginning.
            self.sweeps[self.now].last = 0;
        }
        None
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;

    #[test]
    fn one_sweep_ends_before_the_other_begins() {
        let mut elevator = Elevator::new();
        elevator.add(0, 20, 'a');
        elevator.add(0, 10, 'b');
        assert_eq!(elevator.take(), Some(('b', 0)));
        elevator.add(1, 9, 'b');
        elevator.add(0, 15, 'c');
        assert_eq!((elevator.take(), elevator.take()), (Some(('c', 0)), Some(('a', 0))));
        elevator.add(1, 5, 'a');
        assert_eq!((elevator.len(), elevator.take()), (2, Some(('a', 1))));
        elevator.add(0, 1, 'd');
        assert_eq!((elevator.take(), elevator.take()), (Some(('b', 1)), Some(('d', 0))));
        assert_eq!(elevator.take(), None);
    }

    #[test]
    fn a_sweep_goes_on_upwards() {
        let mut elevator = Elevator::new();
        [20, 10, 20].iter().for_each(|key| elevator.add(0, *key, *key));
        assert_eq!((elevator.take(), elevator.take()), (Some((10, 0)), Some((20, 0))));
        [15, 25].iter().for_each(|key| elevator.add(0, *key, *key));
        let rest: [_; 3] = core::array::from_fn(|_| elevator.take().map(|(key, _)| key));
        assert_eq!(rest, [Some(20), Some(25), Some(15)]);
    }
}
