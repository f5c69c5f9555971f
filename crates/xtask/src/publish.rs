//! `cargo xtask publish`: everything `cargo publish` does for the published packages, except the upload.
//!
//! Cargo orders the packages by their dependencies and builds each from its archive, the others coming from a local registry.
//! That takes minutes and the index of crates.io, so `cargo xtask test` checks only what breaks most: the tests below.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::step::{Result, Steps, cargo, target_dir};

pub(crate) fn run() -> Result<()> {
    // A new directory each time: cargo assumes that a package of a registry is unchanged while its version is, even
    // for the local registry in the target directory, and would build the packages of the last run again.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let target = target_dir().join(format!("publish-{now}"));
    let mut steps = Steps::default();
    let mut publish = cargo(["publish", "--workspace", "--dry-run", "--allow-dirty"]);
    steps.run("archives of the published packages, each built", publish.env("CARGO_TARGET_DIR", &target));
    let _ = fs::remove_dir_all(&target);
    steps.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::Value;

    use crate::step::cargo;
    use crate::tidy::{packages, text};

    /// Packages that stay in this repository.
    const UNPUBLISHED: &[&str] =
        &["dents-arrow", "dents-c", "dents-fuzz", "dents-lab", "dents-python", "xtask"];
    /// Categories of crates.io (<https://crates.io/category_slugs>) that suit one of the packages.
    const CATEGORIES: &[&str] = &[
        "command-line-utilities",
        "concurrency",
        "encoding",
        "filesystem",
        "internationalization",
        "no-std",
        "os::linux-apis",
        "text-processing",
    ];
    /// The largest file of a package, and the largest package, in bytes.
    const LARGEST_FILE: u64 = 64 << 10;
    const LARGEST_PACKAGE: u64 = 1 << 20;

    /// The packages of this workspace, those that are published and the others.
    fn ours() -> (Vec<Value>, Vec<Value>) {
        let ours = packages().into_iter().filter(|package| package["source"].is_null());
        // Cargo prints `null` for any registry, and an empty list for `publish = false`.
        ours.partition(|package| package["publish"].is_null())
    }

    fn words(value: &Value) -> Vec<String> {
        value.as_array().into_iter().flatten().map(text).collect()
    }

    fn folder(package: &Value) -> PathBuf {
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        manifest.parent().map(Path::to_path_buf).unwrap_or_default()
    }

    /// Fields of the manifest that are missing or that crates.io refuses.
    fn gaps(package: &Value) -> Vec<String> {
        let mut gaps = Vec::new();
        for field in ["description", "license", "rust_version"] {
            if text(&package[field]).is_empty() {
                gaps.push(format!("has no {field}"));
            }
        }
        if !folder(package).join(text(&package["readme"])).is_file() {
            gaps.push("has no readme".to_string());
        }
        let (keywords, categories) = (words(&package["keywords"]), words(&package["categories"]));
        if !(1..=5).contains(&keywords.len()) || keywords.iter().any(|word| word.len() > 20) {
            gaps.push(format!(
                "has the keywords {keywords:?}; 1 to 5 are allowed, each of at most 20 letters"
            ));
        }
        let known = |word: &String| CATEGORIES.contains(&word.as_str());
        if !(1..=5).contains(&categories.len()) || !categories.iter().all(known) {
            gaps.push(format!("has the categories {categories:?}; 1 to 5 of {CATEGORIES:?} are allowed"));
        }
        gaps
    }

    /// Dependencies that crates.io could not resolve. It ignores a dev-dependency that has a path alone.
    fn unresolved(package: &Value, unpublished: &[String]) -> Vec<String> {
        let mut unresolved = Vec::new();
        for used in package["dependencies"].as_array().into_iter().flatten() {
            let (name, any) = (text(&used["name"]), used["req"] == "*");
            let is_dev = used["kind"] == "dev";
            if unpublished.contains(&name) && !(is_dev && any) {
                unresolved.push(format!(
                    "uses {name}, which is not published; as a dev-dependency, leave out its version"
                ));
            } else if !used["path"].is_null() && any && !is_dev {
                unresolved.push(format!("uses {name} by its path alone; add its version"));
            }
        }
        unresolved
    }

    #[test]
    fn published_packages_say_what_they_are() {
        let (published, others) = ours();
        let mut names: Vec<String> = others.iter().map(|package| text(&package["name"])).collect();
        names.sort();
        assert_eq!(names, UNPUBLISHED, "packages with `publish = false`");
        for package in &published {
            let faults = [gaps(package), unresolved(package, &names)].concat();
            assert!(faults.is_empty(), "{} {}", text(&package["name"]), faults.join("; "));
        }
    }

    /// The files of a package's archive, those aside that cargo adds.
    fn files(name: &str) -> Vec<String> {
        let args = ["package", "--list", "--allow-dirty", "--offline", "--quiet", "--package", name];
        let output = cargo(args).output().expect("cargo package runs");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let added = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml.orig"];
        let list = String::from_utf8(output.stdout).expect("names of files are UTF-8");
        list.lines().filter(|file| !added.contains(file)).map(String::from).collect()
    }

    #[test]
    fn archives_are_small_and_have_their_licence() {
        for package in ours().0 {
            let name = text(&package["name"]);
            let files = files(&name);
            for wanted in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
                assert!(files.iter().any(|file| file == wanted), "{name} has no {wanted}: see `include`");
            }
            let mut all = 0;
            for file in &files {
                let size = fs::metadata(folder(&package).join(file)).expect("it is there").len();
                assert!(size <= LARGEST_FILE, "{name}: {file} has {size} bytes; leave it out by `include`");
                all += size;
            }
            assert!(all <= LARGEST_PACKAGE, "{name} has {all} bytes");
        }
    }
}
