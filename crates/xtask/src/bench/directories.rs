//! The directories that are listed.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::step::Result;

/// The contents of a directory of `n` entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Empty files `f0000000`, `f0000001` …
    Plain,
    /// As in a home directory: files of many sizes and times, directories, links, ACLs, several owners.
    Mix,
    /// Empty files with names of 200 bytes.
    Long,
    /// Entries spread over directories of a hundred, for `-R`.
    Tree,
}

/// A directory that goes when it is no longer needed: the next ones want the space.
pub(crate) struct Dir(PathBuf);

impl Dir {
    /// Its path, as commands get it.
    pub(crate) fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Shape {
    /// A word for tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Shape::Plain => "plain",
            Shape::Mix => "mix",
            Shape::Long => "long names",
            Shape::Tree => "tree",
        }
    }

    /// Makes one of `count` entries under `parent`. Its access time is settled: with `relatime` only the first
    /// reading after a change moves it.
    pub(crate) fn build(self, parent: &Path, count: usize) -> Result<Dir> {
        let dir = Dir(parent.join(format!("{}{count}", self.name().replace(' ', "-"))));
        let at = &dir.0;
        fs::create_dir(at)
            .and_then(|()| match self {
                Shape::Plain => (0..count).try_for_each(|n| touch(&at.join(format!("f{n:07}")))),
                Shape::Long => (0..count).try_for_each(|n| touch(&at.join(format!("{n:07}{:-<193}", "")))),
                Shape::Mix => mix(at, count),
                Shape::Tree => tree(at, count),
            })
            .and_then(|()| settle(at))
            .map_err(|error| format!("{}: {error}", at.display()))?;
        Ok(dir)
    }
}

fn touch(path: &Path) -> io::Result<()> {
    File::create(path).map(drop)
}

/// Of every eight five files (one executable, one hidden), a directory, a link that leads somewhere and one that
/// does not. Every tenth file has an ACL, where `setfacl` is; every third another owner, for root.
fn mix(dir: &Path, count: usize) -> io::Result<()> {
    let epoch = SystemTime::UNIX_EPOCH;
    let mut marked = Vec::new();
    for n in 0..count {
        let path = |stem: &str| dir.join(format!("{stem}{n}"));
        let file = match n % 8 {
            0 => {
                fs::create_dir(path("dir"))?;
                continue;
            }
            1 | 2 => {
                symlink(if n % 8 == 1 { "." } else { "nowhere" }, path("link"))?;
                continue;
            }
            3 => path("run"),
            4 => path(".hidden"),
            _ => path("file"),
        };
        let open = File::create(&file)?;
        open.set_len((n as u64).wrapping_mul(2_654_435_761) % 10_000_000)?;
        if n % 8 == 3 {
            open.set_permissions(Permissions::from_mode(0o755))?;
        }
        // Spread over three years, in no order.
        open.set_modified(epoch + Duration::from_secs(1_700_000_000 + (n as u64 * 7_919_777) % 94_000_000))?;
        if n % 3 == 0 {
            // Ids that have names on every machine. Only root can set them; for other users all files have one owner.
            let owner = [1, 2, 65_534][n / 3 % 3];
            let _ = chown(&file, Some(owner), Some(owner));
        }
        if n % 10 == 5 {
            marked.push(file);
        }
    }
    for files in marked.chunks(500) {
        let mut setfacl = Command::new("setfacl");
        setfacl.args(["-m", "u:1:r", "--"]).args(files).stderr(Stdio::null());
        if !setfacl.status().is_ok_and(|status| status.success()) {
            break;
        }
    }
    Ok(())
}

fn tree(dir: &Path, count: usize) -> io::Result<()> {
    for n in 0..count {
        let parent = dir.join(format!("d{:02}/e{:02}", n / 1000 % 100, n / 100 % 10));
        if n % 100 == 0 {
            fs::create_dir_all(&parent)?;
        }
        touch(&parent.join(format!("f{n:07}")))?;
    }
    Ok(())
}

fn settle(dir: &Path) -> io::Result<()> {
    // Later, by a tick of the kernel's coarse clock, than the last change.
    std::thread::sleep(Duration::from_millis(10));
    fs::read_dir(dir)?.try_for_each(|entry| entry.map(drop))
}

/// `COUNT=10,1000` as numbers, ascending.
pub(crate) fn counts(said: Option<&str>, default: &[usize]) -> Result<Vec<usize>> {
    let Some(said) = said.filter(|said| !said.trim().is_empty()) else { return Ok(default.to_vec()) };
    let number = |word: &str| match word.trim().replace('_', "").parse() {
        Ok(n) if (1..=10_000_000).contains(&n) => Ok(n),
        _ => Err(format!(
            "COUNT={said}: {word:?} is no number of entries; say for example COUNT=10,1000,100000 (at most 10000000)"
        )),
    };
    let mut counts = said.split(',').map(number).collect::<Result<Vec<usize>>>()?;
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_or_refused_by_name() {
        assert_eq!(counts(None, &[1, 2]), Ok(vec![1, 2]));
        assert_eq!(counts(Some("1_000, 10,10"), &[]), Ok(vec![10, 1000]));
        for bad in ["10,x", "0", "10,,20", "20000000"] {
            assert!(counts(Some(bad), &[]).is_err_and(|why| why.contains(bad)), "{bad}");
        }
    }

    #[test]
    fn shapes_have_the_entries_they_promise() {
        let parent = std::env::temp_dir().join(format!("dents-shape-{}", std::process::id()));
        fs::create_dir(&parent).expect("a temporary directory");
        for shape in [Shape::Plain, Shape::Mix, Shape::Long] {
            let dir = shape.build(&parent, 80).expect("it is built");
            assert_eq!(fs::read_dir(&dir.0).expect("it reads").count(), 80, "{shape:?}");
        }
        let tree = Shape::Tree.build(&parent, 2500).expect("it is built");
        assert_eq!(fs::read_dir(tree.0.join("d01/e04")).expect("it reads").count(), 100);
        drop(tree);
        assert_eq!(fs::read_dir(&parent).expect("it reads").count(), 0);
        fs::remove_dir(&parent).expect("it is empty");
    }
}
