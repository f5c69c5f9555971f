//! `refuse SET PROGRAM [ARGUMENT]…` executes a program without the system calls of a set: those that a kernel lacks, that
//! a container's profile refuses, or that are named (`dents_lab::kernels`).
//!
//! `refuse 6.8 ls -l`, `refuse docker-2017 dls -al`, `refuse EPERM:statx,openat2 dls`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use dents_lab::kernels::{PROFILES, Refusal};

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (argv0, words) = match &words[..] {
        [option, argv0, rest @ ..] if option == "--argv0" => (Some(argv0), rest),
        all => (None, all),
    };
    let [set, program, args @ ..] = words else {
        let sets = PROFILES.join(", ");
        eprintln!(
            "usage: refuse [--argv0 NAME] SET PROGRAM [ARGUMENT]...\nSET is one of {sets}, or [EPERM:]CALL[,CALL]..."
        );
        return ExitCode::from(2);
    };
    let mut command = Command::new(program);
    command.args(args).arg0(argv0.unwrap_or(program));
    let refused = Refusal::parse(&set.to_string_lossy()).and_then(|refusal| refusal.enforce());
    let why = refused.err().unwrap_or_else(|| command.exec().to_string());
    eprintln!("refuse: {}: {why}", program.display());
    ExitCode::from(126)
}
