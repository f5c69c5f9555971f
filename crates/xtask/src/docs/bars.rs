//! The picture of docs/PYTHON.md, drawn from the rows of its table: two bars each, ours and the peer's.

use crate::bars::{Row, svg};

const PAGE: &str = include_str!("../../../../docs/PYTHON.md");
const FILE: &str = "docs/pictures/python.svg";

/// The rows whose second and third cells are `NAME: N ms`.
fn rows(page: &str) -> Vec<Row> {
    let bar = |cell: &str| {
        let (name, time) = cell.rsplit_once(": ")?;
        let ms: f64 = time.strip_suffix(" ms")?.replace(',', "").parse().ok()?;
        Some((format!("{}: {ms} ms", name.replace('`', "")), ms))
    };
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [work, ours, peer, _] = cells[..] else { return None };
        Some(Row { work: work.replace('`', ""), bars: vec![bar(ours)?, bar(peer)?] })
    };
    page.lines().filter(|line| line.starts_with("| ")).filter_map(row).collect()
}

#[test]
fn the_picture_is_up_to_date() {
    let rows = rows(PAGE);
    assert!(rows.len() >= 4, "{} rows", rows.len());
    super::files::compare(&[(FILE, svg(&rows))], "the table of docs/PYTHON.md");
    assert!(PAGE.contains("](pictures/python.svg)"), "the page does not show the picture");
}
