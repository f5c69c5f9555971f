//! The build script for the crate of a binary that uses `dents_rt::entry!`: copy it to the root of that crate. dents-rt must be a direct
//! dependency there, because Cargo passes the results of a build script only to direct dependents.

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
