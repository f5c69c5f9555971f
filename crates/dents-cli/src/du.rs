//! `dents du`.

use crate::walk::Walk;
use std::process::ExitCode;

/// Show what directories take, largest first
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let _ = &args.walk;
    ExitCode::SUCCESS
}
