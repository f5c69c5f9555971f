//! Scans, reports and cancelled scans.

use crate::*;

#[test]
fn a_scan() {
    let (dir, programs) = (tree(), TempDir::new("c-programs").expect("fixture"));
    let largest = shared(ALL.get(), programs.path(), "largest.c");
    let output = run(&largest, &["--type=f", "."], dir.path());
    assert_eq!(output.stdout, b"99\t./b/\xff\n", "{}", text(&output.stderr));
    let output = run(&largest, &["--type=f", "a", "missing"], dir.path());
    assert_eq!(text(&output.stdout), "19\ta/f19\n");
    assert!(
        text(&output.stderr).contains("largest: cannot access 'missing': No such file"),
        "{}",
        text(&output.stderr)
    );
    let output = run(&largest, &["--frob"], dir.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("unexpected argument '--frob'"), "{}", text(&output.stderr));
}

#[test]
fn a_table() {
    let (dir, programs) = (tree(), TempDir::new("c-programs").expect("fixture"));
    let table = shared(ALL.get(), programs.path(), "table.c");
    let output = run(&table, &["count", "."], dir.path());
    assert_eq!(text(&output.stdout), "directory\t3\nfile\t41\nall\t44\n", "{}", text(&output.stderr));
    let output = run(&table, &["du", "--apparent-size", "-s", "a", "b"], dir.path());
    assert_eq!(text(&output.stdout), "289\t0\tb\tb\n190\t0\ta\ta\n");
    let output = run(&table, &["du", "--from", "missing.parquet"], dir.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("missing.parquet"), "{}", text(&output.stderr));
    let output = run(&table, &["scan"], dir.path());
    assert_eq!(output.status.code(), Some(2), "a scan has no table: {}", text(&output.stdout));
}

#[test]
fn a_scan_that_is_cancelled() {
    let (dir, programs) = (tree(), TempDir::new("c-programs").expect("fixture"));
    let cancel = shared(ALL.get(), programs.path(), "cancel.c");
    let output = run(&cancel, &["600", "1000", "."], dir.path());
    assert_eq!(text(&output.stdout), "44 rows: complete\n", "{}", text(&output.stderr));
    // One request a second: the scan would take a minute.
    let output = run(&cancel, &["0.2", "1000", "--rate=1", "."], dir.path());
    assert!(text(&output.stdout).contains("interrupted"), "{}", text(&output.stdout));
}
