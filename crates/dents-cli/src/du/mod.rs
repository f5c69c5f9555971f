//! `dents du`: what files take, and with them the directories they are in.
//!
//! ```text
//! operand ─► walk ─► Summer, one a worker ─► Sums ─► tree ─► lines
//!            statx   rows to show, nodes to   each operand's    largest first
//!                    add to, hard links       rows added up
//! ```
//!
//! Operands are walked one after the other, for what was counted in one is not counted again in the next. What it costs
//! beyond the walk: nothing for a directory below the depth that is shown; a row for each one above; 28 bytes for each
//! file with several links of which some are still to come
//! ([`HardLinks`](dents_core::tree::hardlinks::HardLinks)). Sums have 128 bits.

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
/// Allocated space as du(1) counts it: each file once however many links it has, directories' own blocks among it. A file
/// with several links counts in the first of the directories shown, in the order of their names: whatever the number of
/// workers, the figures are the same.
///
/// On a terminal sizes are shown with the unit that fits and a bar for their share of all; elsewhere each line is
/// SIZE, a tab and the path as it is, in blocks of 1024 bytes, as du(1) has it.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
    /// Only the sum of each PATH
    #[arg(short, long, help_heading = "What is shown", conflicts_with = "max_depth")]
    summarize: bool,
    /// Directories down to this depth; all of them are counted in any case
    #[arg(short = 'd', long, value_name = "N", default_value_t = 1, help_heading = "What is shown")]
    max_depth: u32,
    /// Files as well
    #[arg(short, long, help_heading = "What is shown")]
    all: bool,
    /// The sum of all PATHs at the end
    #[arg(short = 'c', long, help_heading = "What is shown")]
    total: bool,
    /// Bytes in files, not what is allocated for them; directories have none
    #[arg(long, help_heading = "What is counted")]
    apparent_size: bool,
    /// Bytes in files, shown in bytes: --apparent-size --bytes
    #[arg(short = 'b', help_heading = "What is counted")]
    apparent_bytes: bool,
    /// A file with several links as often as it is met
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
        // Which of two links to a directory leads into it decides where it counts: so one after the other.
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

/// Of several slashes at the end only one is shown, as du(1) does.
fn trimmed(path: &CStr) -> CString {
    let mut bytes = path.to_bytes();
    while bytes.ends_with(b"//") {
        bytes = &bytes[..bytes.len() - 1];
    }
    CString::new(bytes).unwrap_or_default()
}
