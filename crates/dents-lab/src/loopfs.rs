//! Real file systems that most machines do not have, each in a file behind a loop device; dropped, they are unmounted.
//! Only root can mount them; other users get the reason.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::fixture::TempDir;

/// The kind of file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Real {
    /// ext4 without `filetype`: a real file system whose d_type is always `DT_UNKNOWN`.
    Ext4NoFiletype,
    /// XFS.
    Xfs,
    /// btrfs, where a directory's link count is always 1.
    Btrfs,
}

impl Real {
    /// All of them.
    pub const ALL: &[Real] = &[Real::Ext4NoFiletype, Real::Xfs, Real::Btrfs];

    /// The program that makes it, its arguments, and a size in MiB that it accepts. The file is sparse.
    fn recipe(self) -> (&'static str, &'static [&'static str], u64) {
        match self {
            Real::Ext4NoFiletype => ("mkfs.ext4", &["-q", "-F", "-O", "^filetype"], 64),
            Real::Xfs => ("mkfs.xfs", &["-q", "-f"], 320),
            // Room for a copy of a debug build of dents: 170 MB.
            Real::Btrfs => ("mkfs.btrfs", &["-q", "-f"], 512),
        }
    }
}

/// A mounted file system; unmounted and removed on drop.
#[derive(Debug)]
pub struct LoopFs {
    path: PathBuf,
    dir: Option<TempDir>,
}

impl LoopFs {
    /// Makes and mounts it. The error names the step that failed, and its reason.
    pub fn mount(real: Real) -> Result<LoopFs, String> {
        let dir = TempDir::new("loopfs").map_err(|error| format!("no temporary directory: {error}"))?;
        let (mkfs, args, mebibytes) = real.recipe();
        let image = dir.path().join("image");
        let made = File::create(&image).and_then(|file| file.set_len(mebibytes << 20));
        made.map_err(|error| format!("{}: {error}", image.display()))?;
        run(Command::new(mkfs).args(args).arg(&image))?;
        let path = dir.path().join("mount");
        std::fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        run(Command::new("mount").args(["-o", "loop"]).args([&image, &path]))?;
        Ok(LoopFs { path, dir: Some(dir) })
    }

    /// For tests: the same, or `None` with a message on standard output that the test is skipped.
    pub fn mount_or_skip(real: Real) -> Option<LoopFs> {
        let mounted = LoopFs::mount(real);
        mounted.map_err(|why| println!("skipped: no {real:?} on a loop device, because {why}")).ok()
    }

    /// Its root, writable.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LoopFs {
    fn drop(&mut self) {
        // Lazily: the loop device goes when the last user does.
        let unmounted = run(Command::new("umount").arg("-l").arg(&self.path));
        if let (Err(why), Some(dir)) = (unmounted, self.dir.take()) {
            // Removing the directory would remove the files of the file system that is still mounted on it.
            eprintln!("{}: stays mounted: {why}", self.path.display());
            std::mem::forget(dir);
        }
    }
}

/// Runs a program, and returns its output.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let output = command.env("LC_ALL", "C").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}
