//! `dents scan`.

use crate::walk::Walk;
use std::process::ExitCode;

/// List a tree
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let _ = &args.walk;
    ExitCode::SUCCESS
}
