//! `cargo xtask bench`: how long listings take, beside which programs, in one run of one build on one machine.
//!
//! ```text
//! cases ─► places ─► programs ─► results ─► tables
//! what is   where      hyperfine,  bench/     of README.md and PERFORMANCE.md,
//! measured             peak, calls results.tsv bench/time.svg
//! ```
//!
//! A process is measured from its start to its end, its output discarded. What is compared are ratios of medians: times
//! depend on the machine.

mod cases;
mod places;
mod programs;
mod results;
mod tables;

use cases::{CASES, Case, Figure, Place};
use places::Scratch;
use programs::Programs;
use results::{RESULTS, Results};

use crate::step::{Result, workspace, write};

pub(crate) use programs::gnu as gnu_ls;
pub(crate) use tables::write as write_tables;

const USAGE: &str = "\
usage: cargo xtask bench [--check]

  (nothing)  measure every case into bench/results.tsv, and write the tables that are made from it: ten minutes
  --check    measure the warm cases of up to 100,000 files, and fail where one got worse than in bench/results.tsv by
             over 5 %: three minutes

  PATH, TMPDIR, DLS, GNU_LS
             where peers are, where directories are built, another dls, another GNU ls
";

/// Worse by more than this is a regression.
const TOLERANCE: f64 = 1.05;
/// How often a case that looks worse is measured again: it may have been a disturbance.
const AGAIN: usize = 2;

pub(crate) fn run(words: &[&str]) -> Result<()> {
    match words {
        [] => measure(),
        ["--check"] => check(),
        ["--help"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("bench {}: not understood\n{USAGE}", words.join(" "))),
    }
}

/// Measures every case and writes the results and the tables.
fn measure() -> Result<()> {
    let (scratch, load) = (Scratch::new()?, programs::load());
    let programs = Programs::prepare(&scratch)?;
    let mut results = Results::default();
    let before = programs.empty()?;
    each(
        &scratch,
        |_| true,
        |case, dir| {
            results.add(case, programs.measure(case, dir)?);
            Ok(())
        },
    )?;
    let (after, machine) = (programs.empty()?, programs.machine(&scratch));
    results.notes = vec![machine, programs::noise(before, after, load)];
    write(workspace().join(RESULTS), results.text())?;
    println!("{}", results.notes.join("\n"));
    write_tables()
}

/// Measures the short cases; an error where a ratio is worse than the saved one.
fn check() -> Result<()> {
    let saved = Results::saved()?;
    let scratch = Scratch::new()?;
    let programs = Programs::prepare(&scratch)?;
    let mut worse = Vec::new();
    println!("compared with: {}", saved.notes.join("\n"));
    each(&scratch, Case::is_short, |case, dir| {
        let Some(then) = saved.ratio(case) else { return Ok(()) };
        let mut now = f64::INFINITY;
        for _ in 0..=AGAIN {
            let mut results = Results::default();
            results.add(case, programs.measure(case, dir)?);
            now = results.ratio(case).map_or(now, |ratio| ratio.min(now));
            if now <= then * TOLERANCE {
                break;
            }
        }
        let line = format!("{}: {now:.3}, was {then:.3} ({:+.1} %)", case.title, (now / then - 1.0) * 100.0);
        println!("   {line}");
        worse.extend((now > then * TOLERANCE).then_some(line));
        Ok(())
    })?;
    match worse.len() {
        0 => Ok(()),
        n => Err(format!("{n} cases are worse by over 5 %:\n  {}", worse.join("\n  "))),
    }
}

/// Calls `work` for each wanted case. A directory stays for the following cases that list it too.
fn each(
    scratch: &Scratch,
    wanted: impl Fn(&Case) -> bool,
    mut work: impl FnMut(&Case, &str) -> Result<()>,
) -> Result<()> {
    let mut last: Option<(Place, places::Dir)> = None;
    for case in CASES.iter().filter(|case| wanted(case)) {
        if case.figure == Figure::Cold && !places::can_drop_caches() {
            println!("== {}: left out, only root can drop the caches", case.title);
            continue;
        }
        println!("== {}", case.title);
        if last.as_ref().is_none_or(|(place, _)| *place != case.place) {
            drop(last.take());
            last = Some((case.place, scratch.build(case.place)?));
        }
        if let Some((_, dir)) = &last {
            work(case, &dir.path())?;
        }
    }
    Ok(())
}
