//! A directory to be listed, and where its path comes from.

use crate::status::Status;
use core::ffi::CStr;

/// Where a path comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was named on the command line.
    Operand,
    /// It was found below an operand.
    Below,
}

impl Origin {
    /// How bad it is if the path cannot be listed.
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

    /// The path's bytes.
    pub(super) fn name(self) -> &'d [u8] {
        self.path.to_bytes()
    }
}
