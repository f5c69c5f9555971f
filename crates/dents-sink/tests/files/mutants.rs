//! Damage is never silent: a file with a few other bytes gives the same totals, or an error, or says that it is not complete.

use crate::common::{Playground, Rng, write};
use dents_sink::{Extent, Format, read};
use std::fs;
use std::path::Path;

/// Mutants of each format.
const COUNT: u64 = 250;

/// Another byte, one byte less, one more, or two that change places, at up to three positions.
fn mutant(rng: &mut Rng, file: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..1 + rng.below(3) {
        let at = rng.below(bytes.len() as u64 - 1) as usize;
        match rng.below(8) {
            0 => drop(bytes.remove(at)),
            1 => bytes.insert(at, rng.next() as u8),
            2 => bytes.swap(at, at + 1),
            // A digit stays a digit.
            _ if bytes[at].is_ascii_digit() => bytes[at] = b'0' + rng.below(10) as u8,
            3 => bytes[at] ^= 1 << rng.below(8),
            _ => bytes[at] = rng.next() as u8,
        }
    }
    bytes
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

#[test]
fn no_mutant_gives_other_totals() {
    for format in Format::ALL {
        let ground = Playground::new();
        let path = ground.file(*format);
        write(&path, *format, &Rng(8).rows(80), 2).expect("written");
        let (whole, file) = (totals(&path).expect("read"), fs::read(&path).expect("read"));
        let (mut silent, mut noticed) = (Vec::new(), 0);
        for seed in 0..COUNT {
            fs::write(&path, mutant(&mut Rng(seed), &file)).expect("written");
            match totals(&path) {
                Ok((sums, Some(Extent::Complete))) if sums != whole.0 => silent.push(seed),
                Ok((_, Some(Extent::Complete))) => {}
                _ => noticed += 1,
            }
        }
        assert!(silent.is_empty(), "{format:?}: {} of {COUNT} mutants, {silent:?}", silent.len());
        assert!(noticed > COUNT / 2, "{format:?}: {noticed}");
    }
}
