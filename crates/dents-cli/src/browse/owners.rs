//! The owners of entries. Each pair of a user and a group is kept once, so an entry needs one number for both.

use dents_core::facts::Facts;
use std::collections::HashMap;

/// The number of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pair(u32);

/// A user and a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owners {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Owners {
    /// Of an entry without metadata.
    pub(super) const UNKNOWN: Owners = Owners { uid: Facts::NOBODY, gid: Facts::NOBODY };
}

impl Default for Owners {
    fn default() -> Owners {
        Owners::UNKNOWN
    }
}

/// All pairs.
pub(super) struct Pairs {
    all: Vec<Owners>,
    numbers: HashMap<Owners, Pair>,
}

impl Default for Pairs {
    /// The first pair is that of entries without metadata.
    fn default() -> Pairs {
        let mut pairs = Pairs { all: Vec::new(), numbers: HashMap::new() };
        pairs.number(Owners::UNKNOWN);
        pairs
    }
}

impl Pairs {
    pub(super) fn number(&mut self, owners: Owners) -> Pair {
        let Pairs { all, numbers } = self;
        *numbers.entry(owners).or_insert_with(|| {
            all.push(owners);
            Pair(all.len() as u32 - 1)
        })
    }

    pub(super) fn get(&self, Pair(number): Pair) -> Owners {
        self.all.get(number as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_kept_once() {
        let mut pairs = Pairs::default();
        let all = [(0, 0), (0, 7), (7, 0), (0, 0)].map(|(uid, gid)| Owners { uid, gid });
        let numbers = all.map(|owners| pairs.number(owners));
        assert_eq!(numbers.map(|number| pairs.get(number)), all);
        assert_eq!((numbers[0], pairs.all.len()), (numbers[3], 4));
        assert_eq!(pairs.get(Pair::default()), Owners::UNKNOWN);
    }
}
