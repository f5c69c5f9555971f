//! The colours of the view: `DLS_COLORS`, which has the syntax of `LS_COLORS`, with keys of its own.

use alloc::borrow::Cow;
use alloc::vec::Vec;

/// The parts of the view that have a colour of their own. The colours of names are in `LS_COLORS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Paint {
    /// The line above the columns.
    Header,
    /// The letter of the type.
    Type,
    /// `r` of a mode.
    Read,
    /// `w` of a mode.
    Write,
    /// `x` of a mode.
    Execute,
    /// `s` and `t` of a mode.
    Special,
    /// `-` of a mode.
    Unset,
    /// The mark after the mode.
    Mark,
    /// The mode as a number.
    Octal,
    /// The number of links.
    Links,
    /// The owner, if it is the effective user of the program.
    You,
    /// The owner root, unless root is the effective user.
    Root,
    /// Any other owner.
    Other,
    /// Groups.
    Group,
    /// Sizes below 1 KiB.
    SizeBytes,
    /// Sizes below 1 MiB.
    SizeKilo,
    /// Sizes below 1 GiB.
    SizeMega,
    /// Sizes below 1 TiB.
    SizeGiga,
    /// Larger ones.
    SizeTera,
    /// The numbers of devices.
    Device,
    /// Allocated space.
    Blocks,
    /// Inode numbers.
    Inode,
    /// Times in the last hour.
    AgeHour,
    /// In the last day.
    AgeDay,
    /// In the last week.
    AgeWeek,
    /// In the last month.
    AgeMonth,
    /// In the last year.
    AgeYear,
    /// Older ones.
    AgeOld,
    /// Times in the future.
    Future,
    /// Security contexts.
    Context,
    /// Extended attributes.
    Xattrs,
    /// The letters of flags.
    Flags,
    /// Files that git does not track, or that are newly added.
    GitNew,
    /// Another content.
    GitModified,
    /// Gone.
    GitDeleted,
    /// Another name.
    GitRenamed,
    /// Another type.
    GitType,
    /// Files that git ignores.
    GitIgnored,
    /// A merge to be resolved.
    GitConflict,
    /// What is mounted.
    Mount,
    /// The lines of a tree.
    Branch,
    /// `?` for unknown values, and `-` for values that do not exist.
    Nothing,
}

/// The keys with their built-in values, in the order of [`Paint`].
const KEYS: [(&str, &str); 42] = [
    ("header", "4"),
    ("type", "34"),
    ("read", "33"),
    ("write", "31"),
    ("execute", "32"),
    ("special", "35"),
    ("unset", "90"),
    ("mark", "35"),
    ("octal", "36"),
    ("links", ""),
    ("you", "33"),
    ("root", "31"),
    ("other", ""),
    ("group", ""),
    ("size-b", "36"),
    ("size-k", "32"),
    ("size-m", "33"),
    ("size-g", "31"),
    ("size-t", "35"),
    ("device", "36"),
    ("blocks", "36"),
    ("inode", "35"),
    ("age-hour", "92"),
    ("age-day", "32"),
    ("age-week", "36"),
    ("age-month", "34"),
    ("age-year", ""),
    ("age-old", "90"),
    ("future", "31"),
    ("context", ""),
    ("xattrs", "36"),
    ("flags", "35"),
    ("git-new", "32"),
    ("git-modified", "33"),
    ("git-deleted", "31"),
    ("git-renamed", "36"),
    ("git-type", "35"),
    ("git-ignored", "90"),
    ("git-conflict", "01;31"),
    ("mount", "36"),
    ("branch", "90"),
    ("nothing", "90"),
];

/// An invalid part of a theme. The other parts take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTheme<'v> {
    /// It has no `=`.
    NoValue(&'v [u8]),
    /// There is no such key.
    UnknownKey(&'v [u8]),
    /// The value is not numbers between semicolons.
    BadValue {
        /// Of this key.
        key: &'v [u8],
        /// As it was given.
        value: &'v [u8],
    },
}

/// A colour for each part of the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    values: [Cow<'static, str>; KEYS.len()],
}

impl Default for Theme {
    /// The built-in colours: the terminal's own sixteen, so that they suit its background.
    fn default() -> Self {
        Theme { values: KEYS.map(|(_, value)| Cow::Borrowed(value)) }
    }
}

impl Theme {
    /// All keys.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        KEYS.iter().map(|(key, _)| *key)
    }

    /// Changes the theme by a text: `key=value` between colons, as in `LS_COLORS`. Each value has the numbers of an
    /// SGR sequence between semicolons; an empty value means no colour. The beginning that several keys share before
    /// a hyphen (`size=`, `age=`) stands for all of them. Invalid parts are passed to `bad` and ignored.
    pub fn apply<'v>(&mut self, text: &'v [u8], bad: &mut dyn FnMut(BadTheme<'v>)) {
        for piece in text.split(|byte| *byte == b':').filter(|piece| !piece.is_empty()) {
            let Some(at) = piece.iter().position(|byte| *byte == b'=') else {
                bad(BadTheme::NoValue(piece));
                continue;
            };
            let (key, value) = (&piece[..at], &piece[at + 1..]);
            let sgr = core::str::from_utf8(value).ok();
            let Some(sgr) = sgr.filter(|sgr| sgr.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'))
            else {
                bad(BadTheme::BadValue { key, value });
                continue;
            };
            let meant = |known: &str| match known.as_bytes().strip_prefix(key) {
                Some(rest) => !key.is_empty() && (rest.is_empty() || rest[0] == b'-'),
                None => false,
            };
            let mut known = false;
            for (value, _) in self.values.iter_mut().zip(KEYS).filter(|(_, (key, _))| meant(key)) {
                *value = Cow::Owned(sgr.into());
                known = true;
            }
            if !known {
                bad(BadTheme::UnknownKey(key));
            }
        }
    }

    /// The numbers of a sequence; empty for no colour.
    #[must_use]
    pub fn get(&self, paint: Paint) -> &str {
        &self.values[paint as usize]
    }
}

/// The theme with the sequences of `LS_COLORS` around its values, ready to be written.
#[derive(Clone, Debug)]
pub(crate) struct Brush {
    /// The sequence that begins each colour; empty for no colour.
    begin: [Vec<u8>; KEYS.len()],
    end: Vec<u8>,
}

impl Brush {
    pub(crate) fn new(theme: &Theme, left: &[u8], right: &[u8]) -> Brush {
        let begin = |value: &str| match value {
            "" => Vec::new(),
            value => [left, value.as_bytes(), right].concat(),
        };
        Brush {
            begin: core::array::from_fn(|nth| begin(&theme.values[nth])),
            end: [left, b"0", right].concat(),
        }
    }

    /// Begins a colour. Returns whether there is one to end.
    #[inline]
    pub(crate) fn begin(&self, paint: Paint, out: &mut Vec<u8>) -> bool {
        let sequence = &self.begin[paint as usize];
        out.extend_from_slice(sequence);
        !sequence.is_empty()
    }

    #[inline]
    pub(crate) fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.end);
    }

    /// Whether two parts look the same.
    pub(crate) fn same(&self, one: Paint, other: Paint) -> bool {
        self.begin[one as usize] == self.begin[other as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};
    use std::vec;

    fn applied(text: &str) -> (Theme, Vec<String>) {
        let (mut theme, mut bad) = (Theme::default(), Vec::new());
        theme.apply(text.as_bytes(), &mut |why| bad.push(std::format!("{why:?}")));
        (theme, bad)
    }

    #[test]
    fn keys_stand_in_the_order_of_the_paints() {
        let theme = Theme::default();
        for (paint, key) in [
            (Paint::Header, "header"),
            (Paint::Links, "links"),
            (Paint::Group, "group"),
            (Paint::SizeTera, "size-t"),
            (Paint::AgeHour, "age-hour"),
            (Paint::Future, "future"),
            (Paint::GitConflict, "git-conflict"),
            (Paint::Nothing, "nothing"),
        ] {
            assert_eq!(KEYS[paint as usize].0, key);
            assert_eq!(theme.get(paint), KEYS[paint as usize].1);
        }
        assert_eq!(Paint::Nothing as usize + 1, KEYS.len());
    }

    #[test]
    fn keys_and_columns_are_documented() {
        let page = include_str!("../../../../docs/COLUMNS.md");
        let words = crate::Column::ALL.iter().map(|column| column.word());
        for word in Theme::keys().chain(words) {
            assert!(page.contains(&std::format!("`{word}`")), "{word}");
        }
    }

    #[test]
    fn what_is_said_is_laid_over() {
        let (theme, bad) = applied("you=01;33:age-old=:size=34::size-t=38;5;208");
        assert!(bad.is_empty(), "{bad:?}");
        assert_eq!(theme.get(Paint::You), "01;33");
        assert_eq!(theme.get(Paint::AgeOld), "");
        assert_eq!((theme.get(Paint::SizeBytes), theme.get(Paint::SizeGiga)), ("34", "34"));
        assert_eq!(theme.get(Paint::SizeTera), "38;5;208");
        assert_eq!(theme.get(Paint::Root), "31");
    }

    #[test]
    fn nonsense_is_told_and_the_rest_holds() {
        let (theme, bad) = applied("you:me=1:root=red:si=3:links=5");
        assert_eq!(bad.len(), 4, "{bad:?}");
        assert_eq!((theme.get(Paint::Root), theme.get(Paint::Links)), ("31", "5"));
        let mut bad = vec![];
        Theme::default().apply(b"read=\x1b[2J:=1:\xff=1", &mut |why| bad.push(why));
        assert_eq!(bad[0], BadTheme::BadValue { key: b"read", value: b"\x1b[2J" });
        assert_eq!(bad.len(), 3);
        assert_eq!(Theme::default(), Theme { values: KEYS.map(|(_, value)| Cow::Owned(value.to_string())) });
    }
}
