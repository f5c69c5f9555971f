//! What no compiler checks, as ordinary tests: which crate may stand on which, where `unsafe` lives, how
//! long a file may get, and what licences come in.

use std::fs;
use std::path::{Path, PathBuf};

use crate::step::{cargo, workspace};

/// Each crate with those it may depend on: the table of ARCHITECTURE.md, whose rule is that dependencies
/// point down only. A crate that is not in here has to be put here first.
const MAY_USE: &[(&str, &[&str])] = &[
    ("dls", &["dents-render", "dents-locale", "dents", "dents-sys", "dents-rt"]),
    ("dents-cli", &["dents-sink", "dents-render", "dents-locale", "dents", "dents-sys"]),
    ("dents-sink", &["dents-render", "dents-locale", "dents", "dents-sys"]),
    ("dents-render", &["dents-locale", "dents"]),
    ("dents-locale", &[]),
    ("dents", &["dents-engine", "dents-sys"]),
    ("dents-engine", &["dents-sys"]),
    ("dents-sys", &[]),
    ("dents-rt", &[]),
    // A dev-dependency of both sides.
    ("dents-fuzz", &[]),
    ("dents-lab", &["dents-sys"]),
    ("xtask", &[]),
];

/// The only homes of `unsafe`.
const MAY_BE_UNSAFE: &[&str] = &["dents-sys", "dents-rt"];

/// Lines a source file may have.
const LONGEST_FILE: usize = 900;
/// The same for the engine, which must be understood as a whole. (Functions there have at most 60: clippy.toml.)
const LONGEST_FILE_OF_ENGINE: usize = 500;

fn crates() -> Vec<PathBuf> {
    let entries = fs::read_dir(workspace().join("crates")).expect("crates/ is there").flatten();
    let mut crates: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.join("Cargo.toml").is_file()).collect();
    crates.sort();
    crates
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("crates have plain names")
}

/// All Rust sources of a crate, but for what cargo builds and fuzzers leave there.
fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !["target", "corpus", "artifacts"].contains(&name_of(&path)) {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The names under `[dependencies]` and its `target.…` and `build-` kin; `dev-dependencies` may point anywhere.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut wanted = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            let (table, name) = section.split_once("dependencies.").unwrap_or((section, ""));
            wanted = section.ends_with("dependencies") && !section.ends_with("dev-dependencies");
            if !name.is_empty() && !table.ends_with("dev-") {
                names.push(name.trim_matches('"').to_string());
            }
        } else if wanted && let Some((key, _)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
            names.push(key.trim().split('.').next().unwrap_or_default().trim_matches('"').to_string());
        }
    }
    names
}

#[test]
fn dependencies_point_down() {
    let crates = crates();
    let ours: Vec<&str> = crates.iter().map(|path| name_of(path)).collect();
    for path in &crates {
        let name = name_of(path);
        let (_, allowed) = MAY_USE
            .iter()
            .find(|row| row.0 == name)
            .unwrap_or_else(|| panic!("{name} is not in the crate table"));
        let manifest = fs::read_to_string(path.join("Cargo.toml")).expect("the manifest reads");
        for used in dependencies(&manifest).iter().filter(|used| ours.contains(&used.as_str())) {
            assert!(allowed.contains(&used.as_str()), "{name} may not depend on {used}");
        }
    }
}

#[test]
fn the_table_itself_points_down() {
    for (row, (name, allowed)) in MAY_USE.iter().enumerate() {
        for used in *allowed {
            let at = MAY_USE.iter().position(|other| other.0 == *used).expect("a known crate");
            assert!(at > row || *name == "dents-lab", "{name} stands above {used}");
        }
    }
}

#[test]
fn manifests_are_read_right() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\n# b = 1\nc = { path = \"c\" }\n\
                    [dependencies.d]\nversion = \"1\"\n[target.'cfg(unix)'.dependencies]\ne = \"1\"\n\
                    [dev-dependencies]\nf = \"1\"\n[dev-dependencies.g]\nversion = \"1\"\n[features]\nh = []\n";
    assert_eq!(dependencies(manifest), ["a", "c", "d", "e"]);
}

/// `unsafe` as a word of code, not of a comment or a lint's name.
#[test]
fn unsafe_stays_at_home() {
    for path in crates().iter().filter(|path| !MAY_BE_UNSAFE.contains(&name_of(path))) {
        let mut files = Vec::new();
        sources(path, &mut files);
        for file in files.iter().filter(|file| !file.ends_with("tidy.rs")) {
            let text = fs::read_to_string(file).expect("sources are UTF-8");
            for (number, line) in text.lines().enumerate() {
                let code = line.split("//").next().unwrap_or_default();
                let word =
                    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe");
                assert!(!word, "{}:{}: unsafe", file.display(), number + 1);
            }
        }
    }
}

#[test]
fn files_stay_readable() {
    for path in crates() {
        let mut files = Vec::new();
        sources(&path, &mut files);
        let most = if name_of(&path) == "dents-engine" { LONGEST_FILE_OF_ENGINE } else { LONGEST_FILE };
        for file in files {
            let lines = fs::read_to_string(&file).expect("sources are UTF-8").lines().count();
            assert!(lines < most, "{} has {lines} lines; {most} are too many", file.display());
        }
    }
}

/// A target of `cargo fuzz` for each function that crates call a fuzz target, and for nothing else: no test builds `fuzz/`.
#[test]
fn every_fuzz_target_can_be_run_by_cargo_fuzz() {
    let mut targets = Vec::new();
    for path in crates().iter().filter(|path| name_of(path) != "dents-fuzz") {
        let mut files = Vec::new();
        sources(path, &mut files);
        for file in files.iter().filter(|file| file.ends_with("fuzzing.rs")) {
            let text = fs::read_to_string(file).expect("sources are UTF-8");
            let names = text
                .lines()
                .filter_map(|line| line.strip_prefix("pub fn ")?.strip_suffix("(bytes: &[u8]) {"));
            let call = |name: &str| format!("{}::fuzzing::{name}", name_of(path).replace('-', "_"));
            targets.extend(names.map(|name| (name.to_string(), call(name))));
        }
    }
    targets.sort();
    let fuzz = workspace().join("fuzz");
    let mut runnable: Vec<String> = fs::read_dir(fuzz.join("fuzz_targets"))
        .expect("fuzz/fuzz_targets is there")
        .filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(String::from))
        .collect();
    runnable.sort();
    assert!(targets.len() > 10);
    assert_eq!(runnable, targets.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).expect("fuzz/Cargo.toml is there");
    for (name, call) in targets {
        let text = fs::read_to_string(fuzz.join(format!("fuzz_targets/{name}.rs"))).expect("it is there");
        assert!(text.contains(&format!("{call}(bytes)")), "{name} does not call {call}");
        assert!(
            manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")),
            "{name} is not in fuzz/Cargo.toml"
        );
    }
}

/// The page for users lists the differences between releases of GNU `ls` that the tests know of.
#[test]
fn differences_are_documented() {
    let read =
        |path| fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let known = read("crates/dents-lab/src/known.rs");
    let mut known: Vec<String> = known
        .lines()
        .filter_map(|line| line.trim().strip_prefix("since: ("))
        .filter_map(|rest| rest.split_once(')')?.0.split_once(", "))
        .filter(|(major, _)| major.parse::<u32>().is_ok())
        .map(|(major, minor)| format!("{major}.{minor}"))
        .collect();
    let page = read("docs/DIFFERENCES.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| 9.")?.split_once(" |"));
    let mut documented: Vec<String> = rows.map(|(minor, _)| format!("9.{minor}")).collect();
    known.sort();
    documented.sort();
    assert!(!known.is_empty());
    assert_eq!(documented, known, "docs/DIFFERENCES.md against crates/dents-lab/src/known.rs");
}

/// One licence of every dependency, for whatever purpose it comes in, must be among these.
#[test]
fn licences_are_compatible() {
    let free = [
        "MIT",
        "MIT-0",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "Zlib",
        "Unlicense",
        "CC0-1.0",
        "0BSD",
        "BSL-1.0",
        "Unicode-3.0",
    ];
    let args = ["tree", "--workspace", "--edges", "all", "--prefix", "none", "--format", "{p}|{l}"];
    let output = cargo(args).output().expect("cargo tree runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let mut seen = 0;
    for (package, licence) in text.lines().filter_map(|line| line.split_once('|')) {
        let licence = licence.trim_end_matches(" (*)").replace(['(', ')'], "");
        let every = |all: &str| all.split(" AND ").all(|one| free.contains(&one.trim()));
        let fits = licence.replace('/', " OR ").split(" OR ").any(every);
        assert!(fits || mixed(&licence, &free), "{package} is licensed {licence:?}");
        seen += 1;
    }
    assert!(seen > crates().len(), "cargo tree listed {seen} packages");
}

/// `(MIT OR Apache-2.0) AND Unicode-3.0` without its brackets splits wrongly; every word must fit then.
fn mixed(licence: &str, free: &[&str]) -> bool {
    !licence.is_empty()
        && licence.split(" OR ").flat_map(|part| part.split(" AND ")).all(|one| free.contains(&one.trim()))
}
