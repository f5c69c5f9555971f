//! The types of entries that the file system can show.

use fuser::FileType;

/// The type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file of mode 0644.
    File,
    /// A file of mode 0755.
    Executable,
    /// A file of mode 04755.
    Setuid,
    /// A directory of mode 0755, by default empty.
    Directory,
    /// A symbolic link to the directory that it is in.
    Link,
    /// A symbolic link to a missing file.
    Dangling,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
}

impl Kind {
    /// Every kind with its name.
    pub const ALL: &[(&str, Kind)] = &[
        ("file", Kind::File),
        ("executable", Kind::Executable),
        ("setuid", Kind::Setuid),
        ("directory", Kind::Directory),
        ("link", Kind::Link),
        ("dangling", Kind::Dangling),
        ("fifo", Kind::Fifo),
        ("socket", Kind::Socket),
    ];

    /// The kind with this name.
    pub fn parse(word: &str) -> Option<Kind> {
        Kind::ALL.iter().find(|row| row.0 == word).map(|row| row.1)
    }

    pub(super) fn file_type(self) -> FileType {
        match self {
            Kind::File | Kind::Executable | Kind::Setuid => FileType::RegularFile,
            Kind::Directory => FileType::Directory,
            Kind::Link | Kind::Dangling => FileType::Symlink,
            Kind::Fifo => FileType::NamedPipe,
            Kind::Socket => FileType::Socket,
        }
    }

    pub(super) fn mode(self) -> u16 {
        match self {
            Kind::File | Kind::Fifo | Kind::Socket => 0o644,
            Kind::Executable | Kind::Directory => 0o755,
            Kind::Setuid => 0o4755,
            Kind::Link | Kind::Dangling => 0o777,
        }
    }

    /// The target of a link of this kind.
    pub(super) fn target(self) -> Option<&'static [u8]> {
        match self {
            Kind::Link => Some(b"."),
            Kind::Dangling => Some(b"nowhere"),
            _ => None,
        }
    }
}
