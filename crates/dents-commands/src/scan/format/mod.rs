//! `--printf`: lines in the directives of `find -printf`.
//!
//! A format is parsed once ([`parse`](mod@parse)) and declares its needs ([`Format::needs`]); each worker writes its own lines
//! ([`draw`]). Numbers, padding and the ten decimals of seconds are as in GNU `find` 4.9; times have the words of the user's
//! locale; births are shown where the kernel knows them.

mod draw;
mod general;
mod parse;
mod zone;

pub(crate) use draw::Printer;

use clap::builder::{OsStringValueParser, TypedValueParser};
use dents_core::needs::Needs;
use dents_render::Style;
use dents_render::time::Zone;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// The text of `--help` about the directives.
pub(crate) const HELP: &str = "\
Directives of --printf, with flags (-, 0, +, #), width and precision as in find:
  %p path      %f name    %h directory  %P path below PATH  %H PATH   %d depth
  %s bytes     %b 512 B   %k KiB        %S sparseness       %n links  %i inode
  %y type      %Y type of a link's target (N none, L loop)  %l target %m mode  %M -rwxr-xr-x
  %u %g names  %U %G ids  %D device     %F file system      %%
  %a %c %t %B+ times; %Ak %Ck %Tk %Bk in the conversion k of strftime, @ seconds, + date and time
  \\n \\t \\0 \\a \\b \\f \\r \\v \\\\ \\NNN; \\c ends the output of a format";

/// Parses the argument of `--printf`.
pub(crate) fn parser() -> impl TypedValueParser<Value = Arc<Format>> {
    OsStringValueParser::new().try_map(|word| Format::parse(word.as_bytes()).map(Arc::new))
}

/// A format, parsed.
pub(crate) struct Format {
    items: Vec<Item>,
    /// The time styles, to which items refer by number.
    styles: Vec<Style>,
    zone: Zone,
}

/// A part of a format.
#[derive(Debug, PartialEq)]
enum Item {
    Text(Vec<u8>),
    Field(Field, Shape),
}

/// Flags, width and precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shape {
    left: bool,
    zeros: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

/// The field that a directive shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Path,
    Name,
    Directory,
    Below,
    Operand,
    Depth,
    Bytes,
    Blocks,
    Kibibytes,
    Sparseness,
    Links,
    Inode,
    Type,
    TargetType,
    Target,
    Mode,
    Letters,
    User,
    Group,
    Uid,
    Gid,
    Device,
    FileSystem,
    /// One of [`Needs::TIMES`].
    Time(Needs, Face),
}

/// How a time is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Face {
    /// Seconds since the epoch.
    Seconds,
    /// In this style of the format.
    Style(usize),
}

impl Format {
    /// The needs of all fields.
    pub(crate) fn needs(&self) -> Needs {
        self.fields().fold(Needs::empty(), |all, field| all | field.needs())
    }

    /// Which owners are shown by name.
    pub(crate) fn names(&self) -> Needs {
        let name = |field: Field| match field {
            Field::User => Needs::UID,
            Field::Group => Needs::GID,
            _ => Needs::empty(),
        };
        self.fields().fold(Needs::empty(), |all, field| all | name(field))
    }

    fn fields(&self) -> impl Iterator<Item = Field> {
        self.items.iter().filter_map(|item| match item {
            Item::Text(_) => None,
            Item::Field(field, _) => Some(*field),
        })
    }
}

impl Field {
    fn needs(self) -> Needs {
        match self {
            Field::Path | Field::Name | Field::Directory | Field::Below | Field::Operand | Field::Depth => {
                Needs::empty()
            }
            Field::Bytes => Needs::SIZE,
            Field::Blocks | Field::Kibibytes => Needs::BLOCKS,
            Field::Sparseness => Needs::SIZE | Needs::BLOCKS,
            Field::Links => Needs::NLINK,
            Field::Inode => Needs::INODE,
            Field::Type => Needs::TYPE,
            Field::TargetType => Needs::TYPE | Needs::TARGET,
            Field::Target => Needs::TYPE | Needs::LINK,
            Field::Mode | Field::Letters => Needs::MODE,
            Field::User | Field::Uid => Needs::UID,
            Field::Group | Field::Gid => Needs::GID,
            // Every `statx` gives the device.
            Field::Device | Field::FileSystem => Needs::INODE,
            Field::Time(which, _) => which,
        }
    }

    /// Whether it reads the [`Extra`](dents_core::batch::Extra) column.
    fn is_extra(self) -> bool {
        matches!(self, Field::Device | Field::FileSystem | Field::Time(..))
    }
}

impl Format {
    /// Whether the batches' [`Extra`](dents_core::batch::Extra) column is read.
    pub(crate) fn wants_extra(&self) -> bool {
        self.fields().any(Field::is_extra)
    }
}
