//! `cargo xtask listing`: writes `crates/dls/listing.ld`, the functions that listings of a few files execute, which the
//! linker places side by side.
//!
//! The kernel maps a program's code 64 KiB at a time, 1 to 2 µs each. In the compiler's order, the functions of a short
//! listing lie in a dozen such windows; side by side, in four. The command builds `dls` with its symbols, and takes the functions that
//! short listings execute from Callgrind. (It refuses system calls that it does not know: then the list has the functions of a fallback too.)

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex_lite::Regex;

use crate::step::{Result, cargo, printed, read, spell, succeed, target_dir, workspace, write};
use crate::tools;

/// The listings of ten files whose functions are listed.
const LISTINGS: &[&[&str]] =
    &[&[], &["-al"], &["-l", "--color=always"], &["-C", "--color=always"], &["-A"], &["-F"]];

/// The environments of these listings. The functions of the first one come first in the list, then those that each of
/// the others needs in addition: so a listing in C touches no window because of other locales.
const ENVIRONMENTS: &[&[(&str, &str)]] = &[
    &[("LANG", "C.UTF-8")],
    &[
        ("LANG", "C.UTF-8"),
        ("TZ", "CET-1CEST,M3.5.0,M10.5.0/3"),
        ("LS_COLORS", "di=01;34:ln=01;36:ex=01;32:*.gz=01;31"),
    ],
    &[("LANG", "en_US.UTF-8")],
];

const HEAD: &str = "\
/* Functions that short listings execute, side by side: fewer pages are touched. Written by `cargo xtask listing`; a name
 * that no longer fits does no harm. */
SECTIONS {
    .text.listing : {
";

pub(crate) fn run() -> Result<()> {
    if !tools::locales(&["en_US"]) {
        return Err("the locale en_US.UTF-8 is missing, please generate it first (localedef)".to_string());
    }
    tools::ensure(tools::FOR_LISTING)?;
    let program = build()?;
    let mut listed: Vec<String> = Vec::new();
    for environment in ENVIRONMENTS {
        let mut names = BTreeSet::new();
        for options in LISTINGS {
            names.extend(executed(&program, options, environment)?);
        }
        let new: Vec<String> = patterns(&names).into_iter().filter(|name| !listed.contains(name)).collect();
        listed.extend(new);
    }
    let path = workspace().join("crates/dls/listing.ld");
    let lines: String = listed.iter().map(|name| format!("        *(.text*.{name})\n")).collect();
    write(&path, format!("{HEAD}{lines}    }}\n}}\nINSERT BEFORE .text;\n"))?;
    println!("{}: {} functions", path.display(), listed.len());
    Ok(())
}

/// The release build of `dls`, with the names of its functions, beside the one that tests and users execute.
fn build() -> Result<PathBuf> {
    let target = target_dir().join("symbols");
    let mut build = cargo(["build", "--release", "--quiet", "--package", "dents-ls", "--target-dir"]);
    succeed(build.arg(&target).env("CARGO_PROFILE_RELEASE_STRIP", "false"))?;
    Ok(target.join("release/dls"))
}

fn ten_files() -> Result<PathBuf> {
    let directory = target_dir().join("symbols/ten");
    (0..10).try_for_each(|number| write(directory.join(format!("file{number}")), ""))?;
    Ok(directory)
}

/// The functions that a command executes, by Callgrind. It names each once, where it first calls or is called.
fn executed(dls: &Path, options: &[&str], environment: &[(&str, &str)]) -> Result<BTreeSet<String>> {
    let costs = target_dir().join("symbols/callgrind");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind", "--demangle=no"]);
    valgrind
        .arg(format!("--callgrind-out-file={}", costs.display()))
        .arg(dls)
        .args(options)
        .arg(ten_files()?);
    // Only this environment, because it decides which functions are executed.
    valgrind.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    println!("   {}", spell(valgrind.env("TERM", "xterm-256color").envs(environment.iter().copied())));
    printed(&mut valgrind)?;
    let name = Regex::new(r"(?m)^c?fn=\(\d+\) ([^'\n]+)").expect("a pattern");
    Ok(name.captures_iter(&read(&costs)?).map(|found| found[1].to_owned()).collect())
}

/// The Rust functions among `names`, without hashes, which differ from compiler to compiler and from machine to
/// machine.
fn patterns(names: &BTreeSet<String>) -> BTreeSet<String> {
    let hash = Regex::new("17h[0-9a-f]{16}E.*$").expect("a pattern");
    let disambiguator = Regex::new("Cs[0-9A-Za-z]+_").expect("a pattern");
    let rust = names.iter().filter(|name| name.starts_with("_ZN") || name.starts_with("_RNv"));
    rust.map(|name| disambiguator.replace_all(&hash.replace(name, "17h*"), "Cs*_").into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_become_wildcards() {
        let names =
            ["_ZN3dls3run17h0123456789abcdefE.llvm.7", "_RNvCs9aZ_7___rustc14___rust_realloc", "memcpy"];
        let names = names.map(String::from).into();
        let patterns: Vec<String> = patterns(&names).into_iter().collect();
        assert_eq!(patterns, ["_RNvCs*_7___rustc14___rust_realloc", "_ZN3dls3run17h*"]);
    }
}
