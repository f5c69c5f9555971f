//! Rows that no scan has are errors, in all formats: a file may be forged, and its paths are often the input of another program.

use crate::common::{Owned, Playground, Rng, write};
use dents_core::needs::Kind;
use dents_sink::{Format, Row, read};
use std::time::{Duration, Instant};

fn row(parent: &[u8], name: &[u8], depth: u32) -> Owned {
    let facts = Some(Rng(1).facts());
    let (target, details, fault) = (None, Default::default(), None);
    Owned::of(&Row { parent, name, depth, kind: Kind::Dir, facts, target, details, fault })
}

/// What reading a file with these rows reports.
fn problem(format: Format, rows: &[Owned]) -> String {
    let ground = Playground::new();
    let path = ground.file(format);
    write(&path, format, rows, 1).expect("written");
    let mut given = 0;
    let begun = Instant::now();
    let read = read::open(&path).and_then(|reader| {
        reader.for_each(&mut |_| {
            given += 1;
            Ok(())
        })
    });
    assert!(begun.elapsed() < Duration::from_secs(5), "{format:?}: {:?}", begun.elapsed());
    let error = read.expect_err(&format!("{format:?}: {given} rows, the last one of {rows:?}")).to_string();
    let place = if format == Format::Ndjson { "line 2: " } else { "row " };
    assert!(error.contains(&*path.to_string_lossy()) && error.contains(place), "{format:?}: {error}");
    assert!(given <= 1, "{format:?}: {given} rows were given: {error}");
    error
}

#[test]
fn a_row_that_no_directory_has_is_an_error() {
    let long = vec![b'x'; 4096];
    let deep = b"a/".repeat(9 << 20);
    for (parent, name, depth, expected) in [
        (&b"a"[..], &b"../../etc/passwd"[..], 1, "no name of a file"),
        (b"a", b"..", 1, "no name of a file"),
        (b"a", b".", 1, "no name of a file"),
        (b"a", b"", 1, "no name of a file"),
        (b"a", b"x\0y", 1, "no name of a file"),
        (b"a", &long, 1, "no name of a file"),
        (b"a/../b", b"x", 3, "no name of a file"),
        (b"a//b", b"x", 3, "no name of a file"),
        (b"a\0/b", b"x", 2, "a NUL"),
        (b"a", b"x", u32::MAX, "not below its root"),
        (b"a", b"x", 2, "not below its root"),
        (b"/", b"x", 2, "no name of a file"),
        (b"", b"x", 1, "not below its root"),
        (b"a", b"x", 0, "a root has a directory"),
        (&deep, b"x", 9 << 20, "longer than 16 MiB"),
    ] {
        for format in Format::ALL {
            let error = problem(*format, &[row(b"", b"a", 0), row(parent, name, depth)]);
            let shown = error.contains(expected) && error.len() < 700;
            assert!(shown, "{format:?} {}: {error}", name.escape_ascii());
        }
    }
}

#[test]
fn roots_keep_the_names_that_users_gave_them() {
    for root in ["/", "..", "../x/", "./a//b", "a/../b", "//"] {
        let below = |name: &str| {
            [root.as_bytes(), dents_core::path::separator(root.as_bytes()), name.as_bytes()].concat()
        };
        let rows = [
            row(b"", root.as_bytes(), 0),
            row(root.as_bytes(), b"c", 1),
            row(&below("c"), b"d", 2),
            row(&below("c/d"), b"e", 3),
            row(&below("f"), b"g", 2),
            row(root.as_bytes(), b"z", 1),
        ];
        for format in Format::ALL {
            let ground = Playground::new();
            let path = ground.file(*format);
            write(&path, *format, &rows, 1).expect("written");
            assert_eq!(crate::common::read(&path).expect(root).len(), rows.len(), "{format:?} {root}");
        }
    }
}
