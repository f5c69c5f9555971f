//! `--explain`: which requests were made, which option needed them, what they cost, and which change would avoid them.
//!
//! [`after`] explains a listing from what was recorded during it. [`before`] explains a plan alone: it touches no
//! entry and opens no directory, but makes one `statfs` of each operand to find its file system. Pure functions make
//! the text from [`Facts`]: `lines` names the options and their requests, `remedy` the changes; `phrase` formats
//! numbers and lists.

mod lines;
mod phrase;
mod remedy;
#[cfg(test)]
mod tests;

use crate::message::Message;
use crate::output::Output;
use crate::plan::{Claim, Explain, Plan};
use crate::status::Status;
use crate::timing::Timing;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ffi::CStr;
use core::fmt::Write as _;
use dents_core::needs::Kind;
use dents_core::stat::Mode;
use dents_core::stat::choose::{Choice, Strategy};
use dents_core::stat::policy::{Far, Policy};
use dents_core::stat::request_counts::{Call, CallsByKind, RequestCounts};
use dents_render::quantity::grouped;
use dents_render::quote;
use dents_sys::statfs;
pub(crate) use phrase::visible;
use phrase::{counted, duration, list};

/// The listed entries, counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Entries of directories, by type.
    kinds: [u64; 16],
    /// Those whose type `readdir` did not return.
    untyped: u64,
    /// Operands that were asked about by name.
    pub(crate) operands: u64,
    /// How many `statx` that took.
    pub(crate) operand_stats: u64,
    /// The file systems they are on, each once.
    operand_fs: Vec<&'static Policy>,
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

    fn of(&self, kind: Kind) -> u64 {
        self.kinds[kind as usize]
    }

    fn entries(&self) -> u64 {
        self.kinds.iter().sum()
    }
}

/// The input of an explanation.
struct Facts<'a> {
    claims: &'a [Claim],
    colors_are_set: bool,
    /// Whether `--lazy` was given.
    lazy: bool,
    policy: &'static Policy,
    /// The strategy asked for.
    mode: Mode,
    /// The listing; `None` before it.
    past: Option<Past<'a>>,
}

/// The listing.
struct Past<'a> {
    seen: &'a Seen,
    by_kind: CallsByKind,
    in_flight: u32,
    choice: Option<Choice>,
    /// Nanoseconds spent on everything, and on asking.
    elapsed: (u64, u64),
}

/// The explanation of a listing that has been made. Out of the way, like all of this: a listing without `--explain`
/// must not load its pages.
#[cold]
#[inline(never)]
pub(crate) fn after(
    plan: &Plan<'_>,
    explain: &Explain,
    counts: &RequestCounts,
    seen: &Seen,
    timing: &Timing,
) -> String {
    let past = Past {
        seen,
        by_kind: counts.by_kind,
        in_flight: counts.in_flight,
        choice: timing.choice(),
        elapsed: timing.elapsed(),
    };
    let facts = Facts {
        claims: &explain.claims,
        colors_are_set: explain.colors_are_set,
        lazy: plan.lazy,
        mode: plan.mode,
        // If only operands were listed, no directory has reported its policy.
        policy: match seen.operand_fs[..] {
            [only] if seen.entries() == 0 => only,
            _ => counts.policy(),
        },
        past: Some(past),
    };
    facts.text()
}

/// Explains on stderr which requests a listing would make. A missing operand gets the message of the listing.
#[cold]
#[inline(never)]
pub(crate) fn before(plan: &Plan<'_>, explain: &Explain, operands: &[&CStr], out: &mut Output<'_>) -> Status {
    let mut status = Status::Ok;
    for path in if operands.is_empty() { &[c"."] } else { operands } {
        let name = quote::quoteaf(path.to_bytes(), &plan.locale);
        let fs = match statfs::statfs(path) {
            Ok(fs) => fs,
            Err(errno) => {
                Message::new(plan.program).format("cannot access %s", &[&name]).errno(errno).send(out);
                status.raise(Status::Serious);
                continue;
            }
        };
        let facts = Facts {
            claims: &explain.claims,
            colors_are_set: explain.colors_are_set,
            lazy: plan.lazy,
            policy: Policy::of(Some(fs)),
            mode: plan.mode,
            past: None,
        };
        let name = String::from_utf8_lossy(&name);
        let text =
            format!("plan for {name}: the requests about the entries of that directory\n{}", facts.text());
        out.message(visible(text.as_bytes()).as_bytes());
    }
    status
}

/// How a listing with this plan would make fewer requests about the entries of a directory: one `statfs`, for the
/// policy of its file system. `None` if no change avoids most of them.
#[cold]
#[inline(never)]
pub(crate) fn hint(plan: &Plan<'_>, explain: &Explain, directory: &CStr, acls: (u64, u64)) -> Option<String> {
    if acls.0 > 0 {
        return Some(remedy::without_acls(acls));
    }
    let facts = Facts {
        claims: &explain.claims,
        colors_are_set: explain.colors_are_set,
        lazy: plan.lazy,
        policy: Policy::of(statfs::statfs(directory).ok()),
        mode: plan.mode,
        past: None,
    };
    remedy::hint(&facts)
}

impl Facts<'_> {
    /// All of it. Writing to a String cannot fail.
    fn text(&self) -> String {
        let mut text = String::new();
        if let Some(past) = &self.past {
            let _ = writeln!(text, "explain: {}", past.heading(self.policy));
        }
        let lines = lines::lines(self);
        let nothing = lines.is_empty();
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
        if nothing {
            let _ = writeln!(text, "  no entry needs a request: the directory has names and types");
        }
        if let Some(past) = &self.past {
            past.say_cost(&mut text);
        }
        let _ = writeln!(text, "file system: {}: {}", self.policy.name, self.policy.why);
        if self.lazy && !self.policy.lazy {
            let _ = writeln!(text, "  --lazy changes nothing there");
        }
        match &self.past {
            Some(past) => past.say_strategy(&mut text),
            None => self.say_prospect(&mut text),
        }
        for line in remedy::remedies(self) {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// How a strategy will be found.
    fn say_prospect(&self, text: &mut String) {
        let how = match (self.mode, self.policy.far) {
            (Mode::Classic, _) => "classic, as asked",
            (Mode::Par, _) => "par, as asked",
            (Mode::Iou, _) => "iou, as asked",
            (Mode::Auto, Far::No) => "one thread up to 127 entries; for more, the first 32 answers decide",
            (Mode::Auto, Far::Yes) => "one thread up to 127 entries; for more, the first answer decides",
            (Mode::Auto, Far::WithNames) => {
                "one thread, which reads names and asks about them in turns; several if answers are round trips"
            }
            (Mode::Auto, Far::AskedAhead) => {
                "one thread in the order of the directory, unless the first 32 answers are slow"
            }
        };
        let _ = writeln!(text, "strategy: {how}");
    }
}

impl Past<'_> {
    /// The types of the entries, the most frequent first.
    fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = Kind::KNOWN.into_iter().filter(|kind| self.seen.of(*kind) > 0).collect();
        kinds.sort_by_key(|kind| Reverse(self.seen.of(*kind)));
        kinds
    }

    fn heading(&self, policy: &Policy) -> String {
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

    fn say_cost(&self, text: &mut String) {
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

    fn say_strategy(&self, text: &mut String) {
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
