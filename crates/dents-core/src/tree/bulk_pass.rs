//! Decides whether a pass in bulk pays off ([`crate::bulk`]), and makes it.
//!
//! To decide costs no system call: `auto` needs a tree that was not walked while the latency was measured, whose only operand is the
//! root of a mount (an attribute in the answer of the operand's `statx`), on XFS or btrfs (the `fstatfs` of the policy).

use super::open;
use super::shared::Shared;
use crate::batch::{Batch, Extra};
use crate::bulk::{self, Outcome, Usage, When};
use crate::needs::{Needs, NeedsByKind};
use crate::stat::Workers;
use core::ffi::CStr;
use dents_sys::statfs::{self, FsType};
use dents_sys::{AsFd, sched};

/// `/proc/sys/kernel/overflowuid`, unless it was changed: the owner of a file whose user a user namespace does not have.
const OVERFLOW: u32 = 65534;

pub(super) struct BulkPass<'o> {
    operand: Option<&'o CStr>,
    when: When,
    needs: NeedsByKind,
    is_root: bool,
    is_foreign: bool,
    pub(super) outcome: Outcome,
    /// The sums of all files, if they suffice: nothing is left to be walked.
    pub(super) usage: Option<Usage>,
}

impl<'o> BulkPass<'o> {
    /// Where a pass is possible, the operands are asked for their attributes, too, with the same requests.
    pub(super) fn new<S>(operands: &[&'o CStr], has_start_points: bool, shared: &mut Shared<'_, S>) -> Self {
        let (options, needs) = (&shared.options, shared.needs);
        let outcome = match options.bulk {
            When::Never => Outcome::NotWanted,
            _ if options.only.is_some() => Outcome::NotWanted,
            _ if options.rate.is_some() || shared.follows() || bulk::mask(&options.needs).is_empty() => {
                Outcome::NeedsStatx
            }
            _ if operands.len() != 1 || has_start_points => Outcome::NotRoot,
            _ => {
                shared.needs = (needs | NeedsByKind::all(Needs::UID)).with_extra();
                Outcome::Small
            }
        };
        let when = if outcome == Outcome::Small { options.bulk } else { When::Never };
        BulkPass {
            operand: operands.first().copied(),
            when,
            needs,
            is_root: false,
            is_foreign: false,
            outcome,
            usage: None,
        }
    }

    /// Looks at the answer about the operand.
    pub(super) fn see<S>(&mut self, operands: &Batch, shared: &mut Shared<'_, S>) {
        shared.needs = self.needs;
        let Some(operand) = operands.iter().next().filter(|_| self.when != When::Never) else { return };
        self.is_root = operand.extra().is_some_and(|extra| extra.attributes & Extra::MOUNT_ROOT != 0);
        self.is_foreign = operand.uid() == OVERFLOW;
    }

    /// With [`When::Always`]: before the first directory is read.
    pub(super) fn always<S: Send + Sync>(&mut self, shared: &mut Shared<'_, S>, workers: &dyn Workers) {
        if self.when == When::Always {
            let count = shared.options.workers.unwrap_or_else(sched::available_cores);
            self.read(shared, workers, count, None);
        }
    }

    /// With [`When::Auto`]: after the number of workers was chosen; `None` if nothing is left to be walked.
    pub(super) fn auto<S: Send + Sync>(
        &mut self,
        shared: &mut Shared<'_, S>,
        workers: &dyn Workers,
        count: Option<usize>,
    ) {
        let Some(count) = count.filter(|_| self.when == When::Auto) else { return };
        match shared.fs {
            _ if !self.is_root => self.outcome = Outcome::NotRoot,
            _ if self.is_foreign => self.outcome = Outcome::Namespace,
            None => self.outcome = Outcome::Threads,
            Some(FsType::XFS | FsType::BTRFS) if bulk::much_is_dirty() => self.outcome = Outcome::Dirty,
            Some(FsType::XFS | FsType::BTRFS) => {
                self.read(shared, workers, count.min(sched::affinity()), shared.fs)
            }
            Some(_) => self.outcome = Outcome::FileSystem,
        }
    }

    fn read<S: Send + Sync>(
        &mut self,
        shared: &mut Shared<'_, S>,
        workers: &dyn Workers,
        count: usize,
        fs: Option<FsType>,
    ) {
        let path = self.operand.map_or(&b""[..], CStr::to_bytes);
        let mut made = 0;
        let read = open::by_path(shared.options.at, path, true, &mut made)
            .map_err(Outcome::Refused)
            .and_then(|dir| {
                let fs = fs.map_or_else(|| statfs::fstatfs(dir.as_fd()), Ok).map_err(Outcome::Refused)?;
                let stopped = || shared.bounds.stopped();
                let bulk =
                    bulk::read(dir.as_fd(), fs, bulk::mask(&shared.needs), (workers, count), &stopped)?;
                let suffices = self.is_root && shared.options.usage_suffices;
                Ok((suffices.then(|| bulk.usage(dir.as_fd())).flatten(), bulk))
            });
        match read {
            Ok((usage, bulk)) => {
                self.usage = usage;
                self.outcome =
                    usage.map_or(Outcome::Read(bulk.inodes()), |usage| Outcome::Summed(usage.inodes));
                shared.bulk = Some(bulk);
            }
            Err(outcome) => self.outcome = outcome,
        }
    }
}
