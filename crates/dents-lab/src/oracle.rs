//! The oracle, which is GNU `ls`, and the subject that is compared with it.
//!
//! Both run on the same case, with standard output and error in pipes; their output and exit status must be equal to
//! the byte. Where the subject is called `dls`, its messages begin with that name, which is replaced by the oracle's;
//! nothing else is normalised. Every case runs the subject once for each `--mode`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::case::{Case, Output};
use crate::diff;
use crate::kernels;
use crate::known::{self, Remedy};
use crate::process::{Outcome, Run};
use crate::terminal;

/// How often a case on live directories must differ, each time in the same way, to count.
const ATTEMPTS: usize = 5;

/// The machine's GNU `ls`.
#[derive(Clone, Debug)]
pub struct Oracle {
    path: PathBuf,
    version: (u32, u32),
}

/// The program that is tested.
#[derive(Clone, Debug)]
pub struct Subject {
    path: PathBuf,
    iou_notice: Vec<u8>,
    /// The launcher that refuses system calls, and the set that it refuses.
    refused: Option<(PathBuf, String)>,
}

/// The result of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Equal in every mode.
    Same,
    /// Not compared: a known difference, for this reason.
    Skipped(&'static str),
    /// A live directory differed now in one way, now in another.
    Unstable,
    /// Different: in which mode, where, and the commands to see it.
    Different(String),
}

impl Oracle {
    /// `$GNU_LS`, or `ls` in `PATH`. An error unless that is GNU's.
    pub fn find() -> Result<Oracle, String> {
        let wanted = std::env::var_os("GNU_LS").unwrap_or_else(|| "ls".into());
        let path = in_path(&wanted).ok_or_else(|| format!("no {} in PATH", wanted.display()))?;
        let output = Run::new(&path).args(["--version"]).output().map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().and_then(|line| line.strip_prefix("ls (GNU coreutils) "));
        let version = version
            .and_then(parse_version)
            .ok_or_else(|| format!("{} is not GNU ls; set GNU_LS to one (coreutils)", path.display()))?;
        Ok(Oracle { path, version })
    }

    /// The executable.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The release of coreutils that it belongs to.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// How the oracle is run on a case: known differences that can be written away are.
    pub fn run_of(&self, case: &Case) -> Run {
        // `dir` and `vdir` are programs of their own, beside `ls`.
        let program = match case.base() {
            "ls" => self.path.clone(),
            name => self.path.with_file_name(name),
        };
        let mut run = case.run(&program);
        run.argv0 = case.name.into();
        for known in known::met(case, self.version) {
            if let Remedy::Rewrite(rewrite) = known.remedy {
                let fixed = run.args.split_off(run.args.len() - case.fixed());
                run.args = rewrite(&run.args);
                run.args.extend(fixed);
            }
        }
        run
    }

    /// What a run on a case gives, as `dls` gives it.
    fn outcome_of(&self, case: &Case, run: &Run) -> Outcome {
        let mut outcome = outcome(run, case.output);
        for known in known::met(case, self.version) {
            if let Remedy::Mend(mend) = known.remedy {
                outcome.stdout = mend(outcome.stdout);
            }
        }
        outcome
    }
}

impl Subject {
    /// The release build: `$DLS`, or `release/dls` in the target directory.
    pub fn release() -> Result<Subject, String> {
        Subject::named("DLS", "release", "--profile release")
    }

    /// The build with debug assertions: `$DLS_CHECKED`, or `checked/dls` in the target directory.
    pub fn checked() -> Result<Subject, String> {
        Subject::named("DLS_CHECKED", "checked", "--profile checked")
    }

    /// `dls-libc`: `$DLS_LIBC`, or `libc/debug/dls` in the target directory.
    pub fn libc() -> Result<Subject, String> {
        Subject::named("DLS_LIBC", "libc/debug", "--features libc --target-dir target/libc")
    }

    fn named(variable: &str, place: &str, options: &str) -> Result<Subject, String> {
        let path = match std::env::var_os(variable) {
            Some(path) => PathBuf::from(path),
            None => target_dir().join(place).join("dls"),
        };
        if !path.is_file() {
            return Err(format!(
                "no {}: build it with `cargo build -p dents-ls {options}`, or set {variable}; `cargo xtask test` \
                 does both",
                path.display()
            ));
        }
        Ok(Subject::at(&path))
    }

    /// The program at `path`.
    pub fn at(path: &Path) -> Subject {
        Subject { path: path.to_path_buf(), iou_notice: Vec::new(), refused: None }.probed()
    }

    /// The same program on a kernel that refuses a set of calls ([`kernels`]); `refuse` is the launcher.
    pub fn refusing(self, refuse: &Path, set: &str) -> Subject {
        Subject { refused: Some((refuse.to_path_buf(), set.to_string())), ..self }.probed()
    }

    /// If the kernel refuses io_uring, `--mode=iou` prints one line that GNU does not have.
    fn probed(mut self) -> Subject {
        let mut probe = Run::new(&self.path).args(["--mode=iou", "-d", "-l", "/"]);
        probe.argv0 = "dls".into();
        let said = self.launched(probe).output();
        self.iou_notice = said.map(|said| normalise(&said.stderr, "dls", "ls")).unwrap_or_default();
        self
    }

    fn launched(&self, run: Run) -> Run {
        match &self.refused {
            Some((refuse, set)) => kernels::under(run, refuse, set),
            None => run,
        }
    }

    /// The executable.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How the subject is run on a case in a mode.
    pub fn run_of(&self, case: &Case, mode: &str) -> Run {
        let mut run = case.run(&self.path);
        run.argv0 = called(case).into();
        run.args.insert(0, format!("--mode={mode}").into());
        self.launched(run)
    }

    /// Whether this machine's kernel refuses io_uring to the subject.
    pub fn iou_refused(&self) -> bool {
        !self.iou_notice.is_empty()
    }
}

/// The subject's `argv[0]`: its own name if messages with it can be normalised and it has no meaning, otherwise the
/// oracle's.
fn called(case: &Case) -> &'static str {
    match (case.name, case.output) {
        ("ls", Output::Pipes | Output::Terminal(_)) => "dls",
        (name, _) => name,
    }
}

/// Runs a case with both and judges.
pub fn check(oracle: &Oracle, subject: &Subject, case: &Case) -> Verdict {
    for known in known::met(case, oracle.version) {
        if matches!(known.remedy, Remedy::Skip) {
            return Verdict::Skipped(known.reason);
        }
    }
    if !case.live {
        return compare(oracle, subject, case)
            .map_or(Verdict::Same, |found| Verdict::Different(found.report));
    }
    // A place that changes by itself counts as different only if it differs in the same way every time.
    let mut first = None;
    for _ in 0..ATTEMPTS {
        let Some(found) = compare(oracle, subject, case) else { return Verdict::Same };
        let first = first.get_or_insert_with(|| found.clone());
        if (&first.expected, &first.report) != (&found.expected, &found.report) {
            return Verdict::Unstable;
        }
    }
    first.map_or(Verdict::Same, |found| Verdict::Different(found.report))
}

/// A difference in one mode, and the expected output.
#[derive(Clone)]
struct Found {
    expected: Outcome,
    report: String,
}

/// The first mode that differs, from an oracle whose output is the same twice. A subject whose output changes from run
/// to run differs: only the oracle, and the pipe or terminal that carries its output, may be asked again.
fn compare(oracle: &Oracle, subject: &Subject, case: &Case) -> Option<Found> {
    let again = || oracle.outcome_of(case, &oracle.run_of(case));
    let mut found = compare_once(oracle, subject, case)?;
    for _ in 1..ATTEMPTS {
        if case.live || again() == found.expected {
            break;
        }
        found = compare_once(oracle, subject, case)?;
    }
    Some(found)
}

fn compare_once(oracle: &Oracle, subject: &Subject, case: &Case) -> Option<Found> {
    let asked = oracle.run_of(case);
    let expected = oracle.outcome_of(case, &asked);
    for mode in case.modes {
        let answered = subject.run_of(case, mode);
        let mut actual = outcome(&answered, case.output);
        actual.stderr = normalise(&actual.stderr, called(case), case.name);
        if *mode == "iou" {
            strike(&mut actual, &subject.iou_notice);
        }
        if let Some(report) = diff::outcomes(&expected, &actual) {
            let commands = format!("  expected: {}\n  actual:   {}\n", asked.shell(), answered.shell());
            return Some(Found {
                expected,
                report: format!(
                    "--mode={mode} differs, {}\n{}{commands}{report}",
                    to(case.output),
                    recipe(case)
                ),
            });
        }
    }
    None
}

fn to(output: Output) -> String {
    match output {
        Output::Pipes => "output to a pipe".to_string(),
        Output::OnePipe => "output and errors to one pipe".to_string(),
        Output::Terminal(columns) => format!("output to a terminal of {columns} columns"),
        Output::OneTerminal(columns) => format!("output and errors to a terminal of {columns} columns"),
    }
}

/// How to build the tree that the case lists.
fn recipe(case: &Case) -> String {
    case.tree.as_ref().map(|tree| format!("  in a directory made by:\n{}", tree.shell())).unwrap_or_default()
}

/// Removes the notice that io_uring is refused from stderr: one line, whatever the name of the program.
fn strike(outcome: &mut Outcome, notice: &[u8]) {
    // Without the program's name before it, and without the text of the error, which is in the user's language.
    let Some(notice) = notice.strip_prefix(b"ls") else { return };
    let Some(end) = notice.iter().rposition(|byte| *byte == b':') else { return };
    let notice = &notice[..=end];
    for stream in [&mut outcome.stderr, &mut outcome.stdout] {
        let lines = stream.split_inclusive(|byte| *byte == b'\n');
        *stream = lines
            .filter(|line| !line.windows(notice.len()).any(|part| part == notice))
            .collect::<Vec<_>>()
            .concat();
    }
}

/// Panics when a program cannot even be started: no test can go on then.
fn outcome(run: &Run, output: Output) -> Outcome {
    let outcome = match output {
        Output::Pipes => run.output(),
        Output::OnePipe => run.merged_output(),
        Output::Terminal(columns) => terminal::output(run, columns, false),
        Output::OneTerminal(columns) => terminal::output(run, columns, true),
    };
    outcome.unwrap_or_else(|error| panic!("{}: {error}", run.program.display()))
}

/// Puts `wanted` where diagnostics carry the name that the program was called by.
pub fn normalise(stderr: &[u8], name: &str, wanted: &str) -> Vec<u8> {
    if name == wanted {
        return stderr.to_vec();
    }
    let mut normal = Vec::with_capacity(stderr.len());
    // In French a special space precedes a colon; a hint has the program's name inside other words and quotes.
    let (prefixes, hint) = ([": ", "\u{a0}: "], format!("{name} --help"));
    for line in stderr.split_inclusive(|&b| b == b'\n') {
        let rest = line.strip_prefix(name.as_bytes());
        if let Some(rest) =
            rest.filter(|rest| prefixes.iter().any(|prefix| rest.starts_with(prefix.as_bytes())))
        {
            normal.extend_from_slice(wanted.as_bytes());
            normal.extend_from_slice(rest);
        } else if let Some(at) = line.windows(hint.len()).position(|part| part == hint.as_bytes()) {
            normal.extend_from_slice(&line[..at]);
            normal.extend_from_slice(wanted.as_bytes());
            normal.extend_from_slice(b" --help");
            normal.extend_from_slice(&line[at + hint.len()..]);
        } else {
            normal.extend_from_slice(line);
        }
    }
    normal
}

/// Puts `ls` where messages have the path of a program that was called by it, or the last component: GNU `ls` before
/// 9.7 has the path in all messages.
pub fn as_ls(stderr: &[u8], program: &Path) -> Vec<u8> {
    let base = program.file_name().unwrap_or_default().to_string_lossy();
    normalise(&normalise(stderr, &program.to_string_lossy(), "ls"), &base, "ls")
}

/// The workspace's target directory, as cargo would choose it.
pub fn target_dir() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("."));
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => workspace.join(dir),
        None => workspace.join("target"),
    }
}

fn in_path(program: &OsString) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|path| path.is_file())
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once('.')?;
    let minor: String = minor.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_is_normalised() {
        let said = b"dls: cannot access 'dls: x': No such file or directory\nTry 'dls --help' for more information.\n";
        let normal = normalise(said, "dls", "ls");
        assert_eq!(
            String::from_utf8_lossy(&normal),
            "ls: cannot access 'dls: x': No such file or directory\nTry 'ls --help' for more information.\n"
        );
    }

    #[test]
    fn versions() {
        assert_eq!(parse_version("9.1"), Some((9, 1)));
        assert_eq!(parse_version("9.7.3-dirty"), Some((9, 7)));
        assert_eq!(parse_version("busybox"), None);
    }
}
