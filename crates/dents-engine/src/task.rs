//! The four kinds of tasks.

/// A task is one system call or a short series of them. Each may never return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Open a directory and identify it.
    Open,
    /// Read one buffer of names.
    Read,
    /// Request the metadata of a chunk of entries.
    Ask,
    /// Any other call that may block: to resolve a path, to look up a name.
    Call,
}

/// A task in an [`order::queue`](crate::order::queue).
pub trait Task: Sized {
    /// The kind of the task.
    fn kind(&self) -> Kind;

    /// How many workers could execute a share of it now: 1, except for [`Kind::Ask`], whose entries are claimed one by
    /// one.
    fn width(&self) -> usize {
        1
    }

    /// Whether the consumer waits for its result. If not, a [`Kind::Read`] may be parked.
    fn is_awaited(&self) -> bool {
        true
    }

    /// A share of the task for another worker, if several workers can execute it.
    fn share(&self) -> Option<Self> {
        None
    }
}
