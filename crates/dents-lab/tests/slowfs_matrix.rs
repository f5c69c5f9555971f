//! Every fault of the slow file system, in every mode, with a deadline that does not pass and without: the same bytes,
//! messages and status as GNU `ls`. So all other entries are there.
//!
//! Stuck requests are in `stuck.rs` and, with a deadline that passes, in `deadline.rs`; directories that never end are
//! there and in `progress.rs`.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use dents_lab::case::MODES;
use dents_lab::diff;
use dents_lab::oracle::as_ls;
use dents_lab::process::{End, Outcome, Run, Watch};
use dents_lab::slowfs::{Builder, Errno, Fault, Kind, Mounted, Request, SlowFs};
use dents_lab::suite::{checked, oracle};

const KINDS: &[Kind] =
    &[Kind::File, Kind::Executable, Kind::Directory, Kind::Link, Kind::Dangling, Kind::Fifo];

/// With fewer entries no second worker is used.
const SIZES: [usize; 2] = [60, 200];

/// A mixture of that many entries, each answer a round trip.
fn mixed(count: usize) -> Builder {
    SlowFs::builder().entries(count, KINDS).latency(Duration::from_micros(150))
}

fn outcome(program: &Path, far: &Mounted, args: &[&str]) -> Outcome {
    let run = Run::new(program).args(args).args([far.path()]);
    let mut outcome = run.output().expect("it starts");
    outcome.stderr = as_ls(&outcome.stderr, program);
    outcome
}

/// Each way to ask.
fn ways() -> impl Iterator<Item = Vec<String>> {
    let mode = |mode: &&str| format!("--mode={mode}");
    let plain = MODES.iter().map(move |name| vec![mode(name)]);
    plain.chain(MODES.iter().map(move |name| vec![mode(name), "--timeout=25s".to_string()]))
}

/// Every mode prints what GNU `ls` prints.
fn as_gnu(far: &Mounted, options: &[&str]) -> Outcome {
    let expected = outcome(oracle().path(), far, options);
    for way in ways() {
        let mut args: Vec<&str> = way.iter().map(String::as_str).collect();
        args.extend(options);
        let actual = outcome(checked().path(), far, &args);
        if let Some(report) = diff::outcomes(&expected, &actual) {
            panic!("{args:?} differs\n{report}");
        }
    }
    expected
}

fn said(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stderr).into_owned()
}

#[test]
fn slow_jittery_and_with_few_slots() {
    for count in SIZES {
        let slow = mixed(count).jitter(Duration::from_millis(1)).seed(count as u64);
        for builder in [slow, mixed(count).slots(3), mixed(count).saturates_at(4, 2)] {
            let Some(far) = builder.mount_or_skip() else { return };
            let outcome = as_gnu(&far, &["-lF", "--color=always"]);
            assert_eq!((outcome.end, said(&outcome).as_str()), (End::Exit(0), ""));
        }
    }
}

#[test]
fn types_are_hidden() {
    for count in SIZES {
        let Some(far) = mixed(count).hide_types().mount_or_skip() else { return };
        for options in [&["-l"][..], &["-F"], &["--color=always"], &["-p"], &["-R"], &["-U", "-s"], &["-lL"]]
        {
            as_gnu(&far, options);
        }
    }
}

#[test]
fn some_entries_fail() {
    let errors = [Errno::IO, Errno::STALE, Errno::ACCESS, Errno::NOENT];
    for count in SIZES {
        for hidden in [false, true] {
            let mut builder = mixed(count);
            for (nth, error) in errors.into_iter().enumerate() {
                // The first of all, the last, and of each kind some.
                builder = builder.fail(format!("e{:05}", [0, 8, 33, count - 1][nth]), error);
            }
            let builder = if hidden { builder.hide_types() } else { builder };
            let Some(far) = builder.mount_or_skip() else { return };
            for options in [&["-l"][..], &["-lU"], &["-F", "--color=always"], &["-i"], &["-lL"], &["-t"]] {
                let outcome = as_gnu(&far, options);
                let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
                let missing = (0..count).filter(|number| !text.contains(&format!("e{number:05}"))).count();
                assert!(missing == 0, "{options:?}: {missing} are missing");
            }
            let told = said(&as_gnu(&far, &["-l"]));
            for text in ["Input/output error", "Stale file handle", "Permission denied", "No such file"] {
                assert_eq!(told.matches(text).count(), 1, "{told}");
            }
        }
    }
}

#[test]
fn later_questions_fail() {
    for count in SIZES {
        let io = Fault::Error(Errno::IO);
        // A link, and one whose target is missing.
        let builder = mixed(count).fault("e00003", &[Request::Readlink], io);
        let builder = builder.fault("e00010", &[Request::Readlink], Fault::Error(Errno::ACCESS));
        let Some(far) = builder.mount_or_skip() else { return };
        let outcome = as_gnu(&far, &["-l"]);
        assert_eq!(outcome.end, End::Exit(1), "{}", said(&outcome));
        // A refused request leaves out the mark and nothing else.
        let builder = mixed(count).fault("e00006", Request::XATTR, Fault::Error(Errno::STALE));
        let Some(far) = builder.mount_or_skip() else { return };
        as_gnu(&far, &["-l"]);
        let builder = mixed(count).fault_everywhere(Request::XATTR, Fault::Error(Errno::NOSYS));
        let Some(far) = builder.mount_or_skip() else { return };
        assert_eq!(said(&as_gnu(&far, &["-l"])), "");
    }
}

#[test]
fn the_directory_fails() {
    for error in [Errno::IO, Errno::STALE, Errno::ACCESS] {
        let fault = Fault::Error(error);
        let Some(far) = mixed(60).fault(".", &[Request::Opendir], fault).mount_or_skip() else { return };
        assert_eq!(as_gnu(&far, &["-l"]).end, End::Exit(2), "{error:?}");
        // After all names have come, and in the midst of them. A program that reads larger pieces gets further.
        for count in [200, 9000] {
            let builder = SlowFs::builder().entries(count, &[Kind::File]);
            let builder = builder.fault_after(".", &[Request::Readdir], 1, fault);
            let Some(far) = builder.clone().mount_or_skip() else { return };
            let expected = outcome(oracle().path(), &far, &["-l"]);
            drop(far);
            for way in ways() {
                // The kernel omits a request only the first time: each run gets a mount of its own.
                let Some(far) = builder.clone().mount_or_skip() else { return };
                let mut args: Vec<&str> = way.iter().map(String::as_str).collect();
                args.push("-l");
                let actual = outcome(checked().path(), &far, &args);
                let told = said(&actual);
                assert!(told.starts_with("ls: reading directory '"), "{args:?}: {told}");
                let lines = |outcome: &Outcome| outcome.stdout.iter().filter(|b| **b == b'\n').count();
                assert_eq!(actual.end, expected.end, "{args:?}: {told}");
                assert!((100..count).contains(&lines(&actual)) || lines(&actual) == 201, "{args:?}");
            }
        }
    }
}

#[test]
fn names_come_and_go() {
    for (count, hidden) in [(60, false), (200, true), (3000, false)] {
        let builder = SlowFs::builder().entries(count, &[Kind::File]).churn(20);
        let builder = if hidden { builder.hide_types() } else { builder };
        let Some(far) = builder.mount_or_skip() else { return };
        let mut passed = 0;
        for options in [&["-l"][..], &["-lU"], &["-1"], &["-F"]] {
            for way in ways() {
                let mut args: Vec<&str> = way.iter().map(String::as_str).collect();
                args.extend(options);
                let outcome = outcome(checked().path(), &far, &args);
                let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
                let mut names: Vec<&str> = text.lines().filter_map(|line| line.rsplit(' ').next()).collect();
                passed += names.iter().filter(|name| name.starts_with("passing-")).count();
                names.retain(|name| name.starts_with('e') && name.len() == 6);
                names.sort_unstable();
                let stayed: Vec<String> = (0..count).map(|number| format!("e{number:05}")).collect();
                assert!(names == stayed, "{args:?}: {} of {count}", names.len());
                let told = said(&outcome);
                assert!(told.lines().all(|line| line.contains("/passing-")), "{args:?}: {told}");
                let failed = told.contains("cannot access '");
                assert_eq!(outcome.end, End::Exit(i32::from(failed)), "{args:?}: {told}");
            }
        }
        assert!(passed > 0);
    }
}

/// A request is held and then answered: no entry is missing, in any mode.
#[test]
fn what_hung_and_came_back_is_there() {
    for count in SIZES {
        let Some(far) = mixed(count).mount_or_skip() else { return };
        let expected = outcome(oracle().path(), &far, &["-l"]);
        for way in ways() {
            far.clear_faults();
            for name in ["e00000", "e00017", "e00059"] {
                far.fault(name, Request::STAT, Fault::Hang).expect("it is there");
            }
            let run = Run::new(checked().path()).args(&way).args(["-l"]).args([far.path()]);
            let mut command = run.command();
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
            let watch = Watch::over(&child);
            assert!(far.wait_hung(1, Duration::from_secs(10)), "{way:?}");
            std::thread::sleep(Duration::from_millis(100));
            let start = Instant::now();
            far.release();
            let output = child.wait_with_output().expect("it ends");
            drop(watch);
            assert!(start.elapsed() < Duration::from_secs(15), "{way:?}: {:?}", start.elapsed());
            assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]), "{way:?}");
            assert!(output.stdout == expected.stdout, "{way:?}");
        }
    }
}
