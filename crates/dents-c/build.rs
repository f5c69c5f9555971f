//! The soname of the shared library: programs that were linked with it find it by this name. Its number changes with the interface.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libdents.so.0");
}
