//! `dents stats`: sums by user, group, extension, age, size and depth.
//!
//! ```text
//! tree or file ─► Seen ─► Sums, one a worker ─► Sums ─► tables
//!                         a sum for each value of each key
//! ```
//!
//! Memory grows with the number of owners, extensions and levels, not with the number of files. A file with several links is kept
//! until all its names were met ([`hardlinks`]): 36 bytes each. Sums have 128 bits.

mod class;
mod draw;
mod hardlinks;
mod owners;
mod sums;
mod walk;

use crate::report::{Completion, Diagnostics, Units};
use crate::source::{File, Source};
use crate::walk::Walk;
use class::Now;
use dents_core::tree::End;
use hardlinks::Links;
use std::process::ExitCode;
use sums::Sums;

/// Sum up a tree by user, group, extension, age, size and depth
///
/// A file with several links counts once, and so does an entry that lies in several PATHs. The tables by extension, age and size
/// count regular files, the others all entries. Age is the time from the last modification to the start of the scan. Rows are ordered
/// by allocated space; ages, sizes and depths by themselves.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    source: Source,
    /// The tables, in this order
    #[arg(
        long,
        value_enum,
        value_name = "KEY,…",
        value_delimiter = ',',
        default_value = "user,extension,age,size",
        help_heading = "What is shown"
    )]
    by: Vec<Key>,
    /// Show at most N rows of each table, and one for all `others`
    #[arg(short, long, value_name = "N", default_value_t = 10, help_heading = "What is shown")]
    number: usize,
    /// Compute order and shares from the bytes in files, not from allocated space
    #[arg(long, help_heading = "What is shown")]
    apparent_size: bool,
    /// One JSON object, sizes in bytes
    #[arg(long, help_heading = "What is shown")]
    json: bool,
    #[command(flatten)]
    units: Units,
}

/// A table: its sums are made for each value of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Key {
    User,
    Group,
    Extension,
    Age,
    Size,
    Depth,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let diagnostics = Diagnostics::begin();
    let ((sums, links), end) = match args.source.file() {
        Some(file) => match from_file(args, file, &diagnostics) {
            Ok(found) => found,
            Err(code) => return code,
        },
        None => walk::walk(args, Now::live(), &diagnostics),
    };
    let tables = sums.into_tables(&args.by, links);
    let completion = Completion::new(end, diagnostics);
    completion.finish(|out| draw::draw(args, &tables, &completion, out))
}

type Gathered = (Sums, Links);

/// Rows do not say whether the roots of the scan overlap, so files with several links are kept to the end.
fn from_file(args: &Args, file: File<'_>, diagnostics: &Diagnostics) -> Result<(Gathered, End), ExitCode> {
    let file = file.open()?;
    let (mut sums, links) = (Sums::new(&args.by, Now::recorded(file.span())), Links::new(&args.by, true));
    let end = file.each(diagnostics, |seen| {
        let names = seen.facts.map_or(1, |facts| facts.nlink);
        sums.see(seen, names, &links);
    })?;
    Ok(((sums, links), end))
}
