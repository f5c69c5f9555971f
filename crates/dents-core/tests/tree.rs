//! Walks of random trees, compared with a plain recursion over std's `read_dir`, in every order and with several
//! numbers of workers.

mod common;

use common::{Playground, Rng, Threads, c_path};
use dents_core::batch::Batch;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::stat::Workers;
use dents_core::tree::{
    self, End, Failure, Flag, Follow, Options, Order, Outcome, Place, Problem, Step, Visitor,
};
use dents_engine::limit::policy::{Far, Policy};
use dents_sys::{AsFd, CWD, dir};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, OsStr};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The rows of entries by path.
type Rows = BTreeMap<PathBuf, Row>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    depth: u32,
    kind: Kind,
    size: u64,
    mtime: i64,
}

/// Collects rows, and checks the guarantees of the walk.
#[derive(Default)]
struct Gather {
    rows: Vec<(PathBuf, Row)>,
    /// Number, parent's number and path of each directory, and its pieces.
    places: Vec<(u64, u64, PathBuf, u32, bool)>,
    failures: Vec<(PathBuf, Problem, i32)>,
    faults: u64,
    needs: Needs,
}

impl Visitor for Gather {
    type State = ();

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        let path = |path: &[u8]| PathBuf::from(OsStr::from_bytes(path));
        self.places.push((place.id, place.parent, path(place.path), place.piece.index, place.piece.last));
        let mut buffer = Vec::new();
        for entry in batch.iter() {
            place.join(entry.name(), &mut buffer);
            let size = if self.needs.contains(Needs::SIZE) { entry.size() } else { 0 };
            let mtime = entry.extra().map_or(0, |extra| extra.mtime.sec);
            self.rows.push((path(&buffer), Row { depth: place.depth, kind: entry.kind(), size, mtime }));
            self.faults += u64::from(entry.fault().is_some());
        }
        Step::Enter
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        let path = PathBuf::from(OsStr::from_bytes(failure.path));
        self.failures.push((path, failure.problem, failure.errno.raw_os_error()));
        Step::Enter
    }
}

/// The results of all workers: rows by path, each once.
struct Walked {
    rows: Rows,
    failures: Vec<(PathBuf, Problem, i32)>,
    faults: u64,
    outcome: Outcome<()>,
}

fn walk(operand: &Path, options: &Options<'_>, workers: &dyn Workers) -> Walked {
    let make = |_| Gather { needs: options.needs.any(), ..Gather::default() };
    let outcome = tree::walk(&[&c_path(operand)], options, workers, make);
    let (mut rows, mut places, mut failures, mut faults) = (Rows::new(), Vec::new(), Vec::new(), 0);
    for visitor in outcome.visitors {
        for (path, row) in visitor.rows {
            let twice = rows.insert(path.clone(), row);
            assert!(twice.is_none(), "{} came twice", path.display());
        }
        places.extend(visitor.places);
        failures.extend(visitor.failures);
        faults += visitor.faults;
    }
    if outcome.end == End::Complete {
        check_places(&places);
    }
    failures.sort_by(|one, other| one.0.cmp(&other.0));
    let outcome = Outcome {
        visitors: Vec::new(),
        end: outcome.end,
        tally: outcome.tally,
        order: outcome.order,
        bulk: outcome.bulk,
        usage: outcome.usage,
    };
    Walked { rows, failures, faults, outcome }
}

/// Each number belongs to one path; parents are consistent; pieces are numbered without gaps and one is the last.
fn check_places(places: &[(u64, u64, PathBuf, u32, bool)]) {
    let mut directories: BTreeMap<u64, (u64, &Path, BTreeSet<u32>, u32)> = BTreeMap::new();
    for (id, parent, path, piece, last) in places {
        let one = directories.entry(*id).or_insert((*parent, path, BTreeSet::new(), 0));
        assert_eq!((one.0, one.1), (*parent, path.as_path()));
        assert!(one.2.insert(*piece), "piece {piece} of {} came twice", path.display());
        one.3 += u32::from(*last);
    }
    for (id, (parent, path, pieces, lasts)) in &directories {
        assert_eq!((*lasts, pieces.len() as u32), (1, pieces.last().map_or(0, |last| last + 1)), "{path:?}");
        if *id != 0 && *parent != 0 {
            assert_eq!(Some(directories[parent].1), path.parent(), "the parent of {path:?}");
        }
    }
}

/// The expected rows.
fn recurse(path: &Path, depth: u32, options: &Options<'_>, rows: &mut Rows) {
    let metadata = fs::symlink_metadata(path).expect("is there");
    let kind = Kind::from_mode(metadata.mode() as u16);
    let sized = options.needs.any().contains(Needs::SIZE);
    let size = if sized { metadata.size() } else { 0 };
    let mtime = if options.extra && sized { metadata.mtime() } else { 0 };
    rows.insert(path.to_path_buf(), Row { depth, kind, size, mtime });
    if kind == Kind::Dir && depth < options.max_depth {
        for entry in fs::read_dir(path).expect("opens") {
            recurse(&entry.expect("reads").path(), depth + 1, options, rows);
        }
    }
}

/// Directories, files, links to existing and missing targets, FIFOs, unusual names.
fn plant(path: &Path, rng: &mut Rng, left: &mut u64, depth: u32) {
    for number in 0..rng.below(14) {
        let mut name = match rng.below(5) {
            0 => b".hidden".to_vec(),
            1 => b"with space\n".to_vec(),
            2 => b"\xff\xfe".to_vec(),
            3 => vec![b'n'; 200],
            _ => b"plain".to_vec(),
        };
        name.extend_from_slice(number.to_string().as_bytes());
        let entry = path.join(std::ffi::OsString::from_vec(name));
        *left = left.saturating_sub(1);
        match rng.below(10) {
            0..5 if *left > 0 && depth < 12 => {
                fs::create_dir(&entry).expect("directory");
                plant(&entry, rng, left, depth + 1);
            }
            5 => symlink("..", &entry).expect("link"),
            6 => symlink("nowhere", &entry).expect("link"),
            7 => rustix::fs::mknodat(
                rustix::fs::CWD,
                c_path(&entry),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::RUSR,
                0,
            )
            .expect("FIFO"),
            _ => fs::write(&entry, vec![b'x'; rng.below(300) as usize]).expect("file"),
        }
    }
}

fn random_tree(seed: u64) -> Playground {
    let playground = Playground::new("random");
    let mut left = 400;
    while left > 0 {
        let path = playground.0.join(format!("part{left}"));
        fs::create_dir(&path).expect("directory");
        plant(&path, &mut Rng(seed + left), &mut left, 0);
        left = left.saturating_sub(1);
    }
    playground
}

fn sizes() -> NeedsByKind {
    NeedsByKind::all(Needs::TYPE | Needs::SIZE | Needs::TIMES)
}

#[test]
fn random_trees_are_walked_completely() {
    for seed in 0..6 {
        let playground = random_tree(seed * 1000);
        for needs in [NeedsByKind::all(Needs::TYPE), sizes()] {
            for (workers, descriptors, order, frontier, distrust) in [
                (Some(1), None, Order::Any, 0, false),
                (Some(8), None, Order::Any, 0, false),
                (None, None, Order::Any, 0, false),
                (Some(8), Some(36), Order::Any, 0, true),
                (Some(1), Some(4), Order::Any, 0, false),
                (Some(8), None, Order::Inode, 1 << 16, false),
                (Some(3), None, Order::Inode, 5, true),
                (Some(1), None, Order::Inode, 0, false),
            ] {
                let options = Options {
                    needs,
                    workers,
                    descriptors,
                    order,
                    frontier,
                    distrust_d_type: distrust,
                    extra: true,
                    ..Options::default()
                };
                let mut truth = Rows::new();
                // If the size is not needed, only unknown types are stat'ed, and all times come with them.
                recurse(&playground.0, 0, &options, &mut truth);
                let mut walked = walk(&playground.0, &options, &Threads);
                if !needs.any().contains(Needs::SIZE) {
                    walked.rows.values_mut().for_each(|row| row.mtime = 0);
                }
                assert!(walked.rows == truth, "seed {seed}, {workers:?} workers, {order:?}");
                assert!(walked.failures.is_empty() && walked.faults == 0);
                let directories = truth.values().filter(|row| row.kind == Kind::Dir).count() as u64;
                assert_eq!(walked.outcome.tally.directories, directories);
                assert_eq!(walked.outcome.tally.entries, truth.len() as u64);
            }
        }
    }
}

#[test]
fn names_cost_no_stat() {
    let playground = random_tree(77);
    let walked = walk(&playground.0, &Options::default(), &Threads);
    assert_eq!(walked.outcome.tally.stats, 1, "the operand");
}

/// If only directories are needed, the link count tells how many there are. All are found, whether the link count can
/// be trusted or not.
#[test]
fn where_no_type_is_told_directories_are_found_by_the_link_count() {
    let playground = Playground::new("untyped");
    for part in 0..5 {
        let path = playground.0.join(format!("part{part}/sub"));
        fs::create_dir_all(&path).expect("directories");
        for number in 0..if part == 0 { 6000 } else { 50 } {
            fs::File::create(path.join(format!("{number}.txt"))).expect("file");
        }
        for name in [".hidden", "photos", "x"] {
            fs::create_dir_all(path.join(name).join("leaf")).expect("directories");
        }
    }
    let mut truth = Rows::new();
    let options = Options { needs: NeedsByKind::default(), distrust_d_type: true, ..Options::default() };
    recurse(&playground.0, 0, &options, &mut truth);
    let mut stats = [0; 2];
    for (round, stats) in stats.iter_mut().enumerate() {
        if round == 1 {
            // Until no change is recent.
            std::thread::sleep(Duration::from_millis(2200));
        }
        for workers in [1, 8] {
            let options = Options { workers: Some(workers), ..options.clone() };
            let walked = walk(&playground.0, &options, &Threads);
            assert!(walked.rows.keys().eq(truth.keys()), "{workers} workers");
            assert!(
                walked.rows.iter().all(|(path, row)| row.kind != Kind::Dir || truth[path].kind == Kind::Dir)
            );
            *stats = walked.outcome.tally.stats;
        }
    }
    let at = dir::open(CWD, &c_path(&playground.0)).expect("opens");
    let fs = dents_sys::statfs::fstatfs(at.as_fd()).expect("has a type");
    assert!(stats[0] >= 6000, "asked one by one");
    if dents_core::scandir::links::counts_subdirectories(fs) {
        assert!(stats[1] < 60, "{} questions for 40 directories among 6,200 files", stats[1]);
    }
}

#[test]
fn without_threads_the_caller_does_it_all() {
    struct Refused;
    impl Workers for Refused {
        fn run(&self, _: usize, job: &(dyn Fn(usize) + Sync)) {
            job(0);
        }
    }
    let playground = random_tree(5);
    let options = Options { workers: Some(8), needs: sizes(), ..Options::default() };
    let mut truth = Rows::new();
    recurse(&playground.0, 0, &options, &mut truth);
    let walked = walk(&playground.0, &options, &Refused);
    assert_eq!(walked.rows.len(), truth.len());
    assert_eq!(walked.outcome.tally.workers, 1);
}

#[test]
fn depth_is_limited_as_told() {
    let playground = random_tree(42);
    for max_depth in 0..4 {
        let options = Options { max_depth, needs: sizes(), ..Options::default() };
        let mut truth = Rows::new();
        recurse(&playground.0, 0, &options, &mut truth);
        let walked = walk(&playground.0, &options, &Threads);
        let keys = |rows: &Rows| rows.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&walked.rows), keys(&truth), "depth {max_depth}");
    }
}

/// Passes the depth down, prunes, and stops.
#[derive(Default)]
struct Pruner {
    opened: Vec<(Vec<u8>, u32)>,
    stop_at: Option<&'static [u8]>,
}

impl Visitor for Pruner {
    type State = u32;

    fn opened(&mut self, place: &Place<'_>, state: &mut u32) -> Step {
        *state += 1;
        self.opened.push((place.path.to_vec(), *state));
        if place.path.ends_with(b"closed") { Step::Skip } else { Step::Enter }
    }

    fn entries(&mut self, place: &Place<'_>, _: &Batch, state: &u32) -> Step {
        assert_eq!(*state, place.depth, "handed down once a level");
        if place.path.ends_with(b"flat") { Step::Skip } else { Step::Enter }
    }

    fn descend(&mut self, _: &Place<'_>, entry: &dents_core::batch::Entry<'_>, _: &u32) -> Step {
        if Some(entry.name()) == self.stop_at {
            return Step::Stop;
        }
        if entry.name() == b"pruned" { Step::Skip } else { Step::Enter }
    }
}

#[test]
fn a_visitor_prunes_and_hands_down() {
    let playground = Playground::new("prune");
    for name in ["open/deep/deeper", "closed/in", "flat/in", "pruned/in"] {
        fs::create_dir_all(playground.0.join(name)).expect("directories");
    }
    let operand = c_path(&playground.0);
    for workers in [1, 4] {
        let options = Options { workers: Some(workers), ..Options::default() };
        let outcome = tree::walk(&[&operand], &options, &Threads, |_| Pruner::default());
        assert_eq!(outcome.end, End::Complete);
        let mut opened: Vec<_> = outcome.visitors.into_iter().flat_map(|one| one.opened).collect();
        opened.sort();
        let name = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next().map(<[u8]>::to_vec);
        let opened: Vec<_> = opened.iter().skip(1).filter_map(|(path, _)| name(path)).collect();
        assert_eq!(opened, [&b"closed"[..], b"flat", b"open", b"deep", b"deeper"]);
        let make = |_| Pruner { stop_at: Some(b"deep"), ..Pruner::default() };
        assert_eq!(tree::walk(&[&operand], &options, &Threads, make).end, End::Stopped);
    }
}

/// A random tree has many links to `..`, and each of them is a loop.
#[test]
fn loops_of_links_are_failures_and_end() {
    let playground = Playground::new("loops");
    let path = &playground.0;
    fs::create_dir_all(path.join("a/b")).expect("directories");
    fs::create_dir(path.join("other")).expect("directory");
    fs::write(path.join("other/file"), "12345").expect("file");
    for (text, name) in [
        ("..", "a/b/up"),
        ("../../other", "a/b/aside"),
        ("nowhere", "a/dangling"),
        ("other/file", "to-file"),
        ("self", "self"),
    ] {
        symlink(text, path.join(name)).expect("link");
    }
    for needs in [NeedsByKind::all(Needs::TYPE), NeedsByKind::default(), sizes()] {
        for workers in [1, 8] {
            let options =
                Options { follow: Follow::Always, workers: Some(workers), needs, ..Options::default() };
            let walked = walk(path, &options, &Threads);
            let failed: Vec<_> = walked.failures.iter().map(|(path, problem, _)| (path, *problem)).collect();
            assert_eq!(failed, [(&path.join("a/b/up"), Problem::Loop)]);
            assert!(walked.rows.contains_key(&path.join("a/b/aside/file")));
            assert_eq!(walked.rows.len(), 11);
            assert_eq!(walked.faults, 0);
            if needs == sizes() {
                assert_eq!(walked.rows[&path.join("to-file")].size, 5, "of what it leads to");
                assert_eq!(walked.rows[&path.join("self")].kind, Kind::Link);
            }
        }
    }
    let link = path.join("link");
    symlink("other", &link).expect("link");
    for (follow, rows) in [(Follow::Never, 1), (Follow::Operands, 2)] {
        assert_eq!(walk(&link, &Options { follow, ..Options::default() }, &Threads).rows.len(), rows);
    }
}

#[test]
fn unreadable_subtrees_are_failures_of_their_own() {
    let playground = Playground::new("unreadable");
    let path = &playground.0;
    for name in ["open/in", "shut/in", "unsearchable/in"] {
        fs::create_dir_all(path.join(name)).expect("directories");
    }
    let mode = |name: &str, mode| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(path.join(name), permissions).expect("chmod");
    };
    mode("", 0o755);
    mode("shut", 0);
    mode("unsearchable", 0o744);
    let check = || {
        for workers in [1, 8] {
            let options = Options { workers: Some(workers), ..Options::default() };
            let walked = walk(path, &options, &Threads);
            let failed: Vec<_> = walked.failures.iter().map(|(path, ..)| path.clone()).collect();
            assert_eq!(failed, [path.join("shut"), path.join("unsearchable/in")]);
            assert!(walked.failures.iter().all(|(_, problem, errno)| {
                *problem == Problem::Open && *errno == dents_sys::Errno::ACCESS.raw_os_error()
            }));
            assert_eq!(walked.rows.len(), 6);
            let options = Options { needs: sizes(), ..options };
            assert_eq!(walk(path, &options, &Threads).faults, 1, "what is in unsearchable");
        }
    };
    // Root may read everything, so a thread changes its uid, which the kernel keeps for each thread.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                let nobody = rustix::fs::Uid::from_raw(65534);
                rustix::thread::set_thread_res_uid(nobody, nobody, nobody).expect("root may");
            }
            check();
        });
    });
    mode("shut", 0o755);
    mode("unsearchable", 0o755);
}

/// Two directories for each level; the next level is in one of them.
fn levels(depth: u32, leaf: &CStr, next: &CStr) -> Playground {
    let playground = Playground::new("deep");
    let mut here = dir::open_place(CWD, &c_path(&playground.0)).expect("opens");
    for _ in 0..depth {
        rustix::fs::mkdirat(&here, leaf, rustix::fs::Mode::RWXU).expect("directory");
        rustix::fs::mkdirat(&here, next, rustix::fs::Mode::RWXU).expect("directory");
        here = dir::open_place(here.as_fd(), next).expect("opens");
    }
    playground
}

/// The paths are longer than any system call takes.
#[test]
fn five_thousand_levels() {
    let deep = (5000, levels(5000, c"l", c"n"));
    // By path, opening a directory looks up all its ancestors.
    let long = (500, levels(500, c"leaf-with-a-name", c"next-with-a-name"));
    for ((depth, playground), workers, order, descriptors) in [
        (&deep, 1, Order::Any, None),
        (&deep, 1, Order::Any, Some(8)),
        (&deep, 8, Order::Any, None),
        (&long, 8, Order::Any, Some(4)),
        (&long, 1, Order::Inode, None),
        (&long, 8, Order::Inode, None),
    ] {
        let options = Options { workers: Some(workers), order, descriptors, ..Options::default() };
        let outcome = tree::walk(&[&c_path(&playground.0)], &options, &Threads, |_| Deepest::default());
        let entries: u64 = outcome.visitors.iter().map(|one| one.entries).sum();
        let deepest = outcome.visitors.iter().map(|one| one.depth).max();
        assert_eq!((outcome.tally.faults, entries), (0, 1 + 2 * u64::from(*depth)), "{workers} {order:?}");
        assert_eq!(deepest, Some(depth + 1), "of the deepest directory's entries");
    }
}

#[derive(Default)]
struct Deepest {
    entries: u64,
    depth: u32,
}

impl Visitor for Deepest {
    type State = ();

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        self.entries += batch.len() as u64;
        self.depth = self.depth.max(place.depth);
        Step::Enter
    }
}

/// Selects only names that end in 7.
#[derive(Default)]
struct Selective {
    selected: Vec<bool>,
    found: Vec<PathBuf>,
    entries: usize,
}

impl Visitor for Selective {
    type State = ();

    fn select(&mut self, _: &Place<'_>, batch: &Batch, (): &()) -> Option<&[bool]> {
        self.selected = batch.iter().map(|entry| entry.name().ends_with(b"7")).collect();
        Some(&self.selected)
    }

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        let mut path = Vec::new();
        for entry in batch.iter() {
            place.join(entry.name(), &mut path);
            let asked = place.depth == 0 || entry.name().ends_with(b"7");
            assert_eq!(entry.is_known(), asked, "{}", path.escape_ascii());
            self.entries += 1;
            if asked && entry.size() == 3 {
                self.found.push(PathBuf::from(OsStr::from_bytes(&path)));
            }
        }
        Step::Enter
    }
}

/// One `statx` for each selected entry, also where parts of a directory go to other workers.
#[test]
fn entries_that_are_not_selected_are_not_asked_about() {
    let playground = Playground::new("selective");
    let path = |nth: usize| playground.0.join(format!("d{}/f{nth}", nth % 2));
    (0..2).for_each(|nth| fs::create_dir(playground.0.join(format!("d{nth}"))).expect("mkdir"));
    (0..6000).for_each(|nth| fs::write(path(nth), "abc").expect("write"));
    for (workers, order) in [(1, Order::Any), (3, Order::Any), (2, Order::Inode)] {
        let options = Options { needs: sizes(), workers: Some(workers), order, ..Options::default() };
        let make = |_| Selective::default();
        let outcome = tree::walk(&[&c_path(&playground.0)], &options, &Threads, make);
        let found: BTreeSet<_> = outcome.visitors.iter().flat_map(|one| one.found.iter()).collect();
        let expected: Vec<_> = (0..6000).filter(|nth| nth % 10 == 7).map(path).collect();
        assert_eq!(found, expected.iter().collect());
        assert_eq!(outcome.visitors.iter().map(|one| one.entries).sum::<usize>(), 6003);
        assert_eq!(outcome.tally.stats, 601, "with {workers} workers");
    }
}

#[test]
fn a_hundred_thousand_files_in_one_directory() {
    let playground = Playground::new("huge");
    for number in 0..100_000 {
        let name = std::ffi::CString::new(playground.0.join(number.to_string()).into_os_string().into_vec());
        let mode = rustix::fs::Mode::RUSR;
        let file = rustix::fs::FileType::RegularFile;
        rustix::fs::mknodat(rustix::fs::CWD, name.expect("no NUL"), file, mode, 0).expect("file");
    }
    fs::write(playground.0.join("5"), "12345").expect("file");
    for (workers, needs) in [(1, sizes()), (8, sizes()), (8, NeedsByKind::all(Needs::TYPE))] {
        let options = Options { workers: Some(workers), needs, ..Options::default() };
        let walked = walk(&playground.0, &options, &Threads);
        assert_eq!((walked.rows.len(), walked.faults), (100_001, 0));
        let asks = needs == sizes();
        assert_eq!(walked.outcome.tally.dealt > 0, asks && workers > 1, "{:?}", walked.outcome.tally);
        assert_eq!(walked.rows[&playground.0.join("5")].size, if asks { 5 } else { 0 });
    }
}

#[test]
fn a_walk_ends_when_cancelled_or_late() {
    let playground = random_tree(13);
    let operand = c_path(&playground.0);
    struct Canceller<'a>(&'a AtomicBool, u64);
    impl Visitor for Canceller<'_> {
        type State = ();
        fn entries(&mut self, _: &Place<'_>, _: &Batch, (): &()) -> Step {
            self.1 += 1;
            self.0.store(self.1 > 3, Ordering::Relaxed);
            Step::Enter
        }
    }
    for workers in [1, 8] {
        let cancel = AtomicBool::new(false);
        let options =
            Options { workers: Some(workers), cancel: Some(Flag::Borrowed(&cancel)), ..Options::default() };
        let outcome = tree::walk(&[&operand], &options, &Threads, |_| Canceller(&cancel, 0));
        assert_eq!(outcome.end, End::Cancelled);
        assert!(outcome.visitors.iter().all(|one| one.1 < 20), "no worker went on for long");
        // One request in 10 ms: the walk is not finished after 100 ms.
        let options = Options {
            workers: Some(workers),
            rate: std::num::NonZeroU32::new(100),
            deadline_ns: Some(tree::deadline_in(100_000_000)),
            ..Options::default()
        };
        let started = Instant::now();
        let walked = walk(&playground.0, &options, &Threads);
        assert_eq!(walked.outcome.end, End::Deadline);
        assert!(started.elapsed() >= Duration::from_millis(100));
        let tally = walked.outcome.tally;
        assert!(tally.directories + tally.reads + tally.stats <= 12, "{tally:?}");
        assert!(walked.failures.is_empty(), "an end is no failure");
    }
}

#[test]
fn operands_that_are_missing_or_no_directories_are_entries() {
    let playground = Playground::new("operands");
    let file = playground.0.join("file");
    fs::write(&file, "123").expect("file");
    let options = Options { needs: sizes(), ..Options::default() };
    let walked = walk(&file, &options, &Threads);
    assert_eq!((walked.rows[&file].kind, walked.rows[&file].size), (Kind::Reg, 3));
    let walked = walk(&playground.0.join("gone"), &options, &Threads);
    assert_eq!((walked.rows.len(), walked.faults), (1, 1));
    assert_eq!(tree::walk(&[], &options, &Threads, |_| Deepest::default()).tally.entries, 0);
}

#[test]
fn one_file_system_is_not_left() {
    let root = Path::new("/");
    let device = fs::metadata(root).expect("root").dev();
    for workers in [1, 4] {
        let options = Options {
            one_file_system: true,
            max_depth: 2,
            workers: Some(workers),
            needs: NeedsByKind::all(Needs::TYPE | Needs::SIZE),
            extra: true,
            ..Options::default()
        };
        let walked = walk(root, &options, &Threads);
        let below = |path: &Path| walked.rows.keys().any(|one| one.parent() == Some(path) && one != path);
        assert!(walked.rows.contains_key(Path::new("/proc")) && !below(Path::new("/proc")));
        for entry in fs::read_dir(root).expect("opens").map(|entry| entry.expect("reads")) {
            let path = entry.path();
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let filled = metadata.is_dir() && fs::read_dir(&path).is_ok_and(|mut all| all.next().is_some());
            assert_eq!(below(&path), filled && metadata.dev() == device, "{}", path.display());
        }
    }
}

/// A slow visitor makes the latency look like that of a server. Each worker has one request in flight.
#[test]
fn trees_obey_the_policy_of_the_file_system() {
    struct Slow;
    impl Visitor for Slow {
        type State = ();
        fn entries(&mut self, _: &Place<'_>, _: &Batch, (): &()) -> Step {
            std::thread::sleep(Duration::from_millis(2));
            Step::Enter
        }
    }
    /// The number of workers at a time.
    #[derive(Default)]
    struct Counted(AtomicUsize, AtomicUsize);
    impl Workers for Counted {
        fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
            Threads.run(workers, &|worker| {
                self.1.fetch_max(self.0.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                job(worker);
                self.0.fetch_sub(1, Ordering::SeqCst);
            });
        }
    }
    let of = |most| -> &'static Policy {
        let policy = Policy { name: "few at a time", far: Far::Yes, most, why: "", ..*Policy::of(None) };
        Box::leak(Box::new(policy))
    };
    let (one, three) = (of(1), of(3));
    let playground = Playground::new("policy");
    (0..60).for_each(|number| fs::create_dir(playground.0.join(number.to_string())).expect("directory"));
    let outcome = |policy| {
        let options = Options { policy, descriptors: Some(1024), ..Options::default() };
        let counted = Counted::default();
        let outcome = tree::walk(&[&c_path(&playground.0)], &options, &counted, |_| Slow);
        (outcome.tally.workers, counted.1.into_inner())
    };
    assert_eq!(outcome(Some(one)), (1, 1));
    let (workers, at_once) = outcome(Some(three));
    assert!(workers == 3 && at_once <= 3, "{workers} workers, {at_once} at once");
    let (workers, _) = outcome(Some(Policy::of(None)));
    assert!(workers >= 64, "{workers} workers where no policy limits them");
}

/// On kernel 6.1 the first read of a directory on NFS fills the buffer. Were more names read before the requests, each would be a
/// round trip.
#[test]
fn reading_and_requests_take_turns_from_a_full_buffer_on() {
    struct Pieces<'a>(&'a AtomicUsize);
    impl Visitor for Pieces<'_> {
        type State = ();
        fn entries(&mut self, _: &Place<'_>, batch: &Batch, (): &()) -> Step {
            self.0.fetch_max(batch.len(), Ordering::SeqCst);
            Step::Enter
        }
    }
    let playground = Playground::new("turns");
    (0..6_000).for_each(|number| {
        drop(fs::File::create(playground.0.join(format!("file-{number}"))).expect("file"))
    });
    let largest = |interleave| {
        let policy: &'static Policy = Box::leak(Box::new(Policy { interleave, ..*Policy::of(None) }));
        let options =
            Options { policy: Some(policy), workers: Some(1), needs: sizes(), ..Options::default() };
        let largest = AtomicUsize::new(0);
        tree::walk(&[&c_path(&playground.0)], &options, &Threads, |_| Pieces(&largest));
        largest.into_inner()
    };
    let buffer = 64 * 1024 / 32;
    assert!(largest(true) <= buffer, "{} names at once", largest(true));
    assert!(largest(false) > buffer, "{} names at once", largest(false));
}

#[test]
fn relative_operands_begin_where_told() {
    let playground = Playground::new("at");
    fs::create_dir_all(playground.0.join("sub/below")).expect("directories");
    let at = dir::open(CWD, &c_path(&playground.0)).expect("opens");
    let options = Options { at: at.as_fd(), workers: Some(3), ..Options::default() };
    let walked = walk(Path::new("sub"), &options, &Threads);
    let paths: Vec<_> = walked.rows.keys().map(|path| path.as_os_str()).collect();
    assert_eq!(paths, ["sub", "sub/below"]);
}
