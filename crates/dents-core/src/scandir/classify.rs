//! Finds out which names are directories.

use super::options::{Options, Tricks};
use crate::batch::Batch;
use crate::lock::Mutex;
use crate::needs::Kind;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use dents_engine::board::Chunk;
use dents_engine::crew::{Crew, Next, Order, alone};
use dents_engine::limit::Limit;
use dents_sys::stat::{self, Flags, Mask};
use dents_sys::statfs::FsType;
use dents_sys::{AsFd, BorrowedFd, Errno, clock, dir};

/// Requests on one thread before others are started. Starting one costs about as much as 40 warm answers.
const ALONE: usize = 32;

/// From this latency or this many names on, starting threads pays off.
const SLOW_NS: u64 = 20_000;
const MANY: usize = 512;

/// File systems where looking up `name/.` may mount something: automount points inside a path are followed, and
/// `AT_NO_AUTOMOUNT` applies only to the last component.
const MOUNTING: [FsType; 6] =
    [FsType::AUTOFS, FsType::NFS, FsType::AFS, FsType::CIFS, FsType::SMB2, FsType::OPENAFS];

/// Names to stat, in order, until `left` directories are found.
struct Candidates<'a> {
    batch: &'a Batch,
    order: &'a [u32],
    /// Whether to try `name/.` first.
    dot: bool,
    answers: Chunk<Class>,
    /// Directories not yet found.
    left: AtomicUsize,
}

/// The result for an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    Directory = 0,
    Other = 1,
    Unknown = 2,
}

/// The requests of a scan, and those that each trick saved. A scan without tricks costs one request for each entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Savings {
    /// Entries, without `.` and `..`.
    pub entries: u64,
    /// Entries whose type came with their name: saved by [`Tricks::D_TYPE`].
    pub by_d_type: u64,
    /// Entries without a request because all subdirectories were found: saved by [`Tricks::NLINK`] and the order.
    pub by_nlink: u64,
    /// Entries that `name/.` showed not to be a directory, without fetching the inode: saved by [`Tricks::DOT`].
    pub by_dot: u64,
    /// Requests for `name/.`.
    pub dots: u64,
    /// `statx` of entries.
    pub stats: u64,
    /// `statx` and `fstatfs` of the directory itself.
    pub directory_stats: u64,
    /// Whether the link count was discarded in the end, because the directory changed.
    pub changed: bool,
}

impl Savings {
    /// Adds the requests of one worker.
    fn add(&mut self, worker: &Savings) {
        self.by_dot += worker.by_dot;
        self.dots += worker.dots;
        self.stats += worker.stats;
    }
}

/// A worker's own state.
struct Classifier<'a> {
    directory: BorrowedFd<'a>,
    path: Vec<u8>,
    savings: Savings,
}

impl<'a> Classifier<'a> {
    fn new(directory: BorrowedFd<'a>) -> Classifier<'a> {
        Classifier { directory, path: Vec::new(), savings: Savings::default() }
    }
}

impl<'a> Order for Candidates<'a> {
    type Task = usize;
    type Local = Classifier<'a>;

    fn next(&self, _: &mut Classifier<'a>) -> Next<usize> {
        let slot = if self.left.load(Relaxed) == 0 { None } else { self.answers.claim() };
        slot.map_or(Next::End, Next::Task)
    }
}

/// Stats names in this order until `left` more directories are found. Returns the number of names that were stat'ed.
pub(super) fn classify(
    directory: BorrowedFd<'_>,
    batch: &Batch,
    (options, fs): (&Options<'_>, FsType),
    (order, left): (&[u32], usize),
    classes: &mut [Class],
    savings: &mut Savings,
) -> usize {
    let dot = options.tricks.contains(Tricks::DOT) && !MOUNTING.contains(&fs);
    let answers = Chunk::new(order.iter().map(|_| Class::Unknown));
    let candidates = Candidates { batch, order, dot, answers, left: AtomicUsize::new(left) };
    let execute = |classifier: &mut Classifier<'_>, slot| candidates.answer(classifier, slot);
    let mut classifier = Classifier::new(directory);
    let started = clock::monotonic_ns();
    for _ in 0..ALONE {
        let Next::Task(slot) = candidates.next(&mut classifier) else { break };
        execute(&mut classifier, slot);
    }
    let remaining = candidates.answers.unclaimed();
    let latency = (clock::monotonic_ns() - started) / (order.len() - remaining).max(1) as u64;
    let all = Mutex::new(Savings::default());
    match options.workers {
        Some(workers) if remaining > 0 && (latency > SLOW_NS || remaining > MANY) => {
            let crew = Crew::new(Limit::fixed(), 0);
            workers.run(options.max_requests.clamp(1, remaining), &|worker| {
                // With a shared descriptor, each request would move its reference count from core to core.
                let is_shared = worker > 0 && workers.share_descriptors();
                let own = if is_shared { dir::open(directory, c".").ok() } else { None };
                let directory = own.as_ref().map_or(directory, |own| own.as_fd());
                let mut classifier = Classifier::new(directory);
                crew.work(&candidates, &mut classifier, execute);
                all.lock().add(&classifier.savings);
            });
        }
        _ => alone(&candidates, &mut classifier, execute),
    }
    savings.add(&classifier.savings);
    savings.add(&all.into_inner());
    let asked = order.len() - candidates.answers.unclaimed();
    for (index, class) in order.iter().zip(candidates.answers.into_answers()).take(asked) {
        classes[*index as usize] = class;
    }
    asked
}

impl Candidates<'_> {
    fn answer(&self, classifier: &mut Classifier<'_>, slot: usize) {
        let name = self.batch.entry(self.order[slot] as usize).c_name();
        let class = self.class(classifier, name);
        self.answers.publish(slot, class);
        if class == Class::Directory {
            // Several may be found at once; `left` must not go below zero.
            let _ = self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        }
    }

    fn class(&self, classifier: &mut Classifier<'_>, name: &CStr) -> Class {
        let Classifier { directory, path, savings, .. } = classifier;
        if self.dot {
            path.clear();
            path.extend_from_slice(name.to_bytes());
            path.extend_from_slice(b"/.\0");
            let Ok(path) = CStr::from_bytes_with_nul(path) else { return Class::Unknown };
            savings.dots += 1;
            // ENOTDIR: it exists and is neither a directory nor a link to one. With any other error it may be a
            // directory, a link to one, a dangling link, a directory without search permission, or gone.
            let found = stat::statx(*directory, path, Flags::NO_AUTOMOUNT, Mask::TYPE);
            if found.err() == Some(Errno::NOTDIR) {
                savings.by_dot += 1;
                return Class::Other;
            }
        }
        savings.stats += 1;
        match stat::statx(*directory, name, Flags::NO_AUTOMOUNT | Flags::NOFOLLOW, Mask::TYPE) {
            Ok(statx) if Kind::from_mode(statx.mode() as u16) == Kind::Dir => Class::Directory,
            Ok(_) => Class::Other,
            Err(_) => Class::Unknown,
        }
    }
}
