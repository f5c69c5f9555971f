//! The rows of docs/COMING_FROM.md, and the directory in which the tests run their commands.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::fixture::TempDir;
use crate::process::{End, Run};

/// A row of the page.
#[derive(Clone, Debug)]
pub struct Row {
    /// The command of another program.
    pub theirs: String,
    /// Ours.
    pub ours: String,
    /// Whether both print the same lines.
    pub same: bool,
}

impl Row {
    /// Whether it runs on a terminal alone.
    #[must_use]
    pub fn needs_terminal(&self) -> bool {
        self.ours.starts_with("dents browse")
    }
}

/// The rows whose commands begin with `program`.
///
/// # Panics
/// If a row has other cells than two commands and a note.
#[must_use]
pub fn rows(program: &str) -> Vec<Row> {
    let page = include_str!("../../../docs/COMING_FROM.md");
    let is_row = |line: &&str| line.starts_with("| `") && !line.ends_with("| note |");
    let rows = page.lines().filter(is_row).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [theirs, ours, note] = cells[..] else { panic!("{line} has {} cells", cells.len()) };
        let command = |cell: &str| cell.trim_matches('`').replace("\\|", "|");
        Row { theirs: command(theirs), ours: command(ours), same: note.starts_with("same") }
    });
    rows.filter(|row| row.ours.split(' ').next() == Some(program)).collect()
}

/// A directory in which every command of the page finds something.
///
/// # Errors
/// Those of the file system.
pub fn ground() -> io::Result<TempDir> {
    let dir = TempDir::new("coming-from")?;
    let path = |name: &str| dir.path().join(name);
    for directory in ["src/render", "docs", "empty"] {
        fs::create_dir_all(path(directory))?;
    }
    for (name, size) in [
        ("README.md", 20),
        ("src/main.rs", 300),
        ("src/render/mod.rs", 4000),
        ("docs/old.log", 50_000),
        ("docs/large.bin", 2_000_000),
        (".hidden", 0),
    ] {
        fs::write(path(name), vec![b'x'; size])?;
    }
    fs::hard_link(path("docs/large.bin"), path("docs/same.bin"))?;
    symlink("src", path("link"))?;
    age(&path("README.md"), 10)?;
    age(&path("docs/old.log"), 500)?;
    Ok(dir)
}

/// Makes a file so many days old.
fn age(path: &Path, days: u64) -> io::Result<()> {
    let then = SystemTime::now() - Duration::from_secs(days * 86_400);
    fs::File::options().write(true).open(path)?.set_modified(then)
}

/// Runs every command of `name`, which is the program at `program`: it must succeed and print something. Rows that promise
/// the same lines are compared with the other program, where that is GNU's. Returns how many were compared. Rows that need a terminal
/// have a test of their own.
///
/// # Panics
/// If a command fails, prints nothing, or prints other lines.
pub fn check(name: &str, program: &Path) -> usize {
    let dir = ground().expect("a directory");
    let bin = TempDir::new("coming-from-bin").expect("a directory");
    symlink(program, bin.path().join(name)).expect("a link");
    let shell = |script: &str| {
        let path = format!("{}:/usr/bin:/bin", bin.path().display());
        let run = Run::new(Path::new("/bin/sh")).cwd(dir.path()).env("PATH", path).args(["-c", script]);
        run.output().expect("sh starts")
    };
    let mut compared = 0;
    for row in rows(name).into_iter().filter(|row| !row.needs_terminal()) {
        let ours = shell(&row.ours);
        let told = String::from_utf8_lossy(&ours.stderr).into_owned();
        assert_eq!((ours.end, told.as_str()), (End::Exit(0), ""), "{}", row.ours);
        assert!(!ours.stdout.is_empty() || row.ours.contains(" -o "), "{} prints nothing", row.ours);
        if !row.same {
            continue;
        }
        let peer = row.theirs.split(' ').next().expect("a program");
        let version = shell(&format!("{peer} --version")).stdout;
        if !String::from_utf8_lossy(&version).contains("GNU") {
            println!("not compared: {} (no GNU {peer} here)", row.theirs);
            continue;
        }
        let theirs = shell(&row.theirs).stdout;
        let (ours, theirs) = (lines(&ours.stdout, peer), lines(&theirs, peer));
        assert_eq!(ours, theirs, "{} beside {}", row.ours, row.theirs);
        compared += 1;
    }
    compared
}

/// The lines of an output; sorted, unless their order is promised.
fn lines(bytes: &[u8], peer: &str) -> Vec<String> {
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\0');
    let mut lines: Vec<String> =
        bytes.split(ends).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    if peer != "ls" {
        lines.sort();
    }
    lines
}
