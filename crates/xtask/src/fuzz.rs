//! `cargo xtask fuzz`: each target of `fuzz/` for a given time, by `cargo-fuzz` and a nightly compiler; as many at once as there are processors.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use crate::step::{Result, Steps, at, names, target_dir, workspace};
use crate::test;

/// How long a target runs if no time is given.
const SECONDS: u32 = 60;
/// The packages with a module `fuzzing`, whose tests write the corpus.
const SEEDED: &[&str] =
    &["dents-sys", "dents-core", "dents-locale", "dents-render", "dents-ls", "dents", "dents-sink"];

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let (seconds, jobs) = options(args)?;
    if !is_installed() {
        return Err("cargo-fuzz or the nightly compiler is missing; please install them first: \
                    cargo install cargo-fuzz; rustup toolchain install nightly"
            .to_owned());
    }
    let mut steps = Steps::default();
    for package in SEEDED {
        let mut seeds = test::test(package, &[], &["fuzzing"]);
        seeds.env("DENTS_FUZZ_CORPUS", workspace().join("fuzz/corpus")).env("DENTS_FUZZ_COUNT", "0");
        steps.run(&format!("corpus of {package}"), &mut seeds);
    }
    let targets = targets()?;
    let has_corpus = |target: &&String| workspace().join("fuzz/corpus").join(target).is_dir();
    if let Some(target) = targets.iter().find(|target| !has_corpus(target)) {
        return Err(format!("no test wrote the corpus of {target}: is its package in SEEDED?"));
    }
    if steps.run("build of the targets", cargo_fuzz().arg("build")) {
        let left = Mutex::new(targets.iter());
        let next = || left.lock().ok()?.next();
        let steps = Mutex::new(&mut steps);
        thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    while let Some(target) = next() {
                        let outcome = one(target, seconds);
                        if let Ok(mut steps) = steps.lock() {
                            steps.report(&format!("fuzz target {target}"), outcome);
                        }
                    }
                });
            }
        });
    }
    steps.finish()
}

/// Runs a target. What it prints is in a file; the last lines say how many inputs it ran.
fn one(target: &str, seconds: u32) -> Result<String> {
    let dir = target_dir().join("fuzz");
    let log = dir.join(target).with_extension("log");
    at(&dir, fs::create_dir_all(&dir))?;
    let mut command = cargo_fuzz();
    // Some targets keep what they have read for the life of the program, as the program does.
    command
        .args(["run", target, "--", &format!("-max_total_time={seconds}")])
        .env("ASAN_OPTIONS", "detect_leaks=0");
    let file = at(&log, fs::File::create(&log))?;
    command.current_dir(workspace()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    let status = at("cargo", command.status())?;
    let printed = at(&log, fs::read(&log))?;
    let printed = String::from_utf8_lossy(&printed);
    let done = printed.lines().rfind(|line| line.starts_with("Done "));
    match done {
        Some(done) if status.success() => Ok(done.to_owned()),
        _ => Err(format!("{status}; see {}", log.display())),
    }
}

/// The seconds of each target, and how many run at once.
fn options(args: &[&str]) -> Result<(u32, usize)> {
    const USAGE: &str = "usage: cargo xtask fuzz [--seconds N] [--jobs N]";
    let (mut seconds, mut jobs) = (SECONDS, thread::available_parallelism().map_or(1, usize::from));
    for pair in args.chunks(2) {
        // 0 would mean without end.
        let number = |number: &str| match number.parse::<u32>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("invalid number '{number}'; give a whole number from 1")),
        };
        match *pair {
            ["--seconds", value] => seconds = number(value)?,
            ["--jobs", value] => jobs = number(value)? as usize,
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok((seconds, jobs))
}

/// By the name `cargo`, which is rustup's and knows `+nightly`; the variable `CARGO` names the one of a toolchain.
fn cargo_fuzz() -> Command {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "fuzz"]);
    command
}

fn is_installed() -> bool {
    let mut version = cargo_fuzz();
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

/// The names of the targets, sorted. (A test in `tidy.rs` compares them with the fuzz functions of the crates.)
fn targets() -> Result<Vec<String>> {
    let names = names(&workspace().join("fuzz/fuzz_targets"))?;
    Ok(names.iter().map(|name| name.trim_end_matches(".rs").to_owned()).collect())
}

#[test]
fn a_time_is_a_whole_number_from_1() {
    assert_eq!(options(&[]).map(|(seconds, _)| seconds), Ok(SECONDS));
    assert_eq!(options(&["--jobs", "4", "--seconds", "5"]), Ok((5, 4)));
    for wrong in [&["--seconds", "0"][..], &["--seconds", "x"], &["--seconds"], &["5"]] {
        assert!(options(wrong).is_err(), "{wrong:?}");
    }
    assert!(targets().is_ok_and(|names| names.contains(&"dirents".to_owned())));
}
