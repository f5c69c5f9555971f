//! The sum of a directory: entries, bytes and allocated space, by user and by age.

use crate::stats::{AGES, Now};
use dents_core::facts::Facts;
use dents_core::needs::{Kind, Needs};
use dents_sink::coding::{Bytes, put_number};
use std::collections::HashMap;

/// The number of classes of ages.
pub(super) const CLASSES: usize = AGES.len();

/// Figures that add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) entries: u64,
    /// Bytes in regular files, and in the text of links.
    pub(super) bytes: u128,
    pub(super) allocated: u128,
}

impl Figures {
    /// The largest share of these figures in those of the whole. The share of a directory is at least that of each directory in it.
    pub(super) fn share(&self, whole: &Figures) -> f64 {
        let part = |part: u128, whole: u128| part as f64 / whole.max(1) as f64;
        let entries = part(self.entries.into(), whole.entries.into());
        entries.max(part(self.bytes, whole.bytes)).max(part(self.allocated, whole.allocated))
    }

    pub(super) fn add(&mut self, other: &Figures) {
        self.entries += other.entries;
        self.bytes += other.bytes;
        self.allocated += other.allocated;
    }
}

/// A sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) figures: Figures,
    /// The last change of a file, in seconds.
    pub(super) newest: Option<i64>,
    /// Weights of the classes of ages, and of the users.
    ages: [u128; CLASSES],
    users: HashMap<u32, u128>,
}

impl Sum {
    /// Adds an entry.
    pub(super) fn see(&mut self, kind: Kind, facts: &Facts<'_>, now: Now) {
        let bytes = if kind.has_length() { facts.size.into() } else { 0 };
        self.figures.add(&Figures { entries: 1, bytes, allocated: facts.allocated.into() });
        // An entry without blocks counts a little, so that a directory of empty files has a colour.
        let weight = u128::from(facts.allocated.max(1));
        if facts.uid != Facts::NOBODY {
            *self.users.entry(facts.uid).or_default() += weight;
        }
        if let Some(mtime) = facts.time(Needs::MTIME).filter(|_| kind != Kind::Dir) {
            self.newest = self.newest.max(Some(mtime.sec));
            self.ages[now.age(mtime)] += weight;
        }
    }

    pub(super) fn add(&mut self, other: &Sum) {
        self.figures.add(&other.figures);
        self.newest = self.newest.max(other.newest);
        self.ages.iter_mut().zip(other.ages).for_each(|(own, more)| *own += more);
        other.users.iter().for_each(|(user, weight)| *self.users.entry(*user).or_default() += weight);
    }

    /// The class of ages with the most weight; `None` without files.
    pub(super) fn age(&self) -> Option<usize> {
        let most = *self.ages.iter().max()?;
        self.ages.iter().position(|weight| *weight == most && most > 0)
    }

    /// The user with the most weight; of several the one with the least number.
    pub(super) fn user(&self) -> Option<u32> {
        let order = |(user, weight): &(&u32, &u128)| (**weight, std::cmp::Reverse(**user));
        self.users.iter().max_by_key(order).map(|(user, _)| *user)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.figures.entries == 0
    }

    /// Appends the sum to a record.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.figures.entries);
        put_wide(out, self.figures.bytes);
        put_wide(out, self.figures.allocated);
        put_number(out, u64::from(self.newest.is_some()));
        put_number(out, self.newest.unwrap_or_default() as u64);
        put_number(out, self.ages.iter().filter(|weight| **weight > 0).count() as u64);
        for (class, weight) in self.ages.iter().enumerate().filter(|(_, weight)| **weight > 0) {
            put_number(out, class as u64);
            put_wide(out, *weight);
        }
        put_number(out, self.users.len() as u64);
        for (user, weight) in &self.users {
            put_number(out, u64::from(*user));
            put_wide(out, *weight);
        }
    }

    /// Takes a sum from a record; `None` if the record is damaged.
    pub(super) fn take(bytes: &mut Bytes<'_>) -> Option<Sum> {
        let entries = bytes.number()?;
        let figures = Figures { entries, bytes: wide(bytes)?, allocated: wide(bytes)? };
        let (is_known, newest) = (bytes.number()? > 0, bytes.number()? as i64);
        let mut sum = Sum { figures, newest: is_known.then_some(newest), ..Sum::default() };
        for _ in 0..bytes.number()? {
            let class: usize = bytes.small()?;
            *sum.ages.get_mut(class)? = wide(bytes)?;
        }
        for _ in 0..bytes.number()? {
            let user = bytes.small()?;
            sum.users.insert(user, wide(bytes)?);
        }
        Some(sum)
    }
}

fn put_wide(out: &mut Vec<u8>, number: u128) {
    put_number(out, number as u64);
    put_number(out, (number >> 64) as u64);
}

fn wide(bytes: &mut Bytes<'_>) -> Option<u128> {
    let low = u128::from(bytes.number()?);
    Some(low | u128::from(bytes.number()?) << 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_come_back_from_a_record() {
        let mut sum = Sum { newest: Some(-5), ..Sum::default() };
        sum.figures = Figures { entries: 7, bytes: u128::from(u64::MAX) * 3, allocated: 1 };
        sum.ages[3] = 1 << 70;
        sum.users.insert(u32::MAX, 12);
        let mut record = Vec::new();
        sum.put(&mut record);
        assert_eq!(Sum::take(&mut Bytes(&record)).as_ref(), Some(&sum));
        for end in 0..record.len() {
            assert_eq!(Sum::take(&mut Bytes(&record[..end])), None, "{end}");
        }
        assert_eq!((sum.age(), sum.user()), (Some(3), Some(u32::MAX)));
        assert_eq!((Sum::default().age(), Sum::default().user()), (None, None));
    }
}
