//! `dls`, an `ls`: the options and the bytes of GNU `ls`, in less time.
//!
//! The flow: [`args`] (the command line) ─► `config` (default options) ─► [`plan`] (all decisions) ─► `run` (read,
//! stat, owners, sort, render) ─► [`output`] (the one place that writes). [`main`] is the whole program; the binary
//! adds the process.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod args;
mod config;
mod cycle;
pub mod environment;
pub mod errno;
mod explain;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod git;
pub mod locale;
pub mod message;
pub mod output;
pub mod plan;
mod program;
pub mod progress;
mod run;
mod status;
mod system;
mod timing;
mod turn;

pub use environment::Environment;
pub use status::Status;
pub use system::System;

use alloc::boxed::Box;
use alloc::vec::Vec;
use args::{Args, Flag, UsageError};
use core::ffi::CStr;
use core::sync::atomic::AtomicU8;
use locale::FoundLocale;
use message::Message;
use output::{Output, Streams};
use plan::{Explain, Plan, Surroundings};
use run::Session;

/// Runs `dls` and returns its exit status. `argv` begins with the name of the program.
pub fn main(
    argv: &[&CStr],
    environment: &Environment<'_>,
    system: &System<'_>,
    streams: &mut dyn Streams,
) -> u8 {
    let program = program::name(argv);
    let mut out = Output::new(streams);
    let status = list(argv, environment, system, &mut out);
    match out.finish() {
        Ok(()) if out.lost_a_message() => Status::Serious as u8,
        Ok(()) => status,
        Err(errno) => {
            Message::new(program).format("write error", &[]).errno(errno).send(&mut out);
            Status::Serious as u8
        }
    }
}

fn list(argv: &[&CStr], environment: &Environment<'_>, system: &System<'_>, out: &mut Output<'_>) -> u8 {
    let program = program::name(argv);
    let found = FoundLocale::new(environment);
    out.set_language(found.language());
    let posixly_correct = environment.posixly_correct.is_some();
    let mut args = match args::parse(argv.iter().skip(1).copied(), posixly_correct) {
        Ok(args) => args,
        Err(error) => return refuse(&error, program, out),
    };
    match args.said.last().map(|said| said.flag) {
        Some(Flag::Help) => print(out, &args::help::text(program)),
        Some(Flag::Version) => print(out, &args::version::text(program)),
        _ if args.said.iter().any(|said| said.flag == Flag::Init) => {
            config::init(environment, program, out) as u8
        }
        _ => {
            let configured = config::add(environment, &mut args, program, out);
            let environment = configured.as_ref().unwrap_or(environment);
            match decide(environment, &args, program, &found, out) {
                Ok(plan) => {
                    let status = follow(system, &plan, found.collate(), &args.operands, out);
                    if let Some(progress) =
                        out.progress().filter(|progress| plan.hints && progress.was_shown())
                    {
                        hint(&plan, &args, environment, progress.watch().again(), out);
                    }
                    status as u8
                }
                Err(error) => refuse(&error, program, out),
            }
        }
    }
}

/// The plan, on the heap. A function of its own: the stack that it uses is then used by the listing again.
#[inline(never)]
fn decide<'a>(
    environment: &Environment<'a>,
    args: &Args<'a>,
    program: &'a [u8],
    found: &FoundLocale<'a>,
    out: &mut Output<'_>,
) -> Result<Box<Plan<'a>>, UsageError<'a>> {
    let mut warnings = Vec::new();
    let terminal = out.terminal();
    let around = Surroundings { environment, program, locale: found, language: out.language(), terminal };
    let plan = Plan::new(args, &around, &mut warnings).map(Box::new);
    warnings.iter().for_each(|warning| warning.message(program, out.language()).send(out));
    plan
}

/// Executes the plan, or explains it.
fn follow(
    system: &System<'_>,
    plan: &Plan<'_>,
    collate: Option<&'static [AtomicU8]>,
    operands: &[&CStr],
    out: &mut Output<'_>,
) -> Status {
    if let Some(colors) = plan.style.names.colors.as_ref().filter(|_| out.terminal().is_some()) {
        out.guard_colors(colors.none());
    }
    match plan.explain.as_ref().filter(|explain| explain.plan_only) {
        Some(explain) => explain::before(plan, explain, operands, out),
        None => {
            let progress = (system.progress)(plan.program);
            out.set_progress(progress);
            run::run(Session::new(system, plan, collate, progress), operands, out)
        }
    }
}

/// After a listing that took so long that the line of progress was shown: how the next one would be faster. `acls` is the number of
/// requests for ACLs that were made after all others, and how long they took.
#[cold]
#[inline(never)]
fn hint(
    plan: &Plan<'_>,
    args: &Args<'_>,
    environment: &Environment<'_>,
    acls: (u64, u64),
    out: &mut Output<'_>,
) {
    let explain = Explain::new(args, environment, &plan.style, &plan.order, plan.recursive);
    let directory = args.operands.first().copied().unwrap_or(c".");
    if let Some(text) = explain::hint(plan, &explain, directory, acls) {
        let text = explain::visible(text.as_bytes());
        Message::new(plan.program).text(text).send(out);
    }
}

fn print(out: &mut Output<'_>, text: &[u8]) -> u8 {
    use dents_render::Sink as _;
    out.buffer().extend_from_slice(text);
    Status::Ok as u8
}

fn refuse(error: &args::UsageError<'_>, program: &[u8], out: &mut Output<'_>) -> u8 {
    let message = error.message(program, out.language());
    out.message(&message);
    error.status()
}
