//! `--icons`: a glyph before each name, chosen by name and type.
//!
//! Icons need only facts that a plain listing has: names and types. Executables and links by their targets have
//! glyphs of their own only if another part (a colour, the long format) declared the mode. The glyphs are those of
//! Nerd Fonts 3. `icons.tsv` has the built-in table, `DLS_ICONS` the user's changes (`parse.rs`).
//!
//! `name.rs` writes the glyph: in the colour of the name, before the space that aligns quoted names, and outside
//! hyperlinks.

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

/// Keys of the types, in the order of [`Type`]: those of `LS_COLORS` where it has one.
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
    /// All values and keys that the user has set.
    text: Vec<u8>,
    /// The user's glyphs for types.
    types: [Option<Glyph>; TYPES.len()],
    /// The user's glyphs for names; the last pattern that matches wins.
    patterns: Vec<Pattern>,
    /// The width of the widest glyph. Others are padded with spaces.
    width: u8,
}

/// A piece of [`Icons::text`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    start: u32,
    len: u32,
}

/// A glyph that the user has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Glyph {
    text: Span,
    width: u8,
}

/// A pattern of names that the user has set, and its glyph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pattern {
    /// Whether it is for directories; otherwise it is for other files.
    directory: bool,
    prefix: Span,
    /// If `None`, the whole name must be the prefix.
    suffix: Option<Span>,
    glyph: Glyph,
}

/// The known facts about an entry beside its name and its type.
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
    /// The extensions of archives, pictures, films, sound, documents and left-overs, by their icons, and the colour of each kind.
    pub fn kinds() -> impl Iterator<Item = (&'static [u8], &'static str)> {
        table::colored()
    }

    /// Declares the needs of icons: the type, which `readdir` returns on most file systems.
    pub(crate) fn declare(to: &mut Declare<'_>) {
        to(Consumer::Icons, NeedsByKind::all(Needs::TYPE));
    }

    /// The columns of a glyph and of the space after it.
    pub(crate) fn columns(&self) -> usize {
        usize::from(self.width) + 1
    }

    /// Appends the glyph of a name outside of a listing, and the space after it. `mode` is `None` if it is not known.
    pub fn put(&self, name: &[u8], kind: Kind, mode: Option<u16>, out: &mut Vec<u8>) {
        self.write(name, kind, Known { mode, target: Target::Unasked }, out);
    }

    /// Appends the glyph of an entry and the space after it.
    pub(crate) fn write(&self, name: &[u8], kind: Kind, known: Known, out: &mut Vec<u8>) {
        let width = match self.find(name, kind, known) {
            FoundGlyph::Own(glyph) => {
                out.extend_from_slice(self.text(glyph.text));
                glyph.width
            }
            FoundGlyph::Builtin(glyph) => {
                out.extend_from_slice(glyph.encode_utf8(&mut [0; 4]).as_bytes());
                1
            }
        };
        for _ in width..=self.width {
            out.push(b' ');
        }
    }

    fn find(&self, name: &[u8], kind: Kind, known: Known) -> FoundGlyph {
        let (directory, class) =
            (kind == Kind::Dir, if kind == Kind::Dir { Class::Directory } else { Class::Name });
        if directory || kind == Kind::Reg {
            if let Some(glyph) = self.own(name, directory) {
                return FoundGlyph::Own(glyph);
            }
            let by_name = table::find(class, name);
            let by_extension =
                || if directory { None } else { table::find(Class::Extension, extension(name)?) };
            if let Some(glyph) = by_name.or_else(by_extension) {
                return FoundGlyph::Builtin(glyph);
            }
        }
        let kind = Type::of(kind, known) as usize;
        self.types[kind].map_or(FoundGlyph::Builtin(GLYPHS[kind]), FoundGlyph::Own)
    }

    /// The glyph of the last pattern that matches.
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
enum FoundGlyph {
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

/// The text after the last dot, unless that dot is the first byte.
fn extension(name: &[u8]) -> Option<&[u8]> {
    match name.iter().rposition(|byte| *byte == b'.') {
        None | Some(0) => None,
        Some(dot) => Some(&name[dot + 1..]),
    }
}

#[cfg(test)]
mod format_tests;
#[cfg(test)]
mod tests;
