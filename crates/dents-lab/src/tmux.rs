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

    /// Starts a shell script that stays: look at it with [`Screen::until`], and end it with [`Screen::end`].
    ///
    /// # Errors
    /// `tmux` is missing.
    pub fn start(&self, script: &str) -> io::Result<()> {
        self.shown.set(self.shown.get() + 1);
        let path = self.home.path().join("script");
        std::fs::write(&path, script)?;
        self.session(&format!("exec sh {}", quote(path.as_os_str())))
    }

    /// Presses keys, by the names that tmux gives them: `Enter`, `Down`, `C-c`, `q`.
    ///
    /// # Errors
    /// The script has ended.
    pub fn press(&self, keys: &[&str]) -> io::Result<()> {
        self.tmux(&[&["send-keys"], keys].concat()).map(drop)
    }

    /// Gives the screen another size.
    ///
    /// # Errors
    /// The script has ended.
    pub fn resize(&self, columns: u16, rows: u16) -> io::Result<()> {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tmux(&["resize-window", "-x", &columns, "-y", &rows]).map(drop)
    }

    /// The lines of the screen, as soon as they are what a test waits for.
    ///
    /// # Errors
    /// They are not in time; the error has what is on the screen.
    pub fn until(&self, is_it: impl Fn(&[String]) -> bool) -> io::Result<Vec<String>> {
        let begin = Instant::now();
        loop {
            let lines = self.lines()?;
            if is_it(&lines) {
                return Ok(lines);
            }
            if begin.elapsed() > PATIENCE {
                return Err(io::Error::other(format!(
                    "the screen has not what is expected:\n{}",
                    lines.join("\n")
                )));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A format of tmux, for example `#{alternate_on}`.
    ///
    /// # Errors
    /// The script has ended.
    pub fn state(&self, format: &str) -> io::Result<String> {
        let output = self.tmux(&["display-message", "-p", format])?;
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_string())
    }

    /// Ends what was started.
    ///
    /// # Errors
    /// It has ended before.
    pub fn end(&self) -> io::Result<()> {
        self.tmux(&["kill-server"]).map(drop)
    }

    fn session(&self, command: &str) -> io::Result<()> {
        let (columns, rows) = (self.columns.to_string(), self.rows.to_string());
        self.tmux(&["new-session", "-d", "-x", &columns, "-y", &rows, command]).map(drop)
    }

    /// The lines of the screen, without the spaces at their ends.
    fn lines(&self) -> io::Result<Vec<String>> {
        let output = self.tmux(&["capture-pane", "-p"])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().map(|line| line.trim_end().to_string()).collect())
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
        self.session(&format!("exec sh {}", quote(path.as_os_str())))?;
        let seen = self.wait();
        self.tmux(&["kill-server"])?;
        seen
    }

    fn wait(&self) -> io::Result<Vec<String>> {
        let begin = Instant::now();
        loop {
            let mut lines = self.lines()?;
            if lines.last().is_some_and(|line| line == DRAWN) {
                lines.pop();
                while lines.last().is_some_and(String::is_empty) {
                    lines.pop();
                }
                return Ok(lines);
            }
            if begin.elapsed() > PATIENCE {
                return Err(io::Error::other(format!("the screen is not drawn: {}", lines.join("\n"))));
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
