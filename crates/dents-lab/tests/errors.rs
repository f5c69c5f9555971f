//! Errors and their messages: of command lines, operands, entries, output.

use std::io::Read;
use std::process::Stdio;

use dents_lab::case::Case;
use dents_lab::case::MODES;
use dents_lab::fixture::{TempDir, copy_program, mix, plain};
use dents_lab::oracle::as_ls;
use dents_lab::process::{End, Outcome, Run};
use dents_lab::suite::{Places, checked, expect_same, is_root, oracle, release};
use dents_lab::syscalls::trace_with;

#[test]
fn bad_command_lines() {
    let empty = TempDir::new("errors").expect("a directory");
    let lines: &[&[&str]] = &[
        &["--nonsense"],
        &["--nonsense=x"],
        &["-%"],
        &["-l%"],
        &["-é"],
        &["--s"],
        &["--si=x"],
        &["--re"],
        &["--all=1"],
        &["--color=sometimes"],
        &["--color=a"],
        &["--color="],
        &["--classify=x"],
        &["-w"],
        &["-lw"],
        &["--width"],
        &["-wx"],
        &["-w80x"],
        &["-w-1"],
        &["-w", ""],
        &["--width="],
        &["--width=1e3"],
        &["-w", "0b1"],
        &["-w18446744073709551616"],
        &["--time-style=nonsense", "-l"],
        &["--time-style=nonsense"],
        &["--time-style=i"],
        &["--time-style"],
        &["--time-style=", "-l"],
        &["--zero=1"],
        &["--full-time=x"],
        &["-l", "--no-such", "missing"],
    ];
    let cases: Vec<Case> = lines.iter().map(|line| Case::new(empty.path()).words(line)).collect();
    expect_same(&oracle(), &checked(), &cases);
}

#[test]
fn operands_that_are_not_there() {
    let places = Places::new();
    let long = "x".repeat(300);
    let deep = "d/".repeat(2500);
    let operands = [
        "missing",
        "",
        "size1/",
        "size1/x",
        "missing/",
        "link-dangling/",
        "new\nline",
        "quote'",
        "\x1b[0m",
        &long,
        &deep,
    ];
    let mut cases = Vec::new();
    for operand in operands {
        for options in ["", "-l", "-d", "-Rl", "--color=always"] {
            let case = Case::new(places.zoo.path()).options(options).env("LC_ALL", "C.UTF-8");
            cases.push(case.clone().operands([operand]));
            cases.push(case.operands(["size1", operand, "tree"]));
        }
    }
    expect_same(&oracle(), &checked(), &cases);
}

/// As a user without privileges: a directory that may not be read, one whose entries may not be stat'ed, one that may
/// only be passed through. Root is never refused, so this needs `setpriv`.
#[test]
fn what_may_not_be_read() {
    if !is_root() {
        println!("not root: cannot become another user; as it is, this user meets the same in the zoo");
        return;
    }
    let dir = mix(&std::env::temp_dir(), 24).expect("fixture");
    let sub = |name: &str, mode: u32| {
        let path = dir.path().join(name);
        std::fs::create_dir(&path).expect("a directory");
        std::fs::write(path.join("inside"), b"x").expect("a file");
        std::fs::create_dir(path.join("sub")).expect("a directory");
        std::os::unix::fs::symlink("inside", path.join("link")).expect("a link");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("chmod");
    };
    sub("closed", 0o700);
    sub("list-only", 0o744);
    sub("pass-only", 0o711);
    let shared = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), shared).expect("chmod");
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let copy = public_copy(checked().path());
    for options in
        ["-1", "-l", "-la", "-i", "-s", "-F", "-C", "-R", "-lR", "-lU", "-t", "-S", "-ld", "--zero"]
    {
        for operands in [
            &[][..],
            &["closed"],
            &["list-only"],
            &["pass-only"],
            &["closed", "run3", "list-only"],
            &["pass-only/inside"],
        ] {
            for color in ["--color=never", "--color=always"] {
                let args: Vec<&str> = [options, color].iter().chain(operands).copied().collect();
                let expected = said(
                    &Run::new(oracle().path()).cwd(dir.path()).args(&args).under(&nobody),
                    oracle().path(),
                );
                for mode in MODES {
                    let run = Run::new(&copy.1).cwd(dir.path()).args([format!("--mode={mode}")]).args(&args);
                    assert_same(&expected, &said(&run.under(&nobody), &copy.1), mode, &args);
                }
            }
        }
    }
}

/// A copy of the subject where everybody may execute it: the target directory may be root's alone.
fn public_copy(program: &std::path::Path) -> (TempDir, std::path::PathBuf) {
    let dir = TempDir::new("public").expect("a directory");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), mode).expect("chmod");
    let path = dir.path().join("dls");
    copy_program(program, &path);
    (dir, path)
}

fn said(run: &Run, program: &std::path::Path) -> Outcome {
    let mut outcome = run.output().expect("the launcher starts");
    outcome.stderr = as_ls(&outcome.stderr, program);
    outcome
}

fn assert_same(expected: &Outcome, actual: &Outcome, mode: &str, args: &[&str]) {
    if let Some(report) = dents_lab::diff::outcomes(expected, actual) {
        panic!("--mode={mode} {args:?} differs\n{report}");
    }
}

/// A full disk gives a message and status 2; so does a closed standard output.
#[test]
fn output_that_cannot_be_written() {
    let dir = plain(&std::env::temp_dir(), 3000).expect("fixture");
    for redirection in [">/dev/full", ">&-"] {
        for args in [&["-1"][..], &["-l"], &["-U1"], &["-C"], &["/nonexistent"], &["--help"], &["--version"]]
        {
            let expected = through_shell(oracle().path(), dir.path(), args, redirection);
            assert_eq!(expected.end, End::Exit(2), "the oracle at {redirection} {args:?}");
            let actual = through_shell(release().path(), dir.path(), args, redirection);
            assert_same(&expected, &actual, "auto", args);
        }
    }
}

/// A server may take what is written and refuse it when the file is closed, as NFS does.
#[test]
fn output_that_is_refused_when_it_is_closed() {
    let dir = TempDir::new("refused").expect("a directory");
    let run = Run::new(release().path()).cwd(dir.path()).args(["-d", "."]);
    let outcome = trace_with(&run, &["close:error=ENOSPC"]).expect("strace").outcome;
    assert_eq!(outcome.stdout, b".\n");
    let said = as_ls(&outcome.stderr, release().path());
    assert_eq!(String::from_utf8_lossy(&said), "ls: write error: No space left on device\n");
    assert_eq!(outcome.end, End::Exit(2));
}

/// Without output no write can fail: an empty listing into a closed or full output.
#[test]
fn nothing_to_write() {
    let dir = TempDir::new("nothing").expect("a directory");
    for redirection in [">/dev/full", ">&-"] {
        let expected = through_shell(oracle().path(), dir.path(), &[], redirection);
        assert_same(&expected, &through_shell(release().path(), dir.path(), &[], redirection), "auto", &[]);
    }
}

fn through_shell(
    program: &std::path::Path,
    cwd: &std::path::Path,
    args: &[&str],
    redirection: &str,
) -> Outcome {
    let script = format!("exec \"$0\" \"$@\" {redirection}");
    let run = Run::new(program).cwd(cwd).args(args).under(&["/bin/sh", "-c", &script]);
    said(&run, program)
}

/// The reader goes away: killed by SIGPIPE, without a word.
#[test]
fn a_pipe_that_closes() {
    let dir = plain(&std::env::temp_dir(), 20_000).expect("fixture");
    for mode in MODES {
        for format in ["-1", "-l", "-U1"] {
            let run = Run::new(release().path()).cwd(dir.path()).args([&format!("--mode={mode}"), format]);
            let mut child =
                run.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("dls starts");
            let mut first = [0; 10];
            child.stdout.take().expect("piped").read_exact(&mut first).expect("some output");
            let output = child.wait_with_output().expect("dls ends");
            assert_eq!(End::from(output.status), End::Signal(13), "{mode} {format}");
            assert_eq!(output.stderr, b"", "{mode} {format}");
        }
    }
}

/// With SIGPIPE ignored, writing to a pipe that has no reader is an error like any other.
#[test]
fn a_pipe_that_closes_with_the_signal_ignored() {
    let dir = plain(&std::env::temp_dir(), 20_000).expect("fixture");
    let broken = |program: &std::path::Path| {
        let run = Run::new(program).cwd(dir.path()).args(["-1"]).under(&["env", "--ignore-signal=PIPE"]);
        let mut command = run.command();
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn().expect("env starts");
        drop(command);
        let output = child.wait_with_output().expect("the program ends");
        let stderr = as_ls(&output.stderr, program);
        (End::from(output.status), String::from_utf8_lossy(&stderr).into_owned())
    };
    let expected = broken(oracle().path());
    assert_eq!(expected.0, End::Exit(2), "{}", expected.1);
    assert_eq!(broken(release().path()), expected);
}

/// A slow reader of a pipe gets all output.
#[test]
fn a_slow_reader_gets_everything() {
    let dir = plain(&std::env::temp_dir(), 20_000).expect("fixture");
    let run = Run::new(release().path()).cwd(dir.path()).args(["-l"]);
    let mut child = run.command().stdout(Stdio::piped()).spawn().expect("dls starts");
    let mut pipe = child.stdout.take().expect("piped");
    let (mut all, mut piece) = (Vec::new(), [0; 777]);
    loop {
        match pipe.read(&mut piece).expect("the pipe reads") {
            0 => break,
            n => all.extend_from_slice(&piece[..n]),
        }
        if all.len() % 7 == 0 {
            std::thread::yield_now();
        }
    }
    assert!(child.wait().expect("dls ends").success());
    assert_eq!(all.iter().filter(|&&b| b == b'\n').count(), 20_001);
}
