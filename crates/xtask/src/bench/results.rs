//! `bench/results.tsv`: the figures of one run. A line is the title of a case, a command, its figure and the unit; lines with `#`
//! say how they were measured.

use super::cases::{Case, Figure};
use crate::step::{Result, read, workspace};

/// Where the results are.
pub(super) const RESULTS: &str = "bench/results.tsv";

/// The figures of a run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Results {
    /// Sentences about the build, the day and the machine.
    pub(crate) notes: Vec<String>,
    /// Title, command, figure, unit.
    pub(crate) rows: Vec<(String, String, f64, String)>,
}

impl Figure {
    fn unit(self) -> &'static str {
        match self {
            Figure::Warm | Figure::Cold => "ms",
            Figure::Memory => "MiB",
            Figure::Calls => "calls",
        }
    }
}

impl Results {
    /// Those that are committed.
    pub(crate) fn saved() -> Result<Results> {
        Results::parse(&read(workspace().join(RESULTS))?)
            .ok_or_else(|| format!("{RESULTS}: no results; `cargo xtask bench` writes them"))
    }

    pub(crate) fn add(&mut self, case: &Case, figures: Vec<(&str, f64)>) {
        let unit = case.figure.unit();
        self.rows.extend(
            figures
                .into_iter()
                .map(|(command, figure)| (case.title.into(), command.into(), figure, unit.into())),
        );
    }

    /// The figures of a case, in the order of its commands.
    pub(crate) fn of(&self, title: &str) -> Vec<(&str, f64, &str)> {
        let rows = self.rows.iter().filter(|row| row.0 == title);
        rows.map(|(_, command, figure, unit)| (command.as_str(), *figure, unit.as_str())).collect()
    }

    /// The figure of the first command over that of the second.
    pub(crate) fn ratio(&self, case: &Case) -> Option<f64> {
        let [(first, ours, _), (second, theirs, _), ..] = self.of(case.title)[..] else { return None };
        (first == case.commands[0] && second == case.commands[1]).then_some(ours / theirs)
    }

    pub(crate) fn text(&self) -> String {
        let notes = self.notes.iter().map(|note| format!("# {note}\n"));
        // Four digits are more than any figure has.
        let rows = self.rows.iter().map(|(title, command, figure, unit)| {
            let digits = (3.0 - figure.log10().floor()).max(0.0) as usize;
            format!("{title}\t{command}\t{figure:.digits$}\t{unit}\n")
        });
        notes.chain(rows).collect()
    }

    fn parse(text: &str) -> Option<Results> {
        let mut results = Results::default();
        for line in text.lines() {
            if let Some(note) = line.strip_prefix("# ") {
                results.notes.push(note.into());
                continue;
            }
            let [title, command, figure, unit] = line.split('\t').collect::<Vec<_>>()[..] else {
                return None;
            };
            results.rows.push((title.into(), command.into(), figure.parse().ok()?, unit.into()));
        }
        Some(results)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::CASES;
    use super::*;

    #[test]
    fn results_survive_their_file() {
        let text = "# Build x.\n`-al`\tdls -al\t0.2540\tms\n`-al`\tls -al\t5736\tms\n";
        let results = Results::parse(text).expect("results");
        assert_eq!(results.text(), text);
        assert_eq!(results.of("`-al`"), [("dls -al", 0.254, "ms"), ("ls -al", 5736.0, "ms")]);
        assert_eq!(Results::parse("a\tb\tc\td\n"), None);
        assert_eq!(Results::parse("a\tb\t1\n"), None);
    }

    #[test]
    fn every_saved_figure_belongs_to_a_case() {
        let results = Results::saved().expect("they are committed");
        assert!(results.notes.first().is_some_and(|note| note.starts_with("Build ")), "{:?}", results.notes);
        for (title, command, _, unit) in &results.rows {
            let case = CASES.iter().find(|case| case.title == title);
            let case = case.unwrap_or_else(|| panic!("{RESULTS} has {title}, which is no case"));
            assert!(
                case.commands.contains(&command.as_str()) && case.figure.unit() == unit,
                "{title}: {command}"
            );
        }
    }
}
