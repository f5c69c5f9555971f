//! The order of names against the machine's own: names from /usr and generated ones, sorted by `sort` (which asks
//! `strcoll`, then compares bytes), must have rising keys; and `ls` must print a directory of them in the order of the
//! keys, equal ones as the directory has them. Locales that are not installed are reported and skipped;
//! `cargo test -p dents-locale --test agreement -- --nocapture` prints the figures of `COLLATION.md`.

mod common;
mod names;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use common::{Disk, locale, locales};
use dents_locale::{Collation, Collator};
use names::{Random, generated, names_under, seed};

/// The names in glibc's order.
fn sorted(names: &[Vec<u8>], locale: &str) -> Vec<Vec<u8>> {
    let mut child = Command::new("sort")
        .arg("-z")
        .env("LC_ALL", locale)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sort starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input: Vec<u8> = names.iter().flat_map(|name| [name, &b"\0"[..]].concat()).collect();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("sort ends").stdout;
    writer.join().expect("no panic").expect("sort reads all");
    let mut lines: Vec<Vec<u8>> = output.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    lines.pop();
    assert_eq!(lines.len(), names.len());
    lines
}

/// Compares one set of names; gives the adjacent pairs in the other order.
fn disagreements(collator: &mut Collator<'_>, names: &[Vec<u8>], locale: &str, what: &str) -> usize {
    let names = sorted(names, locale);
    let (mut keys, mut ends) = (Vec::new(), vec![0]);
    let start = Instant::now();
    for name in &names {
        collator.key(name, &mut keys);
        ends.push(keys.len());
    }
    let time = start.elapsed();
    let key = |at: usize| &keys[ends[at]..ends[at + 1]];
    let pair = |at: usize| (key(at), &names[at]);
    let wrong: Vec<usize> = (1..names.len()).filter(|at| pair(at - 1) > pair(*at)).collect();
    let ties = (1..names.len()).filter(|at| key(at - 1) == key(*at)).count();
    let share = 100.0 * (1.0 - wrong.len() as f64 / (names.len() - 1) as f64);
    let nanoseconds = time.as_nanos() / names.len() as u128;
    println!(
        "{locale} {what}: {} names, {share:.4} % agree, {ties} ties, {nanoseconds} ns and {} bytes a key",
        names.len(),
        keys.len() / names.len()
    );
    for at in wrong.iter().take(20) {
        let [one, two] = [at - 1, *at].map(|at| String::from_utf8_lossy(&names[at]));
        println!("  {one:?} before {two:?}\n    {:02x?}\n    {:02x?}", key(at - 1), key(*at));
    }
    wrong.len()
}

#[test]
fn keys_rise_where_glibc_sorts() {
    let mut disk = Disk::default();
    // Unoptimised, all of them would take a minute.
    let step = if cfg!(debug_assertions) { 10 } else { 1 };
    let usr: Vec<Vec<u8>> = names_under(Path::new("/usr")).into_iter().step_by(step).collect();
    let made: Vec<Vec<u8>> = generated(seed()).into_iter().step_by(step).collect();
    let (mut wrong, mut compared) = (0, 0);
    for name in &locales() {
        let found = locale(name, &mut disk);
        if found.locale().collation != Collation::Rules {
            println!("skipped: {name} is not installed (see localedef)");
            continue;
        }
        let collate = found.collate().expect("rules have tables");
        let start = Instant::now();
        let mut collator = Collator::new(collate).expect("tables that can be read");
        println!("{name}: collator made in {:?}", start.elapsed());
        compared += 1;
        wrong += disagreements(&mut collator, &usr, name, "/usr");
        wrong += disagreements(&mut collator, &made, name, "generated");
    }
    assert_eq!(wrong, 0, "pairs in another order than glibc's");
    some_were_compared(compared);
}

/// If locales are required (`DLS_LOCALES`, which `cargo xtask test` sets when it has made them), a test that skipped
/// all of them must fail. The fixtures are compared in any case (tests/compiled.rs).
fn some_were_compared(compared: usize) {
    let wanted = std::env::var("DLS_LOCALES").is_ok_and(|value| !["", "0"].contains(&&*value));
    assert!(
        compared > 0 || !wanted,
        "locales are wanted (DLS_LOCALES), and none that is compared is installed: install the package \"locales\" and make \
         one, as root: localedef -i en_US -f UTF-8 en_US.UTF-8; or unset DLS_LOCALES"
    );
}

/// The output of `ls` for a directory, name by name.
fn listed(directory: &Path, locale: &str, options: &[&str]) -> Vec<Vec<u8>> {
    let mut ls = Command::new("ls");
    let output =
        ls.arg("--zero").args(options).arg(directory).env("LC_ALL", locale).output().expect("ls starts");
    let mut names: Vec<Vec<u8>> = output.stdout.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    names.pop();
    names
}

#[test]
fn ls_sorts_stably_by_keys() {
    let directory = std::env::temp_dir().join(format!("dents-locale-order-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory");
    let mut random = Random::new(seed());
    let made: Vec<Vec<u8>> = generated(seed()).into_iter().collect();
    for _ in 0..3000 {
        let name = &made[random.below(made.len())];
        if ![&b"."[..], b".."].contains(&&name[..]) {
            fs::write(directory.join(OsStr::from_bytes(name)), b"").expect("a file");
        }
    }
    let (mut disk, mut compared) = (Disk::default(), 0);
    for name in &locales() {
        let Some(mut collator) = locale(name, &mut disk).collate().and_then(Collator::new) else {
            println!("skipped: {name} is not installed (see localedef)");
            continue;
        };
        compared += 1;
        let mut keyed: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for file in listed(&directory, name, &["-aU"]) {
            let mut key = Vec::new();
            collator.key(&file, &mut key);
            keyed.push((key, file));
        }
        let mut order: Vec<&(Vec<u8>, Vec<u8>)> = keyed.iter().collect();
        order.sort_by(|a, b| a.0.cmp(&b.0));
        assert!(listed(&directory, name, &["-a"]).iter().eq(order.iter().map(|(_, file)| file)), "{name}");
        order = keyed.iter().collect();
        order.sort_by(|a, b| b.0.cmp(&a.0));
        assert!(
            listed(&directory, name, &["-ar"]).iter().eq(order.iter().map(|(_, file)| file)),
            "{name} -r"
        );
    }
    fs::remove_dir_all(&directory).expect("the directory goes");
    some_were_compared(compared);
}
