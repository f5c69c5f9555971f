//! Everything against GNU `ls`: random options, environments, terminals and trees.
//!
//! `DLS_CASES` sets the number of cases (default 6,000), `DLS_SEED` repeats a run, `DLS_LOCALES=1` adds locales
//! with an order of their own (`cargo xtask test` has them generated, as root), and fails if none is installed; `DLS_LOCALE_NAMES`
//! may name others.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use dents_lab::case::Case;
use dents_lab::draw::{self, Site};
use dents_lab::fixture::TempDir;
use dents_lab::kernels::PROFILES;
use dents_lab::oracle::Subject;
use dents_lab::rng::Rng;
use dents_lab::suite::{checked, expect_same, locales, number, oracle, release};
use dents_lab::tree::Tree;
use dents_lab::zoo::Zoo;

/// Trees that live at the same time, and cases over each of them.
const TREES: u64 = 24;
const CASES_A_TREE: u64 = 40;

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

/// Draws `count` cases, a batch of trees at a time, and compares them.
fn run(subject: &Subject, count: u64, seed: u64) {
    run_those(subject, count, seed, |_| true);
}

/// The same with those cases that `suits` takes.
fn run_those(subject: &Subject, count: u64, seed: u64, suits: fn(&Case) -> bool) {
    println!("DLS_SEED={seed} DLS_CASES={count}");
    let (zoo, oracle, locales) = (Zoo::new().expect("a zoo"), oracle(), locales());
    let mut rng = Rng::new(seed);
    let mut left = count;
    while left > 0 {
        let mut dirs = Vec::new();
        let mut cases = Vec::new();
        for tree in 0..TREES {
            let share = left.min(CASES_A_TREE);
            left -= share;
            // One tree in eight is the zoo, whose features are rare in random trees.
            let site = if tree % 8 == 0 { in_zoo(&zoo) } else { random_tree(&mut rng, &mut dirs) };
            cases.extend((0..share).map(|_| site.draw(&locales, &mut rng)).filter(suits));
        }
        expect_same(&oracle, subject, &cases);
    }
}

/// A directory, and the operands that make sense in it.
struct Place {
    base: Case,
    names: Vec<PathBuf>,
    leaks: bool,
}

impl Place {
    fn draw(&self, locales: &[&'static str], rng: &mut Rng) -> Case {
        let names: Vec<&Path> = self.names.iter().map(PathBuf::as_path).collect();
        let operands: Vec<OsString> = draw::operands(&names, rng);
        let site = Site { base: self.base.clone(), operands: &operands, leaks: self.leaks };
        draw::case(&site, locales, rng)
    }
}

fn in_zoo(zoo: &Zoo) -> Place {
    let entries = std::fs::read_dir(zoo.path()).expect("the zoo is readable");
    let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.file_name().into()).collect();
    names.sort();
    // Directories outside of the zoo are not listed: they change during the run.
    names.retain(|name| name.as_path() != Path::new("link-root"));
    Place { base: Case::new(zoo.path()), names, leaks: true }
}

fn random_tree(rng: &mut Rng, dirs: &mut Vec<TempDir>) -> Place {
    // Now and then on tmpfs, which answers differently about sizes, attributes and inodes.
    let shm = Path::new("/dev/shm");
    let parent = if shm.is_dir() && rng.one_in(4) { shm.to_path_buf() } else { std::env::temp_dir() };
    let tree = Tree::random(rng, now() as i64);
    let dir = tree.build(&parent).expect("a tree");
    let names = tree.paths().map(Path::to_path_buf).collect();
    let base = Case { tree: Some(Arc::new(tree)), ..Case::new(&dir.path().join("t")) };
    dirs.push(dir);
    Place { base, names, leaks: false }
}

/// The same cases on every machine and every day.
#[test]
fn everything_with_every_assertion_on() {
    run(&checked(), number("DLS_CASES", 6000), number("DLS_SEED", 3));
}

/// Other cases, with the options of the release. Their seeds are fixed too: the result must depend on the change
/// alone; new seeds are for the long run.
#[test]
fn everything_with_the_release() {
    run(&release(), number("DLS_CASES", 6000) / 4, number("DLS_SEED", 3).wrapping_add(1));
}

/// A sample on each of the simulated kernels, compared with a GNU `ls` that is refused nothing: it would print the
/// same there.
#[test]
fn a_sample_on_older_kernels() {
    for profile in PROFILES {
        println!("{profile}");
        let subject = release().refusing(Path::new(env!("CARGO_BIN_EXE_refuse")), profile);
        // Without `statx` the time of birth is not known.
        let suits: fn(&Case) -> bool =
            if *profile == "docker-2017" { |case| !case.says("time") } else { |_| true };
        run_those(&subject, number("DLS_KERNEL_CASES", 500), number("DLS_SEED", 3).wrapping_add(2), suits);
    }
}
