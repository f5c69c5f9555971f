//! What is measured: on which directory, by which programs.

/// One row of the tables.
#[derive(Debug)]
pub(crate) struct Case {
    /// As in the tables; also its name in the results.
    pub(crate) title: &'static str,
    pub(crate) place: Place,
    pub(crate) figure: Figure,
    /// `LC_ALL`.
    pub(crate) locale: &'static str,
    /// `dls` first, then the command that it is compared with, then others. A path is added to each.
    pub(crate) commands: &'static [&'static str],
}

/// A directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// So many empty files.
    Plain(usize),
    /// So many entries as in a home directory: of many sizes and times, links, directories, ACLs, several owners.
    Mix(usize),
    /// So many files in directories of a hundred.
    Tree(usize),
    Usr,
}

/// What is measured of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Milliseconds.
    Warm,
    /// Milliseconds, after the caches were dropped.
    Cold,
    /// Peak resident memory in MiB.
    Memory,
    /// System calls.
    Calls,
}

impl Case {
    const fn new(title: &'static str, place: Place, commands: &'static [&'static str]) -> Case {
        Case { title, place, figure: Figure::Warm, locale: "C", commands }
    }

    const fn of(self, figure: Figure) -> Case {
        Case { figure, ..self }
    }

    /// Whether it belongs to `--check`.
    pub(crate) fn is_short(&self) -> bool {
        let count = match self.place {
            Place::Plain(count) | Place::Mix(count) | Place::Tree(count) => count,
            Place::Usr => return false,
        };
        count <= 100_000 && self.figure == Figure::Warm
    }
}

use Figure::{Calls, Cold, Memory};
use Place::{Mix, Plain, Tree, Usr};

/// All cases, in the order of the table; those of one directory side by side.
pub(crate) const CASES: &[Case] = &[
    Case::new("`-al`, 10 files", Plain(10), &["dls -al", "ls -al", "eza -al", "lsd -al", "empty"]),
    Case::new("system calls, `-al` of 10 files", Plain(10), &["dls -al", "ls -al", "dls --mode=iou -al"])
        .of(Calls),
    Case::new("`-al`, 1,000 files", Plain(1000), &["dls -al", "ls -al", "eza -al", "lsd -al", "floor"]),
    Case::new("`-al`, 10,000 files", Plain(10_000), &["dls -al", "ls -al", "eza -al", "lsd -al", "floor"]),
    Case::new(
        "system calls, `-al` of 10,000 files",
        Plain(10_000),
        &["dls -al", "ls -al", "dls --mode=iou -al"],
    )
    .of(Calls),
    Case::new("`-al`, 100,000 files", Plain(100_000), &["dls -al", "ls -al", "eza -al", "lsd -al", "floor"]),
    Case::new("`-al`, 100,000 files, cold cache", Plain(100_000), &["dls -al", "ls -al"]).of(Cold),
    Case {
        locale: "en_US.UTF-8",
        ..Case::new("`-al` in en_US.UTF-8, 100,000 files", Plain(100_000), &["dls -al", "ls -al"])
    },
    Case::new("names, sorted, 100,000 files", Plain(100_000), &["dls -1", "ls -1", "eza -1", "lsd -1"]),
    Case::new("`-al`, 1,000,000 files", Plain(1_000_000), &["dls -al", "ls -al", "eza -al", "floor"]),
    Case::new("names, sorted, 1,000,000 files", Plain(1_000_000), &["dls -1", "ls -1"]),
    Case::new("`-U1`, 1,000,000 files", Plain(1_000_000), &["dls -U1", "ls -U1"]),
    Case::new("memory, `-al`, 1,000,000 files", Plain(1_000_000), &["dls -al", "ls -al"]).of(Memory),
    Case::new("memory, names, 1,000,000 files", Plain(1_000_000), &["dls -1", "ls -1"]).of(Memory),
    Case::new("memory, `-U1`, 1,000,000 files", Plain(1_000_000), &["dls -U1", "ls -U1"]).of(Memory),
    Case::new(
        "`--color`, 10,000 entries of all kinds",
        Mix(10_000),
        &["dls --color=always", "ls --color=always"],
    ),
    Case::new("`-lt`, 100,000 entries of all kinds", Mix(100_000), &["dls -lt", "ls -lt"]),
    Case::new("`-lS`, the same", Mix(100_000), &["dls -lS", "ls -lS"]),
    Case::new("`-lv`, the same", Mix(100_000), &["dls -lv", "ls -lv"]),
    Case::new("`-R`, 1,000 directories of 100 files", Tree(100_000), &["dls -R", "ls -R"]),
    Case::new("`-R` of /usr", Usr, &["dls -R", "ls -R"]),
    Case::new("`-lR` of /usr", Usr, &["dls -lR", "ls -lR"]),
    Case::new("`--tree` of /usr", Usr, &["dls --tree", "eza --tree", "lsd --tree"]),
    Case::new("`--total-size=0` of /usr", Usr, &["dls --total-size=0", "du -sb", "eza -l --total-size"]),
];

/// The cases in the README, by their titles.
pub(crate) const README: &[&str] = &[
    "`-al`, 10 files",
    "`-al`, 1,000 files",
    "`-al`, 100,000 files",
    "`-al`, 100,000 files, cold cache",
    "`-R`, 1,000 directories of 100 files",
    "names, sorted, 100,000 files",
];

/// The cases in the picture.
pub(crate) const PICTURE: &[&str] =
    &["`-al`, 10 files", "`-al`, 1,000 files", "`-al`, 10,000 files", "`-al`, 100,000 files"];
