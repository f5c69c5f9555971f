//! Checks that `dents.h` is the output of cbindgen for this source. With `DENTS_WRITE_HEADER=1` the test writes the file.

use std::path::Path;

#[test]
fn header_is_of_this_source() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_dir.join("cbindgen.toml")).expect("the configuration");
    let bindings = cbindgen::Builder::new().with_crate(crate_dir).with_config(config).generate();
    let mut made = Vec::new();
    bindings.expect("a header").write(&mut made);
    // Neighbours share a condition.
    let made = String::from_utf8(made).expect("text").replace("#endif\n\n#if defined(DENTS_SCAN)\n", "\n");
    let path = crate_dir.join("include/dents.h");
    if std::env::var_os("DENTS_WRITE_HEADER").is_some() {
        std::fs::write(&path, &made).expect("it can be written");
    }
    let saved = std::fs::read_to_string(&path).unwrap_or_default();
    let again = "DENTS_WRITE_HEADER=1 cargo test -p dents-c --test header";
    assert!(saved == made, "dents.h is not of this source; to write it: {again}");
}
