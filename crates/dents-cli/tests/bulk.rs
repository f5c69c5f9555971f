//! Metadata in bulk (`--bulk`), beside the walk that asks for each entry. Most of it needs root, loop devices and the programs that make XFS
//! and btrfs.

mod tools;

use dents::Threads;
use dents_core::batch::Batch;
use dents_core::bulk::{Outcome, When};
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::tree::{self, Options, Place, Step, Visitor};
use dents_lab::fixture::TempDir;
use dents_lab::loopfs::{LoopFs, Real};
use dents_lab::process::{End, Run};
use dents_lab::rng::Rng;
use dents_lab::syscalls::trace;
use dents_lab::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tools::{dents, run, shell, sorted, stdout, text};

/// A directory is joined if it has not changed for this time.
const QUIET: Duration = Duration::from_millis(60);

fn systems() -> impl Iterator<Item = LoopFs> {
    [Real::Xfs, Real::Btrfs].into_iter().filter_map(LoopFs::mount_or_skip)
}

fn scan(cwd: &Path, words: &str) -> Vec<Vec<u8>> {
    let columns = "--columns=flags,xattrs,project";
    let command = dents(cwd, &format!("scan -o - --format ndjson {columns} {words}"));
    let outcome = run(&command);
    // An entry that is removed between its name and its metadata is an error.
    let is_fine = text(&outcome.stderr).lines().all(|line| line.ends_with("No such file or directory"));
    assert!(is_fine, "{}: {}", command.shell(), text(&outcome.stderr));
    let mut rows = sorted(&outcome.stdout, b'\n');
    // The last line has the time of the scan.
    rows.retain(|row| !row.starts_with(br#"{"v":1,"scan""#));
    rows
}

/// The number of entries whose metadata came from a pass; none if there was no pass.
fn joined(cwd: &Path, words: &str) -> Option<u64> {
    let told = text(&run(&dents(cwd, &format!("du --explain {words}"))).stderr);
    let line = told.lines().find_map(|line| line.strip_prefix("dents: bulk: ")).expect("the line");
    let (_, rest) = line.split_once(" inodes read at once, for ")?;
    rest.strip_suffix(" entries")?.replace(',', "").parse().ok()
}

/// Files with flags, holes, attributes in blocks of their own, large link counts and old times.
const UNUSUAL: &str = "mkdir u u/sub; cd u; truncate -s 5G hole; printf x > small; head -c 70000 /dev/zero > full
    for n in $(seq 300); do ln small link$n; done; mkfifo pipe; mknod null c 1 3; ln -s $(printf %0200d 7) long
    touch -d '1931-01-01 00:00:00.5' old; touch -d '2200-01-01' late; chmod 7777 small; chown 4294967294:77 full
    for flag in i a d; do touch flag$flag; chattr +$flag flag$flag; done 2>/dev/null
    for n in 1 2 3 4; do setfattr -n user.n$n -v $(printf %03000d 1) old; done 2>/dev/null
    touch beyond; fallocate -l 1M -n beyond; touch none one two three; cd ..; mkdir v; mknod v/a p; mknod v/b p; mknod v/c p";

#[test]
fn rows_of_random_trees_are_those_of_the_walk() {
    for system in systems() {
        let (mut rng, now) = (Rng::new(7), 1_700_000_000);
        let trees = [(); 50].map(|()| Tree::random(&mut rng, now).build(system.path()).expect("a tree"));
        shell(system.path(), UNUSUAL);
        shell(system.path(), "find . -type f -exec head -c 1 {} + > /dev/null; sync -f .");
        std::thread::sleep(QUIET);
        // To read a directory or a link may change its access time, once.
        scan(system.path(), "--bulk=never .");
        let walk = scan(system.path(), "--bulk=never .");
        assert!(walk.len() > 500, "{} rows", walk.len());
        for words in [".", "--threads=1 .", "--threads=7 ."] {
            let bulk = scan(system.path(), &format!("--bulk=always {words}"));
            assert_same(&bulk, &walk);
        }
        for tree in &trees {
            let root = tree.path().join("t");
            assert_same(&scan(&root, "--bulk=always ."), &scan(&root, "--bulk=never ."));
        }
        assert!(joined(system.path(), "--bulk=always .") > Some(300), "most entries are joined");
        for command in ["du", "du -s --inodes", "stats --json", "top", "scan --size=+4K"] {
            let of = |bulk: &str| text(&stdout(&dents(system.path(), &format!("{command} --bulk={bulk} ."))));
            let as_set = |text: String| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
            assert_eq!(as_set(of("always")), as_set(of("never")), "{command}");
        }
    }
}

/// Whether the sums came from a pass alone, without names. They are the same as those of the walk.
fn is_added_up(cwd: &Path, words: &str) -> bool {
    let bulk = run(&dents(cwd, &format!("du --explain --bulk=always {words}")));
    let walk = run(&dents(cwd, &format!("du --bulk=never {words}")));
    assert_eq!([bulk.end, walk.end], [End::Exit(0); 2], "{words}: {}", text(&bulk.stderr));
    assert_eq!(text(&bulk.stdout), text(&walk.stdout), "{words}");
    text(&bulk.stderr).contains(" inodes added up at once, without names\n")
}

#[test]
fn the_sum_of_a_whole_xfs_needs_no_names() {
    let Some(xfs) = LoopFs::mount_or_skip(Real::Xfs) else { return };
    let (root, mut rng) = (xfs.path(), Rng::new(8));
    let trees = [(); 20].map(|()| Tree::random(&mut rng, 1_700_000_000).build(root).expect("a tree"));
    shell(root, UNUSUAL);
    shell(root, "mkdir few; touch few/1; head -c 300000 /dev/zero > removed");
    let removed = File::open(root.join("removed")).expect("a file");
    shell(root, "rm removed; sync -f .");
    std::thread::sleep(QUIET);
    for words in
        ["-s .", "-s --inodes .", "-s --apparent-size .", "-scbx .", "-had0 ./", "-s --threads=3 --json ."]
    {
        assert!(is_added_up(root, words), "{words}");
    }
    for words in ["-s", "-s --inodes"] {
        assert_eq!(
            text(&stdout(&dents(root, &format!("du {words} .")))),
            shell(root, &format!("du {words} ."))
        );
    }
    for words in [
        "-sl .",
        "-sS .",
        "-d1 .",
        "-s --exclude=u .",
        "-s --type=f .",
        "-s --no-hidden .",
        "-s few",
        "-s . few",
    ] {
        assert!(!is_added_up(root, words), "{words}");
    }
    drop((removed, trees));
}

/// What a mount hides or adds counts as in a walk, and so do blocks of attributes that a pass does not count.
#[test]
fn a_sum_that_differs_from_that_of_the_names_is_not_taken() {
    let Some(xfs) = LoopFs::mount_or_skip(Real::Xfs) else { return };
    let (root, elsewhere) = (xfs.path(), TempDir::new("bulk").expect("a directory"));
    shell(root, "mkdir -p a/b c; head -c 70000 /dev/zero | tee a/1 a/b/2 > c/3; ln -s a link; sync -f .");
    std::thread::sleep(QUIET);
    assert!(is_added_up(root, "-s .") && !is_added_up(root, "-s link"));
    let mount = |words: &str| drop(shell(root, &format!("mount {words}")));
    mount(&format!("--bind a {}", elsewhere.path().display()));
    let of_part = is_added_up(elsewhere.path(), "-s .");
    drop(shell(root, &format!("umount {}", elsewhere.path().display())));
    mount("-t tmpfs none c");
    let with_mount = is_added_up(root, "-s .");
    drop(shell(root, "umount c"));
    assert_eq!([of_part, with_mount, is_added_up(root, "-s .")], [false, false, true]);
    shell(
        root,
        "for n in 1 2 3 4; do setfattr -n user.n$n -v $(printf %03000d 1) c; done 2>/dev/null || :; sync -f .",
    );
    std::thread::sleep(QUIET);
    let has_attributes = shell(root, "getfattr c 2>/dev/null || :").contains("user.n4");
    let added_up = ["-s .", "-sb .", "-s --inodes ."].map(|words| is_added_up(root, words));
    assert_eq!(added_up, [!has_attributes, true, true]);
}

fn assert_same(bulk: &[Vec<u8>], walk: &[Vec<u8>]) {
    let differ = bulk.iter().zip(walk).find(|(bulk, walk)| bulk != walk);
    if let Some((bulk, walk)) = differ {
        panic!("in bulk\n{}walk\n{}", text(bulk), text(walk));
    }
    assert_eq!(bulk.len(), walk.len());
}

/// Inode number and size of each path.
type Rows = BTreeMap<Vec<u8>, (u64, u64)>;

/// Changes the tree when the operand comes: after the pass, before the first directory is opened.
struct Changing<'c> {
    change: &'c (dyn Fn() + Sync),
    rows: Rows,
}

impl Visitor for Changing<'_> {
    type State = ();

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        if place.depth == 0 {
            (self.change)();
        }
        for entry in batch.iter() {
            let mut path = Vec::new();
            place.join(entry.name(), &mut path);
            self.rows.insert(path, (entry.ino(), entry.size()));
        }
        Step::Enter
    }
}

/// Walks a tree that changes after the pass. Returns the rows, and how many were joined.
fn walk_while(root: &Path, change: &(dyn Fn() + Sync)) -> (Rows, u64) {
    let path = CString::new(root.as_os_str().as_bytes()).expect("no NUL");
    let needs = NeedsByKind::all(Needs::SIZE | Needs::INODE);
    let options = Options { needs, workers: Some(1), bulk: When::Always, ..Options::default() };
    let outcome = tree::walk(&[&path], &options, &Threads, |_| Changing { change, rows: Rows::default() });
    assert!(matches!(outcome.bulk, Outcome::Read(inodes) if inodes > 5), "{:?}", outcome.bulk);
    (outcome.visitors.into_iter().next().expect("a visitor").rows, outcome.tally.joined)
}

#[test]
fn a_reused_inode_is_not_taken_for_its_predecessor() {
    let Some(xfs) = LoopFs::mount_or_skip(Real::Xfs) else { return };
    shell(xfs.path(), "mkdir a b c; for n in 1 2 3 4; do echo data > a/$n; echo data > b/$n; done");
    let old = fs::metadata(xfs.path().join("a/1")).expect("a file").ino();
    std::thread::sleep(QUIET);
    let reuse = || {
        fs::remove_file(xfs.path().join("a/1")).expect("removed");
        let is_reused = (0..500).any(|nth| {
            shell(xfs.path(), "sync -f .");
            let path = xfs.path().join(format!("a/new{nth}"));
            let file = File::create(&path).expect("a file");
            file.set_len(777).expect("a size");
            file.metadata().expect("metadata").ino() == old
        });
        assert!(is_reused, "XFS uses the lowest free number");
    };
    let (rows, joined) = walk_while(xfs.path(), &reuse);
    assert_eq!(joined, 7, "the entries of the root and of b");
    let sizes = rows.iter().filter(|(path, _)| path.windows(6).any(|part| part == b"/a/new"));
    let sizes: Vec<_> = sizes.collect();
    assert!(sizes.iter().any(|(_, (ino, _))| *ino == old));
    assert!(sizes.iter().all(|(_, (_, size))| *size == 777), "{sizes:?}");
}

#[test]
fn what_moves_into_a_directory_and_what_is_mounted_there_is_asked_for() {
    for system in systems() {
        let root = system.path();
        shell(root, "mkdir a b c; for d in a b c; do for n in 1 2 3 4; do echo $d > $d/$n; done; done");
        shell(root, "printf 12345 > a/five; touch c/over; mount --bind a/five c/over");
        std::thread::sleep(QUIET);
        let change = || drop(shell(root, "mv a/five b/1; printf 1234567 > b/2"));
        let (rows, joined) = walk_while(root, &change);
        shell(root, "umount c/over");
        let size = |path: &str| rows[root.join(path).as_os_str().as_bytes()].1;
        assert_eq!([size("b/1"), size("b/2"), size("c/over"), size("c/1")], [5, 7, 5, 2]);
        assert!(joined >= 4, "{joined} of c");
    }
}

/// The size and the time of a file are in its name: `f7.123` has 123 bytes and was modified at second 123.
fn put(staging: &Path, to: &Path, size: u64) {
    let made = staging.join(to.file_name().expect("a name"));
    let file = File::create(&made).expect("a file");
    file.set_len(size).expect("a size");
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(size)).expect("a time");
    fs::rename(&made, to).expect("renamed");
}

/// Makes, renames and removes files and directories until it is told to stop.
fn storm(root: &Path, seed: u64, stop: &AtomicBool) {
    let (mut rng, staging) = (Rng::new(seed), root.join(format!("staging{seed}")));
    fs::create_dir(&staging).expect("a directory");
    let mut files: Vec<std::path::PathBuf> = Vec::new();
    for nth in 0_u64.. {
        if stop.load(Relaxed) {
            break;
        }
        let dir = root.join(format!("tree/{}", rng.below(40)));
        match rng.below(3) {
            0 if files.len() > 20 => {
                fs::remove_file(files.swap_remove(rng.below(files.len()))).expect("removed")
            }
            1 if !files.is_empty() => {
                let at = rng.below(files.len());
                let to = dir.join(files[at].file_name().expect("a name"));
                fs::rename(&files[at], &to).expect("renamed");
                files[at] = to;
            }
            _ => {
                let size = 1 + rng.below(1_000_000) as u64;
                let path = dir.join(format!("f{seed}-{nth}.{size}"));
                put(&staging, &path, size);
                files.push(path);
            }
        }
    }
}

/// Ends the storm, also after a failed assertion.
struct Stops<'s>(&'s AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn in_a_storm_every_row_is_true_and_what_stays_is_there() {
    for system in systems() {
        let root = system.path();
        fs::create_dir(root.join("staging")).expect("a directory");
        for dir in 0..40 {
            let dir = root.join(format!("tree/{dir}"));
            fs::create_dir_all(&dir).expect("a directory");
            (0..10_u64)
                .for_each(|nth| put(&root.join("staging"), &dir.join(format!("stays{nth}.{nth}")), nth));
        }
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            (1..3).for_each(|seed| {
                drop(scope.spawn({
                    let stop = &stop;
                    move || storm(root, seed, stop)
                }))
            });
            let _stops = Stops(&stop);
            let until = Instant::now() + Duration::from_millis(1500);
            while Instant::now() < until {
                assert_true(&scan(&root.join("tree"), "--bulk=always ."));
            }
        });
        std::thread::sleep(QUIET);
        assert_true(&scan(&root.join("tree"), "--bulk=always ."));
    }
}

fn assert_true(rows: &[Vec<u8>]) {
    let mut stayed = BTreeSet::new();
    for row in rows {
        let row: serde_json::Value = serde_json::from_slice(row).expect("JSON");
        let Some(path) = row["path"].as_str().filter(|_| row["type"] == "file" && row["errno"].is_null())
        else {
            continue;
        };
        let size: u64 = path.rsplit('.').next().and_then(|size| size.parse().ok()).expect("a size");
        assert_eq!(row["size"], size, "{row}");
        let second = i64::try_from(size).ok().and_then(|size| jiff::Timestamp::from_second(size).ok());
        let second = format!("{:.9}", second.expect("a time"));
        assert_eq!(row["mtime"], second, "{row}");
        if path.contains("stays") {
            assert!(stayed.insert(path.to_owned()), "{path} twice");
        }
    }
    assert_eq!(stayed.len(), 400);
}

/// A tree that is not small.
const MANY: &str = "for n in $(seq 60); do mkdir -p many/$n; (cd many/$n; touch 1 2 3 4 5); done; sync -f .";

/// The calls of a pass, and those that decide about it. Others depend on the number of workers, which is chosen by measured times.
fn calls(command: &Run) -> BTreeMap<&'static str, usize> {
    let trace = trace(command).expect("strace");
    assert_eq!(trace.outcome.end, End::Exit(0), "{}", text(&trace.outcome.stderr));
    let names = ["syncfs", "fstatfs", "getdents64", "geteuid", "capget"];
    // Other calls of ioctl are about terminals.
    let is_of_bulk =
        |text: &str| ["meminfo", "0x58", "XFS_IOC", "BTRFS_IOC"].iter().any(|part| text.contains(part));
    let others = trace.calls().iter().filter(|call| is_of_bulk(&call.text)).count();
    names.into_iter().map(|name| (name, trace.count(name))).chain([("others", others)]).collect()
}

/// Checks that the same calls are made with `--bulk=auto` and `--bulk=never`.
fn assert_same_calls(what: &str, cwd: &Path, words: &str) {
    let of = |bulk: &str| calls(&dents(cwd, &format!("{words} --bulk={bulk}")));
    assert_eq!(of("auto"), of("never"), "{what}");
}

#[test]
fn a_walk_that_cannot_use_it_makes_no_call_more() {
    let dir = TempDir::new("bulk").expect("a directory");
    shell(dir.path(), MANY);
    assert_same_calls("another file system", dir.path(), "du -s many");
    for system in systems() {
        let root = system.path();
        shell(root, MANY);
        shell(root, "mkdir small; touch small/1; sync");
        let auto = calls(&dents(root, "du -s ."));
        assert!(auto["syncfs"] == 1 && auto["others"] > 2, "{auto:?}");
        assert_same_calls("a subdirectory", root, "du -s many");
        assert_same_calls("two directories", root, "du -s many small");
        assert_same_calls("a number of threads", root, "du -s --threads=2 .");
        assert_same_calls("few levels", root, "scan --max-depth=1 --size=+1 .");
        assert_same_calls("few names", root, "scan --include=1 --size=+1 .");
        assert_same_calls("no metadata", root, "count .");
    }
}

/// `auto` tries nothing without privileges; `always` tries, is refused, and walks.
#[test]
fn without_privileges_there_is_a_walk() {
    let Some(xfs) = LoopFs::mount_or_skip(Real::Xfs) else { return };
    let root = xfs.path();
    shell(root, MANY);
    shell(root, "mkdir -m 755 bin");
    dents_lab::fixture::copy_program(Path::new(env!("CARGO_BIN_EXE_dents")), &root.join("bin/dents"));
    std::thread::sleep(QUIET);
    let nobody = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"];
    let namespace: Vec<&str> = nobody.into_iter().chain(["unshare", "-r"]).collect();
    for under in [&nobody[..], &namespace] {
        let of = |words: &str| {
            let command = Run::new(&root.join("bin/dents")).cwd(root).args(words.split(' '));
            run(&command.under(under))
        };
        let auto = of("du -s --explain .");
        if auto.end != End::Exit(0) {
            println!("skipped: {}", text(&auto.stderr));
            continue;
        }
        let told = text(&auto.stderr);
        assert!(told.contains("bulk: no: ") && !told.contains("refused"), "{told}");
        // The number of workers is chosen by measured times; these calls are not.
        let calls_of = |bulk: &str| {
            let command = Run::new(&root.join("bin/dents")).cwd(root).args(["du", "-s", bulk, "."]);
            calls(&command.under(under))
        };
        assert_eq!(calls_of("--bulk=auto"), calls_of("--bulk=never"), "{under:?}");
        let always = of("du -s --bulk=always --explain .");
        assert!(text(&always.stderr).contains("bulk: no: the kernel refused: "), "{}", text(&always.stderr));
        assert_eq!(always.stdout, of("du -s --bulk=never .").stdout);
    }
}
