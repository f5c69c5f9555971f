//! `cargo xtask syscalls`: writes `docs/SYSCALLS.md`, the system calls of listings beside those of GNU `ls`.

use crate::step::{Result, cargo, printed, succeed, target_dir, workspace, write};
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
    let mut count = cargo(["run", "--quiet", "--package", "dents-lab", "--bin", "calls"]);
    if std::env::var_os("DLS").is_none() {
        succeed(&mut cargo(["build", "--release", "--quiet", "--package", "dents-ls"]))?;
        count.env("DLS", target_dir().join("release/dls"));
    }
    let path = workspace().join("docs/SYSCALLS.md");
    write(&path, HEAD.to_owned() + &printed(&mut count)?)?;
    println!("{}", path.display());
    Ok(())
}
