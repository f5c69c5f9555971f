//! A listing that takes long, on a terminal: the line of progress is removed at the end, and an interrupt reports how far the
//! listing came.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use dents_lab::fixture::mix;
use dents_lab::process::{Run, cpu_time};
use dents_lab::shown::{ERASE, Shown};
use dents_lab::slowfs::{Builder, Fault, Kind, Request, SlowFs};
use dents_lab::suite::checked;
use rustix::process::{Pid, Signal};

const PATIENCE: Duration = Duration::from_secs(20);

fn files(count: usize) -> Builder {
    SlowFs::builder().entries(count, &[Kind::File])
}

/// Far enough away that each answer is a round trip, so that no entry waits behind a stuck one.
fn far_files(count: usize) -> Builder {
    files(count).latency(Duration::from_millis(1))
}

/// Without the hint after a slow listing, which `hints.rs` tests.
fn long(path: &Path) -> Run {
    Run::new(checked().path()).args(["-l", "--color=always", "--no-hints"]).args([path])
}

#[test]
fn the_line_comes_after_a_second_and_goes_without_trace() {
    let Some(far) = far_files(1000).hang("e00321").mount_or_skip() else { return };
    let start = Instant::now();
    let mut shown = Shown::start(&long(far.path()), None);
    shown.until("999 of 1,000 answered");
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    // All other lines are ready, and the line of progress names the missing entry.
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

/// While colours are being written an interrupt waits for the end of the line, though another thread could take it.
#[test]
fn an_interrupt_while_writing_leaves_no_colour() {
    let dir = mix(&std::env::temp_dir(), 12_000).expect("fixture");
    for options in ["-1", "-l"] {
        let run = Run::new(checked().path()).args([options, "--color=always"]).args([dir.path()]);
        let mut shown = Shown::start(&run, None);
        // The test stops reading: the listing fills the buffer of the terminal, and waits.
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

/// With every strategy, and with the agent, the line names the file that is waited for.
#[test]
fn whoever_asks_is_seen() {
    for options in ["--mode=iou", "--mode=par", "--timeout=60s", "--timeout=60s -1U -F", "-U"] {
        let Some(far) = far_files(1000).hang("e00321").mount_or_skip() else { return };
        let mut shown = Shown::start(&long(far.path()).args(options.split(' ')), None);
        shown.until("s for 'e00321'");
        shown.until("999 of 1,000 answered");
        far.release();
        let (_, status, text) = shown.end();
        assert_eq!((status, text.matches("e00").count() >= 1000), (Some(0), true), "{options}: {text:?}");
    }
}

/// Whatever ends a waiting listing, the line is erased first.
#[test]
fn no_signal_leaves_the_line() {
    let Some(far) = far_files(1000).mount_or_skip() else { return };
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        far.clear_faults();
        far.fault("e00321", Request::STAT, Fault::Hang).expect("it is there");
        // QUIT would leave a core.
        let run = long(far.path()).under(&["sh", "-c", "ulimit -c 0; exec \"$@\"", "sh"]);
        let mut shown = Shown::start(&run, None);
        shown.until("999 of 1,000 answered");
        shown.signal(signal);
        let (by, _, text) = shown.end();
        assert_eq!(by, Some(signal.as_raw()));
        let left = text.rsplit(ERASE).next().expect("some text");
        assert!(text.contains(ERASE) && !left.contains("in flight"), "{signal:?}: {left:?}");
        far.release();
    }
}

/// Ctrl-Z takes the line off, and it comes back with the listing.
#[test]
fn a_stop_takes_the_line_off() {
    let Some(far) = far_files(1000).hang("e00321").mount_or_skip() else { return };
    let run = long(far.path()).under(&["setsid"]);
    let mut shown = Shown::start(&run, None);
    shown.until("999 of 1,000 answered");
    // In an orphaned process group the signal stops nothing, but everything else happens.
    shown.signal(Signal::TSTP);
    shown.until(ERASE);
    shown.signal(Signal::CONT);
    far.release();
    let (_, status, text) = shown.end();
    assert_eq!((status, text.matches("e00").count() >= 1000), (Some(0), true), "{text:?}");
}

/// A message is no continuation of the line.
#[test]
fn a_message_takes_the_line_off() {
    let Some(far) = files(10).hang("e00003").mount_or_skip() else { return };
    let run = Run::new(checked().path()).args(["-d", "e00001", "missing", "e00003"]).cwd(far.path());
    let mut shown = Shown::start(&run, None);
    shown.until(" in flight");
    far.release();
    let (_, status, text) = shown.end();
    let (before, after) = text.split_once(": cannot access 'missing': ").expect("a message");
    let begun = before.rsplit(ERASE).next().expect("some text");
    assert!(before.contains(ERASE) && !begun.contains("in flight"), "{text:?}");
    assert!(
        status == Some(2)
            && after.split_whitespace().eq(["No", "such", "file", "or", "directory", "e00001", "e00003"])
    );
}

/// A stopped terminal (Ctrl-S) is waited for asleep, also where the line was being drawn.
#[test]
fn a_stopped_terminal_costs_no_time() {
    let Some(far) = far_files(2000).mount_or_skip() else { return };
    for options in ["-l", "-l --color=always --mode=par", "-lR", "-l --timeout=60s", "--tree -l"] {
        far.clear_faults();
        far.fault("e00321", Request::STAT, Fault::Hang).expect("it is there");
        let run = Run::new(checked().path()).args(options.split(' ')).args([far.path()]);
        let mut shown = Shown::start(&run, None);
        shown.until(" in flight");
        shown.stop_terminal(true);
        // In this time the line would be drawn several times.
        std::thread::sleep(Duration::from_millis(700));
        far.release();
        std::thread::sleep(Duration::from_millis(500));
        let before = cpu_time(shown.pid());
        std::thread::sleep(Duration::from_secs(2));
        let spent = cpu_time(shown.pid()) - before;
        shown.stop_terminal(false);
        let (_, status, text) = shown.end();
        assert_eq!((status, text.matches("e0").count() >= 2000), (Some(0), true), "{options}: {text:?}");
        assert!(spent < Duration::from_millis(400), "{options}: {spent:?} in two seconds of waiting");
    }
}

/// The terminal is stopped, and the listing shall end.
#[test]
fn a_signal_ends_it_on_a_stopped_terminal() {
    let Some(far) = far_files(1000).mount_or_skip() else { return };
    for signal in [Signal::INT, Signal::TERM] {
        far.clear_faults();
        far.fault("e00321", Request::STAT, Fault::Hang).expect("it is there");
        let mut shown = Shown::start(&long(far.path()), None);
        shown.until("999 of 1,000 answered");
        shown.stop_terminal(true);
        std::thread::sleep(Duration::from_millis(500));
        let (start, pid) = (Instant::now(), shown.pid());
        shown.signal(signal);
        while !has_ended(pid) {
            assert!(start.elapsed() < PATIENCE, "{signal:?} does not end it");
            std::thread::sleep(Duration::from_millis(5));
        }
        shown.stop_terminal(false);
        assert_eq!(shown.end().0, Some(signal.as_raw()));
        far.release();
    }
}

fn has_ended(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.map_or(true, |stat| stat.contains(") Z "))
}

/// Walks over trees show their progress.
#[test]
fn a_tree_is_told_of_while_it_is_read() {
    let Some(far) = far_files(1000).hang("e00321").mount_or_skip() else { return };
    for options in ["--tree -l", "--tree", "--tree -lL", "-ld --total-size=60s"] {
        far.clear_faults();
        far.fault("e00321", Request::STAT, Fault::Hang).expect("it is there");
        if options == "--tree" {
            far.fault(".", &[Request::Readdir], Fault::Hang).expect("it is there");
        }
        let run = Run::new(checked().path()).args(options.split(' ')).args([far.path()]);
        let mut shown = Shown::start(&run, None);
        shown.until(if options == "--tree" { "1 in flight" } else { "1 in flight, 1s for 'e00321'" });
        let line =
            shown.text().rsplit('\r').find(|line| line.contains(" answered, ")).expect("a line").to_string();
        let numbers: Vec<u64> =
            line.replace(',', "").split(' ').filter_map(|word| word.parse().ok()).collect();
        if options != "--tree" {
            assert!(numbers[0] > 300 && numbers[1] > 300, "{options}: {line:?}");
        }
        far.release();
        let (_, status, text) = shown.end();
        assert_eq!(status, Some(0), "{options}: {text:?}");
    }
}

/// The last colour that was put on has been taken off.
fn ends_without_colour(text: &str) -> bool {
    let last = text.rsplit("\x1b[").map(|rest| rest.split_once('m').map_or(rest, |(code, _)| code));
    // The sequence that removes the line is no colour.
    let mut colours = last.filter(|code| code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'));
    colours.next().is_none_or(|code| matches!(code, "" | "0"))
}

/// An interrupt after some seconds: the known entries have been shown where that is possible; otherwise a message says
/// how far the listing came. The terminal shows nothing else.
#[test]
fn an_interrupt_in_every_format() {
    // Shown piece by piece are 64 KiB of names.
    let kinds = [Kind::File, Kind::Executable, Kind::Directory];
    let builder = SlowFs::builder().entries(6000, &kinds).latency(Duration::from_micros(200));
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
        "-l --timeout=60s --color=always",
        "-l --mode=iou --color=always",
        "-l --mode=par",
        "-l --mode=classic --color=always",
    ] {
        far.clear_faults();
        far.fault("e05433", Request::STAT, Fault::Hang).expect("it is there");
        let run = Run::new(checked().path()).args(options.split(' ')).args([far.path()]);
        let mut shown = Shown::start(&run, None);
        shown.until("s for 'e05433'");
        shown.interrupt();
        let (signal, _, text) = shown.end();
        assert_eq!(signal, Some(2), "{options}");
        let left = text.rsplit(ERASE).next().expect("some text");
        let name = checked().path().file_name().expect("a program").to_string_lossy().into_owned();
        let (before, told) = left.rsplit_once(&format!("{name}: interrupted after ")).expect("it says");
        assert!(before.is_empty() || before.ends_with('\n'), "{options}: {left:?}");
        assert!(told.ends_with(" entries answered\n"), "{options}: {left:?}");
        assert!(ends_without_colour(&text), "{options}: {text:?}");
        // A streamed listing has shown the entries before; other formats can show nothing yet.
        assert_eq!(text.contains("e00100"), options.contains("1U"), "{options}: {text:?}");
    }
}

/// A directory that never ends, until an interrupt ends the listing.
#[test]
fn an_endless_directory_can_be_interrupted() {
    let Some(far) = files(5).endless().mount_or_skip() else { return };
    // What to wait for. The progress line quotes the name of the request that it waits for: that is no output.
    let listings = [
        ("-1", " in flight"),
        ("-1U", "\nendless-50"),
        ("-mU", ", endless-50"),
        ("-l", " in flight"),
        ("-1U -F", "\nendless-50"),
        ("-l --mode=classic", " in flight"),
        ("-l --mode=par", " in flight"),
        ("-1 --mode=iou", " in flight"),
    ];
    for (options, awaited) in listings {
        let run = Run::new(checked().path()).args(options.split(' ')).args([far.path()]);
        let mut shown = Shown::start(&run, None);
        shown.until(awaited);
        shown.interrupt();
        let (signal, _, text) = shown.end();
        assert_eq!(signal, Some(2), "{options}");
        let listed = text.replace("'endless-", "");
        assert_eq!(listed.contains("endless-1"), options.contains('U'), "{options}: {listed:.300?}");
    }
}
