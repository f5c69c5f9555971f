//! Reading a part of a file is reading all of it and dropping the rest: for any columns and any paths, in every format, in files whose
//! rows are sorted and in others.

use crate::common::{Owned, Playground, Rng, read, write};
use dents_sink::read::{Columns, Wanted, open};
use dents_sink::{Extent, Format, Row};
use std::io;
use std::path::Path;

/// Names of which some sort before a slash, and some after it.
const NAMES: [&[u8]; 12] =
    [b"a", b"a-b", b"a.b", b"ab", b"b", b"!", b"0", b"\xff", b"a\xff", b"\xc3", b"\xc3\xa9", b"\x01"];

/// Paths of the kind that are asked for, and those of rows.
fn path(rng: &mut Rng) -> Vec<u8> {
    let mut path = if rng.one_in(2) { b"/".to_vec() } else { Vec::new() };
    for _ in 0..rng.below(4) {
        path.extend_from_slice(NAMES[rng.below(12) as usize]);
        path.extend(std::iter::repeat_n(b'/', 1 + usize::from(rng.one_in(9))));
    }
    if !rng.one_in(4) {
        path.pop();
    }
    path
}

fn rows(rng: &mut Rng, count: usize) -> Vec<Owned> {
    let mut rows = rng.rows(count / 4);
    rows.extend((rows.len()..count).map(|_| {
        let parent = path(rng);
        let mut row = rng.row(&parent);
        if !rng.one_in(4) {
            row.name = NAMES[rng.below(12) as usize].to_vec();
        }
        row
    }));
    rows
}

fn path_of(row: &Owned) -> Vec<u8> {
    let mut path = Vec::new();
    row.row().path(&mut path);
    path
}

/// What a reader must give, in words other than its own.
fn expected(rows: &[Owned], wanted: &Wanted<'_>) -> Vec<Owned> {
    let is_below = |path: &[u8], base: &[u8]| {
        let mut slashed = base.to_vec();
        while slashed.last() == Some(&b'/') {
            slashed.pop();
        }
        let itself = if slashed.is_empty() { base.is_empty() && path.is_empty() } else { path == slashed };
        slashed.push(b'/');
        itself || (!base.is_empty() && path.starts_with(&slashed))
    };
    let is_wanted =
        |path: &[u8]| wanted.below.is_empty() || wanted.below.iter().any(|base| is_below(path, base));
    let rows = rows.iter().filter(|row| is_wanted(&path_of(row)));
    rows.map(|row| Owned::of(&wanted.columns.of(&row.row()))).collect()
}

fn in_order(mut rows: Vec<Owned>) -> Vec<Owned> {
    rows.sort_by_cached_key(|row| format!("{row:?}"));
    rows
}

/// The rows that so many workers take.
fn taken(path: &Path, wanted: &Wanted<'_>, workers: usize) -> io::Result<(Vec<Owned>, Option<Extent>)> {
    struct Taker(Vec<Owned>);
    impl dents_sink::read::Take for Taker {
        fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
            self.0.push(Owned::of(row));
            Ok(())
        }
    }
    let (takers, extent) = open(path)?.read(wanted, workers, |_| Taker(Vec::new()))?;
    assert!((1..=workers.max(1)).contains(&takers.len()));
    Ok((takers.into_iter().flat_map(|taker| taker.0).collect(), extent))
}

fn columns(rng: &mut Rng) -> Columns {
    match rng.below(4) {
        0 => Columns::all(),
        1 => Columns::empty(),
        2 => Columns::from_bits_truncate(1 << rng.below(17)),
        _ => Columns::from_bits_truncate(rng.next() as u32),
    }
}

fn below(rng: &mut Rng, rows: &[Owned]) -> Vec<Vec<u8>> {
    let one = |rng: &mut Rng| match rng.below(3) {
        0 => rows[rng.below(rows.len() as u64) as usize].parent.clone(),
        1 => path_of(&rows[rng.below(rows.len() as u64) as usize]),
        _ => path(rng),
    };
    (0..rng.below(4)).map(|_| one(rng)).collect()
}

#[test]
fn a_part_is_what_is_left_of_all() {
    for seed in 0..6 {
        let mut rng = Rng(seed);
        // Several row groups, and batches within them.
        let mut rows = rows(&mut rng, 1 + seed as usize * 900);
        if seed % 2 == 0 {
            rows.sort_by_cached_key(path_of);
        }
        for format in Format::ALL {
            let ground = Playground::new();
            let file = ground.file(*format);
            write(&file, *format, &rows, 1 + seed as usize).expect("written");
            #[cfg(feature = "sqlite")]
            if *format == Format::Sqlite && seed % 3 == 0 {
                let database = rusqlite::Connection::open(&file).expect("a database");
                database.execute_batch("CREATE INDEX path ON entries(path)").expect("an index");
            }
            let all = read(&file).expect("read");
            for _ in 0..40 {
                let below = below(&mut rng, &rows);
                let wanted = Wanted { columns: columns(&mut rng), below: &below };
                let expected = in_order(expected(&all, &wanted));
                for workers in [1, 3] {
                    let (taken, extent) = taken(&file, &wanted, workers).expect("read");
                    assert_eq!(extent, Some(Extent::Complete));
                    let shown: Vec<_> = below.iter().map(|path| path.escape_ascii().to_string()).collect();
                    assert!(
                        in_order(taken) == expected,
                        "{format:?}, seed {seed}, {workers} workers, {:?}, {shown:?}",
                        wanted.columns
                    );
                }
            }
        }
    }
}
