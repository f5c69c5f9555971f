//! `cargo xtask bench`: how fast, beside which programs, at what cost, in one run on this machine.
//!
//! ```text
//! setup ─► directories ─► measure ─► results ─► promises, report, plot
//! programs  built          hyperfine  figures    Markdown, SVG
//! found,                   strace,    by key
//! built                    peak
//! ```
//!
//! [`full`] is the whole run, [`baseline`] the short one for `--save` and `--check`, [`grid`] the one that judges
//! `--mode=auto`. All three watch the machine ([`noise`]) and clean up however they end ([`cleanup`]). They
//! measure a process from its start to its end, and discard its output; the results are ratios of medians.

mod baseline;
mod cleanup;
mod directories;
mod full;
mod grid;
mod job;
mod machine;
mod measure;
mod noise;
pub(crate) mod plot;
mod programs;
mod promises;
mod report;
mod results;
mod setup;

use std::path::PathBuf;
use std::time::SystemTime;

use crate::step::{Result, workspace};

const USAGE: &str = "\
usage: cargo xtask bench [--save | --check | --grid] [--out DIR]

  (nothing)  measure everything, into bench/RESULTS.md and plots beside it; up to an hour
  --save     a short run, saved as bench/baseline.json
  --check    the same short run, compared with it: fails where something got worse by over 5 %
  --grid     --mode=auto against the fixed modes, into bench/GRID.md
  --out DIR  read and write there instead of in bench/

  COUNT=10,1000            these numbers of entries; 10000000 is not among the default ones
  PEERS='name=command {dir}; other=command {args} {dir}'
                           more programs to compare; {args} takes the options of GNU ls
  PATH, TMPDIR, DLS, GNU_LS
                           where peers are, where directories are built, another dls, another GNU ls
";

/// Runs the bench that `words` ask for.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let (what, out) = match *words {
        [] => ("", None),
        ["--out", dir] => ("", Some(dir)),
        [what @ ("--save" | "--check" | "--grid")] => (what, None),
        [what @ ("--save" | "--check" | "--grid"), "--out", dir] => (what, Some(dir)),
        ["--help"] => {
            print!("{USAGE}");
            return Ok(());
        }
        _ => return Err(format!("bench {}: not understood\n{USAGE}", words.join(" "))),
    };
    let out = out.map_or_else(|| workspace().join("bench"), PathBuf::from);
    let start = SystemTime::now();
    let result = match what {
        "--save" => baseline::save(&out),
        "--check" => baseline::check(&out),
        "--grid" => grid::run(&out),
        _ => full::run(&out),
    };
    println!("{} s", machine::seconds_since(start));
    result
}
