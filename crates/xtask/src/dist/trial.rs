//! `cargo xtask dist --test`: the Debian package in a clean Debian root, which mmdebstrap makes in a user namespace.

use std::path::Path;
use std::process::Command;

use super::debian;
use crate::step::{Result, only, or_told, printed, target_dir, write};
use crate::tools;

/// The release of Debian in which the package is tried.
const SUITE: &str = "bookworm";
/// What happens in the root; the first argument is its directory, the second the package.
const TRIAL: &str = include_str!("trial.sh");

pub(super) fn run(out: &Path) -> Result<()> {
    let package = debian::file(out);
    if !package.is_file() {
        return Err(format!("{} is not there; run `cargo xtask dist` first", package.display()));
    }
    let root = tools::ensure(tools::FOR_TRIAL).and_then(|()| root_is_made());
    if or_told(root, "the package is not tried in a clean Debian root").is_none() {
        return Ok(());
    }
    let script = target_dir().join("dist-build/trial.sh");
    write(&script, TRIAL)?;
    let mut trial = mmdebstrap();
    trial.arg(format!("--customize-hook=sh '{}' \"$1\" '{}'", script.display(), package.display()));
    only("the package in a clean Debian root", &mut trial)
}

/// Whether a root can be made here: a network, or a mirror, and user namespaces.
fn root_is_made() -> Result<()> {
    printed(mmdebstrap().arg("--simulate")).map(drop).map_err(|text| {
        let why = text.lines().find(|line| line.starts_with("E:")).unwrap_or("mmdebstrap fails");
        format!("cannot make a Debian root: {why}")
    })
}

fn mmdebstrap() -> Command {
    let mut command = Command::new("mmdebstrap");
    // No file is kept: the root is in a temporary directory.
    command.args([
        "--quiet",
        "--mode=unshare",
        "--variant=essential",
        "--include=man-db",
        SUITE,
        "/dev/null",
    ]);
    command
}
