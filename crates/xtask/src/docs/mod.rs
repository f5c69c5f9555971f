//! `cargo xtask docs`: the manual pages and the completions of `dls`, from the table of flags that `--help` is made from, and
//! those of `dents`, from its declarations for clap (`dents-cli/src/docs/mod.rs`); the picture of docs/PYTHON.md (`bars.rs`); and the tables of
//! the bench (`bench/tables.rs`).
//!
//! A test writes the files (files.rs), so that `dls` is a dependency of xtask's tests alone and `cargo xtask`
//! itself still compiles at once. Ordinarily that test compares; with the variable [`WRITE`] set it writes. Then
//! each program that can check such a file, if it is installed, reads it.

#[cfg(test)]
mod bars;
#[cfg(test)]
mod bash;
#[cfg(test)]
mod files;
#[cfg(test)]
mod fish;
#[cfg(test)]
mod man;
#[cfg(test)]
mod words;
#[cfg(test)]
mod zsh;

use std::process::{Command, Stdio};

use crate::step::{Result, Steps, cargo, workspace};

/// If this variable is set, the test writes the files instead of comparing them.
const WRITE: &str = "DLS_WRITE_DOCS";

/// For pages in the style of clap_mangen, which is not mandoc's.
const LENIENT: &[&str] = &["-T", "lint", "-W", "error"];

/// A program, its arguments before the file, and the file.
const CHECKS: &[(&str, &[&str], &str)] = &[
    ("mandoc", &["-T", "lint", "-W", "style"], "man/dls.1"),
    ("bash", &["-n"], "completions/dls.bash"),
    ("zsh", &["-n"], "completions/_dls"),
    ("fish", &["--no-execute"], "completions/dls.fish"),
    ("mandoc", LENIENT, "man/dents.1"),
    ("mandoc", LENIENT, "man/dents-scan.1"),
    ("mandoc", LENIENT, "man/dents-du.1"),
    ("mandoc", LENIENT, "man/dents-top.1"),
    ("mandoc", LENIENT, "man/dents-count.1"),
    ("mandoc", LENIENT, "man/dents-stats.1"),
    ("bash", &["-n"], "completions/dents.bash"),
    ("zsh", &["-n"], "completions/_dents"),
    ("fish", &["--no-execute"], "completions/dents.fish"),
];

pub(crate) fn run() -> Result<()> {
    crate::bench::write_tables()?;
    let mut steps = Steps::default();
    for (package, name) in [
        ("xtask", "docs::files::are_up_to_date"),
        ("xtask", "docs::bars::the_picture_is_up_to_date"),
        ("dents-cli", "docs::are_up_to_date"),
    ] {
        let test = ["test", "--quiet", "--package", package, "--", name];
        steps.run(&format!("writing, by {package}"), cargo(test).env(WRITE, "1"));
    }
    for (program, args, file) in CHECKS {
        if is_there(program) {
            steps.run(&format!("{program} reads {file}"), Command::new(program).args(*args).arg(file));
        } else {
            println!("\n== {file} is not checked: there is no {program} here");
        }
    }
    steps.finish()
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").current_dir(workspace()).stdin(Stdio::null());
    // The status does not matter: mandoc has no --version, and prints an error.
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}
