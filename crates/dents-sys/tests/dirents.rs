//! The directory parser with random bytes, valid records and damaged records, compared with a reference parser that reads the
//! format byte by byte.
use dents_sys::dir::{Dirent, Dirents};
use proptest::collection::vec;
use proptest::prelude::*;

type Entry = (u64, i64, u8, Vec<u8>);

/// The entries before the first invalid record, and whether there was an invalid record.
fn reference(bytes: &[u8]) -> (Vec<Entry>, bool) {
    let mut entries = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes.len() - at < 19 {
            return (entries, true);
        }
        let field = |from: usize, len: usize| &bytes[at + from..at + from + len];
        let ino = u64::from_ne_bytes(field(0, 8).try_into().unwrap());
        let off = i64::from_ne_bytes(field(8, 8).try_into().unwrap());
        let reclen = u16::from_ne_bytes(field(16, 2).try_into().unwrap()) as usize;
        if reclen < 19 || at + reclen > bytes.len() {
            return (entries, true);
        }
        let mut name = Vec::new();
        let mut ended = false;
        for &byte in field(19, reclen - 19) {
            if byte == 0 {
                ended = true;
                break;
            }
            name.push(byte);
        }
        if !ended || name.is_empty() {
            return (entries, true);
        }
        entries.push((ino, off, bytes[at + 18], name));
        at += reclen;
    }
    (entries, false)
}

fn parsed(bytes: &[u8]) -> (Vec<Entry>, bool) {
    let mut dirents = Dirents::new(bytes);
    let range = bytes.as_ptr_range();
    let owned = |entry: Dirent<'_>| {
        let name = entry.name.to_bytes_with_nul().as_ptr_range();
        assert!(range.start <= name.start && name.end <= range.end, "a name outside of the buffer");
        (entry.ino, entry.off, entry.d_type, entry.name.to_bytes().to_vec())
    };
    let entries = dirents.by_ref().map(owned).collect();
    assert_eq!(dirents.next(), None, "fused");
    (entries, dirents.malformed())
}

/// Appends one record, padded to a multiple of `pad` (the kernel pads to 8).
fn encode(entry: &Entry, pad: usize, out: &mut Vec<u8>) {
    let (ino, off, d_type, name) = entry;
    let reclen = (19 + name.len() + 1).next_multiple_of(pad);
    let end = out.len() + reclen;
    out.extend(ino.to_ne_bytes());
    out.extend(off.to_ne_bytes());
    out.extend((reclen as u16).to_ne_bytes());
    out.push(*d_type);
    out.extend(name);
    out.resize(end, 0);
}

fn entry() -> impl Strategy<Value = Entry> {
    // Half of the bytes are the edge cases of the search by words. One `any` for each name keeps the cases cheap.
    let byte = |byte: u8| {
        if byte.is_multiple_of(2) { [0x01, 0x80, 0x81, 0xff][usize::from(byte / 2 % 4)] } else { byte }
    };
    let name = prop_oneof![8 => vec(any::<u8>(), 1..30), 1 => vec(any::<u8>(), 30..256)];
    let name = name.prop_map(move |name| name.into_iter().map(byte).collect());
    (any::<u64>(), any::<i64>(), any::<u8>(), name)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn true_records_come_back(entries in vec(entry(), 0..12), pad in prop_oneof![Just(8_usize), Just(1), Just(4)]) {
        let mut bytes = Vec::new();
        entries.iter().for_each(|entry| encode(entry, pad, &mut bytes));
        prop_assert_eq!(parsed(&bytes), (entries, false));
    }

    #[test]
    fn random_bytes(bytes in vec(any::<u8>(), 0..600)) {
        prop_assert_eq!(parsed(&bytes), reference(&bytes));
    }

    #[test]
    fn random_bytes_with_plausible_lengths(mut bytes in vec(prop_oneof![Just(0), any::<u8>()], 0..400), lens in vec(0..80_u16, 1..10)) {
        let mut at = 0;
        for len in lens {
            if let Some(field) = bytes.get_mut(at + 16..at + 18) {
                field.copy_from_slice(&len.to_ne_bytes());
            }
            at += usize::from(len);
        }
        prop_assert_eq!(parsed(&bytes), reference(&bytes));
    }

    #[test]
    fn damaged_records(entries in vec(entry(), 1..12), hits in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>(), cuts in any::<bool>()) {
        let mut bytes = Vec::new();
        entries.iter().for_each(|entry| encode(entry, 8, &mut bytes));
        for (place, value) in hits {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if cuts {
            bytes.truncate(cut.index(bytes.len()));
        }
        prop_assert_eq!(parsed(&bytes), reference(&bytes));
    }
}

#[test]
fn edges() {
    let mut whole = Vec::new();
    encode(&(1, 2, 4, b"name".to_vec()), 8, &mut whole);
    assert_eq!(parsed(&[]), (vec![], false));
    for cut in 1..whole.len() {
        assert_eq!(parsed(&whole[..cut]), (vec![], true), "cut at {cut}");
    }
    let mut empty_name = whole.clone();
    empty_name[19] = 0;
    assert_eq!(parsed(&empty_name), (vec![], true));
    let mut no_end = whole.clone();
    no_end[19..].fill(b'x');
    assert_eq!(parsed(&no_end), (vec![], true));
    let mut no_length = whole.clone();
    no_length[16..18].fill(0);
    assert_eq!(parsed(&no_length), (vec![], true), "a length of 0 must not loop");
    // The type byte shares a word with the name. A NUL in it does not end the name.
    let mut unknown = whole.clone();
    unknown[18] = 0;
    assert_eq!(parsed(&unknown).0[0].3, b"name");
}
