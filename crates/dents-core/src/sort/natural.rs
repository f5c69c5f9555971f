//! Natural order, as people expect `file2` before `File10`: runs of digits by their value, letters as the locale has them
//! without regard to case.
//!
//! What version order (`-v`) does too is the digits; but that goes by bytes, capitals before all else, and knows of
//! suffixes. Here the first level of the locale's order decides, which for most is letters alone: case, accents and
//! leading zeros only where names are otherwise equal. Without a locale's tables it is ASCII's letters that have no case.

use super::Collate;
use super::version::number;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Natural order as keys.
pub(super) struct Natural<'c>(Letters<'c>);

/// How what stands between the digits is ordered.
enum Letters<'c> {
    /// By bytes, without ASCII's case.
    Bytes,
    /// By the rules of a locale.
    Rules(&'c mut dyn Collate),
    /// The same, for another thread.
    Forked(Box<dyn Collate + 'c>),
}

/// Below every byte of a key's first level, and of a name.
const END: u8 = 0;

impl<'c> Natural<'c> {
    pub(super) fn new(rules: Option<&'c mut dyn Collate>) -> Natural<'c> {
        Natural(rules.map_or(Letters::Bytes, Letters::Rules))
    }
}

impl Collate for Natural<'_> {
    /// A number is what a `0` is to the order, and then its length before its digits: so it stands where digits do between
    /// punctuation and letters, and is never mistaken for either.
    fn first(&mut self, name: &[u8], key: &mut Vec<u8>) {
        let mut rest = name;
        while !rest.is_empty() {
            let run = rest.iter().take_while(|byte| !byte.is_ascii_digit()).count();
            self.0.first(&rest[..run], key);
            rest = &rest[run..];
            if !rest.is_empty() {
                self.0.first(b"0", key);
                let (digits, after) = number(rest);
                // A name has 255 bytes at most. Of the longer path of an operand, what is beyond decides last.
                let digits = &digits[..digits.len().min(255)];
                key.push(digits.len() as u8);
                key.extend_from_slice(digits);
                rest = after;
            }
        }
        // No key begins another.
        key.push(END);
    }

    fn rest(&mut self, name: &[u8], key: &mut Vec<u8>) {
        match &mut self.0 {
            Letters::Bytes => {}
            Letters::Rules(rules) => whole(*rules, name, key),
            Letters::Forked(rules) => whole(&mut **rules, name, key),
        }
        key.extend_from_slice(name);
    }

    fn fork(&self) -> Box<dyn Collate + '_> {
        Box::new(Natural(match &self.0 {
            Letters::Bytes => Letters::Bytes,
            Letters::Rules(rules) => Letters::Forked(rules.fork()),
            Letters::Forked(rules) => Letters::Forked(rules.fork()),
        }))
    }
}

impl Letters<'_> {
    fn first(&mut self, run: &[u8], key: &mut Vec<u8>) {
        match self {
            _ if run.is_empty() => {}
            Letters::Bytes => key.extend(run.iter().map(u8::to_ascii_lowercase)),
            Letters::Rules(rules) => rules.first(run, key),
            Letters::Forked(rules) => rules.first(run, key),
        }
    }
}

/// All levels of a name's key.
fn whole(rules: &mut dyn Collate, name: &[u8], key: &mut Vec<u8>) {
    rules.first(name, key);
    key.push(END);
    rules.rest(name, key);
    key.push(END);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::prelude::v1::*;

    fn key(natural: &mut dyn Collate, name: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        natural.first(name, &mut first);
        natural.rest(name, &mut rest);
        (first, rest)
    }

    fn assert_ascending(natural: &mut dyn Collate, names: &[&str]) {
        let keys: Vec<_> = names.iter().map(|name| key(natural, name.as_bytes())).collect();
        for (pair, names) in keys.windows(2).zip(names.windows(2)) {
            assert!(pair[0] < pair[1], "{names:?}");
        }
    }

    #[test]
    fn numbers_count_by_their_value() {
        assert_ascending(
            &mut Natural::new(None),
            &[
                "",
                "2",
                "02x",
                "10",
                "a",
                "a1",
                "a2",
                "A2b",
                "a10",
                "a10b",
                "a010c",
                "a99999999999999999999",
                "aa1",
                "b",
            ],
        );
        assert_ascending(&mut Natural::new(None), &["x1.2.9", "x1.2.10", "x1.10"]);
    }

    #[test]
    fn case_and_zeros_decide_last() {
        assert_ascending(&mut Natural::new(None), &["File1", "file01", "file1", "file2", "FILE10"]);
        // In bytes, between names that are equal else.
        assert_ascending(&mut Natural::new(None), &["A", "a", "AB", "Ab", "aB", "ab"]);
    }

    /// The letters backwards, case at the end.
    struct Backwards;

    impl Collate for Backwards {
        fn first(&mut self, name: &[u8], key: &mut Vec<u8>) {
            key.extend(name.iter().map(|byte| 255 - byte.to_ascii_lowercase()));
        }

        fn rest(&mut self, name: &[u8], key: &mut Vec<u8>) {
            key.extend_from_slice(name);
        }

        fn fork(&self) -> Box<dyn Collate + '_> {
            Box::new(Backwards)
        }
    }

    #[test]
    fn letters_are_the_locales() {
        let mut rules = Backwards;
        let mut natural = Natural::new(Some(&mut rules));
        let names = ["b2", "B10", "a1", "a2", "a10", "1"];
        assert_ascending(&mut natural, &names);
        let mut fork = natural.fork();
        for name in names {
            assert_eq!(key(&mut *fork, name.as_bytes()), key(&mut *natural.fork(), name.as_bytes()));
        }
        assert_ascending(&mut *fork, &names);
    }
}
