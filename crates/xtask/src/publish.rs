//! `cargo xtask publish`: everything `cargo publish` does for the published packages, except the upload. It takes minutes and the
//! index of crates.io, so `cargo xtask test` checks only what breaks most: the test below.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::step::{Result, cargo, only, target_dir};

pub(crate) fn run() -> Result<()> {
    // A new directory each time: cargo assumes that a package of a registry is unchanged while its version is, even
    // for the local registry in the target directory, and would build the packages of the last run again.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let target = target_dir().join(format!("publish-{now}"));
    let mut publish = cargo(["publish", "--workspace", "--dry-run", "--allow-dirty"]);
    let outcome =
        only("archives of the published packages, each built", publish.env("CARGO_TARGET_DIR", &target));
    let _ = fs::remove_dir_all(&target);
    outcome
}

/// A published package has what crates.io wants, uses no package that is not published (a dev-dependency without a version is left
/// out of the archive), and is small and has its licence.
#[test]
fn published_packages_can_be_published() {
    use crate::tidy::{packages, text};

    let ours = packages().into_iter().filter(|package| package["source"].is_null());
    // Cargo prints `null` for any registry, and an empty list for `publish = false`.
    let (published, others): (Vec<_>, Vec<_>) = ours.partition(|package| package["publish"].is_null());
    let others: Vec<String> = others.iter().map(|package| text(&package["name"])).collect();
    for package in &published {
        let name = text(&package["name"]);
        for field in ["description", "license", "rust_version", "readme"] {
            assert!(!text(&package[field]).is_empty(), "{name} has no {field}");
        }
        for field in ["keywords", "categories"] {
            let count = package[field].as_array().map_or(0, Vec::len);
            assert!((1..=5).contains(&count), "{name} has {count} {field}; 1 to 5 are allowed");
        }
        for used in package["dependencies"].as_array().into_iter().flatten() {
            let (other, any) = (text(&used["name"]), used["req"] == "*");
            let ours = others.contains(&other) || !used["path"].is_null();
            assert!(!ours || used["kind"] == "dev" || !any, "{name} uses {other} without a version");
            assert!(!others.contains(&other) || any, "{name} uses {other}, which is not published");
        }
        let args = ["package", "--list", "--allow-dirty", "--offline", "--quiet", "--package", &name];
        let files = cargo(args).output().expect("cargo package runs").stdout;
        let files = String::from_utf8(files).expect("names of files are UTF-8");
        for wanted in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(files.lines().any(|file| file == wanted), "{name} has no {wanted}: see `include`");
        }
        let manifest = std::path::PathBuf::from(text(&package["manifest_path"]));
        let size = |file: &str| fs::metadata(manifest.with_file_name(file)).map_or(0, |data| data.len());
        let all: u64 = files.lines().map(size).sum();
        assert!(all <= 1 << 20, "the archive of {name} has {all} bytes; leave files out by `include`");
    }
}
