//! Sets of file types, in the letters of `find -type`.

use dents_core::needs::Kind;

/// A set of types; an unknown type is in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u16);

/// The letters, in the order of the message that lists them.
const LETTERS: [(u8, Kind); 7] = [
    (b'f', Kind::Reg),
    (b'd', Kind::Dir),
    (b'l', Kind::Link),
    (b'p', Kind::Fifo),
    (b's', Kind::Sock),
    (b'c', Kind::Char),
    (b'b', Kind::Block),
];

/// The letters as words, each with its type.
pub(super) const WORDS: &[(&str, &str)] = &[
    ("f", "Regular files"),
    ("d", "Directories"),
    ("l", "Symbolic links"),
    ("p", "FIFOs"),
    ("s", "Sockets"),
    ("c", "Character devices"),
    ("b", "Block devices"),
];

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
            let Some((_, kind)) = LETTERS.iter().find(|(known, _)| *known == letter) else {
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
    LETTERS.iter().find(|(_, known)| *known == kind).map_or(b'U', |(letter, _)| *letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_letters() {
        let letters = LETTERS.map(|(letter, _)| char::from(letter).to_string());
        assert_eq!(Vec::from_iter(WORDS.iter().map(|(word, _)| *word)), letters);
    }

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
