//! The system calls of a command, counted by `strace`.
//!
//! Every call of the process and its threads is counted once, including the `execve` that starts it and the
//! `exit_group` that ends it: a count is the cost of the whole run. With `inject` faults, the same tool refuses
//! selected calls: tests refuse io_uring, threads or directories without a change to the machine.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use crate::fixture::TempDir;
use crate::process::{Outcome, Run};

/// The system calls of one run, in the order in which they were entered.
#[derive(Debug)]
pub struct Trace {
    /// How the run ended, and its output.
    pub outcome: Outcome,
    calls: Vec<Call>,
}

/// One system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The kernel's name for it.
    pub name: String,
    /// `strace`'s rendering of its arguments and result; cut short where another thread interrupted.
    pub text: String,
}

impl Trace {
    /// The number of system calls.
    pub fn total(&self) -> usize {
        self.calls.len()
    }

    /// How many calls had this name.
    pub fn count(&self, name: &str) -> usize {
        self.calls.iter().filter(|call| call.name == name).count()
    }

    /// The number of calls of each name.
    pub fn by_name(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for call in &self.calls {
            *counts.entry(call.name.as_str()).or_default() += 1;
        }
        counts
    }

    /// The calls in the order in which they were entered.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }
}

/// Runs a command under `strace -f` and collects its calls.
pub fn trace(run: &Run) -> io::Result<Trace> {
    trace_with(run, &[])
}

/// The same with faults injected, each in `strace`'s words: `io_uring_setup:error=EPERM`.
pub fn trace_with(run: &Run, faults: &[&str]) -> io::Result<Trace> {
    let dir = TempDir::new("strace")?;
    let log = dir.path().join("log");
    let mut launcher = vec!["strace".to_string(), "-f".into(), "-qq".into(), "-s32".into()];
    launcher.extend(["-e".into(), "signal=none".into(), "-o".into(), log.display().to_string()]);
    for fault in faults {
        launcher.extend(["-e".to_string(), format!("inject={fault}")]);
    }
    let outcome = run.clone().under(&launcher).output()?;
    // If strace refuses its own options, it prints a message and starts nothing.
    let said = |_| io::Error::other(String::from_utf8_lossy(&outcome.stderr).trim().to_string());
    let text = fs::read(&log).map_err(said)?;
    Ok(Trace { outcome, calls: parse(&String::from_utf8_lossy(&text)) })
}

/// Lines are `PID name(arguments) = result`; `-f` writes the PID only once there is a second thread.
/// A call that another thread interrupts is entered on one line and resumed on another.
fn parse(log: &str) -> Vec<Call> {
    log.lines().filter_map(call).collect()
}

fn call(line: &str) -> Option<Call> {
    let text = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let (name, _) = text.split_once('(')?;
    let valid = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    valid.then(|| Call { name: named(name).to_string(), text: text.to_string() })
}

/// The kernel's name for calls that are younger than the `strace` of Debian 12, which writes their number.
fn named(name: &str) -> &str {
    match name {
        "syscall_0x1c9" => "statmount",
        "syscall_0x1cf" => "setxattrat",
        "syscall_0x1d0" => "getxattrat",
        "syscall_0x1d1" => "listxattrat",
        "syscall_0x1d2" => "removexattrat",
        "syscall_0x1d4" => "file_getattr",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_call_counts_once() {
        let log = "12 execve(\"/x\", [\"x\"], 0x7) = 0\n\
                   12 futex(0x1, FUTEX_WAIT <unfinished ...>\n\
                   13 syscall_0x1d1(0x3, 0x7) = 0\n\
                   13 statx(3, \"a(b\", 0, 0) = 0\n\
                   12 <... futex resumed>) = 0\n\
                   13 +++ exited with 0 +++\n\
                   exit_group(0) = ?\n";
        let names: Vec<String> = parse(log).into_iter().map(|call| call.name).collect();
        assert_eq!(names, ["execve", "futex", "listxattrat", "statx", "exit_group"]);
    }
}
