//! What a real terminal displays: `tmux` interprets the output and reports which character is in which column.
//!
//! A pseudo-terminal ([`crate::terminal`]) carries bytes; only a terminal emulator knows their columns. Each screen
//! has a server of its own, on a socket of its own and without a configuration file.

use std::cell::Cell;
use std::ffi::OsStr;
use std::io;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::fixture::TempDir;
use crate::process::quote;

/// How long a screen may take to be drawn, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The last line, when all output is drawn.
const DRAWN: &str = "[drawn]";

/// A terminal of some columns and rows, in UTF-8.
#[derive(Debug)]
pub struct Screen {
    columns: u16,
    rows: u16,
    home: TempDir,
    /// The number of screens shown so far: a server that ends may still hold its socket when the next one starts.
    shown: Cell<u32>,
}

impl Screen {
    /// An empty screen.
    pub fn new(columns: u16, rows: u16) -> io::Result<Screen> {
        Ok(Screen { columns, rows, home: TempDir::new("tmux")?, shown: Cell::new(0) })
    }

    /// Runs a shell script on a cleared screen. Returns the lines of the screen, without the spaces at their ends and
    /// without empty lines at the end.
    ///
    /// # Errors
    /// `tmux` is missing, or the script does not end in time.
    pub fn show(&self, script: &str) -> io::Result<Vec<String>> {
        self.shown.set(self.shown.get() + 1);
        let path = self.home.path().join("script");
        let end = format!("\nprintf '\\033[{};1H{DRAWN}'\nexec sleep 60\n", self.rows);
        std::fs::write(&path, script.to_string() + &end)?;
        let (columns, rows) = (self.columns.to_string(), self.rows.to_string());
        let command = format!("exec sh {}", quote(path.as_os_str()));
        self.tmux(&["new-session", "-d", "-x", &columns, "-y", &rows, &command])?;
        let seen = self.wait();
        self.tmux(&["kill-server"])?;
        seen
    }

    fn wait(&self) -> io::Result<Vec<String>> {
        let begin = Instant::now();
        loop {
            let output = self.tmux(&["capture-pane", "-p"])?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_string()).collect();
            if lines.last().is_some_and(|line| line == DRAWN) {
                lines.pop();
                while lines.last().is_some_and(String::is_empty) {
                    lines.pop();
                }
                return Ok(lines);
            }
            if begin.elapsed() > PATIENCE {
                return Err(io::Error::other(format!("the screen is not drawn: {text}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A `tmux` command to this screen's server.
    fn tmux<S: AsRef<OsStr>>(&self, args: &[S]) -> io::Result<Output> {
        let mut command = Command::new("tmux");
        let socket = self.home.path().join(format!("socket{}", self.shown.get()));
        command.args(["-u", "-f", "/dev/null", "-S"]).arg(socket).args(args);
        command.env_clear().env("LC_ALL", "C.UTF-8").env("TERM", "xterm-256color");
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("SHELL", "/bin/sh");
        let missing = |error| io::Error::other(format!("tmux is needed to see what stands where: {error}"));
        let output = command.output().map_err(missing)?;
        if output.status.success() {
            return Ok(output);
        }
        Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A server is left only where something went wrong.
        let _ = self.tmux(&["kill-server"]);
    }
}
