//! Links the binary as dents-rt decides: without libc where that is possible. There it also places the
//! functions of short listings side by side (`listing.ld`) and cold functions elsewhere: a start touches a
//! dozen fewer pieces of code, which saves 10 to 15 us.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=listing.ld");
    println!("cargo::rerun-if-env-changed=DENTS_RT_GNU_LD");
    println!("cargo::rustc-check-cfg=cfg(dents_libc_free)");
    if env::var_os("DEP_DENTS_RT_LIBC_FREE").is_none() {
        return;
    }
    println!("cargo::rustc-cfg=dents_libc_free");
    for argument in env::var("DEP_DENTS_RT_LINK_ARGS").unwrap_or_default().split(' ') {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    // Both are of lld, which rustc brings along.
    if env::var_os("DENTS_RT_GNU_LD").is_none() {
        let directory = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-z,keep-text-section-prefix");
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{directory}/listing.ld");
    }
}
