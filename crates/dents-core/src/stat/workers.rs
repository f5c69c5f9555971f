//! Requests about the entries of one directory, by workers that share them, and by replacements of stuck workers.
//!
//! A stuck worker keeps the chunk that it has claimed. So with a watch, a claimed chunk is shared ([`Shared`]): each entry is
//! claimed once more before its request. Replacements first finish shared chunks, then continue with the range; they skip the
//! latency probe. Without a watch no chunk is shared, and this costs nothing; a shared chunk costs a lock and an atomic addition
//! or two for each entry.

use super::ask::Asker;
use super::question::{Harvest, Question, dir_is_cwd};
use super::resources::{Resources, Workers};
use crate::batch::{Batch, Dent, Meta, Metas, Names};
use crate::lock::Mutex;
use crate::read::{Filter, Stream};
use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range as Claimed;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use dents_engine::board::Chunk;
use dents_engine::crew::{Crew, Next, Order};
use dents_engine::limit::choose::{self, Choice, Strategy};
use dents_engine::limit::policy::Policy;
use dents_engine::limit::{CHUNK, FIRST, Limit, Streak};
use dents_engine::order::range::{self, Claims, Range, Task};
use dents_sys::{AsFd, BorrowedFd, Errno, OwnedFd, clock, dir};

/// Entries that a replacement claims at a time.
const REPLACEMENT_STEP: usize = 8;

/// Consecutive chunks of round trips that end reading and asking in turns: one may be slow because the machine is busy.
const SLOW_CHUNKS: u32 = 2;

/// Consecutive round trips of a replacement after which it requests as many others as a search begins with.
const SLOW: u32 = 3;

/// From this number of entries on, if there are more, it pays off to request metadata while names are read. 64 KiB of
/// `getdents64` hold about 2,000.
pub(super) const OVERLAP_FROM: usize = 1024;

/// The entries of a directory.
pub(super) enum Entries<'a> {
    /// All names were read.
    Listed(&'a [Dent], Names<'a>),
    /// More names are being read, unless that failed.
    Unread(&'a mut Batch, Option<Errno>),
}

/// The source of more names.
pub(super) type Source<'a> = (Stream<'a>, &'a Filter);

/// The entries that a worker has claimed. If their arena may move, it holds a copy: 2 KiB, about 0.1 µs.
#[derive(Default)]
pub(super) struct ClaimedNames<'a> {
    dents: Cow<'a, [Dent]>,
    names: Cow<'a, [u8]>,
    /// Where the names begin in the arena.
    from: usize,
}

impl ClaimedNames<'_> {
    fn names(&self) -> Names<'_> {
        Names { bytes: &self.names, from: self.from }
    }
}

impl<'a> range::Names for Entries<'a> {
    type Copy = ClaimedNames<'a>;
    type Source = Source<'a>;
    type Buffer = (Batch, dents_sys::Result<bool>);

    fn len(&self) -> usize {
        match self {
            Entries::Listed(dents, _) => dents.len(),
            Entries::Unread(batch, _) => batch.len(),
        }
    }

    fn copy(&self, claimed: &Claimed<usize>, copied: &mut ClaimedNames<'a>) {
        match self {
            Entries::Listed(dents, names) => {
                let dents = Cow::Borrowed(&dents[claimed.clone()]);
                *copied = ClaimedNames { dents, names: Cow::Borrowed(names.bytes), from: names.from };
            }
            Entries::Unread(batch, _) => {
                let dents = &batch.dents[claimed.clone()];
                let (from, to) = (dents[0].span().0, dents[dents.len() - 1].span().1);
                copy(dents, copied.dents.to_mut());
                copy(&batch.arena[from..to], copied.names.to_mut());
                copied.from = from;
            }
        }
    }

    fn append(&mut self, (mut more, answer): (Batch, dents_sys::Result<bool>)) {
        if let Entries::Unread(batch, failed) = self {
            batch.append_names(&mut more);
            *failed = answer.err();
        }
    }
}

fn copy<T: Copy>(from: &[T], to: &mut Vec<T>) {
    to.clear();
    to.extend_from_slice(from);
}

/// A claimed chunk; any worker may request the metadata of its entries.
struct Shared<'r> {
    start: usize,
    copied: ClaimedNames<'r>,
    slots: Chunk<Meta>,
}

/// The slots of one worker: runs, each with the position of its first.
type SlotRuns = Vec<(usize, Vec<Meta>)>;

struct Worker<'w> {
    asker: Asker<'w>,
    runs: SlotRuns,
}

impl Worker<'_> {
    /// Requests the metadata of entries of a chunk that no other worker has claimed. The last result completes it.
    fn clear(&mut self, chunk: &Shared<'_>) {
        while let Some(slot) = chunk.slots.claim() {
            let (dent, mut meta) = (&chunk.copied.dents[slot], Meta::default());
            self.asker.ask(dent.kind(), dent.c_name(chunk.copied.names()), &mut meta);
            if chunk.slots.publish(slot, meta) {
                let answers = (0..chunk.slots.len()).filter_map(|slot| chunk.slots.with(slot, mem::take));
                self.runs.push((chunk.start, answers.collect()));
            }
        }
    }
}

/// A running fill.
struct Fill<'r> {
    range: Range<Entries<'r>>,
    question: Question<'r>,
    workers: &'r dyn Workers,
    crew: Crew,
    /// The index for the texts of the next asker.
    askers: AtomicUsize,
    shared: Mutex<Vec<Arc<Shared<'r>>>>,
    /// Whether the workers of the strategy have begun.
    has_begun: AtomicBool,
    /// Whether replacements cannot open the directory.
    is_unreachable: AtomicBool,
    answers: Mutex<(SlotRuns, Harvest)>,
}

/// Requests the metadata of all entries. With a policy the strategy is chosen after a probe; else it is the given one. Returns
/// the strategy, and the error that ended the reading early.
pub(super) fn fill<'r>(
    entries: Entries<'r>,
    source: Option<Source<'r>>,
    mut question: Question<'r>,
    resources: &Resources<'r>,
    (policy, mut choice): (Option<&'static Policy>, Choice),
    metas: &mut Metas,
) -> (Harvest, Choice, Option<Errno>) {
    if let Some(policy) = policy {
        question.watch = resources.watchdog(policy);
    }
    // With a source, the number of entries is not known yet.
    let least = if source.is_some() { OVERLAP_FROM } else { 0 };
    let count = range::Names::len(&entries).max(least);
    let fill = Fill {
        range: Range::new(entries, source),
        question,
        workers: resources.workers,
        // The range reports its end.
        crew: Crew::new(Limit::open(), 1),
        askers: AtomicUsize::new(0),
        shared: Mutex::default(),
        has_begun: AtomicBool::new(false),
        is_unreachable: AtomicBool::new(false),
        answers: Mutex::default(),
    };
    let mut during = || {
        let mut cores = 1;
        if let Some(policy) = policy {
            let mut latency_ns = fill.probe(policy);
            if policy.interleave && resources.threads.asked().is_none() && !choose::is_round_trip(latency_ns)
            {
                latency_ns = fill.alternate(latency_ns);
                if !fill.range.has_more() {
                    return choice = choose::ALTERNATED;
                }
            }
            cores = resources.threads.count_for(count);
            choice = choose::choose(&resources.signals(count, cores, latency_ns, policy));
        }
        fill.run(choice.strategy, count, cores, policy);
    };
    match question.watch {
        None => during(),
        Some(watch) => {
            watch.want(0);
            resources.workers.with_replacements(&|| fill.has_work(), &|| fill.replace(), &mut during);
        }
    }
    resources.counter.iter().for_each(|counter| counter.note_in_flight(fill.crew.limit.highest()));
    let (mut runs, harvest) = fill.answers.into_inner();
    runs.sort_unstable_by_key(|(start, _)| *start);
    runs.into_iter().for_each(|(_, slots)| metas.append(slots));
    let failed = if let Entries::Unread(_, failed) = fill.range.into_names() { failed } else { None };
    (harvest, choice, failed)
}

impl<'r> Fill<'r> {
    /// Requests the metadata of the first entries on this thread. Returns the average latency between the last two clock readings.
    fn probe(&self, policy: &Policy) -> u64 {
        let (mut worker, mut claims) = (self.worker(None), claims(0, 0));
        // A clock reading takes as long as any cheap call.
        let before = clock::monotonic_ns();
        let (mut latency_ns, mut last) = (0, clock::monotonic_ns());
        let any_call_ns = last - before;
        for count in policy.looks() {
            claims.step = *count;
            // Replacements may have claimed all entries.
            let Some(claimed) = self.range.claim(&mut claims) else { break };
            self.ask(&mut worker, &claimed, &mut claims.copy);
            let now = clock::monotonic_ns();
            latency_ns = choose::latency_ns(now - last, *count, any_call_ns);
            last = now;
            // Only memory answers this fast: the probe can end.
            let sure = latency_ns < choose::FROM_MEMORY_NS;
            let is_far = choose::is_round_trip(latency_ns);
            if sure || if is_far { policy.believes_the_first_look() } else { policy.believes_a_fast_look() } {
                break;
            }
        }
        self.merge_into(worker);
        latency_ns
    }

    /// Reads and requests in turns on this thread: one buffer of names, then all of these, then the next buffer. So the client of a
    /// server sees that attributes are used, and fetches the next names together with them; a worker that read ahead would get
    /// names alone, and cost a request for each. Ends with the directory, or as soon as answers are round trips, and returns their
    /// latency. Measured on NFS: see docs/SLOW.md.
    fn alternate(&self, mut latency_ns: u64) -> u64 {
        let (mut worker, mut claims) = (self.worker(None), claims(CHUNK, 1));
        let (mut last, mut slow) = (clock::monotonic_ns(), 0);
        // Where a replacement reads, this thread is too late: the workers share the rest.
        while let Next::Task(task) = self.range.next(&mut claims) {
            match task {
                Task::Refill(source) => {
                    self.refill(source, self.question.dir);
                    last = clock::monotonic_ns();
                }
                Task::Ask(claimed) => {
                    self.ask(&mut worker, &claimed, &mut claims.copy);
                    let now = clock::monotonic_ns();
                    latency_ns = (now - mem::replace(&mut last, now)) / claimed.len() as u64;
                    slow = if choose::is_round_trip(latency_ns) { slow + 1 } else { 0 };
                    if slow == SLOW_CHUNKS {
                        break;
                    }
                }
            }
        }
        self.merge_into(worker);
        latency_ns
    }

    /// Requests the metadata of the remaining entries.
    fn run(&self, strategy: Strategy, count: usize, cores: usize, policy: Option<&Policy>) {
        let (threads, far) = match strategy {
            Strategy::Par(threads) => (threads.max(1), false),
            Strategy::Flight(threads) => (threads, true),
            Strategy::Classic | Strategy::Iou => (1, false),
        };
        // Smaller chunks for few entries, so that all workers have work to the end.
        let step = if far { 1 } else { (count / threads / 4).clamp(1, CHUNK).next_power_of_two() };
        if far {
            self.crew.limit.search(threads, cores, clock::monotonic_ns());
        }
        self.range.set_step(step);
        self.has_begun.store(true, Ordering::Relaxed);
        self.question.watch.iter().for_each(|watch| watch.want(0));
        let holds = far && policy.is_some_and(Policy::holds);
        // More names than the workers need while one of them reads a buffer: reading takes 0.3 µs for an entry, a request 2 µs.
        let low = 8 * step * threads;
        self.workers.run(threads, &|number| {
            let own = self.own_directory(number);
            let mut worker = self.worker(own.as_ref().map(AsFd::as_fd));
            if holds {
                worker.asker.hold();
            }
            self.work(&mut worker, low, far);
            self.clear_shared(&mut worker);
            self.merge_into(worker);
        });
    }

    /// The loop of a worker. If answers are round trips, it adjusts the limit.
    fn work(&self, worker: &mut Worker<'_>, low: usize, far: bool) {
        let (limit, mut streak) = (&self.crew.limit, Streak::default());
        self.crew.work(&self.range, &mut claims(CHUNK, low), |claims, task| match task {
            // By the descriptor that was used so far: a new one would start at the first entry.
            Task::Refill(source) => self.refill(source, self.question.dir),
            Task::Ask(claimed) => {
                let began_ns = if far { clock::monotonic_ns() } else { 0 };
                self.ask(worker, &claimed, &mut claims.copy);
                if far {
                    let more = limit.answered(claimed.len(), began_ns, clock::monotonic_ns(), &mut streak);
                    self.range.set_step(limit.step());
                    if more > 0 {
                        self.crew.announce(more);
                    }
                }
            }
        });
    }

    /// The loop of a replacement. It looks up a name once for all requests, which pays off if answers are slow.
    fn replace(&self) {
        let own = (!dir_is_cwd(self.question.dir)).then(|| dir::of_first_thread(self.question.dir));
        let Ok(own) = own.transpose() else { return self.is_unreachable.store(true, Ordering::Relaxed) };
        let mut worker = self.worker(own.as_ref().map(AsFd::as_fd));
        worker.asker.hold();
        let (mut claims, mut slow) = (claims(REPLACEMENT_STEP, REPLACEMENT_STEP), 0);
        loop {
            self.clear_shared(&mut worker);
            let claimed = match self.crew.next_beyond_limit(&self.range, &mut claims) {
                Some(Task::Ask(claimed)) => claimed,
                Some(Task::Refill(source)) => {
                    self.refill(source, worker.asker.question.dir);
                    continue;
                }
                None => break,
            };
            let began_ns = clock::monotonic_ns();
            self.ask(&mut worker, &claimed, &mut claims.copy);
            let each_ns = (clock::monotonic_ns() - began_ns) / claimed.len() as u64;
            slow = if choose::is_round_trip(each_ns) { slow + claimed.len() as u32 } else { 0 };
            if slow >= SLOW && !self.has_begun.load(Ordering::Relaxed) {
                // The thread that would have started as many workers is stuck.
                self.question.watch.iter().for_each(|watch| watch.want(FIRST));
            }
        }
        self.merge_into(worker);
    }

    /// Whether there is work for a replacement.
    fn has_work(&self) -> bool {
        let is_reachable = !self.is_unreachable.load(Ordering::Relaxed);
        is_reachable && (self.unclaimed().is_some() || self.range.has_more())
    }

    /// A worker, with its own descriptor of the directory if it has one.
    fn worker<'w>(&'w self, own: Option<BorrowedFd<'w>>) -> Worker<'w> {
        let question = Question { dir: own.unwrap_or(self.question.dir), ..self.question };
        let asker = Asker::new(question, self.askers.fetch_add(1, Ordering::Relaxed));
        question.watch.iter().for_each(|watch| watch.take(asker.seat));
        Worker { asker, runs: Vec::new() }
    }

    fn own_directory(&self, number: usize) -> Option<OwnedFd> {
        let shared = number > 0 && self.workers.share_descriptors() && !dir_is_cwd(self.question.dir);
        if shared { dir::open(self.question.dir, c".").ok() } else { None }
    }

    /// Reads one more buffer; other workers claim names meanwhile.
    fn refill(&self, (mut stream, filter): Source<'r>, dir: BorrowedFd<'_>) {
        let mut more = Batch::default();
        let answer = stream.read_by(dir, filter, &mut more);
        self.question.watch.iter().for_each(|watch| watch.add_read(more.len()));
        let rest = (answer == Ok(true)).then_some((stream, filter));
        self.range.refilled((more, answer), rest, &self.crew);
    }

    /// Requests the metadata of claimed entries. With a watch the chunk is shared, unless it is a single entry.
    fn ask(&self, worker: &mut Worker<'_>, claimed: &Claimed<usize>, copied: &mut ClaimedNames<'r>) {
        if self.question.watch.is_none() || claimed.len() < 2 {
            let slots = worker.asker.ask_all(&copied.dents, copied.names(), |_| true);
            return worker.runs.push((claimed.start, slots));
        }
        let slots = Chunk::new(claimed.clone().map(|_| Meta::default()));
        let chunk = Arc::new(Shared { start: claimed.start, copied: mem::take(copied), slots });
        let mut shared = self.shared.lock();
        shared.retain(|chunk| chunk.slots.unclaimed() > 0);
        shared.push(chunk.clone());
        drop(shared);
        worker.clear(&chunk);
    }

    /// A shared chunk with unclaimed entries.
    fn unclaimed(&self) -> Option<Arc<Shared<'r>>> {
        self.shared.lock().iter().find(|chunk| chunk.slots.unclaimed() > 0).cloned()
    }

    fn clear_shared(&self, worker: &mut Worker<'_>) {
        if self.question.watch.is_some() {
            while let Some(chunk) = self.unclaimed() {
                worker.clear(&chunk);
            }
        }
    }

    fn merge_into(&self, mut worker: Worker<'_>) {
        let mut answers = self.answers.lock();
        answers.0.append(&mut worker.runs);
        worker.asker.merge_into(&mut answers.1);
    }
}

fn claims<'r>(step: usize, low: usize) -> Claims<ClaimedNames<'r>> {
    Claims { step, low, copy: ClaimedNames::default() }
}
