//! Compares `statx` of 10,000 warm files in a plain loop and through the ring, by entries and workers.
//!
//! `cargo bench -p dents-sys --bench ring [-- FILES [ROUNDS]]` prints medians. The number of calls is printed for the loop,
//! where it is certain; for the ring, `strace -c -e trace=io_uring_enter` counts them.
use dents_sys::stat::{Flags, Mask, Statx, statx_into};
use dents_sys::uring::{Answer, Request, Ring};
use dents_sys::{AsFd, OwnedFd, dir};
use std::ffi::{CStr, CString};
use std::time::{Duration, Instant};

const FLAGS: Flags = Flags::NOFOLLOW.union(Flags::NO_AUTOMOUNT);
const MASK: Mask = Mask::all().difference(Mask::MNT_ID).difference(Mask::BTIME);

fn main() {
    let mut numbers = std::env::args().filter_map(|arg| arg.parse().ok());
    let files = numbers.next().unwrap_or(10_000);
    let rounds = numbers.next().unwrap_or(31);
    let tree = Tree::new(files);

    let per_file = |time: Duration| time.as_nanos() as f64 / files as f64;
    let plain = median(rounds, || plain(&tree));
    println!("plain loop: {plain:?}, {:.0} ns a file", per_file(plain));
    for entries in [64, 256, 1024, 4096, 8192, 16_384] {
        let set_up = median(rounds, || drop(Ring::new(entries).expect("io_uring")));
        println!("ring of {entries}, made and dropped: {set_up:?}");
    }

    println!("{:>8} {:>8} {:>12} {:>10} {:>8}", "entries", "workers", "time", "ns/file", "x plain");
    for entries in [16, 64, 256, 1024, 8192] {
        for workers in [1, 2, 4, 8, 0] {
            let time = on_own_thread(|| {
                let mut ring = Ring::new(entries).expect("io_uring");
                ring.set_max_workers(workers).expect("Linux 5.15");
                median(rounds, || through(&mut ring, &tree))
            });
            let workers = if workers == 0 { "default".into() } else { workers.to_string() };
            let ratio = time.as_secs_f64() / plain.as_secs_f64();
            println!("{entries:>8} {workers:>8} {time:>12.1?} {:>10.0} {ratio:>8.2}", per_file(time));
        }
    }
}

/// The kernel keeps its workers, and their limit, per thread: a new thread begins without workers and with the default limit.
fn on_own_thread<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(run).join().expect("no panic"))
}

fn median(rounds: usize, mut run: impl FnMut()) -> Duration {
    run();
    let mut times: Vec<_> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[rounds / 2]
}

fn plain(tree: &Tree) {
    let mut buf = Statx::zeroed();
    for name in &tree.names {
        statx_into(&mut buf, tree.dir.as_fd(), name, FLAGS, MASK).expect("there");
    }
}

fn through(ring: &mut Ring, tree: &Tree) {
    let mut names = tree.names.iter();
    let mut answers = 0;
    let next = || {
        let path: &CStr = names.next()?;
        Some((0, Request::Statx { dir: tree.dir.as_fd(), path, flags: FLAGS, mask: MASK }))
    };
    let done = |_, answer: Answer<'_>| answers += usize::from(matches!(answer, Answer::Statx(Ok(_))));
    ring.run(next, done).expect("a working ring");
    assert_eq!(answers, tree.names.len());
}

struct Tree {
    path: std::path::PathBuf,
    dir: OwnedFd,
    names: Vec<CString>,
}

impl Tree {
    fn new(files: usize) -> Tree {
        let path = std::env::temp_dir().join(format!("dents-sys-bench-{}", std::process::id()));
        std::fs::create_dir(&path).expect("a directory in $TMPDIR");
        let mut names = Vec::new();
        for n in 0..files {
            let name = format!("file-{n:06}");
            std::fs::write(path.join(&name), "").expect("a file");
            names.push(CString::new(name).expect("no NUL"));
        }
        let c_path = CString::new(path.to_str().expect("UTF-8")).expect("no NUL");
        let dir = dir::open(dents_sys::CWD, &c_path).expect("just made");
        Tree { path, dir, names }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Files that cannot be removed from $TMPDIR do no harm.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
