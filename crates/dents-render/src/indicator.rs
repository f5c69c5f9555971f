//! The character after a name that shows its type: `-F`, `--file-type`, `-p`.

use dents_core::needs::{Kind, Needs, NeedsByKind};

/// Which types have indicators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Indicator {
    /// Nothing.
    #[default]
    None,
    /// `-p`: `/` after directories.
    Slash,
    /// `--file-type`: also `@` links, `|` FIFOs, `=` sockets.
    FileType,
    /// `-F`: also `*` regular files with an execute permission.
    Classify,
}

impl Indicator {
    /// The facts that indicators need: the type, and with `-F` the mode of regular files.
    #[must_use]
    pub fn needs(self) -> NeedsByKind {
        match self {
            Indicator::None => NeedsByKind::default(),
            Indicator::Slash | Indicator::FileType => NeedsByKind::all(Needs::TYPE),
            Indicator::Classify => NeedsByKind::all(Needs::TYPE) | NeedsByKind::of(Kind::Reg, Needs::MODE),
        }
    }

    /// The indicator of a type. `mode` matters for regular files only; zero means that it is not known.
    #[must_use]
    #[inline]
    pub fn of(self, kind: Kind, mode: u16) -> Option<u8> {
        if self == Indicator::None {
            return None;
        }
        match kind {
            Kind::Reg => (self == Indicator::Classify && mode & 0o111 != 0).then_some(b'*'),
            Kind::Dir => Some(b'/'),
            _ if self == Indicator::Slash => None,
            Kind::Link => Some(b'@'),
            Kind::Fifo => Some(b'|'),
            Kind::Sock => Some(b'='),
            _ => None,
        }
    }

    /// The characters that can be indicators. Quoting styles that can quote them do so inside names. As in GNU, `*`
    /// is missing with `-F`, which can print it, and is quoted with `--file-type`, which cannot.
    pub(crate) fn ambiguous(self) -> &'static [u8] {
        match self {
            Indicator::None | Indicator::Slash => b"",
            Indicator::FileType => b"*=>@|",
            Indicator::Classify => b"=>@|",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_tells_more() {
        let row = |indicator: Indicator| {
            [
                (Kind::Dir, 0),
                (Kind::Link, 0),
                (Kind::Fifo, 0),
                (Kind::Sock, 0),
                (Kind::Reg, 0o100),
                (Kind::Reg, 0),
            ]
            .map(|(kind, mode)| indicator.of(kind, mode).unwrap_or(b'.'))
        };
        assert_eq!(&row(Indicator::None), b"......");
        assert_eq!(&row(Indicator::Slash), b"/.....");
        assert_eq!(&row(Indicator::FileType), b"/@|=..");
        assert_eq!(&row(Indicator::Classify), b"/@|=*.");
    }

    #[test]
    fn only_classify_asks_for_the_mode() {
        assert!(!Indicator::FileType.needs().asks_any());
        assert!(Indicator::Classify.needs().asks(Kind::Reg));
        assert!(!Indicator::Classify.needs().asks(Kind::Dir));
    }
}
