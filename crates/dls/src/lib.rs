//! `dls`: an `ls`. Every option of this library's user is GNU's, every byte too; what differs is the time.
//!
//! The flow: [`args`] (what was said) ─► `config` (what is said by default) ─► [`plan`] (what follows from it) ─► `run`
//! (read, stat, owners, sort, render) ─► [`output`] (the one place that writes). [`main`] is all of it; the binary only
//! brings the process along.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod args;
mod config;
pub mod errno;
mod explain;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod git;
pub mod language;
mod loops;
pub mod output;
pub mod plan;
pub mod progress;
mod run;
mod timing;
mod turn;

use alloc::boxed::Box;
use alloc::vec::Vec;
use args::{Args, Flag, UsageError};
use core::ffi::CStr;
use dents_core::deadline::Agent;
use dents_core::owners::Getent;
use dents_core::ring::Rings;
use dents_core::stat::{Threads, Workers};
use output::{Message, Output, Streams};
use plan::{Found, Plan};
use progress::Progress;

/// What the process brings: the only way in for anything from outside.
#[derive(Clone)]
pub struct Env<'a> {
    /// The arguments, the program's own name first.
    pub argv: Vec<&'a CStr>,
    /// A variable of the environment.
    pub var: &'a dyn Fn(&[u8]) -> Option<&'a [u8]>,
    /// Threads.
    pub workers: &'a dyn Workers,
    /// Names of users and groups that no file knows.
    pub getent: &'a dyn Getent,
    /// The process that may be abandoned with its stuck threads; asked for only where there is a deadline.
    pub agent: &'a dyn Fn() -> Option<&'static dyn Agent>,
    /// Who tells of a listing that takes long, given the program's name.
    pub progress: &'a dyn Fn(&[u8]) -> Option<&'static Progress>,
    /// Programs that run beside the listing.
    pub programs: &'a dyn git::Programs,
    /// The io_uring, if one is wanted, and what it still has to close.
    pub rings: &'a Rings,
}

/// How it went: the exit status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    /// All listed.
    #[default]
    Ok = 0,
    /// Something below an operand could not be had.
    Minor = 1,
    /// An operand could not be had, or the command line makes no sense, or output or a message was lost.
    Serious = 2,
}

impl Status {
    /// The worse of the two stays.
    pub fn raise(&mut self, other: Status) {
        *self = (*self).max(other);
    }
}

/// Runs `dls` and gives its exit status.
pub fn main(env: &Env<'_>, streams: &mut dyn Streams) -> u8 {
    let program = program(env);
    let mut out = Output::new(streams);
    let status = list(env, program, &mut out);
    match out.finish() {
        Ok(()) if out.lost_a_message() => Status::Serious as u8,
        Ok(()) => status,
        Err(errno) => {
            Message::new(program).format("write error", &[]).errno(errno).send(&mut out);
            Status::Serious as u8
        }
    }
}

/// The name in messages: what the program was called as, in full, as GNU has it.
fn program<'a>(env: &Env<'a>) -> &'a [u8] {
    let name = env.argv.first().map_or(&b""[..], |name| name.to_bytes());
    if name.is_empty() { b"dls" } else { name }
}

/// Whether the program is called as one of GNU's, and so has to be that.
fn is_drop_in(program: &[u8]) -> bool {
    let name = program.rsplit(|byte| *byte == b'/').next();
    matches!(name, Some(b"ls" | b"dir" | b"vdir"))
}

fn list<'a>(env: &Env<'a>, program: &'a [u8], out: &mut Output<'_>) -> u8 {
    let found = plan::Found::new(env);
    out.set_language(found.language());
    let posixly_correct = (env.var)(b"POSIXLY_CORRECT").is_some();
    let mut args = match args::parse(env.argv.iter().skip(1).copied(), posixly_correct) {
        Ok(args) => args,
        Err(error) => return refuse(&error, program, out),
    };
    match args.said.last().map(|said| said.flag) {
        Some(Flag::Help) => print(out, &args::help::text(program)),
        Some(Flag::Version) => print(out, &args::version::text(program)),
        _ if args.said.iter().any(|said| said.flag == Flag::Init) => config::init(env, program, out) as u8,
        _ => {
            let own = config::add(env, &mut args, program, out);
            let env = own.as_ref().unwrap_or(env);
            match decide(env, &args, program, &found, out) {
                Ok(plan) => follow(env, &plan, &args.operands, out) as u8,
                Err(error) => refuse(&error, program, out),
            }
        }
    }
}

/// The plan, on the heap, and made in a frame of its own: pages of stack that the making touches serve the listing after
/// it, instead of lying below it.
#[inline(never)]
fn decide<'a>(
    env: &Env<'a>,
    args: &Args<'a>,
    program: &'a [u8],
    found: &Found<'a>,
    out: &mut Output<'_>,
) -> Result<Box<Plan<'a>>, UsageError<'a>> {
    Plan::new(env, args, program, found, out).map(Box::new)
}

/// Does what the plan says, or tells what it would be.
fn follow<'a>(env: &Env<'a>, plan: &Plan<'a>, operands: &[&CStr], out: &mut Output<'_>) -> Status {
    match plan.explain.as_ref().filter(|explain| explain.plan_only) {
        Some(explain) => explain::before(plan, explain, operands, out),
        None => {
            let progress = (env.progress)(plan.program);
            out.set_progress(progress);
            let watch = progress.map(Progress::watch);
            let threads = Threads::new(plan.threads).in_flight(plan.in_flight).watched(watch);
            run::Listing::new(env, plan, &threads, out).run(operands)
        }
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
