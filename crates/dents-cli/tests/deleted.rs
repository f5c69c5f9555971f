//! `browse --delete` beside `rm -rf`, on equal trees: what one leaves, the other leaves. (Mounts apart, which `rm -rf` empties: `browse.rs`.)

mod tools;

use dents_lab::fixture::TempDir;
use dents_lab::process::quote;
use dents_lab::tmux::Screen;
use rustix::fs::{AtFlags, CWD, Mode, chownat, mkfifoat};
use rustix::process::{Gid, Uid};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tools::is_root;

/// The number of the user `nobody`. Where the test runs as root, the deletion runs as this user.
const NOBODY: u32 = 65534;
/// More levels than `ulimit -n` has descriptors.
const LEVELS: usize = 60;
/// Names that mean something else to a terminal, a shell or a pattern.
const NAMES: [&[u8]; 10] =
    [b"-rf", b" ", b"a\nb", b"\x1b[2J", b"\xff\xfe", b"*", b"\xe2\x80\xaegpj", b"'\"\\", b"...", b"\xc3\xa9"];

/// Numbers that are the same in each run (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)) >> 8) as usize % end
    }
}

/// The same tree for each seed: `large` in this directory. `outside` beside it is what links lead to.
fn grow(top: &Path, seed: u64) -> PathBuf {
    let (mut random, large) = (Random(seed), top.join("large"));
    let mut directories = vec![large.clone()];
    fs::create_dir_all(&large).expect("a directory");
    for level in 0..LEVELS {
        directories.push(directories[level].join("d"));
        fs::create_dir(&directories[level + 1]).expect("a directory");
    }
    for nth in 0..150 {
        let above = directories[random.below(directories.len())].clone();
        let name = [NAMES[random.below(NAMES.len())], nth.to_string().as_bytes()].concat();
        let path = above.join(OsStr::from_bytes(&name));
        match random.below(8) {
            0 | 1 => {
                fs::create_dir(&path).expect("a directory");
                directories.push(path);
            }
            2 => symlink("../".repeat(LEVELS + 20) + "outside", &path).expect("a link"),
            3 => symlink(top.join("outside"), &path).expect("a link"),
            4 => mkfifoat(CWD, &path, Mode::RUSR).expect("a FIFO"),
            5 => fs::hard_link(top.join("outside/precious"), &path).expect("a link"),
            _ => fs::write(&path, name).expect("a file"),
        }
    }
    restrict(&large, &directories, 15 + 30 * seed as usize, &mut random);
    large
}

/// Changes the owner of most entries to [`NOBODY`], and takes permissions of some directories away.
fn restrict(large: &Path, directories: &[PathBuf], rarely: usize, random: &mut Random) {
    if is_root() {
        let mut all = vec![large.to_path_buf()];
        while let Some(path) = all.pop() {
            if path != large && random.below(rarely * 2) == 0 {
                continue;
            }
            let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
            chownat(CWD, &path, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW).expect("root may");
            if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
                let mut entries: Vec<_> =
                    fs::read_dir(&path).expect("readable").flatten().map(|entry| entry.path()).collect();
                // The order of a directory differs from tree to tree.
                entries.sort();
                all.append(&mut entries);
            }
        }
    }
    // The deepest first: a directory that may not be searched hides what is below.
    for directory in directories[1..].iter().rev() {
        // Not writable, not readable, not searchable, or neither; with the sticky bit only own files may be deleted.
        let modes = [0o500, 0o300, 0o600, 0, 0o1777];
        if random.below(rarely) == 0 {
            let mode = modes[random.below(modes.len())];
            fs::set_permissions(directory, Permissions::from_mode(mode)).expect("a mode");
        }
    }
}

/// What there is, with types, as root or with all permissions given back.
fn left(top: &Path) -> BTreeSet<(Vec<u8>, char)> {
    let (mut found, mut waiting) = (BTreeSet::new(), vec![top.to_path_buf()]);
    while let Some(directory) = waiting.pop() {
        if !is_root() {
            let _ = fs::set_permissions(&directory, Permissions::from_mode(0o700));
        }
        for entry in fs::read_dir(&directory).expect("readable") {
            let entry = entry.expect("readable");
            let kind = entry.file_type().expect("a type");
            let path = entry.path();
            let below = path.strip_prefix(top).expect("below").to_path_buf();
            let kind = match () {
                () if kind.is_dir() => 'd',
                () if kind.is_symlink() => 'l',
                () if kind.is_file() => 'f',
                () => 'p',
            };
            if kind == 'd' {
                waiting.push(path);
            }
            found.insert((below.into_os_string().into_vec(), kind));
        }
    }
    found
}

/// The words that run a command as a user without privileges.
fn unprivileged() -> String {
    match is_root() {
        true => format!("setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups"),
        false => String::new(),
    }
}

fn place(seed: u64) -> TempDir {
    let place = TempDir::new("deleted").expect("a directory");
    for side in ["theirs", "ours"] {
        let top = place.path().join(side);
        fs::create_dir_all(top.join("outside")).expect("a directory");
        fs::write(top.join("outside/precious"), "x").expect("a file");
        // The tree is the only entry of a directory that the user may change.
        fs::create_dir(top.join("tree")).expect("a directory");
        fs::set_permissions(top.join("tree"), Permissions::from_mode(0o777)).expect("a mode");
        grow_below(&top, seed);
    }
    place
}

fn grow_below(top: &Path, seed: u64) {
    let large = grow(top, seed);
    fs::rename(large, top.join("tree/large")).expect("renamed");
}

/// Deletes `large` in the browser, while `meanwhile` happens between the question and the answer.
fn browse(tree: &Path, before: &str, meanwhile: &dyn Fn()) {
    let screen = Screen::new(100, 30).expect("a directory");
    let program = quote(Path::new(env!("CARGO_BIN_EXE_dents")).as_os_str());
    let (dir, user) = (quote(tree.as_os_str()), unprivileged());
    screen
        .start(&format!(
            "cd {dir}; ulimit -n 40; {before} {user} {program} browse --delete .; exec sleep 60\n"
        ))
        .expect("tmux");
    let wait = |expected: &str| {
        screen
            .until(|lines| lines.iter().any(|line| line.contains(expected)))
            .unwrap_or_else(|error| panic!("{expected}: {error}"))
    };
    wait("/large");
    screen.until(|lines| lines.iter().any(|line| line.contains(" by size"))).expect("the end of the scan");
    screen.press(&["d"]).expect("tmux");
    wait("y deletes");
    meanwhile();
    screen.press(&["y"]).expect("tmux");
    // The last line, not the progress.
    screen
        .until(|lines| lines.last().is_some_and(|line| line.contains("deleted ")))
        .expect("the end of the deletion");
    screen.press(&["q"]).expect("tmux");
    screen.end().expect("tmux");
}

/// Files that are gone when the answer comes.
fn vanish(top: &Path) {
    let vanishing: Vec<_> = left(top).into_iter().filter(|(_, kind)| *kind != 'd').step_by(7).collect();
    for (path, _) in vanishing {
        fs::remove_file(top.join(OsStr::from_bytes(&path))).expect("it was there");
    }
}

#[test]
fn what_rm_leaves() {
    if is_root() && Command::new("setpriv").arg("--version").output().is_err() {
        return println!("without setpriv root is refused nothing: nothing is tested");
    }
    let (mut all, mut kept) = (0, 0);
    for seed in 0..8 {
        let place = place(seed);
        let [theirs, ours] = ["theirs", "ours"].map(|side| place.path().join(side));
        if is_root() {
            assert_eq!(left(&theirs), left(&ours), "equal trees");
            all += left(&ours).len();
            vanish(&theirs.join("tree"));
        }
        let script = format!("ulimit -n 40; exec {} rm -rf tree/large", unprivileged());
        Command::new("sh").args(["-c", &script]).current_dir(&theirs).output().expect("a shell");
        browse(&ours.join("tree"), "", &|| {
            if is_root() {
                vanish(&ours.join("tree"));
            }
        });
        let (theirs, ours) = (left(&theirs), left(&ours));
        let other: Vec<_> = theirs
            .symmetric_difference(&ours)
            .map(|(path, kind)| (String::from_utf8_lossy(path), kind))
            .collect();
        assert!(
            other.is_empty(),
            "seed {seed}: rm leaves {}, browse {}: {other:?}",
            theirs.len(),
            ours.len()
        );
        assert!(ours.contains(&(b"outside/precious".to_vec(), 'f')));
        kept += ours.len();
    }
    println!("{all} entries, {kept} stay");
    assert!(kept > 8 * 4, "{kept}: something is refused");
}
