//! An open directory, and the thread that reads it: the lister itself, a worker that reads ahead, or the agent.

use crate::cycle::{Identity, identify};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_core::batch::Batch;
use dents_core::deadline::Board;
use dents_core::prefetch::{Directory, Small};
use dents_core::read::Reader;
use dents_core::ring::Rings;
use dents_sys::{Errno, Result};

/// An open directory.
pub(super) enum OpenDirectory {
    /// The lister reads it.
    Reader(Reader),
    /// The agent reads it, and may be stuck in it.
    Board(Arc<Board>),
    /// A worker has read it ahead.
    Small(Box<Small>),
    /// The lister has read it to its end and closed it. Its buffer is kept.
    Done(Vec<u8>),
}

/// The reason why a directory is not open.
pub(super) enum NotOpen {
    /// It cannot be opened.
    Failed(Errno),
    /// The deadline has passed. `reached`: an agent's worker had begun to open it.
    Late { reached: bool },
}

impl OpenDirectory {
    /// Reads into this buffer, which is reused.
    pub(super) fn with_buffer(self, buffer: &mut Vec<u8>) -> OpenDirectory {
        match self {
            OpenDirectory::Reader(reader) => {
                OpenDirectory::Reader(reader.with_buffer(core::mem::take(buffer)))
            }
            elsewhere => elsewhere,
        }
    }

    /// Returns the buffer, and closes the directory at the next opportunity.
    pub(super) fn into_buffer(mut self, rings: &Rings) -> Option<Vec<u8>> {
        self.close(rings);
        if let OpenDirectory::Done(buffer) = self { Some(buffer) } else { None }
    }

    /// Closes the directory. If few descriptors are allowed, the next file needs this one.
    pub(super) fn close(&mut self, rings: &Rings) {
        match core::mem::replace(self, OpenDirectory::Done(Vec::new())) {
            OpenDirectory::Reader(reader) => {
                let (directory, buffer) = reader.into_parts();
                rings.close_later(directory);
                *self = OpenDirectory::Done(buffer);
            }
            elsewhere => *self = elsewhere,
        }
    }

    pub(super) fn board(&self) -> Option<&Arc<Board>> {
        match self {
            OpenDirectory::Board(board) => Some(board),
            _ => None,
        }
    }

    /// The order of the entries, if a worker has sorted them.
    pub(super) fn take_order(&mut self) -> Option<Vec<u32>> {
        if let OpenDirectory::Small(small) = self { small.order.take() } else { None }
    }

    /// Returns the memory of a batch, to be reused.
    pub(super) fn put_back(&mut self, batch: Batch, order: Vec<u32>) {
        if let OpenDirectory::Small(small) = self {
            (small.batch, small.order) = (batch, Some(order));
        }
    }

    /// The subdirectories to be listed, if a worker has made the list.
    pub(super) fn take_below(&mut self) -> Option<Vec<Arc<Directory>>> {
        if let OpenDirectory::Small(small) = self { small.below.take() } else { None }
    }

    /// Device and inode: one `statx`, unless a worker or the agent has made it. `None` if a worker was not asked to,
    /// or if the agent's listing is not recursive. A directory that the agent could not identify counts as not opened.
    pub(super) fn identity(&self) -> Result<Option<Identity>> {
        match self {
            OpenDirectory::Reader(reader) => identify(reader.dir()).map(Some),
            OpenDirectory::Board(board) => Ok(board.identity()),
            OpenDirectory::Small(small) => small.identity,
            OpenDirectory::Done(_) => Ok(None),
        }
    }
}
