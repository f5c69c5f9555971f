//! Rows come back, as far as the format keeps them, and a damaged file is an error.

use crate::details::Details;
use crate::format::{About, Extent, Format};
use crate::fuzzing::TemporaryDir;
use crate::row::{Asked, Fault, Row};
use crate::{Facts, create, read};
use dents_core::batch::Time;
use dents_core::needs::Kind;
use std::collections::BTreeMap;
use std::path::Path;

/// What the format keeps of an entry: type, failed, and of its facts dev, ino, mode, nlink, uid, size, allocated, mtime.
type Kept = (Kind, bool, Option<[u64; 8]>);

/// Entries by path, each with its depth.
type Entries = BTreeMap<Vec<u8>, (u32, Kept)>;

fn kept(row: &Row<'_>) -> Kept {
    let facts = row.facts.map(|facts| {
        let dev = crate::words::device(facts.dev);
        let nlink = if row.kind == Kind::Dir { 1 } else { facts.nlink };
        let owner = [facts.uid.into(), facts.size, facts.allocated, facts.mtime.sec as u64];
        [dev, facts.ino, facts.mode.into(), nlink.into(), owner[0], owner[1], owner[2], owner[3]]
    });
    (row.kind, row.fault.is_some(), facts)
}

/// Entries by path; a directory that could not be read has two rows.
fn by_path<'r>(rows: impl IntoIterator<Item = Row<'r>>) -> Entries {
    let mut all = BTreeMap::new();
    for row in rows {
        let mut path = Vec::new();
        row.path(&mut path);
        let (kind, failed, facts) = kept(&row);
        let one = all.entry(path).or_insert((row.depth, (kind, failed, facts)));
        *one = (row.depth, (one.1.0, one.1.1 | failed, one.1.2.or(facts)));
    }
    all
}

fn write(path: &Path, rows: &[Row<'_>], extent: Extent) -> std::io::Result<()> {
    let time = Time { sec: 1_700_000_000, nsec: 5 };
    let about = About {
        program: "dents 9.9",
        begun: time,
        ended: Some(time),
        timestamps: Default::default(),
        index: false,
        subvolumes: &[],
        details: read::Columns::empty(),
    };
    let sink = create(path, Format::Ncdu, &about)?;
    let mut part = sink.part();
    rows.iter().try_for_each(|row| part.row(row))?;
    part.flush()?;
    drop(part);
    sink.finish(extent).map(drop)
}

/// An entry read back.
fn read_all(path: &Path) -> (Entries, Option<Extent>) {
    let (mut all, mut rows): (_, Vec<(Vec<u8>, u32, Kept)>) = (BTreeMap::new(), Vec::new());
    let reader = read::open(path).expect("opened");
    assert_eq!(
        (reader.format(), reader.span().begun.map(|time| time.sec)),
        (Format::Ncdu, Some(1_700_000_000))
    );
    let extent = reader
        .for_each(&mut |row| {
            let mut path = Vec::new();
            row.path(&mut path);
            rows.push((path, row.depth, kept(row)));
            Ok(())
        })
        .expect("read");
    for (path, depth, (kind, failed, facts)) in rows {
        let one = all.entry(path).or_insert((depth, (kind, failed, facts)));
        *one = (depth, (one.1.0, one.1.1 | failed, one.1.2.or(facts)));
    }
    (all, extent)
}

fn facts(number: u64, kind: Kind) -> Facts<'static> {
    Facts {
        dev: (8, u32::from(number.is_multiple_of(7))),
        ino: number + 2,
        mode: (kind as u16) << 12 | 0o644,
        nlink: if number.is_multiple_of(5) { 3 } else { 1 },
        uid: 1000,
        gid: 100,
        user: None,
        group: None,
        size: number * number,
        allocated: number * 512,
        atime: Time::default(),
        btime: None,
        ctime: Time::default(),
        mtime: Time { sec: number as i64, nsec: 0 },
        lazy: false,
        unknown: read::Columns::empty(),
    }
}

/// A tree whose names sort before and after a slash, are no UTF-8, and must be escaped.
fn rows(root: &'static [u8]) -> Vec<Row<'static>> {
    const NAMES: [&[u8]; 8] =
        [b"a", b"a-", b"a-b", b"a!", b"a0", b"\xff\"\\", b"\x7f\n\x01", "\u{fc}/".as_bytes()];
    let row = |parent: &[u8], name: &[u8], depth, number: u64| {
        let kind = match number % 4 {
            _ if number < 50 => Kind::Dir,
            0 => Kind::Dir,
            1 => Kind::Link,
            _ => Kind::Reg,
        };
        let (parent, name) = (Box::leak(parent.to_vec().into()), Box::leak(name.to_vec().into()));
        let facts = Some(facts(number, kind));
        Row { parent, name, depth, kind, facts, target: None, details: Details::default(), fault: None }
    };
    let mut all = vec![row(b"", root, 0, 0)];
    let mut at = 0;
    while all.len() < 600 {
        let above = all[at];
        at += 1;
        if above.kind != Kind::Dir {
            continue;
        }
        let mut path = Vec::new();
        above.path(&mut path);
        for name in NAMES {
            let name = name.strip_suffix(b"/").unwrap_or(name);
            all.push(row(&path, name, above.depth + 1, all.len() as u64));
        }
    }
    let failed = all[9];
    all.push(Row {
        facts: None,
        fault: Some(Fault { asked: Asked::Open, errno: 13 }),
        kind: Kind::Dir,
        ..all[8]
    });
    all.push(Row {
        name: b"gone",
        kind: Kind::Unknown,
        facts: None,
        fault: Some(Fault { asked: Asked::Stat, errno: 2 }),
        ..failed
    });
    all
}

#[test]
fn rows_come_back() {
    let dir = TemporaryDir::new();
    let path = dir.0.join("scan.json");
    for root in [&b"t"[..], b"/", b"/srv/x", b"./t/", b"a b"] {
        let rows = rows(root);
        let mut mixed: Vec<Row<'_>> = Vec::new();
        (0..rows.len()).for_each(|step| mixed.push(rows[step * 7919 % rows.len()]));
        for extent in [Extent::Complete, Extent::Partial] {
            write(&path, &mixed, extent).expect("written");
            let path =
                if extent == Extent::Complete { path.clone() } else { dir.0.join("scan.json.partial") };
            let (found, recorded) = read_all(&path);
            assert_eq!(found, by_path(rows.iter().copied()), "{}", root.escape_ascii());
            assert_eq!(recorded, Some(extent));
        }
    }
}

#[test]
fn directories_that_a_filter_left_out_have_no_size() {
    let dir = TemporaryDir::new();
    let path = dir.0.join("scan.json");
    let rows = rows(b"/");
    let files: Vec<Row<'_>> = rows.iter().copied().filter(|row| row.kind == Kind::Reg).collect();
    write(&path, &files, Extent::Complete).expect("written");
    let (found, _) = read_all(&path);
    let expected = by_path(files);
    assert!(found.len() > expected.len());
    for (path, entry) in &found {
        match expected.get(path) {
            Some(one) => assert_eq!(entry, one),
            None => assert_eq!((entry.1.0, entry.1.2.map(|facts| facts[5])), (Kind::Dir, Some(0))),
        }
    }
    assert!(expected.keys().all(|path| found.contains_key(path)));
}

#[test]
fn only_one_directory_can_be_written() {
    let dir = TemporaryDir::new();
    let all = rows(b"t");
    let problem = |rows: &[Row<'_>]| {
        write(&dir.0.join("scan.json"), rows, Extent::Complete).expect_err("refused").to_string()
    };
    let other = Row { name: b"u", ..all[0] };
    assert!(problem(&[all[0], other]).contains("several PATHs"));
    assert!(problem(&[Row { kind: Kind::Reg, ..other }]).contains("not a directory"));
    assert!(problem(&[]).contains("no entry"));
    assert!(!dir.0.join("scan.json").exists());
}

#[test]
fn damage_is_an_error_with_its_place() {
    let dir = TemporaryDir::new();
    let good = br#"[1,2,{"timestamp":5},[{"name":"/r"},[{"name":"d"},{"name":"x","asize":3}],{"name":"y"}]]"#;
    let read = |bytes: &[u8]| {
        let path = dir.file("scan.json", bytes);
        read::open(&path).and_then(|reader| reader.for_each(&mut |_| Ok(())))
    };
    assert_eq!(read(good).expect("read"), Some(Extent::Complete));
    for end in 1..good.len() {
        let error = read(&good[..end]).expect_err("cut off").to_string();
        assert!(error.contains("scan.json") && error.contains("byte "), "{end}: {error}");
    }
    // Another version may add elements to the outermost array, which ncdu ignores, too.
    let with = |more: &str| [&good[..good.len() - 1], more.as_bytes(), b"]\n"].concat();
    for more in [",5", ", {\"a\": [\"]}\\\"\", {}]}", ",[[1, 2],[{\"name\":\"s\"}]] , null,\"x\"", ",-1.5e3"]
    {
        let more = with(more);
        assert_eq!(read(&more).expect("read"), Some(Extent::Complete), "{}", more.escape_ascii());
        for end in good.len()..more.len() - 1 {
            let error = read(&more[..end]).expect_err("cut off").to_string();
            assert!(error.contains("the end is missing"), "{end}: {error}");
        }
    }
    let deep = [b",", &b"[".repeat(900_000)[..], &b"]".repeat(900_000)].concat();
    read(&with(&String::from_utf8(deep).expect("ASCII"))).expect("read");
    let long = [&b"[1,2,{},[{\"name\":\""[..], &vec![b'x'; 3 << 20], b"\"}]]"].concat();
    let nested = [&b"[1,2,{},[{\"name\":\"r\",\"x\":"[..], &b"[".repeat(900_000), b"}]]"].concat();
    let object = |text: &str| format!("[1,2,{{}},[{{\"name\":\"r\"}},{text}]]").into_bytes();
    for (bytes, problem) in [
        (b"[2,0,{},[{\"name\":\"r\"}]]".to_vec(), "version 2"),
        (b"[1,2,{},{\"name\":\"r\"}]".to_vec(), "the root is no directory"),
        (b"[1,2,{},[{\"name\":\"r\"}]] x".to_vec(), "something behind the end"),
        (b"[1,2,{},[{\"name\":\"r\"}] 5]".to_vec(), "behind the root"),
        (b"[1,2,{},[{\"name\":\"r\"}],]".to_vec(), "no value"),
        (b"[1,2,{},[{\"name\":\"r\"}],[{]}]".to_vec(), "a `]` too many"),
        (b"[1,2,{},[{\"name\":\"r\"}],5}".to_vec(), "behind the root"),
        (b"[{\"v\":1}]".to_vec(), "no version"),
        (long, "longer than 1 MiB"),
        (nested, "no entry of ncdu"),
        (object("{\"name\":\"..\"}"), "no name of a file"),
        (object("{\"name\":\"a/b\"}"), "no name of a file"),
        (object("{\"name\":\"\"}"), "no name of a file"),
        (object("{\"name\":\"a\\u0000\"}"), "no name of a file"),
        (object("{\"name\":5}"), "no entry of ncdu"),
        (object("{\"name\":\"x\",\"asize\":-1}"), "no entry of ncdu"),
        (object("{}"), "no entry of ncdu"),
        (object("5"), "no `{`"),
    ] {
        let error = read(&bytes).expect_err(problem).to_string();
        assert!(error.contains(problem) && error.len() < 1000, "{problem}: {error}");
    }
}
