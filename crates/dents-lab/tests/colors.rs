//! LS_COLORS: every key, every notation, invalid values; and when there is colour.

use dents_lab::case::Case;
use dents_lab::palette::{BAD, EVERY_KEY, ODD, full};
use dents_lab::suite::{Places, checked, expect_same, oracle};

/// The formats that place colours differently.
const FORMATS: &[&str] = &["-l", "-C", "-xF", "-m", "-1 --zero", "-ld", "-1p"];

fn with_colors(cases: &[Case], colors: &str) -> Vec<Case> {
    cases.iter().map(|case| case.clone().options("--color=always").env("LS_COLORS", colors)).collect()
}

fn zoo_in_formats(places: &Places) -> Vec<Case> {
    let zoo = Case::new(places.zoo.path()).options("-a");
    let formatted = FORMATS.iter().map(|format| zoo.clone().options(format));
    let operands =
        zoo.clone().operands(["extensions", "link-dangling", "missing", "size1", "link-dir/", "mode4755"]);
    formatted.chain([operands.clone(), operands.options("-lR")]).collect()
}

#[test]
fn every_key_by_itself() {
    let places = Places::new();
    let cases = zoo_in_formats(&places);
    let keys = "no fi rs di ln mh pi so do bd cd or mi su sg ca tw ow st ex lc rc ec cl".split(' ');
    let values = ["4", "00", "0", "", "01;38;5;208"];
    let mut all = Vec::new();
    for (n, key) in keys.enumerate() {
        for (m, value) in values.iter().enumerate() {
            // Debian builds its `ls` without libcap: it never shows `ca`. `tests/reference.rs` tests that key.
            if key == "ca" && value.contains(['1', '4']) {
                continue;
            }
            // Every key meets every value; the formats take turns.
            let some = [&cases[(n + m) % cases.len()], &cases[(n + m + 3) % cases.len()]];
            all.extend(with_colors(&some.map(Case::clone), &format!("{key}={value}")));
        }
    }
    expect_same(&oracle(), &checked(), &all);
}

#[test]
fn every_key_at_once_and_every_oddity() {
    let places = Places::new();
    let cases = zoo_in_formats(&places);
    let mut all = Vec::new();
    for colors in ODD.iter().copied().chain([EVERY_KEY, full().as_str()]) {
        all.extend(with_colors(&cases, colors));
    }
    expect_same(&oracle(), &checked(), &all);
}

#[test]
fn bad_values_warn_and_list_without_colour() {
    let places = Places::new();
    let zoo = Case::new(places.zoo.path());
    let cases = [zoo.clone().options("-l"), zoo.operands(["extensions", "dir-nlink"])];
    let all: Vec<Case> = BAD.iter().flat_map(|colors| with_colors(&cases, colors)).collect();
    expect_same(&oracle(), &checked(), &all);
}

/// `\e \033 \x1b ^[ \_ \? …` inside values, brackets and suffixes.
#[test]
fn escapes() {
    let places = Places::new();
    let case = Case::new(places.zoo.path()).operands(["extensions", "dir-nlink", "mode0755"]);
    let escapes = [
        "\\e", "\\033", "\\33", "\\3", "\\x1b", "\\x1B", "\\x1", "^[", "^?", "^@", "^a", "^~", "\\a", "\\b",
        "\\f", "\\n", "\\r", "\\t", "\\v", "\\?", "\\_", "\\\\", "\\^", "\\:", "\\=", "\\0", "\\777",
        "\\xfff", "\\8", "^", "^1", "^ ", "\\é", "é",
    ];
    let mut all = Vec::new();
    for escape in escapes {
        for colors in
            [format!("di={escape}1"), format!("lc={escape}:ex={escape}"), format!("*{escape}=1:*.gz=2")]
        {
            all.extend(with_colors(std::slice::from_ref(&case), &colors));
        }
    }
    expect_same(&oracle(), &checked(), &all);
}

/// Suffixes: the last that matches wins, whole names count, letters match in either case.
#[test]
fn suffixes() {
    let places = Places::new();
    let case = Case::new(places.zoo.path()).operands(["extensions", "versions"]).options("-a");
    let values = [
        "*.gz=1:*.tar.gz=2",
        "*.tar.gz=2:*.gz=1",
        "*.GZ=1",
        "*.c=1:*.C=1",
        "*readme=1",
        "*MAKEFILE=1",
        "*=1",
        "*.=1",
        "*é=1",
        "*.é=1:*.É=1",
        "*.7z=1:*7z=2",
        "*.gz=00:fi=31",
        "*.gz=:fi=31",
        "*.rs=1:ex=2",
        "*\\.gz=1",
        "*\\x2egz=1",
        "*.g*z=1",
        "*.gz=1:*.gz=2:*.gz=3",
    ];
    let all: Vec<Case> =
        values.iter().flat_map(|colors| with_colors(std::slice::from_ref(&case), colors)).collect();
    expect_same(&oracle(), &checked(), &all);
}

/// Without LS_COLORS, the terminal's kind decides; with it, it does not.
#[test]
fn terminals() {
    let places = Places::new();
    let zoo = Case::new(places.zoo.path()).options("--color=always");
    let mut all = Vec::new();
    for term in
        ["", "dumb", "xterm", "xterm-256color", "linux", "vt100", "unknown", "screen.xterm", "putty-256color"]
    {
        for color_term in [None, Some(""), Some("truecolor")] {
            let case = zoo.clone().env("TERM", term);
            let case = color_term.iter().fold(case, |case, value| case.env("COLORTERM", value));
            all.extend([case.clone(), case.clone().env("LS_COLORS", "di=4"), case.env("LS_COLORS", "")]);
        }
    }
    expect_same(&oracle(), &checked(), &all);
}
