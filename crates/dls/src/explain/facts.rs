//! What is explained: the plan, and what was recorded of a listing.

use super::phrase::{self, counted, duration, list};
use crate::plan::Claim;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ffi::CStr;
use core::fmt::Write as _;
use dents_core::needs::Kind;
use dents_core::stat::Mode;
use dents_core::stat::choose::{Choice, Strategy};
use dents_core::stat::policy::Policy;
use dents_core::stat::request_counts::{Call, CallsByKind};
use dents_render::quantity::grouped;
use dents_sys::statfs;

/// The listed entries, counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Entries of directories, by type.
    pub(super) kinds: [u64; 16],
    /// Those whose type `readdir` did not return.
    pub(super) untyped: u64,
    /// Operands that were asked about by name.
    pub(crate) operands: u64,
    /// How many `statx` that took.
    pub(crate) operand_stats: u64,
    /// The file systems they are on, each once.
    pub(super) operand_fs: Vec<&'static Policy>,
}

impl Seen {
    /// Counts an entry: its type, and the type that `readdir` returned.
    pub(crate) fn entry(&mut self, kind: Kind, d_kind: Kind) {
        self.kinds[kind as usize] += 1;
        self.untyped += u64::from(d_kind == Kind::Unknown);
    }

    /// Records the file system of an operand.
    #[cold]
    pub(crate) fn operand(&mut self, path: &CStr) {
        let Ok(fs) = statfs::statfs(path) else { return };
        let policy = Policy::of(Some(fs));
        if !self.operand_fs.iter().any(|known| known.name == policy.name) {
            self.operand_fs.push(policy);
        }
    }

    pub(super) fn of(&self, kind: Kind) -> u64 {
        self.kinds[kind as usize]
    }

    pub(super) fn entries(&self) -> u64 {
        self.kinds.iter().sum()
    }
}

/// The input of an explanation.
pub(super) struct Facts<'a> {
    pub(super) claims: &'a [Claim],
    pub(super) colors_are_set: bool,
    /// Whether `--lazy` was given.
    pub(super) lazy: bool,
    pub(super) policy: &'static Policy,
    /// The strategy asked for.
    pub(super) mode: Mode,
    /// The listing; `None` before it.
    pub(super) past: Option<Past<'a>>,
}

/// The listing.
pub(super) struct Past<'a> {
    pub(super) seen: &'a Seen,
    pub(super) by_kind: CallsByKind,
    pub(super) in_flight: u32,
    pub(super) choice: Option<Choice>,
    /// Nanoseconds spent on everything, and on asking.
    pub(super) elapsed: (u64, u64),
}

impl Past<'_> {
    /// The types of the entries, the most frequent first.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = Kind::KNOWN.into_iter().filter(|kind| self.seen.of(*kind) > 0).collect();
        kinds.sort_by_key(|kind| Reverse(self.seen.of(*kind)));
        kinds
    }

    pub(super) fn heading(&self, policy: &Policy) -> String {
        let kinds = self.kinds().into_iter().chain([Kind::Unknown]);
        let kinds = kinds
            .filter(|kind| self.seen.of(*kind) > 0)
            .map(|kind| phrase::entries(kind, self.seen.of(kind)))
            .collect();
        let mut text = counted(self.seen.entries(), "entry", "entries");
        if self.seen.entries() > 0 {
            let _ = write!(text, " on {}: {}", policy.name, list(kinds, "and"));
        }
        if self.seen.operands > 0 {
            let operands = counted(self.seen.operands, "operand", "operands");
            let stats = grouped(self.seen.operand_stats);
            let _ = write!(text, "; {operands} named, which is always asked about: {stats} statx");
            let names: Vec<String> = self.seen.operand_fs.iter().map(|policy| policy.name.into()).collect();
            if !names.is_empty() {
                let _ = write!(text, ", on {}", list(names, "and"));
            }
        }
        text
    }

    pub(super) fn say_cost(&self, text: &mut String) {
        let total = self.by_kind.total();
        let calls = total.total();
        let (all, asking) = self.elapsed;
        if calls.count == 0 {
            let _ = writeln!(text, "cost: no calls about entries; {} in all", duration(all));
            return;
        }
        let stats = total.of(Call::Stat).count + total.of(Call::Target).count;
        let parts = [(stats, "statx"), (total.of(Call::Readlink).count, "readlinkat")];
        let parts = parts.into_iter().chain([(total.of(Call::Xattr).count, "listxattrat")]);
        let parts = parts.filter(|part| part.0 > 0);
        let parts = parts.map(|(count, name)| counted(count, name, name)).collect();
        let _ = write!(text, "cost: {}", list(parts, "and"));
        if calls.waited_ns > 0 {
            let _ = write!(text, ": {} of waiting", duration(calls.waited_ns));
        }
        let _ = writeln!(text, " within {}; {} in all", duration(asking), duration(all));
    }

    pub(super) fn say_strategy(&self, text: &mut String) {
        let Some(choice) = self.choice else { return };
        let _ = match choice.strategy {
            Strategy::Classic => write!(text, "strategy: classic, one at a time"),
            Strategy::Par(threads) => {
                write!(text, "strategy: par, {}", counted(threads as u64, "thread", "threads"))
            }
            Strategy::Flight(most) => {
                let reached = self.in_flight.min(u32::try_from(most).unwrap_or(u32::MAX));
                write!(text, "strategy: par, up to {reached} in flight of {most} allowed")
            }
            Strategy::Iou => write!(text, "strategy: iou"),
        };
        let _ = writeln!(text, ": {}", choice.reason);
    }
}
