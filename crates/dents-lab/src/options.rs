//! Every option of GNU `ls` 9.7, its valid and invalid values, and getopt's rules.
//!
//! The random tests draw from this table; [`crate::known`] and [`crate::shrink`] parse command lines with it. It has
//! no option that only `dls` has: every spelling that GNU accepts must work.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Whether an option has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Never.
    None,
    /// Always: attached, after `=`, or the next word.
    Required,
    /// Of the long form only, and only after `=`.
    Optional,
}

/// One option.
#[derive(Debug, PartialEq, Eq)]
pub struct Opt {
    /// Its letter.
    pub letter: Option<u8>,
    /// Its long name.
    pub long: Option<&'static str>,
    /// Whether it has a value.
    pub arity: Arity,
    /// Values to draw from: every word, some abbreviations, numbers on both sides of every edge.
    pub values: &'static [&'static str],
    /// Values that GNU refuses, or may.
    pub odd: &'static [&'static str],
}

const fn flag(letter: u8, long: &'static str) -> Opt {
    Opt { letter: Some(letter), long: Some(long), arity: Arity::None, values: &[], odd: &[] }
}

const fn letter(letter: u8) -> Opt {
    Opt { letter: Some(letter), long: None, arity: Arity::None, values: &[], odd: &[] }
}

const fn long(long: &'static str) -> Opt {
    Opt { letter: None, long: Some(long), arity: Arity::None, values: &[], odd: &[] }
}

const fn takes(option: Opt, values: &'static [&'static str], odd: &'static [&'static str]) -> Opt {
    Opt { arity: Arity::Required, values, odd, ..option }
}

const fn may_take(option: Opt, values: &'static [&'static str], odd: &'static [&'static str]) -> Opt {
    Opt { arity: Arity::Optional, values, odd, ..option }
}

const WHEN: &[&str] = &[
    "always", "yes", "force", "never", "no", "none", "auto", "tty", "if-tty", "al", "y", "f", "ne", "au", "i",
];
const BAD_WHEN: &[&str] = &["", "a", "n", "sometimes", "ALWAYS"];

/// Values of `--block-size` and of the environment's `…BLOCK_SIZE` and `BLOCKSIZE`.
pub const BLOCK_SIZES: &[&str] = &[
    "1",
    "2",
    "512",
    "1000",
    "1024",
    "4096",
    "K",
    "k",
    "KB",
    "kB",
    "KiB",
    "1K",
    "3k",
    "1KB",
    "M",
    "MB",
    "MiB",
    "2M",
    "G",
    "T",
    "1P",
    "1E",
    "EB",
    "si",
    "human-readable",
    "human",
    "h",
    "s",
    "'1",
    "'K",
    "'MB",
    "'",
    "0x10",
    "010",
    "18446744073709551615",
];
/// Invalid ones.
pub const BAD_BLOCK_SIZES: &[&str] = &[
    "",
    "0",
    "-1",
    "x",
    "1x",
    "1.5",
    "K1",
    "1KiBx",
    "18446744073709551616",
    "1Z",
    "1Y",
    "99999999999999999999K",
    "''1",
];

/// Values of `--time-style` and TIME_STYLE.
pub const TIME_STYLES: &[&str] = &[
    "full-iso",
    "long-iso",
    "iso",
    "locale",
    "full",
    "long",
    "l",
    "posix-full-iso",
    "posix-long-iso",
    "posix-iso",
    "posix-locale",
    "posix-posix-iso",
    "+",
    "+%s",
    "+%Y-%m-%d %H:%M:%S.%N %z",
    "+old %Y\nnew %H:%M",
    "+%b\n%B",
    "+\n",
    "+%a %A %b %B %h %p %P %r %c %x %X %Z",
    "+%d %e %H %I %j %k %l %m %M %S %u %w %y %C %g %G %V %U %W %q",
    "+%D %F %T %R %n%t%%",
    "+%_d %-d %0e %^a %#Z %#p %10Y %-10Y %_10m %010d %+4Y %^B",
    "+%:z %::z %:::z %z %_z %-:z %10z",
    "+%E %O %Ey %Od %EY %Q %! %",
    "+%3N %6N %9N %12N %N %-N %_3N",
    "+%s%%%%%",
    "+%5",
    "+é 宽",
    "+%05s|%_15s|%-s",
    "+%12F|%_12F|%+F|%-F|%D|%_D|%-D|%+12D|%12T|%+14r|%_12R",
    "+%+s|%+5C|%+6Y|%+4Y|%+3y|%+5g|%+12b|%+12Q|%012Q|%-5Q",
    "+%^#Z|%^#p|%^#a|%#c|%^f|%#J|%5:Y|%12::::z|%::",
    "+%1000d",
    "+%1001d",
    "+%900d%101m",
];
/// Invalid ones.
pub const BAD_TIME_STYLES: &[&str] = &["", "x", "posix", "posix-", "posix-x", "FULL-ISO", "i ", "+a\nb\nc"];

/// Values of `--quoting-style` and QUOTING_STYLE.
pub const QUOTING_STYLES: &[&str] = &[
    "literal",
    "shell",
    "shell-always",
    "shell-escape",
    "shell-escape-always",
    "c",
    "c-maybe",
    "escape",
    "locale",
    "clocale",
    "lit",
    "e",
    "lo",
    "cl",
    "shell-a",
    "shell-escape-",
];
/// Invalid ones.
pub const BAD_QUOTING_STYLES: &[&str] = &["", "x", "s", "l", "SHELL", "shell-e-"];

const PATTERNS: &[&str] = &[
    "*",
    "?",
    "??",
    "a*",
    "*a",
    "*.c",
    "*.*",
    ".*",
    ".?",
    ".??*",
    "[a-m]*",
    "[!a-m]*",
    "[^a]*",
    "[[:upper:]]*",
    "*[[:digit:]]*",
    "[[:alpha:][:digit:]]",
    "[]]*",
    "[!]a]*",
    "[a",
    "[",
    "\\*",
    "\\",
    "*\\",
    "f?[0-9]",
    "*~",
    "*é*",
    "?é",
    "[é-ü]",
    "",
    "{a,b}",
    "*/*",
    "a",
    "[a-]*",
    "[z-a]",
    "[[.a.]]*",
    "[[=a=]]*",
    "**",
    "*?*",
    "[[:nonsense:]]",
    "dir",
];

const NUMBERS: &[&str] =
    &["0", "1", "2", "3", "8", "16", "20", "40", "79", "80", "132", "1000", "99999999999", "010", "0x50"];
const BAD_NUMBERS: &[&str] =
    &["", "x", "-1", "80x", "1.5", " 8", "+8", "8 ", "18446744073709551616", "0x", "08", "1K"];

/// All of them, `--help` and `--version` aside.
pub const OPTIONS: &[Opt] = &[
    flag(b'a', "all"),
    flag(b'A', "almost-all"),
    long("author"),
    flag(b'b', "escape"),
    takes(long("block-size"), BLOCK_SIZES, BAD_BLOCK_SIZES),
    flag(b'B', "ignore-backups"),
    letter(b'c'),
    letter(b'C'),
    may_take(long("color"), WHEN, BAD_WHEN),
    flag(b'd', "directory"),
    flag(b'D', "dired"),
    letter(b'f'),
    may_take(flag(b'F', "classify"), WHEN, BAD_WHEN),
    long("file-type"),
    takes(
        long("format"),
        &[
            "verbose",
            "long",
            "commas",
            "horizontal",
            "across",
            "vertical",
            "single-column",
            "ver",
            "lo",
            "co",
            "ho",
            "ac",
            "si",
        ],
        &["", "v", "x", "columns"],
    ),
    long("full-time"),
    letter(b'g'),
    long("group-directories-first"),
    flag(b'G', "no-group"),
    flag(b'h', "human-readable"),
    long("si"),
    flag(b'H', "dereference-command-line"),
    long("dereference-command-line-symlink-to-dir"),
    takes(long("hide"), PATTERNS, &[]),
    may_take(long("hyperlink"), WHEN, BAD_WHEN),
    takes(
        long("indicator-style"),
        &["none", "slash", "file-type", "classify", "n", "s", "f", "cl"],
        &["", "x", "-"],
    ),
    flag(b'i', "inode"),
    takes(flag(b'I', "ignore"), PATTERNS, &[]),
    flag(b'k', "kibibytes"),
    letter(b'l'),
    flag(b'L', "dereference"),
    letter(b'm'),
    flag(b'n', "numeric-uid-gid"),
    flag(b'N', "literal"),
    letter(b'o'),
    letter(b'p'),
    flag(b'q', "hide-control-chars"),
    long("show-control-chars"),
    flag(b'Q', "quote-name"),
    takes(long("quoting-style"), QUOTING_STYLES, BAD_QUOTING_STYLES),
    flag(b'r', "reverse"),
    flag(b'R', "recursive"),
    flag(b's', "size"),
    letter(b'S'),
    takes(
        long("sort"),
        &[
            "none",
            "size",
            "time",
            "version",
            "extension",
            "width",
            "name",
            "no",
            "s",
            "t",
            "v",
            "e",
            "w",
            "na",
        ],
        &["", "n", "x", "Size"],
    ),
    letter(b't'),
    takes(
        long("time"),
        &[
            "atime",
            "access",
            "use",
            "ctime",
            "status",
            "birth",
            "creation",
            "mtime",
            "modification",
            "at",
            "ac",
            "u",
            "ct",
            "st",
            "b",
            "cr",
            "m",
            "mod",
        ],
        &["", "a", "c", "x"],
    ),
    takes(long("time-style"), TIME_STYLES, BAD_TIME_STYLES),
    takes(flag(b'T', "tabsize"), NUMBERS, BAD_NUMBERS),
    letter(b'u'),
    letter(b'U'),
    letter(b'v'),
    takes(flag(b'w', "width"), NUMBERS, BAD_NUMBERS),
    letter(b'x'),
    letter(b'X'),
    flag(b'Z', "context"),
    long("zero"),
    letter(b'1'),
];

impl Opt {
    /// Whether it has this letter or this long name.
    pub fn is(&self, name: &str) -> bool {
        self.long == Some(name) || (name.len() == 1 && self.letter == Some(name.as_bytes()[0]))
    }
}

/// The option of a long name, which may be shortened as long as it stays one.
pub fn by_long(name: &str) -> Option<&'static Opt> {
    let exact = OPTIONS.iter().find(|option| option.long == Some(name));
    let mut longer = OPTIONS.iter().filter(|option| option.long.is_some_and(|long| long.starts_with(name)));
    exact.or_else(|| longer.next().filter(|_| longer.next().is_none()))
}

fn by_letter(letter: u8) -> Option<&'static Opt> {
    OPTIONS.iter().find(|option| option.letter == Some(letter))
}

/// An option as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The option.
    pub option: &'static Opt,
    /// Its value.
    pub value: Option<OsString>,
    /// The words of this option alone.
    pub words: Vec<OsString>,
}

/// A command line, taken apart as getopt would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// An option that GNU `ls` has.
    Option(Said),
    /// An operand, `--` and what follows it, or an unknown word: unchanged.
    Other(OsString),
}

/// Parses arguments. Operands do not end options (POSIXLY_CORRECT is not considered).
pub fn read(args: &[OsString]) -> Vec<Argument> {
    let mut arguments = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let bytes = arg.as_bytes();
        if bytes == b"--" {
            arguments.push(Argument::Other(arg.clone()));
            arguments.extend(rest.cloned().map(Argument::Other));
            break;
        } else if let Some(long) = bytes.strip_prefix(b"--") {
            arguments.push(read_long(arg, long, &mut rest));
        } else if bytes.len() > 1 && bytes[0] == b'-' {
            read_cluster(&bytes[1..], &mut rest, &mut arguments);
        } else {
            arguments.push(Argument::Other(arg.clone()));
        }
    }
    arguments
}

fn read_long<'a>(arg: &OsString, long: &[u8], rest: &mut impl Iterator<Item = &'a OsString>) -> Argument {
    let mut parts = long.splitn(2, |&byte| byte == b'=');
    let name = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let mut value = parts.next().map(|value| OsString::from_vec(value.to_vec()));
    let Some(option) = by_long(&name) else { return Argument::Other(arg.clone()) };
    let mut words = vec![arg.clone()];
    if option.arity == Arity::Required && value.is_none() {
        value = rest.next().cloned();
        words.extend(value.clone());
    }
    Argument::Option(Said { option, value, words })
}

fn read_cluster<'a>(
    mut letters: &[u8],
    rest: &mut impl Iterator<Item = &'a OsString>,
    arguments: &mut Vec<Argument>,
) {
    while let Some((&letter, after)) = letters.split_first() {
        let Some(option) = by_letter(letter) else {
            let bad = [b"-", letters].concat();
            arguments.push(Argument::Other(OsString::from_vec(bad)));
            return;
        };
        let mut words = vec![OsString::from_vec(vec![b'-', letter])];
        if option.arity == Arity::Required {
            let value =
                if after.is_empty() { rest.next().cloned() } else { Some(OsStr::from_bytes(after).into()) };
            words.extend(value.clone());
            arguments.push(Argument::Option(Said { option, value, words }));
            return;
        }
        arguments.push(Argument::Option(Said { option, value: None, words }));
        letters = after;
    }
}

/// The options alone.
pub fn said(args: &[OsString]) -> Vec<Said> {
    let option = |argument| match argument {
        Argument::Option(said) => Some(said),
        Argument::Other(_) => None,
    };
    read(args).into_iter().filter_map(option).collect()
}

/// Replaces every option for which `other` has a replacement; the other arguments keep their places.
pub fn rewrite(args: &[OsString], other: impl Fn(&Said) -> Option<Vec<OsString>>) -> Vec<OsString> {
    let words = |argument| match argument {
        Argument::Option(said) => other(&said).unwrap_or(said.words),
        Argument::Other(word) => vec![word],
    };
    read(args).into_iter().flat_map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> Vec<String> {
        let args: Vec<OsString> = line.split(' ').map(Into::into).collect();
        let name = |said: &Said| {
            said.option
                .long
                .map_or_else(|| char::from(said.option.letter.unwrap_or(b'?')).into(), String::from)
        };
        let text = |said: &Said| match &said.value {
            Some(value) => format!("{}={}", name(said), value.display()),
            None => name(said),
        };
        said(&args).iter().map(text).collect()
    }

    #[test]
    fn getopt_is_followed() {
        assert_eq!(names("-lw80 x -aI *.c --so=si -- -r"), ["l", "width=80", "all", "ignore=*.c", "sort=si"]);
        assert_eq!(names("--width 7 --color -Tx"), ["width=7", "color", "tabsize=x"]);
        assert_eq!(names("-l%a --nonsense --time"), ["l", "time"], "a bad letter ends its cluster");
    }

    #[test]
    fn every_letter_and_name_is_there_once() {
        for option in OPTIONS {
            let same = |other: &&Opt| {
                (option.letter.is_some() && other.letter == option.letter)
                    || (option.long.is_some() && other.long == option.long)
            };
            assert_eq!(OPTIONS.iter().filter(same).count(), 1, "{option:?}");
            assert_eq!(option.values.is_empty(), option.arity == Arity::None, "{option:?}");
        }
    }

    #[test]
    fn what_is_rewritten_leaves_the_rest_in_place() {
        let args: Vec<OsString> = ["-lfw9", "--full-time", "f", "--", "-f"].map(Into::into).to_vec();
        let spelled = rewrite(&args, |said| said.option.is("f").then(|| vec!["-a".into(), "-U".into()]));
        assert_eq!(spelled, ["-l", "-a", "-U", "-w", "9", "--full-time", "f", "--", "-f"]);
    }
}
