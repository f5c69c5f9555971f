//! A mount below the listed directory whose root never opens: the entries before it are printed and written, to a terminal and
//! to a pipe; with `--timeout` the entries after it are listed too.

use std::fs::{File, create_dir_all};
use std::io::Read;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Run, Watch};
use dents_lab::shown::Shown;
use dents_lab::slowfs::{Fault, Kind, Mounted, Request, SlowFs};
use dents_lab::suite::checked;

const PATIENCE: Duration = Duration::from_secs(20);
const MS: Duration = Duration::from_millis(1);
/// One thread, a fixed number, and as many as the cores, if there are more than one.
const THREADS: [&str; 3] = ["--threads=1", "--threads=2", "--mode=auto"];

/// Directories, one of them a mount, and the file system that does not answer there.
struct Tree {
    far: Mounted,
    dir: TempDir,
}

impl Tree {
    /// `count` directories before the mount and as many after it, with two files each; in memory if possible.
    fn new(count: usize) -> Option<Tree> {
        let dir = TempDir::in_memory("hang").expect("a directory");
        for name in ["a", "z"] {
            for number in 0..count {
                let path = dir.path().join(format!("{name}{number:03}"));
                create_dir_all(&path).expect("a directory");
                for file in ["one", "two"] {
                    File::create(path.join(file)).expect("a file");
                }
            }
        }
        let mount = dir.path().join("m");
        create_dir_all(&mount).expect("a directory");
        let far = SlowFs::builder().entries(3, &[Kind::File]).fault(".", &[Request::Opendir], Fault::Hang);
        match far.mount_at(&mount) {
            Ok(far) => Some(Tree { far, dir }),
            Err(why) if std::env::var_os("DLS_FUSE").is_some_and(|value| value == "required") => {
                panic!("{why}")
            }
            Err(why) => {
                println!("skipped: no slow file system, because {why}");
                None
            }
        }
    }

    fn run(&self, options: &[&str]) -> Run {
        Run::new(checked().path()).args(options).cwd(self.dir.path())
    }

    fn hang_again(&self) {
        self.far.clear_faults();
        self.far.fault(".", &[Request::Opendir], Fault::Hang).expect("it is there");
    }
}

/// The last directory before the mount, with its files: all of it must have been printed.
fn last_before(text: &str, count: usize) -> bool {
    let header = format!("./a{:03}:\n", count - 1);
    text.split_once(&header).is_some_and(|(_, rest)| rest.contains("two\n"))
}

#[test]
fn what_comes_before_it_is_seen_on_a_terminal() {
    for count in [3, 100] {
        let Some(tree) = Tree::new(count) else { return };
        for (format, threads) in
            ["-1R", "-lR"].into_iter().flat_map(|format| THREADS.map(|threads| (format, threads)))
        {
            tree.hang_again();
            let mut shown = Shown::start(&tree.run(&[format, threads]), None);
            shown.until(&format!("./a{:03}:\n", count - 1));
            let start = Instant::now();
            while !last_before(shown.text(), count) {
                assert!(start.elapsed() < PATIENCE, "{format} {threads}: {}", shown.text());
                shown.until("two");
            }
            assert!(tree.far.wait_hung(1, PATIENCE), "{format} {threads}");
            assert!(!shown.text().contains("./m:"), "{format} {threads}");
            tree.far.release();
            let (_, status, text) = shown.end();
            assert_eq!(
                (status, text.matches(":\n").count()),
                (Some(0), 2 * count + 2),
                "{format} {threads}: {text}"
            );
        }
    }
}

/// A program that writes to a pipe, and what has come out of it.
struct Piped {
    child: Child,
    watch: Watch,
    text: Arc<Mutex<String>>,
    reader: JoinHandle<()>,
}

impl Piped {
    fn start(run: &Run) -> Piped {
        let mut child = run.command().stdout(Stdio::piped()).spawn().expect("dls starts");
        let watch = Watch::over(&child);
        let text = Arc::new(Mutex::new(String::new()));
        let (shared, mut out) = (text.clone(), child.stdout.take().expect("a pipe"));
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(read @ 1..) = out.read(&mut piece) {
                shared.lock().expect("a text").push_str(&String::from_utf8_lossy(&piece[..read]));
            }
        });
        Piped { child, watch, text, reader }
    }

    /// Waits until the text is as it should be.
    fn until(&self, what: &str, done: impl Fn(&str) -> bool) {
        let start = Instant::now();
        while !done(&self.text.lock().expect("a text")) {
            let so_far = self.text.lock().expect("a text").len();
            assert!(start.elapsed() < PATIENCE, "{what}: {so_far} bytes");
            std::thread::sleep(MS);
        }
    }

    /// The exit status and the whole text.
    fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("it ends");
        self.reader.join().expect("it reads");
        drop(self.watch);
        let text = self.text.lock().expect("a text").clone();
        (status.code(), text)
    }
}

#[test]
fn what_comes_before_it_has_left_through_a_pipe() {
    for count in [3, 100] {
        let Some(tree) = Tree::new(count) else { return };
        for (format, threads) in
            ["-1R", "-lR"].into_iter().flat_map(|format| THREADS.map(|threads| (format, threads)))
        {
            tree.hang_again();
            let piped = Piped::start(&tree.run(&[format, threads]));
            piped.until(&format!("{count} {format} {threads}"), |text| last_before(text, count));
            assert!(tree.far.wait_hung(1, PATIENCE), "{format} {threads}");
            tree.far.release();
            let (status, text) = piped.end();
            let headers = text.lines().filter(|line| line.ends_with(':')).count();
            assert_eq!((status, headers), (Some(0), 2 * count + 2), "{format} {threads}");
        }
    }
}

/// A directory that answers late, right before one that never answers: a worker reads the former, and the renderer,
/// which is idle, must not open the latter. The same if several workers are stuck.
#[test]
fn what_is_slow_before_it_is_seen() {
    let Some(tree) = Tree::new(100) else { return };
    let mount = |name: &str, fault| {
        let path = tree.dir.path().join(name);
        create_dir_all(&path).expect("a directory");
        let far = SlowFs::builder().entries(3, &[Kind::File]).fault(".", &[Request::Opendir], fault);
        far.mount_at(&path).expect("another has been mounted")
    };
    let _slow = mount("l", Fault::Delay(Duration::from_millis(300)));
    let others = ["n", "o"].map(|name| mount(name, Fault::Hang));
    for (format, threads) in
        ["-1R", "-lR"].into_iter().flat_map(|format| THREADS.map(|threads| (format, threads)))
    {
        tree.hang_again();
        let mut shown = Shown::start(&tree.run(&[format, threads]), None);
        shown.until("./l:\n");
        shown.until("e00002\n");
        assert!(!shown.text().contains("./m:"), "{format} {threads}");
        assert!(tree.far.wait_hung(1, PATIENCE), "{format} {threads}");
        tree.far.release();
        others.iter().for_each(|other| assert!(other.release() <= 1));
        let (_, status, text) = shown.end();
        assert_eq!((status, text.matches(":\n").count()), (Some(0), 205), "{format} {threads}: {text}");
    }
}

/// The root of a mount that does not answer `statx`, inside a directory whose entries the renderer stats itself.
#[test]
fn what_comes_before_its_statx_has_left_through_a_pipe() {
    let count = 100;
    let Some(tree) = Tree::new(count) else { return };
    let mount = tree.dir.path().join("b/m");
    create_dir_all(&mount).expect("a directory");
    let far = SlowFs::builder().entries(3, &[Kind::File]).mount_at(&mount).expect("another has been mounted");
    tree.far.release();
    for threads in THREADS {
        far.clear_faults();
        far.fault(".", &[Request::Getattr], Fault::Hang).expect("it is there");
        let piped = Piped::start(&tree.run(&["-lR", threads]));
        piped.until(threads, |text| last_before(text, count));
        assert!(far.wait_hung(1, PATIENCE), "{threads}");
        far.release();
        let (status, text) = piped.end();
        let headers = text.lines().filter(|line| line.ends_with(':')).count();
        assert_eq!((status, headers), (Some(0), 2 * count + 4), "{threads}");
    }
}

#[test]
fn with_a_deadline_what_comes_after_it_is_listed() {
    for count in [3, 100] {
        let Some(tree) = Tree::new(count) else { return };
        for (format, threads) in
            ["-1R", "-lR"].into_iter().flat_map(|format| THREADS.map(|threads| (format, threads)))
        {
            tree.hang_again();
            let outcome = tree.run(&[format, threads, "--timeout=2s"]).output().expect("dls starts");
            let (text, said) =
                (String::from_utf8_lossy(&outcome.stdout), String::from_utf8_lossy(&outcome.stderr));
            let what = format!("{count} {format} {threads}: {said}");
            assert_eq!(outcome.end, End::Exit(1), "{what}");
            assert!(
                said.ends_with(": './m' did not answer within 2s\n") && said.lines().count() == 1,
                "{what}"
            );
            let headers = text.lines().filter(|line| line.ends_with(':')).count();
            assert_eq!((headers, text.matches("two\n").count()), (2 * count + 1, 2 * count), "{what}");
        }
    }
}
