//! What is deleted, and what is not: replaced directories, links, mounts, and entries that cannot be deleted.

use super::*;
use crate::browse::delete::{Counted, DeletionProgress, Target, delete};
use crate::browse::gather::{Shared, needs};
use crate::browse::question::Figures;
use dents_lab::fixture::TempDir;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The tree of a directory, read by std.
fn scan(root: &Path) -> Counted {
    assert!(needs().any().contains(dents_core::needs::Needs::INODE));
    let mut tree = Tree::new();
    let mut waiting = vec![(Id::TOP, root.to_path_buf(), root.to_str().expect("UTF-8").to_owned())];
    while let Some((above, path, name)) = waiting.pop() {
        let meta = fs::symlink_metadata(&path).expect("it is there");
        let kind = Kind::from_mode(meta.mode() as u16);
        let dev = (rustix::fs::major(meta.dev()), rustix::fs::minor(meta.dev()));
        let facts = Known {
            inode: Inode { dev, ino: meta.ino() },
            nlink: meta.nlink() as u32,
            allocated: meta.blocks() * 512,
            mode: meta.mode() as u16,
            ..Known::default()
        };
        tree.add(above, [Fresh { name: name.as_bytes(), kind, facts: Some(facts) }]);
        if kind == Kind::Dir {
            let id = tree.find_directory(above, name.as_bytes()).expect("it was added");
            for entry in fs::read_dir(&path).expect("it can be read") {
                let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
                waiting.push((id, path.join(&name), name));
            }
        }
    }
    let limit = tree.limit();
    Counted { shared: Arc::new(Shared::of(tree)), limit }
}

/// A directory `top` with `keep/a`, `gone/sub/file`, `gone/link` to `../keep`, and `outside/precious` beside it.
fn place() -> TempDir {
    let place = TempDir::new("delete").expect("a directory");
    for dir in ["top/keep", "top/gone/sub/empty", "outside"] {
        fs::create_dir_all(place.path().join(dir)).expect("a directory");
    }
    for file in ["top/keep/a", "top/gone/sub/file", "top/gone/b", "outside/precious"] {
        fs::write(place.path().join(file), file).expect("a file");
    }
    symlink("../keep", place.path().join("top/gone/link")).expect("a link");
    place
}

fn target(counted: &Counted, place: &Path, below: &str) -> Target {
    let tree = counted.shared.lock();
    let root = tree
        .find_directory(Id::TOP, place.join("top").to_str().expect("UTF-8").as_bytes())
        .expect("the root");
    let step =
        |at: Id, name: &str| tree.children(at).find(|id| tree.name(*id) == name.as_bytes()).expect(name);
    let id = below.split('/').filter(|name| !name.is_empty()).fold(root, step);
    Target::new(&tree, id).expect("it can be named")
}

/// Whether all is gone, the number of entries that were deleted, and the messages without the path.
fn run(counted: &Counted, target: &Target) -> (bool, u64, Vec<String>) {
    let (progress, mut texts) = (DeletionProgress::default(), Vec::new());
    let mut complain = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).into_owned();
        texts.push(text.rsplit_once("': ").map_or(text.clone(), |(_, why)| why.to_owned()));
    };
    let gone = delete(target, counted, &progress, &mut complain);
    (gone, progress.deleted.load(Relaxed), texts)
}

const CHANGED: &str = "it is not what was scanned any more; scan its directory again with r";

#[test]
fn a_directory_and_a_file() {
    let place = place();
    let tree = scan(&place.path().join("top"));
    assert_eq!(run(&tree, &target(&tree, place.path(), "gone")), (true, 6, vec![]));
    assert_eq!(run(&tree, &target(&tree, place.path(), "keep/a")), (true, 1, vec![]));
    assert!(!place.path().join("top/gone").exists() && place.path().join("top/keep").exists());
    // A second time there is nothing.
    assert_eq!(
        run(&tree, &target(&tree, place.path(), "gone")),
        (false, 0, vec!["No such file or directory".to_owned()])
    );
}

#[test]
fn ten_thousand_entries_that_are_read_in_several_buffers() {
    let place = place();
    for nth in 0..10_000 {
        fs::write(place.path().join(format!("top/gone/sub/{nth:060}")), "").expect("a file");
    }
    let tree = scan(&place.path().join("top"));
    assert_eq!(run(&tree, &target(&tree, place.path(), "gone")), (true, 10_006, vec![]));
}

/// Another directory has the name now, or a link to one: nothing is deleted in it.
#[test]
fn a_directory_that_was_replaced() {
    for by_link in [false, true] {
        for (below, replaced) in [
            ("gone", "top/gone"),
            ("gone/sub", "top/gone"),
            ("gone/sub/file", "top/gone/sub"),
            ("keep/a", "top"),
        ] {
            let place = place();
            let at = |path: &str| place.path().join(path);
            let tree = scan(&at("top"));
            fs::rename(at(replaced), at("moved")).expect("renamed");
            if by_link {
                symlink(at("moved"), at(replaced)).expect("a link");
            } else {
                // The same names, in other directories.
                fs::create_dir_all(at("top/gone/sub")).expect("a directory");
                fs::create_dir_all(at("top/keep")).expect("a directory");
                fs::write(at("top/gone/sub/file"), "new").expect("a file");
                fs::write(at("top/keep/a"), "new").expect("a file");
            }
            let before = count(place.path());
            let (gone, deleted, texts) = run(&tree, &target(&tree, place.path(), below));
            // The operand is opened by its path, as the scan did. What it leads to is what was scanned.
            let leads_there = by_link && replaced == "top";
            if leads_there {
                assert_eq!((gone, deleted), (true, 1));
                continue;
            }
            assert_eq!((gone, deleted), (false, 0), "{below} {replaced} {by_link}");
            assert_eq!(texts, [CHANGED], "{below} {replaced} {by_link}");
            assert_eq!(count(place.path()), before);
        }
    }
}

fn count(dir: &Path) -> usize {
    let entries = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| 1 + if entry.file_type().expect("a type").is_dir() { count(&entry.path()) } else { 0 })
        .sum()
}

/// A link is deleted, never what it leads to.
#[test]
fn links_are_not_followed() {
    let place = place();
    let at = |path: &str| place.path().join(path);
    symlink(at("outside"), at("top/gone/sub/out")).expect("a link");
    let tree = scan(&at("top"));
    assert_eq!(run(&tree, &target(&tree, place.path(), "gone/sub/out")), (true, 1, vec![]));
    symlink(at("outside"), at("top/gone/sub/out")).expect("a link");
    // What was not seen is not deleted, and this link is another one, unless it got the inode of the first.
    let tree = scan(&at("top"));
    assert!(run(&tree, &target(&tree, place.path(), "gone")).0);
    assert!(at("outside/precious").exists() && at("top/keep/a").exists());
}

#[test]
fn what_cannot_be_deleted_stays_with_what_is_above() {
    if dents_lab::suite::is_root() {
        println!("root may delete everything: nothing is tested");
        return;
    }
    let place = place();
    let locked = place.path().join("top/gone/sub");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).expect("ours");
    let tree = scan(&place.path().join("top"));
    let (gone, deleted, texts) = run(&tree, &target(&tree, place.path(), "gone"));
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).expect("ours");
    assert_eq!((gone, deleted), (false, 2));
    assert_eq!(texts, ["Permission denied"; 2]);
}

#[test]
fn a_deletion_that_is_stopped_keeps_the_rest() {
    let place = place();
    let tree = scan(&place.path().join("top"));
    let progress = DeletionProgress::default();
    progress.stop.store(true, Relaxed);
    let mut texts = 0;
    assert!(!delete(&target(&tree, place.path(), "gone"), &tree, &progress, &mut |_| texts += 1));
    assert_eq!((texts, progress.deleted.load(Relaxed)), (1, 0));
}

#[test]
fn an_operand_is_not_deleted() {
    let place = place();
    let tree = scan(&place.path().join("top"));
    let (gone, deleted, _) = run(&tree, &target(&tree, place.path(), ""));
    assert_eq!((gone, deleted), (false, 0));
}

/// What appears after the question stays, with the directories above it; the rest of what was counted is deleted.
#[test]
fn what_was_not_counted_stays() {
    let place = place();
    let at = |path: &str| place.path().join(path);
    let tree = scan(&at("top"));
    let wanted = target(&tree, place.path(), "gone");
    fs::write(at("top/gone/sub/new"), "x").expect("a file");
    // The same name, another file.
    fs::write(at("top/gone/other"), "x").expect("a file");
    fs::rename(at("top/gone/other"), at("top/gone/b")).expect("renamed");
    let (gone, deleted, mut texts) = run(&tree, &wanted);
    texts.sort();
    assert_eq!((gone, deleted), (false, 3), "the link, the empty directory, and the file");
    assert_eq!(texts, ["it has entries that were not counted; d asks again", CHANGED]);
    assert!(at("top/gone/sub/new").exists() && at("top/gone/b").exists());
    assert_eq!(count(&at("top/gone")), 3);
}

/// So does what the scan finds after the question.
#[test]
fn what_the_scan_found_since_stays() {
    let place = place();
    let tree = scan(&place.path().join("top"));
    let first = target(&tree, place.path(), "gone/sub");
    let inode = fs::metadata(place.path().join("top/gone/sub/file")).expect("a file").ino();
    let counted = Counted { limit: tree.shared.lock().limit(), ..tree.clone() };
    let late = {
        let mut tree = tree.shared.lock();
        let found = tree.children(first.id).find(|id| tree.name(*id) == b"file").expect("file");
        tree.remove(found);
        let facts = Known { inode: Inode { ino: inode, ..known(0, 0).inode }, ..known(0, 0) };
        tree.add(first.id, [Fresh { name: b"file", kind: Kind::Reg, facts: Some(facts) }]);
        tree.limit()
    };
    assert!(late > counted.limit);
    let (gone, deleted, texts) = run(&counted, &first);
    assert_eq!((gone, deleted), (false, 1), "the empty directory");
    assert_eq!(texts, ["it has entries that were not counted; d asks again"]);
}

/// What the question counts: all names, and the space that becomes free.
#[test]
fn the_figures_of_the_question() {
    let place = place();
    let at = |path: &str| place.path().join(path);
    fs::write(at("top/gone/b"), vec![1; 100_000]).expect("a file");
    fs::hard_link(at("top/gone/b"), at("top/gone/sub/c")).expect("a link");
    fs::write(at("outside/precious"), vec![1; 50_000]).expect("a file");
    fs::hard_link(at("outside/precious"), at("top/gone/sub/kept")).expect("a link");
    let tree = scan(&at("top"));
    let allocated = |path: &str| fs::symlink_metadata(at(path)).expect("it is there").blocks() * 512;
    let all = ["gone", "gone/sub", "gone/sub/empty", "gone/sub/file", "gone/b", "gone/link"];
    let freed = all.map(|path| allocated(&format!("top/{path}"))).iter().sum();
    let gone = target(&tree, place.path(), "gone").id;
    let figures = Figures::of(&tree.shared.lock(), &[gone], |_| true);
    let linked_bytes = allocated("outside/precious");
    assert_eq!(figures, Figures { entries: 8, freed, linked: 1, linked_bytes, ..Figures::default() });
    // One of both names of `b` stays: nothing of it is freed.
    let sub = target(&tree, place.path(), "gone/sub").id;
    let figures = Figures::of(&tree.shared.lock(), &[sub], |name| name != b"file");
    let hidden_freed = allocated("top/gone/sub/file");
    let freed = allocated("top/gone/sub") + allocated("top/gone/sub/empty") + hidden_freed;
    let linked_bytes = linked_bytes + allocated("top/gone/b");
    let expected = Figures { entries: 5, freed, hidden: 1, hidden_freed, linked: 2, linked_bytes, mounts: 0 };
    assert_eq!(figures, expected);
}
