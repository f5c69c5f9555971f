//! The directories that are listed.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use super::cases::Place;
use crate::step::{Result, at};

/// Where everything of a run is, `dents-bench` in `$TMPDIR`; removed at the end, or by the next run.
pub(crate) struct Scratch(PathBuf);

/// A directory to list, and whether it was made for that.
pub(crate) struct Dir(PathBuf, bool);

impl Dir {
    pub(crate) fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        if self.1 {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Scratch {
    /// With an empty directory in it, `nothing`.
    pub(crate) fn new() -> Result<Scratch> {
        Scratch::at(std::env::temp_dir().join("dents-bench"))
    }

    fn at(root: PathBuf) -> Result<Scratch> {
        let _ = fs::remove_dir_all(&root);
        let scratch = Scratch(root);
        at(&scratch.0, fs::create_dir_all(scratch.join("nothing")))?;
        Ok(scratch)
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes a directory. Its access time is settled: with `relatime` only the first reading after a change moves it.
    pub(crate) fn build(&self, place: Place) -> Result<Dir> {
        let dir = Dir(self.join("listed"), true);
        let path = &dir.0;
        let made = fs::create_dir(path).and_then(|()| match place {
            Place::Plain(count) => (0..count).try_for_each(|n| touch(&path.join(format!("f{n:07}")))),
            Place::Mix(count) => mix(path, count),
            Place::Tree(count) => tree(path, count),
            Place::Usr => Ok(()),
        });
        at(path, made.and_then(|()| settle(path)))
            .map_err(|why| format!("{why}; TMPDIR may name a place with more room"))?;
        Ok(if place == Place::Usr { Dir("/usr".into(), false) } else { dir })
    }
}

/// For root, where /proc/sys is writable.
pub(crate) fn can_drop_caches() -> bool {
    fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches").is_ok()
}

fn touch(path: &Path) -> io::Result<()> {
    File::create(path).map(drop)
}

/// Of every eight five files (one executable, one hidden), a directory, a link that leads somewhere and one that
/// does not. Every tenth file has an ACL, where `setfacl` is; every third another owner, for root.
fn mix(dir: &Path, count: usize) -> io::Result<()> {
    let mut marked = Vec::new();
    for n in 0..count {
        let path = |stem: &str| dir.join(format!("{stem}{n}"));
        let file = match n % 8 {
            0 => fs::create_dir(path("dir")).map(|()| None),
            1 => symlink(".", path("link")).map(|()| None),
            2 => symlink("nowhere", path("link")).map(|()| None),
            3 => Ok(Some(path("run"))),
            4 => Ok(Some(path(".hidden"))),
            _ => Ok(Some(path("file"))),
        };
        let Some(file) = file? else { continue };
        let open = File::create(&file)?;
        open.set_len((n as u64).wrapping_mul(2_654_435_761) % 10_000_000)?;
        open.set_permissions(Permissions::from_mode(if n % 8 == 3 { 0o755 } else { 0o644 }))?;
        // Spread over three years, in no order.
        let seconds = 1_700_000_000 + (n as u64 * 7_919_777) % 94_000_000;
        open.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))?;
        if n % 3 == 0 {
            // Ids that have names on every machine. Only root can set them; for other users all files have one owner.
            let owner = [1, 2, 65_534][n / 3 % 3];
            let _ = chown(&file, Some(owner), Some(owner));
        }
        marked.extend((n % 10 == 5).then_some(file));
    }
    for files in marked.chunks(500) {
        let mut setfacl = Command::new("setfacl");
        let _ = setfacl.args(["-m", "u:1:r", "--"]).args(files).stderr(Stdio::null()).status();
    }
    Ok(())
}

fn tree(dir: &Path, count: usize) -> io::Result<()> {
    (0..count).try_for_each(|n| {
        let parent = dir.join(format!("d{:02}/e{:02}", n / 1000 % 100, n / 100 % 10));
        if n % 100 == 0 {
            fs::create_dir_all(&parent)?;
        }
        touch(&parent.join(format!("f{n:07}")))
    })
}

/// Reads the directory once, by a tick of the kernel's coarse clock later than its last change, and waits for the disk: otherwise
/// the kernel may write the new files while the first programs are timed.
fn settle(dir: &Path) -> io::Result<()> {
    std::thread::sleep(Duration::from_millis(10));
    fs::read_dir(dir)?.try_for_each(|entry| entry.map(drop))?;
    Command::new("sync").status().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_the_entries_they_promise_and_go() {
        let root = std::env::temp_dir().join(format!("dents-places-{}", std::process::id()));
        let scratch = Scratch::at(root.clone()).expect("a temporary directory");
        for place in [Place::Plain(80), Place::Mix(80)] {
            let dir = scratch.build(place).expect("it is built");
            assert_eq!(fs::read_dir(dir.path()).expect("it reads").count(), 80, "{place:?}");
        }
        let tree = scratch.build(Place::Tree(2500)).expect("it is built");
        assert_eq!(fs::read_dir(tree.0.join("d01/e04")).expect("it reads").count(), 100);
        drop((tree, scratch));
        assert!(!root.exists());
    }
}
