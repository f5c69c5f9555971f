//! The keys of `LS_COLORS`, their names and their built-in values.

use super::span::Span;

/// The keys of `LS_COLORS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Key {
    /// `lc`: the bytes before a colour.
    Left,
    /// `rc`: the bytes after a colour.
    Right,
    /// `ec`: the bytes that end a coloured name, in place of `lc`, `rs`, `rc`.
    End,
    /// `rs`: the value that resets the colour.
    Reset,
    /// `no`: text that is not a name.
    Normal,
    /// `fi`: regular files.
    File,
    /// `di`: directories.
    Dir,
    /// `ln`: symbolic links; the value `target` means the colour of their targets.
    Link,
    /// `pi`: FIFOs.
    Fifo,
    /// `so`: sockets.
    Sock,
    /// `bd`: block devices.
    Block,
    /// `cd`: character devices.
    Char,
    /// `mi`: the missing target of a dangling link, in the long format.
    Missing,
    /// `or`: dangling links.
    Orphan,
    /// `ex`: regular files with an execute permission.
    Exec,
    /// `do`: doors, which Linux does not have.
    Door,
    /// `su`: set-user-ID.
    Setuid,
    /// `sg`: set-group-ID.
    Setgid,
    /// `st`: sticky directories that others may not write to.
    Sticky,
    /// `ow`: directories that others may write to.
    OtherWritable,
    /// `tw`: such directories with the sticky bit.
    StickyOtherWritable,
    /// `ca`: regular files with capabilities.
    Capability,
    /// `mh`: regular files with several names.
    HardLink,
    /// `cl`: clears to the end of the line.
    ClearToEol,
}

/// Names and built-in values of the keys, in the order of [`Key`]. `None` means no colour, which differs from an
/// empty value.
pub(super) const KEYS: [(&[u8; 2], Option<&[u8]>); 24] = [
    (b"lc", Some(b"\x1b[")),
    (b"rc", Some(b"m")),
    (b"ec", None),
    (b"rs", Some(b"0")),
    (b"no", None),
    (b"fi", None),
    (b"di", Some(b"01;34")),
    (b"ln", Some(b"01;36")),
    (b"pi", Some(b"33")),
    (b"so", Some(b"01;35")),
    (b"bd", Some(b"01;33")),
    (b"cd", Some(b"01;33")),
    (b"mi", None),
    (b"or", None),
    (b"ex", Some(b"01;32")),
    (b"do", Some(b"01;35")),
    (b"su", Some(b"37;41")),
    (b"sg", Some(b"30;43")),
    (b"st", Some(b"37;44")),
    (b"ow", Some(b"34;42")),
    (b"tw", Some(b"30;42")),
    (b"ca", None),
    (b"mh", None),
    (b"cl", Some(b"\x1b[K")),
];

/// The values of the keys, in the order of [`Key`].
pub(super) type Values = [Option<Span>; KEYS.len()];
