//! The four kinds of work.

/// What a worker does at a time. Each is one system call or a short row of them, and each may never return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Open a directory and find out which it is.
    Open,
    /// Read one buffer of names.
    Read,
    /// Ask about a chunk of entries.
    Ask,
    /// Anything else that may block: a path to resolve, a name to look up.
    Call,
}

/// A task that an [`order::queue`](crate::order::queue) holds.
pub trait Task: Sized {
    /// Which of the four it is.
    fn kind(&self) -> Kind;

    /// How many workers could do some of it now: one, but for [`Kind::Ask`], whose entries are claimed one by one.
    fn width(&self) -> usize {
        1
    }

    /// Whether the consumer waits for what it brings; if not, a [`Kind::Read`] may be put off.
    fn is_awaited(&self) -> bool {
        true
    }

    /// The same task once more, for another worker, if several can share it.
    fn share(&self) -> Option<Self> {
        None
    }
}
