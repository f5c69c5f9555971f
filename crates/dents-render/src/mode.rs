//! The ten letters of type and permissions.

use dents_core::needs::Kind;

/// The text in place of the permissions of an entry that could not be stat'ed, after the letter of its type.
pub const UNKNOWN: [u8; 9] = *b"?????????";

/// The letter of a type.
#[must_use]
pub fn letter(kind: Kind) -> u8 {
    match kind {
        Kind::Unknown => b'?',
        Kind::Fifo => b'p',
        Kind::Char => b'c',
        Kind::Dir => b'd',
        Kind::Block => b'b',
        Kind::Reg => b'-',
        Kind::Link => b'l',
        Kind::Sock => b's',
        Kind::Whiteout => b'w',
    }
}

/// `drwxr-sr-t` for an `st_mode`. Set-id and sticky take the place of the execute letter: `s` and `t` where
/// execution is allowed too, `S` and `T` where it is not (POSIX, `ls`, "file mode").
#[must_use]
pub fn letters(mode: u16) -> [u8; 10] {
    const BITS: [(u16, u8); 9] = [
        (0o400, b'r'),
        (0o200, b'w'),
        (0o100, b'x'),
        (0o040, b'r'),
        (0o020, b'w'),
        (0o010, b'x'),
        (0o004, b'r'),
        (0o002, b'w'),
        (0o001, b'x'),
    ];
    let mut letters = [b'-'; 10];
    letters[0] = letter(Kind::from_mode(mode));
    for (place, (bit, letter)) in letters[1..].iter_mut().zip(BITS) {
        if mode & bit != 0 {
            *place = letter;
        }
    }
    for (bit, place, set) in [(0o4000, 3, b's'), (0o2000, 6, b's'), (0o1000, 9, b't')] {
        if mode & bit != 0 {
            letters[place] = if letters[place] == b'x' { set } else { set.to_ascii_uppercase() };
        }
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_as_posix_has_them() {
        let seen: [(u16, &[u8; 10]); 10] = [
            (0o040_755, b"drwxr-xr-x"),
            (0o043_755, b"drwxr-sr-t"),
            (0o107_777, b"-rwsrwsrwt"),
            (0o107_000, b"---S--S--T"),
            (0o100_644, b"-rw-r--r--"),
            (0o120_777, b"lrwxrwxrwx"),
            (0o010_600, b"prw-------"),
            (0o140_600, b"srw-------"),
            (0o060_660, b"brw-rw----"),
            (0o000_000, b"?---------"),
        ];
        for (mode, text) in seen {
            assert_eq!(&letters(mode), text, "{mode:o}");
        }
    }
}
