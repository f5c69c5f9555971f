//! The time zone, found as tzset(3) finds it.

use crate::environment::Environment;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::ffi::CStr;
use dents_render::Zone;
use dents_sys::Result;

/// Where zone files live unless `TZDIR` says otherwise.
const ZONEINFO: &[u8] = b"/usr/share/zoneinfo";

const LOCALTIME: &CStr = c"/etc/localtime";

/// The zone of the environment: one file is read at most, and not before the zone is needed.
///
/// `TZ` unset: /etc/localtime. Empty: UTC. A leading colon is dropped. An absolute path, or a name below the
/// zone directory: that file. No such file: a POSIX string such as `CET-1CEST,M3.5.0,M10.5.0/3`. If it is
/// none of these, UTC.
pub(crate) struct LazyZone<'a> {
    /// The value of `TZ`.
    name: Option<&'a [u8]>,
    path: Option<CString>,
    zone: OnceCell<Zone>,
}

impl<'a> LazyZone<'a> {
    pub(super) fn new(environment: &Environment<'a>) -> Self {
        let name = environment.tz.map(|tz| tz.strip_prefix(b":").unwrap_or(tz));
        let path = match name {
            None => Some(LOCALTIME.into()),
            Some(name) => path(name, environment.tzdir),
        };
        LazyZone { name, path, zone: OnceCell::new() }
    }

    /// The file to read, if there can be one.
    pub(super) fn path(&self) -> Option<&CStr> {
        self.path.as_deref()
    }

    /// The zone, its file read by `read`.
    pub(crate) fn get(&self, read: impl FnOnce(&CStr) -> Result<Vec<u8>>) -> &Zone {
        self.zone.get_or_init(|| {
            let tzif = self.path().and_then(|path| read(path).ok());
            tzif.and_then(|tzif| Zone::tzif(&tzif)).unwrap_or_else(|| match self.name {
                None | Some(b"") => Zone::utc(),
                Some(name) => Zone::posix(name),
            })
        })
    }
}

fn path(name: &[u8], directory: Option<&[u8]>) -> Option<CString> {
    let mut path = Vec::new();
    if !name.starts_with(b"/") {
        // A POSIX string is not worth an attempt to open it.
        if name.is_empty() || name.contains(&b',') || name.contains(&b'<') {
            return None;
        }
        path.extend_from_slice(directory.filter(|directory| !directory.is_empty()).unwrap_or(ZONEINFO));
        path.push(b'/');
    }
    path.extend_from_slice(name);
    CString::new(path).ok()
}
