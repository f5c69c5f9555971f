//! The time zone of the environment, found as tzset(3) finds it: one file is read at most.

use dents_render::time::Zone;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// `TZ` unset: /etc/localtime. Empty: UTC. A path, or a name below the zone directory: that file. Otherwise a POSIX string.
pub(super) fn local() -> Zone {
    let name = std::env::var_os("TZ");
    let name = name.as_deref().map(|name| name.as_bytes().strip_prefix(b":").unwrap_or(name.as_bytes()));
    match name {
        None => file(Path::new("/etc/localtime")).unwrap_or_else(Zone::utc),
        Some(b"") => Zone::utc(),
        Some(name) => {
            let directory = std::env::var_os("TZDIR").filter(|directory| !directory.is_empty());
            let directory = PathBuf::from(directory.unwrap_or_else(|| OsString::from("/usr/share/zoneinfo")));
            file(&directory.join(OsStr::from_bytes(name))).unwrap_or_else(|| Zone::posix(name))
        }
    }
}

fn file(path: &Path) -> Option<Zone> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    Zone::tzif(&dents_sys::file::read_to_end(&path, Zone::MOST).ok()?)
}
