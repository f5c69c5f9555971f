//! Files and threads that a listing opens, reads or starts at their first use, and keeps to its end. The plan says
//! which.

use crate::plan::Plan;
use crate::system::System;
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::cell::OnceCell;
use core::sync::atomic::AtomicU8;
use dents_core::mounts::Mounts;
use dents_core::owners::Owners;
use dents_core::stat::request_counts::RequestCounter;
use dents_core::stat::{Mode, Threads};
use dents_core::watchdog::Watch;
use dents_render::Zone;

/// The data that the stages share.
pub(crate) struct Session {
    /// The number of threads.
    pub(super) threads: Threads,
    /// The tables that determine the order of names; `None` for the order of bytes.
    pub(super) collate: Option<&'static [AtomicU8]>,
    /// Mount points: one file, read at its first use.
    pub(super) mounts: Mounts,
    /// The requests about entries, for `--explain`.
    pub(super) counter: Option<Box<RequestCounter>>,
    zone: OnceCell<Arc<Zone>>,
}

impl Session {
    /// Opens and starts nothing.
    pub(crate) fn new(
        plan: &Plan<'_>,
        collate: Option<&'static [AtomicU8]>,
        watch: Option<&'static Watch>,
    ) -> Session {
        Session {
            threads: Threads::new(plan.threads).in_flight(plan.in_flight).watched(watch),
            collate,
            mounts: Mounts::default(),
            counter: plan.explain.is_some().then(Box::default),
            zone: OnceCell::new(),
        }
    }

    /// Starts to read the files of a long listing, in the mode that makes the fewest calls: one call reads all of
    /// them.
    pub(super) fn read_ahead(plan: &Plan<'_>, system: &System<'_>) {
        if plan.mode == Mode::Iou && plan.shows_times {
            let owners = if plan.names.is_empty() { &[][..] } else { &Owners::FILES };
            let zone = plan.zone.path().filter(|_| plan.shows_dates());
            zone.into_iter().for_each(|path| system.rings.read_ahead(path.into(), Zone::MOST));
            owners.iter().for_each(|path| system.rings.read_ahead((*path).into(), Owners::MOST));
        }
    }

    /// The zone of shown times. Its file is read at the first use.
    pub(super) fn zone(&self, plan: &Plan<'_>, system: &System<'_>) -> &Arc<Zone> {
        self.zone.get_or_init(|| {
            let file = plan.zone.path().and_then(|path| system.rings.read(path, Zone::MOST).ok());
            Arc::new(plan.zone.zone(file.as_deref()))
        })
    }
}
