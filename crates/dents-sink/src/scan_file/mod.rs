//! What the reader of each format has.

mod limits;
mod wanted;

pub(crate) use limits::Limits;
pub(crate) use wanted::{Below, Selection};
pub use wanted::{Columns, Wanted};

use crate::format::{Extent, Format};
use crate::row::Row;
use crate::time;
use dents_core::batch::Time;
use dents_core::bulk::Subvolume;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What each format has: the sibling of [`Sink`](crate::Sink).
pub(crate) trait ScanFile: Send {
    /// See [`Reader::format`](crate::read::Reader::format).
    fn format(&self) -> Format;

    /// See [`Reader::details`](crate::read::Reader::details).
    fn details(&mut self) -> Columns {
        Columns::empty()
    }

    /// See [`Reader::span`](crate::read::Reader::span).
    fn span(&self) -> Span;

    /// See [`Reader::subvolumes`](crate::read::Reader::subvolumes).
    fn subvolumes(&self) -> Vec<Subvolume> {
        Vec::new()
    }

    /// See [`Reader::unchecked`](crate::read::Reader::unchecked).
    fn unchecked(&self) -> Option<Arc<AtomicBool>> {
        None
    }

    /// See [`Reader::row_groups`](crate::read::Reader::row_groups).
    fn row_groups(&self, _: &Below) -> RowGroups {
        RowGroups { read: 1, skipped: 0 }
    }

    /// Passes the wanted rows on, in the order of the file.
    fn each(
        &mut self,
        wanted: &Selection<'_>,
        give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<Option<Extent>>;

    /// The same to several workers, at most as many as row groups are read.
    fn share(&mut self, wanted: &Selection<'_>, workers: &mut [&mut Give<'_>]) -> io::Result<Option<Extent>> {
        match workers {
            [give, ..] => self.each(wanted, give),
            [] => Ok(None),
        }
    }
}

/// Takes the rows of one worker.
pub(crate) type Give<'g> = dyn FnMut(&Row<'_>) -> io::Result<()> + Send + 'g;

/// Start and end of a scan, by the clock of its machine; `None` if its file does not have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Its start.
    pub begun: Option<Time>,
    /// Its end.
    pub ended: Option<Time>,
}

impl Span {
    /// The span from the texts in a file.
    pub(crate) fn of(begun: Option<&str>, ended: Option<&str>) -> Span {
        let time = |text: Option<&str>| time::parse(text?.as_bytes());
        Span { begun: time(begun), ended: time(ended) }
    }
}

/// The row groups of a Parquet file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowGroups {
    /// The row groups that are read.
    pub read: usize,
    /// The row groups that are not read, because their statistics show that they have no wanted path.
    pub skipped: usize,
}
