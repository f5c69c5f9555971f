//! Databases that others made: tables are tables, and a lock is no damage.

use crate::common::{Playground, Rng, read_any, write};
use dents_sink::{Format, read};
use rusqlite::Connection;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A database of a scan, changed by these statements.
fn changed(ground: &Playground, statements: &str) -> PathBuf {
    let path = ground.file(Format::Sqlite);
    write(&path, Format::Sqlite, &Rng(4).rows(50), 1).expect("written");
    let database = Connection::open(&path).expect("a database");
    database.execute_batch(statements).expect(statements);
    path
}

/// Reads at most 1,000 rows.
fn message(path: &Path) -> String {
    let (begun, mut rows) = (Instant::now(), 0);
    let read = read::open(path).and_then(|reader| {
        reader.for_each(&mut |_| {
            rows += 1;
            if rows < 1000 { Ok(()) } else { Err(io::Error::from(ErrorKind::Interrupted)) }
        })
    });
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let error = read.map(|extent| panic!("{rows} rows, {extent:?}")).expect_err("an error").to_string();
    assert!(rows < 1000, "{rows} rows: {error}");
    error
}

#[test]
fn views_and_computed_columns_are_not_read() {
    let endless = "ALTER TABLE entries RENAME TO kept;
        CREATE VIEW entries AS WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)
        SELECT kept.* FROM endless, kept";
    let view_of_scan = "ALTER TABLE scan RENAME TO about; CREATE VIEW scan AS SELECT * FROM about";
    let computed = "ALTER TABLE entries DROP COLUMN target;
        ALTER TABLE entries ADD COLUMN target GENERATED ALWAYS AS (hex(zeroblob(100000000)))";
    for (statements, expected) in [
        (endless, "\"entries\" is not a table of a scan"),
        (view_of_scan, "\"scan\" is not a table of a scan"),
        ("DROP TABLE scan", "\"scan\" is not a table of a scan"),
        (computed, "\"entries\" is not a table of a scan"),
        ("ALTER TABLE entries DROP COLUMN lazy", "\"entries\" is not a table of a scan"),
        ("ALTER TABLE entries RENAME COLUMN size TO length", "\"entries\" is not a table of a scan"),
        ("ALTER TABLE scan DROP COLUMN begun", "\"scan\" is not a table of a scan"),
    ] {
        let ground = Playground::new();
        let error = message(&changed(&ground, statements));
        assert!(error.contains(expected) && error.contains("scan.sqlite"), "{statements}: {error}");
    }
}

#[test]
fn columns_of_other_programs_do_not_matter() {
    let ground = Playground::new();
    let path =
        changed(&ground, "ALTER TABLE entries ADD COLUMN note; CREATE VIEW large AS SELECT * FROM entries");
    assert_eq!(read_any(&path).expect("read").0.len(), 50);
}

#[test]
fn a_lock_is_no_damage() {
    let ground = Playground::new();
    let path = changed(&ground, "");
    let database = Connection::open(&path).expect("a database");
    database.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    let error = message(&path);
    assert!(error.contains("database is locked") && error.contains("another program"), "{error}");
    assert!(!error.contains("damaged"), "{error}");
    database.execute_batch("COMMIT").expect("unlocked");
    assert_eq!(read_any(&path).expect("read").0.len(), 50);
}
