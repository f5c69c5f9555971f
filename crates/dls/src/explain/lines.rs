//! A line for each fact that was needed: by which option or colour, which fact, of which entries, by how many calls.

use super::facts::Facts;
use super::phrase::{counted, duration, entries, facts, kind as kind_name, list};
use crate::plan::{Claim, Claimant};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Add;
use dents_core::needs::{Kind, Needs};
use dents_core::stat::request_counts::{Call, Calls};
use dents_render::Colors;

/// The facts that a `statx` of the entry itself returns.
const STAT: Needs =
    Needs::all().difference(Needs::TYPE.union(Needs::LINK).union(Needs::TARGET).union(Needs::XATTRS));

/// The facts that a claim needs of entries of a type, by one kind of call.
pub(super) fn wanted(claim: &Claim, kind: Kind, call: Call) -> Needs {
    let needs = claim.needs.get(kind);
    match call {
        Call::Stat => needs & STAT,
        Call::Readlink if kind == Kind::Link => needs & Needs::LINK,
        Call::Target if kind == Kind::Link => needs & Needs::TARGET,
        Call::Xattr => needs & Needs::XATTRS,
        Call::Readlink | Call::Target => Needs::empty(),
    }
}

/// The name of a claimant, between backticks.
pub(super) fn name(by: &Claimant) -> String {
    match by {
        Claimant::Option(option) => format!("`{option}`"),
        Claimant::Color(key) => format!("`{}=`", Colors::name(*key)),
        Claimant::LinkAsTarget => "`ln=target`".to_string(),
    }
}

/// The options and colours that need the same of the same entries, by one sort of call.
struct Line {
    by: Vec<String>,
    call: Call,
    /// The needed facts, by type.
    wants: Vec<(Kind, Needs)>,
}

/// The lines, one for each claim.
pub(super) fn lines(all: &Facts<'_>) -> Vec<String> {
    let mut told = Vec::new();
    for call in Call::ALL {
        // The claim that needs most entries comes first, with its cost; the other claims use the same answers.
        let mut paid = Vec::new();
        for line in sharers(all, call) {
            let kinds = line.kinds();
            let owes: Vec<Kind> = kinds.into_iter().filter(|kind| !paid.contains(kind)).collect();
            told.push(line.tell(all, &owes));
            paid.extend(owes);
        }
    }
    told.extend(untyped(all));
    told
}

/// Which options and colours make a sort of call necessary.
fn sharers(all: &Facts<'_>, call: Call) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for claim in all.claims {
        let wants = kinds(all).into_iter().map(|kind| (kind, wanted(claim, kind, call)));
        let wants: Vec<_> = wants.filter(|(_, needs)| !needs.is_empty()).collect();
        let name = name(&claim.by);
        if wants.is_empty() {
            continue;
        }
        match lines.iter_mut().find(|line| line.wants == wants) {
            Some(line) if line.by.contains(&name) => {}
            Some(line) => line.by.push(name),
            None => lines.push(Line { by: Vec::from([name]), call, wants }),
        }
    }
    let entries = |line: &Line| line.kinds().iter().map(|kind| seen(all, *kind)).sum::<u64>();
    lines.sort_by_key(|line| Reverse(entries(line)));
    lines
}

/// The number of entries of a type; before the listing, one.
fn seen(all: &Facts<'_>, kind: Kind) -> u64 {
    all.past.as_ref().map_or(1, |past| past.seen.of(kind))
}

/// The types of the entries; before the listing, those that matter.
fn kinds(all: &Facts<'_>) -> Vec<Kind> {
    match &all.past {
        Some(past) => past.kinds(),
        None => Vec::from([Kind::Reg, Kind::Dir, Kind::Link]),
    }
}

/// The requests that were only necessary because the directory has no types.
fn untyped(all: &Facts<'_>) -> Option<String> {
    let past = all.past.as_ref()?;
    let unasked = |kind: &Kind| !all.claims.iter().any(|claim| !wanted(claim, *kind, Call::Stat).is_empty());
    let calls = Kind::KNOWN
        .into_iter()
        .filter(unasked)
        .fold(Calls::default(), |all, kind| all + past.by_kind.of(kind).of(Call::Stat));
    (past.seen.untyped > 0 && calls.count > 0)
        .then(|| format!("the directory tells no types, and those are wanted: {}", cost(Call::Stat, calls)))
}

impl Line {
    fn kinds(&self) -> Vec<Kind> {
        self.wants.iter().map(|(kind, _)| *kind).collect()
    }

    /// The line; `owes` are the types whose calls this line counts.
    fn tell(&self, all: &Facts<'_>, owes: &[Kind]) -> String {
        let verb = if self.by.len() == 1 { "needs" } else { "need" };
        let by = list(self.by.clone(), "and");
        let facts = facts(self.facts());
        let (of, cost) = match &all.past {
            _ if owes.is_empty() => (self.of(all), format!("by the same {}", call_name(self.call))),
            None => (self.of(all), format!("one {} each", call_name(self.call))),
            Some(past) => {
                let calls = owes.iter().map(|kind| past.by_kind.of(*kind).of(self.call));
                (self.of(all), cost(self.call, calls.fold(Calls::default(), Calls::add)))
            }
        };
        format!("{by} {verb} the {facts} of {of}: {cost}")
    }

    /// The needed facts. The device number is left out if there are others: every `statx` returns it.
    fn facts(&self) -> Needs {
        let all = self.wants.iter().fold(Needs::empty(), |sum, (_, needs)| sum | *needs);
        let of_all = self.wants.iter().all(|(_, needs)| needs.contains(Needs::RDEV));
        if of_all { all } else { all - Needs::RDEV }
    }

    /// The entries it is about.
    fn of(&self, all: &Facts<'_>) -> String {
        let kinds = self.kinds();
        let entire = kinds.len() > 1 && kinds.len() == self::kinds(all).len();
        match &all.past {
            Some(past) if entire => format!("all {}", counted(past.seen.entries(), "entry", "entries")),
            Some(past) => list(kinds.iter().map(|kind| entries(*kind, past.seen.of(*kind))).collect(), "and"),
            None if entire => "every entry".to_string(),
            None => {
                let kinds = kinds.iter().map(|kind| kind_name(*kind).to_string());
                format!("every {}", list(kinds.collect(), "and"))
            }
        }
    }
}

fn call_name(call: Call) -> &'static str {
    match call {
        Call::Stat | Call::Target => "statx",
        Call::Readlink => "readlinkat",
        Call::Xattr => "listxattrat",
    }
}

fn cost(call: Call, calls: Calls) -> String {
    let name = call_name(call);
    match calls {
        Calls { count: 0, .. } => "no call, the directory told".to_string(),
        Calls { count, waited_ns: 0 } => counted(count, name, name),
        Calls { count, waited_ns } => {
            format!("{}, {} of waiting", counted(count, name, name), duration(waited_ns))
        }
    }
}
