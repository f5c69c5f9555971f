//! `--printf`, byte for byte.

use crate::{compare, dents, make, run, text};
use dents_lab::fixture::TempDir;
use dents_lab::process::End;
use dents_lab::zoo::Zoo;

/// Each directive alone, for entries of all types.
#[test]
fn each_directive() {
    let zoo = Zoo::new().expect("a zoo");
    let mut directives: Vec<String> =
        "pfhPHdsbkSnilymMugUGDF".chars().map(|letter| format!("%{letter}")).collect();
    directives.extend("act".chars().map(|letter| format!("%{letter}")));
    for time in ["A", "C", "T"] {
        directives.extend(
            "@HIklMpSTX+rZaAbBcdDhjmUwWxyYFGgVuCenPRsz".chars().map(|letter| format!("%{time}{letter}")),
        );
    }
    for directive in directives {
        // find reports a link that leads to itself, although only %Y follows it.
        let format = format!("%p {directive}|\\0");
        compare(zoo.path(), &["--printf", &format], &["-printf", &format]);
    }
    compare(
        zoo.path(),
        &["--printf", "%p %Y\\0", "tree", "names"],
        &["tree", "names", "-printf", "%p %Y\\0"],
    );
}

#[test]
fn flags_widths_and_escapes() {
    let zoo = Zoo::new().expect("a zoo");
    for format in [
        "%5d|%-5d|%05d|%+d|%.3d|% d\\0",
        "%12s|%-12s|%012s|%.2s\\0",
        "%8m|%#m|%08m|%.6m|%-8m\\0",
        "%9S|%09S|%.3S|%-9S\\0",
        "%20p|%-20p|%.3p|%20.3p\\0",
        "%12u|%-12g|%3y|%-40t|%40T+|%.10T@\\0",
        "\\a\\b\\f\\n\\r\\t\\v\\\\\\101\\0601%%\\0",
        "%p\\0\\c%s",
    ] {
        compare(zoo.path(), &["--printf", format], &["-printf", format]);
    }
}

#[test]
fn parts_of_paths() {
    let dir = TempDir::new("parts").expect("a directory");
    make(dir.path(), "mkdir -p d/e; touch d/f d/e/g; ln -s d link; ln -s nowhere dangling; ln -s self self");
    // Not `link/`: find 4.9 prints `.` as its directory, but `d` for `d/`.
    let format = "%p|%f|%h|%P|%H|%d|%y|%Y|%l\\0";
    for path in ["d", "d/", "d//", "./d", "d/e", "d/e/", "d/../d", ".", "link", "dangling", "self"] {
        compare(dir.path(), &["--printf", format, path], &[path, "-printf", format]);
    }
    compare(dir.path(), &["-H", "--printf", format, "link"], &["-H", "link", "-printf", format]);
    compare(
        dir.path(),
        &["-L", "--printf", format, "d", "dangling"],
        &["-L", "d", "dangling", "-printf", format],
    );
    compare(
        dir.path(),
        &["--printf", format, "--max-depth", "0", "/", "//"],
        &["/", "//", "-maxdepth", "0", "-printf", format],
    );
}

#[test]
fn the_zone_is_that_of_the_environment() {
    let zoo = Zoo::new().expect("a zoo");
    for zone in ["Europe/Berlin", "", "XYZ-3:30", "/usr/share/zoneinfo/Asia/Tokyo", ":America/New_York"] {
        let args = ["%p %TY-%Tm-%Td %TT %TZ %Tz %t\\n"];
        let ours = run(&dents(zoo.path())
            .args(["--sync", "tree", "time-2000", "--printf"])
            .args(args)
            .env("TZ", zone));
        let theirs =
            run(&crate::find(zoo.path()).args(["tree", "time-2000", "-printf"]).args(args).env("TZ", zone));
        assert_eq!(crate::sorted(&ours.stdout, b'\n'), crate::sorted(&theirs.stdout, b'\n'), "{zone:?}");
    }
}

#[test]
fn births_are_shown_where_they_are_known() {
    let dir = TempDir::new("birth").expect("a directory");
    let ours = run(&dents(dir.path()).args(["--printf", "%B@ %BY\\n"]));
    let stat = std::process::Command::new("stat").args(["-c", "%W"]).arg(dir.path()).output().expect("stat");
    let born = text(&stat.stdout);
    let told = text(&ours.stdout);
    assert!(born.trim() == "0" || told.starts_with(born.trim()), "{told:?} {born:?}");
}

#[test]
fn a_mistake_is_named_with_its_place() {
    let outcome = run(&dents("/".as_ref()).args(["--printf", "%p %q\\n"]));
    let told = text(&outcome.stderr);
    assert_eq!(outcome.end, End::Exit(2));
    assert!(
        told.contains("'%q'") && told.contains("at byte 4") && told.contains("dents scan --help"),
        "{told}"
    );
}
