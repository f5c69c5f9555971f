//! The programs of a release, built from a copy of a commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Result, Steps, at, cargo, printed, succeed, target_dir, workspace};

/// The platform of the programs. Named to cargo, so that `RUSTFLAGS` concern the programs and no build script.
pub(super) const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Where a release is built.
pub(super) struct Workshop {
    /// The files of the commit.
    pub(super) source: PathBuf,
    /// The target directory of cargo. It stays, so that the next build is a short one.
    pub(super) target: PathBuf,
    /// Files to be packed.
    pub(super) staged: PathBuf,
    /// When the commit was made, in seconds since 1970.
    pub(super) epoch: String,
}

impl Workshop {
    /// A workshop in this directory below `target`, with a fresh copy of `commit`.
    pub(super) fn new(name: &str, commit: &str) -> Result<Workshop> {
        let epoch = git(&["log", "-1", "--format=%ct", commit])?;
        let dir = target_dir().join(name);
        let [source, target, staged] = ["source", "target", "staged"].map(|part| dir.join(part));
        for fresh in [&source, &staged] {
            let _ = fs::remove_dir_all(fresh);
            at(fresh, fs::create_dir_all(fresh))?;
        }
        export(commit, &source)?;
        Ok(Workshop { source, target, staged, epoch })
    }

    /// Builds `dls`, `dls-libc` and `dents`.
    pub(super) fn programs(&self, steps: &mut Steps) -> bool {
        // A program on glibc is static where the target feature says so; `dls` has its own arguments for the linker.
        let is_static = "-C target-feature=+crt-static";
        // `strip` of the profile does not reach this package, which has a profile of its own.
        let stripped = "-C link-arg=-Wl,--strip-all";
        steps.run("dls", &mut self.cargo("dents-ls", &[], stripped))
            && steps.run("dls-libc", &mut self.cargo("dents-ls", &["--features", "libc"], stripped))
            && steps.run("dents", &mut self.cargo("dents-cli", &[], is_static))
    }

    /// A built program.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        // `dls` and `dls-libc` are one program with different features: each has a directory.
        let (part, file) = match name {
            "dls-libc" => ("libc", "dls"),
            name => ("static", name),
        };
        self.target.join(part).join(PLATFORM).join("release").join(file)
    }

    fn cargo(&self, package: &str, features: &[&str], flags: &str) -> Command {
        let mut build = cargo(["build", "--release", "--locked", "--package", package, "--target", PLATFORM]);
        let part = if features.is_empty() { "static" } else { "libc" };
        build.args(features).arg("--target-dir").arg(self.target.join(part));
        build.arg("--manifest-path").arg(self.source.join("Cargo.toml"));
        build.envs(self.environment(flags));
        build
    }

    /// Variables with which a build depends on the source alone: the time is that of the commit, and the paths of this
    /// machine are replaced. `flags` are more flags for rustc.
    pub(super) fn environment(&self, flags: &str) -> Vec<(&'static str, String)> {
        let home = std::env::var("CARGO_HOME")
            .unwrap_or_else(|_| format!("{}/.cargo", std::env::var("HOME").unwrap_or_default()));
        let paths = [
            (self.source.as_path(), "/dents"),
            (self.target.as_path(), "/target"),
            (Path::new(&home), "/cargo"),
        ];
        let replace =
            |option: &str| paths.map(|(from, to)| format!("{option}={}={to}", from.display())).join(" ");
        let rust = format!("{} {flags}", replace("--remap-path-prefix"));
        vec![
            ("SOURCE_DATE_EPOCH", self.epoch.clone()),
            ("RUSTFLAGS", rust.trim().to_owned()),
            ("CFLAGS", replace("-ffile-prefix-map")),
            ("CARGO_INCREMENTAL", "0".to_owned()),
        ]
    }
}

/// Writes the files of `commit` into `to`.
fn export(commit: &str, to: &Path) -> Result<()> {
    let archive = to.with_extension("tar").display().to_string();
    git(&["archive", "--output", &archive, commit])?;
    succeed(Command::new("tar").args(["-xf", &archive, "-C"]).arg(to))
}

/// What git prints about the repository.
pub(super) fn git(args: &[&str]) -> Result<String> {
    Ok(printed(Command::new("git").args(args).current_dir(workspace()))?.trim().to_owned())
}
