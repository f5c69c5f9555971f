//! Every command with every filter has the same result for a scan file as for the tree, and the same as `find` and `du` if these have such
//! an option.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::End;
use std::fs;
use std::path::Path;
use tools::{dents, linked_tree, other, run, shell, sorted, stdout, text};

/// Filters, each with the equivalent words of find(1); empty if there are none.
const FILTERS: [(&str, &str); 40] = [
    ("", ""),
    ("--type f", "-type f"),
    ("--type d,l", "-type d,l"),
    ("--size +0c", "-size +0c"),
    ("--size -10k --size +1c", "-size -10k -size +1c"),
    ("--size 5000c", "-size 5000c"),
    ("--older @1000000000", "! -newermt @1000000000"),
    ("--newer @1000000000", "-newermt @1000000000"),
    ("--newer @1000000000 --time=atime", "-newerat @1000000000"),
    ("--older @1000000000 --time atime", "! -newerat @1000000000"),
    ("--newer @1000000000 --time=ctime", "-newerct @1000000000"),
    ("--newer @1000000000 --time=btime", ""),
    ("--user 0", "-uid 0"),
    ("--user 4000000000", "-uid 4000000000"),
    ("--group 0", "-gid 0"),
    ("--perm 644", "-perm 644"),
    ("--perm -111", "-perm -111"),
    ("--perm /022", "-perm /022"),
    ("--perm -u+w,g+r", "-perm -u+w,g+r"),
    ("--perm u=rw,go=r", "-perm u=rw,go=r"),
    ("--links +1", "-links +1"),
    ("--links 2 --type f", "-links 2 -type f"),
    ("--links -2", "-links -2"),
    ("--empty", "-empty"),
    ("--empty --type d", "-empty -type d"),
    ("-g y$", "-regex .*y"),
    ("--grep /b/ --grep e", "-path */b/*e* -o -path *e*/b/*"),
    ("--include *.c", "-name *.c"),
    ("--include a/** --type f", "-path t/a/* -type f"),
    ("--exclude b", "-name b -prune -o -print"),
    ("--exclude a/deep --type f", "-path t/a/deep -prune -o -type f -print"),
    ("--no-hidden", "-name .* -prune -o -print"),
    ("-x", "-xdev"),
    ("--max-depth 1", "-maxdepth 1"),
    ("--min-depth 2", "-mindepth 2"),
    ("--min-depth 1 --max-depth 2 --type f", "-mindepth 1 -maxdepth 2 -type f"),
    ("--type f --links +1 --size +1k", "-type f -links +1 -size +1k"),
    ("--include *.c --exclude deep --size +1c", ""),
    ("--type f --exclude b --links 1", ""),
    ("--empty --exclude a --perm -400", ""),
];

/// Commands, with `{}` in place of the filters. The depths of `du` are those of its output.
const COMMANDS: [&str; 22] = [
    "scan -0 {}",
    "scan {} --printf %p\\0%P\\0%H\\0%f\\0%h\\0%d\\0%s\\0%b\\0%k\\0%n\\0%i\\0%y\\0%l\\0%m\\0%M\\0%u\\0%g\\0%U\\0%G\\0%D\\0%S\\0%T@\\0%C@\\0%A@\\0%B@\\n",
    // Which directory has a file with several links is not the same: `tests/du.rs`.
    "du -s --bytes {}",
    "du -s -b -c {}",
    "du -s --inodes {}",
    "du -l --bytes {}",
    "du -l -d 9 -0 {}",
    "du -l -a -d 9 -0 {}",
    "du -l -b -a -d 9 -0 -c {}",
    "du -l -s -S {}",
    "du -l -a -S -d 9 -0 {}",
    "du -l --inodes -d 9 -0 {}",
    "du -l -a --json -d 2 {}",
    "du -l -a --threshold 5000 --csv -d 9 {}",
    "count {}",
    "count --csv {}",
    "top -0 -n 7 {}",
    "top --by entries -0 {}",
    "top --by atime --csv {}",
    "stats --json {}",
    "stats --by user,age --by directory:1,extension --by depth --csv {}",
    "stats --by group,size --apparent-size {}",
];

const FORMATS: [&str; 3] = ["parquet", "sqlite", "ndjson"];

/// The tree, and its scans in the same directory.
fn scanned() -> TempDir {
    let dir = linked_tree();
    let root = dir.path().join("t");
    fs::create_dir_all(root.join(".hidden/in")).expect("directories");
    fs::write(root.join(".hidden/in/file"), "hidden").expect("a file");
    shell(
        &root,
        "chmod 600 x.c; chmod 4711 hole; chmod 1777 empty; touch -d @900000000 a/y.c b/one; touch -a -d @800000000 hole",
    );
    dents_lab::fixture::settle(dir.path()).expect("settled");
    for format in FORMATS {
        stdout(&dents(dir.path(), &format!("scan -o scan.{format} {} t", nanoseconds(format))));
    }
    dir
}

/// The option that makes Parquet keep nanoseconds, as the other formats do.
fn nanoseconds(format: &str) -> &'static str {
    if format == "parquet" { "--timestamps ns" } else { "" }
}

/// The sorted lines, because workers may write them in any order.
fn comparable(command: &str, output: &[u8]) -> Vec<Vec<u8>> {
    match command.starts_with("scan -0") {
        true => sorted(output, b'\0'),
        false => sorted(output, b'\n'),
    }
}

#[test]
fn every_command_and_filter_is_the_same_from_a_file() {
    let dir = scanned();
    for command in COMMANDS {
        for (filter, _) in FILTERS {
            if command.starts_with("du") && filter.contains("-depth") {
                continue;
            }
            let words = command.replace("{}", filter);
            let live = stdout(&dents(dir.path(), &format!("{words} t")));
            for format in FORMATS {
                let line = format!("{words} --from scan.{format}");
                let recorded = stdout(&dents(dir.path(), &line));
                let [live, recorded] = [&live, &recorded].map(|output| comparable(command, output));
                let shown = |rows: &[Vec<u8>]| rows.iter().map(|row| text(row)).collect::<Vec<_>>();
                assert_eq!(shown(&recorded), shown(&live), "{line}");
            }
        }
    }
}

#[test]
fn the_filters_are_those_of_find() {
    let dir = scanned();
    for (filter, words) in
        FILTERS.into_iter().filter(|(filter, words)| filter.is_empty() || !words.is_empty())
    {
        let has_action = words.ends_with("-print");
        let print = words.replace("-print", "-print0");
        let print = match (has_action, words.contains(" -o ")) {
            (true, _) => print,
            (false, true) => format!("( {words} ) -print0"),
            (false, false) => format!("{words} -print0"),
        };
        let first = if words.contains("depth") || words == "-xdev" { words } else { "" };
        let expected = match first.is_empty() {
            true => stdout(&other("find", dir.path(), &format!("t {print}"))),
            false => stdout(&other("find", dir.path(), &format!("t {first} -print0"))),
        };
        for source in ["t", "--from scan.parquet"] {
            let line = format!("scan -0 {filter} {source}");
            let found = stdout(&dents(dir.path(), &line));
            let [expected, found] = [&expected, &found].map(|output| sorted(output, b'\0'));
            let shown = |rows: &[Vec<u8>]| rows.iter().map(|row| text(row)).collect::<Vec<_>>();
            assert_eq!(shown(&found), shown(&expected), "{line}; find t {print}");
        }
    }
}

/// A PATH of a scan file has the entries that a walk of that PATH finds.
#[test]
fn paths_are_parts_of_the_scan() {
    let dir = scanned();
    for command in COMMANDS {
        for paths in ["t/a", "t/b t/a", "t/a t/a/deep", "t/x.c", "t/empty", "t/a/deep/er/z.h t"] {
            let words = command.replace("{}", "");
            let live = stdout(&dents(dir.path(), &format!("{words} {paths}")));
            for format in FORMATS {
                let line = format!("{words} --from scan.{format} {paths}");
                let recorded = stdout(&dents(dir.path(), &line));
                let [live, recorded] = [&live, &recorded].map(|output| comparable(command, output));
                let shown = |rows: &[Vec<u8>]| rows.iter().map(|row| text(row)).collect::<Vec<_>>();
                assert_eq!(shown(&recorded), shown(&live), "{line}");
            }
        }
    }
    let missing = run(&dents(dir.path(), "count --from scan.parquet t/a t/nowhere"));
    assert_eq!(missing.end, End::Exit(1));
    assert_eq!(
        text(&missing.stderr),
        "dents: cannot find 't/nowhere' in 'scan.parquet'; name it as the scan does\n"
    );
}

/// One format becomes another, with every row and every column.
#[test]
fn a_scan_is_converted() {
    let dir = scanned();
    let lines = |file: &str| {
        let rows = fs::read(dir.path().join(file)).expect("the file");
        sorted(&rows, b'\n')
            .iter()
            .map(|row| text(row))
            .filter(|row| !row.contains("\"scan\":"))
            .collect::<Vec<_>>()
    };
    for format in FORMATS {
        stdout(&dents(
            dir.path(),
            &format!("scan --from scan.ndjson -o again.{format} {}", nanoseconds(format)),
        ));
        stdout(&dents(dir.path(), &format!("scan --from again.{format} -o again.ndjson")));
        assert_eq!(lines("again.ndjson"), lines("scan.ndjson"), "to {format} and back");
    }
    stdout(&dents(dir.path(), "scan --from scan.parquet --type f --size +1k -o some.ndjson"));
    let some = stdout(&dents(dir.path(), "scan -0 --from some.ndjson"));
    let live = stdout(&dents(dir.path(), "scan -0 --type f --size +1k t"));
    assert_eq!(sorted(&some, 0), sorted(&live, 0));
}

/// An option that needs facts that scan files do not have is refused with a message.
#[test]
fn what_only_a_tree_has() {
    let dir = scanned();
    for option in ["-L", "-H", "--gitignore", "--rate 5", "--timeout 5s"] {
        for command in ["scan", "du", "count", "top", "stats"] {
            let outcome = run(&dents(dir.path(), &format!("{command} --from scan.ndjson {option}")));
            assert_eq!(outcome.end, End::Exit(2), "{command} {option}");
            assert!(text(&outcome.stderr).contains("--from"), "{}", text(&outcome.stderr));
        }
    }
    let pipe = |options: &str| {
        let script = format!("{} scan {options} --from - < /dev/stdin", env!("CARGO_BIN_EXE_dents"));
        let run = dents_lab::process::Run::new(Path::new("/bin/sh")).cwd(dir.path());
        tools::run(&run.args(["-c", &format!("cat scan.ndjson | {script}")]))
    };
    assert_eq!(pipe("-0").end, End::Exit(0));
    let refused = pipe("--empty");
    assert_eq!(refused.end, End::Exit(2));
    assert!(text(&refused.stderr).contains("name a file"), "{}", text(&refused.stderr));
}

/// `--explain` shows the order of the tests and their cost.
#[test]
fn the_order_of_tests_is_explained() {
    let dir = scanned();
    let words = "count --explain --size +1c --include *.c --exclude b --type f";
    let told = |source: &str| {
        let outcome = run(&dents(dir.path(), &format!("{words} {source}")));
        assert_eq!(outcome.end, End::Exit(0));
        text(&outcome.stderr)
    };
    let live = told("t");
    let at = |part: &str| live.find(part).unwrap_or_else(|| panic!("{part} in\n{live}"));
    assert!(
        at("--exclude") < at("--type") && at("--type") < at("--size") && at("--include") < at("--size"),
        "{live}"
    );
    assert!(live.contains("test 3: --size: one statx (SIZE)"), "{live}");
    let recorded = told("--from scan.parquet");
    assert!(recorded.contains("1 row groups read, 0 skipped"), "{recorded}");
}

/// No command makes a request about an entry whose name or type does not pass.
#[test]
fn what_fails_a_free_test_is_not_asked_about() {
    let dir = scanned();
    for command in [
        "scan",
        "count",
        "du -s",
        "du -a --inodes",
        "top",
        "top --by entries",
        "stats",
        "stats --by user,age",
    ] {
        // Two names pass, and the PATH costs a request too.
        for (filter, expected) in [("--include *.c --size +0c", 3), ("--type f --exclude * --newer @0", 1)] {
            let command = dents(dir.path(), &format!("{command} --threads 1 {filter} t"));
            let trace = dents_lab::syscalls::trace(&command).expect("traced");
            let about_entries = |call: &&dents_lab::syscalls::Call| {
                call.name == "statx" && !call.text.contains(", \"\",") && !call.text.contains("\"/")
            };
            let asked = trace.calls().iter().filter(about_entries).count();
            assert_eq!(asked, expected, "{}", command.shell());
        }
    }
}
