//! Runs of commands inside a program.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use dents_arrow::{Columns, Next, Run, Stream, arrow_array};
use dents_lab::fixture::TempDir;
use dents_sink::Detail;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

fn words(words: &[&str], path: &Path) -> Vec<OsString> {
    words.iter().map(OsString::from).chain([path.into()]).collect()
}

/// Directories, each with files of different sizes.
fn tree(directories: usize, files: usize) -> TempDir {
    let dir = TempDir::new("arrow").expect("fixture");
    for directory in 0..directories {
        let path = dir.path().join(format!("d{directory}"));
        std::fs::create_dir(&path).expect("fixture");
        for file in 0..files {
            std::fs::write(path.join(format!("f{file}.txt")), vec![0; file]).expect("fixture");
        }
    }
    dir
}

fn stream(list: &[&str], path: &Path, columns: &[&str]) -> Stream {
    Run::default().stream(&words(list, path), &Columns::of(columns).expect("columns")).expect("a thread")
}

fn batches(stream: Stream) -> Vec<RecordBatch> {
    stream.collect::<Result<_, _>>().expect("a scan")
}

fn sizes(batches: &[RecordBatch]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for batch in batches {
        let (paths, sizes) =
            (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<UInt64Type>());
        all.extend(paths.iter().zip(sizes).map(|(path, size)| (path.unwrap().to_owned(), size.unwrap())));
    }
    all
}

#[test]
fn a_stream_has_every_entry() {
    let dir = tree(30, 20);
    let found = sizes(&batches(stream(&["scan", "--type=f"], dir.path(), &["path", "size"])));
    let path = |directory, file| format!("{}/d{directory}/f{file}.txt", dir.path().display());
    let expected = (0..30).flat_map(|directory| (0..20).map(move |file| (path(directory, file), file)));
    assert_eq!(found, expected.collect());
    let all: usize =
        batches(stream(&["scan"], dir.path(), &["depth"])).iter().map(RecordBatch::num_rows).sum();
    assert_eq!(all, 1 + 30 + 600);
}

#[test]
fn every_column_has_its_value() {
    let dir = tree(1, 1);
    std::os::unix::fs::symlink("f0.txt", dir.path().join("d0/link")).expect("fixture");
    let run = Run::default();
    let words = words(&["scan", "--type=l"], dir.path());
    let batch = run.stream(&words, &Columns::default()).unwrap().next().unwrap().unwrap();
    assert_eq!(batch.num_rows(), 1);
    assert_eq!(batch.num_columns() + Detail::ALL.len(), Columns::names().count(), "details only on request");
    let text = |name: &str| batch.column_by_name(name).unwrap().as_string::<i32>().value(0).to_owned();
    assert_eq!([text("name"), text("target"), text("type")], ["link", "f0.txt", "link"]);
    assert!(batch.column_by_name("errno").unwrap().is_null(0));
    assert_eq!(batch.column_by_name("size").unwrap().as_primitive::<UInt64Type>().value(0), 6);
    assert!(!batch.column_by_name("mtime").unwrap().is_null(0));
}

#[test]
fn a_name_that_is_not_text_is_in_the_bytes() {
    let dir = TempDir::new("arrow").expect("fixture");
    let name = std::ffi::OsStr::from_bytes(b"\xff\n");
    std::fs::write(dir.path().join(name), "").expect("fixture");
    let columns = ["path", "path_bytes", "name", "name_bytes", "extension"];
    let batch = &batches(stream(&["scan", "--type=f"], dir.path(), &columns))[0];
    assert!(batch.column(0).is_null(0) && batch.column(2).is_null(0) && batch.column(4).is_null(0));
    let path = dir.path().join(name);
    assert_eq!(batch.column(1).as_binary::<i32>().value(0), path.as_os_str().as_bytes());
    assert_eq!(batch.column(3).as_binary::<i32>().value(0), b"\xff\n");
}

#[test]
fn wrong_options_have_the_text_of_the_program() {
    let there = Path::new(".");
    for (list, part) in [
        (&["scan", "--frobnicate"][..], "unexpected argument '--frobnicate'"),
        (&["scan", "--size=many"], "many"),
        (&["scan", "-o", "x.parquet"], "-o is for output to a file"),
        (&["du"], "only scan gives a stream"),
    ] {
        let begun = Run::default().stream(&words(list, there), &Columns::default());
        let error = match begun {
            Ok(mut stream) => stream.next().unwrap().unwrap_err().to_string(),
            Err(failure) => failure.to_string(),
        };
        assert!(error.contains(part), "{list:?}: {error}");
        assert!(!error.contains("Usage"), "{error}");
    }
    for list in [&["scan", "--type=f"][..], &["scan", "-o", "-"], &["du"], &["scan", "--printf=%p"]] {
        assert_eq!(
            Run::default().run(&words(list, there)).unwrap_err().status,
            2,
            "{list:?} would write to our output"
        );
    }
    assert_eq!(Run::default().table(&words(&["scan"], there)).unwrap_err().status, 2);
    let failure = Run::default().table(&words(&["du", "--max-depth=x"], there)).unwrap_err();
    assert_eq!(failure.status, 2);
    assert!(Columns::of(&["path", "colour"]).unwrap_err().contains("no column \"colour\""));
}

#[test]
fn what_cannot_be_read_is_told() {
    let run = Run::default();
    let missing = words(&["scan"], Path::new("/nonexistent/place"));
    let batches: Vec<RecordBatch> = run
        .stream(&missing, &Columns::of(&["path", "errno"]).unwrap())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
    let (messages, lost) = run.messages();
    assert_eq!((messages.len(), lost), (1, 0));
    assert_eq!(messages[0].path.as_deref(), Some(&b"/nonexistent/place"[..]));
    assert_eq!(messages[0].errno, Some(2));
    assert!(messages[0].text.starts_with("cannot access"), "{:?}", messages[0]);
}

#[test]
fn tables_are_those_of_the_program() {
    let dir = tree(3, 5);
    let table = |list: &[&str]| Run::default().table(&words(list, dir.path())).expect("a table");
    let count = table(&["count"]);
    assert_eq!(
        count.schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(),
        ["type", "entries"]
    );
    let entries = count.column(1).as_primitive::<Int64Type>();
    assert_eq!(entries.values().last(), Some(&19));
    let top = table(&["top", "--number=2", "--by=size"]);
    assert_eq!(top.column(0).as_primitive::<Int64Type>().values(), &[4, 4]);
    assert_eq!(table(&["top", "--number=2", "--by=newest"]).schema().field(0).name(), "mtime");
    let du = table(&["du", "--apparent-size", "--max-depth=1"]);
    assert_eq!(du.num_rows(), 4);
    assert_eq!(du.column(0).as_primitive::<Int64Type>().value(0), 30);
    let stats = table(&["stats", "--by=user,size"]);
    assert_eq!(stats.num_rows(), 2, "empty files, and those up to 4K");
    assert_eq!(stats.num_columns(), 10);
    // Scan files, and what differs.
    let file = dir.path().join("old.ndjson");
    let scan = words(&["scan", "-o", file.to_str().unwrap()], dir.path());
    assert_eq!(Run::default().run(&scan), Ok(true));
    std::fs::write(dir.path().join("d0/f0.txt"), "grown").expect("fixture");
    let differences = table(&["diff", file.to_str().unwrap()]);
    let column = |nth: usize| differences.column(nth).as_string::<i32>().iter().flatten().collect::<Vec<_>>();
    let changed = column(0).into_iter().zip(column(1)).any(|row| row == ("changed", "d0/f0.txt"));
    assert!(changed, "{:?} {:?}", column(0), column(1));
}

#[test]
fn what_nobody_reads_ends() {
    let dir = tree(200, 50);
    for taken in 0..3 {
        let mut stream = stream(&["scan"], dir.path(), &["path"]);
        for _ in 0..taken {
            stream.next();
        }
        let start = Instant::now();
        drop(stream);
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn a_run_that_is_stopped_says_so() {
    let dir = tree(50, 50);
    let run = Run::default();
    let mut stream = run.stream(&words(&["scan", "--rate=10"], dir.path()), &Columns::default()).unwrap();
    assert!(matches!(stream.next_within(Duration::ZERO), Ok(Next::Waiting)));
    run.stop();
    let start = Instant::now();
    let failure = loop {
        match stream.next_within(Duration::from_secs(30)) {
            Ok(Next::Batch(_)) => {}
            other => break other.unwrap_err(),
        }
    };
    assert_eq!(failure.status, 130);
    assert!(start.elapsed() < Duration::from_secs(20), "{failure}");
    // A run of its own is not stopped.
    assert_eq!(batches(self::stream(&["scan", "--max-depth=0"], dir.path(), &["path"]))[0].num_rows(), 1);
}

#[test]
fn many_runs_at_once_keep_apart() {
    let dir = tree(20, 20);
    std::thread::scope(|scope| {
        for nth in 0..50 {
            let path = dir.path();
            scope.spawn(move || match nth % 3 {
                0 => {
                    let failure = Run::default().table(&words(&["du", "--frob"], path)).unwrap_err();
                    assert_eq!(failure.status, 2);
                }
                1 => assert_eq!(
                    sizes(&batches(stream(&["scan", "--type=f"], path, &["path", "size"]))).len(),
                    400
                ),
                _ => {
                    let run = Run::default();
                    let table = run.table(&words(&["count"], path)).unwrap();
                    assert_eq!(table.column(1).as_primitive::<Int64Type>().values().last(), Some(&421));
                    assert_eq!(run.messages().0, []);
                    assert_eq!(run.seen()[0], 21);
                }
            });
        }
    });
}
