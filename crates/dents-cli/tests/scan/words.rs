//! Words of the output: those of the locale, singular and plural, and messages, which have one form in all commands.

use crate::{as_nobody, dents, find, make, run, sorted, text};
use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Run};
use std::path::Path;
use std::process::{Command, Stdio};

/// Compiles a locale of the C library into a directory of its own; false if the machine cannot.
fn compile(name: &str, at: &Path) -> bool {
    let (source, charset) = name.split_once('.').expect("a charset");
    let made = Command::new("localedef")
        .args(["-i", source, "-f", charset])
        .arg(at.join(name))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    made.is_ok_and(|status| status.success())
}

#[test]
fn times_have_the_words_of_the_locale() {
    let dir = TempDir::new("words").expect("a directory");
    make(
        dir.path(),
        "mkdir t locales; touch -d '2024-03-05 06:07:08.9Z' t/a; touch -d '2023-12-31 23:59:59Z' t/b t",
    );
    let letters = "aAbBhcxXrpTS+DdeHIjklmMyY";
    let mut format = String::from("%p|%t|%a|");
    // %B itself is not compared: `dents` prints the time of birth for it, `find` does not.
    ["T", "A"]
        .iter()
        .for_each(|time| format.extend(letters.chars().map(|letter| format!("%{time}{letter}|"))));
    format.push_str("\\n");
    for name in ["de_DE.UTF-8", "en_US.UTF-8", "ja_JP.UTF-8", "fr_FR.ISO-8859-1"] {
        let locales = dir.path().join("locales");
        if !compile(name, &locales) {
            println!("skipped: localedef cannot make {name} here");
            continue;
        }
        let within = |run: Run| {
            run.without("LC_ALL").env("LC_TIME", name).env("LC_CTYPE", name).env("LOCPATH", &locales)
        };
        let ours = run(&within(dents(dir.path()).args(["t/a", "t/b", "--printf", &format])));
        let theirs = run(&within(find(dir.path()).args(["t/a", "t/b", "-printf", &format])));
        assert_eq!(sorted(&ours.stdout, b'\n'), sorted(&theirs.stdout, b'\n'), "{name}");
        assert_eq!(text(&ours.stderr), "", "{name}");
    }
}

#[test]
fn one_is_not_many() {
    let dir = TempDir::new("one").expect("a directory");
    make(dir.path(), "mkdir t; : > t/f");
    let said = |words: &[&str]| {
        let outcome = run(&dents(dir.path()).args(["-qs", "--sync"]).args(words));
        text(&outcome.stderr).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let lines = said(&["t/f"]);
    assert_eq!(lines[0], "dents: 1 entry: 1 file");
    assert_eq!(lines[1], "dents: 0 directories opened, 0 reads, 1 stat, 0 avoided, 0 failed");
    assert!(lines[2].ends_with(", 1 worker"), "{lines:?}");
    assert_eq!(said(&["t"])[0], "dents: 2 entries: 1 directory, 1 file");
    let count = run(&Run { args: ["count", "t/f"].map(Into::into).into(), ..dents(dir.path()) });
    assert_eq!(text(&count.stdout), "0  directories\n1  file\n0  links\n1  entry\n");
}

/// Names are in the quotes of `ls` in any locale, so that a line can be searched for and pasted.
#[test]
fn all_commands_say_it_in_one_form() {
    let dir = TempDir::new("form").expect("a directory");
    let programs = TempDir::new("program").expect("a directory");
    make(programs.path(), "chmod 755 .");
    make(dir.path(), "chmod 755 .; mkdir t t/shut; chmod 0 t/shut");
    for command in ["scan", "du", "top", "count", "stats"] {
        let args = [command, "t", "missing"].map(Into::into).into();
        let wanted = Run { args, ..dents(dir.path()) }.env("LC_ALL", "C.UTF-8");
        let outcome = run(&as_nobody(wanted, programs.path()));
        let expected = [
            "dents: cannot access 'missing': No such file or directory",
            "dents: cannot open directory 't/shut': Permission denied",
        ];
        assert_eq!(
            text(&outcome.stderr).lines().collect::<std::collections::BTreeSet<_>>(),
            expected.into(),
            "{command}"
        );
    }
    make(dir.path(), "chmod 755 t/shut");
}

#[test]
fn times_are_taken_as_date_and_stat_print_them() {
    let dir = TempDir::new("printed").expect("a directory");
    make(
        dir.path(),
        "mkdir t; touch -d '2026-03-29 00:59:59.5Z' t/old; touch -d '2026-03-29 01:00:00.5Z' t/new",
    );
    // Central European Time, by its rule: a machine may have no table of zones.
    let scan = |newer: &str| {
        run(&dents(dir.path())
            .args(["--type=f", "--newer", newer, "t"])
            .env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3"))
    };
    for newer in [
        "2026-03-29 03:00:00.250000000 +0200",
        "Sun Mar 29 03:00:00 CEST 2026",
        "Sun Mar 29 01:00:00 UTC 2026",
        "Sun 29 Mar 2026 03:00:00 AM CEST",
        "Sun, 29 Mar 2026 03:00:00 +0200",
        "2026-03-29T03:00",
    ] {
        let outcome = scan(newer);
        assert_eq!(text(&outcome.stdout), "t/new\n", "{newer}: {}", text(&outcome.stderr));
    }
    let missing = scan("2026-03-29T02:30");
    assert_eq!(missing.end, End::Exit(2));
    let told = text(&missing.stderr);
    assert!(
        told.contains("does not exist in the local time zone") && told.contains("2026-03-29T02:30:00+01"),
        "{told}"
    );
}
