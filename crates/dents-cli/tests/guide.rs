//! The guide to a scan every night (docs/NIGHTLY.md): each command and each query of the page runs, only with other paths.

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Run};
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use tools::{dents, run, stdout, text};

const GUIDE: &str = include_str!("../../../docs/NIGHTLY.md");

/// The blocks of a language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    GUIDE.split(&fence).skip(1).map(|rest| rest.split_once("```").expect("the end of a block").0).collect()
}

/// A tree with entries for each question, and a scan from a week ago.
fn ground() -> TempDir {
    let dir = TempDir::new("guide").expect("a directory");
    let script = "mkdir -p scratch/ann/deep scratch/keep scratch/empty kept
        for size in 1 20 300; do head -c ${size}000 /dev/zero > scratch/ann/$size; done
        echo old > scratch/ann/deep/old; echo exempt > scratch/keep/old
        touch -a -d '500 days ago' scratch/ann/deep/old scratch/keep/old";
    stdout(&Run::new(Path::new("/bin/sh")).cwd(dir.path()).args(["-c", script]));
    let before = format!("scratch-{}.parquet", date(dir.path(), "7 days ago"));
    stdout(&dents(dir.path(), &format!("scan -o kept/{before} {}", dir.path().join("scratch").display())));
    fs::write(dir.path().join("scratch/ann/new"), vec![b'x'; 50_000]).expect("a file");
    dir
}

fn date(cwd: &Path, when: &str) -> String {
    text(&stdout(&Run::new(Path::new("/bin/sh")).cwd(cwd).args(["-c", "date -d \"$1\" +%F", "sh", when])))
        .trim()
        .to_owned()
}

/// The script with the paths of this test instead of those of the guide.
fn here(dir: &Path, script: &str) -> String {
    let [scratch, kept] = ["scratch", "kept"].map(|name| dir.join(name).display().to_string());
    script
        .replace("/var/lib/dents", &kept)
        .replace("/scratch", &scratch)
        .replace(&format!("{kept}{scratch}"), &format!("{kept}/scratch"))
}

fn shell(dir: &Path, script: &str) -> Vec<u8> {
    let programs =
        Path::new(env!("CARGO_BIN_EXE_dents")).parent().expect("a directory").display().to_string();
    let path = format!("{programs}:/usr/sbin:/usr/bin:/sbin:/bin");
    let command = Run::new(Path::new("/bin/sh")).cwd(dir).env("PATH", path).args(["-euc", script]);
    let outcome = run(&command);
    assert_eq!(outcome.end, End::Exit(0), "{script}\n{}", text(&outcome.stderr));
    outcome.stdout
}

#[test]
fn every_command_and_every_query_runs() {
    let dir = ground();
    let script: Vec<String> = blocks("sh").iter().map(|block| here(dir.path(), block)).collect();
    assert!(script.len() >= 10, "{}", script.len());
    let printed = text(&shell(dir.path(), &script.concat()));
    for part in ["directories", "USER", "ann/deep/old"] {
        assert!(printed.contains(part), "{part} in\n{printed}");
    }
    let purged = fs::read(dir.path().join("kept/purge.list")).expect("the list");
    assert_eq!(text(&purged), format!("{}\0", dir.path().join("scratch/ann/deep/old").display()));
    assert!(!dir.path().join("scratch/ann/deep/old").exists(), "the old file is deleted");
    assert!(!dir.path().join("scratch/empty").exists(), "the empty directory is deleted");
    assert!(dir.path().join("scratch/keep/old").exists() && dir.path().join("scratch/ann/300").exists());
    let metrics = fs::read_to_string(dir.path().join("kept/dents.prom")).expect("the figures");
    assert!(metrics.lines().all(|line| line.starts_with("dents_")) && !metrics.is_empty(), "{metrics}");
    let growth = fs::read_to_string(dir.path().join("kept/growth.csv")).expect("the table");
    assert!(growth.contains("new"), "{growth}");
    let database = Connection::open(dir.path().join("kept/scratch.sqlite")).expect("the database");
    for query in blocks("sql") {
        let mut statement = database.prepare(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let rows = statement.query_map([], |_| Ok(())).and_then(Iterator::collect::<Result<Vec<()>, _>>);
        assert!(
            !rows.unwrap_or_else(|error| panic!("{query}: {error}")).is_empty() || query.contains("size = 0"),
            "{query}"
        );
    }
}

/// The commands in the unit and in the crontab are the command that is run by hand, in the quotes of these files.
#[test]
fn the_job_runs_what_was_run_by_hand() {
    let by_hand = blocks("sh")[0].lines().next().expect("a command");
    let service = blocks("ini")[0];
    let unit =
        service.lines().find_map(|line| line.strip_prefix("ExecStart=/bin/sh -c 'exec ")).expect("a command");
    assert_eq!(unit.strip_suffix('\'').map(|command| command.replace("%%", "%")).as_deref(), Some(by_hand));
    let cron = blocks("cron")[0].trim_end();
    let command = cron.strip_prefix("0 2 * * * root ").expect("a time and a user");
    assert_eq!(command.replace("\\%", "%"), by_hand);
}
