//! The Debian package: `dls`, `dls-libc` and `dents` beside `ls`, which it leaves alone.
//!
//! `package.toml` describes it to cargo-deb. The manifest there is that of an empty package, because cargo-deb reads one, and
//! no package of this workspace has all three programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::build::Workshop;
use super::stage::{Layout, VERSION, shared};
use crate::step::{Result, Steps, cargo, copy, or_told, printed, write};
use crate::tools;

/// Of the package, with the word VERSION for the version.
const MANIFEST: &str = include_str!("package.toml");
/// Where lintian finds the reasons for what it would report.
const OVERRIDES: &str = include_str!("lintian-overrides");
/// Our licences as Debian wants them: MIT in full, Apache by reference.
const COPYRIGHT: &str = include_str!("copyright");
/// What the package is called.
const NAME: &str = "dents";
/// Tags of lintian that are for uploads to Debian alone.
const OF_UPLOADS: &str = "initial-upload-closes-no-bugs";

/// The file of the package, in the directory of a release.
pub(super) fn file(out: &Path) -> PathBuf {
    out.join(format!("{NAME}_{VERSION}-1_amd64.deb"))
}

pub(super) fn package(steps: &mut Steps, workshop: &Workshop, notices: &str, out: &Path) -> Result<()> {
    let Some(tool) = or_told(tools::pinned(&tools::CARGO_DEB), "the release has no Debian package") else {
        return Ok(());
    };
    let dir = workshop.staged.join("debian");
    stage(workshop, notices, &dir)?;
    // No profile of its own: the programs are built and stripped.
    let mut deb = Command::new(tool);
    deb.args(["--no-build", "--no-strip", "--no-dbgsym", "--manifest-path"]).arg(dir.join("Cargo.toml"));
    deb.arg("--output").arg(file(out)).envs(workshop.environment(""));
    deb.env("CARGO", cargo(["--version"]).get_program()).env("CARGO_TARGET_DIR", dir.join("target"));
    if steps.run("Debian package", &mut deb) {
        check(steps, out);
    }
    Ok(())
}

/// Runs lintian, where it is or can be installed.
fn check(steps: &mut Steps, out: &Path) {
    if or_told(tools::ensure(tools::FOR_DEBIAN), "the Debian package is not checked by lintian").is_none() {
        return;
    }
    let mut lintian = Command::new("lintian");
    // Of its own user, it would warn about root.
    lintian.args(["--allow-root", "--fail-on=error,warning", "--info", "--suppress-tags", OF_UPLOADS]);
    steps.run("lintian", lintian.arg(file(out)));
}

/// Writes the files of the package below `dir`, and the manifest that lists them.
fn stage(workshop: &Workshop, notices: &str, dir: &Path) -> Result<()> {
    let root = dir.join("usr");
    for program in ["dls", "dls-libc", "dents"] {
        copy(&workshop.program(program), &root.join("bin"), program)?;
    }
    let share = root.join("share");
    shared(&workshop.source, &share, Layout::Debian)?;
    let doc = share.join("doc").join(NAME);
    copy(&workshop.source.join("CHANGELOG.md"), &doc, "changelog")?;
    for (file, text) in [
        (doc.join("third-party.txt"), notices.to_owned()),
        // The manual page of the other build.
        (share.join("man/man1/dls-libc.1"), ".so man1/dls.1\n".to_owned()),
        (dir.join("changelog.Debian"), changelog(workshop)?),
        (dir.join("lintian-overrides"), OVERRIDES.to_owned()),
        (dir.join("copyright"), COPYRIGHT.to_owned()),
        (dir.join("Cargo.toml"), MANIFEST.replace("VERSION", VERSION)),
        (dir.join("lib.rs"), String::new()),
    ] {
        write(file, text)?;
    }
    Ok(())
}

/// One entry, of the time of the commit; the changes themselves are in `changelog.gz`.
fn changelog(workshop: &Workshop) -> Result<String> {
    let mut date = Command::new("date");
    date.args(["--utc", "--rfc-email", "--date", &format!("@{}", workshop.epoch)]).env("LC_ALL", "C");
    let maintainer = MANIFEST.lines().find_map(|line| line.strip_prefix("maintainer = ")).unwrap_or_default();
    Ok(format!(
        "{NAME} ({VERSION}-1) unstable; urgency=medium\n\n  * Version {VERSION}: see changelog.gz.\n\n -- {}  {}",
        maintainer.trim_matches('"'),
        printed(&mut date)?
    ))
}
