//! What all stages share: the plan, the system, and the files and threads that a listing opens, reads or starts at
//! their first use and keeps to its end.

use super::timeout::Timeout;
use crate::output::Output;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::system::System;
use crate::timing::Timing;
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::cell::OnceCell;
use core::sync::atomic::AtomicU8;
use dents_core::batch::Batch;
use dents_core::deadline::Deadline;
use dents_core::mounts::Mounts;
use dents_core::owners::Owners;
use dents_core::stat::request_counts::RequestCounter;
use dents_core::stat::{Mode, Resources, Threads};
use dents_core::team::Team;
use dents_core::watchdog::Watch;
use dents_render::Zone;
use dents_sys::clock;

/// The number of entries from which several threads sort and render.
const LARGE: usize = 16_384;

/// The data that the stages share. None of them changes it.
pub(crate) struct Session<'l> {
    pub(super) system: &'l System<'l>,
    pub(super) plan: &'l Plan<'l>,
    /// The number of threads.
    pub(super) threads: Threads,
    /// The tables that determine the order of names; `None` for the order of bytes.
    pub(super) collate: Option<&'static [AtomicU8]>,
    /// Mount points: one file, read at its first use.
    pub(super) mounts: Mounts,
    /// The requests about entries, for `--explain`.
    pub(super) counter: Option<Box<RequestCounter>>,
    pub(super) timing: Timing,
    /// The deadline, and the agent that makes requests until then.
    pub(super) timeout: Option<Timeout>,
    zone: OnceCell<Arc<Zone>>,
}

impl<'l> Session<'l> {
    /// Opens and starts nothing.
    pub(crate) fn new(
        system: &'l System<'l>,
        plan: &'l Plan<'l>,
        collate: Option<&'static [AtomicU8]>,
        progress: Option<&'static Progress>,
    ) -> Session<'l> {
        let watch: Option<&'static Watch> = progress.map(Progress::watch);
        let is_timed = plan.timing || plan.explain.is_some();
        Session {
            system,
            plan,
            threads: Threads::new(plan.threads).in_flight(plan.in_flight).watched(watch),
            collate,
            mounts: Mounts::default(),
            counter: plan.explain.is_some().then(Box::default),
            timing: if is_timed { Timing::on(clock::monotonic_ns, progress) } else { Timing::off(progress) },
            timeout: None,
            zone: OnceCell::new(),
        }
    }

    /// Starts what must be running before the first request. If there is a timeout, the agent makes all requests from
    /// here on.
    pub(super) fn start(&mut self, out: &mut Output<'_>) {
        self.read_ahead();
        if let Some(timeout_ns) = self.plan.timeout_ns {
            let watch = self.threads.watching();
            self.timeout = Timeout::start(self.plan, self.system, watch, timeout_ns, out);
        }
    }

    /// Starts to read the files of a long listing, in the mode that makes the fewest calls: one call reads all of
    /// them.
    fn read_ahead(&self) {
        let Session { plan, system, .. } = self;
        if plan.mode == Mode::Iou && plan.shows_times {
            let owners = if plan.names.is_empty() { &[][..] } else { &Owners::FILES };
            let zone = plan.zone.path().filter(|_| plan.shows_dates());
            zone.into_iter().for_each(|path| system.rings.read_ahead(path.into(), Zone::MOST));
            owners.iter().for_each(|path| system.rings.read_ahead((*path).into(), Owners::MOST));
        }
    }

    /// For requests about entries.
    pub(super) fn resources(&self) -> Resources<'_> {
        Resources {
            mode: self.plan.mode,
            threads: &self.threads,
            workers: self.system.workers,
            mounts: Some(&self.mounts),
            rings: Some(self.system.rings),
            lazy: self.plan.lazy,
            counter: self.counter.as_deref(),
        }
    }

    /// The deadline, if there is one.
    pub(super) fn deadline(&self) -> Option<&Deadline> {
        self.timeout.as_ref().map(|timeout| &timeout.deadline)
    }

    /// The zone of shown times. Its file is read at the first use.
    pub(super) fn zone(&self) -> &Arc<Zone> {
        self.zone.get_or_init(|| {
            let zone = &self.plan.zone;
            let file = zone.path().and_then(|path| self.system.rings.read(path, Zone::MOST).ok());
            Arc::new(zone.zone(file.as_deref()))
        })
    }

    /// The threads that sort and render a batch. For few entries the number of cores is not requested.
    pub(super) fn team(&self, batch: &Batch) -> Team<'l> {
        if batch.len() < LARGE || self.plan.mode == Mode::Classic {
            return Team::ALONE;
        }
        Team::new(self.system.workers, self.threads.count())
    }

    /// The number of threads of a walk; `None` for the default.
    pub(super) fn walkers(&self) -> Option<usize> {
        if self.plan.mode == Mode::Classic { Some(1) } else { self.plan.threads }
    }
}
