//! The words and numbers of types, requests and devices in all formats.

use crate::row::{Asked, Fault};
pub(crate) use dents_core::facts::device;
use dents_core::needs::Kind;
use dents_render::record::words;
pub(crate) use dents_render::record::words::of_kind;

/// The reason why a value in a file is invalid.
pub(crate) type Problem = &'static str;

const ASKED: [(Asked, &str); 5] = [
    (Asked::Stat, "stat"),
    (Asked::Link, "link"),
    (Asked::Open, "open"),
    (Asked::Read, "read"),
    (Asked::Loop, "loop"),
];

pub(crate) fn of_asked(asked: Asked) -> &'static str {
    ASKED.iter().find(|(one, _)| *one == asked).map_or("stat", |(_, word)| word)
}

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
            assert_eq!(asked(of_asked(one).as_bytes()), Some(one));
        }
    }
}
