//! `cargo xtask slowfs MOUNT …`: the slow file system of `dents-lab`, which is a program of its own, so that
//! `xtask` needs no FUSE.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use crate::step::{cargo, target_dir};

/// Builds the program and becomes it: Ctrl-C and the exit status are its own.
pub(crate) fn run(args: &[&str]) -> ExitCode {
    let build = cargo(["build", "--quiet", "--package", "dents-lab", "--bin", "slowfs"]).status();
    if !build.is_ok_and(|status| status.success()) {
        eprintln!("xtask: slowfs does not build");
        return ExitCode::FAILURE;
    }
    let program = target_dir().join("debug/slowfs");
    let error = std::process::Command::new(&program).args(args).exec();
    eprintln!("xtask: {}: {error}", program.display());
    ExitCode::FAILURE
}
