//! The `slowfs` program, which mounts the slow file system from a command line.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};

use dents_lab::fixture::TempDir;
use dents_lab::process::text;
use dents_lab::slowfs::SlowFs;
use rustix::process::{Pid, Signal, kill_process};

fn slowfs() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slowfs"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(args: &[&str]) -> Output {
    slowfs().args(args).output().expect("slowfs starts")
}

#[test]
fn a_command_is_run_timed_and_counted() {
    if SlowFs::builder().mount_or_skip().is_none() {
        return;
    }
    let dir = TempDir::new("command").expect("a directory");
    let mount = dir.path().join("far");
    let mount = mount.to_str().expect("a plain path");
    let script = "ls -U \"$0\"; exit 3";
    let output = run(&[mount, "--entries", "3", "--names=n##", "--", "sh", "-c", script, "{}"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(3), "n00\nn01\nn02\n".into()));
    let said = text(&output.stderr);
    assert!(said.contains("opendir 1") && said.contains("exit status: 3"), "{said}");
    assert!(!std::path::Path::new(mount).exists(), "it was made, so it is removed");
}

fn stay(mount: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = slowfs().args([mount, "--hang", "e00001"]).spawn().expect("slowfs starts");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("it says where it is");
    assert!(line.contains(mount) && line.contains("umount"), "{line}");
    (child, out)
}

#[test]
fn it_stays_until_a_signal_or_an_unmount() {
    if SlowFs::builder().mount_or_skip().is_none() {
        return;
    }
    let dir = TempDir::new("command").expect("a directory");
    let mount = dir.path().to_str().expect("a plain path");
    for unmount in [false, true] {
        let (mut child, _out) = stay(mount);
        assert_eq!(fs::read_dir(mount).expect("it opens").count(), 1000);
        match unmount {
            true => assert!(Command::new("umount").arg(mount).status().is_ok_and(|status| status.success())),
            false => kill_process(Pid::from_child(&child), Signal::INT).expect("it runs"),
        }
        let status = child.wait().expect("it is our child");
        let mut said = String::new();
        child.stderr.take().expect("it is piped").read_to_string(&mut said).expect("it reads");
        assert!(status.success() && said.contains("readdir"), "{said}");
        assert_eq!(fs::read_dir(mount).expect("it is there").count(), 0);
    }
}

#[test]
fn mistakes_are_told_without_mounting() {
    let output = run(&["/", "--latency=fast"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        "slowfs: --latency=fast: fast is not a time, as 1.2ms, 300us or 2s are\n"
    );
    let output = run(&["/nowhere/at/all"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("/nowhere/at/all"));
    let output = run(&["--help"]);
    assert!(output.status.success() && text(&output.stdout).starts_with("usage: slowfs MOUNT"));
}
