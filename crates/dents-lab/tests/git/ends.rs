//! How git ends: with all it has started, on every way out, and before it fills the memory.

use super::*;
use dents_lab::terminal::{Terminal, controlling};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::io::Write;
use std::process::{Child, Stdio};

/// A repository, and a git that starts a program and waits for it.
struct Slow {
    place: Place,
    top: PathBuf,
    bin: PathBuf,
}

impl Slow {
    fn new() -> Slow {
        let place = Place::new();
        let top = place.repository("slow", &["a"]);
        let pids = place.path().join("pids");
        let script = "sleep 50 & echo $$ $! > PIDS.new && mv PIDS.new PIDS; wait";
        let bin = fake_git(&place, &script.replace("PIDS", pids.to_str().unwrap()));
        Slow { place, top, bin }
    }

    fn run(&self) -> Run {
        with_git(dls(&self.top, &["-l", "--git=20s"]), &self.bin)
    }

    /// Git and the processes that it has started, once they run.
    fn pids(&self) -> String {
        let (path, until) = (self.place.path().join("pids"), Instant::now() + Duration::from_secs(10));
        while !path.exists() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        fs::read_to_string(path).unwrap()
    }

    fn all_are_gone(&self, mut lister: Child, why: &str) {
        lister.wait().unwrap();
        for (pid, what) in self.pids().split_whitespace().zip(["git", "what git started"]) {
            assert!(is_gone(pid), "{why}: {what} is left behind");
        }
    }
}

#[test]
fn by_a_signal() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::PIPE, Signal::KILL] {
        let slow = Slow::new();
        let child = slow.run().command().stdout(Stdio::null()).spawn().unwrap();
        slow.pids();
        kill_process(Pid::from_child(&child), signal).unwrap();
        slow.all_are_gone(child, &format!("{signal:?}"));
    }
}

#[test]
fn by_the_terminal() {
    for hang_up in [false, true] {
        let slow = Slow::new();
        let terminal = Terminal::open(80).unwrap();
        let mut modes = tcgetattr(&terminal.slave).unwrap();
        modes.local_modes |= LocalModes::ISIG;
        tcsetattr(&terminal.slave, OptionalActions::Now, &modes).unwrap();
        let stderr = Stdio::from(terminal.slave.try_clone().unwrap());
        let (child, mut master) = terminal.start(&controlling(slow.run()), stderr).unwrap();
        slow.pids();
        master.write_all(if hang_up { b"" } else { b"\x03" }).unwrap();
        let kept = (!hang_up).then_some(master);
        slow.all_are_gone(child, if hang_up { "the terminal is gone" } else { "Ctrl-C" });
        drop(kept);
    }
}

/// Processes that git leaves behind after its answer may stay, as with `git status` itself.
#[test]
fn with_an_answer() {
    let slow = Slow::new();
    let pids = slow.place.path().join("pids");
    let bin = fake_git(&slow.place, &format!("sleep 2 >&- & echo $! > {}; exit 0", pids.display()));
    assert_eq!(shown(&with_git(dls(&slow.top, &["--columns=git,name"]), &bin)), "-- a\n");
    assert!(Path::new("/proc").join(slow.pids().trim()).exists());
}

/// Without end, or without sense: it is ended at 64 MiB, and the rest is listed.
#[test]
fn with_too_much_to_say() {
    let place = Place::new();
    let top = place.repository("talkative", &["a"]);
    let bin = fake_git(&place, "case \"$*\" in *--porcelain*) exec yes;; esac");
    let told = "dls: git said more than 64 MiB";
    for (args, listed) in
        [("--columns=git,name", ".. a\n"), ("--gitignore", "a\n"), ("--git --gitignore -C", "a\n")]
    {
        let run = with_git(dls(&top, &args.split(' ').collect::<Vec<_>>()), &bin);
        let outcome = run.under(&["prlimit", "--as=1000000000"]).output().unwrap();
        assert_eq!((outcome.end, text(&outcome.stdout).as_str()), (End::Exit(0), listed), "{args}");
        let said = text(&outcome.stderr);
        assert!(said.contains(told) && said.lines().count() == 1, "{args}: {said}");
    }
}
