//! The time zone's name, and the file that has its rules, found as tzset(3) finds it.

use crate::environment::Environment;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_render::Zone;

/// The directory of zone files, unless `TZDIR` is set.
const ZONEINFO: &[u8] = b"/usr/share/zoneinfo";

const LOCALTIME: &CStr = c"/etc/localtime";

/// Which zone the environment names.
///
/// `TZ` unset: /etc/localtime. Empty: UTC. A leading colon is dropped. An absolute path, or a name below the
/// zone directory: that file. No such file: a POSIX string such as `CET-1CEST,M3.5.0,M10.5.0/3`. If it is
/// none of these, UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneName<'a> {
    /// The value of `TZ`.
    name: Option<&'a [u8]>,
    path: Option<CString>,
}

impl<'a> ZoneName<'a> {
    pub(super) fn new(environment: &Environment<'a>) -> Self {
        let name = environment.tz.map(|tz| tz.strip_prefix(b":").unwrap_or(tz));
        let path = match name {
            None => Some(LOCALTIME.into()),
            Some(name) => path(name, environment.tzdir),
        };
        ZoneName { name, path }
    }

    /// The file to read, if the zone has one.
    #[must_use]
    pub fn path(&self) -> Option<&CStr> {
        self.path.as_deref()
    }

    /// The zone, from the contents of its file if it could be read.
    #[must_use]
    pub fn zone(&self, file: Option<&[u8]>) -> Zone {
        file.and_then(Zone::tzif).unwrap_or_else(|| match self.name {
            None | Some(b"") => Zone::utc(),
            Some(name) => Zone::posix(name),
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
