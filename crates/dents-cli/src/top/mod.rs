//! `dents top`.

use crate::walk::Walk;
use std::process::ExitCode;

/// Show the largest, oldest, newest files, the fullest directories
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let _ = &args.walk;
    ExitCode::SUCCESS
}
