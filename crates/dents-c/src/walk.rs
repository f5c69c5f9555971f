//! Walks: the crate `dents` for C. A walk lends its entry to the caller, so an entry costs C no allocation.

use crate::entry::{DENTS_LINK, FACTS, dents_entry, facts_of};
use crate::strings;
use dents::{Cancel, Entry, Error, IntoIter, Needs, Walk};
use dents_sys::Errno;
use std::ffi::{CStr, OsStr, c_char, c_int};
use std::num::NonZeroU32;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Follow symbolic links: enter the directories that they lead to, and return the facts of their targets. One more statx for each
/// directory. A link to a directory above it is an entry first, and an error with errnum ELOOP later; it is not entered.
pub const DENTS_FOLLOW_LINKS: u32 = 1;
/// Stay on the file system of each root: enter no directory on another one.
pub const DENTS_SAME_FILE_SYSTEM: u32 = 2;
/// Leave out entries whose names begin with a dot, and do not enter them. Roots are always returned.
pub const DENTS_SKIP_HIDDEN: u32 = 4;
/// Sort the entries of each directory by name, bytewise; the contents of a directory come directly after it. The walk enters
/// one directory after the other.
pub const DENTS_SORT: u32 = 8;
/// Return a directory after its contents. The walk enters one directory after the other.
pub const DENTS_CONTENTS_FIRST: u32 = 16;

const FLAGS: u32 =
    DENTS_FOLLOW_LINKS | DENTS_SAME_FILE_SYSTEM | DENTS_SKIP_HIDDEN | DENTS_SORT | DENTS_CONTENTS_FIRST;

/// The options of a walk. All are 0 by default: { 0 } in C, {} in C++.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct dents_walk_options {
    /// The facts that each entry must have beside its name and type: DENTS_SIZE | DENTS_MTIME. All facts together, without DENTS_LINK,
    /// cost one statx for each entry, with exactly the mask that they need. 0: no statx.
    pub facts: u32,
    /// DENTS_SKIP_HIDDEN and others.
    pub flags: u32,
    /// Return no entry with a smaller depth. A root has depth 0, the entries of a root have depth 1.
    pub min_depth: u32,
    /// Return no entry with a greater depth, and enter no directory at this depth. 0: no limit.
    pub max_depth: u32,
    /// The number of threads. 0: one for each core where answers come from memory, more where each answer is a round trip to a server.
    /// 1: dents_walk_next does the work, and no thread is started.
    pub threads: u32,
    /// The limit of requests per second, of all threads together. 0: no limit.
    pub rate: u32,
    /// End the walk after this time in milliseconds; a request in flight is not interrupted. 0: no limit.
    pub timeout_ms: u32,
}

/// A walk over everything below some roots.
///
/// dents_walk_cancel may be called from any thread, also while another thread is in dents_walk_next. All other functions may be called
/// from any thread, but not by two at the same time with the same walk: the second would wait, and then replace the entry of the first.
/// Different walks are independent.
///
///     const char *roots[] = { "/usr", NULL };
///     struct dents_walk_options options = { .facts = DENTS_SIZE };
///     struct dents_walk *walk;
///     const struct dents_entry *entry;
///     if (dents_walk_open(&walk, roots, &options) == 0) {
///         while ((entry = dents_walk_next(walk)))
///             if (entry->errnum == 0)
///                 printf("%s %" PRIu64 "\n", entry->path, entry->size);
///         dents_walk_close(walk);
///     }
pub struct dents_walk {
    facts: u32,
    cancel: Cancel,
    /// Locked by all functions but `dents_walk_cancel`, so that a second thread waits.
    state: Mutex<State>,
}

struct State {
    /// None from the end of the walk on: its threads are gone then.
    entries: Option<IntoIter>,
    /// The reason for an early end.
    error: c_int,
    now: dents_entry,
    /// What `now` points to.
    path: Vec<u8>,
    name: Vec<u8>,
    link: Vec<u8>,
}

/// A walk may go from thread to thread between two calls.
const fn may_change_threads<T: Send>() {}
const _: () = may_change_threads::<(IntoIter, Cancel)>();

/// Starts a walk. Its threads read directories from now on. They wait if the caller takes no entries, so that memory is bounded.
///
/// `roots` are paths, and end with NULL: { "/usr", "/home", NULL }. A root that is a symbolic link is followed. `options` may be NULL:
/// names and types alone, hidden files too, no limit. A directory costs openat, getdents64 once or twice, and close; facts
/// cost what dents_walk_options says.
///
/// Returns 0 and writes the walk to `walk`; dents_walk_close must free it. Returns EINVAL, and writes NULL, if there is no root, or if the
/// options have unknown facts or flags; EINVAL if `walk` is NULL. A root that cannot be opened is no such error: dents_walk_next returns it.
///
/// # Safety
/// `walk` is NULL or can be written. `roots` is NULL or an array of strings that ends with NULL. `options` is NULL or points to options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_walk_open(
    walk: *mut *mut dents_walk,
    roots: *const *const c_char,
    options: *const dents_walk_options,
) -> c_int {
    if walk.is_null() {
        return Errno::INVAL.raw_os_error();
    }
    // SAFETY: the caller's promises; `walk` and `options` are not NULL where they are used.
    let (roots, options) = unsafe {
        walk.write(null_mut());
        (strings(roots), options.as_ref().copied().unwrap_or_default())
    };
    match catch_unwind(|| begin(&roots, &options)) {
        Ok(Some(begun)) => {
            // SAFETY: it is not NULL, so it can be written.
            unsafe { walk.write(Box::into_raw(Box::new(begun))) };
            0
        }
        Ok(None) => Errno::INVAL.raw_os_error(),
        Err(_) => Errno::NOTRECOVERABLE.raw_os_error(),
    }
}

/// `None` without a root, or with unknown options.
fn begin(roots: &[&CStr], options: &dents_walk_options) -> Option<dents_walk> {
    let known = FACTS.iter().fold(0, |known, (fact, _)| known | fact);
    if options.facts & !known != 0 || options.flags & !FLAGS != 0 {
        return None;
    }
    let (first, others) = roots.split_first()?;
    let path = |root: &CStr| Path::new(OsStr::from_bytes(root.to_bytes())).to_owned();
    let has = |flag| options.flags & flag != 0;
    let needs = FACTS.iter().filter(|(fact, _)| options.facts & fact != 0);
    let cancel = Cancel::default();
    let mut walk = others.iter().fold(Walk::new(path(first)), |walk, root| walk.add(path(root)));
    walk = walk
        .needs(needs.fold(Needs::TYPE, |needs, (_, need)| needs | *need))
        .min_depth(options.min_depth as usize)
        .follow_links(has(DENTS_FOLLOW_LINKS))
        .same_file_system(has(DENTS_SAME_FILE_SYSTEM))
        .hidden(has(DENTS_SKIP_HIDDEN))
        .contents_first(has(DENTS_CONTENTS_FIRST))
        .cancel(&cancel);
    if has(DENTS_SORT) {
        walk = walk.sort_by_file_name();
    }
    if options.max_depth > 0 {
        walk = walk.max_depth(options.max_depth as usize);
    }
    if options.threads > 0 {
        walk = walk.threads(options.threads as usize);
    }
    if let Some(rate) = NonZeroU32::new(options.rate) {
        walk = walk.rate(rate);
    }
    if options.timeout_ms > 0 {
        walk = walk.timeout(Duration::from_millis(options.timeout_ms.into()));
    }
    Some(dents_walk { facts: options.facts, cancel, state: Mutex::new(State::new(walk.into_iter())) })
}

/// Returns the next entry, or the next error of a file or directory (see errnum), which does not end the walk. A directory comes before
/// its contents, unless DENTS_CONTENTS_FIRST is set; otherwise the order is not specified, unless DENTS_SORT is set.
///
/// Returns NULL at the end, and from then on. Then dents_walk_error says whether everything was seen. NULL if `walk` is NULL.
///
/// # Safety
/// `walk` is NULL or a walk that was not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_walk_next(walk: *mut dents_walk) -> *const dents_entry {
    // SAFETY: the caller's promise.
    let Some(walk) = (unsafe { walk.as_ref() }) else { return null() };
    walk.with(|state| match catch_unwind(AssertUnwindSafe(|| state.advance(walk.facts))) {
        Ok(true) => &raw const state.now,
        Ok(false) => null(),
        Err(_) => {
            state.end(Errno::NOTRECOVERABLE.raw_os_error());
            null()
        }
    })
}

/// Leaves out what is left of a directory: of the directory that dents_walk_next returned last; if the last entry was no directory, of
/// the one that contains it. Nothing more from there, or from below, is returned. Threads may have read some of it before. Does nothing
/// before the first entry, after the end, or if `walk` is NULL.
///
/// # Safety
/// As for dents_walk_next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_walk_skip(walk: *mut dents_walk) {
    // SAFETY: the caller's promise.
    let Some(walk) = (unsafe { walk.as_ref() }) else { return };
    walk.with(|state| {
        let skip = || state.entries.as_mut().map(IntoIter::skip_current_dir);
        if catch_unwind(AssertUnwindSafe(skip)).is_err() {
            state.end(Errno::NOTRECOVERABLE.raw_os_error());
        }
    });
}

/// Ends a walk, from any thread or from a signal handler: its threads stop after their requests in flight. Entries that were found before
/// may still be returned. Does nothing if `walk` is NULL.
///
/// # Safety
/// As for dents_walk_next; dents_walk_close was not called yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_walk_cancel(walk: *const dents_walk) {
    // SAFETY: the caller's promise.
    if let Some(walk) = unsafe { walk.as_ref() } {
        walk.cancel.cancel();
    }
}

/// Returns why the walk ended before everything was seen: ECANCELED after dents_walk_cancel, ETIMEDOUT after timeout_ms, ENOTRECOVERABLE
/// after a panic in the library, which is a bug. Returns 0 if dents_walk_next has not returned NULL, or if everything was seen but
/// entries with an errnum; EINVAL if `walk` is NULL.
///
/// # Safety
/// As for dents_walk_next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_walk_error(walk: *const dents_walk) -> c_int {
    // SAFETY: the caller's promise.
    let walk = unsafe { walk.as_ref() };
    walk.map_or(Errno::INVAL.raw_os_error(), |walk| walk.with(|state| state.error))
}

/// Ends a walk, at its end or before, and frees it with its entry. Waits until the request in flight of each thread is answered. NULL is
/// allowed.
///
/// # Safety
/// `walk` is NULL or a walk that was not closed, and no other thread uses it. Any use of the walk or its entry after this call is
/// undefined, as after free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_walk_close(walk: *mut dents_walk) {
    if !walk.is_null() {
        // SAFETY: it came from `dents_walk_open`, and is not used any more.
        let walk = unsafe { Box::from_raw(walk) };
        walk.with(|state| state.end(0));
    }
}

impl dents_walk {
    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn new(entries: IntoIter) -> State {
        let (path, name, link) = (Vec::new(), Vec::new(), Vec::new());
        State { entries: Some(entries), error: 0, now: dents_entry::default(), path, name, link }
    }

    /// Ends the walk, so that its threads and descriptors are gone.
    fn end(&mut self, error: c_int) {
        self.error = error;
        let entries = self.entries.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(entries)));
    }

    /// Puts the next entry into `now`. Returns false at the end.
    fn advance(&mut self, facts: u32) -> bool {
        match self.entries.as_mut().and_then(IntoIter::next) {
            Some(Ok(entry)) => self.take_entry(&entry, facts),
            Some(Err(error)) if error.is_cancelled() || error.is_timeout() => {
                self.end(errno_of(&error));
                return false;
            }
            Some(Err(error)) => self.take_error(&error),
            None if self.entries.is_some() => {
                self.end(0);
                return false;
            }
            None => return false,
        }
        true
    }

    fn take_entry(&mut self, entry: &Entry, facts: u32) {
        let view = entry.view();
        self.now = facts_of(&view, facts);
        self.spell(view.path().as_os_str().as_bytes(), view.file_name().as_bytes());
        let link = if facts & DENTS_LINK != 0 { view.link() } else { None };
        match link {
            Some(text) => self.now.link = spell(&mut self.link, text.as_os_str().as_bytes()),
            None => self.now.facts &= !DENTS_LINK,
        }
    }

    fn take_error(&mut self, error: &Error) {
        let depth = u32::try_from(error.depth()).unwrap_or(u32::MAX);
        self.now = dents_entry { depth, errnum: errno_of(error), ..dents_entry::default() };
        let path = error.path();
        let name = path.file_name().unwrap_or(path.as_os_str());
        self.spell(path.as_os_str().as_bytes(), name.as_bytes());
    }

    /// The name is the end of the path, but for a root that ends with a slash.
    fn spell(&mut self, path: &[u8], name: &[u8]) {
        self.now.path = spell(&mut self.path, path);
        self.now.name = match path.strip_suffix(name) {
            Some(before) => self.path[before.len()..].as_ptr().cast(),
            None => spell(&mut self.name, name),
        };
    }
}

/// Puts `text` and a NUL into `place`; the kernel returns no text with a NUL.
fn spell(place: &mut Vec<u8>, text: &[u8]) -> *const c_char {
    place.clear();
    place.reserve(text.len() + 1);
    place.extend_from_slice(text);
    place.push(0);
    place.as_ptr().cast()
}

/// Every error of a walk has a number.
fn errno_of(error: &Error) -> c_int {
    error.errno().unwrap_or(Errno::IO.raw_os_error())
}
