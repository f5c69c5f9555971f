//! Rules that no compiler checks, as ordinary tests: which crate may depend on which, where `unsafe` is allowed, how long a
//! file may be, and which licences dependencies may have.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::step::{cargo, workspace};

/// Each crate with those it may depend on: the table of ARCHITECTURE.md, where dependencies point down only. A new
/// crate must be added here.
const MAY_USE: &[(&str, &[&str])] = &[
    ("dents-ls", &["dents-render", "dents-locale", "dents-core", "dents-sys", "dents-rt"]),
    ("dents-python", &["dents-arrow", "dents-cli", "dents", "dents-core", "dents-engine", "dents-sys"]),
    ("dents-c", &["dents-arrow", "dents", "dents-sys"]),
    (
        "dents-cli",
        &["dents-commands", "dents-sink", "dents-render", "dents-locale", "dents-core", "dents-sys"],
    ),
    ("dents-arrow", &["dents-commands", "dents-sink", "dents-render", "dents-core", "dents-sys"]),
    ("dents-commands", &["dents", "dents-sink", "dents-render", "dents-locale", "dents-core", "dents-sys"]),
    ("dents", &["dents-core", "dents-sys"]),
    ("dents-sink", &["dents-render", "dents-locale", "dents-core", "dents-sys"]),
    ("dents-render", &["dents-locale", "dents-core"]),
    ("dents-locale", &[]),
    ("dents-core", &["dents-engine", "dents-sys"]),
    ("dents-engine", &["dents-sys"]),
    ("dents-sys", &[]),
    ("dents-rt", &[]),
    // A dev-dependency of both sides.
    ("dents-fuzz", &[]),
    ("dents-lab", &["dents-sys"]),
    ("xtask", &[]),
];

/// The only homes of `unsafe`.
const MAY_BE_UNSAFE: &[&str] = &["dents-sys", "dents-rt", "dents-c", "dents-python"];

/// Lines a source file may have.
const LONGEST_FILE: usize = 900;
/// The limit for the engine, which must be understood as a whole. (Functions there have at most 60 lines:
/// clippy.toml.)
const LONGEST_FILE_OF_ENGINE: usize = 500;

/// A crate of this workspace.
struct Crate {
    name: String,
    dir: PathBuf,
    /// Its dependencies, in any configuration; `dev-dependencies` may point anywhere.
    uses: Vec<String>,
}

/// The packages of `cargo metadata` that are built here, including dependencies.
pub(crate) fn packages() -> Vec<Value> {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let args = ["metadata", "--format-version", "1", "--filter-platform", &platform];
    let output = cargo(args).output().expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    serde_json::from_value(metadata["packages"].take()).expect("packages")
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn crates() -> Vec<Crate> {
    let ours = packages().into_iter().filter(|package| package["source"].is_null());
    ours.map(|package| {
        let uses = package["dependencies"].as_array().into_iter().flatten();
        let uses = uses.filter(|used| used["kind"] != "dev").map(|used| text(&used["name"]));
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        let dir = manifest.parent().expect("a manifest is in a directory").to_path_buf();
        Crate { name: text(&package["name"]), dir, uses: uses.collect() }
    })
    .collect()
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("crates have plain names")
}

/// Adds the files of `dir` and below whose names end so, sorted, without hidden directories and the output of cargo, fuzzers.
pub(crate) fn files(dir: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let left_out = |name: &str| name.starts_with('.') || ["target", "corpus", "artifacts"].contains(&name);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !left_out(name_of(&path)) {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
}

/// All Rust sources of a crate.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(dir, "rs", &mut found);
    found
}

#[test]
fn dependencies_point_down() {
    let crates = crates();
    for Crate { name, uses, .. } in &crates {
        let row = MAY_USE.iter().find(|row| row.0 == name);
        let (_, allowed) = row.unwrap_or_else(|| panic!("{name} is not in the crate table"));
        for used in uses.iter().filter(|used| crates.iter().any(|one| one.name == **used)) {
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

/// `unsafe` as a word of code, not of a comment or a lint's name.
#[test]
fn unsafe_stays_at_home() {
    for one in crates().iter().filter(|one| !MAY_BE_UNSAFE.contains(&one.name.as_str())) {
        let files = sources(&one.dir);
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
    for one in crates() {
        let files = sources(&one.dir);
        let most = if one.name == "dents-engine" { LONGEST_FILE_OF_ENGINE } else { LONGEST_FILE };
        for file in files {
            let lines = fs::read_to_string(&file).expect("sources are UTF-8").lines().count();
            assert!(lines < most, "{} has {lines} lines; {most} are too many", file.display());
        }
    }
}

/// Each function that a crate calls a fuzz target has a target of `cargo fuzz`, and each target a function: no test
/// builds `fuzz/`.
#[test]
fn every_fuzz_target_can_be_run_by_cargo_fuzz() {
    let mut targets = Vec::new();
    for one in crates().iter().filter(|one| one.name != "dents-fuzz") {
        let files = sources(&one.dir);
        for file in files.iter().filter(|file| file.ends_with("fuzzing.rs")) {
            let text = fs::read_to_string(file).expect("sources are UTF-8");
            let names = text
                .lines()
                .filter_map(|line| line.strip_prefix("pub fn ")?.strip_suffix("(bytes: &[u8]) {"));
            let call = |name: &str| format!("{}::fuzzing::{name}", name_of(&one.dir).replace('-', "_"));
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
        // Those from every release, (0, 0), are in tables of their own.
        .filter(|(major, _)| major.parse::<u32>().is_ok_and(|major| major > 0))
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

/// The links of a page into this repository: `](PATH)`, `src="PATH"` and `srcset="PATH"`, without what follows a `#`.
fn links(page: &str) -> Vec<&str> {
    // Blocks of code have no links.
    let text = page.split("```").step_by(2);
    let after = |mark| {
        text.clone()
            .flat_map(move |text| text.split(mark).skip(1))
            .filter_map(|rest| rest.split([')', '"']).next())
    };
    let links = after("](").chain(after("src=\"")).chain(after("srcset=\""));
    let paths = links.map(|link| link.split('#').next().unwrap_or_default());
    paths.filter(|path| !path.is_empty() && !path.contains("://")).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut found = Vec::new();
    files(workspace(), "md", &mut found);
    let mut broken = Vec::new();
    for page in &found {
        let text = fs::read_to_string(page).expect("pages are UTF-8");
        let missing = |path: &&str| !page.parent().expect("a page is in a directory").join(path).exists();
        broken.extend(
            links(&text).into_iter().filter(missing).map(|path| format!("{}: {path}", page.display())),
        );
    }
    assert!(found.len() > 10, "{found:?}");
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
    assert_eq!(links("[a](b.md#c) [d](https://e) <img src=\"f.svg\">"), ["b.md", "f.svg"]);
}

/// The part of the README before its second heading fits a screen.
#[test]
fn the_readme_fits_a_screen() {
    let readme = fs::read_to_string(workspace().join("README.md")).expect("it is there");
    let first: Vec<&str> = readme.lines().take_while(|line| !line.starts_with("## ")).collect();
    assert!(first.len() <= 45, "{} lines before the second heading", first.len());
    let wide = first.iter().find(|line| !line.contains("src") && line.chars().count() > 112);
    assert!(wide.is_none(), "a line is too wide: {wide:?}");
}

/// Licences that any dependency may have, whatever it is used for. `WITH LLVM-exception` is allowed beside its
/// licence.
const LICENCES: &[&str] = &[
    "MIT",
    "MIT-0",
    "Apache-2.0",
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

/// Tools that tests run, with other licences: no part of them is built into a program.
const TOOLS: &[(&str, &str)] = &[("cbindgen", "MPL-2.0")];

/// Whether an SPDX expression can be met by `LICENCES` alone; `MIT/Apache-2.0`, as older manifests have it, is read too.
fn is_free(licence: &str) -> bool {
    let expression = spdx::Expression::parse_mode(licence, spdx::ParseMode::LAX);
    expression.is_ok_and(|expression| {
        expression.evaluate(|asked| {
            let id = asked.license.id();
            id.is_some_and(|id| LICENCES.contains(&id.name))
        })
    })
}

#[test]
fn licences_are_compatible() {
    let packages = packages();
    assert!(packages.len() > MAY_USE.len(), "cargo metadata lists {} packages", packages.len());
    for package in packages {
        let licence = text(&package["license"]);
        let name = text(&package["name"]);
        let is_tool = TOOLS.contains(&(name.as_str(), licence.as_str()));
        assert!(is_tool || is_free(&licence), "{name} is licensed {licence:?}");
    }
    assert!(is_free("(MIT OR Apache-2.0) AND Unicode-3.0") && is_free("GPL-2.0-only OR MIT"));
    assert!(!is_free("MIT AND GPL-2.0-only") && !is_free("") && !is_free("LicenseRef-own"));
}

/// A tool is a dependency of tests alone.
#[test]
fn tools_are_no_part_of_what_is_built() {
    for one in packages().iter().filter(|package| package["source"].is_null()) {
        let dependencies = one["dependencies"].as_array().expect("a list").iter();
        for dependency in dependencies.filter(|dependency| dependency["kind"].as_str() != Some("dev")) {
            let name = text(&dependency["name"]);
            assert!(
                TOOLS.iter().all(|(tool, _)| *tool != name),
                "{} is built with {name}",
                text(&one["name"])
            );
        }
    }
}
