//! Attributes of inodes as letters: those of lsattr(1) where it has one.

/// `STATX_ATTR_*` (include/uapi/linux/stat.h), in the order in which they are shown.
const LETTERS: [(u64, u8); 8] = [
    (0x10, b'i'),
    (0x20, b'a'),
    (0x04, b'c'),
    (0x40, b'd'),
    (0x800, b'E'),
    (0x10_0000, b'V'),
    (0x20_0000, b'x'),
    // An automount trigger: the kernel's own, which no file system stores and lsattr does not know.
    (0x1000, b'o'),
];

const STORED: u64 = 0x10 | 0x20 | 0x04 | 0x40 | 0x800 | 0x10_0000 | 0x20_0000;

/// The letters of the attributes that are set, without automount, which no file system stores; `None` if the file system keeps no
/// attributes.
#[must_use]
pub fn letters(attributes: u64, mask: u64) -> Option<alloc::string::String> {
    let set = |(bit, _): &&(u64, u8)| attributes & bit & STORED != 0;
    let letters = LETTERS.iter().filter(set).map(|(_, letter)| char::from(*letter));
    (mask & STORED != 0 || attributes & STORED != 0).then(|| letters.collect())
}

/// Appends the letters of the attributes that are set: immutable, append only, compressed, no dump, encrypted, verity, DAX,
/// automount. It appends `-` if none is set, and `?` if the file system keeps none of them.
pub(super) fn write(attributes: u64, mask: u64, out: &mut alloc::vec::Vec<u8>) {
    let start = out.len();
    out.extend(LETTERS.iter().filter(|(bit, _)| attributes & bit != 0).map(|(_, letter)| *letter));
    if out.len() == start {
        out.push(if mask & STORED == 0 { b'?' } else { b'-' });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn letters_of_attributes() {
        let show = |attributes, mask| {
            let mut out = Vec::new();
            write(attributes, mask, &mut out);
            out
        };
        assert_eq!(show(0x10 | 0x40, u64::MAX), b"id");
        assert_eq!(show(0x30_0000, u64::MAX), b"Vx");
        assert_eq!(show(0x2000, 0x2074), b"-", "a mount point has no letter");
        assert_eq!(show(0, 0x3000), b"?");
        assert_eq!(show(0x1000, 0x3000), b"o");
        let stored = [(0x10 | 0x40, u64::MAX), (0x3000, 0x3074), (0x1000, 0x3000)];
        let stored = stored.map(|(attributes, mask)| letters(attributes, mask));
        assert_eq!(stored.each_ref().map(Option::as_deref), [Some("id"), Some(""), None]);
    }
}
