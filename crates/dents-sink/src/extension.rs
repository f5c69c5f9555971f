//! Extensions of names, for columns and statistics.

/// The longest extension. There is a limit because any text may follow the last dot of a name.
const LONGEST: usize = 12;

/// The part after the last dot of a name. Empty if it is too long, if the name begins with the dot, or if it has only digits: these are
/// versions of a file, and there may be millions.
#[must_use]
pub fn extension(name: &[u8]) -> &[u8] {
    let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
    let Some(dot) = base.iter().rposition(|byte| *byte == b'.') else { return b"" };
    let (stem, extension) = (&base[..dot], &base[dot + 1..]);
    let is_one = extension.len() <= LONGEST && !extension.iter().all(u8::is_ascii_digit);
    if stem.is_empty() || !is_one { b"" } else { extension }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions() {
        for (name, expected) in [
            ("a.txt", "txt"),
            ("a.tar.gz", "gz"),
            (".bashrc", ""),
            (".a.b", "b"),
            ("a.", ""),
            ("a", ""),
            ("log.1", ""),
            ("x.mp3", "mp3"),
            ("song.7z", "7z"),
            ("a.averylongextension", ""),
            ("dir.d/file", ""),
            ("dir.d/file.c", "c"),
            ("", ""),
            (".", ""),
            ("..", ""),
        ] {
            assert_eq!(extension(name.as_bytes()), expected.as_bytes(), "{name}");
        }
        assert_eq!(extension(b"a.\xff"), b"\xff");
    }
}
