//! A running listing whose standard error is a terminal: its output so far, and the effect of an interrupt.
//!
//! Meant for tests: if the expected output does not come, the panic shows the actual one.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::ptsname;
use rustix::termios::{Action, tcflow};

use crate::process::{Run, Watch};
use crate::terminal::{Terminal, drain};

/// How long something is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
/// The sequence that removes the line of progress.
pub const ERASE: &str = "\r\x1b[K";

/// The listing, and its output so far.
#[derive(Debug)]
pub struct Shown {
    child: Child,
    master: File,
    text: String,
    _watch: Watch,
}

impl Shown {
    /// Starts it. Standard output is the same terminal, unless `stdout` is given.
    pub fn start(run: &Run, stdout: Option<Stdio>) -> Shown {
        let Terminal { master, slave } = Terminal::open(80).expect("a terminal");
        let stdout = stdout.unwrap_or_else(|| slave.try_clone().expect("a descriptor").into());
        let child = run.command().stdout(stdout).stderr(slave).spawn().expect("dls starts");
        let watch = Watch::over(&child);
        Shown { child, master, text: String::new(), _watch: watch }
    }

    /// Reads until the output contains `wanted`. A read of the master could block, so each is preceded by a check.
    pub fn until(&mut self, wanted: &str) {
        let start = Instant::now();
        let mut piece = [0; 4096];
        while !self.text.contains(wanted) {
            assert!(start.elapsed() < PATIENCE, "no {wanted:?} in {:?}", self.text);
            if rustix::io::ioctl_fionread(&self.master).expect("a terminal") == 0 {
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            let n = self.master.read(&mut piece).expect("the terminal reads");
            self.text.push_str(&String::from_utf8_lossy(&piece[..n]));
        }
    }

    /// As the keyboard does.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it is there");
    }

    /// Its number.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Stops the terminal's output, as Ctrl-S does, or lets it go on.
    pub fn stop_terminal(&self, stop: bool) {
        let name = ptsname(&self.master, Vec::new()).expect("a terminal");
        let noctty = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(&name, noctty, Mode::empty()).expect("its other end");
        tcflow(&slave, if stop { Action::OOff } else { Action::OOn }).expect("a terminal");
    }

    /// The output so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The signal or status it ends with, and all that was shown.
    pub fn end(mut self) -> (Option<i32>, Option<i32>, String) {
        let rest = drain(&mut self.master).expect("the terminal reads");
        let status = self.child.wait().expect("it ends");
        self.text.push_str(&String::from_utf8_lossy(&rest));
        (status.signal(), status.code(), self.text)
    }
}
