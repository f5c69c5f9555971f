//! A command's memory: its peak, beside how much of its output had been read by then, and its page faults.

use std::io::{self, Read};
use std::process::Stdio;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::process::Run;

/// Measurements of a run.
#[derive(Debug)]
pub struct Peak {
    /// The highest resident set the kernel recorded (`VmHWM`), in KiB, when the process was last alive.
    pub resident_kib: u64,
    /// Bytes of standard output in all.
    pub output: u64,
}

/// Runs a command that writes at least 128 KiB and reports its peak resident set.
///
/// `getrusage` would answer with the parent's peak where that is larger, since a child starts as a copy of
/// it; so `/proc/PID/status` is asked again after every 16 KiB read. The last answer comes while less than a
/// pipe's capacity is unread, when the command has done all its work but for the last write.
pub fn peak(run: &Run) -> io::Result<Peak> {
    let mut child = run.command().stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut pipe = child.stdout.take().expect("stdout was piped above");
    let mut buffer = vec![0; 16 << 10];
    let mut peak = Peak { resident_kib: 0, output: 0 };
    loop {
        // Asked before the read: a reader that drains the pipe lets the process end.
        if let Some(kib) = resident_kib(&status) {
            peak.resident_kib = peak.resident_kib.max(kib);
        }
        let n = pipe.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        peak.output += n as u64;
    }
    child.wait()?;
    match peak.output >= 128 << 10 && peak.resident_kib > 0 {
        true => Ok(peak),
        false => Err(io::Error::other(format!("too little output ({} bytes) to hold it by", peak.output))),
    }
}

/// `None` once the process has ended: its memory is gone from the file.
fn resident_kib(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Runs a command, its output thrown away, and counts the page faults that needed no disk (`min_flt` in
/// `/proc/PID/stat`), from `fork` to its end.
///
/// The file is read after the end and before the process is reaped: `ru_minflt` of `getrusage` would be the sum over all
/// children of this process, those of other tests among them.
pub fn faults(run: &Run) -> io::Result<u64> {
    let mut command = run.command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let pid = Pid::from_raw(child.id() as i32).expect("a process has a number");
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id()));
    child.wait()?;
    let stat = stat?;
    // Field 10. Field 2, the name, is in parentheses and may contain any character.
    let field = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(10 - 3)?.parse().ok());
    field.ok_or_else(|| io::Error::other(format!("/proc/PID/stat: {stat}")))
}
