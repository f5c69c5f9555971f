//! Resources that a kernel or a container may refuse: descriptors, threads, io_uring, single calls. A listing uses the
//! others, and reports only what the user should know. `strace` refuses the calls if possible, so that nothing outside
//! the traced process changes.

use std::path::Path;

use dents_lab::case::MODES;
use dents_lab::fixture::{TempDir, copy_program, deep, mix};
use dents_lab::oracle::as_ls;
use dents_lab::process::{End, Outcome, Run, text};
use dents_lab::suite::{is_root, oracle, release};
use dents_lab::syscalls::trace_with;

fn listed(dir: &Path, args: &[&str]) -> Run {
    Run::new(release().path()).cwd(dir).args(args)
}

fn whole(dir: &Path, options: &str) -> Outcome {
    let outcome = listed(dir, &["--mode=classic", options]).output().expect("dls starts");
    assert_eq!((outcome.end, outcome.stderr.as_slice()), (End::Exit(0), &b""[..]));
    outcome
}

fn assert_same(expected: &Outcome, actual: &Outcome, what: &str) {
    if let Some(report) = dents_lab::diff::outcomes(expected, actual) {
        panic!("{what}: differs\n{report}");
    }
}

/// Enough entries that no strategy thinks them too few to share out.
fn many() -> TempDir {
    mix(&std::env::temp_dir(), 4000).expect("fixture")
}

#[test]
fn io_uring_refused() {
    let dir = many();
    let expected = whole(dir.path(), "-l");
    for error in ["EPERM", "ENOSYS", "ENOMEM"] {
        let fault = format!("io_uring_setup:error={error}");
        let auto = trace_with(&listed(dir.path(), &["-l"]), &[&fault]).expect("strace");
        assert_same(&expected, &auto.outcome, &format!("auto, {error}"));
        let iou = trace_with(&listed(dir.path(), &["--mode=iou", "-l"]), &[&fault]).expect("strace");
        assert!(iou.count("io_uring_setup") >= 1, "--mode=iou never asked for a ring");
        let listing = Outcome { stderr: Vec::new(), ..iou.outcome.clone() };
        assert_same(&expected, &listing, &format!("iou, {error}"));
        let warning = text(&iou.outcome.stderr);
        assert_eq!(warning.lines().count(), 1, "{error}: {warning:?}");
        assert!(warning.ends_with('\n'), "{error}: {warning:?}");
    }
}

/// The ring exists, but `io_uring_enter` fails: later kernels and filters do that.
#[test]
fn io_uring_refused_in_use() {
    let dir = many();
    let expected = whole(dir.path(), "-l");
    for fault in
        ["io_uring_enter:error=EPERM", "io_uring_register:error=EINVAL", "io_uring_enter:error=EAGAIN:when=1"]
    {
        let iou = trace_with(&listed(dir.path(), &["--mode=iou", "-l"]), &[fault]).expect("strace");
        let listing = Outcome { stderr: Vec::new(), ..iou.outcome };
        assert_same(&expected, &listing, fault);
    }
}

/// A ring requests attributes by paths in /proc. Without /proc, they are requested by `fgetxattr` and similar calls.
#[test]
fn without_proc() {
    if !is_root() {
        println!("not root: /proc cannot be taken away");
        return;
    }
    let dir = many();
    let expected = whole(dir.path(), "-l");
    let hidden = "mount --make-rprivate / && mount -t tmpfs none /proc && exec \"$0\" \"$@\"";
    let run = listed(dir.path(), &["--mode=iou", "-l"]).under(&["unshare", "-m", "sh", "-c", hidden]);
    assert_same(&expected, &run.output().expect("unshare starts"), "without /proc");
}

/// A ring requests attributes by the path of the directory. If that path now leads elsewhere (something was mounted
/// over the directory), its answers about files of the same names are not used.
#[test]
fn a_path_that_leads_elsewhere() {
    if !is_root() {
        println!("not root: nothing can be mounted");
        return;
    }
    let dir = TempDir::new("covered").expect("directory");
    let label = |nth: usize| {
        let path = dir.path().join(format!("file{nth}"));
        std::fs::write(&path, "").expect("file");
        let flags = rustix::fs::XattrFlags::empty();
        !nth.is_multiple_of(50)
            || rustix::fs::setxattr(&path, "security.selinux", b"a:b:c:s0\0", flags).is_ok()
    };
    if !(0..300).all(label) {
        println!("no attributes here");
        return;
    }
    let expected = whole(dir.path(), "-l");
    assert!(text(&expected.stdout).contains("-rw-r--r--. "), "{}", text(&expected.stdout));
    let covered = "mount --make-rprivate / && mount -t tmpfs none . && touch $(seq -f \"$PWD/file%.0f\" 0 299) \
                   && exec \"$0\" \"$@\"";
    let run = listed(dir.path(), &["--mode=iou", "-l"]).under(&["unshare", "-m", "sh", "-c", covered]);
    assert_same(&expected, &run.output().expect("unshare starts"), "covered");
}

#[test]
fn threads_refused() {
    let dir = many();
    let expected = whole(dir.path(), "-l");
    for error in ["EAGAIN", "EPERM", "ENOMEM"] {
        for mode in MODES {
            let run = listed(dir.path(), &[&format!("--mode={mode}"), "--threads=4", "-l"]);
            let faults = [format!("clone:error={error}"), format!("clone3:error={error}")];
            let refused = trace_with(&run, &[&faults[0], &faults[1]]).expect("strace");
            assert_same(&expected, &refused.outcome, &format!("--mode={mode}, {error}"));
            let asked = refused.count("clone") + refused.count("clone3");
            assert!(*mode != "par" || asked >= 1, "--mode=par asked for no thread");
        }
    }
}

/// The same by the limit that administrators set, which root is above.
#[test]
fn threads_beyond_the_limit() {
    if !is_root() {
        println!("not root: cannot become a user without other processes");
        return;
    }
    let dir = many();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), mode).expect("chmod");
    let copy = dir.path().join(".dls");
    copy_program(release().path(), &copy);
    let expected = whole(dir.path(), "-l");
    let limited = ["prlimit", "--nproc=1:1", "setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"];
    for mode in MODES {
        let run = Run::new(&copy).cwd(dir.path()).args([&format!("--mode={mode}"), "--threads=4", "-l"]);
        let mut limited = run.under(&limited).output().expect("prlimit starts");
        if *mode == "iou" && !limited.stderr.is_empty() {
            // The workers of a ring are threads too: the refusal of the ring is reported once.
            let warning = text(&core::mem::take(&mut limited.stderr));
            assert!(
                warning.contains("io_uring is not available") && warning.lines().count() == 1,
                "{warning:?}"
            );
        }
        assert_same(&expected, &limited, &format!("--mode={mode}"));
    }
}

/// As GNU has it: one descriptor beside the standard streams is enough for names of owners and for the time zone.
#[test]
fn one_descriptor_is_enough() {
    let dir = deep(&std::env::temp_dir(), 3).expect("fixture");
    let copy = dir.path().join(".dls");
    copy_program(release().path(), &copy);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), mode).expect("chmod");
    let unprivileged =
        ["prlimit", "--nofile=4:4", "setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"];
    for options in ["-l", "-lR", "-ln", "-al", "-lt"] {
        let run = || Run::new(&copy).cwd(dir.path()).env("TZ", "Europe/Berlin").args([options]);
        let expected = run().output().expect("dls starts");
        let few = run().under(&unprivileged[..2]).output().expect("prlimit starts");
        assert_same(&expected, &few, options);
        if is_root() {
            let few = run().under(&unprivileged).output().expect("prlimit starts");
            assert_same(&expected, &few, &format!("{options} as another user"));
        }
    }
}

/// A ring is a descriptor too; where that is one too many, names of owners and the time zone go before.
#[test]
fn a_ring_takes_no_descriptor_from_others() {
    let dir = deep(&std::env::temp_dir(), 3).expect("fixture");
    for options in ["-l", "-lR", "-al"] {
        let run = |mode| listed(dir.path(), &[mode, options]).env("TZ", "Europe/Berlin");
        let expected = run("--mode=classic").output().expect("dls starts");
        for descriptors in 4..=12 {
            let limit = format!("--nofile={descriptors}:{descriptors}");
            let few = run("--mode=iou").under(&["prlimit", &limit]).output().expect("prlimit starts");
            assert_eq!(text(&few.stdout), text(&expected.stdout), "{options} with {descriptors}");
            let warning = text(&few.stderr);
            assert!(
                warning.is_empty()
                    || warning.contains("io_uring is not available") && warning.lines().count() == 1,
                "{options} with {descriptors}: {warning:?}"
            );
        }
    }
}

#[test]
fn descriptors_run_out() {
    let dir = deep(&std::env::temp_dir(), 12).expect("fixture");
    let expected = whole(dir.path(), "-lR");
    for mode in MODES {
        let run = listed(dir.path(), &[&format!("--mode={mode}"), "-lR"]);
        // With three for the standard streams, five more are plenty for a tree of any depth.
        let few = run.clone().under(&["prlimit", "--nofile=8:8"]).output().expect("prlimit starts");
        assert_eq!(
            (few.end, &few.stdout),
            (End::Exit(0), &expected.stdout),
            "--mode={mode} with 8 descriptors"
        );
        let none = run.under(&["prlimit", "--nofile=3:3"]).output().expect("prlimit starts");
        assert_eq!(none.end, End::Exit(2), "--mode={mode} without descriptors");
        assert!(text(&none.stderr).contains(": Too many open files\n"), "{}", text(&none.stderr));
    }
}

/// A directory that cannot be read to its end: its first entries are listed, and the error has GNU's message.
#[test]
fn reading_fails() {
    let outer = mix(&std::env::temp_dir(), 30).expect("fixture");
    for (args, fault) in [
        (&["-1"][..], "getdents64:error=EIO:when=1"),
        (&["-l"], "getdents64:error=EIO:when=2"),
        (&["-1", "dir0", "dir8"], "getdents64:error=EIO:when=1"),
        (&["-1"], "getdents64:error=ENOENT:when=2"),
    ] {
        let said = |program: &Path| {
            let run = Run::new(program).cwd(outer.path()).args(args);
            let mut outcome = trace_with(&run, &[fault]).expect("strace").outcome;
            outcome.stderr = as_ls(&outcome.stderr, program);
            outcome
        };
        assert_same(&said(oracle().path()), &said(release().path()), &format!("{args:?} {fault}"));
    }
}

/// Old kernels know no `listxattrat`; some file systems no attributes at all.
#[test]
fn attributes_refused() {
    let dir = many();
    let expected = whole(dir.path(), "-l");
    for mode in MODES {
        let run = listed(dir.path(), &[&format!("--mode={mode}"), "-l"]);
        for fault in ["listxattrat:error=ENOSYS", "listxattrat:error=ENOTSUP"] {
            match trace_with(&run, &[fault]) {
                Ok(old) => assert_same(&expected, &old.outcome, &format!("--mode={mode} {fault}")),
                Err(error) if error.to_string().contains("'listxattrat") => {
                    println!("this strace is older than listxattrat, and cannot refuse it: {error}");
                }
                Err(error) => panic!("strace: {error}"),
            }
        }
    }
}

/// A call that a signal interrupts is repeated.
#[test]
fn interrupted_writes() {
    let dir = many();
    let expected = whole(dir.path(), "-l");
    let torn = trace_with(&listed(dir.path(), &["--mode=classic", "-l"]), &["write:error=EINTR:when=1"]);
    assert_same(&expected, &torn.expect("strace").outcome, "EINTR");
}
