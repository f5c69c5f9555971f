//! Version order, as `ls -v` and `sort -V` have it (coreutils manual, "Version sort ordering").
//!
//! A name is split into runs of non-digits and runs of digits. Digits compare as numbers of any length. In other runs
//! `~` sorts before the end of the name, the end before letters, and letters before all other bytes. Names are compared
//! without their suffix (`.tar.gz`) first, then, if equal, as a whole.

use super::Collate;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Makes keys of the version order, so that a name is split once and not at each comparison. Names that compare equal
/// are ordered bytewise.
pub(super) struct Version;

impl Collate for Version {
    fn first(&mut self, name: &[u8], key: &mut Vec<u8>) {
        key.push(leading(name));
        if leading(name) >= HIDDEN {
            push_runs(stem(name), key);
        }
    }

    fn rest(&mut self, name: &[u8], key: &mut Vec<u8>) {
        push_runs(name, key);
        key.extend_from_slice(name);
    }

    fn fork(&self) -> Box<dyn Collate + '_> {
        Box::new(Version)
    }
}

/// Appends bytes that compare like [`compare_runs`]. Each run of non-digits is followed by [`END`], each number has its
/// length before its digits, and the last number is followed by another [`END`]. So no key is a prefix of another.
fn push_runs(name: &[u8], key: &mut Vec<u8>) {
    let mut rest = name;
    while !rest.is_empty() {
        let run = rest.iter().take_while(|byte| !byte.is_ascii_digit()).count();
        key.extend(rest[..run].iter().map(|byte| rank(*byte)));
        key.push(END);
        let (number, after) = number(&rest[run..]);
        match u8::try_from(number.len()) {
            Ok(len) if len < u8::MAX => key.push(len),
            _ => {
                key.push(u8::MAX);
                key.extend_from_slice(&(number.len() as u32).to_be_bytes());
            }
        }
        key.extend_from_slice(number);
        rest = after;
    }
    key.push(END);
}

/// The end of a run or of the name: after `~`, before letters.
const END: u8 = 2;

/// The rank of a non-digit: `~`, letters, the others.
const fn rank(byte: u8) -> u8 {
    const LETTERS: u8 = END + 1;
    const OTHERS: u8 = LETTERS + 52;
    match byte {
        b'~' => 1,
        b'A'..=b'Z' => LETTERS + (byte - b'A'),
        b'a'..=b'z' => LETTERS + 26 + (byte - b'a'),
        // Each offset leaves out the lower bytes that have other ranks.
        0..b'0' => OTHERS + byte,
        b'0'..b'A' => OTHERS + byte - 10,
        b'['..b'a' => OTHERS + byte - 36,
        b'{'..b'~' => OTHERS + byte - 62,
        _ => OTHERS + (byte - 63),
    }
}

/// Compares two names. Different names may compare equal (`a0` and `a00`).
#[must_use]
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let special = leading(a).cmp(&leading(b));
    // The first three ranks have one name each.
    if special != Ordering::Equal || leading(a) < HIDDEN {
        return special;
    }
    let (a_stem, b_stem) = (stem(a), stem(b));
    let order = compare_runs(a_stem, b_stem);
    let whole = a_stem.len() == a.len() && b_stem.len() == b.len();
    if order != Ordering::Equal || whole { order } else { compare_runs(a, b) }
}

const HIDDEN: u8 = 3;

/// The empty name, `.`, `..`, then hidden names, then the others.
fn leading(name: &[u8]) -> u8 {
    match name {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => HIDDEN,
        _ => HIDDEN + 1,
    }
}

/// The name without its suffix: the longest tail of parts like `.tar`, each a dot, a letter or `~`, then letters,
/// digits and `~`. A suffix never is the whole name.
fn stem(name: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'~';
    let mut end = name.len();
    loop {
        let tail = name[..end].iter().rev().take_while(|byte| is_part(byte)).count();
        let start = end - tail;
        let begins = tail > 0 && (name[start].is_ascii_alphabetic() || name[start] == b'~');
        if !begins || start < 2 || name[start - 1] != b'.' {
            return &name[..end];
        }
        end = start - 1;
    }
}

fn compare_runs(a: &[u8], b: &[u8]) -> Ordering {
    let (mut a, mut b) = (a, b);
    while !a.is_empty() || !b.is_empty() {
        // The run of non-digits: it ends when both names have a digit or end.
        while !starts_with_digit(a) && !a.is_empty() || !starts_with_digit(b) && !b.is_empty() {
            match weight(a).cmp(&weight(b)) {
                Ordering::Equal => (a, b) = (&a[1..], &b[1..]),
                order => return order,
            }
        }
        let (a_number, a_rest) = number(a);
        let (b_number, b_rest) = number(b);
        let order = a_number.len().cmp(&b_number.len()).then_with(|| a_number.cmp(b_number));
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (a_rest, b_rest);
    }
    Ordering::Equal
}

fn starts_with_digit(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(u8::is_ascii_digit)
}

/// The weight of the first byte within a run of non-digits.
fn weight(bytes: &[u8]) -> i32 {
    match bytes.first() {
        Some(b'~') => -2,
        None => -1,
        Some(byte) if byte.is_ascii_digit() => 0,
        Some(byte) if byte.is_ascii_alphabetic() => i32::from(*byte),
        Some(byte) => i32::from(*byte) + 256,
    }
}

/// The leading digits without leading zeros, and the text after them.
pub(super) fn number(bytes: &[u8]) -> (&[u8], &[u8]) {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = bytes.split_at(digits);
    let zeros = number.iter().take_while(|byte| **byte == b'0').count();
    (&number[zeros..], rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_the_manual() {
        // Each list is in ascending order.
        #[rustfmt::skip]
        let lists: [&[&str]; 8] = [
            &["", ".", "..", ".0", ".9", ".A", ".Z", ".a~", ".a", ".b~", ".b", ".z", "0", "9", "A"],
            &["a1", "a2", "a10", "a120"],
            &["1.2.3~rc1", "1.2.3", "1.2.3.1"],
            &["8.2.1.tar.gz", "8.10.tar.gz"],
            &["a.bx", "a.b.x", "a+b"],
            &["gcc-c++-10.fc9.tar.gz", "gcc-c++-10.8.12-0.7rc2.fc9.tar.bz2"],
            &["abc~", "abc", "abcd"],
            &["a", "a.b", "aa"],
        ];
        for list in lists {
            for (i, a) in list.iter().enumerate() {
                for (j, b) in list.iter().enumerate() {
                    assert_eq!(compare(a.as_bytes(), b.as_bytes()), i.cmp(&j), "{a:?} against {b:?}");
                }
            }
        }
    }

    #[test]
    fn keys_compare_as_names_do() {
        let alphabet = b"~~0019.aaZz-_+ \xff\x01.t";
        let mut seed = 7_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let mut names: Vec<Vec<u8>> = (0..600)
            .map(|_| (0..1 + random(9)).map(|_| alphabet[random(alphabet.len())]).collect())
            .collect();
        names.extend([
            b".".to_vec(),
            b"..".to_vec(),
            [b'1'; 300].to_vec(),
            [b'1'; 254].to_vec(),
            [b'2'; 255].to_vec(),
        ]);
        let key = |name: &[u8]| {
            let (mut first, mut rest) = (Vec::new(), Vec::new());
            Version.first(name, &mut first);
            Version.rest(name, &mut rest);
            (first, rest)
        };
        for a in &names {
            for b in &names {
                let expected = compare(a, b).then_with(|| a.cmp(b));
                assert_eq!(key(a).cmp(&key(b)), expected, "{:?} {:?}", a.escape_ascii(), b.escape_ascii());
            }
        }
    }

    #[test]
    fn every_byte_has_a_rank_of_its_own() {
        let mut ranks: Vec<u8> = (0..=255_u8).filter(|byte| !byte.is_ascii_digit()).map(rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        assert_eq!(ranks.len(), 246);
        assert!(!ranks.contains(&END));
    }

    #[test]
    fn numbers_of_any_length_and_zeros() {
        assert_eq!(compare(b"a99999999999999999999999", b"a100000000000000000000000"), Ordering::Less);
        assert_eq!(compare(b"a0", b"a00"), Ordering::Equal);
        assert_eq!(compare(b"a01", b"a1"), Ordering::Equal);
        assert_eq!(compare(b"a01b", b"a1a"), Ordering::Greater);
    }

    #[test]
    fn suffixes_are_cut() {
        assert_eq!(stem(b"hello-1.tar.gz"), b"hello-1");
        assert_eq!(stem(b"hello-1.2.tar"), b"hello-1.2");
        assert_eq!(stem(b".tar"), b".tar");
        assert_eq!(stem(b"a."), b"a.");
        assert_eq!(stem(b"a.~1~"), b"a");
    }
}
