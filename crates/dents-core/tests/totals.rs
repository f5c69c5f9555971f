//! Totals of real trees, compared with a plain recursion over std's `read_dir`.

mod common;

use common::{Playground, Threads, c_path};
use dents_core::tree::total::{Total, totals};
use dents_core::tree::{End, Options};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

/// Files of different sizes with links in one directory, in two, and outside; symbolic links, one of which leads up;
/// nested directories.
fn tree(top: &Path) {
    let root = top.join("root");
    for (nth, directory) in ["", "a", "a/x", "a/x/deep", "b", "b/y", "empty"].iter().enumerate() {
        fs::create_dir_all(root.join(directory)).unwrap();
        if *directory != "empty" {
            fs::write(root.join(directory).join("file"), vec![b'x'; 1000 + nth * 4096]).unwrap();
        }
    }
    for (name, other) in
        [("a/file2", "a/file"), ("b/across", "a/x/file"), ("a/x/deep/twice", "a/x/deep/file")]
    {
        fs::hard_link(root.join(other), root.join(name)).unwrap();
    }
    fs::hard_link(root.join("b/y/file"), top.join("outside")).unwrap();
    symlink("..", root.join("a/up")).unwrap();
    symlink("nowhere/at/all", root.join("dangling")).unwrap();
    File::create(root.join("sparse")).unwrap().set_len(1 << 33).unwrap();
    for nth in 0..300 {
        fs::write(root.join(format!("b/y/many{nth}")), vec![b'y'; nth]).unwrap();
    }
}

/// Each inode once: bytes of regular files and links, blocks of everything, including the directory itself.
fn plain(path: &Path, seen: &mut BTreeMap<u64, ()>) -> (u128, u128) {
    let about = fs::symlink_metadata(path).unwrap();
    if seen.insert(about.ino(), ()).is_some() {
        return (0, 0);
    }
    let counts = about.is_file() || about.is_symlink();
    let mut sum = (u128::from(if counts { about.len() } else { 0 }), u128::from(about.blocks()));
    if about.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            let (bytes, blocks) = plain(&entry.unwrap().path(), seen);
            sum = (sum.0 + bytes, sum.1 + blocks);
        }
    }
    sum
}

fn expected(path: &Path) -> Total {
    let (bytes, blocks) = plain(path, &mut BTreeMap::new());
    Total { bytes, blocks, whole: true }
}

fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

#[test]
fn totals_of_a_tree_are_those_of_a_plain_recursion() {
    let place = Playground::new("totals");
    tree(&place.0);
    let root = place.0.join("root");
    let levels: [&[&str]; 4] = [&[""], &["a", "b", "empty"], &["a/x", "b/y"], &["a/x/deep"]];
    for workers in [1, 4] {
        for deep in 0..4 {
            let options = Options { workers: Some(workers), ..Options::default() };
            let found = totals(vec![c_path(&root)], deep, &options, &Threads);
            assert_eq!((found.end, found.failures.len()), (End::Complete, 0));
            for (level, names) in levels.iter().enumerate() {
                for name in *names {
                    let path: PathBuf = if name.is_empty() { root.clone() } else { root.join(name) };
                    let sum = (level as u32 <= deep).then(|| expected(&path));
                    assert_eq!(
                        found.get(bytes_of(&path)),
                        sum,
                        "{} with {workers} workers, {deep} deep",
                        path.display()
                    );
                }
            }
            assert_eq!(found.get(b"elsewhere"), None);
        }
    }
}

/// Several directories at once, one through a link and one twice: each has its own total.
#[test]
fn each_of_several_directories_has_its_own_total() {
    let place = Playground::new("totals-several");
    tree(&place.0);
    let root = place.0.join("root");
    symlink("root/b", place.0.join("link")).unwrap();
    let paths = [root.join("a"), root.join("b"), place.0.join("link"), root.clone()];
    let found = totals(paths.iter().map(|path| c_path(path)).collect(), 0, &Options::default(), &Threads);
    assert_eq!(found.failures.len(), 0);
    for (path, like) in paths.iter().zip([0, 1, 1, 3]) {
        assert_eq!(found.get(bytes_of(path)), Some(expected(&paths[like])), "{}", path.display());
    }
}

#[test]
fn a_missing_directory_is_a_failure() {
    let place = Playground::new("totals-missing");
    tree(&place.0);
    let (missing, root) = (place.0.join("missing"), place.0.join("root"));
    let found = totals(vec![c_path(&missing), c_path(&root)], 0, &Options::default(), &Threads);
    assert_eq!(found.failures.iter().map(|failed| &*failed.path).collect::<Vec<_>>(), [bytes_of(&missing)]);
    assert_eq!(found.get(bytes_of(&root)), Some(expected(&root)));
    assert!(found.get(bytes_of(&missing)).is_none_or(|sum| !sum.whole));
}
