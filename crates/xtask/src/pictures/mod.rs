//! `cargo xtask pictures`: what `dls` shows on a terminal, as SVG, for light and for dark pages.
//!
//! The release build runs on a terminal of a given width (`pty.rs`) in a small project made for it (`scene.rs`); what it wrote
//! is put on a screen by `vt100`, and the screen is drawn cell by cell (`svg.rs`). Nothing is drawn by hand, so a picture
//! cannot show what the program does not do. [`PICTURES`] is all there is to edit.
//!
//! Text stays text, in a stack of monospaced fonts with the Nerd Fonts first. Every word is put on its columns, so they
//! stand in any font; an icon is a box for those who have none of these fonts, as it is in their terminals.

pub(crate) mod pty;
mod scene;
mod svg;

use std::fs;
use std::process::Command;

use crate::step::{Result, Steps, cargo, target_dir, workspace};
use scene::Scene;
use svg::Theme;

/// Where they go.
const PLACE: &str = "docs/pictures";

/// More lines than any picture has.
const ROWS: u16 = 200;

/// One picture: its name as a file, how wide its terminal is, and what is run.
struct Picture {
    name: &'static str,
    columns: u16,
    args: &'static [&'static str],
}

/// All of them. One whose options this `dls` does not have is passed over, and said so.
const PICTURES: &[Picture] = &[
    Picture { name: "columns", columns: 72, args: &["--color=auto"] },
    Picture { name: "long", columns: 72, args: &["-lh", "--color=auto", "--group-directories-first"] },
    Picture { name: "icons", columns: 72, args: &["-l", "-h", "--icons", "--header", "--color=auto"] },
    Picture { name: "tree", columns: 72, args: &["--tree", "--color=auto"] },
    Picture { name: "git", columns: 72, args: &["-l", "--git", "--color=auto"] },
    Picture { name: "top", columns: 72, args: &["-lh", "-S", "--top=3", "--summary", "--color=auto"] },
    Picture { name: "explain", columns: 100, args: &["-l", "--color=auto", "--explain=plan"] },
];

pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::default();
    steps.run("the release build", &mut cargo(["build", "--release", "--package", "dls"]));
    steps.finish()?;
    let dls = target_dir().join("release/dls");
    let help =
        Command::new(&dls).arg("--help").output().map_err(|error| format!("{}: {error}", dls.display()))?;
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let scene = Scene::make().map_err(|error| format!("the project to be shown: {error}"))?;
    for picture in PICTURES {
        match picture.lacking(&help) {
            Some(option) => println!("{}: passed over: this dls has no {option}", picture.name),
            None => picture.draw(&dls, &scene)?,
        }
    }
    Ok(())
}

impl Picture {
    /// The first option that `--help` does not name.
    fn lacking(&self, help: &str) -> Option<&'static str> {
        let long = self.args.iter().filter(|arg| arg.starts_with("--"));
        let mut names = long.map(|arg| arg.split('=').next().unwrap_or(arg));
        let is_there = |name: &str| help.split([' ', '=', '[', '\n', ',']).any(|word| word == name);
        names.find(|name| !is_there(name))
    }

    fn draw(&self, dls: &std::path::Path, scene: &Scene) -> Result<()> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.name);
        let mut bytes = format!("\x1b[2m$\x1b[m dls {}\r\n", self.args.join(" ")).into_bytes();
        bytes.extend(pty::run(scene.command(dls, self.args), ROWS, self.columns).map_err(failed)?);
        let terminal = svg::terminal(&bytes, ROWS, self.columns);
        for theme in Theme::ALL {
            let path = format!("{PLACE}/{}-{}.svg", self.name, theme.name);
            let text = svg::draw(terminal.screen(), theme);
            fs::write(workspace().join(&path), &text).map_err(|error| format!("{path}: {error}"))?;
            println!("{path}: {} bytes", text.len());
        }
        Ok(())
    }
}
