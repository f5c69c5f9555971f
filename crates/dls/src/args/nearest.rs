//! Finds the valid word that an invalid one probably stands for.

use alloc::vec::Vec;

/// The word that begins with `typed`, or the word that is nearest to it by missing, additional, changed or swapped
/// letters; `None` if all words differ by more than one or two letters.
#[cold]
pub(super) fn nearest(typed: &[u8], words: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let most = if typed.len() < 5 { 1 } else { 2 };
    let begins = |word: &str| typed.len() > 1 && word.as_bytes().starts_with(typed);
    let far = |word: &'static str| (if begins(word) { 0 } else { distance(typed, word.as_bytes()) }, word);
    let (distance, word) = words.map(far).min_by_key(|(distance, _)| *distance)?;
    // A word of two letters is no misspelling of another one.
    (typed.len() > 1 && typed.len() > distance + 1 && distance <= most).then_some(word)
}

/// How many letters must be put in, left out, changed or swapped with the next to make one word of the other.
fn distance(a: &[u8], b: &[u8]) -> usize {
    // Rows of the table for the last two letters of `a`, and for this one.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = Vec::from([i + 1]);
        for j in 0..b.len() {
            let changed = last[j] + usize::from(a[i] != b[j]);
            let mut least = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = core::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        let cases = [("", "", 0), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("abc", "xbcd", 2)];
        for (a, b, expected) in cases {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
            assert_eq!(distance(b.as_bytes(), a.as_bytes()), expected, "{b} {a}");
        }
    }

    #[test]
    fn only_what_is_near_is_meant() {
        let words = ["size", "header", "natural", "git"];
        let near = |typed: &str| nearest(typed.as_bytes(), words.into_iter());
        assert_eq!(
            ["siez", "haeder", "nat", "gti"].map(near),
            [Some("size"), Some("header"), Some("natural"), Some("git")]
        );
        assert_eq!(["", "x", "g", "gx", "bytes", "headstone"].map(near), [None; 6]);
    }
}
