//! `dents du`: the space that files and directories take.
//!
//! ```text
//! operand ─► walk ─► Summer, one a worker ─► Sums ─► rows ─► lines
//!            statx   rows to show, nodes to   nodes are     largest first
//!                    add to, hard links       rolled up
//! ```
//!
//! Operands are walked one after the other, since a file that was counted in one is not counted again in the next. Memory
//! beyond that of the walk: a row for each entry that is shown; 28 bytes for each file with several links while some of its links were not
//! met yet ([`HardLinks`](dents_core::tree::hardlinks::HardLinks)). Sums have 128 bits.

mod draw;
mod row;
mod rules;
mod sum;

use crate::report::{Completion, Diagnostics, Units};
use crate::walk::Walk;
use dents_core::tree::End;
use dents_render::human::SizeFormat;
use rules::Rules;
use std::ffi::{CStr, CString};
use std::process::ExitCode;
use sum::Sums;

/// Show what directories take, largest first
///
/// Allocated space as du(1) counts it: each file once, however many links it has, and the blocks of directories too. A file
/// with several links counts in the first of the directories shown, in the order of their names, so the figures do not
/// depend on the number of workers.
///
/// On a terminal each size has a unit that fits and a bar for its share of the total; elsewhere each line is
/// SIZE in blocks of 1024 bytes, a tab and the unquoted path, as du(1) has it.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
    /// Show only the sum of each PATH
    #[arg(short, long, help_heading = "What is shown", conflicts_with = "max_depth")]
    summarize: bool,
    /// Show directories down to this depth; deeper ones are counted but not shown
    #[arg(short = 'd', long, value_name = "N", default_value_t = 1, help_heading = "What is shown")]
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
    #[command(flatten)]
    units: Units,
}

impl Args {
    fn depth(&self) -> u32 {
        if self.summarize { 0 } else { self.max_depth }
    }

    fn apparent(&self) -> bool {
        self.apparent_size || self.apparent_bytes
    }

    fn units(&self, otherwise: SizeFormat) -> SizeFormat {
        if self.apparent_bytes { SizeFormat::BYTES } else { self.units.format(otherwise) }
    }
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let diagnostics = Diagnostics::begin();
    let paths: Vec<CString> = args.walk.paths().iter().map(|path| trimmed(path)).collect();
    let rules = Rules::new(args, &paths);
    let mut options = args.walk.options(rules.needs());
    options.extra = true;
    if rules.follows() && rules.depth > 0 {
        // A directory that two links lead to counts where it is entered first. With one worker that is always the same link.
        options.workers = Some(1);
    }
    let mut sums = Sums::new(&rules, &diagnostics);
    let mut end = End::Complete;
    for path in &paths {
        end = sums.operand(path, &options);
        if end != End::Complete {
            break;
        }
    }
    let mut rows = sums.into_rows();
    let total = rows.iter().filter(|row| row.depth == 0).map(|row| row.bytes).sum();
    rows.sort_unstable_by(row::largest_first);
    let completion = Completion::new(end, diagnostics);
    completion.finish(|out| draw::draw(args, &rows, total, &completion, out))
}

/// Leaves one of several slashes at the end, as du(1) does.
fn trimmed(path: &CStr) -> CString {
    let mut bytes = path.to_bytes();
    while bytes.ends_with(b"//") {
        bytes = &bytes[..bytes.len() - 1];
    }
    CString::new(bytes).unwrap_or_default()
}
