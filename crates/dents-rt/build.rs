//! Decides, in this one place, whether this build goes without libc, and passes the decision to three places:
//!
//! - to this crate, as `cfg(dents_libc_free)`;
//! - to this crate's test programs, as link arguments;
//! - to the build script of a crate that depends on this one directly, as `DEP_DENTS_RT_LIBC_FREE` (`1` or
//!   absent) and `DEP_DENTS_RT_LINK_ARGS` (separated by spaces). `tests/programs/build.rs` is that script, to be
//!   copied.

use std::env;
use std::path::Path;

/// Linker arguments of a binary without libc.
const LINK_ARGS: &[&str] = &[
    // No crt1.o, no libc, no libgcc: `entry!` brings everything.
    "-nostartfiles",
    "-nostdlib",
    // Each segment and each page touched at start costs 1 to 2 us of a start of 45. RELRO would cost 2, for nothing:
    // the mprotect it prepares is done by a libc.
    "-Wl,-z,norelro",
    // Notes and tables that are never read: there is no unwinder.
    "-Wl,--build-id=none",
    "-Wl,--no-eh-frame-hdr",
];

/// Two segments, read-execute and read-write: constants beside the code save 2 us. For lld, which rustc brings and
/// uses on x86-64 Linux; and for GNU ld before 2.44, to be announced by setting the variable `DENTS_RT_GNU_LD`.
const SEGMENTS_LLD: &str = "-Wl,--no-rosegment";
const SEGMENTS_GNU: &str = "-Wl,-z,noseparate-code";

/// At a fixed address: constants that hold pointers are then right as they are in the file. Position-independent,
/// each of their pages must be copied to be relocated, about 2 us a page: 18 us for a program with 2,000 such
/// pointers (32 KiB), 2 us for one with none. Stack and mappings are at random addresses either way.
const FIXED: &[&str] = &["-static", "-no-pie"];
const PIE: &[&str] = &["-static-pie", "-Wl,-z,pack-relative-relocs"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DENTS_RT_GNU_LD");
    println!("cargo::rustc-check-cfg=cfg(dents_libc_free)");
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    let libc_free = is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("CARGO_CFG_TARGET_POINTER_WIDTH", "64")
        && env::var_os("CARGO_FEATURE_STD").is_none()
        && aborts();
    if !libc_free {
        return;
    }
    println!("cargo::rustc-cfg=dents_libc_free");
    println!("cargo::metadata=LIBC_FREE=1");
    let pie = env::var_os("CARGO_FEATURE_PIE").is_some();
    let segments = if env::var_os("DENTS_RT_GNU_LD").is_some() { SEGMENTS_GNU } else { SEGMENTS_LLD };
    let arguments = [LINK_ARGS, &[segments], if pie { PIE } else { FIXED }].concat();
    println!("cargo::metadata=LINK_ARGS={}", arguments.join(" "));
    // The published package leaves the test programs out, and cargo refuses arguments for binaries where there are none.
    let programs = Path::new("tests/programs/probe.rs").exists();
    for argument in arguments.iter().filter(|_| programs) {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

/// Whether a panic ends the program at once, as it must without an unwinder. The profile of the workspace says so, but a build
/// script cannot see a profile. The published package (`cargo package` adds a `Cargo.toml.orig`) is built under another
/// profile: there only cargo's variable for it counts, `CARGO_PROFILE_RELEASE_PANIC=abort`.
fn aborts() -> bool {
    println!("cargo::rerun-if-env-changed=CARGO_PROFILE_DEV_PANIC");
    println!("cargo::rerun-if-env-changed=CARGO_PROFILE_RELEASE_PANIC");
    let profile = match env::var("PROFILE").as_deref() {
        Ok("release") => "CARGO_PROFILE_RELEASE_PANIC",
        _ => "CARGO_PROFILE_DEV_PANIC",
    };
    !Path::new("Cargo.toml.orig").exists() || env::var(profile).is_ok_and(|panic| panic == "abort")
}
