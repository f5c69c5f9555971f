//! The time zone, found as tzset(3) finds it.

use alloc::ffi::CString;
use alloc::vec::Vec;
use dents_render::Zone;
use dents_sys::file;

/// Where zone files live unless `TZDIR` says otherwise.
const ZONEINFO: &[u8] = b"/usr/share/zoneinfo";

/// The zone of the environment: one file is read at most.
///
/// `TZ` unset: /etc/localtime. Empty: UTC. A leading colon is dropped. An absolute path, or a name below the
/// zone directory: that file. No such file: a POSIX string such as `CET-1CEST,M3.5.0,M10.5.0/3`. If it is
/// none of these, UTC.
pub(super) fn read<'a>(var: &dyn Fn(&[u8]) -> Option<&'a [u8]>) -> Zone {
    let Some(tz) = var(b"TZ") else {
        return file::read_to_end(c"/etc/localtime")
            .ok()
            .and_then(|tzif| Zone::tzif(&tzif))
            .unwrap_or_else(Zone::utc);
    };
    let name = tz.strip_prefix(b":").unwrap_or(tz);
    if name.is_empty() {
        return Zone::utc();
    }
    zone_file(name, var(b"TZDIR")).and_then(|tzif| Zone::tzif(&tzif)).unwrap_or_else(|| Zone::posix(name))
}

fn zone_file(name: &[u8], directory: Option<&[u8]>) -> Option<Vec<u8>> {
    let mut path = Vec::new();
    if !name.starts_with(b"/") {
        // A POSIX string is not worth an attempt to open it.
        if name.contains(&b',') || name.contains(&b'<') {
            return None;
        }
        path.extend_from_slice(directory.filter(|directory| !directory.is_empty()).unwrap_or(ZONEINFO));
        path.push(b'/');
    }
    path.extend_from_slice(name);
    file::read_to_end(&CString::new(path).ok()?).ok()
}
