//! A directory to be listed, and where its path comes from.

use crate::status::Status;
use core::ffi::CStr;

/// The origin of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The command line.
    Operand,
    /// A directory below an operand.
    Below,
}

impl Origin {
    /// The exit status if the path cannot be listed.
    pub(super) fn status(self) -> Status {
        match self {
            Origin::Operand => Status::Serious,
            Origin::Below => Status::Minor,
        }
    }
}

/// A directory to be listed.
#[derive(Clone, Copy)]
pub(super) struct Directory<'d> {
    pub(super) path: &'d CStr,
    pub(super) origin: Origin,
}

impl<'d> Directory<'d> {
    pub(super) fn operand(path: &'d CStr) -> Directory<'d> {
        Directory { path, origin: Origin::Operand }
    }

    /// The bytes of the path.
    pub(super) fn name(self) -> &'d [u8] {
        self.path.to_bytes()
    }
}
