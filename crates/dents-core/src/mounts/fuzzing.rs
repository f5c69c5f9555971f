//! Fuzz target of the list of mounts.

use super::{children, mounted, overlap, unescaped};

/// `/proc/self/mountinfo`: each name is a part of the list, and no text gets longer when it is unescaped.
pub fn mounts(bytes: &[u8]) {
    for directory in [&b"/"[..], b"/mnt", b"", b"/mnt/a b\\"] {
        for name in children(bytes, directory) {
            assert!(!name.is_empty() && !name.contains(&b'/'));
            assert!(
                bytes.as_ptr_range().start <= name.as_ptr()
                    && name.as_ptr_range().end <= bytes.as_ptr_range().end
            );
        }
    }
    for device in [(254, 0), (0, 22), (u32::MAX, 0)] {
        if let Some(found) = mounted(bytes, device, b"a b\\") {
            assert!(found.fs_type.len() + found.source.len() < bytes.len());
        }
    }
    overlap(bytes);
    assert!(unescaped(bytes).len() <= bytes.len());
}
