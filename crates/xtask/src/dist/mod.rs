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
use std::path::Path;
use std::process::Command;

use self::build::{Workshop, git};
use crate::step::{Result, Steps, at, names, printed, succeed, target_dir, write};

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
    at(out, fs::create_dir_all(out))?;
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
    write(out.join("SHA256SUMS"), printed(&mut sum)?)
}

/// An error where two directories differ in a name or in a byte of a file.
fn compare(first: &Path, second: &Path) -> Result<()> {
    let mut diff = Command::new("diff");
    let (first_name, second_name) = (first.display(), second.display());
    succeed(diff.args(["-rq", "--"]).args([first, second]))
        .map_err(|_| format!("two builds differ: `diffoscope {first_name} {second_name}` shows where"))?;
    println!("\n== two builds: the same bytes");
    Ok(())
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
