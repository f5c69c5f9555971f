//! The build script for the crate of a binary that uses `dents_rt::entry!`: to be copied to that crate's root.
//! dents-rt must be a direct dependency there, for Cargo to pass on what its build script says.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(dents_libc_free)");
    if env::var_os("DEP_DENTS_RT_LIBC_FREE").is_none() {
        return;
    }
    println!("cargo::rustc-cfg=dents_libc_free");
    for argument in env::var("DEP_DENTS_RT_LINK_ARGS").unwrap_or_default().split(' ') {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
