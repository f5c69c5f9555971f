//! The tables of the documents, and the picture, from the results: a document cannot disagree with them.

use super::cases::{CASES, PICTURE, README};
use super::results::Results;
use crate::bars::{self, Row};
use crate::step::{self, Result, read, workspace};

/// A table stands between these lines.
const BEGIN: &str = "<!-- from bench/results.tsv, by `cargo xtask docs` -->\n";
const END: &str = "<!-- end of the results -->\n";

/// Writes the documents that are made from the results.
pub(crate) fn write() -> Result<()> {
    for (path, text) in documents()? {
        step::write(workspace().join(path), text)?;
        println!("   {path}");
    }
    Ok(())
}

/// Each document, and its text.
fn documents() -> Result<Vec<(&'static str, String)>> {
    let results = Results::saved()?;
    let page = |path: &'static str, table: String| {
        let page = between(&read(workspace().join(path))?, &table);
        page.map(|page| (path, page)).ok_or_else(|| format!("{path} has no place for the table: {BEGIN}"))
    };
    Ok(vec![
        page("PERFORMANCE.md", all(&results))?,
        page("README.md", short(&results))?,
        ("bench/time.svg", picture(&results)),
    ])
}

/// The page with another table.
fn between(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{table}{END}{after}"))
}

/// All cases that have results, and what was measured where.
fn all(results: &Results) -> String {
    let mut table = String::from("| | `dls` | other programs | ratio |\n|---|--:|---|--:|\n");
    for case in CASES {
        let figures = results.of(case.title);
        let (Some(ratio), [(first, ours, unit), others @ ..]) = (results.ratio(case), &figures[..]) else {
            continue;
        };
        let others = others
            .iter()
            .map(|(command, value, unit)| format!("{} {}", name(command, first), figure(*value, unit)));
        let others = others.collect::<Vec<_>>().join(", ");
        table += &format!("| {} | {} | {others} | {ratio:.2} |\n", case.title, figure(*ours, unit));
    }
    results.notes.iter().fold(table, |text, note| text + "\n" + note + "\n")
}

/// The cases of the README, beside GNU `ls`, and eza where it was measured.
fn short(results: &Results) -> String {
    let mut table = String::from("| | `dls` | GNU `ls` | eza | `dls` / `ls` |\n|---|--:|--:|--:|--:|\n");
    for title in README {
        let figures = results.of(title);
        let of =
            |program: &str| figures.iter().find(|(command, ..)| command.split(' ').next() == Some(program));
        if let (Some((_, ours, unit)), Some((_, theirs, _))) = (of("dls"), of("ls")) {
            let eza = of("eza").map_or_else(String::new, |(_, value, unit)| figure(*value, unit));
            table += &format!(
                "| {title} | {} | {} | {eza} | {:.2} |\n",
                figure(*ours, unit),
                figure(*theirs, unit),
                ours / theirs
            );
        }
    }
    table
}

/// The times of the listers, without those of the yardsticks.
fn picture(results: &Results) -> String {
    let row = |title: &&str| {
        let listers = results.of(title).into_iter().filter(|(command, ..)| command.contains(' '));
        let bar = |(command, value, unit): (&str, f64, &str)| {
            (format!("{}: {}", name(command, command).replace('`', ""), figure(value, unit)), value)
        };
        Row { work: title.replace('`', ""), bars: listers.map(bar).collect() }
    };
    bars::svg(&PICTURE.iter().map(row).collect::<Vec<_>>())
}

/// A command in a table: its program, and the words that the `first` command does not have.
fn name(command: &str, first: &str) -> String {
    let mut words = command.split(' ');
    let program = words.next().unwrap_or_default();
    let own: Vec<&str> = words.filter(|word| !first.split(' ').any(|other| other == *word)).collect();
    match (program, own.is_empty()) {
        ("ls", true) => "GNU `ls`".into(),
        ("empty", _) => "an empty process".into(),
        ("floor", _) => "the floor".into(),
        (_, true) => program.into(),
        _ => format!("`{program} {}`", own.join(" ")),
    }
}

/// Three digits and a unit.
fn figure(value: f64, unit: &str) -> String {
    match unit {
        "calls" if value >= 1000.0 => format!("{},{:03}", value as u64 / 1000, value as u64 % 1000),
        "calls" => format!("{value:.0}"),
        "ms" if value >= 1000.0 => figure(value / 1e3, "s"),
        "MiB" => format!("{value:.*} MiB", usize::from(value < 10.0)),
        _ => format!("{value:.*} {unit}", (2.0 - value.log10().floor()).clamp(0.0, 3.0) as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_the_figures_of_the_results() {
        for (path, text) in documents().expect("the documents have their places") {
            let found = read(workspace().join(path)).unwrap_or_default();
            assert!(found == text, "{path} has other figures than bench/results.tsv: run `cargo xtask docs`");
        }
        for title in README.iter().chain(PICTURE) {
            assert!(CASES.iter().any(|case| case.title == *title), "{title} is no case");
        }
    }

    #[test]
    fn figures_have_three_digits() {
        let ms = [0.1634, 1.4912, 36.44, 392.3, 5736.0].map(|value| figure(value, "ms"));
        assert_eq!(ms, ["0.163 ms", "1.49 ms", "36.4 ms", "392 ms", "5.74 s"]);
        assert_eq!([43.0, 30_264.0].map(|value| figure(value, "calls")), ["43", "30,264"]);
    }

    #[test]
    fn programs_have_names() {
        let names =
            ["ls -al", "eza -al", "dls --mode=iou -al", "du -sb"].map(|command| name(command, "dls -al"));
        assert_eq!(names, ["GNU `ls`", "eza", "`dls --mode=iou`", "`du -sb`"]);
        assert_eq!(between(&format!("a\n{BEGIN}old{END}b"), "new\n"), Some(format!("a\n{BEGIN}new\n{END}b")));
    }
}
