//! Reads a directory, then requests the metadata of its entries; if the directory is large, both at the same time.

use super::workers::{self, Entries, OVERLAP_FROM};
use super::{
    Asking, ListedDir, Mode, Question, Report, Resources, Tally, asks, fill_at, marks, resolve_by_text,
    trusts_readdir,
};
use crate::batch::{Batch, Names, Slots};
use crate::needs::Needs;
use crate::read::several::{self, Readers};
use crate::read::{Bound, Filter, Reader};
use crate::watchdog::Watch;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};
use dents_engine::limit::choose::{self, Choice, Strategy};
use dents_engine::limit::policy::{FIRST_REPLY, Policy};
use dents_sys::dir::Dirents;

/// Reads of names, after the first, before several workers read the rest: 64 KiB and twice 256 KiB, some 15,000 entries. The rest then
/// outweighs what the workers cost: 100 µs. A last read that was not full has left nothing, as far as file systems go that several
/// workers can read.
const READS_ALONE: usize = 2;

/// More bytes than the names of a first reply take.
const SHORT: usize = (*FIRST_REPLY.end() + 1) * 280;

/// The result of [`read`].
pub enum ReadOutcome {
    /// The directory was read to its end, or to this error.
    Complete(dents_sys::Result<()>),
    /// Enough was read to begin the requests. This many threads should make them, and read the remaining names
    /// meanwhile.
    Partial(usize),
}

/// Reads a directory to its end. If it is large, and it pays off to request the metadata of the first entries while
/// the next are read, it stops earlier; [`fill_read`] continues from there. The caller may have read the first buffer of names already.
pub fn read(batch: &mut Batch, reader: &mut Reader, filter: &Filter, asking: &Asking<'_>) -> ReadOutcome {
    // The file system is looked up only if the answer can change the choice and enough entries need a request.
    let policy = |batch: &Batch, reader: &Reader| {
        let chooses = asking.resources.mode == Mode::Auto && asks_most(batch, asking);
        if chooses { Policy::of(reader.fs()) } else { Policy::of(None) }
    };
    let watch = asking.resources.threads.watching();
    let read = |batch: &mut Batch, reader: &mut Reader| read_more(batch, reader, filter, watch);
    let mut answer = if batch.is_empty() { read(batch, reader) } else { Ok(true) };
    loop {
        match answer {
            Ok(true) if is_first_reply(reader) && policy(batch, reader).interleave => break,
            Ok(true) if batch.len() < choose::PROBE_FROM => {}
            Ok(true) if batch.len() < OVERLAP_FROM && !policy(batch, reader).interleave => {}
            Ok(true) => break,
            Ok(false) => return ReadOutcome::Complete(Ok(())),
            Err(errno) => return ReadOutcome::Complete(Err(errno)),
        }
        answer = read(batch, reader);
    }
    let far = policy(batch, reader).is_far();
    match threads_for_overlap(batch, asking, far) {
        Some(threads) => ReadOutcome::Partial(threads),
        None => ReadOutcome::Complete(read_names(batch, reader, filter, asking.resources)),
    }
}

/// Whether the last read looks like the first reply of an NFS client, which is short so that the reader can show whether it asks
/// about the names before it reads on. A local directory of as many names looks alike, and then costs the two system calls that tell
/// its file system.
fn is_first_reply(reader: &Reader) -> bool {
    let records = reader.records();
    records.len() < SHORT && FIRST_REPLY.contains(&Dirents::new(records).take(FIRST_REPLY.end() + 1).count())
}

/// Reads the remaining names. If they are many, several workers do.
fn read_names(
    batch: &mut Batch,
    reader: &mut Reader,
    filter: &Filter,
    resources: &Resources<'_>,
) -> dents_sys::Result<()> {
    let watch = resources.threads.watching();
    let mut reads = 0;
    while reads < READS_ALONE || !reader.is_full() {
        if !read_more(batch, reader, filter, watch)? {
            return Ok(());
        }
        reads += 1;
    }
    // Classic makes one request after the other, and a ring the fewest calls.
    let is_alone = matches!(resources.mode, Mode::Classic | Mode::Iou);
    let threads = if is_alone { 1 } else { resources.threads.count() };
    several::read(reader, filter, batch, &Readers { workers: resources.workers, threads, watch })
}

/// Reads one more buffer of names, like [`Reader::read`], and shows it at the lister's seat of a watch.
///
/// # Errors
/// Like [`Reader::read`].
pub fn read_more(
    batch: &mut Batch,
    reader: &mut Reader,
    filter: &Filter,
    watch: Option<&'static Watch>,
) -> dents_sys::Result<bool> {
    several::read_one(reader, filter, batch, watch)
}

/// Fills the needs of all entries of a directory that [`read`] has begun.
///
/// # Errors
/// Beside the report: the error that ended the reading. Entries read before are in the batch, and filled.
pub fn fill_read(
    progress: ReadOutcome,
    batch: &mut Batch,
    reader: &mut Reader,
    filter: &Filter,
    asking: &Asking<'_>,
) -> (Report, dents_sys::Result<()>) {
    match progress {
        ReadOutcome::Complete(ended) => {
            let listed = ListedDir::new(reader.dir(), reader.known_fs());
            (fill_at(batch, &listed, asking), ended)
        }
        ReadOutcome::Partial(threads) => overlapped(batch, reader, filter, asking, threads),
    }
}

/// Whether most of the entries read so far need a request.
fn asks_most(batch: &Batch, asking: &Asking<'_>) -> bool {
    let Asking { needs, follow, .. } = *asking;
    let asked = batch.dents.iter().filter(|dent| asks(needs, follow, dent.kind())).count();
    asked * 2 > batch.len() && !trusts_readdir(needs, follow)
}

/// How many threads should read and make requests together, if most entries need a request and threads make them. On
/// a remote file system one core is enough for that.
fn threads_for_overlap(batch: &Batch, asking: &Asking<'_>, far: bool) -> Option<usize> {
    if !asks_most(batch, asking) {
        return None;
    }
    let resources = asking.resources;
    let threads = match resources.mode {
        Mode::Classic | Mode::Iou => 1,
        Mode::Par | Mode::Auto => resources.threads.count(),
    };
    (threads > 1 || (far && resources.threads.asked().is_none())).then_some(threads)
}

/// Reads the rest and fills it. Where marks are requested apart, a part of the names at a time.
fn overlapped(
    batch: &mut Batch,
    reader: &mut Reader,
    filter: &Filter,
    asking: &Asking<'_>,
    cores: usize,
) -> (Report, dents_sys::Result<()>) {
    let policy = (asking.resources.mode == Mode::Auto).then(|| Policy::of(reader.fs()));
    let apart = policy.filter(|policy| marks::are_apart(asking.needs, policy));
    let is_reached = AtomicBool::new(false);
    let bound = || Bound { names: marks::AT_ONCE, is_reached: &is_reached };
    let mut part = |batch: &mut Batch, bound| {
        overlapped_part(batch, reader, (filter, bound), asking, (cores, policy, apart))
    };
    let (mut report, mut ended) = part(batch, apart.map(|_| bound()));
    while ended.is_ok() && is_reached.swap(false, Ordering::Relaxed) {
        let mut more = Batch::new(*asking.needs);
        // Where answers are round trips, reading is not paused: there is no cache whose entries expire.
        let is_cached = report.choice == Some(choose::ALTERNATED);
        let (part, end) = part(&mut more, is_cached.then(bound));
        batch.absorb(&more, &(0..more.len() as u32).collect::<Vec<u32>>());
        ended = end.and_then(|()| batch.whole());
        report.tally += part.tally;
    }
    if let Some(counter) = asking.resources.counter {
        counter.note_directory(reader.fs(), batch.len());
    }
    (report, ended)
}

fn overlapped_part(
    batch: &mut Batch,
    reader: &mut Reader,
    (filter, bound): (&Filter, Option<Bound<'_>>),
    asking: &Asking<'_>,
    (cores, policy, apart): (usize, Option<&'static Policy>, Option<&'static Policy>),
) -> (Report, dents_sys::Result<()>) {
    let Asking { needs, follow, resources } = *asking;
    batch.declared = *needs;
    batch.slots = Slots::Dense;
    let fs = reader.known_fs();
    let (dir, stream) = reader.split();
    let listed = ListedDir::new(dir, fs);
    let question = resources.question(&listed, needs, follow, resolve_by_text(None, needs, &listed));
    let mut metas = core::mem::take(&mut batch.metas);
    metas.clear();
    let first = if apart.is_some() { needs.only(Needs::XATTRS.complement()) } else { *needs };
    let entries = Entries::Unread(batch, None);
    let source = Some((stream.with_small_reads().with_bound(bound), filter));
    let as_asked = Choice { strategy: Strategy::Par(cores), reason: "as asked" };
    let asked_first = Question { needs: &first, ..question };
    let (mut harvest, choice, failed) =
        workers::fill(entries, source, asked_first, resources, (policy, as_asked), &mut metas);
    if let Some(policy) = apart {
        let names = Names { bytes: &batch.arena, from: 0 };
        marks::fill((&batch.dents, names), question, (resources, policy), &mut metas, &mut harvest);
    }
    let ended = failed.map_or_else(|| batch.whole(), Err);
    batch.metas = metas;
    batch.texts = harvest.texts;
    let tally = Tally { entries: batch.len() as u64, ..harvest.tally };
    batch.faulty = tally.faults > 0;
    (Report { tally, choice: Some(choice), refused: None }, ended)
}
