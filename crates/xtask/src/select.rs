//! Selects the tests of `cargo xtask test WORD...`: words that name packages or suites select them, the others are parts of
//! the names of tests.
//!
//! A suite is a file of `crates/PACKAGE/tests`. Some are named as one would name a test (`git`, `long`): beside a
//! package's name, a word is a suite only if that package has it.

use std::fs;
use std::path::Path;

/// A package with the names of its suites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) suites: Vec<String>,
}

/// The selected tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Packages, with those of their suites that are wanted; all of their tests if none is named.
    pub(crate) packages: Vec<Package>,
    /// Parts of names of tests: a test needs one of them; empty for all tests.
    pub(crate) filters: Vec<String>,
}

/// The folder of a package in `crates`: its name, except for `dls`, which has another name on crates.io, where that one is taken.
pub(crate) fn folder(package: &str) -> &str {
    if package == "dents-ls" { "dls" } else { package }
}

impl Package {
    /// The package in `crates`, with its suites.
    pub(crate) fn read(crates: &Path, name: &str) -> Package {
        let tests = crates.join(folder(name)).join("tests");
        let entries = fs::read_dir(tests).into_iter().flatten().flatten();
        let suite = |path: &Path| {
            path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").is_file()
        };
        let paths = entries.map(|entry| entry.path()).filter(|path| suite(path));
        let stem = |path: &Path| Some(path.file_stem()?.to_str()?.to_string());
        let mut suites: Vec<String> = paths.filter_map(|path| stem(&path)).collect();
        suites.sort();
        Package { name: name.to_string(), suites }
    }

    /// Whether a word means this package: its name or its folder's.
    fn is_named(&self, word: &str) -> bool {
        [self.name.as_str(), folder(&self.name)].contains(&word)
    }
}

impl Selection {
    /// Interprets the words, given all packages.
    pub(crate) fn new(words: &[&str], packages: &[Package]) -> Selection {
        let named = |package: &&Package| words.iter().any(|word| package.is_named(word));
        let mut candidates: Vec<&Package> = packages.iter().filter(named).collect();
        let any_named = !candidates.is_empty();
        if !any_named {
            candidates = packages.iter().collect();
        }
        let is_suite =
            |word: &str| candidates.iter().any(|package| package.suites.iter().any(|suite| suite == word));
        let is_package = |word: &str| packages.iter().any(|package| package.is_named(word));
        let others = words.iter().filter(|word| !is_package(word));
        let (suites, filters): (Vec<&str>, Vec<&str>) = others.partition(|word| is_suite(word));
        let narrowed = candidates.iter().map(|package| {
            let wanted = package.suites.iter().filter(|suite| suites.contains(&suite.as_str()));
            Package { name: package.name.clone(), suites: wanted.cloned().collect() }
        });
        // If only suites are named, packages without them have no tests to run.
        let wanted = narrowed.filter(|package| any_named || suites.is_empty() || !package.suites.is_empty());
        Selection { packages: wanted.collect(), filters: filters.into_iter().map(String::from).collect() }
    }

    /// Whether tests of this package are to run.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.packages.iter().any(|package| package.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, suites: &[&str]) -> Package {
        Package { name: name.to_string(), suites: suites.iter().map(|suite| suite.to_string()).collect() }
    }

    /// The selection as one line: `dls git+long: sort`.
    fn chosen(words: &str) -> String {
        let all = [
            package("dents-ls", &["in_process"]),
            package("dents", &["tree"]),
            package("lab", &["git", "long"]),
        ];
        let words: Vec<&str> = words.split_whitespace().collect();
        let selection = Selection::new(&words, &all);
        let packages = selection.packages.iter();
        let packages: Vec<String> =
            packages.map(|package| format!("{} {}", package.name, package.suites.join("+"))).collect();
        format!("{}: {}", packages.join(", "), selection.filters.join(" "))
    }

    #[test]
    fn words_are_packages_then_suites_then_filters() {
        assert_eq!(chosen("dls sort"), "dents-ls : sort");
        assert_eq!(chosen("dents-ls sort"), "dents-ls : sort");
        assert_eq!(chosen("dls dents"), "dents-ls , dents : ");
        assert_eq!(chosen("git"), "lab git: ");
        assert_eq!(chosen("git tree hang"), "dents tree, lab git: hang");
        assert_eq!(chosen("sort"), "dents-ls , dents , lab : sort");
        assert_eq!(chosen("lab git long"), "lab git+long: ");
        // A word beside a package that is not one of its suites is a part of a test's name.
        assert_eq!(chosen("dls git"), "dents-ls : git");
        assert_eq!(chosen("dls lab git"), "dents-ls , lab git: ");
    }

    #[test]
    fn suites_are_the_files_of_tests() {
        let crates = crate::step::workspace().join("crates");
        let suites = |name: &str| Package::read(&crates, name).suites;
        assert!(suites("dents-lab").contains(&"terminal".to_string()));
        assert!(suites("dents-sink").contains(&"files".to_string()), "a folder with main.rs");
        assert_eq!(suites("dents-ls"), suites("dls"), "the package and its folder");
        assert!(!suites("dents-locale").contains(&"common".to_string()), "a folder that suites share");
        assert!(suites("no such package").is_empty());
    }
}
