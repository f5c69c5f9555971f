//! `dents io500-find`: the find phase of IO500, as an external script.
//!
//! The benchmark runs `DENTS io500-find [OPTIONS] DATADIR -newer STAMP -size 3901c -name "*01*"` through a shell, and takes the last line,
//! `MATCHED x/y`. The words are those of `find`, with the meaning that they have in IO500's own `pfind`. They are translated into the filters of
//! `dents`, so there is one parser, and names are tested first: only a name that matches costs a `statx`.

use crate::consumer::Consumer;
use crate::entry::Found;
use crate::filter::{self, Depths, Filter};
use crate::message::quoted_text;
use crate::output::{Completion, Destination, Diagnostics};
use crate::session::{Session, Status};
use crate::source::{Gathered, Job, Source, Special};
use crate::walk::Walk;
use clap::Parser;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::Step;
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
#[command(override_usage = "dents io500-find [OPTION]... DATADIR [-newer FILE] [-size Nc] [-name PATTERN]")]
pub struct Args {
    /// DATADIR, the tests, and options of the walk (--threads N, --rate N, -x). -newer: ctime is not before that of FILE, in whole seconds.
    /// -size: exactly N bytes. -name: the name contains PATTERN, in which only * is special
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
    let words = match translated(&args.words) {
        Ok(words) => words,
        Err(error) => return session.wrong(&error),
    };
    let Words { walk, filter } = match Words::try_parse_from(words) {
        Ok(words) => words,
        Err(error) => return session.wrong(error.to_string().trim_start_matches("error: ").trim_end()),
    };
    if walk.given().len() != 1 {
        return session.wrong("name one data directory, as IO500 does: dents io500-find DATADIR -newer FILE -size 3901c -name '*01*'");
    }
    count(&walk, &Filter::new(&filter, Depths::ALL, None), session)
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

/// Translates words of `find` into options of `dents`; other words stay.
fn translated(words: &[OsString]) -> Result<Vec<OsString>, String> {
    let mut ours: Vec<OsString> = ["-H", "--type=flpscb", "--time=ctime"].map(OsString::from).into();
    let mut given: Vec<&[u8]> = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let option = word.as_bytes();
        let meaning = match option {
            b"-newer" => newer,
            b"-size" => size,
            b"-name" => name,
            _ => {
                ours.push(word.clone());
                continue;
            }
        };
        let shown = String::from_utf8_lossy(option);
        if given.contains(&option) {
            return Err(format!("{shown} is given twice: give it once"));
        }
        given.push(option);
        let value = words.next().ok_or_else(|| format!("a value is missing after {shown}"))?;
        ours.push(meaning(value)?.into());
    }
    Ok(ours)
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

/// The option for "the name contains the pattern"; only `*` is special.
fn name(pattern: &OsStr) -> Result<String, String> {
    let text = pattern.to_str().filter(|text| !text.contains('/')).ok_or_else(|| {
        format!("-name {}: write it in UTF-8 and without a slash: '*01*'", quoted_text(pattern.as_bytes()))
    })?;
    let mut glob = String::from("*");
    for character in text.chars() {
        match character {
            // Several stars in a row are one.
            '*' if glob.ends_with('*') => {}
            '?' | '[' | ']' | '{' | '}' => glob.extend(['[', character, ']']),
            '\\' => glob.push_str("\\\\"),
            _ => glob.push(character),
        }
    }
    Ok(format!("--include={glob}{}", if glob.ends_with('*') { "" } else { "*" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        translated(&words)
            .map(|ours| ours.into_iter().skip(3).map(|word| word.into_string().unwrap()).collect())
    }

    #[test]
    fn words_of_find_become_filters() {
        let ours = words(&["--threads=4", "dir", "-size", "3901c", "-name", "*01*"]).unwrap();
        assert_eq!(ours, ["--threads=4", "dir", "--size=3901c", "--include=*01*"]);
        assert_eq!(words(&["-name", "a?b.c*[d]"]).unwrap(), ["--include=*a[?]b.c*[[]d[]]*"]);
        assert_eq!(words(&["-name", ""]).unwrap(), ["--include=*"]);
    }

    #[test]
    fn mistakes_name_the_word_and_the_way_out() {
        for (given, part) in [
            (&["-size", "3901"][..], "3901c"),
            (&["-size", "+1c"], "3901c"),
            (&["-size"], "missing after -size"),
            (&["-name", "a/b"], "without a slash"),
            (&["-newer", "/nonexistent/stamp"], "No such file"),
            (&["-name", "a", "-name", "b"], "twice"),
        ] {
            let error = words(given).unwrap_err();
            assert!(error.contains(part), "{given:?}: {error}");
        }
    }
}
