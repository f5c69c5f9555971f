//! `cargo xtask slowfs MOUNT …`, `cargo xtask disk IMAGE …`: a slow file system, and a rotating disk, of `dents-lab`. They are programs
//! of their own, so that `xtask` needs no FUSE.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use crate::step::{cargo, target_dir};

/// Builds the program and becomes it: Ctrl-C and the exit status are its own.
pub(crate) fn run(program: &str, args: &[&str]) -> ExitCode {
    let build = cargo(["build", "--quiet", "--package", "dents-lab", "--bin", program]).status();
    if !build.is_ok_and(|status| status.success()) {
        eprintln!("xtask: {program} does not build");
        return ExitCode::FAILURE;
    }
    let program = target_dir().join("debug").join(program);
    let error = std::process::Command::new(&program).args(args).exec();
    eprintln!("xtask: {}: {error}", program.display());
    ExitCode::FAILURE
}
