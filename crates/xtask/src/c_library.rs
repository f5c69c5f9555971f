//! `cargo xtask install-c`: builds the C library and puts it where C programs look for it.
//!
//! ```text
//! PREFIX/include/dents.h
//! PREFIX/lib/libdents.so.VERSION   libdents.so.0 and libdents.so lead to it
//! PREFIX/lib/libdents.a
//! PREFIX/lib/pkgconfig/dents.pc
//! ```

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::step::{Result, cargo, succeed, target_dir, workspace};

const USAGE: &str = "\
usage: cargo xtask install-c [--walk-only] [--prefix DIR] [--destdir DIR] [--profile NAME]

Builds libdents and installs header, shared and static library and the file for pkg-config.
  --walk-only      without scans, so without Arrow, Parquet and SQLite
  --prefix DIR     where they belong [default: /usr/local]
  --destdir DIR    put before the prefix, for packages
  --profile NAME   the profile of cargo [default: bindings]
";

/// The number of the interface, as in crates/dents-c/build.rs.
const INTERFACE: u32 = 0;

pub(crate) fn run(words: &[&str]) -> Result<()> {
    let (mut prefix, mut destdir, mut profile, mut parts) = ("/usr/local", "", "bindings", Parts::All);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let target = match *word {
            "--help" | "-h" => {
                print!("{USAGE}");
                return Ok(());
            }
            "--walk-only" => {
                parts = Parts::Walk;
                continue;
            }
            "--prefix" => &mut prefix,
            "--destdir" => &mut destdir,
            "--profile" => &mut profile,
            word => return Err(format!("install-c has no option {word}\n{USAGE}")),
        };
        *target = words.next().ok_or_else(|| format!("{word} needs a value\n{USAGE}"))?;
    }
    if !Path::new(prefix).is_absolute() {
        return Err(format!("--prefix {prefix}: name it from the root, as it becomes a part of dents.pc"));
    }
    let built = build(profile, parts)?;
    let root = PathBuf::from(format!("{destdir}{prefix}"));
    install(&built, &root, prefix, parts)
        .map_err(|error| format!("cannot install into {}: {error}", root.display()))?;
    println!("installed into {}; if it is not searched by the linker, run ldconfig", root.display());
    Ok(())
}

/// What the library has.
#[derive(Clone, Copy, PartialEq)]
enum Parts {
    All,
    Walk,
}

/// Returns the directory of the libraries.
fn build(profile: &str, parts: Parts) -> Result<PathBuf> {
    let mut build = cargo(["build", "--package", "dents-c", "--profile", profile]);
    let mut target = target_dir();
    if parts == Parts::Walk {
        // Elsewhere than the whole library, whose place it would take.
        target = target.join("walk-only");
        build.arg("--no-default-features").env("CARGO_TARGET_DIR", &target);
    }
    succeed(&mut build)?;
    Ok(target.join(if profile == "dev" { "debug" } else { profile }))
}

fn install(built: &Path, root: &Path, prefix: &str, parts: Parts) -> std::io::Result<()> {
    let (lib, include) = (root.join("lib"), root.join("include"));
    fs::create_dir_all(lib.join("pkgconfig"))?;
    fs::create_dir_all(&include)?;
    let version = env!("CARGO_PKG_VERSION");
    let shared = format!("libdents.so.{version}");
    replace(&built.join("libdents.so"), &lib.join(&shared))?;
    for link in [format!("libdents.so.{INTERFACE}"), "libdents.so".to_owned()] {
        let path = lib.join(link);
        let _ = fs::remove_file(&path);
        symlink(&shared, path)?;
    }
    replace(&built.join("libdents.a"), &lib.join("libdents.a"))?;
    replace(&workspace().join("crates/dents-c/include/dents.h"), &include.join("dents.h"))?;
    fs::write(lib.join("pkgconfig/dents.pc"), pkg_config(prefix, version, parts))
}

/// Copies by way of a new file: programs that run keep the old library, whole.
fn replace(from: &Path, to: &Path) -> std::io::Result<()> {
    let new = to.with_extension("new");
    fs::copy(from, &new)?;
    fs::rename(new, to)
}

/// The libraries of `Libs.private` are those that `rustc --print native-static-libs` names.
fn pkg_config(prefix: &str, version: &str, parts: Parts) -> String {
    let (description, define) = match parts {
        Parts::All => ("Walks of file trees, and scans as Arrow streams", ""),
        Parts::Walk => ("Walks of file trees", " -DDENTS_WALK_ONLY"),
    };
    format!(
        "prefix={prefix}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n\
         Name: dents\nDescription: {description}\nVersion: {version}\n\
         Libs: -L${{libdir}} -ldents\nLibs.private: -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc\n\
         Cflags: -I${{includedir}}{define}\n"
    )
}
