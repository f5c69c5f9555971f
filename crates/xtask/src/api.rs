//! `cargo xtask api`: the public interface of `dents`, a line for each item, in `crates/dents/api.txt`.
//!
//! `dents` is the one package whose interface is promised (docs/LIBRARY.md). A test compares the listing, so that no change to the
//! interface goes unseen; with the variable [`WRITE`] it writes. The lines come from rustdoc's JSON, by `public-api`. That JSON
//! is unstable: `RUSTC_BOOTSTRAP` makes a stable rustdoc write it, and its format changes with the releases of Rust.

use crate::step::{Result, cargo, only};

/// If this variable is set, the test writes the listing instead of comparing it.
const WRITE: &str = "DENTS_WRITE_API";

pub(crate) fn run() -> Result<()> {
    let test = ["test", "--quiet", "--package", "xtask", "--", "api::tests::is_as_listed", "--nocapture"];
    only("writing crates/dents/api.txt", cargo(test).env(WRITE, "1"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use serde_json::Value;

    use super::WRITE;
    use crate::step::{cargo, target_dir, workspace};

    /// The format that Rust 1.95 writes and that the saved listing was made from.
    const FORMAT: u64 = 57;
    /// Items of `dents-core` that `dents` exports: the constants of the one, the variants of the other.
    const EXPORTED: &[&str] = &["pub const dents_core::needs::Needs::", "pub dents_core::tree::Step::"];

    /// Rustdoc's JSON of a package with all features. Its target directory is its own, since the variable would make the others
    /// compile again.
    fn json(package: &str) -> PathBuf {
        let target = target_dir().join("api");
        let args = ["rustdoc", "--quiet", "--package", package, "--lib", "--all-features"];
        let mut rustdoc = cargo(args);
        rustdoc.args(["--", "-Z", "unstable-options", "--output-format", "json"]);
        let output = rustdoc.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", &target).output();
        let output = output.expect("cargo rustdoc runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        target.join("doc").join(package.replace('-', "_")).with_extension("json")
    }

    fn format(json: &[u8]) -> u64 {
        let value: Value = serde_json::from_slice(json).expect("rustdoc writes JSON");
        value["format_version"].as_u64().expect("it has a version")
    }

    /// The public items, a line each, without those that every type has or derives.
    fn items(json: PathBuf) -> Vec<String> {
        let api = public_api::Builder::from_rustdoc_json(json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build();
        api.expect("public-api reads it").items().map(|item| item.to_string()).collect()
    }

    #[test]
    fn is_as_listed() {
        let json = [json("dents"), json("dents-core")];
        let found = format(&fs::read(&json[0]).expect("rustdoc wrote it"));
        if found != FORMAT {
            println!("not compared: rustdoc writes format {found}, the listing was made from {FORMAT}");
            return;
        }
        let [all, core] = json.map(items);
        let exported = core.iter().filter(|item| EXPORTED.iter().any(|start| item.starts_with(start)));
        let listing: String = all.iter().chain(exported).map(|item| format!("{item}\n")).collect();
        let path = workspace().join("crates/dents/api.txt");
        if std::env::var_os(WRITE).is_some() {
            fs::write(&path, &listing).expect("it can be written");
        }
        let saved = fs::read_to_string(&path).unwrap_or_default();
        let lines = |new: &str, old: &str, sign: char| -> String {
            let only = new.lines().filter(|line| !old.lines().any(|other| other == *line));
            only.map(|line| format!("\n{sign} {line}")).collect()
        };
        let (gone, come) = (lines(&saved, &listing, '-'), lines(&listing, &saved, '+'));
        assert!(
            saved == listing,
            "the public interface of dents changed; `cargo xtask api` saves it:{gone}{come}"
        );
    }
}
