//! `--help`, generated from the table of flags.
//!
//! The layout is that of `ls`: options in a left column, their help in a right one, no line over 79 columns.

use alloc::string::String;
use alloc::vec::Vec;

use super::flags::{Arity, Definition, Flag, TABLE, all};

/// Columns of a line, at most.
const LINE: usize = 79;

/// The first column of the help.
const RIGHT: usize = 29;

/// The notes below the options. A note is printed if one of its options is.
const NOTES: [(&[Flag], &str); 4] = [
    (
        &[Flag::Color, Flag::Classify, Flag::Hyperlink],
        "WHEN is always, never, or auto (only if standard output is a terminal). Without WHEN, it is always.",
    ),
    (
        &[Flag::BlockSize],
        "SIZE is a number, a unit, or both, such as 10K. Units are K, M, G, T, P, E or KiB, MiB and so on \
         (powers of 1024), and KB, MB and so on (powers of 1000). A unit without a number is also printed \
         after each size. SIZE may also be human-readable (-h) or si (--si).",
    ),
    (
        &[Flag::TimeStyle],
        "TIME_STYLE is full-iso, long-iso, iso, locale, relative (not in GNU ls), or +FORMAT with the \
         directives of date(1). If FORMAT has two lines, the second is for times of the last six months, the \
         first for all others. A style that begins with posix- applies only outside the POSIX locale. The \
         default is in the environment variable TIME_STYLE.",
    ),
    (
        &[Flag::Color],
        "The environment variable LS_COLORS, which dircolors(1) makes, sets the colours; others are built in.",
    ),
];

/// The options that most people need: printed first, and again in their groups.
const MOST_USED: [Flag; 12] = [
    Flag::Long,
    Flag::All,
    Flag::HumanReadable,
    Flag::SortByTime,
    Flag::SortBySize,
    Flag::Reverse,
    Flag::Directory,
    Flag::OnePerLine,
    Flag::Color,
    Flag::Tree,
    Flag::Git,
    Flag::Icons,
];

/// Examples: arguments, and what the command shows.
const EXAMPLES: [(&str, &str); 3] = [
    ("-lhtr", "what changed last, at the end, with short sizes"),
    ("--tree=2 --only-dirs ~/src", "two levels of directories as a tree"),
    ("--columns=size,git,name", "only these three columns"),
];

/// Before the options.
const INTRODUCTION: &str = "List each FILE; of a directory, list the entries. Without a FILE, list the \
    current directory. Names are in alphabetical order, unless an option sets another order. If a long \
    option needs a value, its letter needs it too.";

/// The last paragraph.
const STATUS: &str = "
Exit status:
  0  everything was listed
  1  something was not listed, such as a subdirectory that may not be read
  2  an operand was not listed, or an option is wrong
";

/// The text of `--help` for a program called `program`, argv\[0\] as it came.
#[must_use]
pub fn text(program: &[u8]) -> Vec<u8> {
    let mut out = String::with_capacity(8192);
    out.push_str(" [OPTION]... [FILE]...\n");
    wrap(&mut out, INTRODUCTION, 0, 0);
    out.push_str("\nMost used:\n");
    let defined = |flag: &Flag| all().find(|one| one.flag == *flag);
    MOST_USED.iter().filter_map(defined).for_each(|one| option(&mut out, one));
    examples(&mut out, &String::from_utf8_lossy(program));
    for (group, definitions) in TABLE {
        out.push('\n');
        out.push_str(group.heading());
        out.push('\n');
        definitions.iter().for_each(|one| option(&mut out, one));
    }
    for (flags, note) in NOTES {
        if all().any(|definition| flags.contains(&definition.flag)) {
            out.push('\n');
            wrap(&mut out, note, 0, 0);
        }
    }
    out.push_str(STATUS);
    [b"Usage: ", program, out.as_bytes()].concat()
}

fn examples(out: &mut String, program: &str) {
    out.push_str("\nExamples:\n");
    for (arguments, shows) in EXAMPLES {
        out.extend(["  ", program, " ", arguments, "\n"]);
        wrap(out, shows, 0, RIGHT);
    }
}

/// One option: both spellings on the left, the help on the right, or on the next line if the left side is too long.
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
    fn shows_every_option() {
        let help = help();
        for definition in all() {
            let left = spelling(definition);
            let shown = help.lines().any(|line| line == left || line.starts_with(&alloc::format!("{left} ")));
            assert!(shown, "{left}");
        }
    }

    #[test]
    fn layout() {
        let help = help();
        assert!(help.starts_with("Usage: ls [OPTION]... [FILE]...\n"));
        let at = |text: &str| help.find(text).unwrap();
        assert!(at("\nMost used:\n") < at("\nExamples:\n") && at("\nExamples:\n") < at("\nWhich entries:\n"));
        let most_used = &help[at("\nMost used:\n")..at("\nExamples:\n")];
        assert_eq!(
            most_used.lines().filter(|line| line.starts_with("  -") || line.starts_with("      --")).count(),
            12
        );
        assert!(help.contains("\n  ls -lhtr\n                             what changed last"));
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
