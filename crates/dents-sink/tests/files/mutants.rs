//! Damage is never silent: a file with a few other bytes gives the same totals, or an error, or says that it is not complete.
//!
//! ncdu's JSON has no checksum: a file with another digit or another letter in a name is another valid file. There, damage to its structure is
//! never silent.

use crate::common::{Playground, Rng, write};
use crate::shards::write_shards;
use dents_sink::manifest::NAME;
use dents_sink::{Extent, Format, read};
use std::fs;
use std::ops::Range;
use std::path::Path;

/// Mutants of each format.
const COUNT: u64 = 500;

/// Damage of one to three kinds.
fn mutant(rng: &mut Rng, file: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..1 + rng.below(3) {
        damage(rng, &mut bytes);
    }
    bytes
}

/// Another byte, one byte less, one more, two that change places; or the same for a range; or the end is cut off.
fn damage(rng: &mut Rng, bytes: &mut Vec<u8>) {
    if bytes.len() < 2 {
        return;
    }
    let at = rng.below(bytes.len() as u64 - 1) as usize;
    match rng.below(12) {
        0 => drop(bytes.remove(at)),
        1 => bytes.insert(at, rng.next() as u8),
        2 => bytes.swap(at, at + 1),
        3 => drop(bytes.drain(range(rng, bytes.len()))),
        4 => {
            let copy = bytes[range(rng, bytes.len())].to_vec();
            drop(bytes.splice(at..at, copy));
        }
        5 => {
            let (one, other) = (range(rng, bytes.len()), range(rng, bytes.len()));
            let (first, last) = if one.start < other.start { (one, other) } else { (other, one) };
            let last = last.start.max(first.end)..last.end.max(first.end);
            let swapped =
                [&bytes[last.clone()], &bytes[first.end..last.start], &bytes[first.clone()]].concat();
            drop(bytes.splice(first.start..last.end, swapped));
        }
        6 => bytes.truncate(at),
        // A digit stays a digit.
        _ if bytes[at].is_ascii_digit() => bytes[at] = b'0' + rng.below(10) as u8,
        7 => bytes[at] ^= 1 << rng.below(8),
        _ => bytes[at] = rng.next() as u8,
    }
}

/// Up to 300 bytes.
fn range(rng: &mut Rng, len: usize) -> Range<usize> {
    let start = rng.below(len as u64) as usize;
    start..len.min(start + 1 + rng.below(300) as usize)
}

/// What commands add up, and whether the file has all of it.
fn totals(path: &Path) -> std::io::Result<([u64; 5], Option<Extent>)> {
    let mut sums = [0_u64; 5];
    let extent = read::open(path)?.for_each(&mut |row| {
        let facts =
            row.facts.map_or([0; 4], |facts| [facts.size, facts.allocated, facts.uid.into(), facts.ino]);
        sums.iter_mut().zip([1].into_iter().chain(facts)).for_each(|(sum, one)| *sum = sum.wrapping_add(one));
        Ok(())
    })?;
    Ok((sums, extent))
}

/// The mutants of `changed`, a part of the scan at `path`, that give other totals with nothing said; and how many are noticed.
fn silent(path: &Path, changed: &Path) -> (Vec<u64>, u64) {
    let (whole, file) = (totals(path).expect("read"), fs::read(changed).expect("read"));
    let (mut silent, mut noticed) = (Vec::new(), 0);
    for seed in 0..COUNT {
        fs::write(changed, mutant(&mut Rng(seed), &file)).expect("written");
        match totals(path) {
            Ok((sums, Some(Extent::Complete))) if sums != whole.0 => silent.push(seed),
            Ok((_, Some(Extent::Complete))) => {}
            Ok(_) => noticed += 1,
            Err(error) => {
                // The message names the file.
                assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
                noticed += 1;
            }
        }
    }
    fs::write(changed, file).expect("written");
    (silent, noticed)
}

fn never_silent(what: &str, path: &Path, changed: &Path) {
    let (silent, noticed) = silent(path, changed);
    println!("{what}: {} of {COUNT} silently wrong, {noticed} noticed", silent.len());
    assert!(silent.is_empty(), "{what}: {} of {COUNT} mutants, {silent:?}", silent.len());
    assert!(noticed > COUNT / 2, "{what}: {noticed}");
}

#[test]
fn no_mutant_gives_other_totals() {
    for format in Format::ALL {
        let ground = Playground::new();
        let path = ground.file(*format);
        write(&path, *format, &Rng(8).rows(80), 2).expect("written");
        never_silent(format.name(), &path, &path);
    }
}

#[test]
fn no_mutant_of_a_scan_in_shards_gives_other_totals() {
    let (ground, rows) = (Playground::new(), Rng(9).rows(80));
    write_shards(&ground.0, &rows, &[50, 30]);
    for file in ["shard 1", NAME] {
        never_silent(file, &ground.0, &ground.0.join(file));
    }
}

/// A small tree in the form of ncdu.
const NCDU: &[u8] = br#"[1,2,{"progname":"ncdu","progver":"1.18","timestamp":1700000000},[{"name":"/r","asize":4096,"dsize":4096,"dev":7},
{"name":"a","asize":5,"dsize":4096,"ino":4,"hlnkc":true,"nlink":2},[{"name":"d \"\u00e9,]","asize":6},{"name":"b","notreg":true}],
{"name":"c","read_error":true},[{"name":"e"}]]]"#;

/// For each byte of JSON, whether it is inside a text, without the quotes.
fn in_texts(json: &[u8]) -> Vec<bool> {
    let (mut is_text, mut is_escaped) = (false, false);
    let inside = |byte: &u8| {
        let was_escaped = is_escaped;
        is_escaped = is_text && !was_escaped && *byte == b'\\';
        let is_quote = *byte == b'"' && !was_escaped;
        is_text ^= is_quote;
        is_text && !is_quote
    };
    json.iter().map(inside).collect()
}

/// Every byte of the structure that is lost, doubled or another one, every truncation, and all that follows the end.
#[test]
fn damage_to_the_structure_of_ncdu_is_an_error() {
    let ground = Playground::new();
    let (path, text) = (ground.0.join("scan.json"), NCDU);
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).expect("written");
        let error = totals(&path).err().map(|error| error.to_string());
        let error = error.unwrap_or_else(|| panic!("{what}: {}", String::from_utf8_lossy(bytes)));
        assert!(error.contains("scan.json"), "{what}: {error}");
    };
    let mut count = 0;
    let is_structure = |(at, is_inside): &(usize, bool)| !is_inside && b"[]{}:,\"".contains(&text[*at]);
    for (at, _) in in_texts(text).into_iter().enumerate().filter(is_structure) {
        let (before, after) = text.split_at(at);
        refused(&[before, &after[1..]].concat(), "lost");
        refused(&[before, &after[..1], after].concat(), "doubled");
        for other in b"[]{}:,\"x;" {
            if *other != text[at] {
                refused(&[before, &[*other], &after[1..]].concat(), "another");
                count += 1;
            }
        }
    }
    for len in 0..text.len() {
        refused(&text[..len], "cut off");
    }
    for more in ["]", "[1,0,{},[{\"name\":\"x\"}]]", "x"] {
        refused(&[text, more.as_bytes()].concat(), "more");
    }
    assert!(count > 500, "{count}");
    fs::write(&path, text).expect("written");
    totals(&path).expect("valid");
}

/// What a mutant of ncdu's JSON gives without an error, another parser of JSON accepts too: it is another valid file.
#[test]
fn a_mutant_of_ncdu_is_refused_or_is_valid_json() {
    let ground = Playground::new();
    let path = ground.0.join("scan.json");
    fs::write(&path, NCDU).expect("written");
    let whole = totals(&path).expect("valid");
    let (mut other, mut noticed) = (0, 0);
    for seed in 0..COUNT {
        let bytes = mutant(&mut Rng(seed), NCDU);
        fs::write(&path, &bytes).expect("written");
        match totals(&path) {
            Err(error) => {
                assert!(error.to_string().contains("scan.json"), "{error}");
                noticed += 1;
            }
            Ok(sums) => {
                // Texts are any bytes here, as in ncdu.
                let mut bytes = bytes.clone();
                let inside = in_texts(&bytes);
                bytes
                    .iter_mut()
                    .zip(inside)
                    .filter(|(byte, is_inside)| *is_inside && **byte < b' ')
                    .for_each(|(byte, _)| *byte = b'x');
                let json = serde_json::from_str::<serde_json::Value>(&String::from_utf8_lossy(&bytes));
                assert!(json.is_ok(), "{seed}: {}", String::from_utf8_lossy(&bytes));
                other += u64::from(sums != whole);
            }
        }
    }
    println!("ncdu: {other} of {COUNT} are other valid files, {noticed} noticed");
    assert!(noticed > COUNT / 2, "{noticed}");
}
