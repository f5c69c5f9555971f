//! `cargo xtask fuzz`: each target of `fuzz/` for a given time, by `cargo-fuzz` and a nightly compiler.

use std::fs;
use std::process::{Command, Stdio};

use crate::step::{Result, Steps, workspace};

/// How long a target runs if no time is given.
const SECONDS: u32 = 60;

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let seconds = seconds(args)?;
    if !is_installed() {
        return Err("cargo-fuzz or the nightly compiler is missing; please install them first: \
                    cargo install cargo-fuzz; rustup toolchain install nightly"
            .to_owned());
    }
    let mut steps = Steps::default();
    for target in targets()? {
        let mut command = cargo_fuzz();
        command.args(["run", &target, "--", &format!("-max_total_time={seconds}")]);
        steps.run(&format!("fuzz target {target}"), &mut command);
    }
    steps.finish()
}

fn seconds(args: &[&str]) -> Result<u32> {
    match args {
        [] => Ok(SECONDS),
        // 0 would mean without end.
        ["--seconds", number] => match number.parse() {
            Ok(seconds) if seconds > 0 => Ok(seconds),
            _ => Err(format!("invalid number of seconds '{number}'; give a whole number from 1")),
        },
        _ => Err("usage: cargo xtask fuzz [--seconds N]".to_owned()),
    }
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
    let dir = workspace().join("fuzz/fuzz_targets");
    let entries = fs::read_dir(&dir).map_err(|error| format!("cannot read {}: {error}", dir.display()))?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(String::from)).collect();
    names.sort();
    Ok(names)
}

#[test]
fn a_time_is_a_whole_number_from_1() {
    assert_eq!((seconds(&[]), seconds(&["--seconds", "5"])), (Ok(SECONDS), Ok(5)));
    for wrong in [&["--seconds", "0"][..], &["--seconds", "x"], &["--seconds"], &["5"]] {
        assert!(seconds(wrong).is_err(), "{wrong:?}");
    }
    assert!(targets().is_ok_and(|names| names.contains(&"dirents".to_owned())));
}
