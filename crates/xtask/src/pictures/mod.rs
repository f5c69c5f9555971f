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

/// Before the pictures on their page.
const HEAD: &str = "# What it looks like\n\nDrawn by `cargo xtask pictures` from what `dls` writes to a terminal; the list is in \
    crates/xtask/src/pictures/mod.rs. Icons need a [Nerd Font](https://www.nerdfonts.com), in these pictures as in a terminal.\n";

/// More lines than any picture has.
const ROWS: u16 = 200;

/// One picture: its name as a file, what it shows, how wide its terminal is, and what is run.
struct Picture {
    name: &'static str,
    about: &'static str,
    columns: u16,
    args: &'static [&'static str],
}

/// All of them. One whose options this `dls` does not have is passed over, and said so.
const PICTURES: &[Picture] = &[
    Picture {
        name: "columns",
        about: "In columns, coloured by `LS_COLORS`",
        columns: 72,
        args: &["--color=auto"],
    },
    Picture {
        name: "long",
        about: "The long format, directories first",
        columns: 72,
        args: &["-lh", "--color=auto", "--group-directories-first"],
    },
    Picture {
        name: "icons",
        about: "The long view, with a header and icons",
        columns: 72,
        args: &["-l", "-h", "--icons", "--header", "--color=auto"],
    },
    Picture { name: "tree", about: "A tree", columns: 72, args: &["--tree", "--color=auto"] },
    Picture {
        name: "git",
        about: "The long view, with what git says of each file",
        columns: 72,
        args: &["-l", "--git", "--color=auto"],
    },
    Picture {
        name: "top",
        about: "The largest three, and a summary of all",
        columns: 72,
        args: &["-lh", "-S", "--top=3", "--summary", "--color=auto"],
    },
    Picture {
        name: "explain",
        about: "What a listing will ask of the kernel, and for the sake of what",
        columns: 116,
        args: &["-l", "--color=auto", "--explain=plan"],
    },
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
    let mut page = String::from(HEAD);
    for picture in PICTURES {
        match picture.lacking(&help) {
            Some(option) => println!("{}: passed over: this dls has no {option}", picture.name),
            None => {
                picture.draw(&dls, &scene)?;
                page += &picture.entry();
            }
        }
    }
    fs::write(workspace().join(PLACE).join("README.md"), page).map_err(|error| format!("{PLACE}: {error}"))
}

impl Picture {
    /// The first option that `--help` does not name.
    fn lacking(&self, help: &str) -> Option<&'static str> {
        let long = self.args.iter().filter(|arg| arg.starts_with("--"));
        let mut names = long.map(|arg| arg.split('=').next().unwrap_or(arg));
        let is_there = |name: &str| help.split([' ', '=', '[', '\n', ',']).any(|word| word == name);
        names.find(|name| !is_there(name))
    }

    /// On the page of all, for whichever theme the reader has.
    fn entry(&self) -> String {
        let Picture { name, about, args, .. } = self;
        format!(
            "\n{about}: `dls {}`\n\n<picture>\n  <source media=\"(prefers-color-scheme: dark)\" \
             srcset=\"{name}-dark.svg\">\n  <img alt=\"{about}\" src=\"{name}-light.svg\">\n</picture>\n",
            args.join(" ")
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_lacks_is_not_drawn() {
        let picture = Picture { name: "x", about: "x", columns: 9, args: &["-l", "--icons", "--color=auto"] };
        assert_eq!(picture.lacking("  --color[=WHEN]  c\n      --icons=WHEN\n"), None);
        assert_eq!(picture.lacking("      --color[=WHEN]\n      --icon\n"), Some("--icons"));
    }

    #[test]
    fn every_picture_of_the_page_is_there() {
        let page = fs::read_to_string(workspace().join(PLACE).join("README.md")).expect("it is committed");
        let mut seen = 0;
        for picture in PICTURES.iter().filter(|picture| page.contains(&picture.entry())) {
            for theme in Theme::ALL {
                let path = workspace().join(PLACE).join(format!("{}-{}.svg", picture.name, theme.name));
                let text =
                    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{}", path.display());
                seen += 1;
            }
        }
        assert_eq!(seen, page.matches("<picture>").count() * Theme::ALL.len(), "run `cargo xtask pictures`");
        assert!(seen > 0);
    }
}
