//! Runs `programs/probe.rs` as a process. It is built in the profile of the tests, and the tests build it in release; without libc also
//! position-independent. With feature `std` the build on std must meet the same expectations.

use std::ffi::{CString, OsStr, c_char, c_int, c_ulong};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

unsafe extern "C" {
    fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn prctl(option: c_int, ...) -> c_int;
}

/// Every build of the probe.
fn probes() -> &'static [PathBuf] {
    static PROBES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    PROBES.get_or_init(|| {
        let ours = PathBuf::from(env!("CARGO_BIN_EXE_dents-rt-probe"));
        if cfg!(dents_libc_free) { vec![ours, build(""), build("pie")] } else { vec![ours, build("std")] }
    })
}

/// The release build with these features. It has a target directory of its own, because Cargo holds a lock on the directory of the tests,
/// and the file has the same name for all features.
fn build(features: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(["release", features].concat());
    let status = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--release",
            "--package=dents-rt",
            "--bin=dents-rt-probe",
            "--features",
            features,
        ])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(status.expect("cargo runs").success(), "the probe must link with features {features:?}");
    target.join("release/dents-rt-probe")
}

/// The command of a probe with these arguments, in an empty environment.
fn command(probe: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(probe);
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// Runs every probe with these arguments.
fn each(arguments: &[&str], expect: impl Fn(&Output)) {
    for probe in probes() {
        expect(&command(probe, arguments).output().expect("the probe starts"));
    }
}

#[track_caller]
fn assert_output(output: &Output, status: i32, stdout: &[u8]) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{:?} {stderr}", output.status);
    assert!(output.stdout == stdout, "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(stderr, "");
}

#[test]
fn no_argument() {
    each(&[], |output| assert_output(output, 11, b""));
}

#[test]
fn not_even_a_name() {
    for probe in probes() {
        let path = CString::new(probe.as_os_str().as_bytes()).unwrap();
        let mut command = command(probe, &[]);
        let exec = move || {
            let nothing = [std::ptr::null()];
            // SAFETY: a path and two NULL-terminated arrays; returns only on failure.
            unsafe { execve(path.as_ptr(), nothing.as_ptr(), nothing.as_ptr()) };
            Err(io::Error::last_os_error())
        };
        // SAFETY: only execve is called in the child.
        let output = unsafe { command.pre_exec(exec) }.output().unwrap();
        // Linux 5.18 and later add one empty string.
        let status = output.status.code();
        assert!(status == Some(10) || status == Some(11), "{status:?}");
    }
}

#[test]
fn one_argument() {
    each(&["args", ""], |output| assert_output(output, 0, b"1\n\n"));
    for probe in probes() {
        let output = command(probe, &["args"]).arg(OsStr::from_bytes(b"\xff\n ")).output().unwrap();
        assert_output(&output, 0, b"1\n\xff\n \n");
    }
}

#[test]
fn ten_thousand_arguments() {
    let many: Vec<String> = (0..10_000).map(|n| format!("argument {n}")).collect();
    let expected = format!("10000\n{}\n", many.join("\n"));
    let arguments: Vec<&str> = ["args"].into_iter().chain(many.iter().map(String::as_str)).collect();
    each(&arguments, |output| assert_output(output, 0, expected.as_bytes()));
}

#[test]
fn a_mebibyte_of_environment() {
    // A single string may have at most 128 KiB.
    let value = "v".repeat(100_000);
    for probe in probes() {
        let with_env = |arguments: &[&str]| {
            let mut command = command(probe, arguments);
            command.envs((0..11).map(|n| (format!("VARIABLE_{n:02}"), &value)));
            command.env("LAST", "").output().unwrap()
        };
        assert_output(&with_env(&["env"]), 0, b"12 1100137\n");
        assert_output(&with_env(&["var", "VARIABLE_10"]), 0, value.as_bytes());
        assert_output(&with_env(&["var", "LAST"]), 0, b"");
        assert_output(&with_env(&["var", "VARIABLE"]), 1, b"");
    }
}

#[test]
fn exit_status() {
    each(&["exit", "0"], |output| assert_output(output, 0, b""));
    each(&["exit", "255"], |output| assert_output(output, 255, b""));
}

#[test]
fn a_panic_is_one_line_and_status_2() {
    for (arguments, message) in
        [(&["panic", "what\nnow"][..], "what now"), (&["panic-in-thread"][..], "worker 1 fails")]
    {
        each(arguments, |output| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{stderr}");
            let line = stderr
                .strip_prefix(&format!("dents-rt-probe: internal error: {message} at "))
                .expect(&stderr);
            let (file, number) = line.strip_suffix('\n').and_then(|line| line.rsplit_once(':')).expect(line);
            assert!(file.ends_with("tests/programs/probe.rs") && number.parse::<u32>().is_ok(), "{line}");
        });
    }
}

#[test]
fn memory_that_cannot_be_had() {
    let size = (1_u64 << 50).to_string();
    each(&["exhaust", &size], |output| {
        assert!(!output.status.success());
        if cfg!(dents_libc_free) {
            assert_eq!(String::from_utf8_lossy(&output.stderr), "dents-rt-probe: memory exhausted\n");
            assert_eq!(output.status.code(), Some(2));
        }
    });
}

#[test]
fn threads_run_each_job_once() {
    for workers in ["1", "2", "17"] {
        each(&["threads", workers], |output| {
            assert_output(output, 0, format!("{workers}\n{workers}\n").as_bytes())
        });
    }
    each(&["threads", "0"], |output| assert_ne!(output.status.code(), Some(0), "job 0 always runs"));
}

#[test]
fn threads_share_the_allocator() {
    each(&["stress", "4"], |output| assert_output(output, 0, b""));
}

/// The output of the program ends when the program ends, whatever the agent does. The agent ends too, if it is a process of its own.
#[test]
fn an_agent_is_left_behind() {
    each(&["agent"], |output| {
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
        let text = String::from_utf8_lossy(&output.stdout);
        let pids: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(pids.len(), 2, "{text}");
        assert_eq!(pids[0] != pids[1], cfg!(dents_libc_free), "{text}");
        let stat = Path::new("/proc").join(pids[1]).join("stat");
        let gone = || {
            // A zombie has ended too: it waits for the process that inherited it.
            std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "))
        };
        let start = std::time::Instant::now();
        while !gone() {
            assert!(start.elapsed().as_secs() < 10, "the agent lives on");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    });
}

/// The message appears once, and at once.
#[cfg(dents_libc_free)]
#[test]
fn an_agent_that_ends_ends_the_program() {
    let told = |output: &Output, expected: &str| {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with(expected) && said.lines().count() == 1, "{said:?}");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!((output.status.code(), &*printed), (Some(2), "the agent has ended\n"), "{said:?}");
    };
    each(&["agent-panics"], |output| told(output, "dents-rt-probe: internal error: in the agent at "));
    // Not 11, which would leave twenty core dumps on some machines.
    for signal in [9, 15] {
        let expected = format!("dents-rt-probe: the agent process was killed by signal {signal}: ");
        // Each time the agent may hold the lock of the allocator, or not.
        for _ in 0..20 {
            each(&["agent-is-killed", &signal.to_string()], |output| told(output, &expected));
        }
    }
}

/// Makes the kernel answer clone and clone3 with an error, as container profiles do.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn refuse_clone(errno: u32) -> io::Result<()> {
    const PR_SET_SECCOMP: c_int = 22;
    const PR_SET_NO_NEW_PRIVS: c_int = 38;
    const SECCOMP_MODE_FILTER: c_ulong = 2;
    const LOAD_NUMBER: u64 = 0x20;
    const ALLOW: u64 = 0x06 | 0x7fff_0000 << 32;
    const CLONE: u64 = if cfg!(target_arch = "x86_64") { 56 } else { 220 };
    const CLONE3: u64 = 435;
    // struct sock_filter as one word: code, jump if true, jump if false, operand.
    let equal = |number: u64, skip: u64| 0x15 | skip << 16 | number << 32;
    let refuse = 0x06 | (0x0005_0000 | u64::from(errno)) << 32;
    let program = [LOAD_NUMBER, equal(CLONE, 2), equal(CLONE3, 1), ALLOW, refuse];
    #[repr(C)]
    struct Filter {
        length: u16,
        program: *const u64,
    }
    let filter = Filter { length: program.len() as u16, program: program.as_ptr() };
    // SAFETY: the filter and its program are valid while the kernel copies them.
    let failed = unsafe {
        prctl(PR_SET_NO_NEW_PRIVS, 1 as c_ulong, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong) != 0
            || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &raw const filter) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn refused_threads_leave_the_work_to_the_caller() {
    const EPERM: u32 = 1;
    const EAGAIN: u32 = 11;
    const ENOMEM: u32 = 12;
    for errno in [EPERM, EAGAIN, ENOMEM] {
        for probe in probes() {
            let refused = |arguments: &[&str]| {
                let mut command = command(probe, arguments);
                // SAFETY: only system calls are made in the child.
                unsafe { command.pre_exec(move || refuse_clone(errno)) }.output().unwrap()
            };
            assert_output(&refused(&["threads", "8"]), 0, b"1\n1\n");
            if cfg!(dents_libc_free) {
                let expected = format!("error {errno}");
                assert_output(&refused(&["child", "/bin/true"]), 99, expected.as_bytes());
            }
        }
    }
}

/// Only without libc: std's threads panic if there is memory for their stack but not for their signal stack.
#[cfg(dents_libc_free)]
#[test]
fn no_memory_for_all_stacks() {
    for probe in probes() {
        let script = "ulimit -v 4000; exec \"$0\" threads 64";
        let output = Command::new("sh").args(["-c", script]).arg(probe).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let counts: Vec<usize> = stdout.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!((output.status.code(), counts.len()), (Some(0), 2), "{stdout}");
        assert!(counts.iter().all(|count| (2..64).contains(count)), "{counts:?}");
    }
}

#[test]
fn a_childs_output_and_status() {
    let script = "printf '%s|' \"$0\" \"$VARIABLE\"; cat; echo unseen >&2; exit 7";
    for probe in probes() {
        let output = command(probe, &["child", "sh", "-c", script, "a b"])
            .env("PATH", "/nowhere::/bin")
            .env("VARIABLE", "value")
            .output()
            .unwrap();
        assert_output(&output, 7, b"a b|value|");
    }
    each(&["child", "/bin/sh", "-c", "kill -TERM $$"], |output| assert_output(output, 128 + 15, b""));
}

#[test]
fn a_child_that_is_not_there() {
    each(&["child", "/no/such/program"], |output| assert_output(output, 99, b"error 2"));
    each(&["child", "no-such-program"], |output| assert_output(output, 99, b"error 2"));
    each(&["child", "/etc/passwd"], |output| assert_output(output, 99, b"error 13"));
}

#[test]
fn every_combination_of_closed_descriptors() {
    // The child's three streams must be right, whatever numbers the pipe has.
    let script = "echo out; echo err >&2; readlink /proc/self/fd/0; exit 5";
    for probe in probes() {
        for closed in 0..8 {
            let mut command = command(probe, &["child", "/bin/sh", "-c", script]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let close_some = move || {
                for fd in (0..3).filter(|fd| closed >> fd & 1 == 1) {
                    // SAFETY: this child does not use it afterwards.
                    unsafe { close(fd) };
                }
                Ok(())
            };
            // SAFETY: only close is called in the child.
            let output = unsafe { command.pre_exec(close_some) }.output().unwrap();
            let expected: &[u8] = if closed & 2 == 0 { b"out\n/dev/null\n" } else { b"" };
            assert_output(&output, 5, expected);
        }
    }
}

#[test]
fn a_reader_that_leaves_ends_it() {
    for probe in probes() {
        let (reader, writer) = io::pipe().unwrap();
        let mut child = command(probe, &["flood"]).stdout(OwnedFd::from(writer)).spawn().unwrap();
        drop(reader);
        assert_eq!(child.wait().unwrap().signal(), Some(13));
    }
}

/// The program has no interpreter, so no code of a libc runs before `_start`. It is position-independent only with that feature.
#[cfg(dents_libc_free)]
#[test]
fn static_and_where_it_was_asked_to_be() {
    const ET_EXEC: u8 = 2;
    const ET_DYN: u8 = 3;
    const PT_INTERP: u32 = 3;
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    for (probe, kind) in probes().iter().zip([ET_EXEC, ET_EXEC, ET_DYN]) {
        let elf = std::fs::read(probe).unwrap();
        assert_eq!(elf[16], kind, "{}", probe.display());
        let headers = word(&elf, 32) as usize;
        let count = usize::from(elf[56]);
        let kinds: Vec<u32> = (0..count).map(|n| word(&elf, headers + 56 * n)).collect();
        assert!(count > 0 && !kinds.contains(&PT_INTERP), "{kinds:?}");
    }
}

/// Start-up makes no system call: the kernel passes all facts with the process.
#[cfg(dents_libc_free)]
#[test]
fn start_makes_no_system_call() {
    for probe in probes() {
        let Ok(output) = Command::new("strace").arg("-f").arg(probe).args(["exit", "0"]).output() else {
            eprintln!("strace is not installed: not counted");
            return;
        };
        let trace = String::from_utf8_lossy(&output.stderr);
        let calls: Vec<&str> =
            trace.lines().filter_map(|line| line.split_once('(')).map(|(name, _)| name).collect();
        assert_eq!(calls, ["execve", "exit_group"], "{trace}");
    }
}
