//! Version order, as `ls -v` and `sort -V` have it (coreutils manual, "Version sort ordering").
//!
//! Names are cut into runs of non-digits and runs of digits. Digits compare as numbers of any length; among
//! the rest `~` sorts before the end of the name, the end before letters, letters before all other bytes.
//! First the names without their suffix (`.tar.gz`) are compared, then, if equal, the whole names.

use core::cmp::Ordering;

/// Compares two names. Different names may compare equal (`a0` and `a00`).
#[must_use]
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let special = leading(a).cmp(&leading(b));
    // The first three ranks hold one name each.
    if special != Ordering::Equal || leading(a) < HIDDEN {
        return special;
    }
    let (a_stem, b_stem) = (stem(a), stem(b));
    let order = compare_runs(a_stem, b_stem);
    let whole = a_stem.len() == a.len() && b_stem.len() == b.len();
    if order != Ordering::Equal || whole { order } else { compare_runs(a, b) }
}

const HIDDEN: u8 = 3;

/// Nothing, `.`, `..`, then hidden names, then the others.
fn leading(name: &[u8]) -> u8 {
    match name {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => HIDDEN,
        _ => HIDDEN + 1,
    }
}

/// The name without its suffix: the longest tail made of parts like `.tar`, each a dot, a letter or `~`, then
/// letters, digits and `~`. A name is never all suffix.
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
        // The run of non-digits: it lasts as long as either side has one.
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

/// How the first byte sorts within a run of non-digits.
fn weight(bytes: &[u8]) -> i32 {
    match bytes.first() {
        Some(b'~') => -2,
        None => -1,
        Some(byte) if byte.is_ascii_digit() => 0,
        Some(byte) if byte.is_ascii_alphabetic() => i32::from(*byte),
        Some(byte) => i32::from(*byte) + 256,
    }
}

/// The digits in front without leading zeros, and what follows them.
fn number(bytes: &[u8]) -> (&[u8], &[u8]) {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = bytes.split_at(digits);
    let zeros = number.iter().take_while(|byte| **byte == b'0').count();
    (&number[zeros..], rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manuals_examples() {
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
