//! Sets of file types, in the letters of `find -type`.

use dents_core::needs::Kind;

/// A set of types; an unknown type is in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u16);

/// The letters, in the order of the message that lists them, with what completions say of each.
const LETTERS: [(&str, Kind, &str); 7] = [
    ("f", Kind::Reg, "Regular files"),
    ("d", Kind::Dir, "Directories"),
    ("l", Kind::Link, "Symbolic links"),
    ("p", Kind::Fifo, "FIFOs"),
    ("s", Kind::Sock, "Sockets"),
    ("c", Kind::Char, "Character devices"),
    ("b", Kind::Block, "Block devices"),
];

/// Each letter and what it means.
pub(super) fn words() -> impl Iterator<Item = (&'static str, &'static str)> {
    LETTERS.into_iter().map(|(letter, _, about)| (letter, about))
}

impl Kinds {
    /// All, also an unknown type.
    pub const ALL: Kinds = Kinds(!0);
    /// `-d`.
    pub const DIRECTORIES: Kinds = Kinds(1 << Kind::Dir as u16);
    /// `-f`.
    pub const OTHERS: Kinds = Kinds(!Kinds::DIRECTORIES.0);
    /// The types that may be empty.
    pub const CONTAINERS: Kinds = Kinds(1 << Kind::Dir as u16 | 1 << Kind::Reg as u16);

    /// Parses letters, with or without commas between them.
    pub fn parse(text: &str) -> Result<Kinds, String> {
        let mut kinds = Kinds(0);
        for letter in text.bytes().filter(|byte| *byte != b',') {
            let Some((_, kind, _)) = LETTERS.iter().find(|(known, ..)| known.as_bytes() == [letter]) else {
                return Err(format!("‘{}’ is none of f d l p s c b", letter.escape_ascii()));
            };
            kinds.0 |= 1 << *kind as u16;
        }
        if kinds.0 == 0 { Err("name a type: f d l p s c b".to_owned()) } else { Ok(kinds) }
    }

    /// The union.
    pub fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// The intersection.
    pub fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    pub fn has(self, kind: Kind) -> bool {
        self.0 >> kind as u16 & 1 == 1
    }
}

/// The letter of `find` for a type; `U` for an unknown type.
pub(crate) fn letter(kind: Kind) -> u8 {
    LETTERS.iter().find(|(_, known, _)| *known == kind).map_or(b'U', |(letter, ..)| letter.as_bytes()[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_with_commas_or_without() {
        let both = Kinds::parse("f,d").expect("types");
        assert_eq!(Kinds::parse("df"), Ok(both));
        assert!(
            both.has(Kind::Dir) && both.has(Kind::Reg) && !both.has(Kind::Link) && !both.has(Kind::Unknown)
        );
        for wrong in ["", ",", "x", "f d", "fD"] {
            assert!(Kinds::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
