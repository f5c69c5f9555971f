//! Reading a part of a file gives the same rows as reading all of it and dropping the others: for any columns and any paths, in every
//! format, in files with sorted rows and in others.

use crate::common::{Owned, Playground, Rng, read, write};
use dents_sink::read::{Columns, RowGroups, Wanted, open};
use dents_sink::{Asked, Extent, Fault, Format, Row};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Names. Some sort before a slash, some after it.
const NAMES: [&[u8]; 12] =
    [b"a", b"a-b", b"a.b", b"ab", b"b", b"!", b"0", b"\xff", b"a\xff", b"\xc3", b"\xc3\xa9", b"\x01"];

/// A random path, for rows and for the wanted paths.
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

/// Each row has an error number of its own. Every reader returns these, so the test can sort the rows.
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
    for (row, errno) in rows.iter_mut().zip(0..) {
        row.row.depth = u32::from(!row.parent.is_empty());
        row.row.fault = Some(Fault { asked: Asked::Stat, errno });
    }
    rows
}

fn path_of(row: &Owned) -> Vec<u8> {
    let mut path = Vec::new();
    row.row().path(&mut path);
    path
}

/// The expected rows, computed in another way than in the readers.
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
    rows.map(|row| Owned::of(&row.row().only(wanted.columns))).collect()
}

/// The rows that this number of workers receives.
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
    match rng.below(5) {
        0 => Columns::all(),
        1 => Columns::empty(),
        3 => Columns::NAME,
        2 => Columns::from_bits_truncate(1 << rng.below(17)),
        _ => {
            // A row may keep details that are not wanted beside one that is.
            let mut some = Columns::from_bits_truncate(rng.next() as u32);
            some.set(Columns::DETAILS, some.contains(Columns::PROJECT));
            some
        }
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
            let mut all = read(&file).expect("read");
            all.sort_by_key(|row| row.row.fault.map(|fault| fault.errno));
            for trial in 0..12 {
                let below = below(&mut rng, &rows);
                let wanted = Wanted { columns: columns(&mut rng), below: &below };
                let (mut taken, extent) = taken(&file, &wanted, [1, 3][trial % 2]).expect("read");
                taken.sort_by_key(|row| row.row.fault.map(|fault| fault.errno));
                assert_eq!(extent, Some(Extent::Complete));
                let shown: Vec<_> = below.iter().map(|path| path.escape_ascii().to_string()).collect();
                let what = format!("{format:?}, seed {seed}, {:?} of {shown:?}", wanted.columns);
                assert!(taken == expected(&all, &wanted), "{what}");
            }
        }
    }
}

/// The root of a tree, longer than the values that statistics of Parquet usually keep.
const DEEP: &str = "/srv/storage-of-the-department/projects/that have/long names/and/many directories/above";

/// Sorted rows of a tree of two levels, enough for several row groups.
fn many_sorted_rows() -> Vec<Owned> {
    let like = Rng(11).row(b"");
    let row = |number: usize| {
        let mut row = like.clone();
        row.row.depth = 1;
        row.parent = format!("{DEEP}/d{:03}", number / 500).into_bytes();
        row.name = format!("f{:03}", number % 500).into_bytes();
        row
    };
    (0..140_000).map(row).collect()
}

#[test]
fn row_groups_without_wanted_paths_are_not_even_read_from_the_disk() {
    let (ground, rows) = (Playground::new(), many_sorted_rows());
    let file = ground.file(Format::Parquet);
    write(&file, Format::Parquet, &rows, 1).expect("written");
    let below = [format!("{DEEP}/d000/").into_bytes()];
    let wanted = Wanted { columns: Columns::PATH | Columns::SIZE, below: &below };
    let RowGroups { read: few, skipped } = open(&file).expect("opened").row_groups(&wanted);
    assert!(few == 1 && skipped > 0, "{few} of {}", few + skipped);
    let all = open(&file).expect("opened").row_groups(&Wanted::default());
    assert_eq!(all, RowGroups { read: few + skipped, skipped: 0 });
    assert_eq!(
        open(&file)
            .expect("opened")
            .row_groups(&Wanted { below: &[DEEP.as_bytes()[..DEEP.len() - 1].to_vec()], ..wanted })
            .read,
        0
    );
    // The last row group is damaged: it ends before the seal of the footer.
    let mut bytes = std::fs::read(&file).expect("readable");
    let seal = bytes.windows(8).rposition(|part| part == b"dentscrc").expect("a seal");
    bytes[seal - 100..seal].fill(0xaa);
    std::fs::write(&file, bytes).expect("written");
    for workers in [1, 2] {
        let (rows, extent) = taken(&file, &wanted, workers).expect("read");
        assert_eq!((rows.len(), extent), (500, Some(Extent::Complete)));
        let error = taken(&file, &Wanted::default(), workers).expect_err("damaged").to_string();
        assert!(error.contains("the checksum of a row group is another"), "{error}");
    }
}

/// Names come from the column of text, except in batches with a name that is not UTF-8.
#[test]
fn names_alone_are_exact() {
    let (ground, mut rows) = (Playground::new(), many_sorted_rows());
    rows.truncate(6000);
    rows[2500].name = b"\xff".to_vec();
    rows[5999].name = b"\xc3".to_vec();
    rows.sort_by_cached_key(path_of);
    let file = ground.file(Format::Parquet);
    write(&file, Format::Parquet, &rows, 1).expect("written");
    let ours = |number| format!("{DEEP}/d{number:03}").into_bytes();
    for below in [vec![], vec![ours(5), ours(9)], vec![ours(11)]] {
        let wanted = Wanted { columns: Columns::NAME, below: &below };
        let (taken, _) = taken(&file, &wanted, 1).expect("read");
        assert!(taken == expected(&rows, &wanted));
    }
}

#[test]
fn the_first_error_of_a_taker_ends_all() {
    let (ground, rows) = (Playground::new(), Rng(5).rows(4000));
    let file = ground.file(Format::Parquet);
    write(&file, Format::Parquet, &rows, 4).expect("written");
    for workers in [1, 3] {
        let taken = AtomicUsize::new(0);
        let ended = open(&file).expect("opened").read(&Wanted::default(), workers, |_| {
            |_: &Row<'_>| match taken.fetch_add(1, Ordering::Relaxed) {
                1000 => Err(io::Error::from(io::ErrorKind::BrokenPipe)),
                _ => Ok(()),
            }
        });
        assert_eq!(ended.map(drop).map_err(|error| error.kind()), Err(io::ErrorKind::BrokenPipe));
        assert!(workers > 1 || taken.into_inner() == 1001);
    }
}
