//! The words and numbers of types, requests and devices in all formats.

pub(crate) use dents_core::facts::device;
use dents_core::needs::Kind;
use dents_render::record::words;
pub(crate) use dents_render::record::words::of_kind;

/// The reason why a value in a file is invalid.
pub(crate) type Problem = &'static str;

/// A request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which request.
    pub asked: Asked,
    /// The error number of the kernel.
    pub errno: i32,
}

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `statx` of the entry.
    Stat,
    /// `readlinkat` of a link.
    Link,
    /// To open a directory.
    Open,
    /// To read a directory to its end.
    Read,
    /// To enter a directory that is one of its own ancestors (`ELOOP`).
    Loop,
}

impl Asked {
    /// Its word in all formats.
    #[must_use]
    pub fn word(self) -> &'static str {
        ASKED.iter().find(|(one, _)| *one == self).map_or("stat", |(_, word)| word)
    }
}

impl Fault {
    /// Whether it is about the contents of a directory, not about the entry.
    #[must_use]
    pub fn is_of_directory(&self) -> bool {
        matches!(self.asked, Asked::Open | Asked::Read | Asked::Loop)
    }
}

const ASKED: [(Asked, &str); 5] = [
    (Asked::Stat, "stat"),
    (Asked::Link, "link"),
    (Asked::Open, "open"),
    (Asked::Read, "read"),
    (Asked::Loop, "loop"),
];

fn asked(word: &[u8]) -> Option<Asked> {
    ASKED.iter().find(|(_, one)| one.as_bytes() == word).map(|(asked, _)| *asked)
}

/// The type with this word.
pub(crate) fn kind(word: &[u8]) -> Result<Kind, Problem> {
    words::kind(word).ok_or("an unknown word in \"type\"")
}

/// The fault of a request and an error number.
pub(crate) fn fault(question: Option<&[u8]>, errno: Option<i32>) -> Result<Option<Fault>, Problem> {
    match (question, errno) {
        (None, None) => Ok(None),
        (Some(question), Some(errno)) => {
            let asked = asked(question).ok_or("an unknown word in \"asked\"")?;
            Ok(Some(Fault { asked, errno }))
        }
        _ => Err("one of \"asked\" and \"errno\" without the other"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_leads_back() {
        for (one, _) in ASKED {
            assert_eq!(asked(one.word().as_bytes()), Some(one));
        }
    }
}
