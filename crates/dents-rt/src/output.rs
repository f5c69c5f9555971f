//! The output and the exit status of a child.

use alloc::vec::Vec;

/// The standard output of a child, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// All bytes that it wrote.
    pub stdout: Vec<u8>,
    /// How it ended.
    pub status: Status,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It exited with this status.
    Exited(u8),
    /// This signal killed it.
    Signaled(u8),
    /// Not known: SIGCHLD was ignored when our process was started, so the kernel reaped the child.
    Unknown,
}

impl Status {
    /// Whether it ended by itself with status 0.
    pub fn success(self) -> bool {
        self == Self::Exited(0)
    }
}
