//! Random pairs of scans and of trees, compared with [`brute`] and, if Python is installed, with `brute.py`.

use crate::brute::{canonical, expected};
use crate::tools::{is_root, name, text};
use crate::{dents, playground};
use dents_core::batch::Time;
use dents_core::needs::Kind;
use dents_lab::process::{End, Outcome, Run};
use dents_lab::rng::Rng;
use dents_sink::{About, Asked, Extent, Facts, Fault, Format, Row, time};
use serde_json::Value;
use std::collections::HashSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const PAIRS: usize = 200;

/// The number of entries of each kind in all pairs together. It shows that each kind was compared.
#[derive(Default)]
struct Met([u64; 5]);

impl Met {
    fn add(&mut self, found: &Value) {
        let entries = |list: &str| found["summary"][list]["entries"].as_u64().unwrap();
        let unknown = found["unknown"].as_u64().unwrap();
        let more = [entries("new"), entries("deleted"), entries("changed"), entries("moved"), unknown];
        self.0.iter_mut().zip(more).for_each(|(all, more)| *all += more);
    }

    fn assert_all(&self) {
        println!("new, deleted, changed, moved, unknown: {:?}", self.0);
        assert!(self.0.iter().all(|number| *number as usize > PAIRS / 2), "{:?}", self.0);
    }
}

/// Compares the output of a run with the result of brute force.
fn check(run: &Run, depth: usize, scans: &[PathBuf; 2], met: &mut Met) {
    let outcome = run.output().unwrap_or_else(|error| panic!("{}: {error}", run.shell()));
    let expected = expected(depth, &scans[0], &scans[1]);
    let Outcome { end, stdout, stderr } = outcome;
    let found = serde_json::from_slice(&stdout)
        .unwrap_or_else(|error| panic!("{}: {error}: {}{}", run.shell(), text(&stdout), text(&stderr)));
    let errors = Value::clone(&found)["errors"].as_u64();
    let found = canonical(found);
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(found[field], *value, "{field}: {}", run.shell());
    }
    assert_eq!(found, expected);
    met.add(&found);
    let lists = ["new", "deleted", "changed", "moved"];
    let is_different = lists.iter().any(|list| !found[*list].as_array().unwrap().is_empty());
    let status = if errors > Some(0) { 2 } else { i32::from(is_different) };
    assert_eq!(end, End::Exit(status), "{}: {}", run.shell(), text(&stderr));
}

/// Compares the result of `expected` with that of Python, for all pairs at once, each with a depth and two scans.
fn check_python(pairs: &[(usize, [PathBuf; 2])]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diff/brute.py");
    let mut python = Command::new("python3");
    python.arg("-B").arg(script);
    for (depth, scans) in pairs {
        python.arg(depth.to_string()).args(scans);
    }
    let Ok(output) = python.output() else { return println!("skipped: no python3") };
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = text(&output.stdout);
    let found: Vec<&str> = output.lines().collect();
    assert_eq!(found.len(), pairs.len());
    for (line, (depth, scans)) in found.iter().zip(pairs) {
        let python = canonical(serde_json::from_str(line).expect("JSON"));
        assert_eq!(python, expected(*depth, &scans[0], &scans[1]), "{scans:?}");
    }
}

/// Names with unusual order, quotes or characters.
const NAMES: [&[u8]; 12] = [
    b"a",
    b"b",
    b"a b",
    b"a.b",
    b"a-b",
    b"new\nline",
    b"\xff\xfe",
    b"\x1b[2J",
    b"\xc3\xbc",
    b"\"q\"",
    b"'",
    b"a,b",
];

/// An entry of an invented scan.
#[derive(Clone)]
struct Invented {
    parent: Vec<u8>,
    name: Vec<u8>,
    depth: u32,
    kind: Kind,
    facts: Option<Facts<'static>>,
    target: Option<Vec<u8>>,
    fault: Option<Fault>,
}

fn below(rng: &mut Rng, most: usize) -> usize {
    rng.below(most)
}

fn invented_facts(rng: &mut Rng, kind: Kind) -> Facts<'static> {
    let stamp = |rng: &mut Rng| Time {
        sec: 1_700_000_000 + below(rng, 2) as i64,
        nsec: [0, 999, 1000][below(rng, 3)],
    };
    let mode = ((kind as u16) << 12) | [0o644, 0o755][below(rng, 2)];
    let mtime = stamp(rng);
    Facts {
        dev: (8, below(rng, 8) as u32 / 7),
        ino: below(rng, 12) as u64,
        mode,
        nlink: [1, 1, 2, 3][below(rng, 4)],
        uid: below(rng, 3) as u32,
        gid: below(rng, 2) as u32,
        user: None,
        group: None,
        size: [0, 1, 5000, 1 << 40][below(rng, 4)],
        allocated: [0, 4096, 8192][below(rng, 3)],
        atime: stamp(rng),
        btime: (below(rng, 4) > 0).then(|| stamp(rng)),
        ctime: stamp(rng),
        mtime,
        lazy: false,
        unknown: dents_sink::read::Columns::empty(),
    }
}

/// A random scan. [`later`] changes it in places.
fn invent(rng: &mut Rng) -> Vec<Invented> {
    let mut rows = Vec::new();
    let roots: [&[&[u8]]; 5] = [&[b"r"], &[b"/"], &[b"./r//"], &[b"/", b"r/s"], &[b"a", b"b/"]];
    for root in roots[below(rng, 5)] {
        let facts = Some(invented_facts(rng, Kind::Dir));
        let (parent, name, target, fault) = (Vec::new(), root.to_vec(), None, None);
        rows.push(Invented { parent, name, depth: 0, kind: Kind::Dir, facts, target, fault });
        fill(rng, root, 1, &mut rows);
    }
    rows
}

fn fill(rng: &mut Rng, parent: &[u8], depth: u32, rows: &mut Vec<Invented>) {
    for name in NAMES {
        if below(rng, 3) > 0 {
            continue;
        }
        let kind = [Kind::Reg, Kind::Reg, Kind::Dir, Kind::Link, Kind::Fifo][below(rng, 5)];
        let facts = (below(rng, 30) > 0).then(|| invented_facts(rng, kind));
        let target = (kind == Kind::Link && facts.is_some()).then(|| vec![b'x'; below(rng, 2)]);
        let fault = facts.is_none().then_some(Fault { asked: Asked::Stat, errno: 13 });
        let path = dents_core::path::join(parent, name);
        let is_read = below(rng, 12) > 0;
        let row =
            Invented { parent: parent.to_vec(), name: name.to_vec(), depth, kind, facts, target, fault };
        rows.push(row.clone());
        if kind == Kind::Dir && !is_read && facts.is_some() {
            let asked = [Asked::Open, Asked::Read, Asked::Loop][below(rng, 3)];
            rows.push(Invented { facts: None, target: None, fault: Some(Fault { asked, errno: 13 }), ..row });
            if asked != Asked::Read {
                continue;
            }
        }
        if kind == Kind::Dir && facts.is_some() && depth < 4 {
            fill(rng, &path, depth + 1, rows);
        }
    }
}

/// The scan some time later.
fn later(rng: &mut Rng, old: &[Invented]) -> Vec<Invented> {
    let mut rows = Vec::new();
    for row in old {
        let mut row = row.clone();
        match below(rng, 12) {
            0 => row.facts = row.facts.map(|_| invented_facts(rng, row.kind)),
            1 if row.depth > 0 => row.name = NAMES[below(rng, NAMES.len())].to_vec(),
            2 if row.depth > 0 && row.kind != Kind::Dir => continue,
            3 => {
                row.facts =
                    row.facts.map(|facts| Facts { nlink: 2, atime: Time { sec: 5, nsec: 5 }, ..facts })
            }
            _ => {}
        }
        rows.push(row);
    }
    // A directory has only one entry with the same name.
    let mut met = HashSet::new();
    rows.retain(|row| {
        let is_second = row.fault.is_some_and(|fault| fault.is_of_directory());
        is_second || met.insert((row.parent.clone(), row.name.clone()))
    });
    rows
}

fn write(rows: &[Invented], file: &Path, format: Format) {
    let timestamps = time::Unit::Micros;
    let about = About {
        program: "a test",
        begun: time::now(),
        ended: None,
        timestamps,
        index: false,
        subvolumes: &[],
        details: Default::default(),
    };
    let sink = dents_sink::create(file, format, &about).expect("a file");
    let mut part = sink.part();
    for Invented { parent, name, depth, kind, facts, target, fault } in rows {
        let (depth, kind, facts, fault) = (*depth, *kind, *facts, *fault);
        let row = Row {
            parent,
            name,
            depth,
            kind,
            facts,
            target: target.as_deref(),
            details: Default::default(),
            fault,
        };
        part.row(&row).expect("written");
    }
    part.flush().expect("written");
    drop(part);
    sink.finish(Extent::Complete).expect("written");
}

#[test]
fn invented_scans_as_by_brute_force() {
    let dir = playground();
    let formats = [(Format::Ndjson, "ndjson"), (Format::Parquet, "parquet"), (Format::Sqlite, "sqlite")];
    let (mut pairs, mut met) = (Vec::new(), Met::default());
    for nth in 0..PAIRS {
        let rng = &mut Rng::new(nth as u64 + 1);
        let old = invent(rng);
        let new = if below(rng, 5) > 0 { later(rng, &old) } else { invent(rng) };
        let mut files = Vec::new();
        let scans = [(&old, "old"), (&new, "new")].map(|(rows, side)| {
            let lines = dir.path().join(format!("{nth}.{side}.ndjson"));
            write(rows, &lines, Format::Ndjson);
            let (format, suffix) = formats[below(rng, 3)];
            let file = dir.path().join(format!("{nth}.{side}.x.{suffix}"));
            write(rows, &file, format);
            files.push(file);
            lines
        });
        let depth = below(rng, 4);
        let run = dents(dir.path(), &format!("diff --json --depth {depth}")).args(&files);
        // One record in memory at a time, some records, or all.
        let memory = ["0", "2000", "100000000"][nth % 3];
        check(&run.env("DENTS_TEST_DIFF_MEMORY", memory), depth, &scans, &mut met);
        pairs.push((depth, scans));
    }
    met.assert_all();
    check_python(&pairs);
}

/// The paths below a directory.
fn paths(root: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(dir) = left.pop() {
        let mut entries: Vec<_> = fs::read_dir(&dir).expect("readable").flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            if entry.file_type().expect("known").is_dir() {
                left.push(entry.path());
            }
            all.push(entry.path());
        }
    }
    all
}

/// A random change: makes, renames, links, writes, replaces or removes an entry. It may fail, for example if a directory would be moved into
/// itself.
fn step(rng: &mut Rng, root: &Path) {
    let all = paths(root);
    let any = |rng: &mut Rng| all.get(below(rng, all.len().max(1))).cloned().unwrap_or(root.join("nothing"));
    let mut dirs: Vec<PathBuf> =
        all.iter().filter(|path| path.is_dir() && !path.is_symlink()).cloned().collect();
    dirs.push(root.to_path_buf());
    let place = dirs[below(rng, dirs.len())].join(name(NAMES[below(rng, NAMES.len())]));
    let size = [0, 1, 5000][below(rng, 3)];
    let _ = match below(rng, 11) {
        0 | 1 => fs::create_dir(&place),
        2 | 3 => fs::write(&place, vec![b'x'; size]),
        4 => symlink("where", &place),
        5 => fs::hard_link(any(rng), &place),
        6 | 7 => fs::rename(any(rng), &place),
        8 => fs::remove_file(any(rng)),
        9 => fs::remove_dir_all(any(rng)),
        // Replaces a file by a directory.
        _ => fs::remove_file(&place).and_then(|()| fs::create_dir(&place)),
    };
}

fn set_modes(rng: &mut Rng, root: &Path) -> Vec<PathBuf> {
    let is_dir = |path: &PathBuf| path.is_dir() && !path.is_symlink();
    let mut shut: Vec<PathBuf> = paths(root).into_iter().filter(is_dir).collect();
    shut.retain(|_| below(rng, 8) == 0);
    // From below, because an entry below a closed directory cannot be reached.
    for dir in shut.iter().rev() {
        let mode = [0o000, 0o711, 0o744, 0o500][below(rng, 4)];
        fs::set_permissions(dir, Permissions::from_mode(mode)).expect("the owner may");
    }
    shut
}

fn open(shut: &[PathBuf]) {
    for dir in shut {
        fs::set_permissions(dir, Permissions::from_mode(0o755)).expect("the owner may");
    }
}

#[test]
fn trees_as_by_brute_force() {
    let dir = playground();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).expect("the owner may");
    let program = dir.path().join("dents");
    dents_lab::fixture::copy_program(Path::new(env!("CARGO_BIN_EXE_dents")), &program);
    let nobody = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"];
    let dents = |words: &str| {
        let run = Run::new(&program).cwd(dir.path()).args(words.split(' '));
        if is_root() { run.under(&nobody) } else { run }
    };
    let (mut pairs, mut met) = (Vec::new(), Met::default());
    for nth in 0..PAIRS {
        let rng = &mut Rng::new(nth as u64 + 1000);
        let root = dir.path().join("t");
        fs::create_dir(&root).expect("a directory");
        let scans = ["old", "new"].map(|side| dir.path().join(format!("{nth}.{side}.ndjson")));
        (0..40).for_each(|_| step(rng, &root));
        let depth = below(rng, 3);
        let scan = |side: usize| {
            dents_lab::fixture::settle(&root).expect("settled");
            let outcome = dents("scan -o").args([&scans[side]]).args(["t"]).output().expect("it runs");
            assert!(scans[side].exists(), "{}", text(&outcome.stderr));
        };
        let shut = set_modes(rng, &root);
        scan(0);
        open(&shut);
        (0..below(rng, 30)).for_each(|_| step(rng, &root));
        let shut = set_modes(rng, &root);
        scan(1);
        let run = dents(&format!("diff --json --depth {depth}")).args([&scans[0]]);
        // The newer side is a tree or a scan file.
        let new = if below(rng, 2) == 0 { Path::new("t") } else { &*scans[1] };
        check(&run.args([new]), depth, &scans, &mut met);
        open(&shut);
        fs::remove_dir_all(&root).expect("it can be removed");
        pairs.push((depth, scans));
    }
    met.assert_all();
    check_python(&pairs);
}
