//! `dents top`: the largest, oldest and newest files, the fullest directories.
//!
//! Each worker keeps only as many entries as are shown ([`heap`]), so memory does not grow with the tree. Only regular files are
//! stat'ed; to find the fullest directories, no entry is.

mod args;
mod draw;
mod find;
mod heap;

pub(crate) use args::Args;

use crate::filter::Filter;
use crate::output::{Completion, Diagnostics};
use crate::overlap::Overlap;
use crate::session::{Session, Status};
use crate::source::{Below, Gathered, Job, Opened, Special, Way};
pub(crate) use args::By;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::End;
use dents_sink::read::Columns;
use find::{Counter, Fullest};
pub(crate) use find::{Finder, time_of};
pub(crate) use heap::{Best, Ranked};

pub(crate) fn run(args: &Args, session: &Session) -> Status {
    let filter = Filter::new(&args.filter, args.depths, None);
    let diagnostics = Diagnostics::begin(session);
    let needs = match args.by {
        By::Entries => NeedsByKind::all(Needs::TYPE),
        by => NeedsByKind::of(Kind::Reg, by.needs()),
    };
    let (walk, source) = (&args.walk, &args.source);
    let job =
        Job { walk, source, filter: &filter, diagnostics: &diagnostics, needs, must: NeedsByKind::default() };
    let found = match source.file() {
        Some(file) => file.open(job.diagnostics.session()).and_then(|opened| from_file(args, &job, opened)),
        None => Ok(from_tree(args, &job)),
    };
    let (best, end) = match found {
        Ok(found) => found,
        Err(code) => return code,
    };
    let completion = Completion::new(end, diagnostics);
    completion.finish(|destination| draw::draw(args, &best, &completion, destination))
}

fn from_tree(args: &Args, job: &Job<'_>) -> (Vec<Ranked>, End) {
    if args.by == By::Entries {
        let overlap = Overlap::new(&job.walk.paths(), job.walk.follow());
        let special = Special { extra: false, ..Special::default() };
        let Gathered { consumers, end, .. } = job.walk(&special, || Fullest::new(args.number, &overlap));
        let mut all = Fullest::new(args.number, &overlap);
        consumers.into_iter().for_each(|one| all.merge(one));
        return (all.finish_all().into_sorted(), end);
    }
    let make = || Finder::new(args.by, args.number);
    let Gathered { consumers, end, .. } = job.walk(&Special::default(), make);
    (best(args, consumers), end)
}

fn best(args: &Args, finders: Vec<Finder>) -> Vec<Ranked> {
    let mut best = Best::new(args.number);
    finders.into_iter().for_each(|one| best.merge(one.best));
    best.into_sorted()
}

/// The same for the rows of a scan file. To find the fullest directories takes memory for each directory, because the rows of a
/// directory may be anywhere in the file.
fn from_file(args: &Args, job: &Job<'_>, opened: Opened<'_>) -> Result<(Vec<Ranked>, End), Status> {
    let way = Way::once(Columns::PATH);
    if args.by == By::Entries {
        let way = Way { below: Below::Farthest, ..way };
        let Gathered { consumers, end, .. } = job.read(opened, &way, Counter::default)?;
        return Ok((Counter::best(consumers, args.number).into_sorted(), end));
    }
    let Gathered { consumers, end, .. } = job.read(opened, &way, || Finder::new(args.by, args.number))?;
    Ok((best(args, consumers), end))
}
