//! The picture of `dents browse`.

use std::io::{self, Read, Write};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::svg::{self, Theme};
use super::{PLACE, pty};
use crate::step::{Result, Steps, cargo, target_dir, workspace};

/// What is browsed: a tree that every machine has.
const TREE: &str = "/usr";
const ROWS: u16 = 16;
const COLUMNS: u16 = 90;
/// The screen is complete if nothing more comes for this long.
const QUIET: Duration = Duration::from_secs(2);

/// Draws the screen in light and dark.
pub(super) fn draw() -> Result<()> {
    let mut steps = Steps::default();
    steps.run("dents", &mut cargo(["build", "--release", "--package", "dents-cli"]));
    steps.finish()?;
    let bytes = screen().map_err(|error| format!("dents browse: {error}"))?;
    let terminal = svg::terminal(&bytes, ROWS, COLUMNS);
    for theme in Theme::ALL {
        let path = format!("{PLACE}/browse-{}.svg", theme.name);
        let text = svg::draw(terminal.screen(), theme);
        std::fs::write(workspace().join(&path), &text).map_err(|error| format!("{path}: {error}"))?;
        println!("{path}: {} bytes", text.len());
    }
    Ok(())
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
