//! `dents stats`: who and what fills a tree.
//!
//! ```text
//! tree or file ─► Seen ─► Sums, one a worker ─► Sums ─► tables
//!                         a sum for each value of each key
//! ```
//!
//! Memory grows with the number of owners, extensions and levels, not with that of files. Of files with several links
//! those are kept of which more names may come ([`places`]), 36 bytes each. Sums have 128 bits.

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
/// A file with several links counts once, and so does what several PATHs hold. Extension, age and size are of regular files, the other tables of all entries;
/// age is the time from the last change of the contents to the start of the scan. Rows are ordered by what is allocated, classes by themselves.
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
    /// Rows of a table at most; what they leave out is one more, `others`
    #[arg(short, long, value_name = "N", default_value_t = 10, help_heading = "What is shown")]
    number: usize,
    /// Order and shares by bytes in files, not by what is allocated for them
    #[arg(long, help_heading = "What is shown")]
    apparent_size: bool,
    /// One JSON object, sizes in bytes
    #[arg(long, help_heading = "What is shown")]
    json: bool,
    #[command(flatten)]
    units: Units,
}

/// What sums are made for each value of.
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

/// Rows do not say whether the roots of the scan lay in one another, so no file is forgotten.
fn from_file(args: &Args, file: File<'_>, diagnostics: &Diagnostics) -> Result<(Gathered, End), ExitCode> {
    let file = file.open()?;
    let (mut sums, links) = (Sums::new(&args.by, Now::recorded(file.span())), Links::new(&args.by, true));
    let end = file.each(diagnostics, |seen| {
        let names = seen.facts.map_or(1, |facts| facts.nlink);
        sums.see(seen, names, &links);
    })?;
    Ok(((sums, links), end))
}
