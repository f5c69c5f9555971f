//! `--help`, generated from the table of flags.
//!
//! The layout people know from `ls`: options in a left column, what they do in a right one, no line over 79 columns.
//! Only what is implemented is shown.

use alloc::string::String;
use alloc::vec::Vec;

use super::flags::{Arity, Definition, Flag, TABLE, all};

/// Columns of a line, at most.
const LINE: usize = 79;

/// Where the right column begins.
const RIGHT: usize = 29;

/// What is explained below the options, each with the options that make it worth explaining.
const NOTES: [(&[Flag], &str); 4] = [
    (
        &[Flag::BlockSize],
        "SIZE is a number with a unit, or one of both: K, M, G, T, P, E count by 1024, and so do KiB, MiB and so \
         on; KB, MB and so on count by 1000. Given without a number, the unit is printed with each size. \
         human-readable and si are sizes too.",
    ),
    (
        &[Flag::TimeStyle],
        "TIME_STYLE is full-iso, long-iso, iso, locale, or +FORMAT, a format of date(1); a second line in it is \
         for times of the last six months, the first one then for all others. After posix- it counts only outside the \
         POSIX locale. The environment variable TIME_STYLE says what is used without the option.",
    ),
    (
        &[Flag::Color, Flag::Classify, Flag::Hyperlink],
        "WHEN is always (also if left out), never, or auto: when standard output is a terminal.",
    ),
    (&[Flag::Color], "The environment variable LS_COLORS has the colours; dircolors(1) makes it."),
];

/// Before the options.
const INTRODUCTION: &str = "Lists what is in directories, or FILEs themselves; without a FILE, the current \
    directory. In order of name, unless told otherwise. A value that a long option needs, its letter needs too.";

/// After all else.
const STATUS: &str = "
Exit status:
  0  all went well
  1  something could not be listed, such as a directory below
  2  something named on the command line could not be, or the line is wrong
";

/// The text of `--help` for a program called `program`, argv\[0\] as it came.
#[must_use]
pub fn text(program: &[u8]) -> Vec<u8> {
    let mut out = String::with_capacity(8192);
    out.push_str(" [OPTION]... [FILE]...\n");
    wrap(&mut out, INTRODUCTION, 0, 0);
    for (group, definitions) in TABLE {
        if definitions.iter().any(|definition| definition.implemented) {
            out.push('\n');
            out.push_str(group.heading());
            out.push('\n');
        }
        definitions.iter().filter(|definition| definition.implemented).for_each(|one| option(&mut out, one));
    }
    for (flags, note) in NOTES {
        if all().any(|definition| definition.implemented && flags.contains(&definition.flag)) {
            out.push('\n');
            wrap(&mut out, note, 0, 0);
        }
    }
    out.push_str(STATUS);
    [b"Usage: ", program, out.as_bytes()].concat()
}

/// One option: both spellings on the left, what it does on the right, or below if the left is too long.
fn option(out: &mut String, definition: &Definition) {
    let left = spelling(definition);
    out.push_str(&left);
    let mut at = left.len();
    if at + 1 >= RIGHT {
        out.push('\n');
        at = 0;
    }
    for line in definition.help.split('\n') {
        wrap(out, line, at, RIGHT);
        at = 0;
    }
}

/// `  -T, --tabsize=COLS`
fn spelling(definition: &Definition) -> String {
    let mut left = String::from("  ");
    match definition.letter {
        Some(letter) => left.extend(['-', letter as char]),
        None => left.push_str("  "),
    }
    if let Some(long) = definition.long {
        left.push_str(if definition.letter.is_some() { ", --" } else { "  --" });
        left.push_str(long);
    }
    match definition.arity {
        Arity::None => {}
        Arity::Required => left.extend(["=", definition.value_name]),
        Arity::Optional => left.extend(["[=", definition.value_name, "]"]),
    }
    left
}

/// Appends `text` as lines from column `indent` to [`LINE`], the first of which has `at` columns already.
fn wrap(out: &mut String, text: &str, mut at: usize, indent: usize) {
    let mut begun = false;
    for word in text.split(' ') {
        if begun && at + 1 + word.len() > LINE {
            out.push('\n');
            at = 0;
            begun = false;
        }
        if begun {
            out.push(' ');
            at += 1;
        }
        while at < indent {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += word.len();
        begun = true;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help() -> String {
        String::from_utf8(text(b"ls")).unwrap()
    }

    #[test]
    fn nothing_is_too_wide() {
        for line in help().lines() {
            assert!(line.len() <= LINE && line.trim_end() == line && line.is_ascii(), "{line:?}");
        }
    }

    #[test]
    fn shows_what_is_implemented_and_nothing_else() {
        let help = help();
        for definition in all() {
            let left = spelling(definition);
            let shown = help.lines().any(|line| line == left || line.starts_with(&alloc::format!("{left} ")));
            assert_eq!(shown, definition.implemented, "{left}");
        }
    }

    #[test]
    fn layout() {
        let help = help();
        assert!(help.starts_with("Usage: ls [OPTION]... [FILE]...\n"));
        assert!(help.contains("\n  -w, --width=COLS           lines are COLS wide; 0 sets no limit\n"));
        assert!(help.contains("\n  -m                         one after"));
        assert!(help.contains("\n      --color[=WHEN]         colour"));
        assert!(
            help.contains(
                "\n      --group-directories-first\n                             directories before"
            )
        );
        assert!(help.contains("\nExit status:\n  0  "));
    }
}
