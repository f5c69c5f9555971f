use crate::entry::View;
use crate::iter::IntoIter;
use crate::{Batch, Entry, Error, Pool, batch};
use dents_core::mounts::Mounts;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::read::{Filter, Hidden};
use dents_core::tree::{End, Flag, Follow, Options};
use dents_sys::{AsFd, CWD, Errno};
use std::cmp::Ordering;
use std::ffi::CString;
use std::num::NonZeroU32;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

pub(crate) type FilterFn = dyn Fn(&View<'_>) -> bool + Send + Sync;
pub(crate) type CompareFn = dyn Fn(&View<'_>, &View<'_>) -> Ordering + Send + Sync;

/// A walk over everything below one or more roots.
///
/// A root is an entry of depth 0. By default:
///
/// - A walk yields names and types only, of hidden files too.
/// - It follows a symbolic link only if the link is a root.
/// - It chooses the number of threads by the machine and the file system.
/// - A directory comes before its contents. Otherwise the order is unspecified, unless a `sort_by` method sets it. A
///   sorted walk enters one directory after the other; its threads read the next ones ahead.
///
/// ```
/// use dents::{Needs, Walk};
///
/// # fn main() -> Result<(), dents::Error> {
/// for entry in Walk::new("src").needs(Needs::SIZE | Needs::MTIME).sort_by_file_name() {
///     let entry = entry?;
///     println!("{:>12} {}", entry.size(), entry.path().display());
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a walk does nothing until it is iterated or run"]
#[derive(Clone)]
pub struct Walk {
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) needs: Needs,
    pub(crate) min_depth: usize,
    pub(crate) max_depth: usize,
    pub(crate) follow: bool,
    pub(crate) same_file_system: bool,
    pub(crate) hidden: bool,
    #[cfg(feature = "gitignore")]
    pub(crate) gitignore: bool,
    pub(crate) contents_first: bool,
    pub(crate) filter_entry: Option<Arc<FilterFn>>,
    pub(crate) compare: Option<Arc<CompareFn>>,
    pub(crate) threads: Option<usize>,
    pub(crate) pool: Option<Pool>,
    pub(crate) max_open: Option<usize>,
    pub(crate) rate: Option<NonZeroU32>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) cancel: Cancel,
}

impl Walk {
    /// A walk over `root` and everything below it.
    pub fn new(root: impl AsRef<Path>) -> Walk {
        Walk {
            roots: vec![root.as_ref().to_owned()],
            needs: Needs::TYPE,
            min_depth: 0,
            max_depth: usize::MAX,
            follow: false,
            same_file_system: false,
            hidden: false,
            #[cfg(feature = "gitignore")]
            gitignore: false,
            contents_first: false,
            filter_entry: None,
            compare: None,
            threads: None,
            pool: None,
            max_open: None,
            rate: None,
            timeout: None,
            cancel: Cancel::default(),
        }
    }

    /// Adds a root.
    #[expect(clippy::should_implement_trait, reason = "named as in `ignore`; it is not an addition")]
    pub fn add(mut self, root: impl AsRef<Path>) -> Walk {
        self.roots.push(root.as_ref().to_owned());
        self
    }

    /// Declares the facts that each entry must have, beside its name and type. Each entry then costs one `statx` for
    /// exactly these facts, made by the threads of the walk. Without this call an entry costs no `statx`.
    pub fn needs(mut self, needs: Needs) -> Walk {
        self.needs = needs | Needs::TYPE;
        self
    }

    /// Yields no entry with a depth smaller than this; roots have depth 0.
    pub fn min_depth(mut self, depth: usize) -> Walk {
        self.min_depth = depth;
        self
    }

    /// Yields no entry with a depth greater than this, and enters no directory at this depth.
    pub fn max_depth(mut self, depth: usize) -> Walk {
        self.max_depth = depth;
        self
    }

    /// If `yes`, follows symbolic links: enters the directories that they lead to, and reads the metadata of their
    /// targets. A link to a directory above it is an [`Error`] ([`Error::is_loop`]) and is not entered. Costs one
    /// more `statx` for each directory.
    pub fn follow_links(mut self, yes: bool) -> Walk {
        self.follow = yes;
        self
    }

    /// If `yes`, stays on the file system of each root: enters no directory on another file system.
    pub fn same_file_system(mut self, yes: bool) -> Walk {
        self.same_file_system = yes;
        self
    }

    /// If `yes`, leaves out entries whose names begin with a dot, and does not enter them. (The default is to yield
    /// them, unlike in `ignore`.) Roots are always yielded.
    pub fn hidden(mut self, yes: bool) -> Walk {
        self.hidden = yes;
        self
    }

    /// If `yes`, leaves out files that git ignores: by `.gitignore` and `.ignore` files up to the top of the
    /// repository, by `.git/info/exclude`, and by the user's global ignore file. Costs three system calls for each
    /// directory.
    #[cfg(feature = "gitignore")]
    pub fn gitignore(mut self, yes: bool) -> Walk {
        self.gitignore = yes;
        self
    }

    /// Leaves out entries for which `keep` returns false, and does not enter them. `keep` is called on the threads of
    /// the walk, or on the calling thread.
    ///
    /// ```
    /// let walk = dents::Walk::new("src").filter_entry(|entry| entry.file_name() != "target");
    /// assert!(walk.into_iter().all(|entry| entry.is_ok()));
    /// ```
    pub fn filter_entry(mut self, keep: impl Fn(&View<'_>) -> bool + Send + Sync + 'static) -> Walk {
        self.filter_entry = Some(Arc::new(keep));
        self
    }

    /// Sorts the entries of each directory by name, bytewise. Each directory comes directly before its contents.
    pub fn sort_by_file_name(self) -> Walk {
        self.sort_by(|one, other| one.file_name().cmp(other.file_name()))
    }

    /// Sorts the entries of each directory by a key. Each directory comes directly before its contents.
    pub fn sort_by_key<K: Ord>(self, key: impl Fn(&View<'_>) -> K + Send + Sync + 'static) -> Walk {
        self.sort_by(move |one, other| key(one).cmp(&key(other)))
    }

    /// Sorts the entries of each directory with `compare`. Each directory comes directly before its contents.
    pub fn sort_by(
        mut self,
        compare: impl Fn(&View<'_>, &View<'_>) -> Ordering + Send + Sync + 'static,
    ) -> Walk {
        self.compare = Some(Arc::new(compare));
        self
    }

    /// If `yes`, yields a directory after its contents, for example to delete a tree. Directories are entered one after the other, and
    /// the next ones are read ahead, as in a sorted walk; with [`threads(1)`](Self::threads) each is read when it is entered.
    pub fn contents_first(mut self, yes: bool) -> Walk {
        self.contents_first = yes;
        self
    }

    /// Sets the number of threads. By default there is one for each core where answers come from memory, and many
    /// where each answer is a round trip to a server. Walks by entries share the threads of a [`Pool`]: two walks with 8 threads have 8
    /// together. With 1 the walk runs on the calling thread and starts no thread.
    pub fn threads(mut self, threads: usize) -> Walk {
        self.threads = Some(threads.max(1));
        self
    }

    /// Walks by entries on the threads of this pool instead of the process's. The [threads](Self::threads) of the walk are at most those
    /// of the pool. ([`Walk::run`] starts threads of its own.)
    pub fn pool(mut self, pool: &Pool) -> Walk {
        self.pool = Some(pool.clone());
        self
    }

    /// Keeps at most so many directories open, at least four. Others are opened again by their paths, which costs time in deep trees, but no
    /// entry is lost. By default a walk on the calling thread, such as a sorted one, keeps 10 open, as `walkdir` does; one on several
    /// threads up to half of the process's limit while it runs, at most 1,024. With few, the walk has fewer threads: one for four
    /// descriptors.
    pub fn max_open(mut self, directories: usize) -> Walk {
        self.max_open = Some(directories.max(4));
        self
    }

    /// Limits the requests per second of all threads together, to spare a server.
    pub fn rate(mut self, requests_per_second: NonZeroU32) -> Walk {
        self.rate = Some(requests_per_second);
        self
    }

    /// Ends the walk after this time. Entries that were found until then are yielded. A request in flight is not
    /// interrupted.
    pub fn timeout(mut self, time: Duration) -> Walk {
        self.timeout = Some(time);
        self
    }

    /// Ends the walk when `cancel` is set, from any thread.
    pub fn cancel(mut self, cancel: &Cancel) -> Walk {
        self.cancel = cancel.clone();
        self
    }

    /// Runs the walk on several threads and passes each batch to a visitor without copying it. This is the fastest
    /// way to walk. `make` makes a visitor for each thread. A batch has the entries of one directory, or of a part of
    /// a large one. Batches come in any order, but the entry of a directory comes before its contents.
    ///
    /// ```
    /// use dents::{Batch, Needs, Step, Walk};
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// let sum = AtomicU64::new(0);
    /// let summary = Walk::new("src").needs(Needs::SIZE).run(|| {
    ///     |batch: &Batch| {
    ///         sum.fetch_add(batch.iter().map(|entry| entry.size()).sum(), Ordering::Relaxed);
    ///         Step::Enter
    ///     }
    /// });
    /// assert!(summary.is_complete() && sum.into_inner() > 0);
    /// ```
    pub fn run<F, V>(self, make: F) -> Summary
    where
        F: Fn() -> V + Sync,
        V: FnMut(&Batch<'_>) -> Step + Send,
    {
        batch::run(&self, &make)
    }

    pub(crate) fn is_ordered(&self) -> bool {
        self.compare.is_some() || self.contents_first
    }

    /// The roots, without those that no path can be because they contain a NUL.
    pub(crate) fn c_roots(&self) -> Vec<CString> {
        self.roots.iter().filter_map(|root| CString::new(root.as_os_str().as_bytes()).ok()).collect()
    }

    /// Whether the walk has one root and nothing is mounted below it.
    pub(crate) fn is_on_one_mount(&self) -> bool {
        let [root] = &self.c_roots()[..] else { return false };
        dents_sys::dir::open_place(CWD, root).is_ok_and(|root| !Mounts::default().any_below(root.as_fd()))
    }

    /// The errors of the other roots.
    pub(crate) fn invalid_roots(&self) -> impl Iterator<Item = Error> + '_ {
        let paths = self.roots.iter().map(|root| root.as_os_str().as_bytes());
        paths.filter(|path| path.contains(&0)).map(|path| Error::new(path, 0, Errno::INVAL))
    }

    /// The last item of a walk that ended so, if it did not reach its end and was not dropped.
    pub(crate) fn error_of_end(&self, end: End) -> Option<Error> {
        let root = self.roots.first()?;
        match end {
            End::Complete | End::Stopped => None,
            End::Cancelled => Some(Error::of_end(root, true)),
            End::Deadline => Some(Error::of_end(root, false)),
        }
    }

    pub(crate) fn core_needs(&self) -> NeedsByKind {
        core_needs(self.needs)
    }

    pub(crate) fn filter(&self) -> Filter {
        Filter { hidden: if self.hidden { Hidden::Skip } else { Hidden::AlmostAll }, ..Filter::default() }
    }

    pub(crate) fn options(&self) -> Options<'static> {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Options {
            needs: self.core_needs(),
            filter: self.filter(),
            max_depth: u32::try_from(self.max_depth).unwrap_or(u32::MAX),
            follow: if self.follow { Follow::Always } else { Follow::Operands },
            one_file_system: self.same_file_system,
            workers: self.threads,
            descriptors: self.max_open,
            rate: self.rate,
            deadline_ns: self.timeout.map(|time| dents_core::tree::deadline_in(nanoseconds(time))),
            cancel: Some(Flag::Shared(Arc::clone(&self.cancel.0))),
            ..Options::default()
        }
    }
}

/// More than one time needs an extra slot.
pub(crate) fn core_needs(needs: Needs) -> NeedsByKind {
    let needs = NeedsByKind::all(needs);
    if (needs.any() & Needs::TIMES).bits().count_ones() > 1 { needs.with_extra() } else { needs }
}

impl IntoIterator for Walk {
    type Item = Result<Entry, Error>;
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter::new(self)
    }
}

/// A token that ends a walk, from another thread, a thread that handles signals, or a callback.
///
/// ```
/// let cancel = dents::Cancel::default();
/// let mut walk = dents::Walk::new("/").cancel(&cancel).into_iter();
/// walk.next();
/// cancel.cancel();
/// assert!(walk.count() < 1_000_000);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(pub(crate) Arc<AtomicBool>);

impl Cancel {
    /// Ends all walks that have this token. Each thread stops after its request in flight.
    pub fn cancel(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether [`Cancel::cancel`] was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Relaxed)
    }
}

pub use dents_core::tree::Step;

/// The result of [`Walk::run`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// Entries yielded, roots among them.
    pub entries: u64,
    /// Directories opened.
    pub directories: u64,
    /// Entries whose `statx` failed, and directories that could not be opened or read.
    pub errors: u64,
    pub(crate) is_complete: bool,
}

impl Summary {
    /// Whether the walk reached its end: it was not stopped, cancelled or timed out. It may have errors.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}
