//! Keys from tables made by hand, and the fast path against the general one.

use super::*;
use crate::find::{ARCHIVE, Files};
use crate::{UserLocale, Variables, testing};
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

fn key(collator: &mut Collator<'_>, name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    collator.key(name, &mut out);
    out
}

fn long_way(collator: &mut Collator<'_>, name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    collator.by_elements(name, 0..collator.tables.levels(), &mut out);
    out
}

#[test]
fn positions_sort_by_value() {
    let key = |ignored| {
        let (bytes, length) = position(ignored);
        bytes[..length].to_vec()
    };
    for ignored in 0..5000 {
        assert!(key(ignored) < key(ignored + 1), "{ignored}");
        assert!(key(ignored)[0] > SEPARATOR);
    }
    assert_eq!(key(usize::MAX - 1), key(0x7ffe));
}

#[test]
fn what_is_lost_stands_next_to_the_last() {
    let turned = |stretch: &[u8], lost| turned(stretch, lost).copied().collect::<Vec<u8>>();
    assert_eq!(turned(b"abc", 0), b"cba");
    assert_eq!(turned(b"abc", 1), b"ca");
    assert_eq!(turned(b"abc", 9), b"c");
    assert_eq!(turned(b"a", 1), b"a");
    assert_eq!(turned(b"", 1), b"");
}

#[test]
fn a_key_is_its_levels() {
    let bytes = testing::collate();
    let collator = &mut Collator::new(testing::mapped(&bytes)).unwrap();
    let cases: [(&[u8], &[u8]); 8] = [
        (b"", b"\0\0"),
        (b"aB", b"ab\0\x02\x03\0"),
        (b"c", b"c\0\x02\0"),
        (b"ch", b"d\0\x02\0"),
        // The place of what was ignored before: two letters, then none.
        (b"ab--", b"ab\0\x02\x02\0\x03\x05\x01\x05"),
        ("\u{e9}a\u{ef}".as_bytes(), b"fal\0\x02\x09\x02\x02\x09\0"),
        // Digits from the end; the second is lost where a letter follows.
        (b"123", b"\xc01\xc02\xc03\x00321\0"),
        (b"123a", b"\xc01\xc02\xc03a\x0031\x02\0"),
    ];
    for (name, expected) in cases {
        assert_eq!(key(collator, name), expected, "{}", name.escape_ascii());
    }
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    collator.first(b"aB-", &mut first);
    collator.rest(b"aB-", &mut rest);
    assert_eq!([first, rest].concat(), key(collator, b"aB-"));
}

#[test]
fn names_sort_by_them() {
    let bytes = testing::collate();
    let collator = &mut Collator::new(testing::mapped(&bytes)).unwrap();
    // `cH` is no pair here: two letters.
    let sorted = ["a", "A", "ab", "a-b", "a_b", "aB", "A-B", "cH", "cz", "ch", "d", "e", "é", "f"];
    let keys: Vec<_> = sorted.iter().map(|name| key(collator, name.as_bytes())).collect();
    for (pair, names) in keys.windows(2).zip(sorted.windows(2)) {
        assert!(pair[0] < pair[1], "{names:?}");
    }
}

#[test]
fn bytes_that_are_no_collation_make_no_collator() {
    assert!(Collator::new(&[]).is_none());
    assert!(Collator::new(testing::mapped(&[0; 4096])).is_none());
    let mut bytes = testing::collate();
    let levels = bytes.windows(4).position(|four| four == 3u32.to_ne_bytes()).unwrap();
    bytes[levels..levels + 4].fill(0);
    assert!(Collator::new(testing::mapped(&bytes)).is_none(), "no rules: bytes are compared");
}

/// More levels than the short way counts: also a name without a byte takes the long one.
#[test]
fn five_levels_take_the_long_way() {
    let mut bytes = testing::collate();
    let levels = bytes.windows(4).position(|four| four == 3u32.to_ne_bytes()).unwrap();
    bytes[levels..levels + 4].copy_from_slice(&5u32.to_ne_bytes());
    let collator = &mut Collator::new(testing::mapped(&bytes)).unwrap();
    assert_eq!(key(collator, b""), [SEPARATOR; 4]);
    assert_eq!(key(collator, b"ab"), long_way(collator, b"ab"));
}

#[test]
fn broken_tables_give_some_key() {
    let whole = testing::collate();
    let names: [&[u8]; 4] = [b"cch", "a\u{e9}\u{ff}".as_bytes(), b"\xc3\xc3\xa9\xff-1z", b"c\xc3"];
    for length in 0..whole.len() {
        if let Some(mut collator) = Collator::new(testing::mapped(&whole[..length])) {
            names.iter().for_each(|name| drop(key(&mut collator, name)));
        }
    }
    for at in 0..whole.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            if let Some(mut collator) = Collator::new(testing::mapped(&bytes)) {
                names.iter().for_each(|name| drop(key(&mut collator, name)));
            }
        }
    }
}

/// A file that is mapped may be written to while keys are made of it.
#[test]
fn tables_that_change_meanwhile_give_some_key() {
    let tables = testing::mapped(&testing::collate());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut state = 1_u64;
            while !done.load(Ordering::Relaxed) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                tables[(state >> 33) as usize % tables.len()]
                    .fetch_xor(1 << (state >> 61), Ordering::Relaxed);
            }
        });
        for _ in 0..2_000 {
            if let Some(mut collator) = Collator::new(tables) {
                for name in [&b"cch-1aZ"[..], b"\xc3\xc3\xa9\xff-1z", "a\u{e9}\u{ff}c".as_bytes()] {
                    drop((key(&mut collator, name), long_way(&mut collator, name)));
                }
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Every pair of ASCII bytes, and names of random ones, must get the same key both ways.
fn both_ways_agree(collator: &mut Collator<'_>) {
    for first in 1..128u8 {
        for second in 1..128 {
            for name in [&[first, second][..], &[second, first, first, b'a', second, b'1']] {
                assert_eq!(key(collator, name), long_way(collator, name), "{}", name.escape_ascii());
            }
        }
    }
    let mut state = 7u64;
    let mut name = Vec::new();
    for _ in 0..20_000 {
        name.clear();
        for _ in 0..=state % 40 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let letters = b"abcdehlzACHLZ0159-_.~ \x01";
            name.push(letters[(state >> 33) as usize % letters.len()]);
        }
        assert_eq!(key(collator, &name), long_way(collator, &name), "{}", name.escape_ascii());
    }
}

#[test]
fn the_short_way_gives_what_the_long_way_gives() {
    let bytes = testing::collate();
    both_ways_agree(&mut Collator::new(testing::mapped(&bytes)).unwrap());
}

struct Machine;

impl Files<'static> for Machine {
    fn open(&mut self, path: &[u8]) -> Option<&'static [AtomicU8]> {
        std::fs::read(core::str::from_utf8(path).ok()?).ok().map(|bytes| testing::mapped(&bytes))
    }
}

/// The same for the tables of the machine's own locales, as far as the archive has them.
#[test]
fn the_ways_agree_on_installed_locales() {
    for name in ["en_US.UTF-8", "cs_CZ.UTF-8", "da_DK.UTF-8", "ja_JP.UTF-8", "fr_CA.UTF-8"] {
        let variables = Variables { all: Some(name.as_bytes()), ..Variables::default() };
        match UserLocale::find(&variables, &[], None, &mut Machine).collate().and_then(Collator::new) {
            Some(mut collator) => both_ways_agree(&mut collator),
            None => {
                std::println!("skipped: {name} is not in {}", core::str::from_utf8(ARCHIVE).unwrap());
            }
        }
    }
}
