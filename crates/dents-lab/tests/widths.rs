//! Widths in a terminal of 40 columns: characters of two columns and of none, names from right to left, icons.
//!
//! `tmux` decides. Nothing wraps: the lines on its screen are those that `dls` wrote. And the names are at their
//! columns: a mark that is written there afterwards, by the cursor's address, replaces the first letter of the name.

use std::fs;
use std::path::Path;

use dents_lab::fixture::TempDir;
use dents_lab::process::{Run, quote};
use dents_lab::suite::release;
use dents_lab::tmux::Screen;

/// Names and their widths. Each begins with a letter of one column, which a mark can replace.
const NAMES: &[(&str, usize)] = &[
    ("a", 1),
    ("b日本語", 7),
    ("c🦀crab.rs", 10),
    // With combining accents.
    ("de\u{301}e\u{301}", 3),
    ("eשלום", 5),
    ("fمرحبا", 6),
    ("g한글.txt", 9),
    // A vowel above its consonant.
    ("hท\u{e31}", 2),
    ("iＡＢＣ.py", 10),
    ("jplain", 6),
    ("k漢字🦀.md", 10),
    // Characters that turn the direction of writing: they have no column and, as with GNU, are not escaped.
    ("lm\u{202e}txt.sh", 8),
    ("mé.c", 4),
    ("n日", 3),
];

fn fixture() -> TempDir {
    let dir = TempDir::new("widths").expect("fixture");
    for (name, _) in NAMES {
        fs::write(dir.path().join(name), "").expect("file");
    }
    dir
}

/// The output at this width.
fn written(dir: &Path, options: &[&str], columns: u16) -> Vec<String> {
    let width = format!("-w{columns}");
    let fixed = ["--quoting-style=shell-escape", "-T0", &width];
    let run = Run::new(release().path()).cwd(dir).env("LC_ALL", "C.UTF-8").args(options).args(fixed);
    let stdout = run.output().expect("dls starts").stdout;
    String::from_utf8(stdout).expect("all names are UTF-8").lines().map(String::from).collect()
}

/// The position of a name's first letter: row and column from 0, and its offset in the line.
#[derive(Debug)]
struct Position {
    row: usize,
    column: usize,
    at: usize,
}

/// The positions of all names in these lines. Between names there are only characters of one column.
fn positions(lines: &[String]) -> Vec<Position> {
    let mut positions = Vec::new();
    for (row, line) in lines.iter().enumerate() {
        let mut on_line: Vec<(usize, &str, usize)> =
            NAMES.iter().filter_map(|(name, width)| Some((find(line, name)?, *name, *width))).collect();
        on_line.sort_unstable();
        let (mut column, mut end) = (0, 0);
        for (at, name, width) in on_line {
            column += line[end..at].chars().count();
            positions.push(Position { row, column, at });
            column += width;
            end = at + name.len();
        }
    }
    positions
}

/// A name in a line, as a word.
fn find(line: &str, name: &str) -> Option<usize> {
    let ends =
        |at: usize| line[at + name.len()..].starts_with([' ', ',', '/']) || line.len() == at + name.len();
    let begins = |at: usize| at == 0 || line[..at].ends_with(' ');
    line.match_indices(name).map(|(at, _)| at).find(|at| begins(*at) && ends(*at))
}

/// The line with another first letter of the name at this offset.
fn marked(line: &str, at: usize) -> String {
    format!("{}@{}", &line[..at], &line[at + 1..])
}

fn assert_stands(options: &[&str], columns: u16) {
    let dir = fixture();
    let lines = written(dir.path(), options, columns);
    let positions = positions(&lines);
    assert_eq!(positions.len(), NAMES.len(), "{options:?}: {lines:#?}");
    let dls = release();
    let command = format!(
        "cd {}; {} {}",
        quote(dir.path().as_os_str()),
        quote(dls.path().as_os_str()),
        options.join(" ")
    );
    let screen = Screen::new(columns, 40).expect("a screen");
    let seen = screen.show(&command).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(seen, lines, "{options:?}: lines wrap, or something is lost");
    let marks =
        |position: &Position| format!("printf '\\033[{};{}H@'", position.row + 1, position.column + 1);
    let marks: Vec<String> = positions.iter().map(marks).collect();
    let seen =
        screen.show(&format!("{command}\n{}", marks.join("\n"))).unwrap_or_else(|error| panic!("{error}"));
    let mut expected = lines.clone();
    for position in &positions {
        expected[position.row] = marked(&expected[position.row], position.at);
    }
    assert_eq!(seen, expected, "{options:?}: a name begins elsewhere");
}

#[test]
fn columns() {
    assert_stands(&["-C"], 40);
    assert_stands(&["-x"], 40);
    assert_stands(&["-m"], 40);
}

#[test]
fn lines() {
    assert_stands(&["-1"], 40);
    assert_stands(&["-go", "--time-style=+%F"], 40);
    assert_stands(&["-l"], 80);
}

#[test]
fn icons() {
    for options in [&["-C", "--icons"], &["-x", "--icons"], &["-m", "--icons"], &["-1", "--icons"]] {
        assert_stands(options, 40);
    }
    assert_stands(&["-go", "--time-style=+%F", "--icons"], 40);
}

/// Columns are aligned, whatever they contain.
#[test]
fn columns_are_straight() {
    let dir = fixture();
    for options in [&["-C"][..], &["-x"], &["-C", "--icons"], &["-x", "--icons"]] {
        let lines = written(dir.path(), options, 40);
        let positions = positions(&lines);
        let starts = |row: usize| {
            positions.iter().filter(move |position| position.row == row).map(|position| position.column)
        };
        let first: Vec<usize> = starts(0).collect();
        assert!(first.len() > 1, "{options:?}: {lines:#?}");
        for row in 1..lines.len() {
            assert!(
                starts(row).zip(&first).all(|(column, first)| column == *first),
                "{options:?}: {lines:#?}"
            );
        }
    }
}
