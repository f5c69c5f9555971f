//! `cargo xtask pictures`: the output of `dls` on a terminal, as SVG, for light and for dark pages.
//!
//! The release build runs on a terminal of a given width (`pty.rs`) in a small project made for it (`scene.rs`). `vt100` puts
//! its output on a screen, and the screen is drawn cell by cell (`svg.rs`). Nothing is drawn by hand, so a picture shows what
//! the program prints. To change or add a picture, edit [`PICTURES`].
//!
//! Text stays text, in a list of monospaced fonts. Every word is placed at its columns, so it is there in any font. Icons are
//! outlines (`glyph.rs`): readers need no Nerd Font.

mod browse;
mod glyph;
pub(crate) mod pty;
mod report;
mod scene;
mod svg;

use crate::step::{Result, cargo, only, target_dir, workspace, write};
use scene::Scene;
use svg::PLACE;

/// Before the pictures on their page.
const HEAD: &str = "# What it looks like

`cargo xtask pictures` draws these pictures from what `dls` writes to a terminal; their list is in
[crates/xtask/src/pictures/mod.rs](../../crates/xtask/src/pictures/mod.rs). A terminal needs a
[Nerd Font](https://www.nerdfonts.com) to show icons. The pictures contain icons as outlines
([glyphs.tsv](../../crates/xtask/src/pictures/glyphs.tsv)), taken from Nerd Fonts 3.4.0 by way of the npm package
`@azurity/pure-nerd-font` (MIT), each under the licence of the set that it is from:

- `md`: [Material Design Icons](https://pictogrammers.com/library/mdi/), Pictogrammers, Apache-2.0
- `dev`: [Devicon](https://devicon.dev), © 2015 konpa, MIT
- `oct`: [Octicons](https://primer.style/octicons/), © GitHub Inc., MIT
";

/// More lines than any picture has.
const ROWS: u16 = 200;

/// One picture.
struct Picture {
    /// As in the files' names.
    name: &'static str,
    /// Its title.
    about: &'static str,
    /// How wide its terminal is.
    columns: u16,
    /// Whether files have been changed lately in it.
    ages: bool,
    /// The command.
    args: &'static [&'static str],
}

impl Picture {
    const fn new(name: &'static str, about: &'static str, args: &'static [&'static str]) -> Picture {
        Picture { name, about, columns: 80, ages: false, args }
    }
}

/// All pictures.
const PICTURES: &[Picture] = &[
    Picture {
        ages: true,
        ..Picture::new(
            "view",
            "The long view: header, icons, git, ages",
            &["-lh", "--icons", "--header", "--git", "--time-style=relative", "--color"],
        )
    },
    Picture::new(
        "tree",
        "A tree with icons, without what git ignores",
        &["--tree", "--icons", "--gitignore", "--color"],
    ),
    Picture::new("columns", "In columns, coloured by `LS_COLORS`", &["--color"]),
    Picture::new("icons", "In columns, with icons", &["--icons", "--color"]),
    Picture::new(
        "long",
        "The long format of GNU, directories first",
        &["-lh", "--group-directories-first", "--color"],
    ),
    Picture::new(
        "chosen",
        "Chosen columns",
        &["--columns=octal,size,modified,name", "--header", "--time-style=long-iso", "--color"],
    ),
    Picture {
        ages: true,
        ..Picture::new(
            "ages",
            "How long ago, youngest first",
            &["-lt", "--time-style=relative", "--no-mode", "--no-links", "--smart-group", "--color"],
        )
    },
    Picture::new("git", "What git says of each file", &["-l", "--git", "--header", "--no-links", "--color"]),
    Picture::new(
        "total",
        "What each directory holds, largest first",
        &["-hS", "--tree", "--columns=size,name", "--total-size", "--color"],
    ),
    Picture::new("top", "The largest three, and a summary", &["-lhS", "--top=3", "--summary", "--color"]),
    Picture {
        columns: 116,
        ..Picture::new(
            "explain",
            "Which requests a listing will make, and for which option or colour",
            &["-l", "--color", "--explain=plan"],
        )
    },
];

pub(crate) fn run() -> Result<()> {
    only("the release build", &mut cargo(["build", "--release", "--package", "dents-ls"]))?;
    let dls = target_dir().join("release/dls");
    let scene = Scene::make().map_err(|error| format!("the project to be shown: {error}"))?;
    let mut page = String::from(HEAD);
    for picture in PICTURES {
        picture.draw(&dls, &scene)?;
        page += &picture.entry();
    }
    write(workspace().join(PLACE).join("README.md"), page)?;
    browse::draw()?;
    report::draw()
}

impl Picture {
    /// Its entry on the overview page, for light and dark themes.
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
        scene.date(self.ages).map_err(failed)?;
        let mut bytes = format!("\x1b[2m$\x1b[m dls {}\r\n", self.args.join(" ")).into_bytes();
        bytes.extend(pty::run(scene.command(dls, self.args), ROWS, self.columns).map_err(failed)?);
        svg::save(self.name, &bytes, ROWS, self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::svg::Theme;
    use super::*;
    use std::fs;

    #[test]
    fn the_page_tells_where_icons_come_from() {
        for name in glyph::names() {
            let set = name.split('-').next().unwrap_or(name);
            assert!(HEAD.contains(&format!("\n- `{set}`: ")), "whose is {name}, under which licence?");
        }
        assert!(glyph::names().count() > 5);
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
