//! Filling the metadata of a batch.
//!
//! One signature, four strategies: *fill these slots for these names relative to this directory*. `classic`
//! asks one question after another and is the oracle; `par` deals the entries out to threads; `iou` puts a
//! bounded number of questions at once into an io_uring; `auto` is a pure function that chooses. All of them
//! ask through one `Asker` (ask.rs), so they can differ in order and number in flight, never in what is asked.

pub(crate) mod ask;
pub mod auto;
mod classic;
pub(crate) mod flight;
mod iou;
pub mod ledger;
pub(crate) mod operands;
mod overlap;
mod par;
pub mod policy;
pub(crate) mod steady;
mod xattrs;

#[cfg(test)]
mod tests;

pub use operands::{Dereference, fill_operands};

use crate::batch::{Batch, Dent, Metas, Names, Slots, Texts};
use crate::mounts::Mounts;
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::read::{Filter, Reader};
use crate::ring::Rings;
use crate::watch::Watch;
use alloc::vec::Vec;
use auto::{Choice, Signals, Strategy};
use core::cell::OnceCell;
use dents_sys::statfs::{self, FsType};
use dents_sys::{BorrowedFd, CWD, Errno, clock, sched, stat};
use ledger::Ledger;
use par::{Crew, Far};
use policy::Policy;

/// What is asked of every entry, and relative to which directory.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The directory the names are relative to.
    pub dir: BorrowedFd<'a>,
    /// What must be known, by type.
    pub needs: &'a NeedsByKind,
    /// Whether a symbolic link stands for what it leads to.
    pub follow: bool,
    /// Whether a link's target is found by the link's text instead of through the link. On /proc the two
    /// differ: `fd/3 -> pipe:[41]` leads somewhere though no such name exists.
    pub by_text: bool,
    /// Who looks on.
    pub watch: Option<&'static Watch>,
    /// Whether what the kernel remembers of an entry will do, however old it is (`AT_STATX_DONT_SYNC`).
    pub lazy: bool,
    /// Where to note what was asked, if anybody wants to know.
    pub ledger: Option<&'a Ledger>,
}

/// Threads, from whoever has them: the core itself starts none.
pub trait Workers: Sync {
    /// Runs `job(0)` on the calling thread and `job(1)`, `job(2)` … `job(workers - 1)` on others, and returns when
    /// all have ended. A thread that cannot be started is left out; `job(0)` always runs.
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync));

    /// Whether the threads share one descriptor table. If they do, every call that takes the directory's
    /// descriptor also writes to its reference count, and a worker does better with one of its own.
    fn share_descriptors(&self) -> bool {
        true
    }
}

/// How many threads: as many as asked for, or as the process may use cores, which is found out when first needed.
#[derive(Debug)]
pub struct Threads {
    asked: Option<usize>,
    in_flight: usize,
    cores: OnceCell<usize>,
    watch: Option<&'static Watch>,
}

impl Default for Threads {
    fn default() -> Threads {
        Threads::new(None)
    }
}

impl Threads {
    /// `None` for the cores.
    #[must_use]
    pub fn new(asked: Option<usize>) -> Threads {
        Threads { asked, in_flight: auto::IN_FLIGHT, cores: OnceCell::new(), watch: None }
    }

    /// With at most so many questions in flight where each answer is a round trip.
    #[must_use]
    pub fn in_flight(self, most: usize) -> Threads {
        Threads { in_flight: most.max(1), ..self }
    }

    /// With somebody who looks on.
    #[must_use]
    pub fn watched(self, watch: Option<&'static Watch>) -> Threads {
        Threads { watch, ..self }
    }

    /// Who looks on.
    #[must_use]
    pub fn watching(&self) -> Option<&'static Watch> {
        self.watch
    }

    /// The number that was asked for.
    #[must_use]
    pub fn asked(&self) -> Option<usize> {
        self.asked
    }

    /// The number: [`sched::available_cores`] once at most, which costs about ten system calls.
    #[must_use]
    pub fn count(&self) -> usize {
        self.asked.unwrap_or_else(|| *self.cores.get_or_init(sched::available_cores))
    }

    /// The number for this many entries. For a few hundred, one call must do, and two threads.
    pub(crate) fn count_for(&self, entries: usize) -> usize {
        match (self.asked, self.cores.get()) {
            (None, None) if entries < FEW => sched::affinity().min(2),
            _ => self.count(),
        }
    }
}

/// Some milliseconds of work: to read the quotas of control groups (50 µs) would be a part of it.
const FEW: usize = 4096;

/// How to go about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One thread, one question at a time.
    Classic,
    /// Threads.
    Par,
    /// io_uring.
    Iou,
    /// Whichever suits.
    #[default]
    Auto,
}

/// What a fill was given to work with.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// The strategy asked for.
    pub mode: Mode,
    /// How many of them.
    pub threads: &'a Threads,
    /// Who starts them.
    pub workers: &'a dyn Workers,
    /// Where `readdir` cannot be believed about inode numbers. Without it, it is nowhere believed.
    pub mounts: Option<&'a Mounts>,
    /// The rings to use. Without them, each fill that wants one makes its own.
    pub rings: Option<&'a Rings>,
    /// Whether values may be stale where that spares requests to a server (`AT_STATX_DONT_SYNC`).
    pub lazy: bool,
    /// Where to note what was asked of which kind of entry. Costs two readings of the clock for each call.
    pub ledger: Option<&'a Ledger>,
}

impl<'a> Means<'a> {
    fn crew(&self, threads: usize) -> Crew<'a> {
        Crew { threads, round_trips: None, workers: self.workers }
    }

    fn crew_far(&self, threads: usize, cores: usize, policy: &Policy) -> Crew<'a> {
        let far = Far { cores, holds: policy.holds() };
        Crew { round_trips: Some(far), ..self.crew(threads) }
    }

    fn signals(&self, entries: usize, cores: usize, (latency_ns, policy): (u64, &'static Policy)) -> Signals {
        let Threads { asked: fixed, in_flight, .. } = *self.threads;
        Signals { entries, cores, fixed, in_flight, latency_ns, policy }
    }

    /// The question to the entries of a place.
    fn question<'q>(
        &self,
        place: &Place<'q>,
        needs: &'q NeedsByKind,
        follow: bool,
        by_text: bool,
    ) -> Question<'q>
    where
        'a: 'q,
    {
        let lazy = self.lazy && stat::takes_dont_sync(place.dir);
        Question {
            dir: place.dir,
            needs,
            follow,
            by_text,
            lazy,
            ledger: self.ledger,
            watch: self.threads.watching(),
        }
    }
}

/// What is asked of the entries of a directory, and how.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// What must be known, by type.
    pub needs: &'a NeedsByKind,
    /// Whether a symbolic link stands for what it leads to.
    pub follow: bool,
    /// What there is to work with.
    pub means: &'a Means<'a>,
}

/// What a fill did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// System calls by kind.
    pub tally: Tally,
    /// The strategy taken, and why. `None` if there was nothing to ask.
    pub choice: Option<Choice>,
    /// Why io_uring was refused, if it was asked for.
    pub refused: Option<Errno>,
}

/// System calls made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Entries of the batch.
    pub entries: u64,
    /// Entries about which a question failed.
    pub faults: u64,
    /// `statx` of entries and of the targets of links.
    pub stats: u64,
    /// Entries that needed none: name and `d_type` answered.
    pub avoided: u64,
    /// `readlinkat`.
    pub links: u64,
    /// `listxattrat` and `getxattrat`; an entry whose attributes a ring was asked for counts as one.
    pub xattrs: u64,
}

impl core::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.entries += other.entries;
        self.faults += other.faults;
        self.stats += other.stats;
        self.avoided += other.avoided;
        self.links += other.links;
        self.xattrs += other.xattrs;
    }
}

/// A directory, and the file system it is on, once somebody needs to know: two system calls, no request to a server.
pub(crate) struct Place<'a> {
    dir: BorrowedFd<'a>,
    fs: OnceCell<Option<FsType>>,
}

impl<'a> Place<'a> {
    /// `fs` is the file system, if it is known already.
    pub(crate) fn new(dir: BorrowedFd<'a>, fs: Option<Option<FsType>>) -> Self {
        Place { dir, fs: fs.map_or_else(OnceCell::new, OnceCell::from) }
    }

    fn fs(&self) -> Option<FsType> {
        *self.fs.get_or_init(|| statfs::of_mount(self.dir).ok())
    }

    fn policy(&self) -> &'static Policy {
        // Operands may lie anywhere.
        if dir_is_cwd(self.dir) { Policy::of(None) } else { Policy::of(self.fs()) }
    }
}

/// The entries to ask.
pub(crate) struct Todo<'a> {
    question: Question<'a>,
    dents: &'a [Dent],
    names: Names<'a>,
}

impl<'a> Todo<'a> {
    /// Takes the first `count` entries off.
    fn split_front(&mut self, count: usize) -> Todo<'a> {
        let (dents, rest) = self.dents.split_at(count);
        self.dents = rest;
        Todo { dents, ..*self }
    }
}

/// What a strategy brings home beside the filled slots.
#[derive(Default)]
pub(crate) struct Harvest {
    /// The texts of each asker; slots name them by position.
    texts: Vec<Texts>,
    tally: Tally,
}

/// Answers `needs` for every entry of the batch, relative to `dir`.
///
/// Costs, for each entry: nothing if its `d_type` answers; else one `statx`, with `readlinkat` and a `statx` of
/// the target for a symbolic link and `listxattrat` for marks, each only if needed. Failures of an entry
/// stay in its slot.
pub fn fill(batch: &mut Batch, dir: BorrowedFd<'_>, asking: &Asking<'_>) -> Report {
    fill_at(batch, &Place::new(dir, None), asking)
}

fn fill_at(batch: &mut Batch, place: &Place<'_>, asking: &Asking<'_>) -> Report {
    let (dir, Asking { needs, follow, means }) = (place.dir, *asking);
    batch.declared = *needs;
    // Where all that is missing is the inode number, readdir may have told it.
    let trusting = trusts_readdir(needs, follow);
    let covered = means.mounts.filter(|_| trusting).and_then(|mounts| mounts.below(dir, batch.len()));
    batch.trusts_d_ino = covered.is_some();
    let todo = batch.place_slots(|kind, name| match &covered {
        Some(covered) if kind != Kind::Unknown => covered.covers(name),
        _ => asks(needs, follow, kind),
    });
    let Batch { arena, dents, metas, .. } = batch;
    let asked = todo.as_deref().unwrap_or(dents);
    let avoided = (dents.len() - asked.len()) as u64;
    let mut tally = Tally { entries: dents.len() as u64, avoided, ..Tally::default() };
    if let Some(ledger) = means.ledger {
        ledger.note_directory(place.fs(), dents.len());
    }
    if asked.is_empty() {
        return Report { tally, ..Report::default() };
    }
    let question = means.question(place, needs, follow, links_lie(Some(asked), needs, place));
    let names = Names { bytes: arena, from: 0 };
    let (harvest, mut report) = run(Todo { question, dents: asked, names }, metas, place, means);
    batch.texts = harvest.texts;
    tally += harvest.tally;
    batch.faulty = tally.faults > 0;
    report.tally = tally;
    report
}

/// How far [`read`] came.
pub enum Progress {
    /// To the end, or to what ended the reading early.
    Whole(dents_sys::Result<()>),
    /// Far enough to begin asking: this many threads shall do that and read the rest meanwhile.
    Partly(usize),
}

/// Reads a directory to its end, or, where it is large and there are threads to ask about the first entries while the
/// next are read, to where that pays. [`fill_read`] goes on from there.
pub fn read(batch: &mut Batch, reader: &mut Reader, filter: &Filter, asking: &Asking<'_>) -> Progress {
    // Which file system it is matters only where there will be a choice, and enough to ask.
    let policy = |batch: &Batch, reader: &Reader| {
        let chooses = asking.means.mode == Mode::Auto && asks_most(batch, asking);
        if chooses { Policy::of(reader.fs()) } else { Policy::of(None) }
    };
    let read = |batch: &mut Batch, reader: &mut Reader| {
        let Some(watch) = asking.means.threads.watch else { return reader.read(filter, batch) };
        let before = batch.len();
        watch.begin(0, b"the names themselves");
        let answer = reader.read(filter, batch);
        watch.end(0, 0);
        watch.add_read(batch.len() - before);
        answer
    };
    loop {
        match read(batch, reader) {
            Ok(true) if batch.len() < auto::PROBE_FROM => {}
            Ok(true) if batch.len() < OVERLAP_FROM && !policy(batch, reader).interleave => {}
            Ok(true) => break,
            Ok(false) => return Progress::Whole(Ok(())),
            Err(errno) => return Progress::Whole(Err(errno)),
        }
    }
    let far = policy(batch, reader).far != policy::Far::No;
    match threads_for_overlap(batch, asking, far) {
        Some(threads) => Progress::Partly(threads),
        None => loop {
            match read(batch, reader) {
                Ok(true) => {}
                ended => return Progress::Whole(ended.map(drop)),
            }
        },
    }
}

/// Answers the needs for all entries of a directory that [`read`] has begun.
///
/// # Errors
/// Beside the report: what ended the reading early. What was read before is in the batch, and filled.
pub fn fill_read(
    progress: Progress,
    batch: &mut Batch,
    reader: &mut Reader,
    filter: &Filter,
    asking: &Asking<'_>,
) -> (Report, dents_sys::Result<()>) {
    match progress {
        Progress::Whole(ended) => {
            let place = Place::new(reader.dir(), reader.known_fs());
            (fill_at(batch, &place, asking), ended)
        }
        Progress::Partly(threads) => overlapped(batch, reader, filter, asking, threads),
    }
}

/// Entries after which, if there are more, it pays to ask about some while others are read. 64 KiB of directory hold
/// about 2,000.
const OVERLAP_FROM: usize = 1024;

pub(crate) fn asks(needs: &NeedsByKind, follow: bool, kind: Kind) -> bool {
    needs.asks(kind) || (follow && kind == Kind::Link && !needs.get(kind).is_empty())
}

fn trusts_readdir(needs: &NeedsByKind, follow: bool) -> bool {
    !follow && needs.any() == Needs::INODE | (needs.any() & Needs::TYPE)
}

/// Whether most of the entries that were read must be asked about.
fn asks_most(batch: &Batch, asking: &Asking<'_>) -> bool {
    let Asking { needs, follow, .. } = *asking;
    let asked = batch.dents.iter().filter(|dent| asks(needs, follow, dent.kind())).count();
    asked * 2 > batch.len() && !trusts_readdir(needs, follow)
}

/// How many threads should read and ask together, if any should: where most entries are asked, by threads.
/// Where answers come from far away, one core is enough for that.
fn threads_for_overlap(batch: &Batch, asking: &Asking<'_>, far: bool) -> Option<usize> {
    if !asks_most(batch, asking) {
        return None;
    }
    let means = asking.means;
    let threads = match means.mode {
        Mode::Classic | Mode::Iou => 1,
        Mode::Par | Mode::Auto => means.threads.count(),
    };
    (threads > 1 || (far && means.threads.asked().is_none())).then_some(threads)
}

fn overlapped(
    batch: &mut Batch,
    reader: &mut Reader,
    filter: &Filter,
    asking: &Asking<'_>,
    cores: usize,
) -> (Report, dents_sys::Result<()>) {
    let Asking { needs, follow, means } = *asking;
    batch.declared = *needs;
    batch.slots = Slots::Dense;
    let fs = reader.known_fs();
    let (dir, stream) = reader.split();
    let stream = stream.in_sips();
    let place = Place::new(dir, fs);
    let question = means.question(&place, needs, follow, links_lie(None, needs, &place));
    let (mut harvest, mut metas) = (Harvest::default(), core::mem::take(&mut batch.metas));
    metas.clear();
    let choice = match means.mode {
        Mode::Auto => {
            let names = Names { bytes: &batch.arena, from: 0 };
            let mut todo = Todo { question, dents: &batch.dents, names };
            let signs = probe(&mut todo, &mut metas, &mut harvest, place.policy());
            // More are to come; how many, nobody knows.
            auto::choose(&means.signals(batch.len().max(OVERLAP_FROM), cores, signs))
        }
        _ => Choice { strategy: Strategy::Par(cores), reason: "as asked" },
    };
    let crew = match choice.strategy {
        Strategy::Par(threads) => means.crew(threads),
        Strategy::Flight(threads) => means.crew_far(threads, cores, place.policy()),
        Strategy::Classic | Strategy::Iou => means.crew(1),
    };
    let step = crew.step(batch.len());
    let unread =
        overlap::Unread::new(batch, metas.len(), stream, filter, (step, crew.threads), question.watch);
    for piece in par::ask(&unread, question, &mut harvest, crew, step) {
        metas.append(piece);
    }
    let ended = unread.failed().map_or(Ok(()), Err);
    batch.metas = metas;
    batch.texts = harvest.texts;
    let tally = Tally { entries: batch.len() as u64, ..harvest.tally };
    batch.faulty = tally.faults > 0;
    if let Some(ledger) = means.ledger {
        ledger.note_directory(place.fs(), batch.len());
    }
    (Report { tally, choice: Some(choice), refused: None }, ended)
}

/// Asks about the first few entries, and takes them off. Returns how long one took, on average since the last but one
/// look at the clock, beside the policy that says when to look.
fn probe(
    todo: &mut Todo<'_>,
    metas: &mut Metas,
    harvest: &mut Harvest,
    policy: &'static Policy,
) -> (u64, &'static Policy) {
    // A reading of the clock is as good as any call to see what any call takes.
    let before = clock::monotonic_ns();
    let (mut latency_ns, mut last) = (0, clock::monotonic_ns());
    let any_call_ns = last - before;
    for count in policy.looks() {
        classic::fill(&todo.split_front(*count), metas, harvest);
        let now = clock::monotonic_ns();
        latency_ns = auto::latency_ns(now - last, *count, any_call_ns);
        last = now;
        // So fast that nothing but memory can have answered: there is nothing more to find out.
        let sure = latency_ns < auto::FROM_MEMORY_NS;
        if sure || auto::is_round_trip(latency_ns) && policy.believes_the_first_look() {
            break;
        }
    }
    (latency_ns, policy)
}

/// Whether a link must be followed by its text: where that text is wanted anyhow, it costs nothing; on a
/// file system with magic links it is the only way (one look at the file system, only if there is a link to follow, or not all names
/// are known yet).
pub(crate) fn links_lie(dents: Option<&[Dent]>, needs: &NeedsByKind, place: &Place<'_>) -> bool {
    let link = needs.get(Kind::Link);
    if !link.contains(Needs::TARGET) || link.contains(Needs::LINK) {
        return true;
    }
    let may_be_link = |dent: &Dent| matches!(dent.kind(), Kind::Link | Kind::Unknown);
    if dents.is_some_and(|dents| !dents.iter().any(may_be_link)) {
        return true;
    }
    // Operands may lie anywhere.
    if dir_is_cwd(place.dir) {
        return true;
    }
    place.fs().is_none_or(|fs| fs == FsType::PROC)
}

fn dir_is_cwd(dir: BorrowedFd<'_>) -> bool {
    use dents_sys::AsRawFd;
    dir.as_raw_fd() == CWD.as_raw_fd()
}

/// Chooses, and runs what was chosen.
fn run(mut todo: Todo<'_>, metas: &mut Metas, place: &Place<'_>, means: &Means<'_>) -> (Harvest, Report) {
    let entries = todo.dents.len();
    let cores = || means.threads.count_for(entries);
    let mut harvest = Harvest::default();
    metas.clear();
    let choice = match means.mode {
        Mode::Classic => Choice { strategy: Strategy::Classic, reason: "as asked" },
        Mode::Par => Choice { strategy: Strategy::Par(cores()), reason: "as asked" },
        Mode::Iou => Choice { strategy: Strategy::Iou, reason: "as asked" },
        Mode::Auto if entries < auto::PROBE_FROM => auto::choose(&Signals::few(entries)),
        Mode::Auto => {
            let signs = probe(&mut todo, metas, &mut harvest, place.policy());
            auto::choose(&means.signals(entries, cores(), signs))
        }
    };
    let mut report = Report { choice: Some(choice), ..Report::default() };
    match choice.strategy {
        Strategy::Classic => classic::fill(&todo, metas, &mut harvest),
        Strategy::Par(threads) => par::fill(&todo, metas, &mut harvest, means.crew(threads)),
        Strategy::Flight(threads) => {
            par::fill(&todo, metas, &mut harvest, means.crew_far(threads, cores(), place.policy()));
        }
        Strategy::Iou => {
            match iou::fill(&todo, metas, &mut harvest, means.rings.unwrap_or(&Rings::default())) {
                Ok(()) => {}
                Err(errno) => {
                    report.refused = Some(errno);
                    harvest = Harvest::default();
                    metas.clear();
                    par::fill(&todo, metas, &mut harvest, means.crew(cores()));
                }
            }
        }
    }
    (harvest, report)
}
