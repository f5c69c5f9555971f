//! The rows of `table.toml`, which explains how they are written.

use toml::{Table, Value};

use super::PROGRAMS;

const TABLE: &str = include_str!("table.toml");

/// One thing that people want of a listing.
pub(super) struct Row {
    pub(super) what: String,
    pub(super) want: Want,
    /// In the order of `PROGRAMS`.
    pub(super) cells: Vec<Cell>,
}

/// How a cell is determined.
#[derive(Clone)]
pub(super) enum Cell {
    /// By running it with these arguments; words `NAME=value` before them go into its environment.
    Run(Vec<String>),
    /// No option to try is known; none of these words is in its help.
    Lacks(Vec<String>),
    /// It is not on this machine, or no single command can show it.
    Told(String),
}

/// A condition on an output.
pub(super) struct Want(Vec<String>);

impl Want {
    /// Words as in `table.toml`.
    #[cfg(test)]
    pub(super) fn new(words: &[&str]) -> Want {
        Want(words.iter().map(|word| word.to_string()).collect())
    }

    fn words(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }

    pub(super) fn needs_terminal(&self) -> bool {
        matches!(self.words()[..], ["harmless" | "plain"])
    }

    /// Whether a number is wanted, of system calls.
    pub(super) fn is_count(&self) -> bool {
        self.words() == ["calls"]
    }

    pub(super) fn is_met(&self, text: &str, gnu: impl Fn() -> Option<String>) -> bool {
        match self.words()[..] {
            ["ok"] => true,
            ["same-as-gnu"] => gnu().is_some_and(|theirs| theirs == text),
            ["any", ref needles @ ..] => needles.iter().any(|needle| text.contains(needle)),
            ["but", has, lacks] => text.contains(has) && !text.contains(lacks),
            ["order", first, second] => {
                matches!((text.find(first), text.find(second)), (Some(one), Some(other)) if one < other)
            }
            ["icon"] => text.chars().any(|c| matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)),
            ["json"] => serde_json::from_str::<serde_json::Value>(text).is_ok() && text.contains("\"f2\""),
            ["harmless"] => text.contains("owned") && !text.contains("\x1b]0;owned"),
            ["plain"] => text.contains("f10") && !text.contains("\x1b["),
            ref other => panic!("table.toml: {other:?} is nothing that can be wanted"),
        }
    }
}

/// All of it.
pub(super) fn rows() -> Vec<Row> {
    let table: Table = TABLE.parse().unwrap_or_else(|error| panic!("table.toml: {error}"));
    table["row"].as_array().expect("rows").iter().map(row).collect()
}

fn row(row: &Value) -> Row {
    let row = row.as_table().expect("a row is a table");
    let what = row["what"].as_str().expect("what is wanted").to_string();
    let ours = cell(&row["dls"]);
    let default = |file: &str| match file {
        "ls" | "eza" | "lsd" | "uu_ls" => ours.clone(),
        "lsr" => Cell::Told("no".to_string()),
        _ => panic!("table.toml: {what:?} says nothing of {file}"),
    };
    let cell = |program: &super::Program| row.get(program.file).map_or_else(|| default(program.file), cell);
    Row { want: Want(strings(&row["want"])), cells: PROGRAMS.iter().map(cell).collect(), what }
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::String(text) => Cell::Told(text.clone()),
        Value::Table(table) => Cell::Lacks(strings(&table["lacks"])),
        words => Cell::Run(strings(words)),
    }
}

/// The strings of an array; a string alone is one.
fn strings(value: &Value) -> Vec<String> {
    let alone = std::slice::from_ref(value);
    let all = value.as_array().map_or(alone, Vec::as_slice);
    all.iter().map(|one| one.as_str().expect("a string").to_string()).collect()
}
