//! `dents scan`: lists a tree.
//!
//! ```text
//! Args ─► Filter, Output ─► needs ─► walk ─► Scan (a worker's) ─► Filter::wants ─► Emit ─► Out
//! ```
//!
//! What is asked of the kernel follows from what filters and output declare: paths alone need no question about any entry.

mod emit;
mod filter;
mod ignored;
mod origin;
mod out;
mod paths;
mod statistics;
mod visitor;

use crate::progress::Progress;
use crate::walk::Walk;
use crate::{interrupt, message};
use dents::needs::Needs;
use dents::read::{Filter as Names, Hidden};
use dents::tree::{End, Tally};
use emit::{Emit, Nothing};
use filter::Filter;
use out::Out;
use paths::Paths;
use std::io::{ErrorKind, IsTerminal};
use std::process::ExitCode;
use std::time::Instant;
use visitor::{Plan, Scan};

/// List a tree
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    filter: filter::Args,
    #[command(flatten)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  dents scan                               all paths below the current directory
  dents scan -0 -f -g '\\.core$' / | xargs -0 rm
  dents scan --type f --size +1G --older 365d /home
  dents scan -qs /scratch                  only the statistics

Exit status: 0, 1 if something could not be read or written, 2 for a wrong command line, 130 after Ctrl-C.";

/// What comes out.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
struct Output {
    /// End paths with NUL instead of a newline
    #[arg(short = '0', long)]
    null: bool,
    /// Show no paths
    #[arg(short = 'q', long)]
    quiet: bool,
    /// Show at the end, on standard error, what was found and what it took
    #[arg(short = 's', long)]
    statistics: bool,
    /// Show progress [default: after a second, if standard error is a terminal and standard output is none]
    #[arg(short = 'p', long)]
    progress: bool,
    /// One worker: directories in the order of reading, depth first
    #[arg(long, conflicts_with = "threads")]
    sync: bool,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let started = Instant::now();
    let filter = match Filter::new(&args.filter) {
        Ok(filter) => filter,
        Err(error) => return wrong(&error),
    };
    let out = match Out::stdout() {
        Ok(out) => out,
        Err(error) => return cannot_write(&error),
    };
    let progress = Progress::start(args.output.progress, !std::io::stdout().is_terminal());
    let counters = progress.as_ref().map(Progress::counters);
    let plan = Plan { filter, out: &out, progress: counters, counts: args.output.statistics };
    let done = walk(args, &plan);
    drop(progress);
    if args.output.statistics {
        statistics::say(&done, started.elapsed());
    }
    match out.into_result() {
        Err(error) => cannot_write(&error),
        Ok(_) => status(&done),
    }
}

/// What came of the walk.
struct Done {
    end: End,
    tally: Tally,
    /// Entries by type, if they were counted.
    kinds: [u64; 16],
}

/// Walks, and hands over what the workers hold back.
fn walk(args: &Args, plan: &Plan<'_>) -> Done {
    let needs = plan.filter.needs(Needs::empty(), args.walk.follows());
    let mut options = args.walk.options(needs);
    options.max_depth = args.filter.max_depth;
    options.extra = needs.any().intersects(Needs::TIMES);
    if plan.filter.hides() {
        options.filter = Names { hidden: Hidden::Skip, ..Names::default() };
    }
    if args.output.sync {
        options.workers = Some(1);
    }
    if needs.any().is_empty() {
        // The visitor looks at the same flag before each directory; and without it the walk may find directories by their
        // parent's link count where `readdir` tells no types.
        options.cancel = None;
    }
    let terminal = std::io::stdout().is_terminal() && !args.output.null;
    let end = if args.output.null { b'\0' } else { b'\n' };
    let outcome = args.walk.walk(&options, |_| {
        let emit: Box<dyn Emit> = match args.output.quiet {
            true => Box::new(Nothing),
            false => Box::new(Paths::new(plan.out, end, terminal)),
        };
        Scan::new(plan, emit)
    });
    let mut done = Done { end: outcome.end, tally: outcome.tally, kinds: [0; 16] };
    for visitor in outcome.visitors {
        let kinds = visitor.finish();
        done.kinds.iter_mut().zip(kinds).for_each(|(all, some)| *all += some);
    }
    done
}

/// The exit status of a walk whose output arrived.
fn status(done: &Done) -> ExitCode {
    if let Some(status) = interrupt::status() {
        message::say(b"interrupted: what was found until then is not all");
        return status;
    }
    match done.end {
        End::Deadline => message::say(b"the time is over: what was found until then is not all"),
        _ if done.tally.faults == 0 => return ExitCode::SUCCESS,
        _ => {}
    }
    ExitCode::FAILURE
}

/// A command line that cannot be.
fn wrong(error: &str) -> ExitCode {
    message::say(error.as_bytes());
    ExitCode::from(2)
}

/// The output fails. A pipe that nobody reads any more is none of our business.
fn cannot_write(error: &std::io::Error) -> ExitCode {
    if error.kind() == ErrorKind::BrokenPipe {
        return interrupt::die_of_closed_pipe();
    }
    message::say(format!("standard output: {}", message::plain(error)).as_bytes());
    ExitCode::FAILURE
}
