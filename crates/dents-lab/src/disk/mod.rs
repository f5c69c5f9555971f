//! A rotating disk in miniature: a file system from an image, on a block device whose reads take as long as the head needs.
//!
//! ```text
//! program ─► file system (read-only) ─► loop device, direct I/O ─► FUSE file ─► head (model.rs) ─► image
//! ```
//!
//! The loop device has no cache of its own, and each mount is a new one, so nothing is in memory at first. The kernel's own caches and its read-ahead
//! work as on any disk. The image is the whole disk: the head moves from one end of it to the other in 18 ms. By default it is ten
//! times as fast as a real disk; [`Counts::busy`] is the time of a real one.
//!
//! It needs root, FUSE and loop devices.

mod fuse;
mod model;

pub use model::{Counts, Head};

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread::JoinHandle;

use fuser::{Config, MountOption, Session, SessionUnmounter};

use crate::fixture::TempDir;
use crate::loopfs::run;
use fuse::Fuse;

/// How many times as fast it is as a real disk, unless another number is given.
pub const SPEED: f64 = 10.0;

/// What the kernel sets for a rotating disk. A loop device over FUSE does not rotate, reads 2.5 MB ahead, and has no scheduler.
const DISK: [(&str, &str); 3] = [("rotational", "1"), ("read_ahead_kb", "128"), ("scheduler", "mq-deadline")];

/// A mounted file system; unmounted on drop.
pub struct Disk {
    disk: Arc<fuse::Disk>,
    path: PathBuf,
    device: Option<String>,
    is_mounted: bool,
    unmounter: SessionUnmounter,
    session: Option<JoinHandle<()>>,
    dir: Option<TempDir>,
}

impl Disk {
    /// Mounts the file system of an image. The error names the step that failed, and its reason.
    pub fn mount(image: &Path, speed: f64) -> Result<Disk, String> {
        let shown = |error: std::io::Error| format!("{}: {error}", image.display());
        let disk = fuse::Disk::new(File::open(image).map_err(shown)?, speed).map_err(shown)?;
        let dir = TempDir::new("disk").map_err(|error| format!("no temporary directory: {error}"))?;
        let (served, path) = (dir.path().join("served"), dir.path().join("mount"));
        for directory in [&served, &path] {
            std::fs::create_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        }
        let mut config = Config::default();
        config.mount_options =
            vec![MountOption::FSName("disk".into()), MountOption::Subtype("disk".into()), MountOption::RO];
        let refused = |error: std::io::Error| {
            disk.go_down();
            format!("FUSE: {}", error.to_string().trim())
        };
        let mut session = Session::new(Fuse(disk.clone()), &served, &config).map_err(refused)?;
        let unmounter = session.unmount_callable();
        let body = move || {
            // It ends when the connection does; how, makes no difference.
            let _ = session.run();
        };
        let session = std::thread::Builder::new().name("disk-session".into()).spawn(body).map_err(refused)?;
        let (session, dir) = (Some(session), Some(dir));
        let mut mounted = Disk { disk, path, device: None, is_mounted: false, unmounter, session, dir };
        mounted.attach(&served.join(fuse::NAME))?;
        Ok(mounted)
    }

    /// For tests: the same, or `None` with a message on standard output that the test is skipped.
    pub fn mount_or_skip(image: &Path) -> Option<Disk> {
        let mounted = Disk::mount(image, SPEED);
        mounted.map_err(|why| println!("skipped: no rotating disk, because {why}")).ok()
    }

    fn attach(&mut self, file: &Path) -> Result<(), String> {
        let mut losetup = Command::new("losetup");
        losetup.args(["--find", "--show", "--read-only", "--direct-io=on"]).arg(file);
        let device = run(&mut losetup)?.trim().to_string();
        self.device = Some(device.clone());
        for (setting, value) in DISK {
            let path =
                Path::new("/sys/block").join(device.trim_start_matches("/dev/")).join("queue").join(setting);
            std::fs::write(&path, value).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        run(Command::new("mount").args(["-o", "ro,noatime", &device]).arg(&self.path))?;
        self.is_mounted = true;
        Ok(())
    }

    /// The root of the file system.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The loop device.
    pub fn device(&self) -> &str {
        self.device.as_deref().unwrap_or_default()
    }

    /// What the disk has done since the image was opened. The mount itself reads, too.
    pub fn counts(&self) -> Counts {
        self.disk.counts()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let mut failed = Vec::new();
        if self.is_mounted {
            failed.extend(run(Command::new("umount").arg(&self.path)).err());
        }
        if let Some(device) = &self.device {
            failed.extend(run(Command::new("losetup").args(["--detach", device])).err());
        }
        failed.extend(self.unmounter.unmount().err().map(|error| error.to_string()));
        self.disk.go_down();
        if failed.is_empty() {
            self.session.take().map(JoinHandle::join);
        } else if let Some(dir) = self.dir.take() {
            // Removing the directory would remove the files mounted on it.
            eprintln!("{}: stays mounted: {}", self.path.display(), failed.join("; "));
            std::mem::forget(dir);
        }
    }
}
