//! `--explain`: which requests were made, which option needed them, what they cost, and which change would avoid them.
//!
//! [`after`] explains a listing from what was recorded during it. [`before`] explains a plan alone: it touches no
//! entry and opens no directory, but makes one `statfs` of each operand to find its file system. Pure functions make
//! the text from [`Facts`]: `lines` names the options and their requests, `remedy` the changes; `phrase` formats
//! numbers and lists.

mod facts;
mod lines;
mod phrase;
mod remedy;
#[cfg(test)]
mod tests;

use crate::message::Message;
use crate::output::Output;
use crate::plan::{Explain, Plan};
use crate::status::Status;
use crate::timing::Timing;
use alloc::format;
use alloc::string::String;
use core::ffi::CStr;
use core::fmt::Write as _;
use dents_core::stat::Mode;
use dents_core::stat::policy::{Far, Policy};
use dents_core::stat::request_counts::RequestCounts;
use dents_render::quote;
use dents_sys::statfs;
pub(crate) use facts::Seen;
use facts::{Facts, Past};
pub(crate) use phrase::visible;

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
