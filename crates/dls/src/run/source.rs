//! Where the entries of a directory come from: it is read here, or by a worker before its turn, or by the agent.

use super::Listing;
use crate::loops::{ActiveDirectories, Identity, identify};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents::batch::Batch;
use dents::bounded::{Opened, Sheet};
use dents::needs::Kind;
use dents::prefetch::{Ahead, Directory, Small};
use dents::read::Reader;
use dents::ring::Rings;
use dents::stat::{self, Report};
use dents_sys::{CWD, Errno, OwnedFd, Result};

/// A directory that is open.
pub(super) enum Source {
    /// Here.
    Reader(Reader),
    /// Aside, where it may hang.
    Sheet(Arc<Sheet>),
    /// By a worker, before its turn.
    Small(Box<Small>),
    /// Read here to its end, and closed. The buffer is left.
    Done(Vec<u8>),
}

/// Why a directory is not.
pub(super) enum Closed {
    /// It cannot be opened.
    Failed(Errno),
    /// The time is up. Whether anybody had come to it by then.
    Late { reached: bool },
}

impl Source {
    /// Reads with a buffer that served before.
    pub(super) fn with_buffer(self, buffer: &mut Vec<u8>) -> Source {
        match self {
            Source::Reader(reader) => Source::Reader(reader.with_buffer(core::mem::take(buffer))),
            elsewhere => elsewhere,
        }
    }

    /// Gives the buffer back, and the directory to be closed when it suits.
    pub(super) fn into_buffer(mut self, rings: &Rings) -> Option<Vec<u8>> {
        self.close(rings);
        if let Source::Done(buffer) = self { Some(buffer) } else { None }
    }

    /// Closes the directory, of which nothing more will be asked: where few descriptors are allowed, the next file needs
    /// this one.
    pub(super) fn close(&mut self, rings: &Rings) {
        if let Some(directory) = self.take_directory() {
            rings.close_later(directory);
        }
    }

    /// The directory, of which nothing more will be read here.
    pub(super) fn take_directory(&mut self) -> Option<OwnedFd> {
        match core::mem::replace(self, Source::Done(Vec::new())) {
            Source::Reader(reader) => {
                let (directory, buffer) = reader.into_parts();
                *self = Source::Done(buffer);
                Some(directory)
            }
            elsewhere => {
                *self = elsewhere;
                None
            }
        }
    }

    pub(super) fn sheet(&self) -> Option<&Arc<Sheet>> {
        match self {
            Source::Sheet(sheet) => Some(sheet),
            _ => None,
        }
    }

    /// The order of the entries, if it is known already.
    pub(super) fn take_order(&mut self) -> Option<Vec<u32>> {
        if let Source::Small(small) = self { small.order.take() } else { None }
    }

    /// Gives back what was taken, for another directory to use the memory.
    pub(super) fn put_back(&mut self, batch: Batch, order: Vec<u32>) {
        if let Source::Small(small) = self {
            (small.batch, small.order) = (batch, Some(order));
        }
    }

    /// What is to be listed after it, if that is known already.
    pub(super) fn take_below(&mut self) -> Option<Vec<Arc<Directory>>> {
        if let Source::Small(small) = self { small.below.take() } else { None }
    }

    /// See [`ActiveDirectories::enter`].
    pub(super) fn enter(&self, active: &mut ActiveDirectories) -> Result<bool> {
        Ok(self.identity()?.is_none_or(|identity| active.enter(identity)))
    }

    /// Device and inode: one `statx`, unless somebody made it already. None aside, where nobody wants to know; what could
    /// not be identified there did not open.
    pub(super) fn identity(&self) -> Result<Option<Identity>> {
        match self {
            Source::Reader(reader) => identify(reader.dir()).map(Some),
            Source::Sheet(sheet) => Ok(sheet.identity()),
            Source::Small(small) => small.identity.map(Some),
            Source::Done(_) => Ok(None),
        }
    }
}

impl Listing<'_, '_, '_> {
    /// Opens a directory, unless that was done ahead of its turn.
    pub(super) fn source(
        &mut self,
        path: &CStr,
        above: Option<&Arc<Sheet>>,
        ahead: Option<Ahead>,
    ) -> core::result::Result<Source, Closed> {
        match ahead {
            Some(Ahead::Closed(errno)) => Err(Closed::Failed(errno)),
            Some(Ahead::Small(small)) => Ok(Source::Small(small)),
            Some(Ahead::Later) | None => self.open(path, true, above),
        }
    }

    pub(super) fn open(
        &mut self,
        path: &CStr,
        follow: bool,
        above: Option<&Arc<Sheet>>,
    ) -> core::result::Result<Source, Closed> {
        let Some(limit) = &self.limit else {
            let watch = self.means.threads.watching();
            watch.iter().for_each(|watch| watch.begin(0, path.to_bytes()));
            let below = self.open_below(path).map(|opened| opened.map(Reader::new));
            let mut opened = below.unwrap_or_else(|| Reader::open(CWD, path, follow));
            if matches!(opened, Err(Errno::MFILE)) && self.env.rings.close_now() {
                opened = Reader::open(CWD, path, follow);
            }
            watch.iter().for_each(|watch| watch.end(0, 0));
            return opened.map(Source::Reader).map_err(Closed::Failed);
        };
        match limit.bounded().open(path, follow, above) {
            Opened::Sheet(sheet) => Ok(Source::Sheet(sheet)),
            Opened::Failed(errno) => Err(Closed::Failed(errno)),
            Opened::Hung => Err(Closed::Late { reached: true }),
            Opened::NotReached => Err(Closed::Late { reached: false }),
        }
    }

    /// The operands, and what must be known of them.
    pub(super) fn ask_operands(&mut self, names: &[&CStr]) -> (Batch, Report) {
        if let Some(limit) = &self.limit {
            let part = limit.bounded().operands(names);
            self.tell_late_operands(&part.batch);
            return (part.batch, part.report);
        }
        let mut batch = Batch::new(self.plan.operand_needs);
        for name in names {
            batch.push(name, Kind::Unknown, 0);
        }
        let (needs, dereference) = (&self.plan.operand_needs, self.plan.dereference);
        let report = stat::fill_operands(&mut batch, CWD, needs, dereference, &self.means);
        (batch, report)
    }
}
