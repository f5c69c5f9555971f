//! `cargo xtask syscalls`: writes `docs/SYSCALLS.md`, the system calls of listings beside those of GNU `ls`.

use std::fs;

use crate::step::{Result, cargo, target_dir, workspace};
use crate::tools;

const HEAD: &str = "\
# System calls

The system calls that list a directory of 1,000 entries (900 plain files, 50 directories, 50 links to files), counted by `strace -f`
from `execve` to `exit_group`. Output goes to a pipe, with `LC_ALL=C`. `cargo xtask syscalls` writes this page.

The columns `stat` and `xattr` are parts of the total to their left. `auto` may start threads, whose calls are counted too: it makes
more calls, several at the same time.

";

pub(crate) fn run() -> Result<()> {
    tools::ensure(tools::FOR_BENCHES)?;
    if std::env::var_os("DLS").is_none() {
        let status = cargo(["build", "--release", "--quiet", "--package", "dents-ls"]).status();
        status.map_err(|error| error.to_string())?.success().then_some(()).ok_or("dls does not build")?;
    }
    let mut count = cargo(["run", "--quiet", "--package", "dents-lab", "--bin", "calls"]);
    if std::env::var_os("DLS").is_none() {
        count.env("DLS", target_dir().join("release/dls"));
    }
    let output = count.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_string());
    }
    let path = workspace().join("docs/SYSCALLS.md");
    let text = [HEAD.as_bytes(), &output.stdout].concat();
    fs::create_dir_all(workspace().join("docs")).map_err(|error| error.to_string())?;
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{}", path.display());
    Ok(())
}
