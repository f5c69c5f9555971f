//! A program on a terminal of its own, and its output there.

use std::fs::File;
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};

use nix::errno::Errno;
use nix::pty::{OpenptyResult, Winsize, openpty};

/// Starts `command` with its input and output on a terminal of this size. Returns the other end of the terminal too.
pub(crate) fn start(mut command: Command, rows: u16, columns: u16) -> io::Result<(Child, File)> {
    let pty = open(rows, columns)?;
    command.stdin(pty.slave.try_clone()?).stderr(pty.slave.try_clone()?).stdout(pty.slave);
    Ok((command.spawn()?, File::from(pty.master)))
}

fn open(rows: u16, columns: u16) -> nix::Result<OpenptyResult> {
    openpty(Some(&Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }), None)
}

/// Runs `command` to its end, with both streams on a terminal of this size.
pub(crate) fn run(mut command: Command, rows: u16, columns: u16) -> io::Result<Vec<u8>> {
    let pty = open(rows, columns)?;
    command.stdin(Stdio::null()).stderr(pty.slave.try_clone()?).stdout(pty.slave);
    let mut child = command.spawn()?;
    // The command holds our copies of the terminal; while they are open, it does not end.
    drop(command);
    let bytes = drain(&mut File::from(pty.master))?;
    child.wait()?;
    Ok(bytes)
}

/// Reads until no process has the other end open, which Linux reports as `EIO`.
fn drain(master: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match master.read_to_end(&mut bytes) {
        Err(error) if error.raw_os_error() != Some(Errno::EIO as i32) => Err(error),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_terminal_of_that_size() {
        let mut command = Command::new("sh");
        command.args(["-c", "test -t 1 && stty size <&1; echo done"]);
        let text = String::from_utf8(run(command, 7, 33).unwrap()).unwrap();
        assert_eq!(text, "7 33\r\ndone\r\n");
    }
}
