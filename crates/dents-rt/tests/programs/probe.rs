//! A program that does one thing, which its first argument names. `process.rs` runs it.

#![cfg_attr(all(dents_libc_free, not(test)), no_std, no_main)]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::boxed::Box;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use dents_rt::{Errno, Process, Status, agent, child, thread};

dents_rt::entry!(run);

/// The statuses of a probe that failed.
const UNKNOWN: u8 = 100;
const WRONG: u8 = 101;

fn run(process: Process) -> u8 {
    let rest: Vec<&CStr> = process.args().skip(2).collect();
    let Some(command) = process.args().nth(1) else {
        return 10 + process.args().count() as u8;
    };
    match command.to_bytes() {
        b"args" => args(&rest),
        b"var" => var(process, rest[0].to_bytes()),
        b"env" => env(process),
        b"exit" => dents_rt::exit(number(rest[0]) as u8),
        b"panic" => panic!("{}", rest[0].to_str().unwrap_or("?")),
        b"panic-in-thread" => panic_in_thread(),
        b"exhaust" => exhaust(number(rest[0])),
        b"threads" => threads(number(rest[0])),
        b"stress" => stress(number(rest[0])),
        b"agent" => agent_left_behind(),
        b"agent-panics" => agent_panics(),
        b"agent-is-killed" => agent_is_killed(number(rest[0])),
        b"child" => child_output(&rest, process),
        b"flood" => flood(),
        _ => UNKNOWN,
    }
}

fn number(argument: &CStr) -> usize {
    argument.to_str().ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Writes all bytes. The status says whether that succeeded.
fn print(mut bytes: &[u8]) -> u8 {
    #[allow(unsafe_code)]
    // SAFETY: only borrows the number 1; if it is closed, the write fails.
    let stdout = unsafe { rustix::stdio::stdout() };
    while !bytes.is_empty() {
        match rustix::io::write(stdout, bytes) {
            Ok(count @ 1..) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Ok(_) | Err(_) => return WRONG,
        }
    }
    0
}

fn args(rest: &[&CStr]) -> u8 {
    let mut text = format!("{}\n", rest.len()).into_bytes();
    for argument in rest {
        text.extend_from_slice(argument.to_bytes());
        text.push(b'\n');
    }
    print(&text)
}

fn var(process: Process, name: &[u8]) -> u8 {
    let mut found = process.vars().filter(|(known, _)| *known == name);
    found.next().map_or(1, |(_, value)| print(value))
}

/// Prints the number of strings and of their bytes, and checks that names and values are split at the right place.
fn env(process: Process) -> u8 {
    let bytes: usize = process.env().map(|string| string.count_bytes()).sum();
    let in_pairs: usize = process.vars().map(|(name, value)| name.len() + 1 + value.len()).sum();
    if bytes != in_pairs {
        return WRONG;
    }
    print(format!("{} {bytes}\n", process.env().count()).as_bytes())
}

/// Panics in a thread for which no other thread waits: the process must end nevertheless.
fn panic_in_thread() -> u8 {
    let forever = AtomicUsize::new(0);
    thread::run(2, &|index| {
        assert!(index == 0, "worker {index}\nfails");
        while forever.load(Ordering::Relaxed) == 0 {
            core::hint::spin_loop();
        }
    });
    WRONG
}

fn exhaust(size: usize) -> u8 {
    let asked = Vec::<u8>::new().try_reserve_exact(size).is_err();
    let block: Vec<u8> = Vec::with_capacity(size);
    if asked || block.capacity() == 0 { WRONG } else { 0 }
}

/// Prints the number of workers that ran. Each must have run once, with its own number, and both rounds must have the same
/// result.
fn threads(workers: usize) -> u8 {
    let mut text = Vec::new();
    for _ in 0..2 {
        let runs: Vec<AtomicUsize> = (0..workers).map(|_| AtomicUsize::new(0)).collect();
        let count = thread::run(workers, &|index| {
            let block = vec![index; 1000];
            runs[index].fetch_add(1 + block.iter().sum::<usize>() - 1000 * index, Ordering::Relaxed);
        });
        let right =
            |(index, runs): (usize, &AtomicUsize)| runs.load(Ordering::Relaxed) == usize::from(index < count);
        if !runs.iter().enumerate().all(right) {
            return WRONG;
        }
        text.extend_from_slice(format!("{count}\n").as_bytes());
    }
    print(&text)
}

/// Every worker makes, grows, shrinks, checks and frees blocks of all sizes. It leaves some in slots, from which another worker takes
/// and frees them.
fn stress(workers: usize) -> u8 {
    let slots: Vec<AtomicPtr<Vec<u8>>> = (0..64).map(|_| AtomicPtr::default()).collect();
    let wrong = AtomicUsize::new(0);
    let check = |block: *mut Vec<u8>| {
        if !block.is_null() {
            #[allow(unsafe_code)]
            // SAFETY: it was made by `into_raw`, and swapping gave it to us alone.
            let block = unsafe { Box::from_raw(block) };
            let first = block[0];
            wrong.fetch_add(block.iter().filter(|&&byte| byte != first).count(), Ordering::Relaxed);
        }
    };
    let count = thread::run(workers, &|index| {
        let mut state = index as u64 + 1;
        for _ in 0..5_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let size = 3 + (state >> 33) as usize % [60, 700, 9000, 200_000][(state >> 62) as usize];
            let mut block = vec![index as u8; size / 2];
            block.resize(size, index as u8);
            block.truncate(size - size / 3);
            block.shrink_to_fit();
            let slot = &slots[(state >> 40) as usize % slots.len()];
            check(slot.swap(Box::into_raw(Box::new(block)), Ordering::AcqRel));
        }
    });
    slots.iter().for_each(|slot| check(slot.swap(ptr::null_mut(), Ordering::AcqRel)));
    if count != workers || wrong.into_inner() != 0 { WRONG } else { 0 }
}

/// Starts an agent with three threads, which share our memory and never end. Prints the id of its process, and ends.
fn agent_left_behind() -> u8 {
    static BEGUN: AtomicUsize = AtomicUsize::new(0);
    static PID: AtomicUsize = AtomicUsize::new(0);
    let live = || {
        PID.store(rustix::process::getpid().as_raw_nonzero().get() as usize, Ordering::Release);
        BEGUN.fetch_add(1, Ordering::AcqRel);
        loop {
            pause();
        }
    };
    let life = move || {
        for _ in 0..3 {
            let _ = agent::thread(Box::new(live));
        }
        live()
    };
    let started = agent::start(Box::new(life), at_end);
    if started.is_err() {
        return WRONG;
    }
    while BEGUN.load(Ordering::Acquire) < 4 {
        pause();
    }
    let ours = rustix::process::getpid().as_raw_nonzero().get();
    print(format!("{ours} {}\n", PID.load(Ordering::Acquire)).as_bytes())
}

/// The output before the last line of a program whose agent has ended.
fn at_end() {
    print(b"the agent has ended\n");
}

/// Starts an agent that panics, and waits.
fn agent_panics() -> u8 {
    if agent::start(Box::new(|| panic!("in the agent")), at_end).is_err() {
        return WRONG;
    }
    loop {
        pause();
    }
}

/// Starts an agent and ends it by this signal, while both processes allocate and free memory: then the agent may hold the lock of the
/// allocator.
fn agent_is_killed(signal: usize) -> u8 {
    static AGENT: AtomicUsize = AtomicUsize::new(0);
    let life = || {
        AGENT.store(rustix::process::getpid().as_raw_nonzero().get() as usize, Ordering::Release);
        take_memory();
    };
    let kill = move || {
        while AGENT.load(Ordering::Acquire) == 0 {
            pause();
        }
        pause();
        let agent = rustix::process::Pid::from_raw(AGENT.load(Ordering::Acquire) as i32);
        let signal = rustix::process::Signal::from_named_raw(signal as i32);
        if let (Some(agent), Some(signal)) = (agent, signal) {
            let _ = rustix::process::kill_process(agent, signal);
        }
    };
    if agent::start(Box::new(life), at_end).is_err() || thread::detach(Box::new(kill)).is_err() {
        return WRONG;
    }
    take_memory();
    WRONG
}

fn take_memory() {
    loop {
        core::hint::black_box(Box::new([0_u8; 100]));
    }
}

fn pause() {
    let moment = rustix::thread::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    let _ = rustix::thread::nanosleep(&moment);
}

fn child_output(argv: &[&CStr], process: Process) -> u8 {
    let env: Vec<&CStr> = process.env().collect();
    match child::output(argv, &env) {
        Ok(output) => {
            let status = match output.status {
                Status::Exited(status) => status,
                Status::Signaled(signal) => 128 + signal,
                Status::Unknown => WRONG,
            };
            print(&output.stdout);
            status
        }
        Err(error) => {
            print(format!("error {}", error.raw_os_error()).as_bytes());
            99
        }
    }
}

/// Writes until the process is ended.
fn flood() -> u8 {
    while print(&[b'y'; 4096]) == 0 {}
    WRONG
}
