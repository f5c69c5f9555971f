//! The thread that walks the tree or reads the file, while another shows what it has found.

use super::Args;
use super::gather::{Root, Shared, Worker, needs};
use dents_commands::filter::Filter;
use dents_commands::output::Diagnostics;
use dents_commands::overlap::Overlap;
use dents_commands::session::{Host, Message, Session};
use dents_commands::source::{Gathered, Job, Opened, Special, Way};
use dents_core::needs::NeedsByKind;
use dents_core::tree::{End, Follow};
use dents_sink::read::Columns;
use std::ffi::CString;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many messages are kept; further ones are counted.
const KEPT: usize = 1000;

/// The messages of a walk, which the browser shows when it is asked.
#[derive(Default)]
pub(super) struct Messages {
    texts: Mutex<Vec<Vec<u8>>>,
    pub(super) count: AtomicU64,
}

impl Messages {
    pub(super) fn texts(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, text: &[u8]) {
        self.count.fetch_add(1, Relaxed);
        let mut texts = self.texts();
        if texts.len() < KEPT {
            texts.push(text.to_vec());
        }
    }
}

/// Passes messages on to [`Messages`].
pub(super) struct Listener(pub(super) Arc<Messages>);

impl Host for Listener {
    fn message(&self, message: &Message<'_>) {
        self.0.add(message.text);
    }
}

/// A directory that is walked again.
pub(super) struct Again {
    pub(super) root: Root,
    pub(super) path: CString,
}

/// What the scanner does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Scanning,
    Complete,
    /// It was stopped, or a PATH or the file could not be read to its end.
    Incomplete,
}

/// The scanner, as the other thread sees it.
pub(super) struct Scanner {
    /// A deletion reads it on a thread of its own.
    pub(super) shared: Arc<Shared>,
    pub(super) messages: Arc<Messages>,
    pub(super) session: Session,
    /// The number of walks that were requested and have not ended.
    pending: AtomicUsize,
    incomplete: AtomicUsize,
}

impl Scanner {
    pub(super) fn new() -> Scanner {
        let messages = Arc::new(Messages::default());
        let session = Session::inside(Listener(Arc::clone(&messages)));
        Scanner {
            shared: Arc::new(Shared::new()),
            messages,
            session,
            pending: AtomicUsize::new(1),
            incomplete: AtomicUsize::new(0),
        }
    }

    /// For a test: nothing more will come.
    #[cfg(test)]
    pub(super) fn complete(&self) {
        self.end(true);
    }

    /// To be called before a walk is requested.
    pub(super) fn expect(&self) {
        self.pending.fetch_add(1, Relaxed);
    }

    pub(super) fn state(&self) -> State {
        match (self.pending.load(Relaxed), self.incomplete.load(Relaxed)) {
            (0, 0) => State::Complete,
            (0, _) => State::Incomplete,
            _ => State::Scanning,
        }
    }

    /// Scans what the command line names, and then what is requested.
    pub(super) fn run(
        &self,
        args: &Args,
        filter: &Filter<'_>,
        file: Option<Opened<'_>>,
        requests: &Receiver<Again>,
    ) {
        let whole = match file {
            Some(opened) => self.read(args, filter, opened),
            None => self.walk(args, filter, None),
        };
        self.end(whole);
        for again in requests {
            let whole = self.walk(args, filter, Some(&again));
            self.end(whole);
        }
    }

    fn end(&self, whole: bool) {
        self.incomplete.fetch_add(usize::from(!whole), Relaxed);
        self.shared.lock().version += 1;
        self.pending.fetch_sub(1, Relaxed);
    }

    /// Returns whether the walk reached its end.
    fn walk(&self, args: &Args, filter: &Filter<'_>, again: Option<&Again>) -> bool {
        let diagnostics = Diagnostics::begin(&self.session);
        let operands = Root::Operands;
        let (root, paths) = match again {
            Some(again) => (&again.root, vec![again.path.clone()]),
            None => (&operands, args.walk.paths()),
        };
        let overlap = Overlap::new(&paths, args.walk.follow());
        let (walk, source) = (&args.walk, &args.source);
        let job = Job {
            walk,
            source,
            filter,
            diagnostics: &diagnostics,
            needs: needs(),
            must: NeedsByKind::default(),
        };
        let Gathered { end, root_failed, .. } =
            job.walk(&Special::of_paths(&paths), || Worker::new(&self.shared, &overlap, root));
        end == End::Complete && !root_failed
    }

    fn read(&self, args: &Args, filter: &Filter<'_>, opened: Opened<'_>) -> bool {
        let diagnostics = Diagnostics::begin(&self.session);
        let (root, overlap) = (Root::Operands, Overlap::new(&[], Follow::Never));
        let (walk, source) = (&args.walk, &args.source);
        let job = Job {
            walk,
            source,
            filter,
            diagnostics: &diagnostics,
            needs: needs(),
            must: NeedsByKind::default(),
        };
        let way = Way::once(Columns::PATH | Columns::NAME | Columns::USER | Columns::GROUP);
        let read = job.read(opened, &way, || Worker::new(&self.shared, &overlap, &root));
        read.is_ok_and(|gathered| gathered.end == End::Complete) && diagnostics.may_be_partial().is_none()
    }
}
