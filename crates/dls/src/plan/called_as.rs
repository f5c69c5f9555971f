//! The program by its name: `ls`, `dir` or `vdir`.

use dents_render::{Format, Quoting};

/// The name that the program was called by, which decides the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CalledAs {
    /// `ls`: the defaults depend on stdout.
    Ls,
    /// `dir`: as `ls -C -b`, whether stdout is a terminal or not.
    Dir,
    /// `vdir`: as `ls -l -b`.
    Vdir,
}

impl CalledAs {
    pub(super) fn of(program: &[u8]) -> CalledAs {
        match crate::program::base(program) {
            b"dir" => CalledAs::Dir,
            b"vdir" => CalledAs::Vdir,
            _ => CalledAs::Ls,
        }
    }

    /// The format, unless an option decides.
    pub(super) fn format(self, terminal: bool) -> Format {
        match self {
            CalledAs::Vdir => Format::Long,
            CalledAs::Ls if !terminal => Format::Lines,
            CalledAs::Ls | CalledAs::Dir => Format::Columns,
        }
    }

    /// The quoting, unless an option or a variable decides.
    pub(super) fn quoting(self, terminal: bool) -> Quoting {
        match self {
            CalledAs::Dir | CalledAs::Vdir => Quoting::Escape,
            CalledAs::Ls if terminal => Quoting::ShellEscape,
            CalledAs::Ls => Quoting::Literal,
        }
    }
}
