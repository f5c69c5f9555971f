//! Counts the entries whose times do not fit the columns of Parquet in nanoseconds, 1677 to 2262, so that a scan can say so.

use dents_core::batch::Time;
use dents_sink::time::Unit;
use dents_sink::{Extent, Own, Part, Row, Sink};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// An output, and the number of such entries.
pub(super) struct CountsFar<'s> {
    pub(super) sink: Box<dyn Sink + 's>,
    pub(super) far: &'s AtomicU64,
}

impl Sink for CountsFar<'_> {
    fn part(&self) -> Box<dyn Part + '_> {
        Box::new(CountsFarRows { part: self.sink.part(), far: self.far })
    }

    fn own(&self) -> Option<Own> {
        self.sink.own()
    }

    fn finish(self: Box<Self>, extent: Extent) -> io::Result<Option<PathBuf>> {
        self.sink.finish(extent)
    }
}

struct CountsFarRows<'s> {
    part: Box<dyn Part + 's>,
    far: &'s AtomicU64,
}

impl Part for CountsFarRows<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        let is_far = |time: Option<Time>| time.is_some_and(|time| !Unit::Nanos.count(time).1);
        let facts = row.facts.as_ref();
        if facts.is_some_and(|facts| {
            [Some(facts.atime), facts.btime, Some(facts.ctime), Some(facts.mtime)].into_iter().any(is_far)
        }) {
            self.far.fetch_add(1, Relaxed);
        }
        self.part.row(row)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.part.flush()
    }
}

/// The message, if there are any.
pub(super) fn said(far: u64) -> Option<String> {
    let entries = crate::message::counted(far, "entry has a time", "entries have times");
    let means =
        "the columns have the nearest time, far_times the exact one; without --timestamps=ns they have all";
    (far > 0).then(|| format!("{entries} before 1677-09-21 or after 2262-04-11: {means}"))
}
