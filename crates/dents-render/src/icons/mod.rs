//! `--icons`: a glyph before each name, by what the name says and of which type the entry is.
//!
//! Nothing is asked for it that a plain listing would not know: names and types. Executables and what links lead to have
//! glyphs of their own only where another part (a colour, the long format) declared the mode. The glyphs are those of Nerd Fonts
//! 3; `icons.tsv` says which means what, `DLS_ICONS` what is different for this user (`parse.rs`).
//!
//! `name.rs` writes the glyph, within the colour of the name and before what aligns quoted names, outside of links.

mod parse;
mod table;

pub use parse::{BadIcon, Why};

use crate::consumer::{Consumer, Declare};
use alloc::vec::Vec;
use dents_core::batch::Target;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use table::Class;

/// The types that have a glyph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Type {
    File,
    Dir,
    Link,
    LinkToDir,
    Orphan,
    Fifo,
    Sock,
    Block,
    Char,
    Exec,
    Unknown,
}

/// Keys of the types, in the order of [`Type`]: where `LS_COLORS` has one, its own.
const TYPES: [&[u8; 2]; 11] = [b"fi", b"di", b"ln", b"ld", b"or", b"pi", b"so", b"bd", b"cd", b"ex", b"un"];

/// Their glyphs in the table.
static GLYPHS: [char; TYPES.len()] = {
    let mut glyphs = [' '; TYPES.len()];
    let mut nth = 0;
    while nth < TYPES.len() {
        glyphs[nth] = table::of_type(TYPES[nth]);
        nth += 1;
    }
    glyphs
};

/// Which glyph an entry has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icons {
    /// Of all that the user said, the values and the keys.
    text: Vec<u8>,
    /// What the user said of types.
    types: [Option<Glyph>; TYPES.len()],
    /// What the user said of names; the last that fits counts.
    patterns: Vec<Pattern>,
    /// The widest glyph. The others are filled up with spaces.
    width: u8,
}

/// A piece of [`Icons::text`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    start: u32,
    len: u32,
}

/// A glyph of the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Glyph {
    text: Span,
    width: u8,
}

/// Names of the user's, and their glyph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pattern {
    /// Whether it is about directories; about other files if not.
    directory: bool,
    prefix: Span,
    /// Without it the name must be the prefix.
    suffix: Option<Span>,
    glyph: Glyph,
}

/// What is known of an entry beside its name and its type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// The mode of a regular file, if another part declared it.
    pub(crate) mode: Option<u16>,
    /// What a link leads to.
    pub(crate) target: Target,
}

impl Default for Icons {
    fn default() -> Self {
        Icons { text: Vec::new(), types: [None; TYPES.len()], patterns: Vec::new(), width: 1 }
    }
}

impl Icons {
    /// What must be known for them: the type, which `readdir` tells where it can.
    pub(crate) fn declare(to: &mut Declare<'_>) {
        to(Consumer::Icons, NeedsByKind::all(Needs::TYPE));
    }

    /// The columns of a glyph and of the space behind it.
    pub(crate) fn columns(&self) -> usize {
        usize::from(self.width) + 1
    }

    /// Appends the glyph of an entry and the space behind it.
    pub(crate) fn write(&self, name: &[u8], kind: Kind, known: Known, out: &mut Vec<u8>) {
        let width = match self.find(name, kind, known) {
            Found::Own(glyph) => {
                out.extend_from_slice(self.text(glyph.text));
                glyph.width
            }
            Found::Builtin(glyph) => {
                out.extend_from_slice(glyph.encode_utf8(&mut [0; 4]).as_bytes());
                1
            }
        };
        for _ in width..=self.width {
            out.push(b' ');
        }
    }

    fn find(&self, name: &[u8], kind: Kind, known: Known) -> Found {
        let (directory, class) =
            (kind == Kind::Dir, if kind == Kind::Dir { Class::Directory } else { Class::Name });
        if directory || kind == Kind::Reg {
            if let Some(glyph) = self.own(name, directory) {
                return Found::Own(glyph);
            }
            let by_name = table::find(class, name);
            let by_extension =
                || if directory { None } else { table::find(Class::Extension, extension(name)?) };
            if let Some(glyph) = by_name.or_else(by_extension) {
                return Found::Builtin(glyph);
            }
        }
        let kind = Type::of(kind, known) as usize;
        self.types[kind].map_or(Found::Builtin(GLYPHS[kind]), Found::Own)
    }

    /// The glyph of the last pattern that fits.
    fn own(&self, name: &[u8], directory: bool) -> Option<Glyph> {
        let fits = |pattern: &&Pattern| pattern.directory == directory && self.fits(pattern, name);
        self.patterns.iter().rev().find(fits).map(|pattern| pattern.glyph)
    }

    fn fits(&self, pattern: &Pattern, name: &[u8]) -> bool {
        let prefix = self.text(pattern.prefix);
        let Some(suffix) = pattern.suffix else { return name.eq_ignore_ascii_case(prefix) };
        let suffix = self.text(suffix);
        name.len() >= prefix.len() + suffix.len()
            && name[..prefix.len()].eq_ignore_ascii_case(prefix)
            && name[name.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
    }

    fn text(&self, span: Span) -> &[u8] {
        &self.text[span.start as usize..][..span.len as usize]
    }
}

/// A glyph that was found.
#[derive(Clone, Copy)]
enum Found {
    Builtin(char),
    Own(Glyph),
}

impl Type {
    fn of(kind: Kind, known: Known) -> Type {
        match kind {
            Kind::Reg if known.mode.is_some_and(|mode| mode & 0o111 != 0) => Type::Exec,
            Kind::Reg => Type::File,
            Kind::Dir => Type::Dir,
            Kind::Link => match known.target {
                Target::Mode(mode) if Kind::from_mode(mode) == Kind::Dir => Type::LinkToDir,
                Target::Missing => Type::Orphan,
                Target::Mode(_) | Target::Unasked => Type::Link,
            },
            Kind::Fifo => Type::Fifo,
            Kind::Sock => Type::Sock,
            Kind::Block => Type::Block,
            Kind::Char => Type::Char,
            Kind::Unknown | Kind::Whiteout => Type::Unknown,
        }
    }
}

/// What follows the last dot, unless that is the first byte.
fn extension(name: &[u8]) -> Option<&[u8]> {
    match name.iter().rposition(|byte| *byte == b'.') {
        None | Some(0) => None,
        Some(dot) => Some(&name[dot + 1..]),
    }
}

#[cfg(test)]
mod drawing;
#[cfg(test)]
mod tests;
