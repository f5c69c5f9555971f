//! Errors in the command line, and their messages.
//!
//! GNU `ls` has the same messages, byte for byte: getopt's, and its own for values. getopt quotes with plain
//! apostrophes in every locale; `ls` quotes values as the locale does.

use alloc::string::String;
use alloc::vec::Vec;

use crate::locale::{Domain, Language};
use core::fmt::Display;
use core::ops::RangeInclusive;
use dents_sys::Errno;

use super::flags::{self, is_gnu};
use super::nearest::nearest;
use super::numbers::{BadNumber, COUNTS, THREADS, TIME};
use super::words::{NamedTimeStyle, RELATIVE, Words};

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
        /// The options that begin with it.
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
        /// The value.
        value: &'a [u8],
        /// It shortens several words.
        ambiguous: bool,
        /// The words allowed, one slice per meaning.
        valid: &'static [&'static [&'static str]],
    },
    /// A number that cannot be used.
    BadNumber {
        /// The value.
        value: &'a [u8],
        /// The error.
        why: BadNumber,
    },
    /// A time style that is none; from Plan, by [`super::time_style()`].
    BadTimeStyle {
        /// The value without `posix-`.
        value: &'a [u8],
        /// It shortens several words.
        ambiguous: bool,
    },
    /// `--dired` and `--zero`, which cannot both be had; from Plan.
    DiredAndZero,
    /// `--summary` with `--csv`: a table of CSV has no row for a summary. Plan finds this error.
    SummaryAndCsv,
    /// `--tree` with a format that has no lines to draw it in; from Plan.
    TreeAndRows,
    /// `--tree` with `--top`: `--tree` has an option of its own for that. Plan finds this error.
    TreeAndTop,
    /// A `+FORMAT` of more than two lines; from Plan, by [`super::time_style()`].
    BadTimeFormat {
        /// The value without the `+`.
        value: &'a [u8],
    },
}

impl UsageError<'_> {
    /// The exit status: 1 for a word that is not in the list of an option, 2 for all other errors. GNU `ls` has the
    /// same inconsistency.
    #[must_use]
    pub fn status(&self) -> u8 {
        if matches!(self, Self::BadWord { .. }) { 1 } else { 2 }
    }

    /// The message for stderr, whole lines. `program` is argv\[0\] as it came.
    #[must_use]
    pub fn message(&self, program: &[u8], language: &Language) -> Vec<u8> {
        let base = crate::program::base(program);
        let mut out = self.of_getopt(program, language).unwrap_or_else(|| self.message_at(base, language));
        if !crate::program::is_drop_in(program) {
            out.extend(self.hint(base));
        }
        if !matches!(
            self,
            Self::BadNumber { .. }
                | Self::BadTimeFormat { .. }
                | Self::DiredAndZero
                | Self::SummaryAndCsv
                | Self::TreeAndRows
                | Self::TreeAndTop
        ) {
            out.extend(language.format(
                Domain::Coreutils,
                "Try '%s --help' for more information.\n",
                &[program],
            ));
        }
        out
    }

    /// The message without the hint that `--help` would help. `place` is the program's name, or that and where in a file
    /// it was.
    #[must_use]
    pub fn message_at(&self, place: &[u8], language: &Language) -> Vec<u8> {
        if let Some(message) = self.of_getopt(place, language) {
            return message;
        }
        let mut out = Vec::with_capacity(256);
        put(&mut out, &[place, b": ", &self.of_ls(language), b"\n"]);
        if let Self::BadWord { valid, .. } = self {
            list_words(&mut out, valid, language);
        } else if let Self::BadTimeStyle { .. } = self {
            TIME_STYLES.iter().for_each(|line| out.extend(language.get(line)));
        }
        out
    }

    /// A line that suggests one of our words. An error about an option of GNU `ls` has GNU's message alone.
    #[cold]
    pub(crate) fn hint(&self, place: &[u8]) -> Vec<u8> {
        let meant =
            self.meant().map(|meant| [place, b": did you mean '", meant.as_bytes(), b"'?\n"].concat());
        meant.unwrap_or_default()
    }

    fn meant(&self) -> Option<String> {
        let called = |name: &str| flags::all().find(|definition| definition.long == Some(name));
        match self {
            Self::UnrecognizedOption(typed) => {
                let name = typed.split(|byte| *byte == b'=').next()?;
                let long = nearest(name, flags::all().filter_map(|definition| definition.long))?;
                called(long).filter(|definition| !is_gnu(definition.flag)).map(|_| ["--", long].concat())
            }
            Self::BadWord { option, value, ambiguous: false, valid } => {
                let definition = called(option)?;
                let word = nearest(value, definition.words.iter().copied().flatten().copied())?;
                let told =
                    is_gnu(definition.flag) && valid.iter().copied().flatten().any(|known| *known == word);
                (!told).then(|| word.into())
            }
            Self::BadTimeStyle { value, ambiguous: false } => {
                let gnu = NamedTimeStyle::SPELLINGS.iter().copied().flatten().copied();
                let word = nearest(value, gnu.chain([RELATIVE]))?;
                (word == RELATIVE).then(|| word.into())
            }
            _ => None,
        }
    }

    /// The message, if it is one of getopt's, which the C library translates. The program's name is an argument of it.
    fn of_getopt(&self, place: &[u8], language: &Language) -> Option<Vec<u8>> {
        let say = |id, arguments: &[&[u8]]| {
            Some(language.format(Domain::Libc, id, &[&[place], arguments].concat()))
        };
        match self {
            Self::InvalidOption(letter) => say("%s: invalid option -- '%c'\n", &[&[*letter]]),
            Self::LetterNeedsValue(letter) => say("%s: option requires an argument -- '%c'\n", &[&[*letter]]),
            Self::UnrecognizedOption(typed) => say("%s: unrecognized option '%s%s'\n", &[b"--", typed]),
            Self::AmbiguousOption { typed, candidates } => {
                let mut out = say("%s: option '%s%s' is ambiguous; possibilities:", &[b"--", typed])?;
                for name in candidates {
                    put(&mut out, &[b" '--", name.as_bytes(), b"'"]);
                }
                out.push(b'\n');
                Some(out)
            }
            Self::ValueNotAllowed(name) => {
                say("%s: option '%s%s' doesn't allow an argument\n", &[b"--", name.as_bytes()])
            }
            Self::ValueNeeded(name) => {
                say("%s: option '%s%s' requires an argument\n", &[b"--", name.as_bytes()])
            }
            _ => None,
        }
    }

    /// The first line, without the program's name, of a message that is not getopt's.
    fn of_ls(&self, language: &Language) -> Vec<u8> {
        match self {
            Self::BadWord { option, value, ambiguous, .. } => {
                let option = [b"--", option.as_bytes()].concat();
                bad_argument(value, *ambiguous, &option, language)
            }
            Self::BadTimeStyle { value, ambiguous } => {
                bad_argument(value, *ambiguous, b"time style", language)
            }
            Self::DiredAndZero => language.get("--dired and --zero are incompatible"),
            Self::SummaryAndCsv => {
                b"--summary and --csv are incompatible: a table has no place for a sum; use --json or --ndjson".into()
            }
            Self::TreeAndRows => {
                b"--tree is incompatible with --json, --ndjson, --csv and --count: rows have no branches; use -R".into()
            }
            Self::TreeAndTop => {
                b"--tree and --top are incompatible: use --tree-limit=N, which says how many more there are".into()
            }
            Self::BadTimeFormat { value } => {
                language.format(Domain::Coreutils, "invalid time style format %s", &[&language.quote(value)])
            }
            Self::BadNumber { value, why } => bad_number(value, *why, language),
            // Those of getopt.
            _ => Vec::new(),
        }
    }
}

fn bad_number(value: &[u8], why: BadNumber, language: &Language) -> Vec<u8> {
    let quoted = language.quote(value);
    let about = |what: &[u8], after: &[u8]| [what, b": ", &quoted, after].concat();
    let of_block_size = |id| language.format(Domain::Gnulib, id, &[b"--", b"block-size", value]);
    match why {
        BadNumber::Width => about(&language.get("invalid line width"), b""),
        BadNumber::TabSize => about(&language.get("invalid tab size"), b""),
        BadNumber::TabSizeTooLarge => {
            let problem = [b": ", &language.errno(Errno::OVERFLOW)[..]].concat();
            about(&language.get("invalid tab size"), &problem)
        }
        BadNumber::Threads => about(b"invalid number of threads", &within(&THREADS)),
        BadNumber::InFlight => about(b"invalid number of requests in flight", &within(&THREADS)),
        BadNumber::Top => about(b"invalid number of entries for --top", b" (must be 1 or more)"),
        BadNumber::Timeout => about(b"invalid timeout", TIME),
        BadNumber::GitBudget => about(b"invalid time for git", TIME),
        BadNumber::Depth => about(b"invalid depth for --tree", &within(&COUNTS)),
        BadNumber::Limit => about(b"invalid number of entries for --tree-limit", &within(&COUNTS)),
        BadNumber::Budget => {
            let units = b" (must be a number of seconds, or end in ms, s, m, h, d, w or y; 0 is no limit)";
            about(b"invalid time for --total-size", units)
        }
        // These three quote the value with plain apostrophes in every locale.
        BadNumber::BlockSize => of_block_size("invalid %s%s argument '%s'"),
        BadNumber::BlockSizeSuffix => of_block_size("invalid suffix in %s%s argument '%s'"),
        BadNumber::BlockSizeTooLarge => of_block_size("%s%s argument '%s' too large"),
    }
}

fn within<T: Display>(range: &RangeInclusive<T>) -> Vec<u8> {
    alloc::format!(" (must be {} to {})", range.start(), range.end()).into_bytes()
}

/// The lines that GNU `ls` prints after the message about a bad time style.
const TIME_STYLES: &[&str] = &[
    "Valid arguments are:\n",
    "  - [posix-]full-iso\n",
    "  - [posix-]long-iso\n",
    "  - [posix-]iso\n",
    "  - [posix-]locale\n",
    "  - +FORMAT (e.g., +%H:%M) for a 'date'-style format\n",
];

fn bad_argument(value: &[u8], ambiguous: bool, context: &[u8], language: &Language) -> Vec<u8> {
    let id = if ambiguous { "ambiguous argument %s for %s" } else { "invalid argument %s for %s" };
    language.format(Domain::Gnulib, id, &[&language.quote(value), &language.quote(context)])
}

/// One line per meaning, its spellings side by side.
fn list_words(out: &mut Vec<u8>, valid: &[&[&str]], language: &Language) {
    put(out, &[&language.format(Domain::Gnulib, "Valid arguments are:", &[]), b"\n"]);
    for spellings in valid {
        let mut before: &[u8] = b"  - ";
        for word in *spellings {
            put(out, &[before, &language.quote(word.as_bytes())]);
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

#[cfg(test)]
mod tests {
    use super::super::time_style;
    use super::super::words::{When, Words};
    use super::*;

    fn quote(value: &[u8], utf8: bool) -> Vec<u8> {
        Language::english(if utf8 { dents_locale::Charset::Utf8 } else { dents_locale::Charset::Ascii })
            .quote(value)
    }

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
        assert_eq!(lossy(error.message(b"ls", &Language::english(dents_locale::Charset::Utf8))), expected);
        assert_eq!(
            lossy(error.message(b"ls", &Language::english(dents_locale::Charset::Ascii))),
            expected.replace(['‘', '’'], "'")
        );
        assert_eq!(error.status(), 1);
    }

    #[test]
    fn time_styles_are_listed() {
        let error = time_style(b"l", false).unwrap_err();
        let expected = "ls: ambiguous argument 'l' for 'time style'\nValid arguments are:\n  - [posix-]full-iso\n  \
            - [posix-]long-iso\n  - [posix-]iso\n  - [posix-]locale\n  - +FORMAT (e.g., +%H:%M) for a 'date'-style \
            format\nTry 'ls --help' for more information.\n";
        assert_eq!(lossy(error.message(b"ls", &Language::english(dents_locale::Charset::Ascii))), expected);
        assert_eq!(error.status(), 2);
        let error = time_style(b"+a\nb\nc", false).unwrap_err();
        assert_eq!(
            lossy(error.message(b"ls", &Language::english(dents_locale::Charset::Ascii))),
            "ls: invalid time style format 'a\\nb\\nc'\n"
        );
    }

    #[test]
    fn what_was_meant_is_asked_only_of_words_of_ours() {
        use super::super::flags::testing::read;
        let lines = |program: &[u8], argv| {
            lossy(
                read(&[argv]).unwrap_err().message(program, &Language::english(dents_locale::Charset::Ascii)),
            )
        };
        let asked = |argv| {
            let message = lines(b"dls", argv);
            message
                .lines()
                .find_map(|line| line.strip_prefix("dls: did you mean "))
                .map(alloc::string::String::from)
        };
        let meant = |word: &str| Some(alloc::format!("'{word}'?"));
        for (argv, word) in [
            (c"--haeder", "--header"),
            (c"--collumns=size", "--columns"),
            (c"--ini", "--init"),
            (c"--colunms=x", "--columns"),
            (c"--columns=siez", "size"),
            (c"--mode=clasic", "classic"),
            (c"--sort=natrual", "natural"),
        ] {
            assert_eq!(asked(argv), meant(word), "{argv:?}");
        }
        for argv in
            [c"--colour", c"--sort=tiem", c"--revrese", c"--rubbish", c"--columns=mo", c"--color=auot"]
        {
            assert_eq!(asked(argv), None, "{argv:?}");
        }
        let expected = "dls: unrecognized option '--haeder'\ndls: did you mean '--header'?\nTry 'dls --help' for more \
            information.\n";
        assert_eq!(lines(b"dls", c"--haeder"), expected);
        assert!(!lines(b"/bin/ls", c"--haeder").contains("mean"), "GNU's own message");
        let relative = time_style(b"relativ", false).unwrap_err();
        assert!(
            lossy(relative.message(b"dls", &Language::english(dents_locale::Charset::Ascii)))
                .contains("mean 'relative'?\n")
        );
    }

    #[test]
    fn numbers_need_no_help() {
        let say = |value, why| {
            lossy(
                UsageError::BadNumber { value, why }
                    .message(b"ls", &Language::english(dents_locale::Charset::Utf8)),
            )
        };
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
