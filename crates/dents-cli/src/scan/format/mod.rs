//! `--printf`: lines as the user wants them, in the directives of `find -printf`.
//!
//! A format is read once ([`parse`](mod@parse)), says what it must know of each entry ([`Format::needs`]), and is drawn by each worker for
//! itself ([`draw`]). Numbers, padding and the ten decimals of seconds are as GNU `find` 4.9 has them, and the words of times are those of the user's locale; births are
//! shown where the kernel knows them.

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

/// What `--help` says of the directives.
pub(crate) const HELP: &str = "\
Directives of --printf, with flags (-, 0, +, #), width and precision as in find:
  %p path      %f name    %h directory  %P path below PATH  %H PATH   %d depth
  %s bytes     %b 512 B   %k KiB        %S sparseness       %n links  %i inode
  %y type      %Y type of a link's target (N none, L loop)  %l target %m mode  %M -rwxr-xr-x
  %u %g names  %U %G ids  %D device     %F file system      %%
  %a %c %t %B+ times; %Ak %Ck %Tk %Bk in the conversion k of strftime, @ seconds, + date and time
  \\n \\t \\0 \\a \\b \\f \\r \\v \\\\ \\NNN; \\c ends the output of a format";

/// Reads the argument of `--printf`.
pub(crate) fn parser() -> impl TypedValueParser<Value = Arc<Format>> {
    OsStringValueParser::new().try_map(|word| Format::parse(word.as_bytes()).map(Arc::new))
}

/// A format, ready to be drawn.
pub(crate) struct Format {
    pieces: Vec<Piece>,
    /// The time styles that pieces name by their number.
    styles: Vec<Style>,
    zone: Zone,
    /// The types of file systems by device, if they are shown.
    file_systems: Vec<((u32, u32), Vec<u8>)>,
}

/// A part of a format.
#[derive(Debug, PartialEq)]
enum Piece {
    Text(Vec<u8>),
    Field(Field, Shape),
}

/// How wide, and how.
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

/// What is shown of an entry.
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
    /// What must be known of the entries that are shown.
    pub(crate) fn needs(&self) -> Needs {
        self.fields().fold(Needs::empty(), |all, field| all | field.needs())
    }

    /// The type of the file system on a device. `unknown` if it is not in the list of mounts, as the subvolumes of btrfs are.
    fn file_system(&self, device: (u32, u32)) -> &[u8] {
        let found = self.file_systems.iter().find(|(known, _)| *known == device);
        found.map_or(b"unknown", |(_, kind)| kind)
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
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Field(field, _) => Some(*field),
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
            // Any `statx` tells the device.
            Field::Device | Field::FileSystem => Needs::INODE,
            Field::Time(which, _) => which,
        }
    }

    /// Whether the walk must keep what a slot has no room for.
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
