//! The licences of what is in the programs, or in the Python module, besides our own code: one text for each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::step::{Result, cargo};

/// What is built from some packages.
pub(super) struct Built {
    packages: &'static [&'static str],
    /// Parts that no package of cargo brings.
    others: &'static str,
    /// Whether the C library is one of them.
    has_libc: bool,
}

/// The programs.
pub(super) const PROGRAMS: Built =
    Built { packages: &["dents-ls", "dents-cli"], others: OF_PROGRAMS, has_libc: true };
/// The Python module.
pub(super) const MODULE: Built = Built { packages: &["dents-python"], others: OF_MODULE, has_libc: false };

/// How names of files with a licence begin.
const NAMES: &[&str] = &["license", "licence", "copying", "copyright", "notice", "unlicense"];

const OF_MODULE: &str = "\
The Rust standard library is in the module: MIT OR Apache-2.0 (https://github.com/rust-lang/rust, COPYRIGHT). Their
texts are below, as those of the packages are.

SQLite is in the module: it is in the public domain (https://sqlite.org/copyright.html).
";

const OF_PROGRAMS: &str = "\
The Rust standard library is in dents and dls-libc: MIT OR Apache-2.0 (https://github.com/rust-lang/rust, COPYRIGHT).
Their texts are below, as those of the packages are.

SQLite is in dents: it is in the public domain (https://sqlite.org/copyright.html).

The GNU C Library is in dents: LGPL-2.1-or-later. It is unchanged; its text is at the end. To link dents with another
version of the library, build it from its source: cargo install --locked --path crates/dents-cli
";

/// Where Debian keeps the licence of the C library.
const LGPL: &str = "/usr/share/common-licenses/LGPL-2.1";

/// A package and the files of its licence.
struct Part {
    title: String,
    texts: Vec<String>,
}

/// The text for packages of this workspace in `source`. An error names a package that brings no text.
pub(super) fn collect(source: &Path, built: &Built) -> Result<String> {
    let mut parts = Vec::new();
    for package in linked(&metadata(source)?, built) {
        parts.push(part(&package)?);
    }
    parts.sort_by(|a, b| a.title.cmp(&b.title));
    let mut text = format!("dents contains the following parts of others.\n\n{}\n", built.others);
    for part in &parts {
        text.push_str(&format!("  {}\n", part.title));
    }
    // Many packages have the same text.
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for part in &parts {
        for text in &part.texts {
            users.entry(text).or_default().push(&part.title);
        }
    }
    let mut texts: Vec<(&str, Vec<&str>)> = users.into_iter().collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.cmp(b.0)));
    for (licence, titles) in texts {
        text.push_str(&section(&titles.join("\n"), licence));
    }
    if built.has_libc {
        let licence = fs::read_to_string(LGPL);
        let licence =
            licence.map_err(|error| format!("the licence of the C library is missing: {LGPL}: {error}"))?;
        text.push_str(&section("The GNU C Library", &licence));
    }
    Ok(text)
}

fn section(title: &str, text: &str) -> String {
    format!("\n{line}\n{title}\n{line}\n\n{}\n", text.trim_end(), line = "=".repeat(80))
}

/// The title and the texts of a package. Our own packages count with what is vendored in them.
fn part(package: &Value) -> Result<Part> {
    let word = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
    let manifest = PathBuf::from(word("manifest_path"));
    let dir = manifest.parent().ok_or("a manifest has no directory")?;
    let mut title = format!("{} {} ({})", word("name"), word("version"), word("license"));
    let mut files = Vec::new();
    if package["source"].is_null() {
        find(&dir.join("src"), &mut files);
        title = format!("{}, vendored files", word("name"));
    } else {
        find(dir, &mut files);
    }
    files.sort();
    let read = |file: &PathBuf| fs::read(file).map(|text| String::from_utf8_lossy(&text).trim().to_owned());
    let texts: BTreeSet<String> = files.iter().filter_map(|file| read(file).ok()).collect();
    if texts.is_empty() {
        return Err(format!("{title} has no text of its licence in {}", dir.display()));
    }
    Ok(Part { title, texts: texts.into_iter().collect() })
}

/// Adds the files of licences in `dir` and below.
fn find(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if path.is_dir() {
            find(&path, files);
        } else if NAMES.iter().any(|start| name.starts_with(start)) && !name.ends_with(".rs") {
            files.push(path);
        }
    }
}

/// The packages that are linked into the programs: those of others, and ours that contain files of others.
fn linked(metadata: &Value, built: &Built) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let by_id = |list: Vec<Value>| -> BTreeMap<String, Value> {
        list.into_iter().map(|item| (item["id"].as_str().unwrap_or_default().to_owned(), item)).collect()
    };
    let packages = by_id(list(&metadata["packages"]));
    let nodes = by_id(list(&metadata["resolve"]["nodes"]));
    let is_ours = |package: &Value| built.packages.contains(&package["name"].as_str().unwrap_or_default());
    let mut open: Vec<String> =
        packages.iter().filter(|(_, package)| is_ours(package)).map(|(id, _)| id.clone()).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        for used in list(&nodes[&id]["deps"]) {
            let id = used["pkg"].as_str().unwrap_or_default();
            // No kind: a dependency of neither tests nor build scripts.
            let is_normal = list(&used["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            if is_normal && !is_macro(&packages[id]) {
                open.push(id.to_owned());
            }
        }
    }
    let with_files = |package: &&Value| !package["source"].is_null() || vendors(package);
    seen.iter().map(|id| &packages[id]).filter(with_files).cloned().collect()
}

/// Whether the package runs in the compiler alone.
fn is_macro(package: &Value) -> bool {
    let targets = package["targets"].as_array().into_iter().flatten();
    let mut kinds = targets.flat_map(|target| target["kind"].as_array().into_iter().flatten());
    kinds.any(|kind| kind == "proc-macro")
}

/// Whether a package of ours contains files of others.
fn vendors(package: &Value) -> bool {
    let mut files = Vec::new();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    find(&manifest.with_file_name("src"), &mut files);
    !files.is_empty()
}

fn metadata(source: &Path) -> Result<Value> {
    let mut command = cargo(["metadata", "--locked", "--format-version", "1"]);
    command.args(["--filter-platform", "x86_64-unknown-linux-gnu", "--manifest-path"]);
    let output = command.arg(source.join("Cargo.toml")).output().map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::workspace;

    #[test]
    fn each_linked_package_brings_the_text_of_its_licence() {
        if !Path::new(LGPL).exists() {
            return println!(
                "without {LGPL}, which Debian has: the licences of the programs are not collected"
            );
        }
        let text = collect(workspace(), &PROGRAMS).expect("each has a text");
        for part in ["parquet ", "libsqlite3-sys ", "memchr ", "dents-cli, vendored files", "spin "] {
            assert!(text.contains(&format!("\n  {part}")), "{part} is missing");
        }
        // Used by tests, by the compiler, and by nothing that is in a release.
        for part in ["proptest ", "serde_derive ", "pyo3 "] {
            assert!(!text.contains(&format!("\n  {part}")), "{part} is in no program");
        }
        assert!(
            text.contains("UNICODE, INC. LICENSE AGREEMENT")
                && text.contains("GNU LESSER GENERAL PUBLIC LICENSE")
        );
    }

    #[test]
    fn the_module_has_other_parts() {
        let text = collect(workspace(), &MODULE).expect("each has a text");
        for part in ["pyo3 ", "arrow-array ", "parquet "] {
            assert!(text.contains(&format!("\n  {part}")), "{part} is missing");
        }
        assert!(!text.contains("GNU LESSER"), "it is linked to the C library of the system");
    }
}
