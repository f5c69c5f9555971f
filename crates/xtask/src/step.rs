//! Runs one command as a step: prints it, times it, and counts its tests.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// An error is a message for the user.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// Begins again with all signals at their default where a signal is ignored that a test sends: in the background of a script
/// (INT, QUIT) and under nohup (HUP), children ignore it too. Where `env` cannot do that, some tests fail.
pub(crate) fn with_default_signals() {
    use std::os::unix::process::CommandExt;
    const SENT: u64 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    if ignored & SENT != 0
        && Command::new("env")
            .args(["--default-signal", "true"])
            .status()
            .is_ok_and(|status| status.success())
        && let Ok(own) = std::env::current_exe()
    {
        let _ = Command::new("env").arg("--default-signal").arg(own).args(std::env::args_os().skip(1)).exec();
    }
}

/// Runs steps and remembers how they went.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    passed: usize,
    failed: usize,
    broken: Vec<String>,
}

impl Steps {
    /// Runs `command` to its end and returns whether it succeeded. After a failure the run continues, so that one run
    /// shows all failures.
    pub(crate) fn run(&mut self, title: &str, command: &mut Command) -> bool {
        println!("\n== {title}\n   {}", spell(command));
        let start = Instant::now();
        let outcome = self.pass_through(command);
        let time = format!("{:.1} s", start.elapsed().as_secs_f64());
        self.report(title, outcome.map(|()| time.clone()).map_err(|why| format!("{time}: {why}")))
    }

    /// Says how a step ended, remembers a failure, and returns whether it succeeded.
    pub(crate) fn report(&mut self, title: &str, outcome: Result<String>) -> bool {
        match &outcome {
            Ok(what) => println!("== {title}: ok, {what}"),
            Err(why) => {
                println!("== {title}: FAILED, {why}");
                self.broken.push(title.to_string());
            }
        }
        outcome.is_ok()
    }

    /// Passes standard output on line by line, and adds up the results of cargo's test harness in it.
    fn pass_through(&mut self, command: &mut Command) -> Result<()> {
        let mut child = command
            .current_dir(workspace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let stdout = child.stdout.take().ok_or("no pipe")?;
        let mut lines = BufReader::new(stdout);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).map_err(|error| error.to_string())? > 0 {
            // If the reader of this output goes away, the tests go on.
            let _ = std::io::stdout().write_all(&line);
            if let Some((passed, failed)) = counts(&String::from_utf8_lossy(&line)) {
                self.passed += passed;
                self.failed += failed;
            }
            line.clear();
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(status.to_string()) }
    }

    /// How many tests have run.
    pub(crate) fn ran(&self) -> usize {
        self.passed + self.failed
    }

    /// The sum of all steps; an error when one of them failed.
    pub(crate) fn finish(self) -> Result<()> {
        println!("\n{} passed, {} failed", self.passed, self.failed);
        if self.broken.is_empty() { Ok(()) } else { Err(format!("failed: {}", self.broken.join("; "))) }
    }
}

/// `test result: ok. 12 passed; 0 failed; …` as (12, 0).
fn counts(line: &str) -> Option<(usize, usize)> {
    let rest = line.strip_prefix("test result: ")?;
    let number = |unit: &str| {
        let before = rest.split(unit).next()?;
        before.rsplit([' ', ';']).find(|word| !word.is_empty())?.parse().ok()
    };
    Some((number(" passed")?, number(" failed")?))
}

/// This cargo, in the workspace, with these arguments.
pub(crate) fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(workspace());
    command
}

/// The outcome of an operation on a file, whose error has the name of the file.
pub(crate) fn at<T>(path: impl AsRef<Path>, outcome: io::Result<T>) -> Result<T> {
    outcome.map_err(|error| format!("{}: {error}", path.as_ref().display()))
}

/// The text of a file.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<String> {
    at(&path, fs::read_to_string(&path))
}

/// Writes a file, and its directory if that is missing.
pub(crate) fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<()> {
    let path = path.as_ref();
    at(path, fs::create_dir_all(path.parent().unwrap_or(path)))?;
    at(path, fs::write(path, bytes))
}

/// What is there; else a line says why it is not, and what is left out.
pub(crate) fn or_told<T>(found: Result<T>, left_out: &str) -> Option<T> {
    found.map_err(|why| println!("\n== {why}: {left_out}")).ok()
}

/// A command of one step.
pub(crate) fn only(title: &str, command: &mut Command) -> Result<()> {
    let mut steps = Steps::default();
    steps.run(title, command);
    steps.finish()
}

/// The names in a directory, sorted.
pub(crate) fn names(dir: &Path) -> Result<Vec<String>> {
    let entries = at(dir, fs::read_dir(dir))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Copies a file into a directory, which is made if it is missing.
pub(crate) fn copy(from: &Path, dir: &Path, name: &str) -> Result<()> {
    at(dir, fs::create_dir_all(dir))?;
    at(from, fs::copy(from, dir.join(name))).map(drop)
}

/// Runs a command that must succeed.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = at(spell(command), command.status())?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", spell(command))) }
}

/// What a command prints that must succeed; else its messages are the error.
pub(crate) fn printed(command: &mut Command) -> Result<String> {
    let output = at(spell(command), command.stdin(Stdio::null()).output())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{}:\n{}", spell(command), String::from_utf8_lossy(&output.stderr).trim_end())),
    }
}

/// The workspace's root.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("."))
}

/// Cargo's target directory.
pub(crate) fn target_dir() -> PathBuf {
    workspace().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A command as one would type it.
pub(crate) fn spell(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
    let env = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let env = env.map(|(name, value)| format!("{}={}", name.display(), value.display()));
    let line: Vec<String> = env.chain([program.display().to_string()]).chain(words).collect();
    line.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harness_results_are_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(counts(line), Some((12, 3)));
        assert_eq!(counts("test x ... ok"), None);
    }
}
