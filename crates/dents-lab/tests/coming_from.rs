//! docs/COMING_FROM.md: every command of `dls` in it runs, and prints what the page promises.

use dents_lab::coming_from::check;
use dents_lab::suite::release;

#[test]
fn every_row_of_dls() {
    let compared = check("dls", release().path());
    println!("{compared} rows compared with GNU ls");
}
