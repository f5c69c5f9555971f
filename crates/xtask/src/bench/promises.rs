//! The figures that the project promises, beside those that were measured.

use super::directories::Shape;
use super::job::Job;
use super::programs::{GNU, WITH_LISTXATTRAT};
use super::results::{Key, Results};

/// One promise.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    /// The two figures that are compared.
    pub(crate) what: String,
    /// On which file system.
    pub(crate) fs: String,
    /// The largest ratio that keeps the promise.
    pub(crate) target: f64,
    /// The measured ratio; `None` if that was not part of this run.
    pub(crate) figure: Option<f64>,
}

impl Row {
    /// `PASS`, `short` by how much, or not measured.
    pub(crate) fn verdict(&self) -> String {
        match self.figure {
            None => "not measured".into(),
            Some(figure) if figure <= self.target => "PASS".into(),
            Some(figure) => format!("short by {:.1} %", (figure / self.target - 1.0) * 100.0),
        }
    }
}

const AUTO: &str = "dls auto";

/// For `-al` at a count: × the empty process, × the floor, × GNU, and calls with `--mode=iou`.
type Limits = (usize, Option<f64>, Option<f64>, Option<f64>, Option<f64>);

const LONG: &[Limits] = &[
    (10, Some(1.6), None, Some(0.17), Some(20.0)),
    (100, Some(3.0), None, Some(0.25), Some(20.0)),
    (1000, None, Some(1.4), Some(0.40), Some(26.0)),
    (10_000, None, Some(1.3), Some(0.42), Some(45.0)),
    (100_000, None, Some(1.2), Some(0.38), Some(220.0)),
    (1_000_000, None, Some(1.2), Some(0.35), None),
];

/// Other listings × GNU.
const OTHERS: &[(Shape, Job, usize, f64)] = &[
    (Shape::Plain, Job::Names, 1_000_000, 0.35),
    (Shape::Plain, Job::Unsorted, 100_000, 0.8),
    (Shape::Plain, Job::Unsorted, 1_000_000, 0.8),
    (Shape::Mix, Job::Time, 100_000, 0.35),
    (Shape::Mix, Job::Size, 100_000, 0.35),
    (Shape::Mix, Job::Version, 100_000, 0.35),
    (Shape::Tree, Job::Recursive, 100_000, 0.35),
    (Shape::Plain, Job::Locale, 100_000, 0.35),
];

/// Without `listxattrat`: at so many files, × the time with it, × GNU under the same refusal.
const OLDER: (usize, f64, f64) = (10_000, 1.15, 0.5);

/// Peak memory at a million files, in MiB.
const MEMORY: &[(Job, f64)] = &[(Job::Long, 150.0), (Job::Names, 60.0), (Job::Unsorted, 4.0)];

/// The largest ratio that counts as equal (ten million names against one million): two runs of the same command differ
/// by that.
const EQUAL: f64 = 1.05;

/// All promises for the file systems that were measured.
pub(crate) fn rows(results: &Results) -> Vec<Row> {
    results.systems().iter().flat_map(|fs| rows_of(results, fs)).collect()
}

fn rows_of(results: &Results, fs: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |what: String, target, figure| rows.push(Row { what, fs: fs.into(), target, figure });
    for (count, empty, floor, gnu, calls) in LONG {
        let key = Key::warm(fs, Shape::Plain, *count, Job::Long);
        for (target, base) in [(empty, "empty process"), (floor, "floor"), (gnu, GNU)] {
            if let Some(target) = target {
                add(format!("-al, {count}, × {base}"), *target, results.times.ratio(&key, AUTO, base));
            }
        }
        let traced = results.calls.keys(|key| key.fs == fs).is_empty();
        if let Some(calls) = calls.filter(|_| !traced) {
            let figure = results.calls.get(&key, "dls iou");
            add(format!("-al, {count}, system calls with --mode=iou"), calls, figure);
        }
    }
    for (shape, job, count, target) in OTHERS {
        let key = Key::warm(fs, *shape, *count, *job);
        let what = format!("{}, {count} ({}), × {GNU}", job.name(), shape.name());
        add(what, *target, results.times.ratio(&key, AUTO, GNU));
    }
    let older = Key::warm(fs, Shape::Plain, OLDER.0, Job::Older);
    for (target, base) in [(OLDER.1, WITH_LISTXATTRAT), (OLDER.2, GNU)] {
        let what = format!("{}, {}, × {base}", Job::Older.name(), OLDER.0);
        add(what, target, results.times.ratio(&older, AUTO, base));
    }
    for (job, target) in MEMORY {
        let key = Key::warm(fs, Shape::Plain, 1_000_000, *job);
        let figure = results.memory.get(&key, AUTO).map(|kib| kib / 1024.0);
        add(format!("{}, 1000000, MiB at most", job.name()), *target, figure);
    }
    let key = |count| Key::warm(fs, Shape::Plain, count, Job::Unsorted);
    let (one, ten) = (key(1_000_000), key(10_000_000));
    let grown = |figures: &super::results::Figures| Some(figures.get(&ten, AUTO)? / figures.get(&one, AUTO)?);
    let rate = grown(&results.times).map(|grown| grown / 10.0);
    add("-U1, 10000000: time an entry, × that at 1000000".into(), EQUAL, rate);
    add("-U1, 10000000: memory, × that at 1000000".into(), EQUAL, grown(&results.memory));
    rows
}

/// As Markdown.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::from("| must show | on | target | measured | |\n|---|---|--:|--:|---|\n");
    for row in rows {
        let digits = if row.target >= 4.0 { 0 } else { 2 };
        let figure = row.figure.map_or("–".into(), |figure| format!("{figure:.digits$}"));
        let (what, fs, target) = (&row.what, &row.fs, format!("{:.digits$}", row.target));
        text += &format!("| {what} | {fs} | ≤ {target} | {figure} | {} |\n", row.verdict());
    }
    let passed = rows.iter().filter(|row| row.verdict() == "PASS").count();
    let measured = rows.iter().filter(|row| row.figure.is_some()).count();
    text + &format!(
        "\n{passed} of {measured} measured promises are kept; {} were not measured.\n",
        rows.len() - measured
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let mut results = Results::default();
        let key = Key::warm("ext4", Shape::Plain, 10, Job::Long);
        for (program, seconds) in [("empty process", 100e-6), (AUTO, 150e-6), (GNU, 600e-6)] {
            results.times.add(&key, program, seconds);
        }
        results.calls.add(&key, "dls iou", 20.0);
        let unsorted = |count| Key::warm("ext4", Shape::Plain, count, Job::Unsorted);
        for (count, seconds, kib) in [(1_000_000, 0.2, 600.0), (10_000_000, 2.4, 610.0)] {
            results.times.add(&unsorted(count), AUTO, seconds);
            results.memory.add(&unsorted(count), AUTO, kib);
        }
        results
    }

    #[test]
    fn promises_are_kept_short_or_not_measured() {
        let rows = rows(&results());
        let verdict = |what: &str| rows.iter().find(|row| row.what.contains(what)).expect("a row").verdict();
        assert_eq!(verdict("-al, 10, × empty"), "PASS");
        assert_eq!(verdict("-al, 10, × GNU"), "short by 47.1 %");
        assert_eq!(verdict("-al, 10, system calls"), "PASS");
        assert_eq!(verdict("-al, 100, × GNU"), "not measured");
        assert_eq!(verdict("-U1, 1000000, MiB"), "PASS");
        assert_eq!(verdict("time an entry"), "short by 14.3 %");
        assert_eq!(verdict("memory, ×"), "PASS");
    }

    #[test]
    fn the_table_has_every_row_and_a_sum() {
        let rows = rows(&results());
        let table = table(&rows);
        assert_eq!(
            table.lines().filter(|line| line.starts_with("| -") || line.starts_with("| LC")).count(),
            rows.len()
        );
        assert!(table.contains("4 of 6 measured promises"), "{table}");
    }
}
