//! Natural order, in which `file2` comes before `File10`: runs of digits by their value, letters in the order of the
//! locale without case.
//!
//! Version order (`-v`) also compares digits by value, but other characters bytewise, capitals first, and it treats
//! suffixes specially. Here the first level of the locale's order decides, which for most locales is letters alone.
//! Case, accents and leading zeros decide only between names that are otherwise equal. Without a locale, ASCII letters
//! are compared without case.

use super::Collate;
use super::version::number;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Makes keys of the natural order.
pub(super) struct Natural<'c>(Letters<'c>);

/// The order of characters between digits.
enum Letters<'c> {
    /// Bytewise, without ASCII case.
    Bytes,
    /// In the order of a locale.
    Rules(&'c mut dyn Collate),
    /// The same, for another thread.
    Forked(Box<dyn Collate + 'c>),
}

/// Less than every byte of a first-level key or a name.
const END: u8 = 0;

impl<'c> Natural<'c> {
    pub(super) fn new(rules: Option<&'c mut dyn Collate>) -> Natural<'c> {
        Natural(rules.map_or(Letters::Bytes, Letters::Rules))
    }
}

impl Collate for Natural<'_> {
    /// A number becomes the key of a `0`, then its length, then its digits. So it sorts between punctuation and
    /// letters, as digits do, and never equals either.
    fn first(&mut self, name: &[u8], key: &mut Vec<u8>) {
        let mut rest = name;
        while !rest.is_empty() {
            let run = rest.iter().take_while(|byte| !byte.is_ascii_digit()).count();
            self.0.first(&rest[..run], key);
            rest = &rest[run..];
            if !rest.is_empty() {
                self.0.first(b"0", key);
                let (digits, after) = number(rest);
                // A name has at most 255 bytes. In the longer path of an operand, digits beyond that decide last.
                let digits = &digits[..digits.len().min(255)];
                key.push(digits.len() as u8);
                key.extend_from_slice(digits);
                rest = after;
            }
        }
        // No key is a prefix of another.
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
        // Bytewise, between names that are otherwise equal.
        assert_ascending(&mut Natural::new(None), &["A", "a", "AB", "Ab", "aB", "ab"]);
    }

    /// Letters in reverse order; case decides last.
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
