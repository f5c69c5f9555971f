//! The cheapest change: the fewest options to drop and keys to switch off, so that nine calls of ten are not made.

use super::facts::Facts;
use super::lines::{name, wanted};
use super::phrase::{counted, duration, list};
use crate::plan::{Claim, Claimant};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use dents_core::needs::{Kind, Needs};
use dents_core::stat::request_counts::{Call, Calls};
use dents_render::quantity::grouped;
use dents_render::{Colors, color::Key};

/// Of so many calls, this one may be left by a change that is worth telling.
const WORTH: u64 = 10;

/// Options and colours that are given up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Change {
    /// Keys of `LS_COLORS`.
    keys: Vec<Claimant>,
    /// Options.
    options: Vec<Claimant>,
}

impl Change {
    fn gives_up(&self, claim: &Claim) -> bool {
        self.keys.contains(&claim.by) || self.options.contains(&claim.by)
    }
}

/// How many calls a listing makes of each sort about each kind: as counted, or before that as many as an ordinary
/// directory would have.
fn calls(all: &Facts<'_>, kind: Kind, call: Call) -> u64 {
    match &all.past {
        Some(past) => past.by_kind.of(kind).of(call).count,
        None => match kind {
            Kind::Reg => 1000,
            Kind::Dir | Kind::Link => 50,
            _ => 0,
        },
    }
}

/// The number of calls that remain after a change.
fn left(all: &Facts<'_>, change: &Change) -> u64 {
    let mut left = 0;
    for kind in Kind::KNOWN {
        for call in Call::ALL {
            // The link count of a file is coloured only if something else needs a `statx`.
            let rides = |claim: &Claim| matches!(claim.by, Claimant::Color(Key::HardLink));
            let asks = |claim: &&Claim| !wanted(claim, kind, call).is_empty() && !rides(claim);
            if all.claims.iter().filter(asks).any(|claim| !change.gives_up(claim)) {
                left += calls(all, kind, call);
            }
        }
    }
    left
}

/// The claimants that cost more than a tenth of all calls, or anything at all: keys and options apart.
fn costly(all: &Facts<'_>, least: u64) -> (Vec<Claimant>, Vec<Claimant>) {
    let (mut keys, mut options) = (Vec::new(), Vec::new());
    for claim in all.claims {
        let into = match claim.by {
            Claimant::Color(Key::HardLink) => continue,
            Claimant::Color(_) | Claimant::LinkAsTarget => &mut keys,
            Claimant::Option(_) => &mut options,
        };
        let asks = |kind, call| !wanted(claim, kind, call).is_empty() && calls(all, kind, call) > least;
        let costs = Kind::KNOWN.iter().any(|kind| Call::ALL.iter().any(|call| asks(*kind, *call)));
        if costs && !into.contains(&claim.by) {
            into.push(claim.by.clone());
        }
    }
    (keys, options)
}

/// All possible changes, the smallest first. A colour counts for less than an option: users miss it less than a
/// column.
fn changes(all: &Facts<'_>, total: u64) -> Vec<Change> {
    let (keys, options) = costly(all, total / WORTH);
    let mut changes = Vec::from([Change { keys: keys.clone(), options: Vec::new() }]);
    for keys in [&Vec::new(), &keys] {
        let one = |option: &Claimant| Change { keys: keys.clone(), options: Vec::from([option.clone()]) };
        changes.extend(options.iter().map(one));
    }
    changes.push(Change { keys: Vec::new(), options: options.clone() });
    changes.push(Change { keys, options });
    let (keys, options) = costly(all, 0);
    changes.push(Change { keys, options });
    changes
}

/// The cheapest change that leaves at most a tenth of all calls, and the number of all calls.
fn cheapest(all: &Facts<'_>) -> (Option<Change>, u64) {
    let total = left(all, &Change::default());
    if total == 0 {
        return (None, 0);
    }
    (changes(all, total).into_iter().find(|change| left(all, change) * WORTH <= total), total)
}

/// The sentence for a listing that has made so many requests for ACLs alone, in so many nanoseconds: the rest came with the names.
pub(super) fn without_acls((requests, took_ns): (u64, u64)) -> String {
    let (requests, took) =
        (counted(requests, "ACL took a request", "ACLs took a request each"), duration(took_ns));
    ending(&format!("give --acl=never: {requests}, {took} in all"))
}

/// The beginning and the end of each such sentence.
fn ending(advice: &str) -> String {
    format!("to make this faster, {advice} (--explain says why; --no-hints turns hints off)")
}

/// One sentence: what makes the next such listing faster. Colours are given up first, then current values, then options.
pub(super) fn hint(all: &Facts<'_>) -> Option<String> {
    let change = cheapest(all).0?;
    let advice = if change.options.is_empty() {
        set_colors(all, &change.keys)
    } else if all.policy.lazy && !all.lazy {
        "give --lazy, which accepts values that the client has cached, however old".to_string()
    } else {
        format!("drop {}", list(change.options.iter().map(name).collect(), "and"))
    };
    Some(ending(&advice))
}

/// Lines to end with.
pub(super) fn remedies(all: &Facts<'_>) -> Vec<String> {
    let (change, total) = cheapest(all);
    if total == 0 {
        return Vec::new();
    }
    let mut lines = Vec::new();
    if let Some(change) = change {
        let mut steps = Vec::new();
        if !change.options.is_empty() {
            steps.push(format!("drop {}", list(change.options.iter().map(name).collect(), "and")));
        }
        if !change.keys.is_empty() {
            steps.push(set_colors(all, &change.keys));
        }
        let left = left(all, &change);
        let result = match &all.past {
            Some(_) => format!(" ({} instead of {})", counted(left, "call", "calls"), grouped(total)),
            None => String::new(),
        };
        lines.push(format!("cheapest change{result}: {}", steps.join("; ")));
    }
    if all.policy.lazy && !all.lazy {
        lines.push("or --lazy, for what the client remembers, which may be stale".to_string());
    }
    lines.extend(price_of_marks(all).map(|price| format!("or --acl=never: {price}")));
    lines
}

/// The price of the marks after the mode, where each is a request to a server.
fn price_of_marks(all: &Facts<'_>) -> Option<String> {
    let needs_mark = |kind| all.claims.iter().any(|claim| claim.needs.get(kind).contains(Needs::MARK));
    if !all.policy.is_far() || !Kind::KNOWN.into_iter().any(needs_mark) {
        return None;
    }
    let Some(past) = &all.past else { return Some("one request less for each entry".to_string()) };
    let calls = Kind::KNOWN.into_iter().map(|kind| past.by_kind.of(kind).of(Call::Xattr));
    let calls = calls.fold(Calls::default(), |sum, calls| sum + calls);
    let waited = duration(calls.waited_ns);
    (calls.count > 0)
        .then(|| format!("{}, {waited} of waiting less", counted(calls.count, "request", "requests")))
}

/// The line to paste: keys switched off, behind those that are set.
fn set_colors(all: &Facts<'_>, keys: &[Claimant]) -> String {
    let off = |key: &Claimant| match key {
        Claimant::Color(key) => format!("{}=00", Colors::name(*key)),
        // The built-in colour of links.
        _ => "ln=01;36".to_string(),
    };
    let keys = keys.iter().map(off).collect::<Vec<_>>().join(":");
    match all.colors_are_set {
        true => format!("export LS_COLORS=\"$LS_COLORS:{keys}\""),
        false => format!("export LS_COLORS='{keys}'"),
    }
}
