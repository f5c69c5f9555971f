//! The kernel's table of mounts: finds our own by their source, never by a path, because a lookup could block.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::mount::{UnmountFlags, unmount};

const PREFIX: &str = "slowfs-";

/// A source that no other mount has: this process, and a number.
pub(super) fn fresh_source() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// One line of `/proc/self/mountinfo`.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    source: String,
    path: PathBuf,
    /// The minor number of the device, which is the connection's name under `/sys/fs/fuse/connections`.
    minor: String,
}

fn parse(line: &str) -> Option<Mount> {
    let (mount, system) = line.split_once(" - ")?;
    let mut fields = mount.split(' ');
    let minor = fields.nth(2)?.split_once(':')?.1.to_string();
    let path = PathBuf::from(OsString::from_vec(unescape(fields.nth(1)?)));
    let source = system.split(' ').nth(1)?.to_string();
    Some(Mount { source, path, minor })
}

/// Octal escapes such as `\040`, decoded.
fn unescape(text: &str) -> Vec<u8> {
    let mut pieces = text.split('\\');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        match piece.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&piece.as_bytes()[3..]);
            }
            None => bytes.extend_from_slice(piece.as_bytes()),
        }
    }
    bytes
}

fn mounts() -> Vec<Mount> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    table.lines().filter_map(parse).filter(|mount| mount.source.starts_with(PREFIX)).collect()
}

/// Whether there is a mount with this source.
pub(super) fn is_mounted(source: &str) -> bool {
    mounts().iter().any(|mount| mount.source == source)
}

/// Ends the connection, so that threads that wait get an error, and detaches the mount.
///
/// As root one call does both: `MNT_FORCE` aborts a FUSE connection. Others have `fusermount3`, and the
/// connection's own switch where `fusectl` is mounted.
pub(super) fn tear_down(source: &str) {
    for mount in mounts().into_iter().filter(|mount| mount.source == source) {
        let force = UnmountFlags::FORCE | UnmountFlags::DETACH;
        if unmount(&mount.path, force).is_err() {
            let _ = fs::write(format!("/sys/fs/fuse/connections/{}/abort", mount.minor), "1");
            let mut helper = Command::new("fusermount3");
            helper.args(["-u", "-z", "-q"]).arg(&mount.path).stdin(Stdio::null()).stderr(Stdio::null());
            let _ = helper.status();
        }
    }
}

/// Unmounts what killed processes have left mounted.
pub(super) fn sweep() {
    for mount in mounts() {
        let owner = mount.source.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
        let gone = owner.is_some_and(|(process, _)| !Path::new("/proc").join(process).exists());
        if gone {
            tear_down(&mount.source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_by_their_fields() {
        let line = r"36 35 0:47 / /tmp/a\040b rw,relatime shared:1 - fuse slowfs-12-0 ro,user_id=0";
        let mount = Mount { source: "slowfs-12-0".into(), path: "/tmp/a b".into(), minor: "47".into() };
        assert_eq!(parse(line), Some(mount));
        assert_eq!(parse("nonsense"), None);
    }
}
