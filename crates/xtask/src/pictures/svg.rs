//! A screen as SVG. Each word is a `<text>` at its columns, so that it is there in any font.

use std::fmt::Write;
use std::num::NonZero;

use vt100::{Cell, Color, Parser, Screen};

use super::glyph::{is_icon, lacking, outline};
use crate::step::{Result, workspace, write};

/// Where pictures go.
pub(super) const PLACE: &str = "docs/pictures";

/// Pixels of a cell, and around all of them.
const WIDTH: f32 = 8.4;
const HEIGHT: f32 = 19.0;
const MARGIN: f32 = 16.0;
/// The distance from the top of a cell to the baseline of its letters.
const BASELINE: f32 = 14.0;
/// Pixels of a thousandth of an em of an icon: it reaches over into the blank behind it, as it does in most terminals.
const ICON: f32 = 0.0145;

const FONTS: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";

/// The colours of a terminal.
pub(super) struct Theme {
    /// As in the file's name.
    pub(super) name: &'static str,
    paper: u32,
    ink: u32,
    border: u32,
    /// Black, red, green, yellow, blue, magenta, cyan, white; then the bright ones.
    colors: [u32; 16],
}

impl Theme {
    /// Both: each has at least the contrast of 3:1 for every colour that `ls` draws names in.
    pub(super) const ALL: &[Theme] = &[
        Theme {
            name: "light",
            paper: 0xff_ffff,
            ink: 0x24_292f,
            border: 0xd0_d7de,
            colors: [
                0x24_292f, 0xcf_222e, 0x11_6329, 0x7d_4e00, 0x09_69da, 0x82_50df, 0x1b_7c83, 0x6e_7781,
                0x57_606a, 0xa4_0e26, 0x1a_7f37, 0x63_3c01, 0x21_8bff, 0xa4_75f9, 0x31_92aa, 0x8c_959f,
            ],
        },
        Theme {
            name: "dark",
            paper: 0x0d_1117,
            ink: 0xe6_edf3,
            border: 0x30_363d,
            colors: [
                0x48_4f58, 0xff_7b72, 0x3f_b950, 0xd2_9922, 0x58_a6ff, 0xbc_8cff, 0x39_c5cf, 0xb1_bac4,
                0x6e_7681, 0xff_a198, 0x56_d364, 0xe3_b341, 0x79_c0ff, 0xd2_a8ff, 0x56_d4dd, 0xff_ffff,
            ],
        },
    ];

    fn color(&self, color: Color, default: u32) -> u32 {
        match color {
            Color::Default => default,
            Color::Rgb(r, g, b) => u32::from_be_bytes([0, r, g, b]),
            Color::Idx(index) => match usize::from(index) {
                basic @ 0..16 => self.colors[basic],
                // xterm's cube of six steps a colour, then its greys.
                cube @ 16..232 => {
                    let step = |of: usize| [0, 95, 135, 175, 215, 255][(cube - 16) / of % 6];
                    u32::from_be_bytes([0, step(36), step(6), step(1)])
                }
                grey => 0x01_0101 * (8 + 10 * (grey as u32 - 232)),
            },
        }
    }
}

/// How a word is drawn.
#[derive(Clone, Copy, PartialEq)]
struct Manner {
    ink: u32,
    paper: u32,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
}

impl Manner {
    fn of(cell: &Cell, theme: &Theme) -> Manner {
        let mut ink = theme.color(cell.fgcolor(), theme.ink);
        let mut paper = theme.color(cell.bgcolor(), theme.paper);
        if cell.inverse() {
            std::mem::swap(&mut ink, &mut paper);
        }
        let (bold, dim) = (cell.bold(), cell.dim());
        Manner { ink, paper, bold, dim, italic: cell.italic(), underline: cell.underline() }
    }
}

/// Draws a terminal of this size on which this was written, in light and dark.
pub(super) fn save(name: &str, bytes: &[u8], rows: u16, columns: u16) -> Result<()> {
    let terminal = terminal(bytes, rows, columns);
    for theme in Theme::ALL {
        let path = format!("{PLACE}/{name}-{}.svg", theme.name);
        let text = draw(terminal.screen(), theme);
        if let Some(told) = lacking(&text) {
            return Err(format!("{path}: {told}"));
        }
        write(workspace().join(&path), &text)?;
        println!("{path}: {} bytes", text.len());
    }
    Ok(())
}

/// A terminal of this size on which this was written.
fn terminal(bytes: &[u8], rows: u16, columns: u16) -> Parser {
    let at_least_one = |size| NonZero::new(size).unwrap_or(NonZero::<u16>::MIN);
    let mut terminal = Parser::new(at_least_one(rows), at_least_one(columns), 0);
    terminal.process(bytes);
    terminal
}

/// The whole screen, as far down as something is on it.
fn draw(screen: &Screen, theme: &Theme) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let is_blank = |row: &u16| screen.contents_between(*row, 0, *row, columns).trim().is_empty();
    let rows = (0..rows).rev().find(|row| !is_blank(row)).map_or(1, |last| last + 1);
    let width = f32::from(columns) * WIDTH + 2.0 * MARGIN;
    let height = f32::from(rows) * HEIGHT + 2.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"{FONTS}\" font-size=\"14\">\n\
         <rect x=\".5\" y=\".5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"8\" fill=\"#{:06x}\" stroke=\"#{:06x}\"/>\n",
        width - 1.0,
        height - 1.0,
        theme.paper,
        theme.border
    );
    for row in 0..rows {
        let mut at = 0;
        while at < columns {
            at = word(&mut out, screen, (row, at), theme);
        }
    }
    out + "</svg>\n"
}

/// Draws the text of equal style from this cell on, up to a blank, a wide character or an icon. Returns the next
/// column.
fn word(out: &mut String, screen: &Screen, (row, start): (u16, u16), theme: &Theme) -> u16 {
    let cell = |at: u16| screen.cell(row, at);
    let Some(first) = cell(start) else { return start + 1 };
    let manner = Manner::of(first, theme);
    let mut text = String::from(first.contents());
    let mut end = start + 1 + u16::from(first.is_wide());
    let alone = |cell: &Cell| cell.is_wide() || cell.contents().chars().any(is_icon);
    let blank = |cell: &Cell| cell.contents().trim().is_empty();
    if !alone(first) && !blank(first) {
        while let Some(next) = cell(end)
            && !alone(next)
            && !blank(next)
            && Manner::of(next, theme) == manner
        {
            text += next.contents();
            end += 1;
        }
    }
    let (x, y) = (MARGIN + f32::from(start) * WIDTH, MARGIN + f32::from(row) * HEIGHT);
    let width = f32::from(end - start) * WIDTH;
    // Writing to a String cannot fail.
    if manner.paper != theme.paper {
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" fill=\"#{:06x}\"/>",
            manner.paper
        );
    }
    if let Some(path) = text.chars().next().filter(|char| is_icon(*char)).and_then(outline) {
        icon(out, path, (x, y), manner);
    } else if !text.trim().is_empty() {
        let _ = write!(out, "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"#{:06x}\"", y + BASELINE, manner.ink);
        if !alone(first) {
            let _ = write!(out, " textLength=\"{width:.1}\"");
        }
        let attributes = [
            (manner.bold, " font-weight=\"bold\""),
            (manner.dim, " opacity=\".6\""),
            (manner.italic, " font-style=\"italic\""),
            (manner.underline, " text-decoration=\"underline\""),
        ];
        attributes.iter().filter(|(has, _)| *has).for_each(|(_, attribute)| *out += attribute);
        let _ = writeln!(out, ">{}</text>", escaped(&text));
    }
    end
}

/// Draws an icon by its outline, in its cell and half of the next.
fn icon(out: &mut String, path: &str, (x, y): (f32, f32), manner: Manner) {
    let (x, y) = (x + 0.9 * WIDTH - 500.0 * ICON, y + BASELINE);
    let _ = writeln!(
        out,
        "<path transform=\"translate({x:.1} {y:.1})scale({ICON})\" fill=\"#{:06x}\" d=\"{path}\"/>",
        manner.ink
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(bytes: &str, theme: &Theme) -> Vec<String> {
        let terminal = terminal(bytes.as_bytes(), 5, 40);
        draw(terminal.screen(), theme).lines().skip(2).map(String::from).collect()
    }

    #[test]
    fn colours_stay() {
        let [light, dark] = Theme::ALL else { panic!("two themes") };
        let line = |theme| drawn("\x1b[01;34mdir\x1b[0m", theme).remove(0);
        let expected = "<text x=\"16.0\" y=\"30.0\" fill=\"#0969da\" textLength=\"25.2\" font-weight=\"bold\">dir</text>";
        assert_eq!(line(light), expected);
        assert!(line(dark).contains("fill=\"#58a6ff\""));
        let colors = drawn("\x1b[38;5;208ma\x1b[38;2;1;2;3mb\x1b[38;5;244mc\x1b[m", dark).join("");
        for color in [
            "#ff8700\" textLength=\"8.4\">a",
            "#010203\" textLength=\"8.4\">b",
            "#808080\" textLength=\"8.4\">c",
        ] {
            assert!(colors.contains(color), "{color} is not in {colors}");
        }
        let paper = drawn("\x1b[30;42mx\x1b[m \x1b[7my", light).join("");
        assert!(paper.contains("fill=\"#116329\"/><text x=\"16.0\" y=\"30.0\" fill=\"#24292f\""), "{paper}");
        assert!(paper.contains("fill=\"#24292f\"/><text x=\"32.8\" y=\"30.0\" fill=\"#ffffff\""), "{paper}");
    }

    #[test]
    fn columns_stay() {
        let words = drawn("a  bc\r\n日本x \u{f8ff} <&>", &Theme::ALL[0]);
        let places: Vec<(&str, &str)> = words
            .iter()
            .filter_map(|word| {
                let x = word.split("x=\"").nth(1)?.split('"').next()?;
                let text = word.split('>').nth(1)?.split("</").next()?;
                Some((x, text))
            })
            .collect();
        let expected = [
            ("16.0", "a"),
            ("41.2", "bc"),
            ("16.0", "日"),
            ("32.8", "本"),
            ("49.6", "x"),
            ("66.4", "\u{f8ff}"),
            ("83.2", "&lt;&amp;&gt;"),
        ];
        assert_eq!(places, expected);
        assert!(words[3].contains("y=\"49.0\""), "the second line: {}", words[3]);
    }

    #[test]
    fn an_icon_is_an_outline() {
        let [icon, name] = &drawn("\x1b[34m\u{f024b} x\x1b[m", &Theme::ALL[0])[..2] else {
            panic!("two words")
        };
        let placed = "<path transform=\"translate(16.3 30.0)scale(0.0145)\" fill=\"#0969da\" d=\"M";
        assert!(icon.starts_with(placed), "{icon}");
        assert!(name.starts_with("<text x=\"32.8\""), "{name}");
    }

    #[test]
    fn nothing_is_drawn_for_nothing() {
        assert_eq!(drawn("", &Theme::ALL[1]), ["</svg>"]);
    }
}
