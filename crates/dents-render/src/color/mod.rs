//! Colours: parses `LS_COLORS`, decides which colour an entry has, and declares the facts that this needs.
//!
//! [`Colors::parse`] reads the variable. [`Colors::needs`] derives the needs: none, if every key that needs more than
//! `d_type` is switched off. `Colors::entry` and `Colors::target` choose the colour. `name.rs` writes a coloured
//! name, with all resets around it.

mod key;
mod parse;
mod span;
mod suffix;
mod terminal;

pub use key::Key;
pub use parse::BadColors;
pub use terminal::is_known_terminal;

use alloc::vec::Vec;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use key::{KEYS, Values};
use span::Span;
use suffix::Suffixes;

/// The mode of a regular file.
const REGULAR: u16 = 0o100_644;

/// A parsed `LS_COLORS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colors {
    /// All values, and all suffixes.
    text: Vec<u8>,
    keys: Values,
    suffixes: Suffixes,
    /// A bit per key: whether it is coloured.
    colored: u32,
    /// `ln=target`.
    link_as_target: bool,
}

/// What is known of an entry beyond its name and type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// The mode, if it is known and the colour depends on it: only for regular files and directories.
    pub mode: Option<u16>,
    /// Whether the entry is known to have more than one hard link.
    pub hard_linked: bool,
    /// Whether there is a capability.
    pub capability: bool,
    /// The mode of the target of a link, if it was requested and exists.
    pub target: Option<u16>,
}

impl Default for Colors {
    fn default() -> Self {
        Colors::builtin()
    }
}

impl Colors {
    /// The colours of an unset `LS_COLORS`.
    #[must_use]
    pub fn builtin() -> Colors {
        let mut text = Vec::with_capacity(256);
        let keys = KEYS.map(|(_, value)| {
            value.map(|value| {
                text.extend_from_slice(value);
                Span { start: (text.len() - value.len()) as u32, len: value.len() as u32 }
            })
        });
        let mut colors =
            Colors { text, keys, suffixes: Suffixes::default(), colored: 0, link_as_target: false };
        colors.settle();
        colors
    }

    /// The colours of an unset `LS_COLORS` in a format that GNU does not have: a dangling link looks broken, which costs a `statx` of the
    /// target of each link, and archives, pictures, sound, documents and left-overs have the colours of `dircolors` and eza, which cost
    /// nothing. `kinds` has extensions and their colours, as [`Icons::kinds`](crate::Icons::kinds) gives them.
    #[must_use]
    pub fn with_kinds<'k>(kinds: impl Iterator<Item = (&'k [u8], &'k str)>) -> Colors {
        let mut value = b"or=40;31;01:mi=31".to_vec();
        for (extension, color) in kinds {
            for part in [&b":*."[..], extension, b"=", color.as_bytes()] {
                value.extend_from_slice(part);
            }
        }
        Colors::parse(&value).unwrap_or_default()
    }

    /// Reads the value of `LS_COLORS`. Keys that it does not have keep their built-in colours.
    ///
    /// # Errors
    /// A value that cannot be parsed. GNU then prints a warning and uses no colours; see [`BadColors`].
    pub fn parse(value: &[u8]) -> Result<Colors, BadColors> {
        let mut colors = Colors::builtin();
        let suffixes = parse::parse(value, &mut colors.text, &mut colors.keys)?;
        colors.suffixes = Suffixes::new(&suffixes, &colors.text);
        colors.settle();
        Ok(colors)
    }

    /// Derives what follows from the keys.
    fn settle(&mut self) {
        self.colored = 0;
        for (nth, span) in self.keys.iter().enumerate() {
            let value = span.map_or(&b""[..], |span| span.of(&self.text));
            if !matches!(value, b"" | b"0" | b"00") {
                self.colored |= 1 << nth;
            }
        }
        self.link_as_target = self.get(Key::Link) == Some(b"target");
    }

    /// The two letters of a key.
    #[must_use]
    pub fn name(key: Key) -> &'static str {
        core::str::from_utf8(KEYS[key as usize].0).unwrap_or_default()
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: Key) -> Option<&[u8]> {
        self.keys[key as usize].map(|span| span.of(&self.text))
    }

    /// The sequence that resets the colour of the terminal.
    #[must_use]
    pub fn none(&self) -> Vec<u8> {
        [Key::Left, Key::Right].map(|key| self.get(key).unwrap_or_default()).concat()
    }

    /// Whether a key has a value that is a colour: not unset, empty, `0` or `00`. (A type's own key is written
    /// even so: `di=0` is no colour, but the bytes are there.)
    #[must_use]
    pub fn is_colored(&self, key: Key) -> bool {
        self.colored >> key as u8 & 1 == 1
    }

    /// Whether colours need a `statx` of the target of every symbolic link.
    pub(crate) fn checks_targets(&self, long: bool) -> bool {
        self.target_keys(long).next().is_some()
    }

    /// The facts that the colour of an entry needs. `targets`: whether targets of links are stat'ed. `stats_regular`:
    /// whether regular files are stat'ed anyway; GNU shows `mh` only for files that it stats for another reason.
    #[must_use]
    pub fn needs(&self, targets: bool, stats_regular: bool) -> NeedsByKind {
        let links = if targets { NeedsByKind::of(Kind::Link, Needs::TARGET) } else { NeedsByKind::default() };
        let mut needs = links;
        self.declare(targets, stats_regular, &mut |_, of_key| needs |= of_key);
        needs
    }

    /// The same, key by key, without the targets, which another part of the drawing may need.
    pub(crate) fn declare(&self, targets: bool, stats_regular: bool, to: &mut dyn FnMut(Key, NeedsByKind)) {
        let mut regular = stats_regular;
        for (key, kind, needs) in [
            (Key::File, None, Needs::TYPE),
            (Key::Exec, Some(Kind::Reg), Needs::MODE),
            (Key::Setuid, Some(Kind::Reg), Needs::MODE),
            (Key::Setgid, Some(Kind::Reg), Needs::MODE),
            (Key::Capability, Some(Kind::Reg), Needs::CAPABILITY),
            (Key::Sticky, Some(Kind::Dir), Needs::MODE),
            (Key::OtherWritable, Some(Kind::Dir), Needs::MODE),
            (Key::StickyOtherWritable, Some(Kind::Dir), Needs::MODE),
        ] {
            match kind {
                None => to(key, NeedsByKind::all(needs)),
                Some(kind) if self.is_colored(key) => {
                    regular |= kind == Kind::Reg;
                    to(key, NeedsByKind::of(kind, needs));
                }
                Some(_) => {}
            }
        }
        if self.is_colored(Key::HardLink) && regular {
            to(Key::HardLink, NeedsByKind::of(Kind::Reg, Needs::NLINK));
        }
        if targets && self.link_as_target && self.is_colored(Key::HardLink) {
            to(Key::HardLink, NeedsByKind::of(Kind::Link, Needs::NLINK));
        }
    }

    /// The keys that need the targets of links, `None` for `ln=target`; see [`Colors::checks_targets`].
    pub(crate) fn target_keys(&self, long: bool) -> impl Iterator<Item = Option<Key>> {
        [
            (Some(Key::Orphan), self.is_colored(Key::Orphan)),
            (None, self.is_colored(Key::Exec) && self.link_as_target),
            (Some(Key::Missing), self.is_colored(Key::Missing) && long),
        ]
        .into_iter()
        .filter_map(|(key, looks)| looks.then_some(key))
    }

    /// The colour of a name outside of a listing: the parameters of SGR. Targets of links are not considered. `mode` is `None` if it is
    /// not known.
    #[must_use]
    pub fn of(&self, name: &[u8], kind: Kind, mode: Option<u16>) -> Option<&[u8]> {
        // A target that exists and is a file: the colour of a link is then its own.
        let target = (kind == Kind::Link).then_some(REGULAR);
        let facts = Facts { mode, target, ..Facts::default() };
        self.entry(name, kind, mode.is_some(), &facts)
    }

    /// The colour of an entry's name.
    #[inline]
    pub(crate) fn entry(&self, name: &[u8], kind: Kind, known: bool, facts: &Facts) -> Option<&[u8]> {
        let key = match kind {
            Kind::Link => self.link(facts),
            Kind::Unknown => Key::Orphan,
            Kind::Whiteout => {
                if known {
                    Key::Orphan
                } else {
                    Key::File
                }
            }
            _ => self.classify(kind, facts),
        };
        self.value(key, name)
    }

    fn link(&self, facts: &Facts) -> Key {
        match facts.target {
            Some(mode) if self.link_as_target => {
                self.classify(Kind::from_mode(mode), &Facts { mode: Some(mode), ..*facts })
            }
            None if self.link_as_target || self.is_colored(Key::Orphan) => Key::Orphan,
            _ => Key::Link,
        }
    }

    /// The colour of the target of a symbolic link, after the arrow. `facts` are those of the link.
    pub(crate) fn target(&self, text: &[u8], facts: &Facts) -> Option<&[u8]> {
        let key = match facts.target {
            Some(mode) => self.classify(Kind::from_mode(mode), &Facts { mode: Some(mode), ..*facts }),
            None if self.is_colored(Key::Missing) => Key::Missing,
            None => Key::Orphan,
        };
        self.value(key, text)
    }

    fn value(&self, key: Key, name: &[u8]) -> Option<&[u8]> {
        if key == Key::File
            && let Some(value) = self.suffixes.find(name, &self.text)
        {
            return Some(value);
        }
        self.get(key)
    }

    fn classify(&self, kind: Kind, facts: &Facts) -> Key {
        match kind {
            Kind::Reg => self.regular(facts),
            Kind::Dir => self.directory(facts.mode.unwrap_or(0)),
            Kind::Link => Key::Link,
            Kind::Fifo => Key::Fifo,
            Kind::Sock => Key::Sock,
            Kind::Block => Key::Block,
            Kind::Char => Key::Char,
            Kind::Unknown | Kind::Whiteout => Key::Orphan,
        }
    }

    fn regular(&self, facts: &Facts) -> Key {
        let mode = facts.mode.unwrap_or(0);
        if mode & 0o4000 != 0 && self.is_colored(Key::Setuid) {
            Key::Setuid
        } else if mode & 0o2000 != 0 && self.is_colored(Key::Setgid) {
            Key::Setgid
        } else if facts.capability && self.is_colored(Key::Capability) {
            Key::Capability
        } else if mode & 0o111 != 0 && self.is_colored(Key::Exec) {
            Key::Exec
        } else if facts.hard_linked && self.is_colored(Key::HardLink) {
            Key::HardLink
        } else {
            Key::File
        }
    }

    fn directory(&self, mode: u16) -> Key {
        let (sticky, writable) = (mode & 0o1000 != 0, mode & 0o002 != 0);
        if sticky && writable && self.is_colored(Key::StickyOtherWritable) {
            Key::StickyOtherWritable
        } else if writable && self.is_colored(Key::OtherWritable) {
            Key::OtherWritable
        } else if sticky && self.is_colored(Key::Sticky) {
            Key::Sticky
        } else {
            Key::Dir
        }
    }
}

#[cfg(test)]
mod tests;
