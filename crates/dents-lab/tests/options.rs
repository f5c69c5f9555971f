//! Every option by itself, on every place, in both charsets and four kinds of colour.

use dents_lab::case::Case;
use dents_lab::palette;
use dents_lab::random::{OPTIONS, Place};
use dents_lab::suite::{Places, checked, expect_same, oracle};

/// `option` on `place` under every combination of charset and colours.
fn combinations(place: &Place, option: &str) -> Vec<Case> {
    let full = palette::full();
    let colors = [None, Some(""), Some(palette::EVERY_KEY), Some(full.as_str())];
    let mut cases = Vec::new();
    for locale in ["C", "C.UTF-8"] {
        for colors in colors {
            let mut case = Case::new(&place.cwd).options(option).env("LC_ALL", locale);
            case.live = place.live;
            case.operands = place.operands.clone();
            if !place.pool.is_empty() {
                case.operands = place.pool.clone();
            }
            if let Some(colors) = colors {
                case = case.options("--color=always");
                case = if colors.is_empty() { case } else { case.env("LS_COLORS", colors) };
            }
            cases.push(case);
        }
    }
    cases
}

fn alone(options: &[&str]) {
    let places = Places::new();
    let mut cases = Vec::new();
    for place in &places.all {
        for option in options.iter().filter(|option| (place.allows)(option)) {
            cases.extend(combinations(place, option));
        }
    }
    expect_same(&oracle(), &checked(), &cases);
}

#[test]
fn no_option() {
    alone(&[""]);
}

#[test]
fn every_short_option_alone() {
    alone(&OPTIONS.iter().copied().filter(|option| option.len() == 2).collect::<Vec<_>>());
}

/// Long spellings and values have the effect of their short forms; shown with the zoo, in one charset each.
#[test]
fn every_long_spelling_alone() {
    let places = Places::new();
    let long = OPTIONS.iter().filter(|option| option.len() > 2);
    let cases = long.enumerate().flat_map(|(n, option)| {
        let locale = ["C", "C.UTF-8"][n % 2];
        let bare = Case::new(places.zoo.path()).env("LC_ALL", locale).options(option);
        [bare.clone().options("-l"), bare.clone().options("-C"), bare]
    });
    expect_same(&oracle(), &checked(), &cases.collect::<Vec<_>>());
}

/// Which of two options that exclude each other wins is a matter of order.
#[test]
fn the_later_of_two_wins() {
    let places = Places::new();
    let groups: &[&[&str]] = &[
        &["-1", "-l", "-C", "-x", "-m", "-g", "-o", "-n", "--full-time", "--zero", "-f"],
        &["-U", "-t", "-S", "-X", "-v", "-c", "-u", "-f", "-r"],
        &["-a", "-A", "-f"],
        &["-F", "-p"],
        &["-h", "--si", "-k", "-s"],
        &["--time-style=iso", "--full-time", "--time-style=long-iso"],
        &["--color=always", "--color=never", "-f"],
    ];
    let mut cases = Vec::new();
    for group in groups {
        for (first, second) in group.iter().flat_map(|first| group.iter().map(move |second| (first, second)))
        {
            let case = Case::new(places.zoo.path()).options(first).options(second);
            cases.push(case.clone());
            cases.push(case.options("-s --group-directories-first"));
        }
    }
    expect_same(&oracle(), &checked(), &cases);
}

/// Line widths from the option and from COLUMNS, in the formats that fold lines.
#[test]
fn widths() {
    let places = Places::new();
    let widths =
        ["0", "1", "2", "3", "10", "40", "79", "80", "81", "100", "132", "500", "99999999999999999999"];
    let mut cases = Vec::new();
    for dir in ["bytes", "versions", "names", "dir-nlink", "dir-empty", "."] {
        for width in widths {
            for format in ["-C", "-x", "-m", "-Cs", "-xi", "-CF", "-mp"] {
                let case =
                    Case::new(places.zoo.path()).operands([dir]).options(format).env("LC_ALL", "C.UTF-8");
                cases.push(case.clone().options(&format!("-w{width}")));
                cases.push(case.env("COLUMNS", width));
            }
        }
    }
    let case = Case::new(places.zoo.path()).options("-C");
    cases.extend(
        ["", "x", "-1", "80x", "0x50", "010", " 80"].map(|columns| case.clone().env("COLUMNS", columns)),
    );
    expect_same(&oracle(), &checked(), &cases);
}

/// Operands come before, between and after options; `--` ends them; files come first, directories with headers.
#[test]
fn operands_and_options_mix() {
    let places = Places::new();
    let zoo = Case::new(places.zoo.path());
    let lines: &[&[&str]] = &[
        &["size1", "-l", "dir-nlink"],
        &["dir-nlink", "-d", "--", "dir-empty"],
        &["--", "-l"],
        &["names", "--", "size1", "tree"],
        &["tree", "tree"],
        &["missing", "size1", "dir-empty"],
        &["missing", "also missing"],
        &["dir-empty"],
        &["-R", "tree", "size1"],
        &["-R", "dir-empty"],
        &["-Rl", "tree"],
        &["-RU1s", "tree", "dir-nlink"],
        &["-a", "dir-empty", "dir-nlink"],
        &["-la", "link-dir", "link-file", "link-dangling"],
        &["link-dir", "link-file"],
        &["-F", "link-dir", "link-dangling"],
        &["-d", "link-dir", "."],
        &["-l", "link-dir/"],
        &["-lw", "80", "--width", "40", "--color", "size1"],
        &["--time-style", "iso", "-l", "."],
        &["/", "//", "///"],
        &["-dp", "/", ".", "..", "dir0755/", "dir0755//"],
        &["-1", ""],
    ];
    let cases: Vec<Case> = lines.iter().map(|line| zoo.clone().words(line)).collect();
    expect_same(&oracle(), &checked(), &cases);
}
