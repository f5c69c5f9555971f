//! So many small directories that they are read ahead of their turn, by several threads.

use dents_lab::case::Case;
use dents_lab::fixture::{TempDir, settle};
use dents_lab::process::Run;
use dents_lab::suite::{checked, expect_same, oracle, release};
use std::fs::{File, create_dir_all};
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Families of directories, one of them below another; a few too large to be read ahead, a few empty, links among them.
fn families() -> io::Result<TempDir> {
    let dir = TempDir::new("many")?;
    fill(dir.path(), 150)?;
    fill(&dir.path().join("d007"), 40)?;
    fill(&dir.path().join("d007/d033"), 20)?;
    for (name, entries) in [("d050", 700), ("d051", 2500), ("d149", 513)] {
        for index in 0..entries {
            File::create(dir.path().join(format!("{name}/large{index}")))?;
        }
    }
    settle(dir.path())?;
    Ok(dir)
}

fn fill(parent: &Path, directories: usize) -> io::Result<()> {
    for directory in 0..directories {
        let path = parent.join(format!("d{directory:03}"));
        create_dir_all(&path)?;
        for index in 0..directory % 7 {
            File::create(path.join(format!("{}{index}", ["file", ".hidden", "b.c"][index % 3])))?;
        }
        symlink("../d001", path.join("up"))?;
    }
    Ok(())
}

const OPTIONS: &[&str] = &[
    "-R",
    "-aR",
    "-lR",
    "-alRt",
    "-lRSr",
    "-Ri",
    "-RsF",
    "-R1v",
    "-RX --group-directories-first",
    "-RC -w 60 --color=always",
    "-R --sort=width",
    "-RU",
    "-Rf",
    "-RL",
    "-R --dired -l",
    "-lR --hyperlink=always",
    "-R --ignore=d0*",
];

#[test]
fn families_of_directories() {
    let dir = families().expect("directories");
    let mut cases: Vec<Case> = OPTIONS.iter().map(|options| Case::new(dir.path()).options(options)).collect();
    let operands =
        || (0..60).map(|index| format!("d{:03}{}", index, if index % 9 == 4 { "/missing" } else { "" }));
    cases
        .extend(["", "-l", "-lR", "-U", "-d"].map(|o| Case::new(dir.path()).options(o).operands(operands())));
    if std::env::var_os("DLS_LOCALES").is_some() {
        cases.push(Case::new(dir.path()).options("-lR").env("LC_ALL", "en_US.UTF-8"));
    }
    expect_same(&oracle(), &checked(), &cases);
}

/// With no descriptor to spare for those who read ahead, each directory is opened when its turn comes.
#[test]
fn few_descriptors() {
    let dir = families().expect("directories");
    let run = |launcher: &[&str]| {
        Run::new(release().path()).args(["-lR"]).cwd(dir.path()).under(launcher).output().expect("it runs")
    };
    let (plenty, few) = (run(&["env"]), run(&["prlimit", "--nofile=5"]));
    assert!(few.stdout == plenty.stdout && few.stderr.is_empty(), "{few:?}");
}
