//! `--timeout`: starts the agent, which makes the requests until the deadline.

use crate::message::Message;
use crate::output::Output;
use crate::plan::Plan;
use crate::system::System;
use alloc::format;
use alloc::string::String;
use dents_core::deadline::{Deadline, Wanted};
use dents_core::watchdog::Watch;
use dents_sys::{Errno, Result, clock};

/// The deadline, and the time as the user wrote it: `2s`.
pub(super) struct Timeout {
    pub(super) deadline: Deadline,
    pub(super) text: String,
}

impl Timeout {
    /// Starts the agent. Without one, which is reported, the listing has no timeout.
    pub(super) fn start(
        plan: &Plan<'_>,
        system: &System<'_>,
        watch: Option<&'static Watch>,
        timeout_ns: u64,
        out: &mut Output<'_>,
    ) -> Option<Timeout> {
        let wanted = Wanted {
            needs: plan.needs,
            operand_needs: plan.operand_needs,
            dereference: plan.dereference,
            filter: plan.filter.clone(),
            lists_operands: !plan.directory,
            recursive: plan.recursive || plan.tree.is_some_and(|tree| tree.depth > 1),
            lazy: plan.lazy,
            watch,
            explains: plan.explain.is_some(),
            policy: None,
        };
        let until_ns = clock::monotonic_ns() + timeout_ns;
        let started: Result<Deadline> = (system.agent)().ok_or(Errno::NOSYS).and_then(|agent| {
            Deadline::start(agent, wanted, (until_ns, timeout_ns / 10), (plan.threads, plan.in_flight))
        });
        match started {
            Ok(deadline) => Some(Timeout { deadline, text: duration(timeout_ns) }),
            Err(errno) => {
                let what = "cannot start a process to ask from, going on without a timeout";
                Message::new(plan.program).text(what).errno(errno).send(out);
                None
            }
        }
    }
}

/// Nanoseconds in a suitable unit: `2s`, `500ms`, `1.5s`.
fn duration(ns: u64) -> String {
    let ms = ns / 1_000_000;
    if ms < 1000 {
        return format!("{ms}ms");
    }
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let ms = 1_000_000;
        for (ns, text) in
            [(ms, "1ms"), (500 * ms, "500ms"), (1000 * ms, "1s"), (1500 * ms, "1.5s"), (90_000 * ms, "90s")]
        {
            assert_eq!(duration(ns), text);
        }
    }
}
