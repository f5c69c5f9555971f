//! Indexes of SQLite files.

use crate::common::{ABOUT, Playground, Rng, as_written, read, write_about};
use dents_sink::{About, Extent, Format};

/// SQLite's plan for a query, in its own words.
fn plan(path: &std::path::Path, query: &str) -> String {
    let database = rusqlite::Connection::open(path).expect("a database");
    let mut statement = database.prepare(&format!("EXPLAIN QUERY PLAN {query}")).expect("a query");
    let steps = statement.query_map((), |row| row.get::<_, String>("detail")).expect("steps");
    steps.collect::<Result<Vec<_>, _>>().expect("steps").join("; ")
}

#[test]
fn sqlite_uses_the_indexes_that_were_requested() {
    let (ground, rows) = (Playground::new(), Rng(4).rows(3000));
    let queries = [
        ("path", "SELECT size FROM entries WHERE path = '/a'"),
        ("parent", "SELECT name FROM entries WHERE parent = '/a'"),
        ("size", "SELECT path FROM entries ORDER BY size DESC LIMIT 3"),
        ("mtime", "SELECT path FROM entries WHERE mtime < 1000"),
        ("user", "SELECT path FROM entries WHERE user = 'ann'"),
    ];
    let path = ground.file(Format::Sqlite);
    for index in [false, true] {
        let about = About { index, ..ABOUT };
        write_about(&path, Format::Sqlite, &about, &rows, 2, Extent::Complete).expect("written");
        for (name, query) in queries {
            let plan = plan(&path, query);
            assert_eq!(plan.contains(&format!("USING INDEX {name}")), index, "{plan}");
        }
        assert_eq!(read(&path).expect("read").len(), rows.len());
        assert_eq!(ground.names().len(), 1);
    }
    // Other formats have no indexes.
    for format in Format::ALL.iter().filter(|format| format.name() != "sqlite") {
        let about = About { index: true, ..ABOUT };
        write_about(&ground.file(*format), *format, &about, &rows, 1, Extent::Complete).expect("written");
        assert!(read(&ground.file(*format)).expect("read") == as_written(*format, rows.clone()));
    }
}
