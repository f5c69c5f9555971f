//! What can be wrong with the command line, and the words that say it.
//!
//! The diagnostics are those a drop-in must print: getopt's, and GNU `ls`'s for values. getopt quotes with plain
//! apostrophes everywhere; `ls` quotes values as the locale does.

use alloc::vec::Vec;

use dents_locale::Locale;

use super::numbers::{BadNumber, COUNTS, THREADS};

/// The first mistake on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsageError<'a> {
    /// A letter that is no option.
    InvalidOption(u8),
    /// A letter whose value is missing.
    LetterNeedsValue(u8),
    /// A long option that is none; as typed after `--`, with its `=value`.
    UnrecognizedOption(&'a [u8]),
    /// A beginning of several long options.
    AmbiguousOption {
        /// As typed after `--`, with its `=value`.
        typed: &'a [u8],
        /// What it could be.
        candidates: Vec<&'static str>,
    },
    /// `--name=value` for an option without one.
    ValueNotAllowed(&'static str),
    /// A long option whose value is missing.
    ValueNeeded(&'static str),
    /// A value that is not one of the words allowed.
    BadWord {
        /// The long option.
        option: &'static str,
        /// What was given.
        value: &'a [u8],
        /// It shortens several words.
        ambiguous: bool,
        /// The words allowed, one slice per meaning.
        valid: &'static [&'static [&'static str]],
    },
    /// A number that cannot be used.
    BadNumber {
        /// What was given.
        value: &'a [u8],
        /// What is wrong with it.
        why: BadNumber,
    },
    /// A time style that is none; from Plan, by [`super::words::time_style`].
    BadTimeStyle {
        /// What was given, without `posix-`.
        value: &'a [u8],
        /// It shortens several words.
        ambiguous: bool,
    },
    /// `--dired` and `--zero`, which cannot both be had; from Plan.
    DiredAndZero,
    /// `--summary` and `--csv`, whose table has no place for it; from Plan.
    SummaryAndCsv,
    /// `--tree` with a format that has no lines to draw it in; from Plan.
    TreeAndRows,
    /// `--tree` and `--top`, where there is something that says more; from Plan.
    TreeAndTop,
    /// A `+FORMAT` of more than two lines; from Plan, by [`super::words::time_style`].
    BadTimeFormat {
        /// What was given, without the `+`.
        value: &'a [u8],
    },
}

impl UsageError<'_> {
    /// The exit status: 1 for a word that is not in an option's list, 2 for all else. That is GNU's own unevenness.
    #[must_use]
    pub fn status(&self) -> u8 {
        if matches!(self, Self::BadWord { .. }) { 1 } else { 2 }
    }

    /// The message for stderr, whole lines. `program` is argv\[0\] as it came; `utf8` says whether the locale's
    /// characters are UTF-8, which decides how values are quoted.
    #[must_use]
    pub fn message(&self, program: &[u8], utf8: bool) -> Vec<u8> {
        let mut out = self.message_at(program, utf8);
        if !matches!(
            self,
            Self::BadNumber { .. }
                | Self::BadTimeFormat { .. }
                | Self::DiredAndZero
                | Self::SummaryAndCsv
                | Self::TreeAndRows
                | Self::TreeAndTop
        ) {
            put(&mut out, &[b"Try '", program, b" --help' for more information.\n"]);
        }
        out
    }

    /// The message without the hint that `--help` would help. `place` is the program's name, or that and where in a file
    /// it was.
    #[must_use]
    pub fn message_at(&self, place: &[u8], utf8: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        put(&mut out, &[place, b": "]);
        self.say(&mut out, utf8);
        out.push(b'\n');
        if let Self::BadWord { valid, .. } = self {
            list_words(&mut out, valid, utf8);
        } else if let Self::BadTimeStyle { .. } = self {
            out.extend_from_slice(TIME_STYLES);
        }
        out
    }

    /// The first line, without the program's name.
    fn say(&self, out: &mut Vec<u8>, utf8: bool) {
        match self {
            Self::InvalidOption(letter) => put(out, &[b"invalid option -- '", &[*letter], b"'"]),
            Self::LetterNeedsValue(letter) => {
                put(out, &[b"option requires an argument -- '", &[*letter], b"'"])
            }
            Self::UnrecognizedOption(typed) => put(out, &[b"unrecognized option '--", typed, b"'"]),
            Self::AmbiguousOption { typed, candidates } => {
                put(out, &[b"option '--", typed, b"' is ambiguous; possibilities:"]);
                for name in candidates {
                    put(out, &[b" '--", name.as_bytes(), b"'"]);
                }
            }
            Self::ValueNotAllowed(name) => {
                put(out, &[b"option '--", name.as_bytes(), b"' doesn't allow an argument"]);
            }
            Self::ValueNeeded(name) => put(out, &[b"option '--", name.as_bytes(), b"' requires an argument"]),
            Self::BadWord { option, value, ambiguous, .. } => {
                let option = [b"--", option.as_bytes()].concat();
                bad_argument(out, value, *ambiguous, &quote(&option, utf8), utf8);
            }
            Self::BadTimeStyle { value, ambiguous } => {
                bad_argument(out, value, *ambiguous, &quote(b"time style", utf8), utf8);
            }
            Self::DiredAndZero => put(out, &[b"--dired and --zero are incompatible"]),
            Self::SummaryAndCsv => put(
                out,
                &[b"--summary and --csv are incompatible: a table has no place for a sum; use --json or --ndjson"],
            ),
            Self::TreeAndRows => put(
                out,
                &[b"--tree is incompatible with --json, --ndjson, --csv and --count: rows have no branches; use -R"],
            ),
            Self::TreeAndTop => {
                put(out, &[b"--tree and --top are incompatible: use --tree-limit=N, which says how many more there are"]);
            }
            Self::BadTimeFormat { value } => put(out, &[b"invalid time style format ", &quote(value, utf8)]),
            Self::BadNumber { value, why } => say_number(out, value, *why, utf8),
        }
    }
}

fn say_number(out: &mut Vec<u8>, value: &[u8], why: BadNumber, utf8: bool) {
    match why {
        BadNumber::Width => put(out, &[b"invalid line width: ", &quote(value, utf8)]),
        BadNumber::TabSize => put(out, &[b"invalid tab size: ", &quote(value, utf8)]),
        BadNumber::TabSizeTooLarge => {
            put(
                out,
                &[b"invalid tab size: ", &quote(value, utf8), b": Value too large for defined data type"],
            );
        }
        BadNumber::Threads => {
            let range = alloc::format!(" (must be {} to {})", THREADS.start(), THREADS.end());
            put(out, &[b"invalid number of threads: ", &quote(value, utf8), range.as_bytes()]);
        }
        BadNumber::InFlight => {
            let range = alloc::format!(" (must be {} to {})", THREADS.start(), THREADS.end());
            put(out, &[b"invalid number of questions in flight: ", &quote(value, utf8), range.as_bytes()]);
        }
        BadNumber::Top => {
            put(
                out,
                &[b"invalid number of entries for --top: ", &quote(value, utf8), b" (must be 1 or more)"],
            );
        }
        BadNumber::Timeout => {
            let units = b" (must be a number of seconds, or end in ms, s, m, h, d, w or y)";
            put(out, &[b"invalid timeout: ", &quote(value, utf8), units]);
        }
        BadNumber::GitBudget => {
            let units = b" (must be a number of seconds, or end in ms, s, m, h, d, w or y)";
            put(out, &[b"invalid time for git: ", &quote(value, utf8), units]);
        }
        BadNumber::Depth => {
            let range = alloc::format!(" (must be {} to {})", COUNTS.start(), COUNTS.end());
            put(out, &[b"invalid depth for --tree: ", &quote(value, utf8), range.as_bytes()]);
        }
        BadNumber::Limit => {
            let range = alloc::format!(" (must be {} to {})", COUNTS.start(), COUNTS.end());
            let what = b"invalid number of entries for --tree-limit: ";
            put(out, &[what, &quote(value, utf8), range.as_bytes()]);
        }
        BadNumber::Budget => {
            let units = b" (must be a number of seconds, or end in ms, s, m, h, d, w or y; 0 is no limit)";
            put(out, &[b"invalid time for --total-size: ", &quote(value, utf8), units]);
        }
        // These three come raw between apostrophes, whatever the locale.
        BadNumber::BlockSize => put(out, &[b"invalid --block-size argument '", value, b"'"]),
        BadNumber::BlockSizeSuffix => put(out, &[b"invalid suffix in --block-size argument '", value, b"'"]),
        BadNumber::BlockSizeTooLarge => put(out, &[b"--block-size argument '", value, b"' too large"]),
    }
}

/// What GNU lists after a bad time style, the same in every locale.
const TIME_STYLES: &[u8] = b"Valid arguments are:
  - [posix-]full-iso
  - [posix-]long-iso
  - [posix-]iso
  - [posix-]locale
  - +FORMAT (e.g., +%H:%M) for a 'date'-style format
";

fn bad_argument(out: &mut Vec<u8>, value: &[u8], ambiguous: bool, context: &[u8], utf8: bool) {
    let what: &[u8] = if ambiguous { b"ambiguous" } else { b"invalid" };
    put(out, &[what, b" argument ", &quote(value, utf8), b" for ", context]);
}

/// One line per meaning, its spellings side by side.
fn list_words(out: &mut Vec<u8>, valid: &[&[&str]], utf8: bool) {
    out.extend_from_slice(b"Valid arguments are:\n");
    for spellings in valid {
        let mut before: &[u8] = b"  - ";
        for word in *spellings {
            put(out, &[before, &quote(word.as_bytes(), utf8)]);
            before = b", ";
        }
        out.push(b'\n');
    }
}

fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}

/// A value between the locale's quotes, with C's escapes for what would not print: ‘x’ in UTF-8, else 'x'.
#[must_use]
pub fn quote(value: &[u8], utf8: bool) -> Vec<u8> {
    dents_render::quote::quote(value, if utf8 { &Locale::C_UTF8 } else { &Locale::C })
}

#[cfg(test)]
mod tests {
    use super::super::words::{When, Words, time_style};
    use super::*;

    fn lossy(bytes: Vec<u8>) -> alloc::string::String {
        alloc::string::String::from_utf8_lossy(&bytes).into_owned()
    }

    #[test]
    fn quotes_as_the_locale() {
        assert_eq!(lossy(quote(b"a'b\n\xff\xc3\xa9\\\"", true)), r#"‘a'b\n\377é\\"’"#);
        assert_eq!(lossy(quote("‘x’".as_bytes(), true)), "‘‘x\\’’");
        assert_eq!(
            lossy(quote(b"a'b\n\xff\xc3\xa9\\\"\x01\x7f", false)),
            r#"'a\'b\n\377\303\251\\"\001\177'"#
        );
        assert_eq!(
            lossy(quote("\u{2028}\u{85}\u{ffff}\u{ad}".as_bytes(), true)),
            "‘\\342\\200\\250\\302\\205\\357\\277\\277\u{ad}’"
        );
        assert_eq!(lossy(quote(b"\xed\xa0\x80\x07\x08\t\x0b\x0c\r", true)), r"‘\355\240\200\a\b\t\v\f\r’");
    }

    #[test]
    fn words_are_listed() {
        let error =
            UsageError::BadWord { option: "color", value: b"x", ambiguous: false, valid: When::SPELLINGS };
        let expected = "ls: invalid argument ‘x’ for ‘--color’\nValid arguments are:\n  - ‘always’, ‘yes’, ‘force’\n  \
            - ‘never’, ‘no’, ‘none’\n  - ‘auto’, ‘tty’, ‘if-tty’\nTry 'ls --help' for more information.\n";
        assert_eq!(lossy(error.message(b"ls", true)), expected);
        assert_eq!(lossy(error.message(b"ls", false)), expected.replace(['‘', '’'], "'"));
        assert_eq!(error.status(), 1);
    }

    #[test]
    fn time_styles_are_listed() {
        let error = time_style(b"l", false).unwrap_err();
        let expected = "ls: ambiguous argument 'l' for 'time style'\nValid arguments are:\n  - [posix-]full-iso\n  \
            - [posix-]long-iso\n  - [posix-]iso\n  - [posix-]locale\n  - +FORMAT (e.g., +%H:%M) for a 'date'-style \
            format\nTry 'ls --help' for more information.\n";
        assert_eq!(lossy(error.message(b"ls", false)), expected);
        assert_eq!(error.status(), 2);
        let error = time_style(b"+a\nb\nc", false).unwrap_err();
        assert_eq!(lossy(error.message(b"ls", false)), "ls: invalid time style format 'a\\nb\\nc'\n");
    }

    #[test]
    fn numbers_need_no_help() {
        let say = |value, why| lossy(UsageError::BadNumber { value, why }.message(b"ls", true));
        assert_eq!(say(b"5x\\x", BadNumber::Width), "ls: invalid line width: ‘5x\\\\x’\n");
        assert_eq!(say(b"-5", BadNumber::TabSize), "ls: invalid tab size: ‘-5’\n");
        let too_large = "ls: invalid tab size: ‘9’: Value too large for defined data type\n";
        assert_eq!(say(b"9", BadNumber::TabSizeTooLarge), too_large);
        assert_eq!(say(b"\n", BadNumber::BlockSize), "ls: invalid --block-size argument '\n'\n");
        assert_eq!(
            say(b"1x", BadNumber::BlockSizeSuffix),
            "ls: invalid suffix in --block-size argument '1x'\n"
        );
        assert_eq!(say(b"Z", BadNumber::BlockSizeTooLarge), "ls: --block-size argument 'Z' too large\n");
        assert_eq!(say(b"0", BadNumber::Threads), "ls: invalid number of threads: ‘0’ (must be 1 to 1024)\n");
    }
}
