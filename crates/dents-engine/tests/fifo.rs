//! Threads of class SCHED_FIFO on one core. The kernel never preempts such a thread for another of the same priority: a
//! thread that spins until another makes progress stalls the process for ever, unless it yields its core.

#![cfg(not(feature = "model"))]

use dents_engine::crew::Crew;
use dents_engine::limit::{Limit, Streak};
use dents_engine::lock::Mutex;
use dents_engine::order::range::{Claims, Names, Range, Task};
use dents_engine::wait;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

const THREADS: usize = 256;

/// Set in the process that runs under SCHED_FIFO.
const INSIDE: &str = "DENTS_FIFO";

/// A test that takes longer has stalled: a few milliseconds suffice.
const LIMIT: Duration = Duration::from_secs(60);

/// Executes `body` in a SCHED_FIFO process on one core. Prints the reason if that is not permitted.
fn under_fifo(test: &str, body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("0");
    let core: String = cores.trim().chars().take_while(char::is_ascii_digit).collect();
    let fifo = |program: &str| {
        let mut command = Command::new("chrt");
        command.args(["--fifo", "1", "taskset", "--cpu-list", &core, program]).env(INSIDE, "1");
        command
    };
    match fifo("true").output() {
        Err(error) => return println!("skipped: chrt: {error}"),
        Ok(tried) if !tried.status.success() => {
            return println!("skipped: {}", String::from_utf8_lossy(&tried.stderr).trim());
        }
        Ok(_) => {}
    }
    let own = std::env::current_exe().expect("its path");
    let child = fifo(own.to_str().expect("UTF-8")).args(["--exact", test]).spawn().expect("it was found");
    ends(child);
}

fn ends(mut child: Child) {
    let started = Instant::now();
    while started.elapsed() < LIMIT {
        if let Some(status) = child.try_wait().expect("a child") {
            return assert!(status.success(), "{status}");
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("may be killed");
    let _ = child.wait();
    panic!("stalled");
}

fn all(job: impl Fn() + Sync) {
    thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(&job))));
}

#[test]
fn a_lock_is_released_although_its_holder_lost_the_core() {
    under_fifo("a_lock_is_released_although_its_holder_lost_the_core", || {
        let count = Mutex::new(0);
        all(|| {
            for _ in 0..2 {
                let mut count = count.lock();
                // The thread loses its core to another thread here.
                wait::sleep(200_000);
                *count += 1;
            }
        });
        assert_eq!(count.into_inner(), 2 * THREADS);
    });
}

/// The number of entries read.
struct Count(usize);

impl Names for Count {
    type Copy = ();
    /// The number of buffers to come.
    type Source = usize;
    type Buffer = usize;

    fn len(&self) -> usize {
        self.0
    }

    fn copy(&self, _: &std::ops::Range<usize>, (): &mut ()) {}

    fn append(&mut self, buffer: usize) {
        self.0 += buffer;
    }
}

#[test]
fn a_range_is_asked_about_to_its_end() {
    const BUFFER: usize = 500;
    const BUFFERS: usize = 20;
    under_fifo("a_range_is_asked_about_to_its_end", || {
        let (range, asked) = (Range::new(Count(0), Some(BUFFERS)), Mutex::new(0));
        let started = Instant::now();
        let now = || started.elapsed().as_nanos() as u64;
        let crew = Crew::new(Limit::searched(THREADS, 1, 0), 1);
        all(|| {
            let mut streak = Streak::default();
            crew.work(&range, &mut Claims { step: 1, low: 8, copy: () }, |_, task| match task {
                Task::Refill(buffers) => {
                    range.refilled(BUFFER, Some(buffers - 1).filter(|left| *left > 0), &crew);
                }
                Task::Ask(claimed) => {
                    let began = now();
                    wait::sleep(200_000);
                    *asked.lock() += claimed.len();
                    crew.announce(crew.limit.answered(claimed.len(), began, now(), &mut streak));
                }
            });
        });
        assert_eq!(asked.into_inner(), BUFFER * BUFFERS);
    });
}
