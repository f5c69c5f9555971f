//! Links the binary as dents-rt says: without libc where that is possible.

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
