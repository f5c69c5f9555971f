//! `cargo xtask mutants`: do the tests notice when the code is wrong? It makes a sample of small changes to one package
//! (`cargo-mutants`), each of which its tests should catch.
//!
//! A seed chooses the sample from the list of all mutants, and `cargo-mutants` gets the names: so the sample is the same on
//! every machine, and a mutant that was missed can be run again alone.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::select::folder;
use crate::step::{Result, cargo, spell, target_dir, workspace};

const USAGE: &str = "\
usage: cargo xtask mutants [PACKAGE] [--sample N] [--seed S]

Changes PACKAGE (default dents-engine) in N places (default 100), one at a time, and runs its tests: each change should
make one fail. Prints what was caught and what was missed. S (default 1) chooses the sample. Installs cargo-mutants if it is
not there. Of dents-engine at least 90 % must be caught. Each mutant takes a build and a run of the tests.
";

/// Packages of which so many percent must be caught.
const LEAST: &[(&str, f64)] = &[("dents-engine", 90.0)];

/// Modules that are compiled for tests or for models alone.
const UNTESTED: &[&str] = &[" tests::", " model::", " faults::"];

/// The parsed command line.
#[derive(Debug, PartialEq, Eq)]
struct Wish<'a> {
    package: &'a str,
    sample: usize,
    seed: u64,
}

impl<'a> Wish<'a> {
    fn new(words: &[&'a str]) -> Result<Wish<'a>> {
        let mut wish = Wish { package: "dents-engine", sample: 100, seed: 1 };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut number = || {
                let value = words.next().and_then(|value| value.parse::<u32>().ok());
                value.ok_or_else(|| format!("mutants: {word} takes a number\n{USAGE}"))
            };
            match *word {
                "--sample" => wish.sample = number()?.max(1) as usize,
                "--seed" => wish.seed = number()?.into(),
                option if option.starts_with('-') => {
                    return Err(format!("mutants has no option {option}\n{USAGE}"));
                }
                package => wish.package = package,
            }
        }
        Ok(wish)
    }
}

pub(crate) fn run(words: &[&str]) -> Result<()> {
    if words.iter().any(|word| ["--help", "-h"].contains(word)) {
        print!("{USAGE}");
        return Ok(());
    }
    let wish = Wish::new(words)?;
    if !workspace().join("crates").join(folder(wish.package)).is_dir() {
        return Err(format!("mutants: there is no package {}", wish.package));
    }
    install()?;
    let all = list(wish.package)?;
    let chosen = sample(&all, wish.sample, wish.seed);
    println!("== {} of {} mutants of {}, seed {}", chosen.len(), all.len(), wish.package, wish.seed);
    let out = target_dir().join("mutants");
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    test(wish.package, &chosen, &out)?;
    let outcome = Outcome::read(&out.join("mutants.out"), &chosen)?;
    println!("{}", outcome.report());
    outcome.verdict(wish.package)
}

/// Installs cargo-mutants, unless a version that names each mutant in its lists (26.1) is there.
fn install() -> Result<()> {
    let version = cargo(["mutants", "--version"]).stderr(Stdio::null()).output();
    if version.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    let mut install = cargo(["install", "--locked", "cargo-mutants"]);
    println!("== {}", spell(&install));
    match install.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err("cargo-mutants could not be installed; `cargo install --locked cargo-mutants` says why"
            .to_string()),
    }
}

/// The names of all mutants of a package, in the order of the files.
fn list(package: &str) -> Result<Vec<String>> {
    let mut command = cargo(["mutants", "--list", "--json", "--package", package]);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{}: {}", spell(&command), output.status));
    }
    names(&output.stdout)
}

fn names(json: &[u8]) -> Result<Vec<String>> {
    let all: serde_json::Value =
        serde_json::from_slice(json).map_err(|error| format!("cargo-mutants: {error}"))?;
    let name = |mutant: &serde_json::Value| mutant.get("name")?.as_str().map(String::from);
    let names = all.as_array().and_then(|all| all.iter().map(name).collect::<Option<Vec<String>>>());
    let mut names = names.ok_or("cargo-mutants names no mutants; it must be 26.1 or newer")?;
    // A few mutants of one place have the same name, and can only be chosen together.
    names.dedup();
    // A mutant of a test need not be caught, and these tests do not compile the code that replaces a model's.
    names.retain(|name| !UNTESTED.iter().any(|module| name.contains(module)));
    Ok(names)
}

/// So many of them, by a seed, in their order.
fn sample(all: &[String], count: usize, seed: u64) -> Vec<&str> {
    // SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut places: Vec<usize> = (0..all.len()).collect();
    let count = count.min(all.len());
    for at in 0..count {
        let other = at + (next() % (all.len() - at) as u64) as usize;
        places.swap(at, other);
    }
    places.truncate(count);
    places.sort_unstable();
    places.into_iter().map(|place| all[place].as_str()).collect()
}

/// Runs the tests on each mutant. A missed mutant is not an error here.
fn test(package: &str, mutants: &[&str], out: &Path) -> Result<()> {
    let mut command = command(package, mutants, out);
    println!("   cargo mutants --package {package} --re ... (one for each)");
    let status = command.status().map_err(|error| error.to_string())?;
    // 2: some were missed. 3: some made the tests hang, which is caught too.
    match status.code() {
        Some(0 | 2 | 3) => Ok(()),
        Some(4) => Err(format!("the tests of {package} fail without any mutant: mend them first")),
        _ => Err(format!("cargo mutants: {status}")),
    }
}

fn command(package: &str, mutants: &[&str], out: &Path) -> Command {
    // A busy machine is no mutant: tests may take a minute more than they do without.
    let mut command = cargo(["mutants", "--package", package, "--minimum-test-timeout", "60", "--output"]);
    command.arg(out).stdin(Stdio::null());
    for mutant in mutants {
        command.arg("--re").arg(format!("^{}$", escaped(mutant)));
    }
    command
}

/// A pattern that fits this text alone.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// The names of the mutants, by result.
#[derive(Debug, Default)]
struct Outcome {
    caught: Vec<String>,
    /// The tests did not end: caught.
    hung: Vec<String>,
    missed: Vec<String>,
    /// Mutants that do not compile; they do not count.
    unviable: Vec<String>,
}

impl Outcome {
    /// The outcomes of the `chosen` mutants. `cargo-mutants` 27.1 also tests every mutant that deletes a field: its patterns do not
    /// apply to them.
    fn read(out: &Path, chosen: &[&str]) -> Result<Outcome> {
        let lines = |file: &str| {
            let path = out.join(file);
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Result::Ok(text.lines().filter(|name| chosen.contains(name)).map(String::from).collect())
        };
        Ok(Outcome {
            caught: lines("caught.txt")?,
            hung: lines("timeout.txt")?,
            missed: lines("missed.txt")?,
            unviable: lines("unviable.txt")?,
        })
    }

    /// The percentage of caught mutants among those that compile and end; 100 if there are none.
    fn percent(&self) -> f64 {
        let caught = self.caught.len() + self.hung.len();
        let all = caught + self.missed.len();
        if all == 0 { 100.0 } else { 100.0 * caught as f64 / all as f64 }
    }

    fn report(&self) -> String {
        let Outcome { caught, hung, missed, unviable } = self;
        let numbers = format!(
            "\ncaught {} (of these {} made the tests hang), missed {}, unviable {}: {:.1} % caught",
            caught.len() + hung.len(),
            hung.len(),
            missed.len(),
            unviable.len(),
            self.percent()
        );
        missed.iter().fold(numbers, |text, name| text + "\nmissed: " + name)
    }

    fn verdict(&self, package: &str) -> Result<()> {
        match LEAST.iter().find(|row| row.0 == package) {
            Some((_, least)) if self.percent() < *least => Err(format!(
                "of {package} at least {least} % must be caught: write a test for each that was missed"
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize) -> Vec<String> {
        (0..count).map(|nth| format!("m{nth}")).collect()
    }

    #[test]
    fn words_are_a_package_and_two_numbers() {
        assert_eq!(Wish::new(&[]), Ok(Wish { package: "dents-engine", sample: 100, seed: 1 }));
        let all = Wish::new(&["--seed", "7", "dents", "--sample", "20"]);
        assert_eq!(all, Ok(Wish { package: "dents", sample: 20, seed: 7 }));
        for words in [&["--sample"][..], &["--seed", "x"], &["--jobs", "2"]] {
            assert!(Wish::new(words).is_err_and(|why| why.contains("usage:")), "{words:?}");
        }
        assert!(run(&["no-such-package"]).is_err_and(|why| why.contains("no-such-package")));
    }

    #[test]
    fn a_seed_chooses_the_sample() {
        let all = numbered(1000);
        let chosen = sample(&all, 100, 1);
        assert_eq!(chosen, sample(&all, 100, 1));
        assert_ne!(chosen, sample(&all, 100, 2));
        let mut places: Vec<usize> = chosen.iter().map(|name| name[1..].parse().unwrap()).collect();
        assert!(places.is_sorted());
        places.dedup();
        assert_eq!(places.len(), 100);
        assert!(places[0] < 100 && places[99] >= 900 && places[50].abs_diff(500) < 150, "spread over all");
        assert_eq!(sample(&all[..7], 100, 1), all[..7]);
        assert!(sample(&[], 3, 1).is_empty());
    }

    #[test]
    fn each_mutant_is_named_exactly() {
        let json =
            br#"[{"name":"crates/x/src/a.rs:1:2: replace f -> Option<u8> with Some(0)","genre":"FnValue"}]"#;
        let names = names(json).expect("names");
        let args = command("x", &[&names[0]], Path::new("/out"));
        assert_eq!(
            spell(&args),
            "cargo mutants --package x --minimum-test-timeout 60 --output /out \
             --re ^crates/x/src/a\\.rs:1:2: replace f \\-> Option<u8> with Some\\(0\\)$"
        );
        let test = br#"[{"name":"crates/x/src/a.rs:9:2: replace tests::round -> usize with 0"}]"#;
        assert_eq!(super::names(test), Ok(Vec::new()));
        assert!(super::names(br#"[{"genre":"FnValue"}]"#).is_err_and(|why| why.contains("26.1")));
    }

    #[test]
    fn ninety_percent_of_the_engine() {
        let outcome = |caught, missed| Outcome {
            caught: numbered(caught),
            hung: numbered(1),
            missed: numbered(missed),
            unviable: numbered(50),
        };
        assert!(outcome(8, 1).verdict("dents-engine").is_ok());
        assert!(outcome(7, 1).verdict("dents-engine").is_err());
        assert!(outcome(0, 9).verdict("dents-render").is_ok());
        assert!(Outcome::default().verdict("dents-engine").is_ok());
        let text = outcome(7, 2).report();
        assert!(text.contains("caught 8 (of these 1 made the tests hang), missed 2, unviable 50: 80.0 % caught\nmissed: m0\n"), "{text}");
    }
}
