//! Where memory runs out, a command ends with a message and status 1. What it may map is limited as by `ulimit -v`.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Run};
use std::fs;
use std::path::Path;
use tools::{dents, run, stdout, text};

/// Within so many bytes of addresses.
fn within(run: Run, bytes: u64) -> Outcome {
    tools::run(&run.under(&["prlimit", "--core=0", &format!("--as={bytes}")]))
}

fn is_whole(run: Run, bytes: u64) -> bool {
    within(run, bytes).end == End::Exit(0)
}

/// Directories and files with long names: rows of a megabyte.
fn wide(dir: &Path) {
    for sub in 0..10 {
        let sub = dir.join(format!("t/{sub:0>200}"));
        fs::create_dir_all(&sub).expect("a directory");
        for file in 0..200 {
            fs::write(sub.join(format!("{file:0>240}")), "x").expect("a file");
        }
    }
}

#[test]
fn what_does_not_fit_ends_with_a_message() {
    let dir = TempDir::new("memory").expect("a directory");
    wide(dir.path());
    for file in ["s.parquet", "s.ndjson", "s.db"] {
        stdout(&dents(dir.path(), &format!("scan -o {file} t")));
    }
    // What the program needs to start differs from build to build.
    let starts = |megabytes: &u64| is_whole(dents(dir.path(), "--version"), megabytes << 20);
    let least = (8..2048).step_by(4).find(starts).expect("it starts");
    let commands = [
        "du t",
        "top t",
        "stats --by user,age t",
        "scan -o x.parquet t",
        "scan -o x.ndjson --from s.parquet",
        "report -o x.html t",
        "report -o x.html --from s.parquet",
        "diff s.parquet t",
        "diff s.parquet s.ndjson",
        "du --from s.ndjson",
        "top --from s.db",
    ];
    let mut told = 0;
    for command in commands {
        for more in [0, 3, 12, 40] {
            let outcome = within(dents(dir.path(), command), (least + more) << 20);
            let said = text(&outcome.stderr);
            let what = format!("{command} within {least} + {more} MiB: {:?}: {said}", outcome.end);
            match outcome.end {
                End::Exit(0) => assert_eq!(said, "", "{what}"),
                End::Exit(1) => {
                    assert!(said.starts_with("dents: ") && said.lines().count() <= 2, "{what}");
                    told += usize::from(said.contains("memory exhausted"));
                }
                _ => panic!("{what}"),
            }
        }
    }
    assert!(told > 5, "{told} messages");
    let all = run(&dents(dir.path(), "diff s.parquet s.ndjson"));
    assert_eq!(all.end, End::Exit(0), "{}", text(&all.stderr));
}
