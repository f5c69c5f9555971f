//! The licences of what is in the programs, or in the Python module, besides our own code: one text for each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::build::PLATFORM;
use crate::step::{Result, cargo, printed, read};

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
    for package in linked(source, built)? {
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
        text.push_str(&section("The GNU C Library", &read(LGPL)?));
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
fn linked(source: &Path, built: &Built) -> Result<Vec<Value>> {
    let manifest = source.join("Cargo.toml").display().to_string();
    let common = ["--locked", "--manifest-path", &manifest];
    let mut tree = cargo(["tree", "--edges=normal,no-proc-macro", "--prefix=none", "--target", PLATFORM]);
    tree.args(common).args(built.packages.iter().flat_map(|package| ["--package", package]));
    let tree = printed(&mut tree)?;
    let names: BTreeSet<String> =
        tree.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    let mut metadata = cargo(["metadata", "--format-version=1", "--filter-platform", PLATFORM]);
    let metadata: Value = serde_json::from_str(&printed(metadata.args(common))?)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let word = |package: &Value, field: &str| package[field].as_str().unwrap_or_default().to_owned();
    let is_linked = |package: &&Value| {
        names.contains(&format!("{} v{}", word(package, "name"), word(package, "version")))
            && (!package["source"].is_null() || vendors(package))
    };
    Ok(metadata["packages"].as_array().into_iter().flatten().filter(is_linked).cloned().collect())
}

/// Whether a package of ours contains files of others.
fn vendors(package: &Value) -> bool {
    let mut files = Vec::new();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    find(&manifest.with_file_name("src"), &mut files);
    !files.is_empty()
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
        for part in ["parquet ", "libsqlite3-sys ", "memchr ", "dents-commands, vendored files", "spin "] {
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
