//! Runs a program with the given arguments, `argv[0]`, directory and environment; it inherits nothing else.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

/// A program that has not ended by then is killed, and so reported as ended by signal 9.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// The memory that a program may map, in bytes, so that a faulty one does not use up the machine's.
const MEMORY: u64 = 4 << 30;

/// A program to run. Its standard input is `/dev/null`.
#[derive(Clone, Debug)]
pub struct Run {
    /// The file to execute.
    pub program: PathBuf,
    /// The program's `argv[0]`.
    pub argv0: OsString,
    /// The arguments after `argv[0]`.
    pub args: Vec<OsString>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
}

/// How a program ended, and its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Exit status or signal.
    pub end: End,
    /// All it wrote to standard output.
    pub stdout: Vec<u8>,
    /// All it wrote to standard error.
    pub stderr: Vec<u8>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exit(i32),
    /// This signal ended it.
    Signal(i32),
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> End {
        match (status.code(), status.signal()) {
            (Some(code), _) => End::Exit(code),
            (None, signal) => End::Signal(signal.unwrap_or(0)),
        }
    }
}

impl Run {
    /// `program` in `/`, called by its own file name, without arguments, in an environment of
    /// `LC_ALL=C TZ=UTC0 TERM=xterm PATH=/usr/bin:/bin`.
    pub fn new(program: &Path) -> Run {
        let env =
            [("LC_ALL", "C"), ("TZ", "UTC0"), ("TERM", "xterm"), ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")];
        Run {
            program: program.to_path_buf(),
            argv0: program.file_name().unwrap_or(OsStr::new("ls")).to_os_string(),
            args: Vec::new(),
            cwd: PathBuf::from("/"),
            env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        }
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Run {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_os_string()));
        self
    }

    /// Sets the working directory.
    pub fn cwd(mut self, cwd: &Path) -> Run {
        self.cwd = cwd.to_path_buf();
        self
    }

    /// Sets (or replaces) one environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Run {
        self.env.retain(|(old, _)| old != name);
        self.env.push((name.into(), value.as_ref().to_os_string()));
        self
    }

    /// The same run, started by `launcher` (a program found in `PATH`, and its arguments), which must
    /// execute the rest of its command line: `setpriv`, `prlimit`, `env`, `strace` … do. `argv[0]` is then
    /// the program's path, as `execvp` sets it.
    pub fn under<S: AsRef<OsStr>>(self, launcher: &[S]) -> Run {
        let mut args: Vec<OsString> = launcher[1..].iter().map(|arg| arg.as_ref().to_os_string()).collect();
        args.push(self.program.into_os_string());
        args.extend(self.args);
        let program = PathBuf::from(launcher[0].as_ref());
        Run { argv0: program.clone().into_os_string(), program, args, ..self }
    }

    /// Takes one environment variable away.
    pub fn without(mut self, name: &str) -> Run {
        self.env.retain(|(old, _)| old != name);
        self
    }

    /// The command, for callers that want its streams elsewhere. SIGPIPE is at its default in the child.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg0(&self.argv0).args(&self.args).current_dir(&self.cwd).env_clear();
        command.envs(self.env.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
        command
    }

    /// Runs it to its end, both outputs in pipes. Kills it after [`DEADLINE`].
    pub fn output(&self) -> io::Result<Outcome> {
        let child = self.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let watch = Watch::over(&child);
        let output = child.wait_with_output();
        drop(watch);
        let output = output?;
        Ok(Outcome { end: output.status.into(), stdout: output.stdout, stderr: output.stderr })
    }

    /// Runs it to its end, both outputs in one pipe, in the order in which they were written.
    pub fn merged_output(&self) -> io::Result<Outcome> {
        let (mut reader, writer) = io::pipe()?;
        let mut command = self.command();
        command.stdout(writer.try_clone()?).stderr(writer);
        let mut child = command.spawn()?;
        // The command holds the pipe's writing ends, and would keep it open.
        drop(command);
        let watch = Watch::over(&child);
        let mut stdout = Vec::new();
        reader.read_to_end(&mut stdout)?;
        let status = child.wait()?;
        drop(watch);
        Ok(Outcome { end: status.into(), stdout, stderr: Vec::new() })
    }

    /// As a command for a shell, to be pasted.
    pub fn shell(&self) -> String {
        let mut line = format!("cd {} && env -i", quote(self.cwd.as_os_str()));
        for (name, value) in &self.env {
            line.push_str(&format!(" {}={}", name.to_string_lossy(), quote(value)));
        }
        line.push_str(&format!(" {}", quote(self.program.as_os_str())));
        for arg in &self.args {
            line.push_str(&format!(" {}", quote(arg)));
        }
        line
    }
}

/// Runs it to its end.
///
/// # Panics
/// If it cannot be started.
pub fn run(run: &Run) -> Outcome {
    run.output().unwrap_or_else(|error| panic!("{}: {error}", run.shell()))
}

/// The same for a run that must succeed; it may write messages.
///
/// # Panics
/// If it does not succeed.
pub fn done(command: &Run) -> Outcome {
    let outcome = run(command);
    assert_eq!(outcome.end, End::Exit(0), "{}: {}", command.shell(), text(&outcome.stderr));
    outcome
}

/// The output of a run that must succeed and write no messages.
///
/// # Panics
/// If it does not succeed, or writes a message.
pub fn stdout(command: &Run) -> Vec<u8> {
    let outcome = done(command);
    assert_eq!(text(&outcome.stderr), "", "{}", command.shell());
    outcome.stdout
}

/// The same as text.
///
/// # Panics
/// As [`stdout`].
pub fn shown(command: &Run) -> String {
    text(&stdout(command))
}

/// Bytes as text; what is not UTF-8 becomes U+FFFD.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `word` in the syntax of a shell: as it is if that is safe, otherwise `$'…'` with escapes.
pub fn quote(word: &OsStr) -> String {
    let bytes = word.as_encoded_bytes();
    let bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=+,:@%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(bare) {
        return word.to_string_lossy().into_owned();
    }
    if bytes.iter().all(|byte| (b' '..=b'~').contains(byte) && *byte != b'\'') {
        return format!("'{}'", word.to_string_lossy());
    }
    format!("$'{}'", bytes.escape_ascii())
}

/// A child that runs, since when, under a key that is never used twice.
struct Watched {
    key: u64,
    pid: u32,
    since: Instant,
}

static WATCHED: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

/// Kills a child that lives past [`DEADLINE`], for as long as this is held.
#[derive(Debug)]
pub struct Watch(u64);

impl Watch {
    /// For this child, whose memory is limited as well.
    pub fn over(child: &Child) -> Watch {
        static GUARD: Once = Once::new();
        static KEY: AtomicU64 = AtomicU64::new(0);
        GUARD.call_once(|| drop(std::thread::spawn(kill_the_late)));
        let key = KEY.fetch_add(1, Ordering::Relaxed);
        let limit = Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
        // One that has ended already needs no limit.
        let _ = prlimit(Some(Pid::from_child(child)), Resource::As, limit);
        WATCHED.lock().unwrap().push(Watched { key, pid: child.id(), since: Instant::now() });
        Watch(key)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHED.lock().unwrap().retain(|child| child.key != self.0);
    }
}

fn kill_the_late() {
    loop {
        std::thread::sleep(Duration::from_secs(1));
        for child in WATCHED.lock().unwrap().iter() {
            if child.since.elapsed() > DEADLINE
                && let Some(pid) = rustix::process::Pid::from_raw(child.pid as i32)
            {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

/// The fields of `/proc/PID/stat` from the state on; `None` if there is no such process.
fn stat(pid: Pid) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split_whitespace().map(str::to_string).collect())
}

/// The processes that this one has started and that live: the agent of a listing with a deadline, for one.
pub fn children(parent: Pid) -> Vec<Pid> {
    let numbers = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |pid: &Pid| {
        stat(*pid).is_some_and(|fields| fields[0] != "Z" && fields[1] == parent.as_raw_nonzero().to_string())
    };
    numbers.filter_map(Pid::from_raw).filter(is_child).collect()
}

/// The processor time that a process has taken, all its threads together, and those of its children that live.
pub fn cpu_time(pid: Pid) -> Duration {
    let of_one = |pid| {
        let fields = stat(pid).unwrap_or_default();
        let ticks = fields.iter().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok());
        Duration::from_millis(10) * u32::try_from(ticks.sum::<u64>()).unwrap_or(u32::MAX)
    };
    of_one(pid) + children(pid).into_iter().map(of_one).sum::<Duration>()
}

/// Whether the tests run as root: some fixtures and faults need it.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
