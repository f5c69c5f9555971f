//! Removes the directories of a run, however it ends: a child waits for the end of its parent, and then removes them.
//!
//! Destructors do not run on Ctrl-C, nor after a panic (this profile aborts), and a signal handler needs `unsafe` or a
//! crate. A pipe needs neither: the kernel closes it when the process that writes to it ends, even by `SIGKILL`. The
//! child is in a process group of its own, which the terminal's Ctrl-C does not reach, and uses no processor time
//! while it waits.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::step::Result;

/// Removes its directories when dropped, or when this process ends in any other way.
pub(crate) struct Cleanup(Child);

const SCRIPT: &str = "trap '' HUP INT TERM; read -r _; rm -rf -- \"$@\"";

impl Cleanup {
    /// Removes `dirs` at the end; they need not exist yet.
    pub(crate) fn watch(dirs: &[&Path]) -> Result<Cleanup> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "cleanup"]).args(dirs).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Cleanup).map_err(|error| format!("sh, to clean up afterwards: {error}"))
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_go_with_their_cleanup() {
        let dir = std::env::temp_dir().join(format!("dents cleanup {}", std::process::id()));
        let cleanup = Cleanup::watch(&[&dir, Path::new("/nonexistent/dents")]).expect("sh is there");
        std::fs::create_dir_all(dir.join("deep/er")).expect("a temporary directory");
        drop(cleanup);
        assert!(!dir.exists());
    }
}
