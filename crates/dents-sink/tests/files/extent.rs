//! Every format records whether it has the whole scan, and an incomplete scan replaces no file.

use crate::common::{Playground, Rng, as_written, read_any, write, write_as};
use dents_sink::{Extent, Format, check};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn what_is_not_complete_is_beside_the_file_and_says_so() {
    for format in Format::ALL {
        let ground = Playground::new();
        let path = ground.file(*format);
        let beside = ground.0.join(format!("scan.{}.partial", format.name()));
        fs::write(&path, "before").expect("written");
        for count in [0, 300, 100] {
            let rows = as_written(*format, Rng(1).rows(count));
            let there = write_as(&path, *format, &rows, 1, Extent::Partial).expect("written");
            assert_eq!(there.as_deref(), Some(&*beside));
            assert_eq!(fs::read(&path).expect("read"), b"before");
            assert!(read_any(&beside).expect("read") == (rows, Some(Extent::Partial)), "{format:?} {count}");
            assert_eq!(ground.names().len(), 2, "{:?}", ground.names());
        }
        // The next complete scan replaces the file, and does not change the partial one.
        assert_eq!(
            write_as(&path, *format, &[], 1, Extent::Complete).expect("written").as_ref(),
            Some(&path)
        );
        assert_eq!(read_any(&path).expect("read").1, Some(Extent::Complete));
        assert_eq!(read_any(&beside).expect("read").0.len(), 100);
    }
}

#[test]
fn a_long_name_leaves_room_for_the_suffix_and_is_never_its_own() {
    for len in [246, 247, 248, 255] {
        for end in ["", ".partial"] {
            let ground = Playground::new();
            let path = ground.0.join("x".repeat(len - end.len()) + end);
            fs::write(&path, "before").expect("written");
            let there = write_as(&path, Format::Ndjson, &[], 1, Extent::Partial).expect("written");
            let there = there.expect("renamed");
            assert!(
                there != path && there.display().to_string().ends_with(".partial"),
                "{}",
                there.display()
            );
            assert_eq!(fs::read(&path).expect("read"), b"before");
        }
    }
}

/// Files of lines can be concatenated in any order. If one of them has no record, it is unknown whether the whole is complete.
#[test]
fn records_count_the_rows_of_all_files() {
    let ground = Playground::new();
    let lines = |seed, count, extent| {
        let path = ground.0.join("one.ndjson");
        let there = write_as(&path, Format::Ndjson, &Rng(seed).rows(count), 1, extent).expect("written");
        let text = fs::read_to_string(there.expect("renamed")).expect("read");
        text.lines().map(|line| format!("{line}\n")).collect::<Vec<String>>()
    };
    let (one, other) = (lines(1, 7, Extent::Complete), lines(2, 5, Extent::Complete));
    let partial = lines(3, 4, Extent::Partial);
    let read = |parts: &[&[String]]| {
        let path = ground.0.join("all.ndjson");
        fs::write(&path, parts.concat().concat()).expect("written");
        read_any(&path).map(|(rows, extent)| (rows.len(), extent)).map_err(|error| error.to_string())
    };
    let mut sorted = [&one[..], &other].concat();
    sorted.sort();
    assert_eq!(read(&[&one, &other]), Ok((12, Some(Extent::Complete))));
    assert_eq!(read(&[&sorted]), Ok((12, Some(Extent::Complete))));
    assert_eq!(read(&[&one, &partial]), Ok((11, Some(Extent::Partial))));
    assert_eq!(read(&[&one, &other[..5]]), Ok((12, None)));
    assert_eq!(read(&[&one[..7]]), Ok((7, None)));
    for lost in [read(&[&one[..3], &one[7..]]), read(&[&one[7..]]), read(&[&one, &other[1..]])] {
        assert!(lost.as_ref().is_err_and(|told| told.contains(" rows are there; ")), "{lost:?}");
    }
}

/// Files of a program that kept no record do not say whether they are complete.
#[cfg(all(feature = "parquet", feature = "sqlite"))]
#[test]
fn earlier_files_do_not_say_that_they_are_complete() {
    let (ground, rows) = (Playground::new(), Rng(1).rows(50));
    for format in Format::ALL {
        write(&ground.file(*format), *format, &rows, 1).expect("written");
    }
    let text = fs::read_to_string(ground.file(Format::Ndjson)).expect("read");
    fs::write(ground.file(Format::Ndjson), &text[..text.rfind("{\"v\"").expect("a record")])
        .expect("written");
    let database = rusqlite::Connection::open(ground.file(Format::Sqlite)).expect("opened");
    database.execute_batch("ALTER TABLE scan DROP COLUMN complete").expect("dropped");
    drop(database);
    // Changes the key, and corrects the checksum.
    let mut bytes = fs::read(ground.file(Format::Parquet)).expect("read");
    let find =
        |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).rposition(|at| at == what).expect("there");
    let key = find(&bytes, b"dents.complete");
    bytes[key..key + 5].copy_from_slice(b"other");
    let seal = find(&bytes, b"dentscrc") + 8;
    let checksum = crc32fast::hash(&bytes[seal + 4..]);
    bytes[seal..seal + 4].copy_from_slice(&checksum.to_le_bytes());
    fs::write(ground.file(Format::Parquet), bytes).expect("written");
    for format in Format::ALL {
        let expected = (as_written(*format, rows.clone()), None);
        assert!(read_any(&ground.file(*format)).expect("read") == expected, "{format:?}");
    }
}

#[test]
fn a_check_leaves_nothing_and_tells_what_creating_would() {
    for format in Format::ALL {
        let ground = Playground::new();
        check(&ground.file(*format), *format).expect("can be made");
        assert!(check(&ground.0.join("none/scan"), *format).is_err());
        assert_eq!(ground.names(), [""; 0]);
        // It does not open a FIFO, because that would wait.
        let fifo = ground.0.join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
        for path in [&*fifo, Path::new("/dev/null")] {
            let refused = check(path, *format).map_err(|error| error.to_string());
            let sqlite = format.name() == "sqlite";
            assert_eq!(refused.is_err_and(|told| told.contains("SQLite needs a file")), sqlite, "{format:?}");
        }
        // A partial file could not replace a directory.
        fs::create_dir(ground.0.join("x.partial")).expect("made");
        let told = check(&ground.0.join("x"), *format).expect_err("refused").to_string();
        assert!(told.contains("x.partial: a directory, ") && told.contains("; rename it"), "{told}");
        assert_eq!(ground.names().len(), 2);
    }
}
