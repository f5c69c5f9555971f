//! What the program was called as: `ls`, `dir` or `vdir`.

use dents_render::{Format, Quoting};

/// What the program was called as: the defaults of three programs that are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// What suits stdout.
    Ls,
    /// `dir`: as `ls -C -b`, whatever stdout is.
    Dir,
    /// `vdir`: as `ls -l -b`.
    Vdir,
}

impl Manner {
    pub(super) fn of(program: &[u8]) -> Manner {
        match program.rsplit(|byte| *byte == b'/').next() {
            Some(b"dir") => Manner::Dir,
            Some(b"vdir") => Manner::Vdir,
            _ => Manner::Ls,
        }
    }

    /// Without an option that says otherwise.
    pub(super) fn format(self, terminal: bool) -> Format {
        match self {
            Manner::Vdir => Format::Long,
            Manner::Ls if !terminal => Format::Lines,
            Manner::Ls | Manner::Dir => Format::Columns,
        }
    }

    /// Without an option or a variable that says otherwise.
    pub(super) fn quoting(self, terminal: bool) -> Quoting {
        match self {
            Manner::Dir | Manner::Vdir => Quoting::Escape,
            Manner::Ls if terminal => Quoting::ShellEscape,
            Manner::Ls => Quoting::Literal,
        }
    }
}
