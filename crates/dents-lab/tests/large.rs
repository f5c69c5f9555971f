//! Directories large enough that they are asked about while they are read, and sorted and drawn by several threads.

use dents_lab::case::{Case, Output};
use dents_lab::fixture::mix;
use dents_lab::suite::{checked, expect_same, oracle};
use dents_lab::terminal::Columns;

/// More than one piece of lines for each thread, and a last one that is not full.
const ENTRIES: usize = 37_000;

const OPTIONS: &[&str] = &[
    "-al",
    "-alrt",
    "-lS",
    "-lSr",
    "-lv",
    "-lX",
    "-lU",
    "-lis",
    "-n --group-directories-first",
    "-l --time-style=full-iso --author",
    "-l -h --si",
    "-1",
    "-1r",
    "-1v",
    "-1sF",
    "-1 --sort=width",
    "-1 -i",
    "-1 --color=always",
    "-l --color=always",
    "-lL --color=always",
    "-C -w 200",
    "-m",
    "-l --dired",
    "-l --zero",
    "-lQ --hyperlink=always",
    "-R -l",
    "-1 --ignore=*7*",
];

#[test]
fn large_directories() {
    let dir = mix(&std::env::temp_dir(), ENTRIES).expect("a directory");
    let case = |options: &&str| Case::new(dir.path()).options(options);
    let mut cases: Vec<Case> = OPTIONS.iter().map(case).collect();
    // With a colour for all text, each line begins in it; with no colour at first, the first one comes late.
    for colors in ["no=33:di=34", "ln=36", "*9=35", "lc=<:rc=>:ec=!:di=1"] {
        for options in ["-l --color=always", "-1 --color=always"] {
            cases.push(case(&options).env("LS_COLORS", colors));
        }
    }
    let wide: Columns = 80;
    cases.push(Case { output: Output::Terminal(wide), ..case(&"-l --color") });
    if std::env::var_os("DLS_LOCALES").is_some() {
        cases.extend(["-l", "-1r", "-lX"].iter().map(|o| case(o).env("LC_ALL", "en_US.UTF-8")));
    }
    expect_same(&oracle(), &checked(), &cases);
}
