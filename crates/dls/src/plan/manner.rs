//! The program by its name: `ls`, `dir` or `vdir`.

use dents_render::{Format, Quoting};

/// The name that the program was called by, which decides the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// `ls`: the defaults depend on stdout.
    Ls,
    /// `dir`: as `ls -C -b`, whether stdout is a terminal or not.
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

    /// The format, unless an option decides.
    pub(super) fn format(self, terminal: bool) -> Format {
        match self {
            Manner::Vdir => Format::Long,
            Manner::Ls if !terminal => Format::Lines,
            Manner::Ls | Manner::Dir => Format::Columns,
        }
    }

    /// The quoting, unless an option or a variable decides.
    pub(super) fn quoting(self, terminal: bool) -> Quoting {
        match self {
            Manner::Dir | Manner::Vdir => Quoting::Escape,
            Manner::Ls if terminal => Quoting::ShellEscape,
            Manner::Ls => Quoting::Literal,
        }
    }
}
