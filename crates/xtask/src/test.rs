//! `cargo xtask test`: everything that a change must pass, the fastest checks first; with words, only the tests that
//! they select.
//!
//! The two sides of the workspace are never in one cargo invocation: that would unify features, and turn on `std` in
//! what `dls` links. Each crate of the `no_std` side is linted, tested and documented by a call of its own, which also
//! shows that its own manifest is complete; the libraries and programs on std are linted and tested in one call.

use std::process::Command;

use crate::python;
use crate::step::{Result, Steps, cargo, only, or_told, target_dir, with_default_signals, workspace};
use crate::tools;

/// The side that runs without libc and std, from the bottom up.
const NO_STD: &[&str] =
    &["dents-rt", "dents-sys", "dents-engine", "dents-core", "dents-locale", "dents-render", DLS];
/// The packages with std: the `dents` program, and those for tests and measurements.
const STD: &[&str] = &[
    "dents-fuzz",
    "dents",
    "dents-sink",
    "dents-commands",
    "dents-cli",
    "dents-arrow",
    "dents-c",
    "dents-python",
    "dents-lab",
    "xtask",
];
/// Those of them whose tests do not run `dls`: their lints and tests take one call, and what they need is compiled once, with the features of all.
const WITHOUT_DLS: &[&str] =
    &["dents-fuzz", "dents", "dents-sink", "dents-commands", "dents-cli", "dents-arrow", "dents-c"];
/// All features of the published library, in a call for several packages.
const FEATURES: &[&str] = &["--features", "dents/gitignore"];
/// The package that has the binary `dls`.
const DLS: &str = "dents-ls";
/// The package whose tests run `dls` as a process.
const LAB: &str = "dents-lab";
/// The published library, whose features are tested together.
const LIBRARY: &str = "dents";
/// The other package whose tests compare in the locales of this machine.
const LOCALE: &str = "dents-locale";

/// The suites of the lab that need neither root nor FUSE nor any program of `tools::FOR_TESTS`.
const QUICK: &[&str] = &["coming_from", "colors", "environment", "long", "options", "reference", "view"];

const USAGE: &str = "\
usage: cargo xtask test [--quick | WORD...]

Without words: every check there is. It takes 20 to 35 minutes on two cores if everything is built, and needs 20 programs (strace, git,
tmux, valgrind, FUSE and others), which it installs as root on Debian and names elsewhere. As root it mounts file systems, makes locales
and boots a virtual machine.
With --quick, 3 minutes: format, the unit tests of all packages, and the part of the tests beside GNU ls that needs neither root nor
FUSE. Nothing is installed; what is missing is left out with a line.
With words, tests alone, and of them those that the words select:
  a package               all its tests
  a suite of the lab      a file of crates/dents-lab/tests: terminal, differential, ...
  part of a test's name   any of such words will do
For example: cargo xtask test dls sort; cargo xtask test differential; cargo xtask test dents-lab git hooks
";

pub(crate) fn run(words: &[&str]) -> Result<()> {
    with_default_signals();
    match words {
        [] => everything(),
        ["--quick"] => quick(),
        _ if words.iter().any(|word| ["--help", "-h"].contains(word)) => {
            print!("{USAGE}");
            Ok(())
        }
        _ => match words.iter().find(|word| word.starts_with('-')) {
            Some(option) => Err(format!("test has no option {option}\n{USAGE}")),
            None => selected(words),
        },
    }
}

fn everything() -> Result<()> {
    tools::ensure(tools::FOR_TESTS)?;
    tools::ensure_browser();
    let mut steps = Steps::default();
    steps.run("format", &mut format());
    lint(&mut steps);
    let built = build(&mut steps);
    unit_tests(&mut steps);
    if built {
        steps.run("dls as a process, against GNU ls", &mut test(LAB, &[], &[]));
    }
    python::test(&mut steps);
    steps.run("dls on a real NFS server, beside GNU ls", &mut cargo(["xtask", "vm", "--test"]));
    document(&mut steps);
    let _ = or_told(tools::pinned(&tools::ACTIONLINT), "the workflows are not linted");
    steps.run("tidy", &mut cargo(["test", "--package", "xtask"]));
    steps.finish()
}

/// A part of everything for which nothing is installed; what this machine does not have is left out with a line.
fn quick() -> Result<()> {
    let mut steps = Steps::default();
    match cargo(["fmt", "--version"]).output() {
        Ok(output) if output.status.success() => drop(steps.run("format", &mut format())),
        _ => println!("== without rustfmt: the format is not checked"),
    }
    for package in NO_STD {
        let mut unit = test(package, &[], &[]);
        steps.run(&format!("unit tests of {package}"), unit.arg("--lib"));
    }
    steps.run("unit tests of the libraries and programs on std", without_dls().arg("--lib"));
    // One build of `dls`, with assertions, takes the place of all three.
    let dls = target_dir().join("checked/dls");
    if let Err(why) = crate::bench::gnu_ls() {
        println!("== {why}: dls is not compared with it");
    } else if steps.run("dls, assertions on", &mut cargo(["build", "--profile", "checked", "--package", DLS]))
    {
        let mut lab = cargo(["test", "--package", LAB, "--no-fail-fast"]);
        lab.args(QUICK.iter().flat_map(|suite| ["--test", suite]));
        lab.env("DLS", &dls).env("DLS_CHECKED", &dls);
        steps.run("dls as a process, against GNU ls", &mut lab);
    }
    println!(
        "\n== left out: lints, documentation, models, slow file systems and other suites, Python, virtual machines"
    );
    steps.finish()
}

fn format() -> Command {
    cargo(["fmt", "--all", "--check"])
}

/// What words select.
#[derive(Debug, PartialEq)]
struct Selection<'w> {
    packages: Vec<&'static str>,
    /// Of the lab.
    suites: Vec<&'w str>,
    /// Parts of names of tests: a test needs one of them; empty for all tests.
    filters: Vec<&'w str>,
}

impl<'w> Selection<'w> {
    /// Without a package, a word may name a suite of the lab (some are named as one would name a test); otherwise all packages are
    /// searched.
    fn new(words: &[&'w str]) -> Selection<'w> {
        let named = |word: &&str| {
            let word = if *word == "dls" { DLS } else { *word };
            NO_STD.iter().chain(STD).find(|package| **package == word).copied()
        };
        let mut packages: Vec<&str> = words.iter().filter_map(named).collect();
        let has_suites = packages.is_empty() || packages.contains(&LAB);
        let tests = workspace().join("crates").join(LAB).join("tests");
        let is_suite = |word: &&str| has_suites && tests.join(word).with_extension("rs").is_file();
        let others = words.iter().copied().filter(|word| named(word).is_none());
        let (suites, filters): (Vec<&str>, Vec<&str>) = others.partition(is_suite);
        if packages.is_empty() {
            packages = if suites.is_empty() { [NO_STD, STD].concat() } else { vec![LAB] };
        }
        Selection { packages, suites, filters }
    }
}

/// The tests that the words select; an error where they select none.
fn selected(words: &[&str]) -> Result<()> {
    let Selection { packages, suites, filters } = Selection::new(words);
    tools::ensure(tools::FOR_TESTS)?;
    let mut steps = Steps::default();
    if !packages.contains(&LAB) || binaries(&mut steps) {
        for package in &packages {
            if *package != python::PACKAGE {
                let suites = if *package == LAB { &suites[..] } else { &[] };
                steps.run(&format!("tests of {package}"), &mut test(package, suites, &filters));
            } else if filters.is_empty() {
                // Words are for tests of Rust.
                python::test(&mut steps);
            }
        }
    }
    let ran = steps.ran();
    steps.finish()?;
    if ran > 0 { Ok(()) } else { Err(nothing(&packages, &filters)) }
}

/// The message if no test was selected.
fn nothing(packages: &[&str], filters: &[&str]) -> String {
    let with = match filters {
        [] => String::new(),
        words => format!(" with '{}' in its name", words.join("' or '")),
    };
    format!("no test{with} in {}; `cargo xtask test --help` says what words mean", packages.join(", "))
}

fn lint(steps: &mut Steps) {
    let clippy = |packages: &[&str], options: &[&str]| {
        let mut command = cargo(["clippy", "--all-targets"]);
        command.args(options).args(packages.iter().flat_map(|package| ["--package", package]));
        command.args(["--", "-D", "warnings"]);
        command
    };
    let others = STD.iter().filter(|package| !WITHOUT_DLS.contains(package));
    for package in NO_STD.iter().chain(others) {
        steps.run(&format!("lints of {package}"), &mut clippy(&[package], &[]));
    }
    steps.run("lints of the libraries and programs on std", &mut clippy(WITHOUT_DLS, FEATURES));
}

/// The binaries that the process tests run, and `dls` on std, as other architectures have it.
fn build(steps: &mut Steps) -> bool {
    let built = binaries(steps);
    // Elsewhere than the others: its `dls` would take the place of the one without libc.
    let mut on_std = cargo(["build", "--package", DLS, "--features", "std"]);
    steps.run("dls on std", on_std.env("CARGO_TARGET_DIR", target_dir().join("on-std")));
    built
}

/// The binaries that the process tests run: `dls` three times.
fn binaries(steps: &mut Steps) -> bool {
    let release = steps.run("dls, release", &mut cargo(["build", "--release", "--package", DLS]));
    let checked =
        steps.run("dls, assertions on", &mut cargo(["build", "--profile", "checked", "--package", DLS]));
    let mut on_libc = cargo(["build", "--package", DLS, "--features", "libc"]);
    let on_libc = steps.run("dls-libc", on_libc.env("CARGO_TARGET_DIR", target_dir().join("libc")));
    release && checked && on_libc
}

/// The tests of one package: all, or only these suites, and of them only tests whose names contain one of the filters.
pub(crate) fn test(package: &str, suites: &[&str], filters: &[&str]) -> Command {
    let mut command = cargo(["test", "--package", package]);
    if WITHOUT_DLS.contains(&package) {
        // Fast enough for large trees, and with every assertion; without the minutes that one optimised link takes for each test.
        command.args(["--profile", "checked"]);
    }
    if package == LIBRARY {
        command.arg("--all-features");
    }
    if package == LAB {
        command.arg("--no-fail-fast");
        surroundings(&mut command);
    }
    if [LAB, LOCALE].contains(&package) {
        want_locales(&mut command);
    }
    command.args(suites.iter().flat_map(|suite| ["--test", suite]));
    if !filters.is_empty() {
        command.arg("--").args(filters);
    }
    command
}

/// The tests of [`WITHOUT_DLS`].
fn without_dls() -> Command {
    let mut command = cargo(["test", "--profile", "checked", "--no-fail-fast"]);
    command.args(FEATURES).args(WITHOUT_DLS.iter().flat_map(|package| ["--package", package]));
    command
}

fn unit_tests(steps: &mut Steps) {
    for package in NO_STD {
        steps.run(&format!("tests of {package}"), &mut test(package, &[], &[]));
    }
    steps.run("tests of the libraries and programs on std", &mut without_dls());
    steps.run("models of dents-engine", &mut models());
    let mut rt = cargo(["test", "--package", "dents-rt", "--features", "std"]);
    steps.run("tests of dents-rt on std", rt.env("CARGO_TARGET_DIR", target_dir().join("on-std")));
}

/// The models of the engine's protocols, in every interleaving of a few preemptions: hundreds of thousands, so they
/// are optimised.
fn models() -> Command {
    cargo(["test", "--release", "--package", "dents-engine", "--features", "model", "--test", "model"])
}

/// `cargo xtask model`: the same with one preemption more.
pub(crate) fn model() -> Result<()> {
    only("models of dents-engine", models().env("MODEL_PREEMPTIONS", "3"))
}

/// The environment of the process tests: the binaries, and which tests must not be skipped.
fn surroundings(command: &mut Command) {
    for (variable, place) in [("DLS", "release"), ("DLS_CHECKED", "checked"), ("DLS_LIBC", "libc/debug")] {
        if std::env::var_os(variable).is_none() {
            command.env(variable, target_dir().join(place).join("dls"));
        }
    }
    // A missing FUSE is an error, unless DLS_FUSE=optional is set.
    if std::env::var_os("DLS_FUSE").is_none() {
        command.env("DLS_FUSE", "required");
    }
}

/// Requests locales with an order of their own, if they are installed or can be generated. Otherwise GNU `ls` would
/// use C, and a message says so. A run with `DLS_LOCALES=1` fails if it can compare in none of them.
fn want_locales(command: &mut Command) {
    if std::env::var_os("DLS_LOCALES").is_some() {
        return;
    }
    if tools::locales(tools::LOCALES) {
        command.env("DLS_LOCALES", "1");
        return;
    }
    let missing = tools::LOCALES.join(", ");
    println!(
        "== without the locales {missing}, all or some: nothing is compared in them (as root, they would be made)"
    );
}

fn document(steps: &mut Steps) {
    for package in NO_STD.iter().chain(STD) {
        // Private items too: the documentation of modules refers to them.
        let args = ["doc", "--no-deps", "--document-private-items", "--quiet", "--package", package];
        steps.run(&format!("docs of {package}"), cargo(args).env("RUSTDOCFLAGS", "-D warnings"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::spell;

    #[test]
    fn filters_go_to_the_harness() {
        assert_eq!(spell(&test(DLS, &[], &["sort", "x"])), "cargo test --package dents-ls -- sort x");
        assert_eq!(spell(&test("dents-core", &["tree"], &[])), "cargo test --package dents-core --test tree");
        assert_eq!(spell(&test("dents-cli", &[], &[])), "cargo test --package dents-cli --profile checked");
    }

    #[test]
    fn words_are_packages_then_suites_then_filters() {
        let chosen = |words: &[&'static str]| {
            let Selection { packages, suites, filters } = Selection::new(words);
            (packages, suites, filters)
        };
        assert_eq!(chosen(&["dls", "sort"]), (vec![DLS], vec![], vec!["sort"]));
        assert_eq!(chosen(&["git", "hang", "x"]), (vec![LAB], vec!["git", "hang"], vec!["x"]));
        assert_eq!(chosen(&["dents-lab", "git"]), (vec![LAB], vec!["git"], vec![]));
        // Beside another package it is a part of a test's name.
        assert_eq!(chosen(&["dls", "git"]), (vec![DLS], vec![], vec!["git"]));
        assert_eq!(chosen(&["sort"]).0.len(), NO_STD.len() + STD.len());
    }

    #[test]
    fn what_selects_nothing_says_so() {
        let message =
            "no test with 'srot' or 'y' in its name in dls; `cargo xtask test --help` says what words mean";
        assert_eq!(nothing(&["dls"], &["srot", "y"]), message);
        assert!(run(&["--fast"]).is_err_and(|message| message.contains("no option --fast")));
    }
}
