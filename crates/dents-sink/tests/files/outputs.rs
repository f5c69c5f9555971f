//! Files appear when they are complete; error messages name the file, the problem and a remedy.

use crate::common::{ABOUT, Owned, Playground, Rng, as_written, read, read_any, write};
use dents_sink::{Extent, Format, Output, create};
use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

fn rows() -> Vec<Owned> {
    Rng(11).rows(2000)
}

#[test]
fn a_file_appears_when_it_is_whole() {
    for format in Format::ALL {
        let ground = Playground::new();
        let path = ground.file(*format);
        let sink = create(&path, *format, &ABOUT).expect("created");
        let mut part = sink.part();
        rows().iter().for_each(|row| part.row(&row.row()).expect("taken"));
        part.flush().expect("flushed");
        drop(part);
        assert_eq!(ground.names().len(), 1, "the temporary file: {:?}", ground.names());
        assert!(!path.exists());
        assert_eq!(sink.finish(Extent::Complete).expect("finished"), Some(path.clone()));
        assert_eq!(ground.names(), [path.file_name().and_then(|name| name.to_str()).expect("a name")]);
    }
}

#[test]
fn what_is_not_finished_leaves_nothing() {
    for format in Format::ALL {
        let ground = Playground::new();
        fs::write(ground.file(*format), "before").expect("written");
        let sink = create(&ground.file(*format), *format, &ABOUT).expect("created");
        let mut part = sink.part();
        rows().iter().for_each(|row| part.row(&row.row()).expect("taken"));
        part.flush().expect("flushed");
        drop(part);
        drop(sink);
        assert_eq!(ground.names().len(), 1);
        assert_eq!(fs::read(ground.file(*format)).expect("read"), b"before");
    }
}

#[test]
fn mode_and_links_of_what_was_there_are_kept() {
    for format in Format::ALL {
        let ground = Playground::new();
        let (real, link) = (ground.0.join("real"), ground.0.join("link"));
        fs::write(&real, "before").expect("written");
        fs::set_permissions(&real, Permissions::from_mode(0o604)).expect("set");
        symlink("real", &link).expect("linked");
        write(&link, *format, &rows(), 2).expect("written");
        assert!(link.is_symlink());
        assert_eq!(fs::metadata(&real).expect("there").permissions().mode() & 0o7777, 0o604);
        assert_eq!(read(&real).expect("read").len(), 2000);
        // A dangling link.
        fs::remove_file(&real).expect("removed");
        write(&link, *format, &rows(), 2).expect("written");
        assert!(link.is_symlink() && real.is_file());
        assert_eq!(ground.names().len(), 2);
    }
}

#[test]
fn a_name_of_255_bytes_has_room_for_a_temporary_one() {
    let ground = Playground::new();
    let path = ground.0.join("é".repeat(127) + "x");
    write(&path, Format::Ndjson, &rows(), 1).expect("written");
    assert_eq!(read(&path).expect("read").len(), 2000);
}

#[test]
fn a_pipe_is_written_as_it_is() {
    for format in Format::ALL.iter().filter(|format| format.name() != "sqlite") {
        let ground = Playground::new();
        let (fifo, copy) = (ground.0.join("fifo"), ground.0.join("copy"));
        assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
        let bytes = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut bytes = Vec::new();
                File::open(&fifo).and_then(|mut fifo| fifo.read_to_end(&mut bytes)).expect("read");
                bytes
            });
            write(&fifo, *format, &rows(), 1).expect("written");
            reader.join().expect("no panic")
        });
        fs::write(&copy, bytes).expect("written");
        assert!(read(&copy).expect("read") == as_written(*format, rows()));
    }
}

#[test]
fn a_reader_that_goes_is_a_broken_pipe() {
    let ground = Playground::new();
    let fifo = ground.0.join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let error = std::thread::scope(|scope| {
        scope.spawn(|| File::open(&fifo).expect("opened").read(&mut [0; 10]).expect("read"));
        write(&fifo, Format::Ndjson, &Rng(1).rows(20_000), 1).expect_err("no process reads")
    });
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
}

fn refused(path: &Path, format: Format) -> String {
    write(path, format, &rows(), 1).expect_err("must be refused").to_string()
}

#[test]
fn what_cannot_be_written_is_told_with_file_problem_and_way_out() {
    for format in Format::ALL {
        let ground = Playground::new();
        let missing = refused(&ground.0.join("none/scan"), *format);
        assert!(
            missing.contains("none/scan: cannot write: ") && missing.contains("make the directory first"),
            "{missing}"
        );
        let directory = refused(&ground.0, *format);
        assert!(directory.contains("directory; name a file in it"), "{directory}");
        let file = ground.0.join("file");
        fs::write(&file, "").expect("written");
        let below = refused(&file.join("scan"), *format);
        assert!(below.contains("is not a directory"), "{below}");
        let full = refused(Path::new("/dev/full"), *format);
        let sqlite = format.name() == "sqlite";
        let expected = if sqlite { "SQLite needs a file" } else { "No space left on device" };
        assert!(full.starts_with("/dev/full: ") && full.contains(expected) && full.contains("; "), "{full}");
        assert_eq!(ground.names(), ["file"]);
    }
}

#[test]
fn after_a_failed_write_nothing_is_committed() {
    let mut output = Output::create(Path::new("/dev/full")).expect("opened");
    assert_eq!(output.write_all(b"x").expect_err("full").kind(), ErrorKind::StorageFull);
    assert!(
        output
            .commit(Extent::Complete)
            .expect_err("failed before")
            .to_string()
            .contains("an earlier write failed")
    );
}

/// A limit on the size of files acts like a disk that becomes full while the file is written.
#[test]
fn a_file_that_could_not_grow_is_not_there() {
    let Ok(this) = std::env::current_exe() else { return };
    if std::env::var_os("DENTS_SINK_LIMITED").is_none() {
        for format in Format::ALL {
            let ground = Playground::new();
            let limited = Command::new("sh")
                .args([
                    "-c",
                    "ulimit -f 64; trap '' XFSZ; exec \"$0\" a_file_that_could_not_grow --nocapture",
                ])
                .arg(&this)
                .env("DENTS_SINK_LIMITED", ground.file(*format))
                .env("DENTS_SINK_FORMAT", format.name())
                .output()
                .expect("started");
            let said = String::from_utf8_lossy(&limited.stdout);
            assert!(
                said.contains("REFUSED") && said.contains("scan.") && said.contains("; "),
                "{format:?}: {said}"
            );
            assert_eq!(ground.names(), [""; 0], "{format:?}");
        }
        return;
    }
    let path = std::env::var_os("DENTS_SINK_LIMITED").expect("set");
    let format =
        std::env::var("DENTS_SINK_FORMAT").ok().and_then(|name| Format::of_name(&name)).expect("set");
    let error = write(Path::new(&path), format, &Rng(5).rows(100_000), 2).expect_err("limited");
    println!("REFUSED {error}");
}

fn bad(bytes: &[u8]) -> String {
    let ground = Playground::new();
    let path = ground.0.join("bad");
    fs::write(&path, bytes).expect("written");
    read(&path).expect_err("must be refused").to_string()
}

#[test]
fn what_is_not_ours_is_said_to_be_so() {
    for (bytes, expected) in [
        (&b""[..], "empty, which no scan is; "),
        (b"hello", "not a file of a scan; name one"),
        (b"{}\n", "damaged: line 1"),
        (b"{\"v\":1,\"scan\":{}}\n", "damaged: line 1"),
        (b"{\"v\":2,\"scan\":{\"complete\":true,\"rows\":0}}\n", "version 2 of the schema"),
        (b"{\"v\":1}\n", "line 1: no row of a scan: missing field"),
        (b"{\"v\":2,\"road\":1}\n", "version 2 of the schema, and this program knows up to 1; read it with"),
        (b"{\"v\":1,\"path\":\"a", "cut off or damaged: line 1 has no end"),
        (b"PAR1", "cut off or damaged"),
        (b"PAR1 and so on, but not on and on PAR1", "cut off or damaged"),
        (b"SQLite format 3\0", "cut off or damaged"),
    ] {
        let said = bad(bytes);
        assert!(said.contains("/bad: ") && said.contains(expected), "{said}");
    }
    let missing = read(Path::new("/nonexistent")).expect_err("not there").to_string();
    assert!(missing.starts_with("/nonexistent: cannot read: No such file or directory; "), "{missing}");
}

/// Cuts a file at every position near its beginning and end, at every page of a database, at every line, and at many positions between.
#[test]
fn a_file_cut_off_anywhere_is_told() {
    for format in Format::ALL {
        let ground = Playground::new();
        let path = ground.file(*format);
        write(&path, *format, &Rng(2).rows(60), 1).expect("written");
        let whole = fs::read(&path).expect("read");
        let ends_of_lines =
            whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let mut lengths: Vec<usize> = (0..whole.len()).step_by(1 + whole.len() / 400).collect();
        lengths.extend((0..120).chain(whole.len() - 120..whole.len()));
        lengths.extend((0..whole.len()).step_by(1024).flat_map(|at| [at, at.saturating_sub(1), at + 1]));
        lengths
            .extend(ends_of_lines.clone().filter(|_| *format == Format::Ndjson).flat_map(|at| [at - 1, at]));
        for len in lengths.into_iter().filter(|len| *len < whole.len()) {
            fs::write(&path, &whole[..len]).expect("written");
            match read_any(&path) {
                // All lines are complete, and the last one is not the record.
                Ok((rows, extent)) => {
                    let at_an_end = *format == Format::Ndjson && ends_of_lines.clone().any(|end| end == len);
                    assert!(at_an_end && extent.is_none() && rows.len() <= 60, "{format:?} {len} {extent:?}");
                }
                Err(error) => assert!(error.to_string().contains("scan."), "{error}"),
            }
        }
    }
}

#[test]
fn a_file_with_changed_bytes_never_ends_in_a_panic() {
    for format in Format::ALL {
        let ground = Playground::new();
        let path = ground.file(*format);
        let mut rng = Rng(4);
        write(&path, *format, &rng.rows(300), 2).expect("written");
        let whole = fs::read(&path).expect("read");
        for _ in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..=rng.below(4) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.next() as u8;
            }
            let changed = bytes != whole;
            fs::write(&path, bytes).expect("written");
            match read_any(&path) {
                // Only Parquet files have checksums, which cover all but the first four bytes.
                Ok(_) => assert!(format.name() != "parquet" || !changed, "damage went unnoticed"),
                Err(error) => assert!(error.to_string().contains("/scan."), "{error}"),
            }
        }
    }
}
