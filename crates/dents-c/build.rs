//! Sets the soname of the shared library: a program that was linked with the library finds it by this name. The number in it changes
//! with the interface.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libdents.so.0");
}
