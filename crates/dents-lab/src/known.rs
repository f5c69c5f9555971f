//! The differences between the machine's GNU `ls` and 9.7, the release that `dls` follows, with what later releases mended.
//!
//! Each entry names the release that changed, from the NEWS of coreutils, and either rewrites the oracle's
//! command line so that an older `ls` behaves so, or mends its output, or takes the case out of the comparison. The
//! behaviour of 9.7 itself is held by literal expectations in `tests/reference.rs`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::case::{Case, Output};
use crate::options::rewrite;
use crate::tree::{ends_in_escape, quote_at_edge};

/// How a case with a known difference is treated.
#[derive(Clone, Copy, Debug)]
pub enum Remedy {
    /// Give the oracle these arguments instead.
    Rewrite(fn(&[OsString]) -> Vec<OsString>),
    /// Put this in place of the oracle's standard output.
    Mend(fn(Vec<u8>) -> Vec<u8>),
    /// Do not compare.
    Skip,
}

/// One difference between releases of GNU `ls`.
#[derive(Debug)]
pub struct Difference {
    /// The first release that behaves as `dls` does.
    pub since: (u32, u32),
    /// The reason of the change.
    pub reason: &'static str,
    /// Whether the case meets it.
    pub applies: fn(&Case) -> bool,
    /// How the comparison treats it.
    pub remedy: Remedy,
}

/// All of them.
pub const DIFFERENCES: &[Difference] = &[
    Difference {
        since: (9, 5),
        reason: "-f is -a -U and no more; it used to take back an earlier -l, -s and --color",
        applies: |case| case.says("f"),
        remedy: Remedy::Rewrite(spell_out_f),
    },
    Difference {
        since: (9, 5),
        reason: "-D means -l --hyperlink=never, and a later format takes it back; it used to wait for a -l",
        applies: |case| case.says("dired"),
        remedy: Remedy::Rewrite(spell_out_dired),
    },
    Difference {
        since: (9, 2),
        reason: "--time=modification and --time=mtime exist, and are named among the valid words",
        applies: |case| case.says_value("time", |word| shortens(word, NEW_TIMES) || !is_one(word, TIMES)),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 7),
        reason: "--sort=name exists, and is named among the valid words",
        applies: |case| case.says_value("sort", |word| shortens(word, &["name"]) || !is_one(word, SORTS)),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 2),
        reason: "-v: a hidden name that is all extension (.profile) is a name again; 9.1 held it for empty",
        applies: |case| sorts_by_version(case) && meets_hidden(case),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 5),
        reason: "shell-escape: a name with a single quote and an escaped last character is quoted right; 9.1 begins it \
                 with '' too many, or without the $' that an escaped first character needs",
        applies: meets_quote_at_edge,
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 4),
        reason: "a symbolic link on the command line that loops is shown, no longer an error",
        applies: |case| case.operands.iter().any(|operand| loops(&case.cwd.join(operand))),
        remedy: Remedy::Skip,
    },
    Difference {
        // Not known to be mended in any release.
        since: (u32::MAX, 0),
        reason: "--hyperlink of a link that leads below itself (a -> a/b) follows it until memory ends",
        applies: |case| case.says("hyperlink") && meets_growing_link(case),
        remedy: Remedy::Skip,
    },
    Difference {
        // Ours makes no call for them (docs/DIFFERENCES.md). The superuser reaches all targets.
        since: (u32::MAX, 0),
        reason: "without an order, --group-directories-first reports links whose target cannot be reached",
        applies: |case| {
            let unordered =
                case.says("U") || case.says("f") || case.says_value("sort", |word| shortens(word, &["none"]));
            unordered && case.says("group-directories-first") && !crate::process::is_root()
        },
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 7),
        reason: "a name with a character that cannot be printed counts as -1 columns in UTF-8; 9.1 counted the others",
        applies: |case| measures_names(case) && meets_unprintable(case),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 7),
        reason: "a time that is not known takes no columns beside times with bytes that cannot be printed",
        applies: |case| {
            let odd = |format: &str| {
                let control = |byte: u8| byte.is_ascii_control() || !byte.is_ascii();
                format.bytes().any(control) || format.contains("%n") || format.contains("%t")
            };
            case.variable("TIME_STYLE").is_some_and(odd) || case.says_value("time-style", odd)
        },
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 7),
        reason: "months are not aligned where the name of one cannot be printed",
        applies: |case| is_beyond_charset(case, "LC_TIME"),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 7),
        reason: "names of months are not cut at 12 columns, and none is aligned where a format and a month have 128 bytes",
        applies: |case| {
            let is_byte_locale = crate::case::BYTE_LOCALES.contains(&locale_of(case, "LC_TIME"));
            !is_byte_locale && has_time_format(case, |format| format.len() >= 100)
        },
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 7),
        reason: "sizes with a separator that cannot be printed have no width",
        applies: |case| is_beyond_charset(case, "LC_NUMERIC"),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 7),
        reason: "vt220 is a terminal with colours",
        applies: |case| {
            case.variable("TERM") == Some("vt220") && case.variable("LS_COLORS").is_none_or(str::is_empty)
        },
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 7),
        reason: "messages begin with the last component of the program's name, but getopt's and the hint about --help",
        applies: |case| case.name.contains('/'),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 2),
        reason: "LS_COLORS suffixes that differ only in case, with different colours, are matched by case",
        applies: |case| case.variable("LS_COLORS").is_some_and(suffixes_differ_in_case),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 8),
        reason: "-s: sizes with separators of several bytes are padded by columns, no longer by bytes",
        applies: |case| case.says("s") && groups_digits(case),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 10),
        reason: "--hyperlink ends its sequences with ESC \\, no longer with BEL",
        applies: |case| case.says("hyperlink"),
        remedy: Remedy::Mend(end_links_with_st),
    },
    Difference {
        since: (9, 10),
        reason: "O in time formats has flags and widths, a year and a quarter, and numerals in one locale only",
        applies: |case| has_time_format(case, |format| format.contains('O')),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 10),
        reason: "a width beyond 2^63 in a time format is an error, also with the flag -",
        applies: |case| {
            has_time_format(case, |format| {
                format.split(|char: char| !char.is_ascii_digit()).any(|digits| digits.len() > 18)
            })
        },
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 10),
        reason: "quotes in GB18030 are those of ASCII",
        applies: |case| locale_of(case, "LC_CTYPE").ends_with("GB18030"),
        remedy: Remedy::Skip,
    },
];

/// Changes of later releases that `dls` does not have; `since` is the first release.
pub const NEWER: &[Difference] = &[
    Difference {
        since: (9, 6),
        reason: "messages about arguments and the marks of quotes are translated by gnulib.mo, and by nothing where that is absent; \
             ours looks into coreutils.mo then",
        applies: |case| is_translated(case) && !has_gnulib_catalog() && meets_gnulib(case),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 10),
        reason: "Thai, Persian and Ethiopian dates are those of calendars of their own",
        applies: |case| {
            let time = locale_of(case, "LC_TIME");
            ["th_TH", "fa_IR", "am_ET"].iter().any(|own| time.starts_with(own))
        },
        remedy: Remedy::Skip,
    },
];

/// Differences from every release: docs/DIFFERENCES.md has them.
pub const OURS: &[Difference] = &[
    Difference {
        since: (0, 0),
        reason: "messages and the order of dates are not converted to another charset than UTF-8",
        applies: |case| {
            // The languages that write years and days in the formats of `ls`.
            let is_dated = |name: &str| ["cs", "ko", "sr", "zh_CN"].iter().any(|own| name.starts_with(own));
            is_other_charset(case) && (is_translated(case) || is_dated(locale_of(case, "LC_TIME")))
        },
        remedy: Remedy::Skip,
    },
    Difference {
        since: (0, 0),
        reason: "patterns are bytes in a charset of several bytes that is not UTF-8",
        applies: |case| {
            let is_one = |name: &str| name.contains("8859") || name.contains("KOI8");
            is_other_charset(case) && !is_one(locale_of(case, "LC_CTYPE")) && has_pattern(case, |_| true)
        },
        remedy: Remedy::Skip,
    },
    Difference {
        since: (0, 0),
        reason: "[.ch.] and ranges to [.c.] in patterns, several characters that sort as one, [=e=] in names that are not UTF-8",
        applies: |case| {
            let is_rare = has_pattern(case, |pattern| pattern.contains("[."))
                || has_pattern(case, |pattern| pattern.contains("[=")) && meets_other_bytes(case);
            !crate::case::BYTE_LOCALES.contains(&locale_of(case, "LC_COLLATE")) && is_rare
        },
        remedy: Remedy::Skip,
    },
];

/// Whether the charset is neither UTF-8 nor that of C.
fn is_other_charset(case: &Case) -> bool {
    !locale_of(case, "LC_CTYPE").ends_with('8')
}

fn has_pattern(case: &Case, holds: fn(&str) -> bool) -> bool {
    ["I", "ignore", "hide"].iter().any(|option| case.says_value(option, holds))
}

/// Whether messages may be in another language than English.
fn is_translated(case: &Case) -> bool {
    let is_byte_locale = |name: &str| crate::case::BYTE_LOCALES.contains(&name);
    !is_byte_locale(locale_of(case, "LC_MESSAGES"))
}

fn has_gnulib_catalog() -> bool {
    let languages = fs::read_dir("/usr/share/locale").into_iter().flatten().flatten();
    languages.into_iter().any(|language| language.path().join("LC_MESSAGES/gnulib.mo").exists())
}

/// Whether a value may be wrong, or is put between the quotes of the language.
fn meets_gnulib(case: &Case) -> bool {
    let variables = ["QUOTING_STYLE", "COLUMNS", "TABSIZE", "LS_COLORS", "TIME_STYLE"];
    let is_set = |name: &&str| case.variable(name).is_some();
    case.said().iter().any(|said| said.value.is_some()) || variables.iter().any(is_set)
}

/// The words of 9.1, those of one meaning together.
const TIMES: &[&[&str]] = &[&["atime", "access", "use"], &["ctime", "status"], &["birth", "creation"]];
const NEW_TIMES: &[&str] = &["mtime", "modification"];
const SORTS: &[&[&str]] = &[&["none"], &["time"], &["size"], &["extension"], &["version"], &["width"]];

/// Whether `word` is, or shortens, one of `words`.
fn shortens(word: &str, words: &[&str]) -> bool {
    words.iter().any(|whole| whole.starts_with(word))
}

/// Whether `word` abbreviates a single meaning.
fn is_one(word: &str, meanings: &[&[&str]]) -> bool {
    meanings.iter().filter(|words| shortens(word, words)).count() == 1
}

/// The differences that a case meets on an oracle of this version.
pub fn met(case: &Case, version: (u32, u32)) -> impl Iterator<Item = &'static Difference> {
    let older = DIFFERENCES.iter().filter(move |known| version < known.since);
    let newer = NEWER.iter().filter(move |known| version >= known.since);
    older.chain(newer).chain(OURS).filter(|known| (known.applies)(case))
}

/// `-lf` becomes `-l -a -U`.
fn spell_out_f(args: &[OsString]) -> Vec<OsString> {
    rewrite(args, |said| said.option.is("f").then(|| ["-a", "-U"].map(Into::into).to_vec()))
}

/// `-D` becomes `-l --hyperlink=never -D`.
fn spell_out_dired(args: &[OsString]) -> Vec<OsString> {
    let spelled = || ["-l", "--hyperlink=never", "-D"].map(Into::into).to_vec();
    rewrite(args, |said| said.option.is("dired").then(spelled))
}

/// Ends OSC 8 sequences with ST. (Names cannot: a URI has no control characters, and no name has the introducer.)
fn end_links_with_st(stdout: Vec<u8>) -> Vec<u8> {
    let (mut mended, mut rest) = (Vec::with_capacity(stdout.len()), &stdout[..]);
    while let Some(start) = rest.windows(5).position(|bytes| bytes == b"\x1b]8;;") {
        let Some(length) = rest[start..].iter().position(|byte| *byte == 0x07) else { break };
        mended.extend_from_slice(&rest[..start + length]);
        mended.extend_from_slice(b"\x1b\\");
        rest = &rest[start + length + 1..];
    }
    mended.extend_from_slice(rest);
    mended
}

/// Whether times may be shown by a format of the user's of which this is true.
fn has_time_format(case: &Case, holds: fn(&str) -> bool) -> bool {
    let holds = |format: &str| format.starts_with('+') && holds(format);
    case.variable("TIME_STYLE").is_some_and(holds) || case.says_value("time-style", holds)
}

/// Whether sizes may be grouped as the locale does it.
fn groups_digits(case: &Case) -> bool {
    let grouped = |value: &str| value.starts_with('\'');
    let variables = ["LS_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE"];
    let asked = variables.iter().any(|name| case.variable(name).is_some_and(grouped))
        || case.says_value("block-size", grouped);
    asked && !crate::case::BYTE_LOCALES.contains(&locale_of(case, "LC_NUMERIC"))
}

fn sorts_by_version(case: &Case) -> bool {
    case.says("v") || case.says_value("sort", |word| shortens(word, &["version"]))
}

/// Whether both kinds of hidden names meet in one listing of the case.
fn meets_hidden(case: &Case) -> bool {
    let shown = case.says("all") || case.says("almost-all") || case.says("f");
    let hidden =
        |operand: &OsString| operand.as_bytes().starts_with(b".") && !operand.as_bytes().starts_with(b"./");
    (shown && case.listed().iter().any(|(dir, deep)| mixes_dots(dir, *deep)))
        || case.operands.iter().filter(|operand| hidden(operand)).count() > 1
}

fn loops(path: &Path) -> bool {
    fs::metadata(path)
        .is_err_and(|error| error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()))
}

/// Whether a link to a directory above itself is among the operands or in what is listed.
fn meets_growing_link(case: &Case) -> bool {
    let grows = |path: &Path| {
        let text = fs::read_link(path).map(PathBuf::into_os_string).unwrap_or_default();
        text.as_bytes().contains(&b'/') && loops(path)
    };
    let mut dirs: Vec<(PathBuf, bool)> = case.listed();
    while let Some((dir, deep)) = dirs.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            if grows(&entry.path()) {
                return true;
            }
            if deep && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                dirs.push((entry.path(), true));
            }
        }
    }
    case.operands.iter().any(|operand| grows(&case.cwd.join(operand)))
}

/// Whether the charset may lack characters of the locale of a category.
fn is_beyond_charset(case: &Case, category: &str) -> bool {
    let is_byte_locale = crate::case::BYTE_LOCALES.contains(&locale_of(case, category));
    !is_byte_locale && !locale_of(case, "LC_CTYPE").ends_with('8')
}

/// The name of the locale of a category.
fn locale_of<'c>(case: &'c Case, category: &str) -> &'c str {
    let set = |name: &str| case.variable(name).filter(|value| !value.is_empty());
    set("LC_ALL").or(set(category)).or(set("LANG")).unwrap_or("C")
}

/// Whether the case lays names out by their widths, as bytes that may be anything.
fn measures_names(case: &Case) -> bool {
    let on_terminal = matches!(case.output, Output::Terminal(_) | Output::OneTerminal(_));
    let columns = ["C", "x", "m", "format"].iter().any(|option| case.says(option));
    let by_width = case.says_value("sort", |word| shortens(word, &["width"]));
    // Otherwise unprintable characters are escaped or replaced by a question mark.
    let style = ["N", "quoting-style", "show-control-chars", "zero"].iter().any(|option| case.says(option));
    let as_they_are =
        style || case.variable("QUOTING_STYLE").is_some() || case.base() == "ls" && !on_terminal;
    as_they_are && (columns || by_width || on_terminal || case.base() == "dir")
}

/// Whether a name that is listed is not UTF-8.
fn meets_other_bytes(case: &Case) -> bool {
    case.listed().iter().any(|(dir, deep)| {
        any_listing(dir, *deep, "not UTF-8", &|names| {
            names.iter().any(|name| std::str::from_utf8(name).is_err())
        })
    })
}

/// Whether a name in a listing of the case, or an operand, has a character that may be one that cannot be printed.
fn meets_unprintable(case: &Case) -> bool {
    let odd = |name: &[u8]| match std::str::from_utf8(name) {
        Ok(text) => {
            text.chars().any(|char| !(char == ' ' || char.is_ascii_graphic() || char.is_alphanumeric()))
        }
        Err(_) => true,
    };
    case.operands.iter().any(|operand| odd(operand.as_bytes()))
        || case.listed().iter().any(|(dir, deep)| {
            any_listing(dir, *deep, "unprintable", &|names| names.iter().any(|name| odd(name)))
        })
}

fn suffixes_differ_in_case(colors: &str) -> bool {
    let mut seen: HashMap<String, &str> = HashMap::new();
    let suffixes = colors.split(':').filter_map(|entry| entry.strip_prefix('*')?.split_once('='));
    let mut differ = false;
    for (suffix, value) in suffixes {
        differ |= seen.insert(suffix.to_lowercase(), value).is_some_and(|old| old != value);
    }
    differ
}

/// Whether a directory (or, with `deep`, one below it) holds a hidden name that is all extension beside one that is not,
/// or one of several extensions (`.h.tar`, which is `.h` again) beside any other.
fn mixes_dots(dir: &Path, deep: bool) -> bool {
    let hidden = |name: &&Vec<u8>| name.starts_with(b".") && !matches!(&name[..], b"." | b"..");
    let several = |name: &[u8]| name.iter().filter(|byte| **byte == b'.').count() > 1;
    any_listing(dir, deep, "dots", &|names| {
        let hidden: Vec<&Vec<u8>> = names.iter().filter(hidden).collect();
        let extensions = hidden.iter().filter(|name| all_extension(name)).count();
        (0 < extensions && extensions < hidden.len())
            || hidden.len() > 1 && hidden.iter().any(|name| all_extension(name) && several(name))
    })
}

/// Whether a name that is drawn, or quoted in a message, has a single quote and ends in a byte that may be escaped.
fn meets_quote_at_edge(case: &Case) -> bool {
    // With -L, messages name dangling links.
    let style = case.says("L") || case.says("quoting-style") || case.variable("QUOTING_STYLE").is_some();
    let on_terminal = matches!(case.output, Output::Terminal(_) | Output::OneTerminal(_));
    let at_edge = |names: &[Vec<u8>]| names.iter().any(|name| quote_at_edge(name));
    let target = |operand: &OsString| fs::read_link(case.cwd.join(operand)).map(PathBuf::into_os_string);
    case.operands.iter().any(|operand| quote_at_edge(operand.as_bytes()))
        || (style || on_terminal)
            && case.operands.iter().flat_map(target).any(|target| quote_at_edge(target.as_bytes()))
        || ((style || on_terminal)
            && case.listed().iter().any(|(dir, deep)| {
                // Messages, and listings of subdirectories, quote whole paths: the quote may be in one name, and the
                // end in another.
                let in_operand = case.operands.iter().any(|operand| operand.as_bytes().contains(&b'\''));
                let quote = |names: &[Vec<u8>]| names.iter().any(|name| name.contains(&b'\''));
                let end = |names: &[Vec<u8>]| names.iter().any(|name| ends_in_escape(name));
                any_listing(dir, *deep, "edge", &at_edge)
                    || in_operand && any_listing(dir, *deep, "end", &end)
                    || *deep && any_listing(dir, true, "quote", &quote) && any_listing(dir, true, "end", &end)
            }))
}

/// Whether `holds` is true of the names in a directory (or, with `deep`, in one below it), the targets of links
/// among them. Answers are kept under `question`: the same few directories are asked about again and again.
fn any_listing(dir: &Path, deep: bool, question: &'static str, holds: &dyn Fn(&[Vec<u8>]) -> bool) -> bool {
    type Answers = HashMap<(PathBuf, bool, &'static str), bool>;
    static ANSWERS: Mutex<Option<Answers>> = Mutex::new(None);
    let key = (dir.to_path_buf(), deep, question);
    let known = ANSWERS.lock().unwrap().get_or_insert_default().get(&key).copied();
    known.unwrap_or_else(|| {
        let answer = ask_listing(dir, deep, holds);
        ANSWERS.lock().unwrap().get_or_insert_default().insert(key, answer);
        answer
    })
}

fn ask_listing(dir: &Path, deep: bool, holds: &dyn Fn(&[Vec<u8>]) -> bool) -> bool {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        names.push(entry.file_name().into_vec());
        names.extend(fs::read_link(entry.path()).ok().map(|target| target.into_os_string().into_vec()));
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if deep && is_dir && ask_listing(&entry.path(), true, holds) {
            return true;
        }
    }
    holds(&names)
}

/// Whether a name consists of `.letter…` parts alone.
fn all_extension(name: &[u8]) -> bool {
    let part = |part: &[u8]| {
        part.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'~')
            && part.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'~')
    };
    name.first() == Some(&b'.') && name[1..].split(|&b| b == b'.').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_spelled_out_where_they_stand() {
        let args: Vec<OsString> = ["-lfs", "-w80", "--full-time", "f", "--", "-f"].map(Into::into).to_vec();
        assert_eq!(spell_out_f(&args), ["-l", "-a", "-U", "-s", "-w", "80", "--full-time", "f", "--", "-f"]);
        let args: Vec<OsString> = ["-FD", "-C"].map(Into::into).to_vec();
        assert_eq!(spell_out_dired(&args), ["-F", "-l", "--hyperlink=never", "-D", "-C"]);
    }

    #[test]
    fn new_words_are_left_out_and_old_ones_are_not() {
        let met_by = |option: &str| met(&Case::new(Path::new("/")).options(option), (9, 1)).count();
        for option in [
            "--time=mtime",
            "--time=m",
            "--time=x",
            "--time=c",
            "--sort=name",
            "--sort=na",
            "--sort=nonsense",
        ] {
            assert_eq!(met_by(option), 1, "{option}");
        }
        for option in ["--time=ctime", "--time=b", "--sort=v", "--sort=none", "-t"] {
            assert_eq!(met_by(option), 0, "{option}");
        }
    }

    #[test]
    fn names_that_are_all_extension() {
        for name in [".profile", ".tar.gz", ".m4", ".~", ".a1~"] {
            assert!(all_extension(name.as_bytes()), "{name}");
        }
        for name in [".", "..", "...", ".1", ".a-b", ".bash_logout", ".a.", "a.b", ".a.1"] {
            assert!(!all_extension(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn suffixes_that_differ_in_case_matter_only_with_different_colours() {
        assert!(suffixes_differ_in_case("*.C=01:di=02:*.c=02"));
        assert!(!suffixes_differ_in_case("*.C=01:*.c=01:*.h=02"));
    }
}
