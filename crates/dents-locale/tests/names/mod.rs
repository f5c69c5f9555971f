//! Names of many kinds: those below a directory, and generated ones.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

/// Small and good enough for names (xorshift*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// The alphabets that names are made of; each class draws from a few of them.
const ALPHABETS: [&str; 10] = [
    "aAbBcCeEnNoOsSuUyYzZ",
    " !\"#$%&'()*+,-.:;<=>?@[]^_`{|}~\\",
    "0123456789",
    "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßšžőűœđðþłÀÁÂÄÅÆÇÈÉÊËÍÑÓÖØÚÜŠŽŐŰŒĐÐÞŁďťńçÇ",
    "ёжзийкщыьэюяЁЖЙЯґїўαβγάώΩλς",
    "あいうえおかがきぎさはばぱアイウカガッャーヽ々日本語東京一二三山川人水火木金土漢字ｱｶﾞＡａ１、。「」・",
    "한글가나다위힣אבגدابतकษไทยกა٣२",
    "\u{301}\u{308}\u{30a}\u{327}\u{200d}\u{ad}–—…€£©®°½²№™«»\u{a0}\u{3000}😀🦀",
    "\u{1}\u{2}\u{1b}\u{7f}\u{85}",
    "ab-_.",
];

/// Letters that sort as one in some language, and pieces of the same.
const DIGRAPHS: [&str; 18] =
    ["ch", "cH", "Ch", "CH", "dz", "dž", "ll", "aa", "AA", "Aa", "lj", "nj", "rr", "ss", "c", "h", "a", "l"];

/// Each class of generated names: how many, and which alphabets.
const CLASSES: [(usize, &[usize]); 8] = [
    (6000, &[0, 1, 2]),
    (6000, &[0, 0, 3]),
    (3000, &[0, 3, 4, 1]),
    (3000, &[5, 5, 0, 1]),
    (4000, &[0, 1, 2, 3, 4, 5, 6, 7]),
    (1000, &[0, 8, 1]),
    (2000, &[9]),
    (2000, &[6, 7]),
];

/// Names of every kind: case, accents, punctuation, digits, scripts, digraphs, any character, broken UTF-8.
pub(crate) fn generated(seed: u64) -> BTreeSet<Vec<u8>> {
    let mut random = Random::new(seed);
    let mut names = BTreeSet::new();
    let alphabets: Vec<Vec<char>> = ALPHABETS.iter().map(|text| text.chars().collect()).collect();
    for (count, class) in CLASSES {
        for _ in 0..count {
            let length = 1 + random.below(8);
            let mut letter = |_| {
                let alphabet = *random.pick(class);
                *random.pick(&alphabets[alphabet])
            };
            let text: String = (0..length).map(&mut letter).collect();
            names.insert(text.into_bytes());
        }
    }
    for _ in 0..2000 {
        let length = 1 + random.below(5);
        names.insert((0..length).map(|_| *random.pick(&DIGRAPHS)).collect::<String>().into_bytes());
    }
    for _ in 0..6000 {
        let any = char::from_u32(0xa0 + random.below(0x2_0000) as u32).unwrap_or('x');
        let name = format!("{}{any}{}", random.pick(&["", "a", "b-"]), random.pick(&["", "a", "."]));
        names.insert(name.into_bytes());
    }
    let sound: Vec<Vec<u8>> = names.iter().take(20_000).cloned().collect();
    for _ in 0..4000 {
        let mut name = random.pick(&sound).clone();
        for _ in 0..=random.below(2) {
            let at = random.below(name.len() + 1);
            name.insert(at, 1 + random.below(255) as u8);
        }
        names.insert(name);
    }
    names.retain(|name| !name.contains(&b'/'));
    names
}

/// Every distinct file name under a directory.
pub(crate) fn names_under(directory: &Path) -> BTreeSet<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt;
    let mut names = BTreeSet::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(directory) = left.pop() {
        let Ok(entries) = fs::read_dir(directory) else { continue };
        for entry in entries.flatten() {
            names.insert(entry.file_name().into_vec());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push(entry.path());
            }
        }
    }
    names
}

/// The seed of the random names.
pub(crate) fn seed() -> u64 {
    env::var("DLS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7)
}
