//! `cargo xtask test`: everything that a change must pass, in the order in which it fails fastest.
//!
//! The two sides of the workspace are never named in one cargo invocation: that would unify features, and
//! turn on `std` in what `dls` links. Each crate of the `no_std` side is linted, tested and documented by a
//! call of its own, which also shows that each stands on its own manifest.

use crate::step::{Result, Steps, cargo, target_dir};
use crate::tools;

/// The side that runs without libc and std, from the bottom up.
const NO_STD: &[&str] = &["dents-rt", "dents-sys", "dents", "dents-locale", "dents-render", "dls"];
/// The side that stands on std: the `dents` program, and what tests and measures.
const STD: &[&str] = &["dents-sink", "dents-cli", "dents-lab", "xtask"];
/// Of these, whose tests are of nothing but itself.
const STD_TESTED_ALONE: &[&str] = &["dents-sink", "dents-cli"];

pub(crate) fn run() -> Result<()> {
    tools::ensure(tools::FOR_TESTS)?;
    let mut steps = Steps::default();
    steps.run("format", &mut cargo(["fmt", "--all", "--check"]));
    lint(&mut steps);
    let built = build(&mut steps);
    unit_tests(&mut steps);
    if built {
        process_tests(&mut steps);
    }
    document(&mut steps);
    steps.run("tidy", &mut cargo(["test", "--package", "xtask"]));
    steps.finish()
}

fn lint(steps: &mut Steps) {
    for package in NO_STD.iter().chain(STD) {
        let args = ["clippy", "--package", package, "--all-targets", "--", "-D", "warnings"];
        steps.run(&format!("lints of {package}"), &mut cargo(args));
    }
}

/// The binaries that the process tests run, and `dls` on std, as other architectures have it.
fn build(steps: &mut Steps) -> bool {
    let release = steps.run("dls, release", &mut cargo(["build", "--release", "--package", "dls"]));
    let checked =
        steps.run("dls, assertions on", &mut cargo(["build", "--profile", "checked", "--package", "dls"]));
    // Elsewhere than the others: its `dls` would take the place of the one without libc.
    let mut on_std = cargo(["build", "--package", "dls", "--features", "std"]);
    steps.run("dls on std", on_std.env("CARGO_TARGET_DIR", target_dir().join("on-std")));
    release && checked
}

fn unit_tests(steps: &mut Steps) {
    for package in NO_STD {
        steps.run(&format!("tests of {package}"), &mut cargo(["test", "--package", package]));
    }
    for package in STD_TESTED_ALONE {
        // Fast enough for large trees, and with every assertion; without the minutes that one optimised link takes for each test.
        let args = ["test", "--profile", "checked", "--package", package];
        steps.run(&format!("tests of {package}"), &mut cargo(args));
    }
    let mut on_std = cargo(["test", "--package", "dents-rt", "--features", "std"]);
    steps.run("tests of dents-rt on std", on_std.env("CARGO_TARGET_DIR", target_dir().join("on-std")));
}

fn process_tests(steps: &mut Steps) {
    let mut command = cargo(["test", "--package", "dents-lab", "--no-fail-fast"]);
    for (variable, profile) in [("DLS", "release"), ("DLS_CHECKED", "checked")] {
        if std::env::var_os(variable).is_none() {
            command.env(variable, target_dir().join(profile).join("dls"));
        }
    }
    // Locales with an order of their own count only where they are: elsewhere GNU ls falls back to C.
    if std::env::var_os("DLS_LOCALES").is_none() && tools::locales(tools::LOCALES) {
        command.env("DLS_LOCALES", "1");
    }
    // Here nothing is skipped for want of FUSE, unless somebody says DLS_FUSE=optional.
    if std::env::var_os("DLS_FUSE").is_none() {
        command.env("DLS_FUSE", "required");
    }
    steps.run("dls as a process, against GNU ls", &mut command);
}

fn document(steps: &mut Steps) {
    for package in NO_STD.iter().chain(STD) {
        // Private items too: modules explain themselves by what is inside them.
        let args = ["doc", "--no-deps", "--document-private-items", "--quiet", "--package", package];
        steps.run(&format!("docs of {package}"), cargo(args).env("RUSTDOCFLAGS", "-D warnings"));
    }
}
