//! Details: facts of an entry that a scan has only on request, because each costs a system call, or space for a fact that few need.
//!
//! A row has its details in encoded form (`coding.rs`). So a row without details costs nothing, and sorters and journals copy bytes.

use crate::bytes::{Bytes, put_bytes, put_number};
pub use dents_core::facts::Detail;
use dents_core::facts::Type;

/// The value of a detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number.
    Number(u64),
    /// Text.
    Text(&'a str),
}

/// The details of a row that are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Details<'a>(&'a [u8]);

impl<'a> Details<'a> {
    /// The details in bytes that a [`Draft`] made; `None` for other bytes.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (mut rest, mut least) = (Bytes(bytes), 0);
        while !rest.0.is_empty() {
            let detail = Detail::ALL.get(usize::from(rest.byte()?)).filter(|one| **one as u8 >= least)?;
            least = *detail as u8 + 1;
            if detail.kind() == Type::Text {
                str::from_utf8(rest.bytes()?).ok()?;
            } else {
                let begin = rest.0;
                fits(*detail, rest.number()?).then_some(())?;
                // Each number has only one valid encoding, without a last byte of 0.
                begin[..begin.len() - rest.0.len()]
                    .iter()
                    .skip(1)
                    .last()
                    .is_none_or(|last| *last != 0)
                    .then_some(())?;
            }
        }
        Some(Details(bytes))
    }

    /// The details in bytes that were checked before.
    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Self {
        Details(bytes)
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Whether no detail is known.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The known details, in the order of [`Detail::ALL`].
    pub fn iter(self) -> impl Iterator<Item = (Detail, Value<'a>)> {
        let mut bytes = Bytes(self.0);
        std::iter::from_fn(move || {
            let detail = *Detail::ALL.get(usize::from(bytes.byte()?))?;
            let value = match detail.kind() {
                Type::Narrow | Type::Wide => Value::Number(bytes.number()?),
                Type::Text => Value::Text(std::str::from_utf8(bytes.bytes()?).ok()?),
            };
            Some((detail, value))
        })
    }

    /// The value of a detail.
    #[must_use]
    pub fn get(self, detail: Detail) -> Option<Value<'a>> {
        // Most rows have none.
        if self.is_empty() {
            return None;
        }
        self.iter().find(|(one, _)| *one == detail).map(|(_, value)| value)
    }

    /// The value of a detail that is a number.
    #[must_use]
    pub fn number(self, detail: Detail) -> Option<u64> {
        match self.get(detail)? {
            Value::Number(number) => Some(number),
            Value::Text(_) => None,
        }
    }

    /// The value of a detail that is text.
    #[must_use]
    pub fn text(self, detail: Detail) -> Option<&'a str> {
        match self.get(detail)? {
            Value::Text(text) => Some(text),
            Value::Number(_) => None,
        }
    }
}

/// Whether a detail can have this number.
fn fits(detail: Detail, number: u64) -> bool {
    match detail.kind() {
        Type::Narrow => number <= u32::MAX.into(),
        Type::Wide => true,
        Type::Text => false,
    }
}

/// The details of a row while they are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft(Vec<u8>);

impl From<Details<'_>> for Draft {
    fn from(details: Details<'_>) -> Draft {
        Draft(details.0.to_vec())
    }
}

impl Draft {
    /// Removes all details.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a detail. Details must be added in the order of [`Detail::ALL`]. An unknown value, or one of the wrong type, is not added.
    pub fn push(&mut self, detail: Detail, value: Option<Value<'_>>) {
        let Draft(bytes) = self;
        match value {
            Some(Value::Number(number)) if fits(detail, number) => {
                bytes.push(detail as u8);
                put_number(bytes, number);
            }
            Some(Value::Text(text)) if detail.kind() == Type::Text => {
                bytes.push(detail as u8);
                put_bytes(bytes, text.as_bytes());
            }
            _ => {}
        }
    }

    /// The details in the form that a row has.
    #[must_use]
    pub fn details(&self) -> Details<'_> {
        Details(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_comes_back() {
        let mut draft = Draft::default();
        draft.push(Detail::Project, Some(Value::Number(u32::MAX.into())));
        draft.push(Detail::Flags, Some(Value::Number(1)));
        draft.push(Detail::Stripes, Some(Value::Number(1 << 32)));
        draft.push(Detail::Acl, None);
        draft.push(Detail::Xattrs, Some(Value::Text("user.a,user.\u{e9}")));
        draft.push(Detail::Hsm, Some(Value::Text("")));
        let details = draft.details();
        assert_eq!(details.number(Detail::Project), Some(u32::MAX.into()));
        assert_eq!(details.text(Detail::Xattrs), Some("user.a,user.\u{e9}"));
        assert_eq!(details.text(Detail::Hsm), Some(""));
        assert_eq!([Detail::Flags, Detail::Acl, Detail::Stripes].map(|one| details.get(one)), [None; 3]);
        assert_eq!(details.iter().count(), 3);
    }

    #[test]
    fn other_bytes_are_refused() {
        for bytes in [&[8][..], &[0], &[0, 0xff], &[0, 0x80, 0], &[1, 5, b'a'], &[1, 1, 0xff], &[0, 7, 0, 7]]
        {
            assert_eq!(Details::parse(bytes), None, "{bytes:?}");
        }
        for bytes in [&[][..], &[0, 0], &[0, 0x80, 1], &[1, 0, 5, 7]] {
            assert!(Details::parse(bytes).is_some(), "{bytes:?}");
        }
    }
}
