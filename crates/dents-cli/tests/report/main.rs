//! `dents report`: the data of the page beside the other commands, and the page in a browser.

mod browser;
mod data;
#[path = "../tools/mod.rs"]
mod tools;

use dents_lab::process::Run;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tools::{stdout, text};

/// Runs `dents report -o page.html` with more words, and returns the page and its data.
fn page(cwd: &Path, words: &str) -> (String, Value) {
    let command = tools::dents(cwd, &format!("report -o page.html {words}"));
    assert_eq!(text(&stdout(&command)), "");
    read(&cwd.join("page.html"))
}

fn read(path: &Path) -> (String, Value) {
    let page = fs::read_to_string(path).expect("a page in UTF-8");
    let (_, data) = page.split_once("id=\"data\">").expect("the data");
    let (data, _) = data.split_once("</script>").expect("the end of the data");
    let data = serde_json::from_str(data).expect("JSON");
    (page, data)
}

/// The words of a command line.
fn run(cwd: &Path, words: &str) -> Run {
    tools::dents(cwd, words)
}
