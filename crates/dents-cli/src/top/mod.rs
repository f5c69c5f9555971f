//! `dents top`: the largest, oldest and newest files, the fullest directories.
//!
//! Each worker keeps only as many as are shown ([`heap`]), so memory does not grow with the tree. Only regular files are
//! stat'ed; for the fullest directories no entry is.

mod draw;
mod find;
mod heap;

use crate::overlap::Overlap;
use crate::report::{Completion, Diagnostics, Units};
use crate::source::{File, Source};
use crate::walk::Walk;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::{End, Options};
use find::{Finder, Fullest};
use heap::{Best, Ranked};
use std::process::ExitCode;

/// Show the largest, oldest, newest files, the fullest directories
///
/// Only regular files; one with several links is shown once, and so is a directory that lies in several PATHs. On a terminal sizes
/// have a unit that fits; elsewhere each line is the value in bytes or in Coordinated Universal Time, a tab and the unquoted path.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    source: Source,
    /// Show N of them
    #[arg(short, long, value_name = "N", default_value_t = 10, help_heading = "What is shown")]
    number: usize,
    /// What to look for
    #[arg(long, value_enum, default_value_t = By::Size, help_heading = "What is shown")]
    by: By,
    /// End lines with a NUL instead of a newline
    #[arg(short = '0', long, help_heading = "What is shown", conflicts_with = "json")]
    null: bool,
    /// One JSON object: names byte-exact, sizes in bytes
    #[arg(long, help_heading = "What is shown")]
    json: bool,
    #[command(flatten)]
    units: Units,
}

/// The criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// The largest files
    Size,
    /// The files with the most allocated space
    Allocated,
    /// The files that were modified the longest time ago
    Oldest,
    /// The files that were modified last
    Newest,
    /// The directories with the most entries
    Entries,
}

impl By {
    /// The needs, of regular files alone.
    fn needs(self) -> Needs {
        let value = match self {
            By::Size => Needs::SIZE,
            By::Allocated => Needs::BLOCKS,
            By::Oldest | By::Newest => Needs::MTIME,
            By::Entries => return Needs::empty(),
        };
        Needs::TYPE | Needs::INODE | Needs::NLINK | value
    }
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let diagnostics = Diagnostics::begin();
    let (best, end) = match args.source.file() {
        Some(file) => match from_file(args, file, &diagnostics) {
            Ok(found) => found,
            Err(code) => return code,
        },
        None => from_tree(args, &diagnostics),
    };
    let completion = Completion::new(end, diagnostics);
    completion.finish(|out| draw::draw(args, &best, &completion, out))
}

fn from_tree(args: &Args, diagnostics: &Diagnostics) -> (Vec<Ranked>, End) {
    let mut options = args.walk.options(NeedsByKind::of(Kind::Reg, args.by.needs()));
    if args.by == By::Entries {
        options.needs = NeedsByKind::all(Needs::TYPE);
        return fullest(args, &options, diagnostics);
    }
    options.extra = true;
    let outcome = args.walk.walk(&options, |_| Finder::new(args.by, args.number, diagnostics));
    let mut best = Best::new(args.number);
    outcome.visitors.into_iter().for_each(|one| best.merge(one.best));
    (best.into_sorted(), outcome.end)
}

fn fullest(args: &Args, options: &Options<'_>, diagnostics: &Diagnostics) -> (Vec<Ranked>, End) {
    let overlap = Overlap::new(&args.walk.paths(), options.follow);
    let outcome = args.walk.walk(options, |_| Fullest::new(args.number, diagnostics, &overlap));
    let mut all = Fullest::new(args.number, diagnostics, &overlap);
    outcome.visitors.into_iter().for_each(|one| all.merge(one));
    (all.finish().into_sorted(), outcome.end)
}

/// The same for the rows of a scan file. The fullest directories take memory for each directory, since the rows of a
/// directory may stand anywhere in the file.
fn from_file(args: &Args, file: File<'_>, diagnostics: &Diagnostics) -> Result<(Vec<Ranked>, End), ExitCode> {
    let mut finder = Finder::new(args.by, args.number, diagnostics);
    let mut counts = find::Counts::new();
    let end = file.open()?.each(diagnostics, |seen| match args.by {
        By::Entries => find::count(&mut counts, seen),
        _ => finder.look(seen),
    })?;
    for (path, count) in counts {
        finder.best.offer(i128::from(count), &path, None);
    }
    Ok((finder.best.into_sorted(), end))
}
