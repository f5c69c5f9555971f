//! The output and the exit status of a child.

use alloc::vec::Vec;

/// The standard output of a child, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Everything, as bytes.
    pub stdout: Vec<u8>,
    /// How it ended.
    pub status: Status,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this exit status.
    Exited(u8),
    /// By this signal.
    Signaled(u8),
    /// Not known: SIGCHLD was ignored when we were started, so the kernel reaped it.
    Unknown,
}

impl Status {
    /// Whether it ended by itself with status 0.
    pub fn success(self) -> bool {
        self == Self::Exited(0)
    }
}
