//! Many small directories, which several threads read ahead of their turn.

use dents_lab::case::Case;
use dents_lab::fixture::{TempDir, settle};
use dents_lab::process::Run;
use dents_lab::shown::Shown;
use dents_lab::slowfs::{Fault, Kind, Request, SlowFs};
use dents_lab::suite::{checked, expect_same, oracle, release};
use std::fs::{File, create_dir_all};
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

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

/// Few subdirectories in each directory, but many in all: those of the next ones are read ahead too. One is large, one
/// is unreadable, and there are links upwards.
fn branches() -> io::Result<TempDir> {
    let dir = TempDir::new("branches")?;
    for (a, b, c) in (0..6).flat_map(|a| (0..5).flat_map(move |b| (0..4).map(move |c| (a, b, c)))) {
        let path = dir.path().join(format!("a{a}/b{b}/c{c}"));
        create_dir_all(&path)?;
        for index in 0..(a + b + c) % 4 + if (a, b, c) == (2, 3, 1) { 600 } else { 0 } {
            File::create(path.join(format!("f{index}")))?;
        }
        if c == 1 {
            symlink("../..", path.join("up"))?;
        }
        if c == 2 {
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o311))?;
        }
    }
    settle(dir.path())?;
    Ok(dir)
}

#[test]
fn branches_of_directories() {
    let dir = branches().expect("directories");
    let cases: Vec<Case> = OPTIONS
        .iter()
        .filter(|options| !options.contains('L'))
        .map(|options| Case::new(dir.path()).options(options))
        .chain(["-R a1 a5", "-lR . a2"].map(|words| Case::new(dir.path()).options(words)))
        .chain([Case::new(dir.path()).options("-RL a3/b1")])
        .collect();
    expect_same(&oracle(), &checked(), &cases);
}

/// Each answer is a round trip: many directories are read at once, with no request more than one by one.
#[test]
fn a_tree_far_away() {
    let far = SlowFs::builder().entries(5, &[Kind::File]).tree(120, 4).latency(Duration::from_millis(1));
    let Some(far) = far.mount_or_skip() else { return };
    for options in ["-R", "-lR"] {
        far.reset_counts();
        let one_by_one = Run::new(release().path()).args([options, "--mode=classic"]).args([far.path()]);
        let one_by_one = one_by_one.output().expect("it runs");
        let asked = far.counts().total();
        far.reset_counts();
        let at_once =
            Run::new(release().path()).args([options]).args([far.path()]).output().expect("it runs");
        assert!(at_once.stdout == one_by_one.stdout && at_once.stderr.is_empty(), "{options}: {at_once:?}");
        let more = far.counts().total() as f64 / asked as f64;
        assert!(more < 1.1, "{options}: {more} times as many requests");
        assert!(far.peak_in_flight() >= 16, "{options}: {} in flight", far.peak_in_flight());
    }
}

/// If a remote file system is mounted below a local one, its directories are read ahead by threads with descriptor
/// tables of their own: a replacement worker that used their numbers would ask about the names of another directory.
#[test]
fn a_far_tree_within_a_near_one() {
    let dir = families().expect("directories");
    let far = SlowFs::builder().entries(20, &[Kind::Directory]).tree(40, 200);
    let delay = |builder: dents_lab::slowfs::Builder, path: &str| {
        builder.fault(path, Request::STAT, Fault::Delay(Duration::from_millis(200)))
    };
    let far = ["dir1/file3", "dir2/file70", "dir5/file199", "dir0/dir8/file0"].into_iter().fold(far, delay);
    let far = match far.mount_at(&dir.path().join("d003")) {
        Ok(far) => far,
        Err(why) if std::env::var_os("DLS_FUSE").is_some_and(|value| value == "required") => panic!("{why}"),
        Err(_) => return,
    };
    for options in ["-lR", "-siR"] {
        let run = |mode: &str| {
            let run = Run::new(checked().path()).args([options, mode]).cwd(dir.path());
            run.output().expect("it runs")
        };
        let (one_by_one, at_once) = (run("--mode=classic"), run("--mode=auto"));
        assert!(at_once == one_by_one, "{options}: not the same");
    }
    drop(far);
}

/// A stuck directory delays neither the directories shown before it nor the reading of those after it.
#[test]
fn one_that_hangs() {
    let far = SlowFs::builder().entries(5, &[Kind::File]).tree(120, 4);
    let Some(far) = far.fault("dir3", &[Request::Opendir], Fault::Hang).mount_or_skip() else { return };
    let mut shown = Shown::start(&Run::new(checked().path()).args(["-R"]).args([far.path()]), None);
    shown.until("/dir2/");
    assert!(far.wait_hung(1, Duration::from_secs(20)));
    let start = Instant::now();
    // All directories except the eight below the stuck one.
    while far.counts().of(Request::Opendir) < 113 {
        assert!(start.elapsed() < Duration::from_secs(20), "{}", far.counts());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(!shown.text().contains("/dir3/"), "{}", shown.text());
    far.release();
    let (_, status, text) = shown.end();
    assert_eq!((status, text.lines().filter(|line| line.ends_with(':')).count()), (Some(0), 121), "{text}");
}

/// With no descriptor to spare for workers that read ahead, each directory is opened when its turn comes.
#[test]
fn few_descriptors() {
    let dir = families().expect("directories");
    let run = |launcher: &[&str]| {
        Run::new(release().path()).args(["-lR"]).cwd(dir.path()).under(launcher).output().expect("it runs")
    };
    let (plenty, few) = (run(&["env"]), run(&["prlimit", "--nofile=5"]));
    assert!(few.stdout == plenty.stdout && few.stderr.is_empty(), "{few:?}");
}

/// A mount below the operand may show the operand again. GNU and `dls` refuse to list it there, and continue; with
/// workers too.
#[test]
fn a_mount_that_leads_back_up_is_refused() {
    let dir = families().expect("fixture");
    let mounted = "mount --make-rprivate / && mount --bind . d007/d033 || exit 77; exec \"$0\" \"$@\"";
    let launcher: &[&str] = match dents_lab::suite::is_root() {
        true => &["unshare", "-m", "sh", "-c", mounted],
        false => &["unshare", "-r", "-m", "sh", "-c", mounted],
    };
    let told = |program: &Path, args: &[&str]| {
        let run = Run::new(program).cwd(dir.path()).env("LC_ALL", "C").args(args);
        run.under(launcher).output().expect("unshare starts")
    };
    let expected = told(oracle().path(), &["-R"]);
    if !String::from_utf8_lossy(&expected.stderr).contains("already-listed") {
        println!("nothing can be mounted here: {}", String::from_utf8_lossy(&expected.stderr));
        return;
    }
    for way in ["--threads=2", "--threads=8", "--mode=classic", "--mode=iou", "--timeout=60s"] {
        let outcome = told(release().path(), &["-R", way]);
        let message = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert!(message.contains("./d007/d033: not listing already-listed directory"), "{way}: {message}");
        assert_eq!(outcome.end, expected.end, "{way}: {message}");
        assert!(outcome.stdout == expected.stdout, "{way}: another listing");
    }
}
