//! `--part DIR --task ID`: one task of a scan in parts. See `dents_sink::parts`.

use super::args::Args;
use super::done::{Done, cannot_write, status};
use super::parts::budget::Budget;
use super::parts::plan::{failed, plan};
use super::parts::words::{self, Which};
use super::rows::{self, Rows};
use super::task::Task;
use super::text_output::FirstError;
use crate::owners::SharedOwners;
use crate::session::{Session, Status};
use crate::source::Special;
use crate::time;
use clap::ArgMatches;
use dents_core::tree::End;
use dents_sink::parts::{Committed, Directory, Parts};
use dents_sink::read::Columns;
use dents_sink::{Extent, Own, Sink};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::time::Instant;

/// How a task ended.
enum Ended {
    /// It was committed, or stopped.
    Done(Box<Done>),
    /// Another run of it was committed.
    Lost,
    /// A directory could not be read to its end: it must be run again.
    GivenUp,
}

/// Does a task.
pub(super) fn run(args: &Args, matches: &ArgMatches, session: &Session) -> Status {
    let (Some(dir), Some(id)) = (&args.part.part, &args.part.task) else {
        return session.wrong("a task has a directory and an ID: --part DIR --task ID");
    };
    let Some(matches) = matches.subcommand_matches("scan") else { return Status::WRONG };
    let parts = match opened(args, matches, dir) {
        Ok(parts) => parts,
        Err(error) => return failed(&error, session),
    };
    // Ages count from the start of the scan, for all tasks.
    time::start_at(parts.plan().begun);
    let parsed = words::parse(line(&parts, matches));
    let shared = match parsed.as_ref().map_err(String::clone).map(|(args, _)| (args, args.filter())) {
        Ok(shared) => shared,
        Err(error) => return session.wrong(&error),
    };
    let task = Task { args: shared.0, filter: shared.1, session, first_error: FirstError::default() };
    session.leave_out(Own::at(parts.dir()));
    match parts.done(id) {
        Ok(None) => {}
        Ok(Some(_)) => {
            session.say(format!("task {id} is committed").as_bytes());
            return Status::SUCCESS;
        }
        Err(error) => return failed(&error, session),
    }
    match parts.claim_for(id) {
        Ok(true) => {}
        Ok(false) => {
            let way_out = "`dents parts status` tells whether the scan is complete";
            session.say(format!("task {id}: no directory waits; {way_out}").as_bytes());
            return Status::FAILURE;
        }
        Err(error) => return failed(&error, session),
    }
    let end = args.part.time_budget.map(|time| Instant::now() + time);
    let done = walk(&task, &parts, id, (args.part.budget.get(), end));
    finish(task, done)
}

/// The directory, with a plan that has the options and roots that were given. Without these, it has one already.
fn opened(args: &Args, matches: &ArgMatches, dir: &Path) -> io::Result<Parts> {
    let wrong = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
    words::refuse(matches).map_err(wrong)?;
    let cwd = std::env::current_dir().unwrap_or_default();
    if !args.walk.given().is_empty() {
        let parts = Parts::start(dir, plan(matches, args.walk.given())?)?;
        parts.plan().check_trees(dir)?;
        return Ok(parts);
    }
    let parts = Parts::open(dir)?;
    let ours = words::words(matches, Which::Plan);
    if !ours.is_empty() {
        let roots = parts.plan().roots.iter().map(|root| OsString::from_vec(root.clone()));
        parts.plan().check(&plan(matches, &roots.collect::<Vec<_>>())?, dir)?;
    }
    parts.plan().check_place(&cwd, dir)?;
    parts.plan().check_trees(dir)?;
    Ok(parts)
}

/// The words of the plan, and of this run.
fn line(parts: &Parts, matches: &ArgMatches) -> Vec<OsString> {
    let plan = parts.plan();
    let roots = plan.roots.iter().map(|root| OsString::from_vec(root.clone()));
    let options = plan.options.iter().cloned().chain(words::words(matches, Which::Run));
    options.chain([OsStr::new("--").to_owned()]).chain(roots).collect()
}

/// Walks the directories of the task until the budget is used up, and commits.
fn walk(task: &Task<'_>, parts: &Parts, id: &str, budget: (u64, Option<Instant>)) -> io::Result<Ended> {
    let (mut roots, mut start_points, mut tries) = (Vec::new(), Vec::new(), Vec::new());
    for directory in parts.directories(id)? {
        match directory {
            Directory::Root(path) => roots.push(path),
            Directory::Below(beginning, failed) => {
                start_points.push(beginning);
                tries.push(failed);
            }
        }
    }
    let attempt = parts.attempt(id);
    let details = task.args.output.details().unwrap_or_default();
    let columns = Columns::USUAL | details;
    let sink = attempt.shard(&task.args.output.about((parts.plan().begun, None), &[], details))?;
    let (owners, operands) = (SharedOwners::default(), task.args.walk.paths());
    let own = start_points.iter().zip(tries);
    let left = Budget::new(&attempt, &task.first_error, budget, &operands, own, parts.may_give_up(id)?);
    let special = Special {
        paths: Some(&roots),
        start_points: &start_points,
        budget: Some(&left),
        ..Special::default()
    };
    let make = || Rows::new(sink.part(), &task.first_error, &owners, &operands).with(columns);
    let done = task.walk_from((rows::needs(columns), true), special, make);
    if left.gave_up() && !task.first_error.is_set() {
        parts.give_up(id)?;
        return Ok(Ended::GivenUp);
    }
    if done.end != End::Complete || task.first_error.is_set() {
        return Ok(Ended::Done(Box::new(done)));
    }
    // What a tree that went away meanwhile seems to have is not what it has.
    parts.plan().check_trees(parts.dir())?;
    let _hold = task.session.hold();
    let extent = if done.root_failed { Extent::Partial } else { Extent::Complete };
    match attempt.commit(sink, extent)? {
        (Committed::Won, _) => Ok(Ended::Done(Box::new(done))),
        (Committed::Lost, _) => {
            task.session.say(format!("task {id} was committed by another run of it").as_bytes());
            Ok(Ended::Lost)
        }
    }
}

fn finish(task: Task<'_>, ended: io::Result<Ended>) -> Status {
    let Task { first_error, session, .. } = task;
    match (first_error.into_result(), ended) {
        (Ok(()), Ok(Ended::Lost)) => Status::SUCCESS,
        (Ok(()), Ok(Ended::GivenUp)) => {
            session.say(b"a directory was not read to its end: nothing is committed; run the task again");
            Status::FAILURE
        }
        (Ok(()), Ok(Ended::Done(done))) if done.end == End::Complete => {
            status(&done, Path::new("-"), session)
        }
        (Ok(()), Ok(Ended::Done(_))) => {
            session.say(b"interrupted: nothing is committed; run the task again");
            session.stopped().unwrap_or(Status::FAILURE)
        }
        (Ok(()), Err(error)) => failed(&error, session),
        (Err(error), _) => cannot_write(&error, session),
    }
}
