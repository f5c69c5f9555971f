//! A program on a terminal: its standard output is a pseudo-terminal, and the test reads what it writes there.
//!
//! The line discipline is raw, so that the bytes are the program's own (no `\r` before `\n`).

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::process::{Outcome, Run, Watch};

/// Columns of a terminal; it has 24 rows.
pub type Columns = u16;

/// Both ends of a pseudo-terminal.
#[derive(Debug)]
pub struct Terminal {
    /// Our end, from which the output is read.
    pub master: File,
    /// The program's end.
    pub slave: File,
}

impl Terminal {
    /// A new raw terminal of this width.
    pub fn open(columns: Columns) -> io::Result<Terminal> {
        let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let path = Path::new(OsStr::from_bytes(name.as_bytes())).to_path_buf();
        let noctty = rustix::fs::OFlags::NOCTTY.bits() as i32;
        let slave = File::options().read(true).write(true).custom_flags(noctty).open(path)?;
        let mut modes = tcgetattr(&slave)?;
        modes.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &modes)?;
        tcsetwinsize(&slave, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
        Ok(Terminal { master: File::from(master), slave })
    }

    /// Starts `run` with this terminal as its standard output, and with `setsid --ctty` as launcher of `run` (see
    /// [`controlling`]) as its controlling terminal. Returns our end.
    pub fn start(self, run: &Run, stderr: Stdio) -> io::Result<(Child, File)> {
        let mut command = run.command();
        command.stdin(self.slave.try_clone()?).stdout(self.slave).stderr(stderr);
        Ok((command.spawn()?, self.master))
    }
}

/// `run` as the leader of a session of its own, whose controlling terminal is its standard input. `argv[0]` is then
/// the path of the program.
pub fn controlling(run: Run) -> Run {
    run.under(&["setsid", "--ctty"])
}

/// Runs it to its end on a terminal of this width; standard error is a pipe, or with `merged` the terminal too.
pub fn output(run: &Run, columns: Columns, merged: bool) -> io::Result<Outcome> {
    let terminal = Terminal::open(columns)?;
    let stderr = if merged { Stdio::from(terminal.slave.try_clone()?) } else { Stdio::piped() };
    let (mut child, mut master) = terminal.start(run, stderr)?;
    let watch = Watch::over(&child);
    let pipe = child.stderr.take();
    let (stdout, stderr) = std::thread::scope(|scope| {
        let reader = scope.spawn(move || read_pipe(pipe));
        (drain(&mut master), reader.join().unwrap_or_default())
    });
    let status = child.wait()?;
    drop(watch);
    Ok(Outcome { end: status.into(), stdout: stdout?, stderr })
}

fn read_pipe(pipe: Option<std::process::ChildStderr>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // An error ends the output too; the missing rest then shows as a difference.
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

/// All output to a terminal, until its last writer has closed it; then a read returns EIO.
///
/// One read is not enough: the kernel checks for input first and for writers afterwards (`n_tty_read`), so output that
/// is written between the two checks is read only by the next call.
pub fn drain(master: &mut File) -> io::Result<Vec<u8>> {
    let (mut all, mut piece, mut gone) = (Vec::new(), [0; 16 << 10], false);
    loop {
        match master.read(&mut piece) {
            Ok(0) => return Ok(all),
            Ok(n) => {
                all.extend_from_slice(&piece[..n]);
                gone = false;
            }
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
                if gone {
                    return Ok(all);
                }
                gone = true;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
