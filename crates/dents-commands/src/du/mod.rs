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

mod args;
mod draw;
mod row;
mod rules;
mod sum;
mod threshold;

pub(crate) use args::Args;

use crate::filter::{Depths, Filter};
use crate::output::{Completion, Diagnostics};
use crate::session::{Session, Status};
use crate::source::{File, Job};
use dents_core::tree::End;
use row::Row;
use rules::Rules;
use std::ffi::{CStr, CString};
use sum::Sums;

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
