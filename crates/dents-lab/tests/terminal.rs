//! Listings on a terminal, and the state in which a signal leaves it.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use dents_lab::case::{Case, Output};
use dents_lab::fixture::{TempDir, mix};
use dents_lab::palette;
use dents_lab::process::{End, Run, Watch};
use dents_lab::suite::{Places, checked, expect_same, oracle, release};
use dents_lab::terminal::{Terminal, controlling, drain};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// Columns, quoting, `?`, colour and classification by themselves; widths from the terminal, `-w` and COLUMNS.
#[test]
fn defaults_of_a_terminal() {
    let places = Places::new();
    let mut cases = Vec::new();
    for place in places.all.iter().filter(|place| !place.live) {
        for columns in [0, 1, 20, 80, 200] {
            for options in [
                "",
                "-l",
                "-C",
                "-x",
                "-m",
                "-1",
                "-F",
                "-q",
                "-N",
                "-b",
                "-Q",
                "--color=auto",
                "-l --color=auto",
                "--classify=auto",
                "--hyperlink=auto -d",
                "--show-control-chars",
                "-w40",
                "-w0",
                "--zero",
                "-s --color=tty",
            ] {
                let mut case = Case::new(&place.cwd).options(options).env("LC_ALL", "C.UTF-8");
                case.operands = place.operands.clone();
                case.output = Output::Terminal(columns);
                case.modes = &["auto"];
                cases.push(case.clone());
                cases.push(case.env("COLUMNS", "66").env("LS_COLORS", palette::EVERY_KEY));
            }
        }
    }
    expect_same(&oracle(), &checked(), &cases);
}

/// Messages come where they were written: between the listings that they interrupt.
#[test]
fn messages_among_the_output() {
    let places = Places::new();
    let mut cases = Vec::new();
    for output in [Output::OnePipe, Output::OneTerminal(80)] {
        for options in ["", "-l", "-R", "-L", "-lL", "--color=always", "-C", "-H"] {
            for operands in [
                &["missing", "size1"][..],
                &["tree", "missing", "dir-nlink", "size1/x"],
                &["link-dangling", "names"],
                &["closed", "tree", "link-loop-a/x"],
            ] {
                let mut case = Case::new(places.zoo.path()).options(options).operands(operands);
                case.output = output;
                cases.push(case);
            }
        }
    }
    expect_same(&oracle(), &checked(), &cases);
}

/// A listing with colours that the test does not read: it fills the terminal's buffer and waits.
struct Stuck {
    child: Child,
    master: File,
    _watch: Watch,
}

/// Where a listing's standard error is.
#[derive(Clone, Copy, Debug)]
enum Stderr {
    /// On the terminal: then a thread of `dls` draws a line of progress there.
    Terminal,
    Null,
}

impl Stuck {
    fn start(program: &Path, dir: &TempDir, args: &[&str], stderr: Stderr) -> Stuck {
        let run = Run::new(program).cwd(dir.path()).args(args).env("LS_COLORS", palette::EVERY_KEY);
        let terminal = Terminal::open(80).expect("a terminal");
        let stderr = match stderr {
            Stderr::Terminal => terminal.slave.try_clone().expect("a descriptor").into(),
            Stderr::Null => Stdio::null(),
        };
        let (child, mut master) = terminal.start(&controlling(run), stderr).expect("it starts");
        // The first bytes show that it runs; the next ones fill the buffer.
        let mut first = [0; 64];
        master.read_exact(&mut first).expect("some output");
        let watch = Watch::over(&child);
        let stuck = Stuck { child, master, _watch: watch };
        stuck.settle();
        stuck
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it is there");
    }

    /// The letter of its state in `/proc`: S asleep (in a write), T stopped, Z ended.
    fn state(&self) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("it is there");
        stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).expect("a state")
    }

    /// Waits until it sleeps in its write.
    fn settle(&self) {
        let start = Instant::now();
        let mut asleep = 0;
        while asleep < 5 && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
            asleep = if self.state() == 'S' { asleep + 1 } else { 0 };
        }
        assert_eq!(asleep, 5, "it never waited for its reader");
    }

    fn end(mut self) -> (End, Vec<u8>) {
        let rest = drain(&mut self.master).expect("the terminal reads");
        (self.child.wait().expect("it ends").into(), rest)
    }
}

/// Whether no colour is open at the end: the last sequence that sets one resets it, and is whole.
///
/// `rs=0` in the palette: a name is followed by ESC [ 0 m, a signal that came during a write by ESC [ m as well. A
/// signal that comes between two writes ends the program after a whole line, where nothing is left to reset.
fn restored(bytes: &[u8]) -> bool {
    let Some(last) = bytes.windows(2).rposition(|pair| pair == b"\x1b[") else { return true };
    let sequence = &bytes[last + 2..];
    sequence.starts_with(b"m")
        || sequence.starts_with(b"0m")
        || (sequence.starts_with(b"K") && restored(&bytes[..last]))
}

#[test]
fn what_is_restored() {
    assert!(restored(b"\x1b[0m\x1b[1mname\x1b[0m\n\x1b[m"));
    assert!(restored(b"\x1b[1mname\x1b[0m\n"), "between two lines");
    assert!(restored(b"\x1b[1mname\x1b[0m\x1b[K"));
    for open in [
        &b"\x1b[0m\x1b[4;32mna"[..],
        b"\x1b[1mname\x1b[0",
        b"\x1b[m\x1b[0;31m",
        b"\x1b[1mname\x1b[",
        b"\x1b[1mname\x1b[K",
    ] {
        assert!(!restored(open), "{}", open.escape_ascii());
    }
}

/// All signals that GNU `ls` 9.10 handles, except for SIGTSTP; before it, the first [`FORMERLY`].
const ENDING: [(&str, Signal); 22] = [
    ("ALRM", Signal::ALARM),
    ("HUP", Signal::HUP),
    ("INT", Signal::INT),
    ("IO", Signal::IO),
    ("PIPE", Signal::PIPE),
    ("PROF", Signal::PROF),
    ("QUIT", Signal::QUIT),
    ("TERM", Signal::TERM),
    ("VTALRM", Signal::VTALARM),
    ("XCPU", Signal::XCPU),
    ("XFSZ", Signal::XFSZ),
    ("ABRT", Signal::ABORT),
    ("BUS", Signal::BUS),
    ("FPE", Signal::FPE),
    ("ILL", Signal::ILL),
    ("PWR", Signal::POWER),
    ("SEGV", Signal::SEGV),
    ("STKFLT", Signal::STKFLT),
    ("SYS", Signal::SYS),
    ("TRAP", Signal::TRAP),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
];

/// How many of them GNU `ls` handles before 9.10.
const FORMERLY: usize = 11;

/// Sends each of the signals to a listing that waits in a write, and checks what the terminal then shows.
fn each_signal_restores(
    program: &Path,
    signals: &[(&str, Signal)],
    dir: &TempDir,
    args: &[&str],
    stderr: Stderr,
) {
    for (name, signal) in signals {
        let stuck = Stuck::start(program, dir, args, stderr);
        stuck.signal(*signal);
        let (end, rest) = stuck.end();
        let what = format!("{} SIG{name} {args:?} stderr {stderr:?}", program.display());
        let tail = rest[rest.len().saturating_sub(60)..].escape_ascii();
        assert_eq!(end, End::Signal(signal.as_raw()), "{what}");
        assert!(restored(&rest), "{what} ends with {tail}");
    }
}

#[test]
fn a_signal_leaves_the_colour_as_it_was_and_ends_the_program() {
    let dir = mix(&std::env::temp_dir(), 12_000).expect("fixture");
    for args in [&["--color=always", "-1"][..], &["--color=auto", "-l"]] {
        let handled = if oracle().version() < (9, 10) { FORMERLY } else { ENDING.len() };
        each_signal_restores(oracle().path(), &ENDING[..handled], &dir, args, Stderr::Null);
        for stderr in [Stderr::Terminal, Stderr::Null] {
            each_signal_restores(release().path(), &ENDING, &dir, args, stderr);
            each_signal_restores(checked().path(), &ENDING, &dir, args, stderr);
        }
    }
}

/// Also where other threads of the process could take the signal: those that read ahead, those that ask.
#[test]
fn a_signal_is_not_for_the_threads_that_help() {
    let dir = TempDir::new("ahead").expect("fixture");
    for n in 0..200 {
        let sub = dir.path().join(format!("sub{n:03}"));
        std::fs::create_dir(&sub).expect("fixture");
        (0..50).for_each(|n| std::fs::create_dir(sub.join(format!("directory{n}"))).expect("fixture"));
    }
    let subject = checked();
    for stderr in [Stderr::Terminal, Stderr::Null] {
        for args in [&["--color=always", "-R", "--threads=3"][..], &["--color=always", "-lR", "--mode=par"]] {
            each_signal_restores(subject.path(), &ENDING, &dir, args, stderr);
        }
    }
}

/// Without colours nothing must be reset: the signal ends the program at once.
#[test]
fn a_signal_without_colours_just_ends_the_program() {
    let dir = mix(&std::env::temp_dir(), 12_000).expect("fixture");
    for program in [oracle().path(), release().path()] {
        let stuck = Stuck::start(program, &dir, &["-1"], Stderr::Null);
        stuck.signal(Signal::INT);
        let (end, rest) = stuck.end();
        assert_eq!(end, End::Signal(2), "{}", program.display());
        assert!(!rest.contains(&0x1b), "{}", program.display());
    }
}

/// SIGTSTP resets the colour and stops; after SIGCONT the output continues where it was: nothing is lost or repeated.
#[test]
fn a_stop_and_a_continue_lose_nothing() {
    let dir = mix(&std::env::temp_dir(), 12_000).expect("fixture");
    let (gnu, ours) = (oracle(), release());
    let (gnu, ours) = (gnu.path(), ours.path());
    for (program, stderr) in [(gnu, Stderr::Null), (ours, Stderr::Null), (ours, Stderr::Terminal)] {
        let mut stuck = Stuck::start(program, &dir, &["--color=always", "-1"], stderr);
        stuck.signal(Signal::TSTP);
        let before = read_until_stopped(&mut stuck, &program.display().to_string());
        assert!(restored(&before), "{}: {}", program.display(), before[before.len() - 60..].escape_ascii());
        stuck.signal(Signal::CONT);
        let (end, after) = stuck.end();
        assert_eq!(end, End::Exit(0), "{}", program.display());
        let all = [before, after].concat();
        let lines = all.iter().filter(|&&byte| byte == b'\n').count();
        // Of eight entries one is hidden; the first 64 bytes were read before.
        assert!((10_490..=10_500).contains(&lines), "{}: {lines} lines", program.display());
    }
}

/// Reads until the program has stopped, and then the bytes that are still in the terminal.
fn read_until_stopped(stuck: &mut Stuck, program: &str) -> Vec<u8> {
    /// The kernel delivers written bytes a little later: for this time nothing must come.
    const QUIET: u32 = 100;
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    let (mut stopped, mut quiet) = (false, 0);
    while !stopped || quiet < QUIET {
        if !stopped {
            let changed = waitpid(Some(stuck.pid()), WaitOptions::UNTRACED | WaitOptions::NOHANG);
            if let Some((_, status)) = changed.expect("a child") {
                assert!(status.stopped(), "{program} ended instead: {status:?}");
                stopped = true;
            }
        }
        // A read would block: a stopped program writes nothing.
        if rustix::io::ioctl_fionread(&stuck.master).expect("a terminal") > 0 {
            let n = stuck.master.read(&mut piece).expect("the terminal reads");
            bytes.extend_from_slice(&piece[..n]);
            quiet = 0;
        } else {
            std::thread::sleep(Duration::from_millis(1));
            quiet += 1;
        }
    }
    bytes
}

/// Programs that the listing runs do not block the signals that it blocks for its terminal.
#[test]
fn children_block_no_signal() {
    let dir = TempDir::new("git").expect("fixture");
    std::fs::create_dir_all(dir.path().join(".git/refs")).expect("fixture");
    std::fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").expect("fixture");
    File::create(dir.path().join("file")).expect("fixture");
    let (bin, said) = (TempDir::new("bin").expect("fixture"), dir.path().join("said"));
    // Without starting anything: some shells unblock all signals for that.
    let look = "while read -r name set; do if [ \"$name\" = SigBlk: ]; then echo \"$set\"; fi; done";
    let script = format!("#!/bin/sh\n{look} < /proc/self/status > {}\n", said.display());
    let git = bin.path().join("git");
    std::fs::write(&git, script).expect("fixture");
    std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("fixture");
    let run = Run::new(checked().path()).cwd(dir.path()).args(["-l", "--git=10s", "--color=always"]);
    let run = run.env("PATH", format!("{}:/usr/bin:/bin", bin.path().display()));
    let shown = dents_lab::terminal::output(&run, 80, true).expect("it starts");
    let said = std::fs::read_to_string(&said).unwrap_or_else(|_| panic!("git was not started: {shown:?}"));
    assert_eq!(said, "0000000000000000\n");
}
