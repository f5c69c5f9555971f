//! `dents io500-find`: the find phase of IO500, as an external script.
//!
//! The benchmark runs `DENTS io500-find [OPTIONS] DATADIR -newer STAMP -size 3901c -name "*01*"` through a shell, and takes the last line,
//! `MATCHED x/y`. The words are those of `find`, with the meaning that they have in IO500's own `pfind`. They are translated into the filters of
//! `dents`, so there is one parser, and names are tested first: only a name that matches costs a `statx`.

use crate::consumer::Consumer;
use crate::entry::Found;
use crate::filter::basic_regex::compile;
use crate::filter::{self, Depths, Filter};
use crate::message::quoted_text;
use crate::output::{Completion, Destination, Diagnostics};
use crate::session::{Session, Status};
use crate::source::{Gathered, Job, Source, Special};
use crate::walk::Walk;
use clap::Parser;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::Step;
use regex::bytes::Regex;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

/// The find phase of IO500, as an external script
///
/// Counts the entries below DATADIR that are not directories (y), and those of them that pass the tests (x). The last line is MATCHED
/// x/y. Each hard link counts. Symbolic links are not followed, but DATADIR may be one. A directory that cannot be read causes a message,
/// and the exit status stays 0.
#[derive(clap::Args)]
#[command(
    override_usage = "dents io500-find [OPTION]... DATADIR [-newer FILE] [-size Nc] [-name PATTERN | -regex RE]"
)]
pub struct Args {
    /// DATADIR, the tests, and options of the walk (--threads N, --rate N, -x). -newer: ctime is not before that of FILE, in whole seconds.
    /// -size: exactly N bytes. -name: PATTERN is found in the name; it is a basic regular expression, in which * is any text
    /// and a dot a dot. -regex: a basic regular expression is found in the name
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    words: Vec<OsString>,
}

/// The words after translation.
#[derive(Parser)]
#[command(name = "dents io500-find", no_binary_name = true)]
struct Words {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    filter: filter::Args,
}

pub(crate) fn run(args: &Args, session: &Session) -> Status {
    let (words, expression) = match translated(&args.words) {
        Ok(translated) => translated,
        Err(error) => return session.wrong(&error),
    };
    let Words { walk, filter } = match Words::try_parse_from(words) {
        Ok(words) => words,
        Err(error) => return session.wrong(error.to_string().trim_start_matches("error: ").trim_end()),
    };
    if walk.given().len() != 1 {
        return session.wrong("name one data directory, as IO500 does: dents io500-find DATADIR -newer FILE -size 3901c -name '*01*'");
    }
    let mut filter = Filter::new(&filter, Depths::ALL, None);
    if let Some(expression) = &expression {
        filter = filter.with_name(expression);
    }
    count(&walk, &filter, session)
}

fn count(walk: &Walk, filter: &Filter<'_>, session: &Session) -> Status {
    let diagnostics = Diagnostics::begin(session);
    let source = Source::new(None, false);
    // For an entry that does not match only the type is needed, which `readdir` returns on most file systems.
    let needs = NeedsByKind::all(Needs::TYPE);
    let job = Job { walk, source: &source, filter, diagnostics: &diagnostics, needs, must: needs };
    let special = Special { counts: true, extra: false, ..Special::default() };
    let Gathered { consumers, end, kinds, root_failed, .. } = job.walk(&special, || Matched(0));
    let matched: u64 = consumers.iter().map(|one| one.0).sum();
    let others: u64 = kinds.iter().sum::<u64>() - kinds[Kind::Dir as usize];
    let completion = Completion::new(end, diagnostics);
    let status =
        if root_failed { completion } else { completion.forgiving() }.finish(
            |destination| match destination {
                Destination::Text(out) => writeln!(out, "MATCHED {matched}/{others}"),
                Destination::Rows(_) => Ok(()),
            },
        );
    if root_failed { Status::FAILURE } else { status }
}

/// Counts the entries that pass.
struct Matched(u64);

impl Consumer for Matched {
    type State = ();

    fn entry(&mut self, found: &Found<'_>, (): &()) -> Step {
        self.0 += u64::from(found.kind != Kind::Dir);
        Step::Enter
    }
}

/// Translates words of `find` into options of `dents` and the expression for names; other words stay.
fn translated(words: &[OsString]) -> Result<(Vec<OsString>, Option<Regex>), String> {
    let mut ours: Vec<OsString> = ["-H", "--type=flpscb", "--time=ctime"].map(OsString::from).into();
    let (mut given, mut expression): (Vec<&[u8]>, _) = (Vec::new(), None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let option = word.as_bytes();
        if ![&b"-newer"[..], b"-size", b"-name", b"-regex"].contains(&option) {
            ours.push(word.clone());
            continue;
        }
        let shown = String::from_utf8_lossy(option);
        if given.contains(&option) {
            return Err(format!("{shown} is given twice: give it once"));
        }
        given.push(option);
        let value = words.next().ok_or_else(|| format!("a value is missing after {shown}"))?;
        match option {
            b"-newer" => ours.push(newer(value)?.into()),
            b"-size" => ours.push(size(value)?.into()),
            _ if expression.is_some() => {
                return Err("-name and -regex exclude each other: give one of them".to_owned());
            }
            option => expression = Some(expression_of(value, option == b"-name")?),
        }
    }
    Ok((ours, expression))
}

fn expression_of(value: &OsStr, is_name: bool) -> Result<Regex, String> {
    let text = value.to_str().ok_or("write it in UTF-8".to_owned());
    let compiled = text.and_then(|text| if is_name { compile(&name(text)) } else { compile(text) });
    let option = if is_name { "-name" } else { "-regex" };
    compiled.map_err(|why| format!("{option} {}: {why}", quoted_text(value.as_bytes())))
}

/// The option for "not before the second of the stamp": later than the last nanosecond before that second.
fn newer(stamp: &OsStr) -> Result<String, String> {
    let there = fs::symlink_metadata(stamp).map_err(|error| {
        let why = crate::message::plain(&error);
        format!("-newer {}: {why}; name the file whose time is compared", quoted_text(stamp.as_bytes()))
    })?;
    Ok(format!("--newer=@{}.999999999", there.ctime() - 1))
}

fn size(value: &OsStr) -> Result<String, String> {
    let bytes = value.to_str().and_then(|text| text.strip_suffix('c'));
    let bytes = bytes.filter(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let bytes = bytes.ok_or_else(|| {
        format!("-size {}: write it as a number of bytes: 3901c", quoted_text(value.as_bytes()))
    })?;
    Ok(format!("--size={bytes}c"))
}

/// The expression of `-name`, as pfind makes it: `*` is any text, a dot is a dot, and double quotes, which a shell may have left, are
/// removed. All else is that of a basic regular expression.
fn name(pattern: &str) -> String {
    pattern.replace('"', "").replace('.', "[.]").replace('*', ".*")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        translated(&words)
            .map(|(ours, _)| ours.into_iter().skip(3).map(|word| word.into_string().unwrap()).collect())
    }

    #[test]
    fn words_of_find_become_filters() {
        let ours = words(&["--threads=4", "dir", "-size", "3901c", "-name", "*01*"]).unwrap();
        assert_eq!(ours, ["--threads=4", "dir", "--size=3901c"]);
        let matches = |option: &str, value: &str, name: &str| {
            let words = ["d", option, value].map(OsString::from);
            translated(&words).unwrap().1.unwrap().is_match(name.as_bytes())
        };
        for (pattern, name, expected) in [
            ("*01*", "file.01", true),
            ("01", "file.01.x", true),
            ("\"*01*\"", "01", true),
            ("a.c", "abc", false),
            ("^file", "a-file", false),
            ("f[0-4]$", "f3", true),
            ("a?b", "a?b", true),
            ("", "anything", true),
        ] {
            assert_eq!(matches("-name", pattern, name), expected, "{pattern} {name}");
        }
        assert!(matches("-regex", "^a.c*$", "abccc") && !matches("-regex", "^a.c*$", "abd"));
    }

    #[test]
    fn mistakes_name_the_word_and_the_way_out() {
        for (given, part) in [
            (&["-size", "3901"][..], "3901c"),
            (&["-size", "+1c"], "3901c"),
            (&["-size"], "missing after -size"),
            (&["-name", "[a"], "a [ has no ]"),
            (&["-name", "a", "-regex", "b"], "exclude each other"),
            (&["-newer", "/nonexistent/stamp"], "No such file"),
            (&["-name", "a", "-name", "b"], "twice"),
        ] {
            let error = words(given).unwrap_err();
            assert!(error.contains(part), "{given:?}: {error}");
        }
    }
}
