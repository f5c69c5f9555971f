//! One thing to try: a command line over a directory in an environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::known::is_cluster;
use crate::process::Run;

/// A command line without the program, and where and how to run it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Options as they are spelled, values included: `-l`, `-w80`, `--color=always`.
    pub options: Vec<String>,
    /// What is to be listed.
    pub operands: Vec<OsString>,
    /// The working directory.
    pub cwd: PathBuf,
    /// Variables beside those of [`Run::new`].
    pub env: Vec<(String, String)>,
    /// Whether what is listed may change by itself meanwhile.
    pub live: bool,
}

impl Case {
    /// A bare listing of `cwd`.
    pub fn new(cwd: &Path) -> Case {
        Case {
            options: Vec::new(),
            operands: Vec::new(),
            cwd: cwd.to_path_buf(),
            env: Vec::new(),
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

    /// The arguments in order. `--` stands between options and operands where an operand needs it.
    pub fn args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = self.options.iter().map(OsString::from).collect();
        if self.operands.iter().any(|operand| operand.as_encoded_bytes().starts_with(b"-")) {
            args.push("--".into());
        }
        args.extend(self.operands.iter().cloned());
        args
    }

    /// This case for a program.
    pub fn run(&self, program: &Path) -> Run {
        let run = Run::new(program).cwd(&self.cwd).args(self.args());
        self.env.iter().fold(run, |run, (name, value)| run.env(name, value))
    }

    /// The value of a variable that the case sets.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.env.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Whether a short option is given, alone or in a cluster.
    pub fn has_short(&self, letter: char) -> bool {
        self.options.iter().any(|option| is_cluster(option) && option.contains(letter))
    }

    /// The directories whose entries the case lists, each with whether those below are listed too.
    pub fn listed(&self) -> Vec<(PathBuf, bool)> {
        let said =
            |long: &str| self.options.iter().any(|option| option.len() > 4 && long.starts_with(option));
        let deep = self.has_short('R') || said("--recursive");
        if self.has_short('d') || said("--directory") {
            return Vec::new();
        }
        if self.operands.is_empty() {
            return vec![(self.cwd.clone(), deep)];
        }
        let paths = self.operands.iter().map(|operand| self.cwd.join(operand));
        paths.filter(|path| path.is_dir()).map(|path| (path, deep)).collect()
    }
}
