//! The process around [`dls::main`]: arguments and environment in, two streams out.
#![cfg_attr(dents_libc_free, no_std, no_main)]

extern crate alloc;

use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::fmt::Write as _;
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicBool, Ordering};
use dents_core::deadline::Agent;
use dents_core::owners::Getent;
use dents_core::ring::Rings;
use dents_core::stat::Workers;
use dents_core::watchdog::Watch;
use dents_rt::{Process, Running, agent, child, thread};
use dents_sys::stdio::{STDERR, STDOUT};
use dents_sys::{Errno, cwd, file, signal, stdio, tty};
use dls::git::Programs;
use dls::output::Streams;
use dls::progress::{self, Progress};
use dls::{Environment, System};

dents_rt::entry!(run);

fn run(process: Process) -> u8 {
    cwd::allow();
    // The process ends with the listing. To free the rings would cost system calls and give nothing.
    let rings = ManuallyDrop::new(Rings::default());
    let argv: Vec<&CStr> = process.args().collect();
    let system = System {
        workers: &Threads,
        getent: &Children(process),
        progress: &|program| {
            Progress::start(&WATCH, program, |job| thread::detach(job).is_ok(), thread::replace)
        },
        agent: &|| Some(Box::leak(Box::new(Children(process)))),
        programs: &Children(process),
        rings: &rings,
    };
    dls::main(&argv, &Environment::read(process.env()), &system, &mut Stdio { held: None })
}

/// The current request of each worker, for the watchdog and the line of progress.
static WATCH: Watch = Watch::new();

/// Descriptors 1 and 2.
struct Stdio {
    held: Option<signal::Held>,
}

impl Streams for Stdio {
    fn stdout(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        file::write(STDOUT, bytes)
    }

    fn stderr(&mut self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            match file::write(STDERR, bytes)? {
                0 => return Err(Errno::IO),
                written => bytes = &bytes[written..],
            }
        }
        Ok(())
    }

    fn keep_signals_here(&mut self) {
        GUARDED.store(true, Ordering::Relaxed);
    }

    fn hold_signals(&mut self, hold: bool) {
        self.held = hold.then(signal::hold);
    }

    fn signal_came(&mut self) -> bool {
        self.held.as_mut().is_some_and(signal::Held::is_pending)
    }

    fn close_stdout(&mut self) -> Result<(), Errno> {
        stdio::close_stdout()
    }

    fn terminal(&mut self) -> Option<u16> {
        tty::isatty(STDOUT).then(|| tty::columns(STDOUT).unwrap_or(0))
    }
}

/// Whether colours are written to a terminal. Then the thread that writes them takes signals, and no other: a signal that
/// it holds back would go to one of the others, and end the process in the middle of a colour.
static GUARDED: AtomicBool = AtomicBool::new(false);

/// To be held while threads start that must not take signals; none where it does not matter.
fn held_for_threads() -> Option<signal::Held> {
    GUARDED.load(Ordering::Relaxed).then(signal::hold)
}

/// The runtime's threads.
struct Threads;

impl Workers for Threads {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        self.run_beside(workers, job, &mut || {});
    }

    fn run_beside(&self, workers: usize, job: &(dyn Fn(usize) + Sync), own: &mut dyn FnMut()) {
        let mut held = if workers > 1 { held_for_threads() } else { None };
        thread::run_beside(workers, job, &mut || {
            held = None;
            own();
        });
    }

    fn share_descriptors(&self) -> bool {
        // Without libc each thread has a copy of the table.
        !cfg!(dents_libc_free)
    }

    fn with_replacements(
        &self,
        wanted: &(dyn Fn() -> bool + Sync),
        job: &(dyn Fn() + Sync),
        during: &mut dyn FnMut(),
    ) {
        thread::with_replacements(wanted, job, during);
    }

    fn watchdog(&self) -> Option<&'static Watch> {
        static STARTED: AtomicBool = AtomicBool::new(false);
        if !STARTED.swap(true, Ordering::Relaxed) {
            let _held = held_for_threads();
            // Without one, stuck workers are not replaced; the listing waits for them.
            let _ = thread::detach(Box::new(|| WATCH.guard(thread::replace)));
        }
        Some(&WATCH)
    }
}

/// Children with our environment.
struct Children(Process);

impl Getent for Children {
    fn getent(&self, database: &CStr, ids: &[u32]) -> Option<Vec<u8>> {
        let ids: Vec<CString> = ids.iter().filter_map(|id| decimal(*id)).collect();
        let env: Vec<&CStr> = self.0.env().collect();
        give_back_signals();
        let run = |program| {
            let mut argv = Vec::from([program, database]);
            argv.extend(ids.iter().map(|id| id.as_c_str()));
            child::output(&argv, &env)
        };
        // glibc's own program comes first, PATH second: a listing should not run another program of that name. Status
        // 2 means that some ids are unknown: the others have been printed.
        run(c"/usr/bin/getent").or_else(|_| run(c"getent")).ok().map(|output| output.stdout)
    }
}

impl Programs for Children {
    fn start(
        &self,
        argv: &[&CStr],
        without: &[&[u8]],
        with: &[&CStr],
        confined: bool,
    ) -> Result<Running, Errno> {
        let mut gone: Vec<&[u8]> =
            without.iter().copied().chain(with.iter().map(|string| name(string))).collect();
        gone.sort_unstable();
        let mut env: Vec<&CStr> = self.0.env().collect();
        env.retain(|string| gone.binary_search(&name(string)).is_err());
        env.extend(with);
        give_back_signals();
        child::start(argv, &env, confined)
    }
}

/// Of a variable.
fn name(definition: &CStr) -> &[u8] {
    definition.to_bytes().split(|byte| *byte == b'=').next().unwrap_or_default()
}

/// Children block the signals that this process blocked when it was started, not those that its threads block now.
fn give_back_signals() {
    if let Some(blocked) = signal::original() {
        child::set_blocked_signals(blocked);
    }
}

/// The runtime's agent.
impl Agent for Children {
    fn start(&self, job: agent::Job) -> Result<(), Errno> {
        // The keyboard sends signals to the agent too. The agent must end after the lister has handled them, not
        // before. A fault is its own, and the lister reports it.
        let _held = signal::hold_but_faults();
        agent::start(job, progress::take_terminal)
    }

    fn thread(&self, job: agent::Job) -> Result<(), Errno> {
        agent::thread(job)
    }
}

fn decimal(id: u32) -> Option<CString> {
    let mut text = alloc::string::String::new();
    write!(text, "{id}").ok()?;
    CString::new(text).ok()
}
