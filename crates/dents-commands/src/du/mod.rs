//! `dents du`: the space that files and directories take.
//!
//! ```text
//! operand ─► walk ─► Summer, one a worker ─► Sums ─► rows ─► lines
//!            statx   rows to show, nodes to   nodes are     largest first
//!                    add to, hard links       rolled up
//! ```
//!
//! Operands are walked one after the other, because a file that was counted in one is not counted again in the next. Beside the memory of
//! the walk this takes a row for each entry that is shown, and 38 to 43 bytes for each file with several links, until all its links were
//! found ([`HardLinks`](dents_core::tree::hardlinks::HardLinks)). Sums have 128 bits.

mod draw;
mod row;
mod rules;
mod sum;
mod threshold;

use crate::filter::{self, Depths, Filter};
use crate::output::{Completion, Diagnostics, Units};
use crate::session::{Session, Status};
use crate::source::{File, Job, Source};
use crate::walk::Walk;
use dents_core::tree::End;
use dents_render::human::SizeFormat;
use row::Row;
use rules::Rules;
use std::ffi::{CStr, CString};
use sum::Sums;
use threshold::Threshold;

/// Show the space that directories take, largest first
///
/// Counts allocated space as du(1) does: each file once, even if it has several links, and the blocks of directories too. A file
/// with several links counts in the directory where du(1) finds it first, as directories are read, whatever the number of
/// workers; from a scan file, in the first by name. With -l it counts in each.
///
/// On a terminal each size has a unit that fits and a bar for its share of the total; elsewhere each line is
/// SIZE in blocks of 1024 bytes, a tab and the unquoted path, as du(1) has it.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    filter: filter::Args,
    /// Show only the sum of each PATH
    #[arg(short, long, help_heading = "What is shown", conflicts_with = "max_depth")]
    summarize: bool,
    /// Show directories down to this depth; deeper ones are counted but not shown
    #[arg(short = 'd', long, value_name = "N", value_parser = crate::number::whole::<u32>, default_value_t = 1, help_heading = "What is shown")]
    max_depth: u32,
    /// Show files too
    #[arg(short, long, help_heading = "What is shown")]
    all: bool,
    /// Show the sum of all PATHs at the end
    #[arg(short = 'c', long, help_heading = "What is shown")]
    total: bool,
    /// Count the bytes in files, not the allocated space; directories count 0
    #[arg(long, help_heading = "What is counted")]
    apparent_size: bool,
    /// Count the bytes in files and show sizes in bytes: --apparent-size --bytes
    #[arg(short = 'b', help_heading = "What is counted")]
    apparent_bytes: bool,
    /// Count a file with several links once for each link
    #[arg(short = 'l', long, help_heading = "What is counted")]
    count_links: bool,
    /// End lines with a NUL instead of a newline
    #[arg(short = '0', long, help_heading = "What is shown", conflicts_with = "json")]
    null: bool,
    /// One JSON object: names byte-exact, sizes in bytes
    #[arg(long, help_heading = "What is shown")]
    json: bool,
    /// A table as CSV, with a line of titles: sizes in bytes
    #[arg(long, help_heading = "What is shown", conflicts_with_all = ["json", "null"])]
    csv: bool,
    /// Leave out directories and files smaller than SIZE; if SIZE is negative, larger ones
    #[arg(long, value_name = "[-]SIZE", value_parser = Threshold::parse, allow_hyphen_values = true, help_heading = "What is shown")]
    threshold: Option<Threshold>,
    /// Leave subdirectories out of the sum of a directory
    #[arg(short = 'S', long, help_heading = "What is counted")]
    separate_dirs: bool,
    /// Count entries, not space: each file once, even if it has several links
    #[arg(long, help_heading = "What is counted", conflicts_with_all = ["apparent_size", "apparent_bytes"])]
    inodes: bool,
    #[command(flatten)]
    units: Units,
}

/// The figure that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Bytes that are allocated.
    Allocated,
    /// Bytes in files.
    Apparent,
    /// Entries, each file once.
    Inodes,
}

impl Args {
    fn depth(&self) -> u32 {
        if self.summarize { 0 } else { self.max_depth }
    }

    fn what(&self) -> What {
        match self {
            Args { inodes: true, .. } => What::Inodes,
            Args { apparent_size: true, .. } | Args { apparent_bytes: true, .. } => What::Apparent,
            _ => What::Allocated,
        }
    }

    fn units(&self, otherwise: SizeFormat) -> SizeFormat {
        match (self.what(), self.apparent_bytes) {
            // Plain numbers, unless the user asks for a unit.
            (What::Inodes, _) => self.units.format(SizeFormat::BYTES),
            (_, true) => SizeFormat::BYTES,
            _ => self.units.format(otherwise),
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Status {
    let filter = Filter::new(&args.filter, Depths::ALL, None);
    let diagnostics = Diagnostics::begin(session);
    let file = args.source.file();
    let paths: Vec<CString> = args.walk.paths().iter().map(|path| trimmed(path)).collect();
    let rules = Rules::new(args, if file.is_some() { &[] } else { &paths }, filter.has_tests());
    let (needs, must) = (rules.needs(), rules.must());
    let (walk, source) = (&args.walk, &args.source);
    let job = Job { walk, source, filter: &filter, diagnostics: &diagnostics, needs, must };
    let mut sums = Sums::new(&rules, file.is_some() || session.mounts_overlap());
    let end = match file {
        Some(file) => match read_all(&mut sums, &job, file) {
            Ok(end) => end,
            Err(code) => return code,
        },
        None => walk_all(&mut sums, &job, &rules, &paths),
    };
    let (rows, total) = shown(args, &rules, sums.into_rows());
    let completion = Completion::new(end, diagnostics);
    completion.finish(|destination| draw::draw(args, &rows, total, &completion, destination))
}

fn walk_all(sums: &mut Sums<'_>, job: &Job<'_>, rules: &Rules, paths: &[CString]) -> End {
    // If two links lead to a directory, it counts under the link by which it is entered first. With one worker that is the link by which
    // du(1) enters it.
    let workers = (rules.follows() && rules.nodes_to() > 0).then_some(1);
    for path in paths {
        let end = sums.operand(job, path, workers, paths.len() == 1 && rules.sum_suffices());
        if end != End::Complete {
            return end;
        }
    }
    End::Complete
}

/// Reads the file once for each PATH: a file with several links counts in the first of them.
fn read_all(sums: &mut Sums<'_>, job: &Job<'_>, file: File<'_>) -> Result<End, Status> {
    let several = job.walk.given().len().max(1);
    if several > 1 && file.is_stream() {
        return Err(job
            .diagnostics
            .session()
            .wrong("du reads a scan once for each PATH, and a pipe can be read once: name a file"));
    }
    for path in 0..several {
        let end = sums.read(job, file, (several > 1).then_some(path))?;
        if end != End::Complete {
            return Ok(end);
        }
    }
    Ok(End::Complete)
}

/// The rows that are shown, the largest first, and the sum of all operands.
fn shown(args: &Args, rules: &Rules, mut rows: Vec<Row>) -> (Vec<Row>, u128) {
    let total = rows.iter().filter(|row| row.depth == 0).map(|row| row.bytes).sum();
    if args.separate_dirs {
        row::separate(&mut rows);
        rows.retain(|row| row.depth <= rules.depth);
    }
    rows.retain(|row| args.threshold.is_none_or(|threshold| threshold.keeps(row.bytes)));
    rows.sort_unstable_by(row::largest_first);
    (rows, total)
}

/// Keeps one of several slashes at the end, as du(1) does.
fn trimmed(path: &CStr) -> CString {
    let mut bytes = path.to_bytes();
    while bytes.ends_with(b"//") {
        bytes = &bytes[..bytes.len() - 1];
    }
    CString::new(bytes).unwrap_or_default()
}
