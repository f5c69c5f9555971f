//! `--timeout`: entries that do not answer are shown as unknown, in time, and no other is missing.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use dents_lab::case::Case;
use dents_lab::case::MODES;
use dents_lab::fixture::{TempDir, plain};
use dents_lab::process::{End, Outcome, Run, Watch};
use dents_lab::slowfs::{Builder, Fault, Kind, Request, SlowFs};
use dents_lab::suite::{Places, checked, expect_same, oracle};

/// How long a timeout of one second may take. The machine may be busy: the best of a few runs counts.
const IN_TIME: Duration = Duration::from_millis(1300);

fn dls<S: AsRef<std::ffi::OsStr>>(cwd: &Path, args: &[S]) -> Run {
    Run::new(checked().path()).cwd(Path::new("/")).args(args).args([cwd])
}

/// Runs it until it is in time, a few times at most.
fn in_time(run: &Run) -> Outcome {
    in_time_and(run, |_| true)
}

/// Until it is in time and `good`.
fn in_time_and(run: &Run, good: impl Fn(&Outcome) -> bool) -> Outcome {
    let mut tries = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        let outcome = run.output().expect("dls starts");
        let took = start.elapsed();
        if took <= IN_TIME && good(&outcome) {
            return outcome;
        }
        tries.push(format!("{took:?}: {:?} {}", outcome.end, said(&outcome)));
    }
    panic!("{tries:#?} for {}", run.shell());
}

/// Lines whose columns are unknown.
fn unknown(outcome: &Outcome) -> Vec<String> {
    lines(outcome).into_iter().filter(|line| line.contains("?????????")).collect()
}

fn lines(outcome: &Outcome) -> Vec<String> {
    String::from_utf8_lossy(&outcome.stdout).lines().map(str::to_string).collect()
}

fn said(outcome: &Outcome) -> String {
    let text = String::from_utf8_lossy(&outcome.stderr).into_owned();
    text.replace(&format!("{}: ", checked().path().display()), "dls: ").replace("/tmp/", "/T/")
}

fn files(count: usize) -> Builder {
    SlowFs::builder().entries(count, &[Kind::File])
}

fn slow(count: usize) -> Builder {
    files(count).latency(Duration::from_micros(1200))
}

#[test]
fn one_of_ten_thousand_hangs() {
    for hang in [Fault::Hang, Fault::HangHard] {
        let builder = slow(10_000).fault("e04321", Request::STAT, hang);
        let Some(far) = builder.mount_or_skip() else { return };
        for mode in MODES {
            let mode = format!("--mode={mode}");
            let run = dls(far.path(), &["--timeout=1s", "-l", &mode]);
            let outcome = in_time_and(&run, |outcome| unknown(outcome).len() == 1);
            assert_eq!(
                (outcome.end, lines(&outcome).len()),
                (End::Exit(1), 10_001),
                "{mode}: {}",
                said(&outcome)
            );
            let unknown = unknown(&outcome);
            assert!(
                unknown[0].starts_with("-????????? ? ? ") && unknown[0].ends_with(" e04321"),
                "{unknown:?}"
            );
            let told = said(&outcome);
            assert!(told.starts_with("dls: 1 of 10,000 entries of '"), "{told}");
            assert!(told.ends_with("' did not answer within 1s; shown with '?'\n"), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
}

/// Formats, orders and colours all wait for the same thing, and show it in their own way.
#[test]
fn in_every_format() {
    let builder = files(300).entry("dir", Kind::Directory).hang("e00007").hang("dir");
    let Some(far) = builder.mount_or_skip() else { return };
    for options in [
        "-lU",
        "-lt",
        "-lS",
        "-1s",
        "-i",
        "-F",
        "-C --color=always",
        "-m --color=always",
        "-lR",
        "-lL",
        "-laZ",
    ] {
        let mut args: Vec<&str> = options.split(' ').collect();
        args.push("--timeout=300ms");
        let outcome = in_time(&dls(far.path(), &args));
        assert_eq!(outcome.end, End::Exit(1), "{options}: {}", said(&outcome));
        let text = String::from_utf8_lossy(&outcome.stdout);
        let missing: Vec<usize> = (0..300).filter(|n| !text.contains(&format!("e{n:05}"))).collect();
        assert!(missing.is_empty() && text.contains("dir"), "{options} without {missing:?}");
        assert!(said(&outcome).contains(" did not answer within 300ms"), "{options}: {}", said(&outcome));
    }
    let colored = in_time(&dls(far.path(), &["-1", "--color=always", "--timeout=300ms"]));
    let text = String::from_utf8_lossy(&colored.stdout).into_owned();
    assert!(text.contains("\x1b[01;34mdir\x1b[0m"), "by its type alone: {text}");
}

#[test]
fn what_is_known_before_the_hang_is_shown() {
    let builder = files(20).fault("e00003", Request::XATTR, Fault::Hang);
    let Some(far) = builder.mount_or_skip() else { return };
    let outcome = in_time(&dls(far.path(), &["-l", "--timeout=300ms"]));
    assert_eq!((outcome.end, lines(&outcome).len()), (End::Exit(1), 21));
    assert!(lines(&outcome).iter().all(|line| !line.contains("????")), "attributes hung, not the rest");
    assert!(said(&outcome).contains("1 of 20 entries"), "{}", said(&outcome));
}

#[test]
fn three_hundred_hang() {
    let mut builder = slow(1000);
    for n in (0..1000).step_by(3).take(300) {
        builder = builder.hang(format!("e{n:05}"));
    }
    let Some(far) = builder.mount_or_skip() else { return };
    let run = dls(far.path(), &["-l", "--timeout=1s", "--max-inflight=512"]);
    let outcome = in_time_and(&run, |outcome| unknown(outcome).len() == 300);
    assert_eq!((outcome.end, lines(&outcome).len()), (End::Exit(1), 1001));
    // With fewer in flight than are stuck, later ones are not reached, and reported as unknown.
    let outcome = in_time(&dls(far.path(), &["-l", "--timeout=1s", "--max-inflight=16"]));
    assert_eq!((outcome.end, lines(&outcome).len()), (End::Exit(1), 1001));
    assert!(far.peak_in_flight() >= 16);
}

#[test]
fn listing_itself_hangs() {
    let builder = files(20_000).fault_after(".", &[Request::Readdir], 2, Fault::HangHard);
    let Some(far) = builder.mount_or_skip() else { return };
    let outcome = in_time(&dls(far.path(), &["-l", "--timeout=500ms"]));
    let shown = lines(&outcome).len();
    assert!((10..20_000).contains(&shown), "{shown}");
    assert_eq!(outcome.end, End::Exit(1));
    assert!(said(&outcome).contains("dls: reading directory '"), "{}", said(&outcome));
    assert!(said(&outcome).contains(" did not answer within 500ms: only the first "), "{}", said(&outcome));
}

#[test]
fn operands_that_hang() {
    let builder = files(10).tree(1, 5).fault("dir0", &[Request::Opendir], Fault::HangHard).hang("e00001");
    let Some(far) = builder.mount_or_skip() else { return };
    let other = plain(&std::env::temp_dir(), 3).expect("fixture");
    let (hung, stuck) = (far.path().join("dir0"), far.path().join("e00001"));
    let run = |operands: &[&Path]| Run::new(checked().path()).args(["-l", "--timeout=400ms"]).args(operands);
    // A stuck operand gives status 2. The others are complete.
    for operands in [&[hung.as_path()][..], &[&stuck], &[&stuck, other.path()], &[&hung, other.path()]] {
        let outcome = in_time(&run(operands));
        assert_eq!(outcome.end, End::Exit(2), "{operands:?}: {}", said(&outcome));
        assert_eq!(said(&outcome).matches(" did not answer within 400ms\n").count(), 1, "{}", said(&outcome));
        let shown = lines(&outcome).iter().filter(|line| line.starts_with("-rw")).count();
        assert_eq!(shown, if operands.len() > 1 { 3 } else { 0 }, "{operands:?}");
    }
}

/// The directories beside a stuck one, and those below them, are listed; the contents of the stuck one are unknown.
#[test]
fn a_tree_with_a_hung_branch() {
    let builder = files(5).tree(40, 10).fault("dir1", &[Request::Opendir], Fault::HangHard);
    let Some(far) = builder.mount_or_skip() else { return };
    for options in ["-R", "-lR", "-lRL", "-R --color=always"] {
        let mut args: Vec<&str> = options.split(' ').collect();
        args.push("--timeout=1s");
        let outcome = in_time(&dls(far.path(), &args));
        let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
        // Forty have ten files each, except for the stuck one and the eight below it.
        assert_eq!(text.matches("file0").count(), 40 - 1 - 8, "{options}: {}", said(&outcome));
        assert_eq!(outcome.end, End::Exit(1), "{options}");
        assert!(said(&outcome).ends_with("/dir1' did not answer within 1s\n"), "{}", said(&outcome));
    }
}

/// A process that reads the output sees its end when dls ends, and so does one that waits for dls, though a thread is stuck.
#[test]
fn a_pipe_ends_at_once() {
    let builder = files(10).fault("e00003", Request::STAT, Fault::HangHard);
    let Some(far) = builder.mount_or_skip() else { return };
    let run = dls(far.path(), &["-l", "--timeout=300ms"]);
    let start = Instant::now();
    let mut child = run.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let watch = Watch::over(&child);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    child.stdout.take().expect("piped").read_to_end(&mut out).expect("it reads");
    child.stderr.take().expect("piped").read_to_end(&mut err).expect("it reads");
    let status = child.wait().expect("it ends");
    drop(watch);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!((status.code(), far.hung()), (Some(1), 1), "the question still hangs");
    assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 11);
}

#[test]
fn endless_directories_end() {
    let Some(far) = files(5).endless().mount_or_skip() else { return };
    for options in ["-1", "-U1"] {
        let outcome = in_time(&dls(far.path(), &[options, "--timeout=500ms"]));
        assert_eq!(outcome.end, End::Exit(1), "{options}: {}", said(&outcome));
        assert!(lines(&outcome).len() > 1000, "{options}");
    }
}

/// A deadline that does not pass changes nothing.
#[test]
fn the_same_as_without() {
    let places = Places::new();
    let mut cases = Vec::new();
    for place in places.all.iter().filter(|place| !place.live) {
        for options in [
            "",
            "-l",
            "-a",
            "-lR",
            "-R",
            "-U",
            "-lU",
            "-f",
            "-t",
            "-lS",
            "-i",
            "-s",
            "-ls",
            "-F",
            "-p",
            "-C",
            "-m",
            "-x",
            "-L",
            "-lL",
            "-H",
            "-lH",
            "-d",
            "-ld",
            "-lZ",
            "--color=always",
            "-l --color=always",
            "-R --color=always",
            "--hyperlink=always",
            "-l --hyperlink=always",
            "--zero",
            "-n",
            "--group-directories-first",
            "-B",
            "-lD",
            "-1L --color=always",
            "-sU",
            "-mU",
            "-lRL",
        ] {
            let mut case = Case::new(&place.cwd).options(options).env("DLS_TIMEOUT", "60s");
            case.operands = place.operands.clone();
            case.modes = &["auto"];
            cases.push(case.env("LC_ALL", "C.UTF-8"));
        }
    }
    let operands = [
        "missing",
        "size1",
        "tree",
        "link-dir",
        "link-dangling",
        "link-loop-a/x",
        "closed",
        ".",
        "names",
        "fifo",
    ];
    for options in ["", "-l", "-R", "-L", "-H", "-d", "--color=always", "--hyperlink=always", "-lU"] {
        let mut case = Case::new(places.zoo.path()).options(options).operands(operands);
        case = case.env("DLS_TIMEOUT", "60s");
        case.modes = MODES;
        cases.push(case);
    }
    expect_same(&oracle(), &checked(), &cases);
}

#[test]
fn large_directories_are_the_same() {
    let dir = plain(&std::env::temp_dir(), 30_000).expect("fixture");
    let cases: Vec<Case> = ["-l", "-U", "-lU", "-1", "-s", "--color=always", "-lR"]
        .iter()
        .map(|options| {
            let mut case = Case::new(dir.path()).options(options).env("DLS_TIMEOUT", "60s");
            case.modes = &["auto", "classic"];
            case
        })
        .collect();
    expect_same(&oracle(), &checked(), &cases);
}

#[test]
fn said_by_the_environment() {
    let Some(far) = files(10).hang("e00003").mount_or_skip() else { return };
    let by_environment = in_time(&dls(far.path(), &["-l"]).env("DLS_TIMEOUT", "300ms"));
    assert_eq!(by_environment.end, End::Exit(1));
    assert!(said(&by_environment).contains("within 300ms"), "{}", said(&by_environment));
    let option_wins = in_time(&dls(far.path(), &["-l", "--timeout=0.4"]).env("DLS_TIMEOUT", "20s"));
    assert!(said(&option_wins).contains("within 400ms"), "{}", said(&option_wins));
    let here = TempDir::new("deadline").expect("a directory");
    let plain = dls(here.path(), &["-l"]);
    let bad = plain.clone().env("DLS_TIMEOUT", "soon").output().expect("dls starts");
    let told = "dls: ignoring invalid time in environment variable DLS_TIMEOUT: 'soon' (must be a number of seconds, or \
                end in ms, s, m, h, d, w or y)\n";
    assert_eq!((bad.end, said(&bad).as_str()), (End::Exit(0), told));
    for none in ["", "0"] {
        let outcome = plain.clone().env("DLS_TIMEOUT", none).output().expect("dls starts");
        assert_eq!((outcome.end, said(&outcome).as_str()), (End::Exit(0), ""), "{none:?}");
    }
}

#[test]
fn bad_durations() {
    for value in ["", "x", "1x", "-1s", "1 month", "1.2.3"] {
        let run = Run::new(checked().path()).args([format!("--timeout={value}")]);
        let outcome = run.output().expect("dls starts");
        assert_eq!(outcome.end, End::Exit(2), "{value:?}");
        let told = format!(
            "dls: invalid timeout: '{value}' (must be a number of seconds, or end in ms, s, m, h, d, w or y)\n"
        );
        assert_eq!(said(&outcome), told);
    }
}

/// A server that comes back in the middle of it counts as before: later requests are answered.
#[test]
fn what_comes_back_in_time_is_complete() {
    let Some(far) = files(100).hang("e00003").mount_or_skip() else { return };
    let run = dls(far.path(), &["-l", "--timeout=20s"]);
    let child = run.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let watch = Watch::over(&child);
    assert!(far.wait_hung(1, Duration::from_secs(10)));
    far.release();
    let output = child.wait_with_output().expect("it ends");
    drop(watch);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 101);
}
