//! The picture of docs/PYTHON.md, drawn from the rows of its table: two bars each, ours and the peer's.
//!
//! A picture that is made from the table cannot disagree with it.

use std::fs;

use plotters::prelude::*;

use super::WRITE;
use crate::bench::plot::{FAINT, INK, OURS, PAPER};
use crate::step::workspace;

const PAGE: &str = include_str!("../../../../docs/PYTHON.md");
const FILE: &str = "docs/pictures/python.svg";

const WIDTH: i32 = 860;
/// Of a row: its title, two bars, and a gap.
const ROW: i32 = 74;
const BAR: i32 = 20;
/// Room for the texts beside the longest bar.
const BESIDE: i32 = 300;

/// The same colours for a dark page.
const DARK: &str = "<style>@media(prefers-color-scheme:dark){[fill=\"#FFFFFF\"]{fill:#0d1117}[fill=\"#1F2328\"]{fill:#e6edf3}\
                    [fill=\"#D8DEE4\"]{fill:#30363d}[fill=\"#0969DA\"]{fill:#58a6ff}}</style>";

/// A row of the table: what was done, and two programs with their milliseconds.
struct Row {
    work: String,
    ours: (String, f64),
    peer: (String, f64),
}

/// The rows whose second and third cells are `NAME: N ms`.
fn rows(page: &str) -> Vec<Row> {
    let bar = |cell: &str| {
        let (name, time) = cell.rsplit_once(": ")?;
        let ms = time.strip_suffix(" ms")?.replace(',', "").parse().ok()?;
        Some((name.replace('`', ""), ms))
    };
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [work, ours, peer, _] = cells[..] else { return None };
        Some(Row { work: work.replace('`', ""), ours: bar(ours)?, peer: bar(peer)? })
    };
    page.lines().filter(|line| line.starts_with("| ")).filter_map(row).collect()
}

/// The picture. The longer bar of each row has the same length, as the rows have different work.
fn svg(rows: &[Row]) -> Result<String, Box<dyn std::error::Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH as u32, ROW as u32 * rows.len() as u32 + 8))
            .into_drawing_area();
        root.fill(&PAPER)?;
        let font = ("system-ui,sans-serif", 15).into_font().color(&INK);
        for (row, top) in rows.iter().zip((8..).step_by(ROW as usize)) {
            root.draw(&Text::new(row.work.clone(), (8, top), font.clone()))?;
            let longest = row.ours.1.max(row.peer.1);
            for ((name, ms), color, top) in [(&row.ours, OURS, top + 20), (&row.peer, FAINT, top + 22 + BAR)]
            {
                let length = (f64::from(WIDTH - BESIDE) * ms / longest) as i32;
                root.draw(&Rectangle::new([(8, top), (8 + length.max(2), top + BAR - 2)], color.filled()))?;
                root.draw(&Text::new(format!("{name}: {ms} ms"), (16 + length, top + 2), font.clone()))?;
            }
        }
        root.present()?;
    }
    let begin = svg.find("<rect").unwrap_or(svg.len());
    svg.insert_str(begin, DARK);
    Ok(svg)
}

#[test]
fn the_picture_is_up_to_date() {
    let rows = rows(PAGE);
    assert!(rows.len() >= 4, "{} rows", rows.len());
    let picture = svg(&rows).expect("a string takes every picture");
    let path = workspace().join(FILE);
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, &picture).expect("a file");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == picture, "{FILE} does not show the table of docs/PYTHON.md: run `cargo xtask docs`");
    assert!(PAGE.contains("](pictures/python.svg)"), "the page does not show the picture");
}

#[test]
fn rows_are_read_and_drawn() {
    let rows = rows("| a | `x.y`: 1,200 ms | `os` with `z`: 2,400 ms | 0.5 |\n| no | row | here | 1 |\n");
    let [row] = &rows[..] else { panic!("{} rows", rows.len()) };
    assert_eq!((row.work.as_str(), row.ours.1, row.peer.0.as_str()), ("a", 1200.0, "os with z"));
    let svg = svg(&rows).expect("a picture");
    for text in ["x.y: 1200 ms", "width=\"280\"", "width=\"560\"", "<style>"] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
}
