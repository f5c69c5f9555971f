//! Real file systems on loop devices: each has the property that it is used for.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, symlink};

use dents_lab::case::Case;
use dents_lab::case::MODES;
use dents_lab::loopfs::{LoopFs, Real};
use dents_lab::suite::{checked, expect_same, oracle};
use rustix::fs::{Dir, FileType, Mode, OFlags};

/// Types and names of the entries of a directory, except `.` and `..`.
fn listed(path: &std::path::Path) -> Vec<(FileType, Vec<u8>)> {
    let fd = rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).expect("it opens");
    let entries = Dir::read_from(fd).expect("it can be read").map(|entry| entry.expect("it reads"));
    let named = entries.map(|entry| (entry.file_type(), entry.file_name().to_bytes().to_vec()));
    let mut named: Vec<_> =
        named.filter(|(_, name)| !name.starts_with(b".") && name != b"lost+found").collect();
    named.sort_by(|a, b| a.1.cmp(&b.1));
    named
}

#[test]
fn each_has_its_trait_and_leaves_nothing() {
    for real in Real::ALL {
        let Some(mounted) = LoopFs::mount_or_skip(*real) else { continue };
        let path = mounted.path().to_path_buf();
        File::create(path.join("file")).expect("it is writable");
        fs::create_dir_all(path.join("dir/below")).expect("it is writable");
        let (directory, file) = match real {
            Real::Ext4NoFiletype => (FileType::Unknown, FileType::Unknown),
            Real::Xfs | Real::Btrfs => (FileType::Directory, FileType::RegularFile),
        };
        assert_eq!(listed(&path), [(directory, b"dir".to_vec()), (file, b"file".to_vec())], "{real:?}");
        let links = fs::metadata(path.join("dir")).expect("it is there").nlink();
        assert_eq!(links, if *real == Real::Btrfs { 1 } else { 3 }, "{real:?}");
        drop(mounted);
        assert!(!path.exists());
    }
}

/// The output of GNU `ls`, in every mode and with a deadline: with few entries, and with so many that several workers
/// ask.
#[test]
fn each_is_listed_as_gnu_lists_it() {
    for real in Real::ALL {
        let Some(mounted) = LoopFs::mount_or_skip(*real) else { continue };
        for (name, count) in [("few", 20), ("many", 700)] {
            let dir = mounted.path().join(name);
            fs::create_dir(&dir).expect("it is writable");
            for number in 0..count {
                let path = dir.join(format!("{number}"));
                match number % 5 {
                    0 => fs::create_dir(&path).expect("a directory"),
                    1 => symlink("0", &path).expect("a link"),
                    2 => symlink("nowhere", &path).expect("a link"),
                    _ => fs::write(&path, name.repeat(number % 7)).expect("a file"),
                }
            }
        }
        let mut cases = Vec::new();
        for options in
            ["-la", "-F", "--color=always", "-R", "-lR", "-i", "-s", "-p", "-lL", "-U", "-t", "-lU", "-d"]
        {
            for timeout in ["", "20s"] {
                let mut case = Case::new(mounted.path()).options(options).operands(["few", "many"]);
                case = case.env("DLS_TIMEOUT", timeout);
                case.modes = MODES;
                cases.push(case);
            }
        }
        expect_same(&oracle(), &checked(), &cases);
    }
}
