//! One thing to try: a command line over a directory in an environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::options::{Said, said};
use crate::process::Run;
use crate::terminal::Columns;
use crate::tree::Tree;

/// The strategies that every case is run with.
pub const MODES: &[&str] = &["classic", "par", "iou", "auto"];

/// Locales that sort by bytes and need no installed data, except what Debian always has.
pub const BYTE_LOCALES: &[&str] = &["C", "C.UTF-8", "C.UTF-8", "POSIX", "C.utf8"];

/// Separates the two words of an option whose value is a word of its own: `-w` NUL `80`. No argument can contain it.
pub const WORD_BREAK: char = '\0';

/// Where standard output and error go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A pipe each.
    Pipes,
    /// One pipe for both streams: their order is compared too.
    OnePipe,
    /// A terminal of so many columns, and a pipe for errors.
    Terminal(Columns),
    /// A terminal for both.
    OneTerminal(Columns),
}

/// A command line without the program, and where and how to run it.
#[derive(Clone, Debug)]
pub struct Case {
    /// `argv[0]`: `ls`, `dir` or `vdir`, maybe behind a path.
    pub name: &'static str,
    /// Options as they are spelled, values included: `-l`, `-w80`, `--color=always`, or two words with
    /// [`WORD_BREAK`] between them.
    pub options: Vec<String>,
    /// The operands.
    pub operands: Vec<OsString>,
    /// Options that come after the operands (before them, if an operand needs `--`).
    pub late_options: Vec<String>,
    /// Whether `--` comes before the operands although none needs it.
    pub dashes: bool,
    /// The working directory.
    pub cwd: PathBuf,
    /// The tree that the working directory is, if it can be built again.
    pub tree: Option<Arc<Tree>>,
    /// Variables beside those of [`Run::new`].
    pub env: Vec<(String, String)>,
    /// Variables of [`Run::new`] that are taken away.
    pub unset: Vec<&'static str>,
    /// Where the output goes.
    pub output: Output,
    /// The subject's modes to compare.
    pub modes: &'static [&'static str],
    /// Whether the listed directory may change during the comparison.
    pub live: bool,
}

impl Case {
    /// A bare listing of `cwd` as `ls`, into pipes, in every mode.
    pub fn new(cwd: &Path) -> Case {
        Case {
            name: "ls",
            options: Vec::new(),
            operands: Vec::new(),
            late_options: Vec::new(),
            dashes: false,
            cwd: cwd.to_path_buf(),
            tree: None,
            env: Vec::new(),
            unset: Vec::new(),
            output: Output::Pipes,
            modes: MODES,
            live: false,
        }
    }

    /// Adds options, separated by spaces.
    pub fn options(mut self, options: &str) -> Case {
        self.options.extend(options.split_whitespace().map(str::to_string));
        self
    }

    /// Adds operands.
    pub fn operands<S: AsRef<OsStr>>(mut self, operands: impl IntoIterator<Item = S>) -> Case {
        self.operands.extend(operands.into_iter().map(|operand| operand.as_ref().to_os_string()));
        self
    }

    /// Adds words exactly in this order, options or not.
    pub fn words(mut self, words: &[&str]) -> Case {
        self.options.extend(words.iter().map(|word| word.to_string()));
        self
    }

    /// Sets (or replaces) a variable.
    pub fn env(mut self, name: &str, value: &str) -> Case {
        self.env.retain(|(old, _)| old != name);
        self.env.push((name.to_string(), value.to_string()));
        self
    }

    /// The arguments in order. `--` separates options and operands if an operand needs it.
    pub fn args(&self) -> Vec<OsString> {
        let needed = self.operands.iter().any(|operand| operand.as_encoded_bytes().starts_with(b"-"));
        let dashes = (self.dashes || needed).then(|| OsString::from("--"));
        let late = words(&self.late_options);
        let (before, after) = if dashes.is_some() { (late, Vec::new()) } else { (Vec::new(), late) };
        let options = words(&self.options).into_iter().chain(before).chain(dashes);
        options.chain(self.operands.iter().cloned()).chain(after).collect()
    }

    /// How many arguments at the end cannot be options: under POSIXLY_CORRECT the first operand ends them.
    pub fn fixed(&self) -> usize {
        if self.operands.is_empty() || self.variable("POSIXLY_CORRECT").is_none() {
            return 0;
        }
        let args = self.args();
        args.len() - args.iter().position(|arg| *arg == self.operands[0]).unwrap_or(0)
    }

    /// The name of the program: `ls`, `dir` or `vdir`.
    pub fn base(&self) -> &'static str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// This case for a program.
    pub fn run(&self, program: &Path) -> Run {
        let run = Run::new(program).cwd(&self.cwd).args(self.args());
        let run = self.unset.iter().fold(run, |run, name| run.without(name));
        self.env.iter().fold(run, |run, (name, value)| run.env(name, value))
    }

    /// The value of a variable that the case sets.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.env.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The options of GNU `ls` that are given, in order.
    pub fn said(&self) -> Vec<Said> {
        said(&self.args())
    }

    /// Whether an option is given, by its letter or its long name, however it is spelled.
    pub fn says(&self, name: &str) -> bool {
        self.said().iter().any(|said| said.option.is(name))
    }

    /// Whether an option is given a value that `matches`.
    pub fn says_value(&self, name: &str, matches: impl Fn(&str) -> bool) -> bool {
        let value = |said: &Said| said.value.as_ref().is_some_and(|value| matches(&value.to_string_lossy()));
        self.said().iter().any(|said| said.option.is(name) && value(said))
    }

    /// The directories whose entries the case lists, each with whether its subdirectories are listed too.
    pub fn listed(&self) -> Vec<(PathBuf, bool)> {
        let deep = self.says("recursive");
        if self.says("directory") {
            return Vec::new();
        }
        if self.operands.is_empty() {
            return vec![(self.cwd.clone(), deep)];
        }
        let paths = self.operands.iter().map(|operand| self.cwd.join(operand));
        paths.filter(|path| path.is_dir()).map(|path| (path, deep)).collect()
    }
}

fn words(options: &[String]) -> Vec<OsString> {
    options.iter().flat_map(|option| option.split(WORD_BREAK)).map(OsString::from).collect()
}
