//! `cargo xtask features [PATH]`: the features of `dls` and its peers, tried one by one, for docs/FEATURES.md.
//!
//! Each cell of the table is an attempt (`table.toml`): a command that runs in a small project (`project.rs`), and a
//! text that its output must contain. If the command succeeds and the output has the text, the cell is a yes. For
//! programs that are not installed, cells come from their documentation, and are marked so.

mod project;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::pictures::pty;
use crate::step::{Result, Steps, cargo, target_dir, workspace};
use project::Project;
use table::{Cell, Row, Want, rows};

const PAGE: &str = "docs/FEATURES.md";

/// The columns.
const PROGRAMS: [Program; 7] = [
    Program::new("`dls`", "dls"),
    Program::new("GNU `ls`", "ls"),
    // Without an operand it reads names from standard input.
    Program { last: &["."], ..Program::new("eza", "eza") },
    Program::new("lsd", "lsd"),
    Program::new("lsr", "lsr"),
    Program::new("uutils", "uu_ls"),
    Program { help: &["-n", "-c", "help ls"], ..Program::new("nushell", "nu") },
];

/// A program to try.
struct Program {
    title: &'static str,
    file: &'static str,
    /// The option that prints its help.
    help: &'static [&'static str],
    /// The last arguments.
    last: &'static [&'static str],
}

impl Program {
    const fn new(title: &'static str, file: &'static str) -> Program {
        Program { title, file, help: &["--help"], last: &[] }
    }
}

/// A program that is on this machine.
struct Found {
    path: PathBuf,
    last: &'static [&'static str],
    /// All its help.
    help: String,
    /// The first number of its `--version`.
    version: String,
}

impl Found {
    fn new(program: &Program, directories: &[PathBuf]) -> Option<Found> {
        let path =
            directories.iter().map(|directory| directory.join(program.file)).find(|path| path.is_file())?;
        let told = |args: &[&str]| {
            let output = Command::new(&path).args(args).stdin(Stdio::null()).output().ok()?;
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let is_number = |word: &&str| word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
        let version = told(&["--version"])?.split_whitespace().find(is_number).unwrap_or("?").to_string();
        Some(Found { help: told(program.help)?, version, path, last: program.last })
    }
}

/// `path` is searched before `PATH`, for peers that are not installed. Ours is the release build.
pub(crate) fn run(path: Option<&str>) -> Result<()> {
    let mut steps = Steps::default();
    steps.run("the release build", &mut cargo(["build", "--release", "--package", "dents-ls"]));
    steps.finish()?;
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut directories = vec![target_dir().join("release")];
    directories.extend(std::env::split_paths(path.unwrap_or_default()).chain(std::env::split_paths(&paths)));
    let found = PROGRAMS.each_ref().map(|program| Found::new(program, &directories));
    let project = Project::make().map_err(|error| format!("the project to try it in: {error}"))?;
    let rows: Vec<String> = rows().iter().map(|row| line(row, &found, &project)).collect();
    let table = table(&found, &rows);
    fs::write(workspace().join(PAGE), page(&table)).map_err(|error| format!("{PAGE}: {error}"))?;
    println!("{PAGE}: {} rows", rows.len());
    Ok(())
}

fn line(row: &Row, found: &[Option<Found>; 7], project: &Project) -> String {
    let cells: Vec<String> = row
        .cells
        .iter()
        .zip(found)
        .map(|(cell, found)| match (cell, found) {
            (Cell::Told(text), None) => format!("{text}¹"),
            (Cell::Run(_) | Cell::Lacks(_), None) => String::from("not tried"),
            (Cell::Told(text), Some(_)) => format!("{text}²"),
            (Cell::Lacks(words), Some(program)) => {
                let known = words.iter().find(|word| program.help.contains(word.as_str()));
                known.map_or(String::from("no"), |word| format!("? ({word})"))
            }
            (Cell::Run(args), Some(program)) => {
                let args = args.iter().map(String::as_str).chain(program.last.iter().copied());
                attempt(&row.want, &program.path, &args.collect::<Vec<_>>(), project)
            }
        })
        .collect();
    println!("{}: {}", row.what, cells.join(", "));
    format!("| {} | {} |\n", row.what, cells.join(" | "))
}

/// Runs a command and evaluates its output: yes, no, or a number.
fn attempt(want: &Want, program: &Path, args: &[&str], project: &Project) -> String {
    if want.is_count() {
        return project.calls(program, args).map_or(String::from("not tried"), |calls| calls.to_string());
    }
    let output = if want.needs_terminal() {
        pty::run(project.command(program, args), 50, 80).ok()
    } else {
        let output = project.command(program, args).output().ok();
        output.filter(|output| output.status.success()).map(|output| output.stdout)
    };
    let text = output.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let met = text.is_some_and(|text| want.is_met(&text, || project.gnu(args)));
    String::from(if met { "yes" } else { "no" })
}

/// The table, and the meaning of its marks.
fn table(found: &[Option<Found>; 7], rows: &[String]) -> String {
    let titles: Vec<String> = PROGRAMS
        .iter()
        .zip(found)
        .map(|(program, found)| match found {
            Some(found) => format!("{} {}", program.title, found.version),
            None => String::from(program.title),
        })
        .collect();
    format!(
        "| | {} |\n|---|{}\n{}\n\
         ¹ The program was not installed: the cell says what its documentation or its author says.\n\
         ² No single command can show it: the cell says what the program's documentation says.\n",
        titles.join(" | "),
        "---|".repeat(titles.len()),
        rows.concat(),
    )
}

fn page(table: &str) -> String {
    format!(
        "# What can it do?\n\n\
         `cargo xtask features` writes this page: it runs a command for each cell and checks the output. Where no option of a program\n\
         is known for a row, it searches the program's help for words instead. Commands and words are in\n\
         [crates/xtask/src/features/table.toml](../crates/xtask/src/features/table.toml): edit that file, not this page.\n\n{table}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tried_tells_yes_from_no() {
        let project = Project::make().unwrap();
        let try_ =
            |want: &[&str], args: &[&str]| attempt(&Want::new(want), Path::new("/bin/ls"), args, &project);
        assert_eq!(try_(&["order", "z", "a.txt"], &["--group-directories-first", "-1"]), "yes");
        assert_eq!(try_(&["order", "z", "a.txt"], &["-1"]), "no");
        assert_eq!(try_(&["ok"], &["--no-such-option"]), "no");
        assert_eq!(try_(&["same-as-gnu"], &["-la"]), "yes");
        assert_eq!(try_(&["harmless"], &["--show-control-chars", "-N", "h"]), "no");
        assert_eq!(try_(&["harmless"], &["h"]), "yes");
        assert_eq!(try_(&["icon"], &["-1"]), "no");
    }

    #[test]
    fn a_program_that_is_missing_is_not_guessed_about() {
        let project = Project::make().unwrap();
        let missing = [const { None }; 7];
        for row in rows() {
            let line = line(&row, &missing, &project);
            assert!(!line.contains("| yes |") && !line.contains("| no |"), "{line}");
        }
    }

    #[test]
    fn the_page_has_the_rows_of_the_table() {
        let page = fs::read_to_string(workspace().join(PAGE)).expect("it is committed");
        let rows: Vec<String> = rows().iter().map(|row| format!("| {} |", row.what)).collect();
        let lines = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| |"));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len(), rows.len(), "run `cargo xtask features`");
        for (line, row) in lines.iter().zip(rows) {
            assert!(line.starts_with(&row), "{row}: run `cargo xtask features`");
        }
    }
}
