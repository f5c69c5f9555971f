//! Runs the fuzz targets as ordinary tests, on the stable compiler.
//!
//! A target is one function per parser, `fn(&[u8])`, in the `fuzzing` module of the parser's crate. It panics if the parser
//! breaks a promise. It has two callers: a test of its crate, which calls [`check`] with a corpus, and a
//! `fuzz_targets/NAME.rs` of the crate in `fuzz/`, for `cargo +nightly fuzz run NAME`.
//!
//! [`check`] runs the corpus and 10,000 mutations of it, the same ones each time. It fails if the target panics, takes longer
//! than [`HANG`] for one input, or lets the process grow by more than [`MOST_MEMORY`]. The failing input is saved, and the
//! message says how to repeat it. Variables of the environment change a run:
//!
//! - `DENTS_FUZZ_SEED`: another seed, so other mutations;
//! - `DENTS_FUZZ_COUNT`: their number;
//! - `DENTS_FUZZ_INPUT`: a file; the test runs this input and no other;
//! - `DENTS_FUZZ_CORPUS`: a directory; the corpus is written to NAME in it, for `cargo fuzz`.

mod mutate;

pub use mutate::Mutations;

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, panic, process, thread};

/// Mutations of one run.
pub const COUNT: usize = 10_000;

/// A target that takes longer for one input counts as endless. All inputs are small, so even a busy machine needs only milliseconds.
pub const HANG: Duration = Duration::from_secs(60);

/// After this time a run ends early and reports that. A slow machine is no failure.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Bytes by which one input may let the process grow. Other tests of the same process allocate at the same time, so this is
/// far more than any parser needs. A parser that trusts a forged length asks for gigabytes.
pub const MOST_MEMORY: u64 = 1 << 30;

/// A function that panics if a parser breaks a promise.
pub type Target = fn(&[u8]);

/// The input that is running now, and its number: 0 to the end of the corpus, then the mutations.
type Current = Arc<Mutex<(usize, Vec<u8>)>>;

/// Runs the target on the corpus and on mutations of it.
///
/// # Panics
/// If the target panics, or takes too long or too much memory; the message says how to repeat it. If the corpus is empty.
#[track_caller]
pub fn check(name: &str, corpus: &[Vec<u8>], target: Target) {
    assert!(!corpus.is_empty(), "{name}: the corpus is empty");
    if let Some(directory) = env::var_os("DENTS_FUZZ_CORPUS") {
        export(&PathBuf::from(directory).join(name), corpus);
    }
    let seed = number("DENTS_FUZZ_SEED").unwrap_or(1);
    let count = number("DENTS_FUZZ_COUNT").map_or(COUNT, |count| count as usize);
    if let Err(failure) = attempt(name, inputs(corpus.to_vec(), seed, count), target, HANG) {
        panic!("{failure}\n  seed {seed}; mutations come after the {} inputs of the corpus", corpus.len());
    }
}

fn export(directory: &Path, corpus: &[Vec<u8>]) {
    let write = |(number, input): (usize, &Vec<u8>)| fs::write(directory.join(number.to_string()), input);
    let written = fs::create_dir_all(directory).and_then(|()| corpus.iter().enumerate().try_for_each(write));
    written.unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text}: must be a number")))
}

/// The corpus and its mutations, or only the input that `DENTS_FUZZ_INPUT` names.
fn inputs(corpus: Vec<Vec<u8>>, seed: u64, count: usize) -> Box<dyn Iterator<Item = Vec<u8>> + Send> {
    if let Some(path) = env::var_os("DENTS_FUZZ_INPUT") {
        let input = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return Box::new([input].into_iter());
    }
    let mutations = Mutations::new(corpus.clone(), seed).take(count);
    Box::new(corpus.into_iter().chain(mutations))
}

/// Runs all inputs on another thread, which is abandoned if it takes too long.
fn attempt(
    name: &str,
    inputs: impl Iterator<Item = Vec<u8>> + Send + 'static,
    target: Target,
    hang: Duration,
) -> Result<(), String> {
    let current = Current::default();
    let (tell, told) = channel();
    let run = Run { current: current.clone(), target, tell };
    thread::Builder::new()
        .name(name.to_string())
        .spawn(move || run.all(inputs))
        .expect("a thread can be started");
    let mut last = (usize::MAX, Instant::now());
    loop {
        match told.recv_timeout(Duration::from_millis(200).min(hang)) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(problem)) => return Err(describe(name, &lock(&current), &problem)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(describe(name, &lock(&current), "the thread ended"));
            }
        }
        let number = lock(&current).0;
        if number != last.0 {
            last = (number, Instant::now());
        } else if last.1.elapsed() > hang {
            return Err(describe(name, &lock(&current), &format!("no end after {hang:?}")));
        }
    }
}

fn lock(current: &Current) -> MutexGuard<'_, (usize, Vec<u8>)> {
    current.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Saves the input. Returns a text with the failure, the input, and the way to repeat it.
fn describe(name: &str, (number, input): &(usize, Vec<u8>), problem: &str) -> String {
    const SHOWN: usize = 400;
    let path: PathBuf = env::temp_dir().join(format!("dents-fuzz-{name}-{}-{number}", process::id()));
    let saved = match fs::write(&path, input) {
        Ok(()) => format!("DENTS_FUZZ_INPUT={} cargo test ... {name}", path.display()),
        Err(error) => format!("{}: {error}", path.display()),
    };
    let shown = input[..input.len().min(SHOWN)].escape_ascii();
    let more = if input.len() > SHOWN { "..." } else { "" };
    format!(
        "{name}: {problem}\n  input {number}, {} bytes: \"{shown}\"{more}\n  to repeat: {saved}",
        input.len()
    )
}

/// The thread that calls the target.
struct Run {
    current: Current,
    target: Target,
    tell: Sender<Result<(), String>>,
}

impl Run {
    fn all(self, inputs: impl Iterator<Item = Vec<u8>>) {
        let begin = Instant::now();
        let mut end = Ok(());
        for (number, input) in inputs.enumerate() {
            if begin.elapsed() > PATIENCE {
                println!("{number} inputs in {PATIENCE:?}; the others are left out");
                break;
            }
            *lock(&self.current) = (number, input.clone());
            end = self.one(&input);
            if end.is_err() {
                break;
            }
        }
        let _ = self.tell.send(end);
    }

    fn one(&self, input: &[u8]) -> Result<(), String> {
        let before = most_memory();
        panic::catch_unwind(|| (self.target)(input)).map_err(|payload| text_of(&*payload))?;
        let grown = most_memory().saturating_sub(before);
        if grown > MOST_MEMORY {
            return Err(format!("it took {} MiB of memory", grown >> 20));
        }
        Ok(())
    }
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or(payload.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("not with a text"))
}

/// The largest size of the process so far, in bytes. Memory that was allocated and never used counts too.
fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap_or_default();
    let kilobytes = line.trim().trim_end_matches(" kB").parse::<u64>();
    kilobytes.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs these tests one at a time, because memory is measured for the whole process, and one of them asks for gigabytes.
    static ALONE: Mutex<()> = Mutex::new(());

    fn of(inputs: &[&[u8]], target: Target, hang: Duration) -> Result<(), String> {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let inputs: Vec<Vec<u8>> = inputs.iter().map(|input| input.to_vec()).collect();
        attempt("self-test", inputs.into_iter(), target, hang)
    }

    fn saved(failure: &str) -> Vec<u8> {
        let path = failure.split("DENTS_FUZZ_INPUT=").nth(1).and_then(|rest| rest.split(' ').next());
        let path = path.expect("a path is told");
        let bytes = fs::read(path).expect("it was saved");
        fs::remove_file(path).expect("it goes");
        bytes
    }

    #[test]
    fn a_panic_names_its_input() {
        let target: Target = |bytes| assert!(!bytes.starts_with(b"b\xff"), "no b");
        assert_eq!(of(&[b"a", b""], target, HANG), Ok(()));
        let failure = of(&[b"a", b"b\xff", b"c"], target, HANG).expect_err("it panics");
        assert!(
            failure.starts_with("self-test: panicked: no b\n  input 1, 2 bytes: \"b\\xff\"\n"),
            "{failure}"
        );
        assert_eq!(saved(&failure), b"b\xff");
    }

    #[test]
    fn a_hang_is_found() {
        let target: Target = |bytes| thread::sleep(Duration::from_secs(bytes.len() as u64));
        let failure = of(
            &[b"", b"one minute...............................................one"],
            target,
            Duration::from_millis(300),
        );
        let failure = failure.expect_err("it hangs");
        assert!(failure.starts_with("self-test: no end after 300ms\n  input 1,"), "{failure}");
        saved(&failure);
    }

    /// The limit of time is for one input, not for all.
    #[test]
    fn many_that_take_long_are_no_hang() {
        let target: Target = |_| thread::sleep(Duration::from_millis(500));
        assert_eq!(of(&[&b"x"[..]; 10], target, Duration::from_secs(4)), Ok(()));
    }

    #[test]
    fn memory_that_is_asked_for_counts_though_it_is_not_touched() {
        let target: Target = |bytes| {
            let room = Vec::<u8>::with_capacity(bytes.len() << 30);
            std::hint::black_box(room.as_ptr());
        };
        assert_eq!(of(&[b""], target, HANG), Ok(()));
        let failure = of(&[b"two"], target, HANG).expect_err("three gigabytes");
        assert!(failure.contains(" MiB of memory\n"), "{failure}");
        saved(&failure);
    }
}
