//! A table of the system calls that listings cost, ours beside GNU's, in Markdown on standard output: `calls`
//! alone, which `cargo xtask syscalls` writes to `docs/SYSCALLS.md`. With words it is their number in that command:
//! `calls PROGRAM [ARGUMENT]…`, the program by its path, for `cargo xtask bench`.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use dents_lab::fixture::mostly_plain;
use dents_lab::oracle::{Oracle, Subject};
use dents_lab::palette::CHEAP;
use dents_lab::process::{End, Run};
use dents_lab::syscalls::{Trace, trace};

/// The directory that is listed.
const ENTRIES: usize = 1000;

/// The option sets, and LS_COLORS where it matters.
const SETS: &[(&str, Option<&str>)] = &[
    ("", None),
    ("-a", None),
    ("-U", None),
    ("-C", None),
    ("-v", None),
    ("-p", None),
    ("--file-type", None),
    ("-F", None),
    ("-i", None),
    ("-s", None),
    ("-t", None),
    ("-S", None),
    ("-l", None),
    ("-la", None),
    ("-lL", None),
    ("-lR", None),
    ("-R", None),
    ("--group-directories-first", None),
    ("--color=always", None),
    ("--color=always", Some(CHEAP)),
    ("-l --color=always", None),
    ("-Z", None),
];

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let result = match &words[..] {
        [] => table(),
        [program, args @ ..] => one(Path::new(program), args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("calls: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Prints how many calls one command makes, in an environment without LS_COLORS and `TZ`.
fn one(program: &Path, args: &[OsString]) -> Result<(), String> {
    let run = Run::new(program).args(args).without("TZ");
    let trace = trace(&run).map_err(|error| format!("strace: {error}"))?;
    if trace.outcome.end != End::Exit(0) {
        let said = String::from_utf8_lossy(&trace.outcome.stderr).trim().to_string();
        return Err(format!("{}: {:?} {said}", program.display(), trace.outcome.end));
    }
    println!("{}", trace.total());
    Ok(())
}

fn table() -> Result<(), String> {
    let (oracle, subject) = (Oracle::find()?, Subject::release()?);
    let dir = mostly_plain(&std::env::temp_dir(), ENTRIES).map_err(|error| error.to_string())?;
    let (major, minor) = oracle.version();
    println!(
        "| options | GNU ls {major}.{minor} | of them stat | xattr | dls, classic | stat | xattr | dls, auto |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (options, colors) in SETS {
        let run = |program, mode: Option<&str>| {
            let run = Run::new(program).cwd(dir.path()).args(mode).args(options.split_whitespace());
            let run = colors.iter().fold(run, |run, colors| run.env("LS_COLORS", colors));
            trace(&run).map_err(|error| format!("strace: {error}"))
        };
        let theirs = run(oracle.path(), None)?;
        let classic = run(subject.path(), Some("--mode=classic"))?;
        let auto = run(subject.path(), Some("--mode=auto"))?;
        let spelled = colors.map(|colors| format!(", `LS_COLORS='{colors}'`")).unwrap_or_default();
        let name = if options.is_empty() { "(none)".to_string() } else { format!("`{options}`") };
        println!("| {name}{spelled} | {} | {} | {} |", columns(&theirs), columns(&classic), auto.total());
    }
    Ok(())
}

/// All calls, those that ask for metadata, those that ask for attributes.
fn columns(trace: &Trace) -> String {
    let sum = |matches: fn(&str) -> bool| {
        trace.by_name().iter().filter(|(name, _)| matches(name)).map(|(_, count)| count).sum::<usize>()
    };
    let stats = sum(|name| name.contains("stat") && !name.contains("statfs"));
    format!("{} | {stats} | {}", trace.total(), sum(|name| name.contains("xattr")))
}
