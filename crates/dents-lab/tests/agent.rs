//! The agent, the process that makes the requests if there is a deadline, is killed: the listing reports that once,
//! ends with status 2 at once, and leaves the terminal as it was.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use dents_lab::process::{Run, Watch, children};
use dents_lab::rng::Rng;
use dents_lab::shown::{ERASE, Shown};
use dents_lab::slowfs::{Fault, Kind, Mounted, Request, SlowFs};
use dents_lab::suite::{checked, release};
use rustix::process::{Pid, Signal, kill_process};

/// The listing has a minute for its answers. That its agent is gone it must see long before.
const AT_ONCE: Duration = Duration::from_secs(10);

const OPTIONS: [&str; 5] = [
    "-l --color=always",
    "-lR --color=always",
    "-1U -F --color=always",
    "--tree -l --color=always",
    "-l --icons=always",
];

fn far() -> Option<Mounted> {
    let kinds = [Kind::File, Kind::Executable, Kind::Directory];
    SlowFs::builder().entries(4000, &kinds).latency(Duration::from_micros(300)).mount_or_skip()
}

fn listing(far: &Mounted, options: &str) -> Run {
    far.clear_faults();
    far.fault("e03456", Request::STAT, Fault::Hang).expect("it is there");
    let run = Run::new(checked().path()).args(["--timeout=60s"]).args(options.split(' ')).args([far.path()]);
    // A killed agent would leave a core.
    run.under(&["sh", "-c", "ulimit -c 0; exec \"$@\"", "sh"])
}

/// Kills the listing's agent some time after it was started.
fn kill_agent(lister: Pid, signal: Signal, after: Duration) {
    let agent = agent_of(lister, checked().path());
    std::thread::sleep(after);
    kill_process(agent, signal).expect("it is there");
}

/// The agent of a listing that was started.
fn agent_of(lister: Pid, program: &Path) -> Pid {
    let start = Instant::now();
    loop {
        // Until it executes `dls`, the shell has other children.
        let exe = std::fs::read_link(format!("/proc/{}/exe", lister.as_raw_nonzero())).unwrap_or_default();
        if exe == program
            && let Some(agent) = children(lister).first()
        {
            return *agent;
        }
        assert!(start.elapsed() < AT_ONCE, "there is no agent");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn expected(signal: Signal) -> String {
    format!("the agent process was killed by signal {}: the listing is incomplete\n", signal.as_raw())
}

fn ends_without_colour(text: &str) -> bool {
    let last = text.rsplit("\x1b[").map(|rest| rest.split_once('m').map_or(rest, |(code, _)| code));
    let mut colours = last.filter(|code| code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'));
    colours.next().is_none_or(|code| matches!(code, "" | "0"))
}

#[test]
fn its_end_is_told_on_a_terminal() {
    let Some(far) = far() else { return };
    let mut rng = Rng::new(17);
    for signal in [Signal::KILL, Signal::SEGV] {
        for options in OPTIONS {
            // Up to two seconds: before the line of progress appears, and while it is shown.
            for most in [20, 400, 2000] {
                let after = Duration::from_millis(rng.below(most) as u64);
                let shown = Shown::start(&listing(&far, options), None);
                kill_agent(shown.pid(), signal, after);
                let start = Instant::now();
                let (by, status, text) = shown.end();
                let what = format!("{signal:?} after {after:?} {options}: {text:?}");
                assert!(start.elapsed() < AT_ONCE, "{:?} {what}", start.elapsed());
                assert_eq!((by, status), (None, Some(2)), "{what}");
                let left = text.rsplit(ERASE).next().expect("some text");
                assert!(left.ends_with(&expected(signal)) && !left.contains("in flight"), "{what}");
                assert_eq!(text.matches("the agent process").count(), 1, "{what}");
                assert!(ends_without_colour(&text), "{what}");
            }
        }
    }
}

#[test]
fn its_end_is_told_into_pipes() {
    let Some(far) = far() else { return };
    let mut rng = Rng::new(18);
    for signal in [Signal::KILL, Signal::SEGV] {
        for options in OPTIONS {
            for most in [5, 50, 500] {
                let after = Duration::from_millis(rng.below(most) as u64);
                let mut command = listing(&far, options).command();
                let child =
                    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("dls starts");
                let _watch = Watch::over(&child);
                kill_agent(Pid::from_child(&child), signal, after);
                let start = Instant::now();
                let output = child.wait_with_output().expect("it ends");
                let said = String::from_utf8_lossy(&output.stderr);
                let what = format!("{signal:?} after {after:?} {options}: {said:?}");
                assert!(start.elapsed() < AT_ONCE, "{:?} {what}", start.elapsed());
                assert_eq!(output.status.code(), Some(2), "{what}");
                assert!(said.ends_with(&expected(signal)) && said.lines().count() == 1, "{what}");
            }
        }
    }
}

/// Whether a process lives; a zombie executes no file.
fn lives(pid: Pid) -> bool {
    std::fs::read_link(format!("/proc/{}/exe", pid.as_raw_nonzero())).is_ok()
}

/// The agent ends soon after the lister, whatever ends it, also where a filter of system calls refuses the signal that the
/// kernel would send.
#[test]
fn it_ends_after_the_lister() {
    let Some(far) = far() else { return };
    for refused in ["EPERM:prctl", "ENOSYS:prctl", "ENOSYS:listxattrat"] {
        for (subject, signal) in
            [(checked(), Signal::KILL), (release(), Signal::TERM), (release(), Signal::INT)]
        {
            far.clear_faults();
            far.fault("e03456", Request::STAT, Fault::Hang).expect("it is there");
            let run = Run::new(Path::new(env!("CARGO_BIN_EXE_refuse")));
            let run = run.args([refused, subject.path().to_str().expect("a path"), "--timeout=60s", "-l"]);
            let mut command = run.args([far.path()]).command();
            let mut child = command.stdout(Stdio::null()).spawn().expect("refuse starts");
            let agent = agent_of(Pid::from_child(&child), subject.path());
            kill_process(Pid::from_child(&child), signal).expect("it is there");
            child.wait().expect("it ends");
            let start = Instant::now();
            while lives(agent) && start.elapsed() < AT_ONCE {
                std::thread::sleep(Duration::from_millis(5));
            }
            let left = lives(agent);
            if left {
                kill_process(agent, Signal::KILL).expect("it is there");
            }
            assert!(!left, "{refused}, {signal:?}: the agent {agent:?} lives {AT_ONCE:?} after the lister");
        }
    }
}
