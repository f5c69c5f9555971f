//! `peak PROGRAM [ARGUMENT]…`: runs a program and prints its peak resident set in KiB; see `dents_lab::probe`.

use std::path::Path;
use std::process::ExitCode;

use dents_lab::probe::peak;
use dents_lab::process::Run;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let Some(program) = args.next() else {
        eprintln!("usage: peak PROGRAM [ARGUMENT]…");
        return ExitCode::from(2);
    };
    match peak(&Run::new(Path::new(&program)).args(args)) {
        Ok(peak) => {
            println!("{}", peak.resident_kib);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("peak: {}: {error}", program.display());
            ExitCode::FAILURE
        }
    }
}
