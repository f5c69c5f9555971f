//! `dents stats`.

use crate::walk::Walk;
use std::process::ExitCode;

/// Sum up a tree by user, group, extension, age, size and depth
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let _ = &args.walk;
    ExitCode::SUCCESS
}
