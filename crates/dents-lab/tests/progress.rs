//! A listing that takes long, on a terminal: what is told meanwhile is gone in the end, and an interrupt says how far
//! it came.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use dents_lab::fixture::mix;
use dents_lab::process::Run;
use dents_lab::shown::{ERASE, Shown};
use dents_lab::slowfs::{Builder, Fault, Kind, Request, SlowFs};
use dents_lab::suite::checked;

const PATIENCE: Duration = Duration::from_secs(20);

fn files(count: usize) -> Builder {
    SlowFs::builder().entries(count, &[Kind::File])
}

/// Far enough away that each answer is a round trip, so that nobody waits behind one that hangs.
fn far_files(count: usize) -> Builder {
    files(count).latency(Duration::from_millis(1))
}

fn long(path: &Path) -> Run {
    Run::new(checked().path()).args(["-l", "--color=always"]).args([path])
}

#[test]
fn the_line_comes_after_a_second_and_goes_without_trace() {
    let Some(far) = far_files(1000).hang("e00321").mount_or_skip() else { return };
    let start = Instant::now();
    let mut shown = Shown::start(&long(far.path()), None);
    shown.until("999 of 1,000 answered");
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    // Every other line is ready, and it is said which one is not.
    shown.until("s for 'e00321'");
    far.release();
    let (_, status, text) = shown.end();
    let (before, listing) = text.rsplit_once(ERASE).expect("it is taken off");
    assert_eq!((status, listing.lines().count()), (Some(0), 1001), "{text:?}");
    assert!(listing.starts_with("total ") && !before.contains("e00000"), "{before:?}");
    assert!(before.split('\r').all(|line| line.len() < 80 + "\x1b[K".len()), "{before:?}");
}

#[test]
fn a_short_listing_says_nothing() {
    let Some(far) = files(10).mount_or_skip() else { return };
    let (_, status, text) = Shown::start(&long(far.path()), None).end();
    assert_eq!((status, text.lines().count()), (Some(0), 11));
    assert!(!text.contains('\r') && !text.contains(ERASE), "{text:?}");
}

#[test]
fn opening_may_be_what_is_waited_for() {
    let builder = files(3).fault(".", &[Request::Opendir], Fault::Hang);
    let Some(far) = builder.mount_or_skip() else { return };
    let mut shown = Shown::start(&long(far.path()), None);
    shown.until(&format!("s for '{}", far.path().display()));
    far.release();
    let (_, status, text) = shown.end();
    assert_eq!(status, Some(0), "{text:?}");
}

/// A pipe's reader may be drawing on the terminal itself. A file's does not.
#[test]
fn quiet_beside_a_pipe_and_not_beside_a_file() {
    let Some(far) = files(10).hang("e00003").mount_or_skip() else { return };
    let shown = Shown::start(&long(far.path()), Some(Stdio::piped()));
    assert!(far.wait_hung(1, PATIENCE));
    std::thread::sleep(Duration::from_millis(1500));
    far.release();
    let (_, status, text) = shown.end();
    assert_eq!((status, text.as_str()), (Some(0), ""));
    far.clear_faults();
    far.fault("e00003", Request::STAT, Fault::Hang).expect("it is there");
    let null = File::options().write(true).open("/dev/null").expect("it opens");
    let mut shown = Shown::start(&long(far.path()), Some(null.into()));
    shown.until("9 of 10 answered");
    far.release();
    let (_, status, text) = shown.end();
    assert!(status == Some(0) && text.ends_with(ERASE), "{text:?}");
}

#[test]
fn an_interrupt_says_how_far_it_came() {
    let Some(far) = far_files(1000).hang("e00321").mount_or_skip() else { return };
    let mut shown = Shown::start(&long(far.path()), None);
    shown.until("999 of 1,000 answered");
    shown.interrupt();
    let (signal, _, text) = shown.end();
    assert_eq!(signal, Some(2), "by the signal, as shells expect it");
    let last = text.rsplit(ERASE).next().expect("some text");
    let told = last.trim_end().rsplit_once(": interrupted after ").map(|(_, told)| told);
    assert!(told.is_some_and(|told| told.ends_with("s: 1,000 names read, 999 entries answered")), "{last:?}");
}

#[test]
fn an_early_interrupt_says_nothing() {
    let Some(far) = files(10).hang("e00003").mount_or_skip() else { return };
    let shown = Shown::start(&long(far.path()), None);
    assert!(far.wait_hung(1, PATIENCE));
    shown.interrupt();
    let (signal, _, text) = shown.end();
    assert_eq!((signal, text.as_str()), (Some(2), ""));
}

/// Where interrupts are ignored, they still are.
#[test]
fn an_ignored_interrupt_is_nothing() {
    let Some(far) = files(10).hang("e00003").mount_or_skip() else { return };
    let mut shown = Shown::start(&long(far.path()).under(&["env", "--ignore-signal=INT"]), None);
    shown.until("9 of 10 answered");
    shown.interrupt();
    shown.until("s for 'e00003'");
    far.release();
    let (signal, status, text) = shown.end();
    assert_eq!((signal, status), (None, Some(0)), "{text:?}");
    assert!(!text.contains("interrupted"), "{text:?}");
}

/// While colours are being written an interrupt waits for the end of the line, though somebody else could take it.
#[test]
fn an_interrupt_while_writing_leaves_no_colour() {
    let dir = mix(&std::env::temp_dir(), 12_000).expect("fixture");
    for options in ["-1", "-l"] {
        let run = Run::new(checked().path()).args([options, "--color=always"]).args([dir.path()]);
        let mut shown = Shown::start(&run, None);
        // Nobody reads on: it fills the terminal's buffer, and stops there.
        shown.until("\x1b[");
        std::thread::sleep(Duration::from_millis(300));
        shown.interrupt();
        let (signal, _, text) = shown.end();
        assert_eq!(signal, Some(2));
        let (line, tail) = text.rsplit_once('\n').expect("lines");
        assert!(tail.is_empty() || tail.ends_with('m'), "{:?}", &text[text.len() - 60..]);
        assert!(line.matches("\x1b[0m").count() > 10 && !text.contains("interrupted"));
    }
}

/// Every strategy, and the process that asks where there is a deadline, says what it is waiting for.
#[test]
fn whoever_asks_is_seen() {
    for options in ["--mode=iou", "--mode=par", "--timeout=60s", "--timeout=60s -U", "-U"] {
        let Some(far) = far_files(1000).hang("e00321").mount_or_skip() else { return };
        let mut shown = Shown::start(&long(far.path()).args(options.split(' ')), None);
        shown.until("s for 'e00321'");
        // Of a ring all questions are asked, and those for attributes come after.
        if !options.contains("-U") {
            shown.until("999 of 1,000 answered");
        }
        far.release();
        let (_, status, text) = shown.end();
        assert_eq!((status, text.matches("-rw-r--r--").count()), (Some(0), 1000), "{options}: {text:?}");
    }
}

/// The last colour that was put on has been taken off.
fn ends_without_colour(text: &str) -> bool {
    let last = text.rsplit("\x1b[").map(|rest| rest.split_once('m').map_or(rest, |(code, _)| code));
    // What takes a line off is no colour.
    let mut colours = last.filter(|code| code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'));
    colours.next().is_none_or(|code| matches!(code, "" | "0"))
}

/// An interrupt after some seconds: what is known has been shown where that can be, or it is said how far it came;
/// nothing else is left on the terminal.
#[test]
fn an_interrupt_in_every_format() {
    let builder = SlowFs::builder().entries(1000, &[Kind::File, Kind::Executable, Kind::Directory]);
    let builder = builder.latency(Duration::from_millis(1)).entry("last", Kind::Directory).hang("e00321");
    let Some(far) = builder.mount_or_skip() else { return };
    for options in [
        "-l",
        "-1 --color=always",
        "-C -F --color=always",
        "-x --color=always -s",
        "-m --color=always -F",
        "-lR --color=always",
        "-R -F",
        "-lU",
        "-1U -F --color=always",
        "-mU -F --color=always",
        "-l --timeout=60s --color=always",
        "-l --mode=iou --color=always",
        "-l --mode=par",
        "-l --mode=classic --color=always",
    ] {
        far.clear_faults();
        far.fault("e00321", Request::STAT, Fault::Hang).expect("it is there");
        let run = Run::new(checked().path()).args(options.split(' ')).args([far.path()]);
        let mut shown = Shown::start(&run, None);
        // In the middle of a line of stdout there is none of ours.
        match options.starts_with("-mU") {
            true => {
                assert!(far.wait_hung(1, PATIENCE));
                std::thread::sleep(Duration::from_millis(1500));
            }
            false => shown.until("s for 'e00321'"),
        }
        shown.interrupt();
        let (signal, _, text) = shown.end();
        assert_eq!(signal, Some(2), "{options}");
        let left = text.rsplit(ERASE).next().expect("some text");
        let name = checked().path().file_name().expect("a program").to_string_lossy().into_owned();
        let (before, told) = left.rsplit_once(&format!("{name}: interrupted after ")).expect("it says");
        assert!(before.is_empty() || before.ends_with('\n'), "{options}: {left:?}");
        assert!(told.ends_with(" entries answered\n"), "{options}: {left:?}");
        assert!(ends_without_colour(&text), "{options}: {text:?}");
        // Piece by piece what came before is there; otherwise nothing can be shown yet.
        assert_eq!(text.contains("e00100"), options.contains('U'), "{options}: {text:?}");
    }
}

/// A directory that never ends, until somebody ends it.
#[test]
fn an_endless_directory_can_be_interrupted() {
    let Some(far) = files(5).endless().mount_or_skip() else { return };
    for options in ["-1", "-1U", "-l", "-lU", "-l --mode=classic", "-l --mode=par", "-1 --mode=iou"] {
        let run = Run::new(checked().path()).args(options.split(' ')).args([far.path()]);
        let mut shown = Shown::start(&run, None);
        match options.contains('U') {
            true => shown.until("endless-50"),
            false => shown.until(if options.contains("-l") { " answered" } else { "names read" }),
        }
        shown.interrupt();
        let (signal, _, text) = shown.end();
        assert_eq!(signal, Some(2), "{options}");
        assert!(text.contains("endless-1") == options.contains('U'), "{options}: {}", text.len());
    }
}
