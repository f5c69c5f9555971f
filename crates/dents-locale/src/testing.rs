//! Locale files made by hand, for tests that must not depend on what the machine has installed.

use alloc::vec::Vec;

use core::sync::atomic::AtomicU8;

use crate::file::Category;

/// A compiled category of these fields, padded to multiples of four.
pub(crate) fn file(category: Category, fields: &[&[u8]]) -> Vec<u8> {
    let mut head: Vec<u32> = [category.magic(), fields.len() as u32].into();
    let mut body = Vec::new();
    for field in fields {
        head.push((8 + 4 * fields.len() + body.len()) as u32);
        body.extend_from_slice(field);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    [words(&head), body].concat()
}

/// The bytes as a mapped file has them.
pub(crate) fn mapped(bytes: &[u8]) -> &'static [AtomicU8] {
    bytes.iter().copied().map(AtomicU8::new).collect::<Vec<_>>().leak()
}

/// Numbers in the machine's byte order.
pub(crate) fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

/// An `LC_CTYPE` that names its codeset, and in which a character is a byte that can be printed if it is above the controls.
pub(crate) fn ctype(codeset: &str) -> Vec<u8> {
    let classes: Vec<u8> = (0..384).flat_map(|nth| [0, if nth >= 128 + 0xa0 { 0x40 } else { 0 }]).collect();
    let longest = words(&[1]);
    let mut fields: [&[u8]; 15] = [&[]; 15];
    (fields[0], fields[13], fields[14]) = (&classes, &longest, codeset.as_bytes());
    file(Category::Ctype, &fields)
}

/// An `LC_TIME` whose months are `m1` to `m12`.
pub(crate) fn time() -> Vec<u8> {
    let names: Vec<Vec<u8>> = (0..44).map(|at| std::format!("m{}\0", at - 13).into_bytes()).collect();
    file(Category::Time, &names.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// An archive of these locales: name, and the bytes of `LC_CTYPE`, `LC_TIME`, `LC_COLLATE`.
pub(crate) fn archive(locales: &[(&str, [&[u8]; 3])]) -> Vec<u8> {
    const SLOTS: usize = 7;
    let table = 56;
    let mut slots = [[0u32; 3]; SLOTS];
    let mut body = Vec::new();
    let start = table + SLOTS * 12;
    for (name, files) in locales {
        let hash = crate::archive::hash(name.as_bytes());
        let mut slot = hash as usize % SLOTS;
        while slots[slot][1] != 0 {
            slot = (slot + 1 + hash as usize % (SLOTS - 2)) % SLOTS;
        }
        let named = start + body.len();
        body.extend([name.as_bytes(), b"\0"].concat());
        body.resize(body.len().next_multiple_of(4), 0);
        let mut places = [0u32; 27];
        for (file, category) in files.iter().zip([0, 2, 3]) {
            places[1 + 2 * category] = (start + body.len()) as u32;
            places[2 + 2 * category] = file.len() as u32;
            body.extend_from_slice(file);
        }
        slots[slot] = [hash, named as u32, (start + body.len()) as u32];
        body.extend(words(&places));
    }
    let mut head = [0u32; 14];
    (head[0], head[2], head[4]) = (0xde02_0109, table as u32, SLOTS as u32);
    [words(&head), words(slots.as_flattened()), body].concat()
}

/// Deletes a locale from an archive as `localedef` does: its slot keeps hash and name, and the offset of the record
/// becomes zero. Returns whether the locale was in it.
pub(crate) fn delete(archive: &mut [u8], name: &str) -> bool {
    let hash = crate::archive::hash(name.as_bytes()).to_ne_bytes();
    let table = crate::file::word(archive, 8).map_or(0, |at| at as usize);
    let slots = crate::file::word(archive, 16).map_or(0, |count| count as usize);
    let mut slots = archive[table..table + 12 * slots].chunks_exact_mut(12);
    let Some(slot) = slots.find(|slot| slot[..4] == hash) else { return false };
    slot[8..].fill(0);
    true
}

/// An `LC_COLLATE` for UTF-8 of three levels: letters `a` to `d`, then `ch` as one element, then `e` to `z`; case at
/// the second; at the third, the position of `-` and `_`, which have no weight before. `0` to `9` are read backward at
/// the second level, where each has a weight of its own; `é` to `ï` are a range, with the `first` weights of `e` to
/// `k`.
pub(crate) fn collate() -> Vec<u8> {
    let mut weights = std::vec![0, 0, 0, 0];
    let mut add = |rules: u32, levels: [&[u8]; 3]| {
        let at = weights.len() as u32;
        for level in levels {
            weights.push(level.len() as u8);
            weights.extend_from_slice(level);
        }
        rules << 24 | at
    };
    let mut table = [0u32; 256];
    for letter in b'a'..=b'z' {
        let first = if letter < b'd' { letter } else { letter + 1 };
        table[usize::from(letter)] = add(1, [&[first], &[2], &[]]);
        table[usize::from(letter.to_ascii_uppercase())] = add(1, [&[first], &[3], &[]]);
    }
    for digit in b'0'..=b'9' {
        table[usize::from(digit)] = add(0, [&[0xc0, digit], &[digit], &[]]);
    }
    for (sign, weight) in [(b'-', 5), (b'_', 6)] {
        table[usize::from(sign)] = add(0, [&[], &[], &[weight]]);
    }
    let ch = add(1, [b"d", &[2], &[]]);
    let accented: Vec<u32> = (0..7).map(|at| add(1, [&[b'f' + at], &[2, 9], &[]])).collect();
    let mut extra = Vec::new();
    let mut item = |number: u32, bytes: &[u8]| {
        let length = if number.cast_signed() < 0 { bytes.len() / 2 } else { bytes.len() };
        extra.extend(number.to_ne_bytes());
        extra.push(length as u8);
        extra.extend_from_slice(bytes);
        extra.resize(extra.len().next_multiple_of(4), 0);
        extra.len() as u32
    };
    // Zero would not be negative: the first item is never one that a byte points at.
    let c = item(0, b"");
    item(ch, b"h");
    let c3 = item(table[usize::from(b'c')], b"");
    item(1u32.wrapping_neg(), &[0xa9, 0xaf]);
    item(0, b"");
    table[usize::from(b'c')] = c.wrapping_neg();
    table[0xc3] = c3.wrapping_neg();
    let indirect = words(&[&[0], &accented[..]].concat());
    let rules = [1, 2, 5, 1, 1, 5];
    file(Category::Collate, &[&words(&[3]), &rules, &words(&table), &weights, &extra, &indirect])
}
