//! Walks of a rotating disk: needs root, FUSE, loop devices and the programs that make ext4.

mod tools;

use dents_lab::disk::Disk;
use dents_lab::fixture::TempDir;
use dents_lab::process::Run;
use dents_lab::rng::Rng;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use tools::{dents, is_root, other, run, sorted, stdout, text};

/// An ext4 image that has aged: 3,000 files come in 400 directories in random order.
fn image(dir: &Path) -> Result<PathBuf, String> {
    let (image, root) = (dir.join("image"), dir.join("root"));
    fs::create_dir(&root).map_err(|error| error.to_string())?;
    File::create(&image).and_then(|file| file.set_len(16 << 30)).map_err(|error| error.to_string())?;
    let shell = |script: &str| {
        let output = Command::new("sh").args(["-ec", script]).arg(&image).arg(&root).output();
        let output = output.map_err(|error| error.to_string())?;
        let said = || String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(said()) }
    };
    shell("mkfs.ext4 -q -F \"$0\" && mount -o loop \"$0\" \"$1\"")?;
    let mut rng = Rng::new(3);
    let mut directories = vec![root.clone()];
    for number in 0..3_400 {
        let path = directories[rng.below(directories.len())].join(format!("{number}"));
        if number % 17 < 2 {
            fs::create_dir(&path).expect("a directory");
            directories.push(path);
        } else {
            fs::write(&path, "x").expect("a file");
        }
    }
    shell("umount \"$1\"").map(|()| image.clone())
}

/// The seeks of a command on a disk of which nothing is in memory, and its output.
fn seeks(image: &Path, command: impl FnOnce(&Path) -> Run) -> (u64, Vec<Vec<u8>>) {
    let disk = Disk::mount(image, 1.0).expect("it was mounted before");
    let before = disk.counts();
    let output = stdout(&command(disk.path()));
    ((disk.counts() - before).seeks, sorted(&output, b'\n'))
}

#[test]
fn a_rotating_disk_is_read_in_its_own_order() {
    let dir = TempDir::new("disk").expect("a directory");
    let image = if is_root() { image(dir.path()) } else { Err("only root can mount one".into()) };
    let image = image.map_err(|why| println!("skipped: no ext4 on a loop device: {why}"));
    let Ok(image) = image else { return };
    if Disk::mount_or_skip(&image).is_none() {
        return;
    }
    let (by_find, expected) = seeks(&image, |root| other("find", root, r"-printf %s\t%p\n"));
    let (ours, found) = seeks(&image, |root| dents(root, r"scan --printf %s\t%p\n ."));
    assert!(by_find > 100, "{by_find} seeks for 400 directories");
    assert!(found == expected, "{} rows, find {}", found.len(), expected.len());
    assert!(ours * 2 < by_find, "{ours} seeks, find {by_find}");
    let told = |root: &Path| {
        text(&run(&dents(root, "du -s --explain .")).stderr).lines().map(str::to_string).collect::<Vec<_>>()
    };
    let disk = Disk::mount(&image, 1.0).expect("it was mounted before");
    let cold = told(disk.path());
    assert!(cold.iter().any(|line| line.starts_with("dents: order: one worker")), "{cold:?}");
    let warm = told(disk.path());
    assert!(!warm.iter().any(|line| line.starts_with("dents: order:")), "{warm:?}");
}
