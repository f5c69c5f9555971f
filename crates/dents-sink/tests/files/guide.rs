//! Runs SQL of the guide (docs/INVENTORY.md) that SQLite understands as well as DuckDB.

use crate::common::{ABOUT, Owned, Playground};
use dents_core::batch::Time;
use dents_core::needs::Kind;
use dents_sink::{Asked, Extent, Facts, Fault, Format, Row, create};
use rusqlite::Connection;
use std::path::Path;

const GUIDE: &str = include_str!("../../../../docs/INVENTORY.md");
const MIB: u64 = 1 << 20;

/// The first block of SQL after these words.
fn sql(after: &str) -> &'static str {
    let (_, rest) = GUIDE.split_once(after).expect("the words");
    let (_, rest) = rest.split_once("```sql\n").expect("a block");
    rest.split_once("```").expect("its end").0
}

/// A file of this many MiB; 0 for a row with nothing but a name.
fn row<'a>(parent: &'a [u8], name: &'a [u8], ino: u64, mib: u64) -> Row<'a> {
    let time = Time { sec: 0, nsec: 0 };
    let facts = Facts {
        dev: (8, 1),
        ino,
        mode: 0o100_644,
        nlink: 2,
        uid: 0,
        gid: 0,
        user: None,
        group: None,
        size: mib * MIB,
        allocated: mib * MIB,
        atime: time,
        btime: None,
        ctime: time,
        mtime: time,
        lazy: false,
        unknown: dents_sink::read::Columns::empty(),
    };
    let known = mib > 0;
    let fault = (!known).then_some(Fault { asked: Asked::Stat, errno: 13 });
    Row {
        parent,
        name,
        depth: 2,
        kind: Kind::Reg,
        facts: known.then_some(facts),
        target: None,
        details: Default::default(),
        fault,
    }
}

fn scan(ground: &Playground, day: &str, rows: &[Row<'_>]) -> String {
    let path = ground.0.join(format!("{day}.sqlite"));
    let sink = create(Path::new(&path), Format::Sqlite, &ABOUT).expect("created");
    let mut part = sink.part();
    rows.iter().for_each(|row| part.row(&Owned::of(row).row()).expect("taken"));
    part.flush().expect("flushed");
    drop(part);
    sink.finish(Extent::Complete).expect("finished");
    path.into_os_string().into_string().expect("UTF-8")
}

/// The growth of directories: a file with names in two directories counts once, in one of them, and another name for a file is no
/// growth.
#[test]
fn what_grew_counts_a_file_once() {
    let ground = Playground::new();
    let monday = [
        row(b"t/a", b"log", 1, 10),
        row(b"t/b", b"log", 1, 10),
        row(b"t/a", b"same", 2, 7),
        row(b"t/c", b"gone", 3, 3),
        row(b"t/c", b"closed", 0, 0),
        row(b"t/c", b"shut", 0, 0),
    ];
    let tuesday = [
        row(b"t/b", b"log", 1, 50),
        row(b"t/a", b"log", 1, 50),
        row(b"t/a", b"same", 2, 7),
        row(b"t/b", b"same", 2, 7),
        row(b"t/b", b"new", 4, 5),
        row(b"t/b", b"caf\xe9", 5, 1),
        row(b"t/c", b"closed", 0, 0),
    ];
    let database = Connection::open_in_memory().expect("opened");
    for (day, rows) in [("monday", &monday[..]), ("tuesday", &tuesday)] {
        let file = scan(&ground, day, rows);
        database.execute("ATTACH ? AS ?", [&file, &format!("file_{day}")]).expect("attached");
        let view = format!("CREATE TEMP VIEW {day} AS SELECT * FROM file_{day}.entries");
        database.execute_batch(&view).expect("a view");
    }
    let mut query = database.prepare(sql("CREATE VIEW tuesday AS")).unwrap_or_else(|error| panic!("{error}"));
    let grown =
        query.query_map([], |row| Ok((row.get::<_, String>("directory")?, row.get::<_, f64>("growth")?)));
    let grown: Vec<(String, f64)> = grown.expect("runs").map(|row| row.expect("a row")).collect();
    let expected = [("t/a", 40.0), ("t/b", 6.0), ("t/c", -3.0)];
    assert_eq!(grown, expected.map(|(directory, growth)| (directory.to_string(), growth)));
}
