//! The question "is this a directory?", asked of many names.

use super::{Class, Options, Savings, Tricks};
use crate::batch::Batch;
use crate::needs::Kind;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use dents_sys::stat::{self, Flags, Mask};
use dents_sys::statfs::FsType;
use dents_sys::{AsFd, BorrowedFd, Errno, clock, dir};

/// Asked on one thread before others are thought of. Starting one costs about as much as 40 warm answers.
const ALONE: usize = 32;

/// From this latency on, or from this many names on, threads are worth their start.
const SLOW_NS: u64 = 20_000;
const MANY: usize = 512;

/// File systems where looking for `name/.` may mount something: a trigger inside a path is walked through, and
/// `AT_NO_AUTOMOUNT` is about the last component only.
const MOUNTING: [FsType; 6] =
    [FsType::AUTOFS, FsType::NFS, FsType::AFS, FsType::CIFS, FsType::SMB2, FsType::OPENAFS];

/// Asks on behalf of one scan.
pub(super) struct Prober<'a> {
    directory: BorrowedFd<'a>,
    batch: &'a Batch,
    options: &'a Options<'a>,
    dot: bool,
}

/// What is shared among those who ask.
struct Questions<'a> {
    order: &'a [u32],
    answers: Vec<AtomicU8>,
    next: AtomicUsize,
    /// Directories still to be found.
    left: AtomicUsize,
    tally: Tally,
}

#[derive(Default)]
struct Tally {
    by_dot: AtomicU64,
    dots: AtomicU64,
    stats: AtomicU64,
}

impl<'a> Prober<'a> {
    pub(super) fn new(
        directory: BorrowedFd<'a>,
        batch: &'a Batch,
        options: &'a Options<'a>,
        fs: FsType,
    ) -> Self {
        let dot = options.tricks.contains(Tricks::DOT) && !MOUNTING.contains(&fs);
        Prober { directory, batch, options, dot }
    }

    /// Asks in this order until `left` more directories are found; answers how many were asked.
    pub(super) fn ask(
        &self,
        order: &[u32],
        left: usize,
        classes: &mut [Class],
        savings: &mut Savings,
    ) -> usize {
        let questions = Questions {
            order,
            answers: order.iter().map(|_| AtomicU8::new(Class::Unknown as u8)).collect(),
            next: AtomicUsize::new(0),
            left: AtomicUsize::new(left),
            tally: Tally::default(),
        };
        let started = clock::monotonic_ns();
        self.work(self.directory, &questions, ALONE);
        let asked = questions.next.load(Relaxed).max(1);
        let latency = (clock::monotonic_ns() - started) / asked as u64;
        let remaining = order.len().saturating_sub(asked);
        match self.options.workers {
            Some(workers) if remaining > 0 && (latency > SLOW_NS || remaining > MANY) => {
                let threads = self.options.max_requests.clamp(1, remaining);
                workers.run(threads, &|worker| {
                    // A shared descriptor's reference count would move from core to core with every question.
                    let own = (worker > 0 && workers.share_descriptors())
                        .then(|| dir::open(self.directory, c".").ok())
                        .flatten();
                    let directory = own.as_ref().map_or(self.directory, |own| own.as_fd());
                    self.work(directory, &questions, usize::MAX);
                });
            }
            _ => self.work(self.directory, &questions, usize::MAX),
        }
        let asked = questions.next.into_inner().min(order.len());
        for (index, answer) in order.iter().zip(&questions.answers).take(asked) {
            classes[*index as usize] = match answer.load(Relaxed) {
                0 => Class::Directory,
                1 => Class::Other,
                _ => Class::Unknown,
            };
        }
        savings.by_dot += questions.tally.by_dot.into_inner();
        savings.dots += questions.tally.dots.into_inner();
        savings.stats += questions.tally.stats.into_inner();
        asked
    }

    /// Takes questions until there are none, enough directories are found, or so many were taken.
    fn work(&self, directory: BorrowedFd<'_>, questions: &Questions<'_>, most: usize) {
        let mut name = Vec::new();
        for _ in 0..most {
            if questions.left.load(Relaxed) == 0 {
                return;
            }
            let at = questions.next.fetch_add(1, Relaxed);
            let Some(index) = questions.order.get(at) else { return };
            let entry = self.batch.entry(*index as usize);
            let class = self.class(directory, entry.c_name(), &mut name, &questions.tally);
            questions.answers[at].store(class as u8, Relaxed);
            if class == Class::Directory {
                // Several may be found at once; what is left never falls below zero.
                let _ = questions.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
            }
        }
    }

    fn class(&self, directory: BorrowedFd<'_>, name: &CStr, path: &mut Vec<u8>, tally: &Tally) -> Class {
        if self.dot {
            path.clear();
            path.extend_from_slice(name.to_bytes());
            path.extend_from_slice(b"/.\0");
            let Ok(path) = CStr::from_bytes_with_nul(path) else { return Class::Unknown };
            tally.dots.fetch_add(1, Relaxed);
            // ENOTDIR: it is there, and neither a directory nor a link to one. Anything else may be a directory, a link to
            // one or one that dangles, a directory that may not be searched, or gone.
            let found = stat::statx(directory, path, Flags::NO_AUTOMOUNT, Mask::TYPE);
            if found.err() == Some(Errno::NOTDIR) {
                tally.by_dot.fetch_add(1, Relaxed);
                return Class::Other;
            }
        }
        tally.stats.fetch_add(1, Relaxed);
        match stat::statx(directory, name, Flags::NO_AUTOMOUNT | Flags::NOFOLLOW, Mask::TYPE) {
            Ok(statx) if Kind::from_mode(statx.mode() as u16) == Kind::Dir => Class::Directory,
            Ok(_) => Class::Other,
            Err(_) => Class::Unknown,
        }
    }
}
