//! `slowfs MOUNT [OPTION]… [-- COMMAND…]`: a file system that is slow, does not answer, or gives wrong answers, to try programs on; see its `--help`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use dents_lab::slowfs::{Command, HELP, Mounted};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    if args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--help") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let result = Command::parse(args).and_then(run);
    match result {
        Ok(status) => ExitCode::from(status),
        Err(why) => {
            eprintln!("slowfs: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<u8, String> {
    let made = make(&command.mount)?;
    // Blocked before a second thread starts, so that all threads leave the signals to `wait`.
    let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
    if command.command.is_empty() {
        signals.thread_block().map_err(|error| format!("signals cannot be blocked: {error}"))?;
    }
    let mounted = command.builder.clone().mount_at(&command.mount);
    let result = mounted.and_then(|mounted| match command.command.is_empty() {
        true => stay(mounted, command.every, &signals).map(|()| 0),
        false => run_in(&mounted, &command),
    });
    if made {
        // Empty again; if it is not, it is not ours to remove.
        let _ = std::fs::remove_dir(&command.mount);
    }
    result
}

/// Makes the mount point; returns whether it was missing.
fn make(path: &Path) -> Result<bool, String> {
    match std::fs::create_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(format!("{}: cannot be made: {error}", path.display())),
    }
}

fn stay(mounted: Mounted, every: Option<Duration>, signals: &SigSet) -> Result<(), String> {
    let path = mounted.path().display();
    println!("mounted on {path}; Ctrl-C (or umount {path}) ends it");
    std::thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let mounted = &mounted;
        scope.spawn(move || watch(mounted, every, &stopped));
        let signal = signals.wait();
        drop(stop);
        signal.map(drop).map_err(|error| format!("cannot wait for a signal: {error}"))
    })?;
    report(&mounted);
    Ok(())
}

/// Prints counts, and ends the program when the file system has been unmounted.
fn watch(mounted: &Mounted, every: Option<Duration>, stopped: &std::sync::mpsc::Receiver<()>) {
    let mut last = mounted.counts();
    let patience = every.unwrap_or(Duration::from_millis(500)).max(Duration::from_millis(10));
    while stopped.recv_timeout(patience) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
        let now = mounted.counts();
        if every.is_some() && now != last {
            println!("{now}; {} in flight, {} hung", mounted.in_flight(), mounted.hung());
            last = now;
        }
        if mounted.is_gone() {
            // The main thread's `wait` gets it. A process may always send a signal to itself.
            let _ = kill(Pid::this(), Signal::SIGTERM);
            return;
        }
    }
}

fn run_in(mounted: &Mounted, command: &Command) -> Result<u8, String> {
    let words = command.words(mounted.path().as_os_str());
    let start = Instant::now();
    let mut child = std::process::Command::new(&words[0]);
    let status = child.args(&words[1..]).status();
    let status = status.map_err(|error| format!("{}: {error}", OsStr::new(&words[0]).display()))?;
    eprintln!("slowfs: {:.1} ms, {status}", start.elapsed().as_secs_f64() * 1e3);
    report(mounted);
    Ok(status.code().map_or(1, |code| code as u8))
}

fn report(mounted: &Mounted) {
    eprintln!("slowfs: {}; at most {} in flight", mounted.counts(), mounted.peak_in_flight());
}
