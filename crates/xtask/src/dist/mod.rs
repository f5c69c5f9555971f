//! `cargo xtask dist`: the files of a release, in `target/dist`.
//!
//! | file | content |
//! |---|---|
//! | `dents-VERSION-x86_64-linux.tar.gz` | static programs, manual pages, completions, licences |
//! | `dents_VERSION-1_amd64.deb` | the same for Debian, and `dls-libc` |
//! | `dents-VERSION-*.whl` | the Python package |
//! | `dls-VERSION.cdx.json`, `dents-…`, `dents-python-…` | what each program and the module in the wheel are built from (CycloneDX) |
//! | `SHA256SUMS` | the checksums of all these |
//!
//! Everything is built from the last commit, in a copy of it, so that a file that is not in the repository has no influence.
//! Two builds of a commit give the same bytes: times are that of the commit, and paths of the machine are replaced
//! (`build.rs`). `--check` shows it: its second build is in another directory.

pub(crate) mod build;
mod debian;
mod licences;
mod sbom;
mod stage;
mod trial;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::build::Workshop;
use crate::step::{Result, Steps, target_dir, workspace};

const USAGE: &str = "\
usage: cargo xtask dist [--check | --test] [--no-wheel]

Builds the files of a release from the last commit, into target/dist.
  --check      build a second time in another directory, and compare every byte
  --test       install, run and remove the Debian package of target/dist in a clean Debian root, which mmdebstrap makes
  --no-wheel   without the Python package
";

pub(crate) fn run(words: &[&str]) -> Result<()> {
    let (mut check, mut test, mut with_wheel) = (false, false, true);
    for word in words {
        match *word {
            "--check" => check = true,
            "--test" => test = true,
            "--no-wheel" => with_wheel = false,
            "--help" | "-h" => {
                print!("{USAGE}");
                return Ok(());
            }
            word => return Err(format!("dist has no option {word}\n{USAGE}")),
        }
    }
    let out = target_dir().join("dist");
    if test {
        return trial::run(&out);
    }
    if !git(&["status", "--porcelain"])?.is_empty() {
        println!("== changes that are not committed are not in the release");
    }
    // By its name: a commit that is made meanwhile has no influence on the second build.
    let commit = git(&["rev-parse", "HEAD"])?;
    make(&Workshop::new("dist-build/first", &commit)?, &out, with_wheel)?;
    if check {
        // Longer, so that a path of it which is in a file changes the length of the file too.
        let again = target_dir().join("dist-build/again");
        make(&Workshop::new("dist-build/a-second-directory", &commit)?, &again, with_wheel)?;
        compare(&out, &again)?;
    }
    println!("\n{}", fs::read_to_string(out.join("SHA256SUMS")).unwrap_or_default());
    Ok(())
}

/// All files of a release.
fn make(workshop: &Workshop, out: &Path, with_wheel: bool) -> Result<()> {
    let _ = fs::remove_dir_all(out);
    written(out, fs::create_dir_all(out))?;
    let mut steps = Steps::default();
    let built = workshop.programs(&mut steps);
    if built {
        let notices = licences::collect(&workshop.source, &licences::PROGRAMS)?;
        stage::tarball(workshop, &notices, out)?;
        debian::package(&mut steps, workshop, &notices, out)?;
        sbom::write(&mut steps, workshop, out)?;
        if with_wheel {
            wheel::build(&mut steps, workshop, out)?;
        }
    }
    steps.finish()?;
    checksums(out)
}

/// `SHA256SUMS`, to be read by `sha256sum --check`.
fn checksums(out: &Path) -> Result<()> {
    let mut sum = Command::new("sha256sum");
    sum.arg("--").args(names(out)?).current_dir(out);
    let output = sum.output().map_err(|error| format!("sha256sum: {error}; it is a part of coreutils"))?;
    if !output.status.success() {
        return Err(format!("sha256sum: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let file = out.join("SHA256SUMS");
    written(&file, fs::write(&file, output.stdout))
}

/// The names in a directory, sorted.
fn names(dir: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(dir).map_err(|error| format!("cannot read {}: {error}", dir.display()))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// An error where two directories differ in a name or in a byte of a file.
fn compare(first: &Path, second: &Path) -> Result<()> {
    let diff = Command::new("diff").args(["-rq", "--"]).args([first, second]).output();
    let output = diff.map_err(|error| format!("diff: {error}"))?;
    if output.status.success() {
        println!("\n== two builds: the same bytes");
        return Ok(());
    }
    Err(format!(
        "two builds differ:\n{}`diffoscope {} {}` shows where",
        String::from_utf8_lossy(&output.stdout),
        first.display(),
        second.display()
    ))
}

/// An error of writing, with the name of the file.
fn written<T>(path: &Path, outcome: std::io::Result<T>) -> Result<T> {
    outcome.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Copies a file into a directory, which is made if it is missing, and returns its new path.
fn copy(from: &Path, dir: &Path, name: &str) -> Result<PathBuf> {
    let to = dir.join(name);
    written(dir, fs::create_dir_all(dir))?;
    fs::copy(from, &to)
        .map_err(|error| format!("cannot copy {} to {}: {error}", from.display(), to.display()))?;
    Ok(to)
}

/// What git prints about the repository.
fn git(args: &[&str]) -> Result<String> {
    let output = Command::new("git").args(args).current_dir(workspace()).output();
    let output = output.map_err(|error| format!("git: {error}; a release is built from a commit"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("git {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_the_files_of_this_version() {
        let page = include_str!("../../../../docs/INSTALL.md");
        let package = debian::file(Path::new("")).display().to_string();
        let wheel = format!("dents-{}-cp310-abi3-", stage::VERSION);
        for name in [package, wheel, format!("{}.tar.gz", stage::name())] {
            assert!(page.contains(&name), "docs/INSTALL.md has no {name}");
        }
    }
}
