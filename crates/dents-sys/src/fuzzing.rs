//! Fuzz targets; see `dents-fuzz`.

use crate::dir::Dirents;

/// The records of a directory: no byte outside them is read, each name is a valid `CStr`, and the iterator ends.
pub fn dirents(bytes: &[u8]) {
    let range = bytes.as_ptr_range();
    let mut dirents = Dirents::new(bytes);
    let mut least = 0;
    for entry in dirents.by_ref() {
        let name = entry.name.to_bytes_with_nul();
        assert!(name.len() > 1 && name.iter().position(|&byte| byte == 0) == Some(name.len() - 1));
        assert!(range.start <= name.as_ptr() && name.as_ptr_range().end <= range.end);
        least += 19 + name.len();
    }
    assert!(least <= bytes.len());
    assert_eq!(dirents.next(), None);
    assert!(dirents.malformed() || (least == 0) == bytes.is_empty());
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    /// Records as the kernel writes them: padded to eight bytes.
    fn records(names: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (nth, name) in names.iter().enumerate() {
            let end = bytes.len() + (19 + name.len() + 1).next_multiple_of(8);
            bytes.extend((nth as u64 + 2).to_ne_bytes());
            bytes.extend((nth as i64 + 1).to_ne_bytes());
            bytes.extend(((end - bytes.len() + 16) as u16).to_ne_bytes());
            bytes.push(8);
            bytes.extend_from_slice(name);
            bytes.resize(end, 0);
        }
        bytes
    }

    #[test]
    fn dirents() {
        let long = [b'x'; 255];
        let corpus =
            [records(&[b".", b"..", b"a", b"1234567", b"12345678"]), records(&[&long, b"y"]), Vec::new()];
        dents_fuzz::check("dirents", &corpus, super::dirents);
    }
}
