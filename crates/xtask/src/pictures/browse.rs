//! The picture of `dents browse`.

use std::io::{self, Read, Write};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{pty, svg};
use crate::step::{Result, at, cargo, only, target_dir};

/// What is browsed: a tree that every machine has.
const TREE: &str = "/usr";
const ROWS: u16 = 16;
const COLUMNS: u16 = 90;
/// The screen is complete if nothing more comes for this long.
const QUIET: Duration = Duration::from_secs(2);

/// Draws the screen in light and dark.
pub(super) fn draw() -> Result<()> {
    only("dents", &mut cargo(["build", "--release", "--package", "dents-cli"]))?;
    let bytes = at("dents browse", screen())?;
    svg::save("browse", &bytes, ROWS, COLUMNS)
}

/// What the browser has written when it has nothing more to show, before it gives the terminal back.
fn screen() -> io::Result<Vec<u8>> {
    let mut command = Command::new(target_dir().join("release/dents"));
    command
        .args(["browse", TREE])
        .env("TERM", "xterm-256color")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("LS_COLORS");
    let (mut child, mut master) = pty::start(command, ROWS, COLUMNS)?;
    let mut reader = master.try_clone()?;
    let (pieces, received) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = reader.read(&mut buffer) {
            if pieces.send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut bytes = Vec::new();
    while let Ok(piece) = received.recv_timeout(QUIET) {
        bytes.extend(piece);
    }
    master.write_all(b"q")?;
    child.wait()?;
    Ok(bytes)
}
