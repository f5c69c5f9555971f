//! A slow file system while it is mounted.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fuser::{Config, MountOption, Session, SessionACL, SessionUnmounter};
use rustix::io::Errno;

use super::fault::{Fault, Faults, Rule};
use super::fuse::{Fuse, Habits, lock};
use super::kind::Kind;
use super::request::{Counts, Request};
use super::server::{Pace, Server};
use super::table;
use super::tree::Tree;
use crate::fixture::TempDir;

/// The parts of a mount.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) tree: Tree,
    pub(super) faults: Faults,
    pub(super) pace: Pace,
    pub(super) habits: Habits,
    pub(super) seed: u64,
    pub(super) default_permissions: bool,
}

/// A mounted file system. Dropping it unmounts it, even with unanswered requests: threads that wait get an error.
pub struct Mounted {
    path: PathBuf,
    source: String,
    server: Arc<Server>,
    tree: Arc<Mutex<Tree>>,
    unmounter: SessionUnmounter,
    session: Option<JoinHandle<()>>,
    dir: Option<TempDir>,
}

impl std::fmt::Debug for Mounted {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} on {}", self.source, self.path.display())
    }
}

impl Mounted {
    pub(super) fn new(parts: Parts, path: &Path, dir: Option<TempDir>) -> Result<Mounted, String> {
        table::sweep();
        if !Path::new("/dev/fuse").exists() {
            return Err("there is no /dev/fuse (modprobe fuse)".into());
        }
        let source = table::fresh_source();
        let config = config(&source, parts.default_permissions);
        let server = Server::start(parts.pace, parts.faults, parts.seed);
        let server = server.map_err(|error| format!("no thread: {error}"))?;
        let tree = Arc::new(Mutex::new(parts.tree));
        let device = Arc::new(OnceLock::new());
        let (habits, own) = (parts.habits, device.clone());
        let fuse = Fuse { server: server.clone(), tree: tree.clone(), habits, device: own };
        let refused = |error: std::io::Error| {
            server.go_down();
            format!("the mount on {} is refused: {}", path.display(), error.to_string().trim())
        };
        let mut session = Session::new(fuse, path, &config).map_err(refused)?;
        if parts.habits.hide_types {
            let _ = device.set(session.as_fd().try_clone_to_owned().map_err(refused)?);
        }
        let unmounter = session.unmount_callable();
        let body = move || {
            // It ends when the connection does; how, makes no difference.
            let _ = session.run();
        };
        let session =
            std::thread::Builder::new().name("slowfs-session".into()).spawn(body).map_err(refused)?;
        let path = path.to_path_buf();
        Ok(Mounted { path, source, server, tree, unmounter, session: Some(session), dir })
    }

    /// Where it is: absolute, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The requests since the mount, or since [`reset_counts`](Mounted::reset_counts), counted as they arrive.
    pub fn counts(&self) -> Counts {
        self.server.counts()
    }

    /// Those about one entry; a lookup is about the entry that it finds.
    pub fn counts_of(&self, path: impl AsRef<Path>) -> Counts {
        let inode = lock(&self.tree).resolve(path.as_ref());
        inode.map(|inode| self.server.counts_of(inode)).unwrap_or_default()
    }

    /// Forgets counts and peak.
    pub fn reset_counts(&self) {
        self.server.reset_counts();
    }

    /// The most requests that were unanswered at one time: those that queued, and those that are never answered, included.
    pub fn peak_in_flight(&self) -> usize {
        self.server.peak()
    }

    /// The requests that are unanswered now.
    pub fn in_flight(&self) -> usize {
        self.server.in_flight()
    }

    /// The requests that are held unanswered now.
    pub fn hung(&self) -> usize {
        self.server.hung()
    }

    /// Waits until so many requests are held unanswered. False if they are not within `patience`.
    pub fn wait_hung(&self, count: usize, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while self.hung() < count {
            if Instant::now() > end {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Repairs the server: unanswered requests are answered, and all later ones. Returns the number of the former.
    pub fn release(&self) -> usize {
        self.server.release()
    }

    /// Changes the latency of all requests that come from now on.
    pub fn set_latency(&self, latency: Duration) {
        self.server.change_pace(|pace| pace.latency = latency);
    }

    /// Changes the number of slots from now on.
    pub fn set_slots(&self, slots: Option<usize>) {
        self.server.change_pace(|pace| pace.slots = slots.map(|slots| slots.max(1)));
    }

    /// Adds a fault; see [`Builder::fault`](super::Builder::fault).
    pub fn fault(&self, path: impl AsRef<Path>, requests: &[Request], fault: Fault) -> Result<(), Errno> {
        let inode = lock(&self.tree).resolve(path.as_ref())?;
        self.server.change_faults(|faults| faults.add(Some(inode), Rule::new(requests, 0, fault)));
        Ok(())
    }

    /// The same, once so many such requests have been answered as they should.
    pub fn fault_after(
        &self,
        path: impl AsRef<Path>,
        requests: &[Request],
        spare: u64,
        fault: Fault,
    ) -> Result<(), Errno> {
        let inode = lock(&self.tree).resolve(path.as_ref())?;
        self.server.change_faults(|faults| faults.add(Some(inode), Rule::new(requests, spare, fault)));
        Ok(())
    }

    /// Takes all faults away. Requests that are unanswered by then stay so.
    pub fn clear_faults(&self) {
        self.server.change_faults(Faults::clear);
    }

    /// Adds an entry, at a random place among the others of its directory.
    pub fn add(&self, path: impl AsRef<Path>, kind: Kind) -> Result<(), Errno> {
        let mut tree = lock(&self.tree);
        let (parent, name) = tree.split(path.as_ref())?;
        tree.add(parent, name, kind).map(drop)
    }

    /// Removes an entry, and with a directory all that is in it.
    pub fn remove(&self, path: impl AsRef<Path>) -> Result<(), Errno> {
        let mut tree = lock(&self.tree);
        let (parent, name): (u64, &OsStr) = tree.split(path.as_ref())?;
        tree.remove(parent, name)
    }

    /// Whether another process has unmounted it.
    pub fn is_gone(&self) -> bool {
        !table::is_mounted(&self.source)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Threads that wait get their answers first: a plain unmount refuses while a request is under way.
        self.server.go_down();
        // If that fails, the mount is removed by force below.
        let _ = self.unmounter.unmount();
        table::tear_down(&self.source);
        if self.is_gone() {
            // The session ends with the connection; without root's force that may be later, when the last
            // process has left the mount.
            let ended = |session: &JoinHandle<()>| session.is_finished() || crate::process::is_root();
            if let Some(session) = self.session.take().filter(ended) {
                let _ = session.join();
            }
        } else if let Some(dir) = self.dir.take() {
            // Removing the directory would remove the files mounted on it.
            std::mem::forget(dir);
        }
    }
}

fn config(source: &str, default_permissions: bool) -> Config {
    let mut config = Config::default();
    config.mount_options =
        vec![MountOption::FSName(source.into()), MountOption::Subtype("slowfs".into()), MountOption::RO];
    if default_permissions {
        config.mount_options.push(MountOption::DefaultPermissions);
    }
    // Other users may access it only if root mounts it: fusermount3 would need a line in /etc/fuse.conf.
    if crate::process::is_root() {
        config.acl = SessionACL::All;
    }
    config
}
