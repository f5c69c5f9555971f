//! `--changed-since`: finds what changed by the generations of btrfs, so that the walk passes over all other entries. Where that is not
//! possible, the walk calls `statx` for every entry.

use super::job::{Job, Special};
use crate::filter::Since;
use dents_core::bulk::Subvolume;
use dents_core::bulk::changed::{self, Changed};
use dents_sys::{AsFd, CWD, OwnedFd, Timestamp, dir, host};
use std::ffi::{CStr, CString};

/// The btrfs subvolumes of these paths, as they are now; empty without root's privileges, because only root can search them later. Three
/// system calls for each path.
pub(crate) fn subvolumes(paths: &[CString]) -> Vec<Subvolume> {
    let mut all: Vec<Subvolume> = Vec::new();
    if host::effective_user_at_start() != 0 {
        return all;
    }
    for path in paths {
        let opened = dir::open(CWD, path).ok();
        let found = opened.and_then(|dir| changed::subvolume(dir.as_fd()));
        // The first generation is the lowest.
        all.extend(found.filter(|found| all.iter().all(|known| known.uuid != found.uuid)));
    }
    all
}

impl Job<'_> {
    /// What changed since the scan that the filter names. None if there is no such filter, or if the walk must call `statx` for every entry.
    pub(super) fn changed(&self, paths: &[&CStr], special: &Special<'_>) -> Option<Changed> {
        let since = self.filter.since()?;
        let found = match self.needs_all(special) {
            Some(why) => Err(why.to_owned()),
            None => self.find(paths, since),
        };
        let session = self.diagnostics.session();
        let line = match &found {
            Ok(changed) => format!("{} inodes changed, found by generation", changed.inodes()),
            Err(why) => format!("statx of every entry: {why}"),
        };
        // A scan that records a generation promises a search without a walk: a message says why there is none.
        if self.source.explain || (found.is_err() && !since.subvolumes.is_empty()) {
            session.say(format!("--changed-since {}: {line}", since.scan).as_bytes());
        }
        found.ok()
    }

    /// Why the walk needs all entries.
    fn needs_all(&self, special: &Special<'_>) -> Option<&'static str> {
        if self.walk.follows() {
            Some("links are followed")
        } else if self.must.asks_any() || special.budget.is_some() {
            Some("the command also reads entries that did not change")
        } else if self.filter.since().is_some_and(|since| since.subvolumes.is_empty()) {
            Some("root did not scan a btrfs subvolume")
        } else if host::effective_user_at_start() != 0 {
            Some("the user is not root")
        } else {
            None
        }
    }

    /// What changed in the subvolumes of all paths, or why that is not known.
    fn find(&self, paths: &[&CStr], since: &Since) -> Result<Changed, String> {
        let mut all = Changed::default();
        let mut done = Vec::new();
        for path in paths {
            let (dir, subvolume) = recorded(path, since)?;
            if !self.walk.one_file_system() && changed::has_subvolumes(dir.as_fd()) {
                let path = crate::message::quoted_text(path.to_bytes());
                let text = format!("{path}: subvolumes below it are left out, as with -x");
                self.diagnostics.session().say(text.as_bytes());
            }
            if !done.contains(&subvolume) {
                let time = Timestamp { sec: since.time.sec, nsec: since.time.nsec };
                let found = Changed::find(dir.as_fd(), subvolume.generation, time);
                all.add(found.map_err(|errno| std::io::Error::from(errno).to_string())?);
                done.push(subvolume);
            }
        }
        Ok(all)
    }
}

/// A path, opened, and its subvolume as it was when the scan began.
fn recorded(path: &CStr, since: &Since) -> Result<(OwnedFd, Subvolume), String> {
    let dir = dir::open(CWD, path).map_err(|errno| std::io::Error::from(errno).to_string())?;
    let now = changed::subvolume(dir.as_fd()).ok_or("PATH is not on btrfs")?;
    let then = since.subvolumes.iter().copied().find(|then| then.uuid == now.uuid);
    let then = then.ok_or("SCAN did not begin in this subvolume")?;
    // The file system was replaced by an older copy of itself.
    if then.generation > now.generation {
        return Err("the subvolume is older than SCAN".to_owned());
    }
    Ok((dir, then))
}
