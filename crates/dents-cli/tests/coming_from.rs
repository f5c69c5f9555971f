//! docs/COMING_FROM.md: every command of `dents` on the page runs, and prints the same as the other program where the page says so.

use dents_lab::coming_from::check;
use std::path::Path;

#[test]
fn every_row_of_dents() {
    let compared = check("dents", Path::new(env!("CARGO_BIN_EXE_dents")));
    println!("{compared} rows compared with GNU find and du");
}
