//! Whether a run is trustworthy.
//!
//! An empty static process is timed at the start, between the groups and at the end: it contains no code of ours, so
//! if its time changes, the machine has changed. And while no program of ours runs, no other should.

use super::machine::{self, Ticks};
use super::measure::{Budget, Conditions, Contender, Stopwatch};
use crate::step::Result;

/// How far the empty process may move from its first median.
const DRIFT: f64 = 0.15;
/// Of all cores, how much others may use at one look.
const OTHERS: f64 = 0.10;
/// Of the time, how much the host may take for others.
const STOLEN: f64 = 0.02;

/// All looks so far.
pub(crate) struct Noise {
    load: f64,
    start: Ticks,
    empties: Vec<f64>,
    others: Vec<f64>,
}

impl Noise {
    /// To be made before anything is built or run: only then is the load average that of other programs.
    pub(crate) fn start() -> Noise {
        Noise { load: machine::load(), start: Ticks::now(), empties: Vec::new(), others: Vec::new() }
    }

    /// Looks once more: at others, then at the empty process.
    pub(crate) fn look(&mut self, stopwatch: &Stopwatch, empty: &str) -> Result<()> {
        self.others.push(machine::others());
        let command = vec![empty.to_string()];
        let contender = Contender { warm_up: command.clone(), command };
        let budget = Budget { seconds: 0.3, fewest: 150, most: 300 };
        for sample in stopwatch.compare(&[contender], None, Conditions::default(), budget)? {
            self.empties.extend(sample.map(|sample| sample.median()));
        }
        Ok(())
    }

    /// The load average at the start.
    pub(crate) fn load(&self) -> f64 {
        self.load
    }

    /// Least and greatest median of the empty process, in seconds.
    pub(crate) fn empty(&self) -> (f64, f64) {
        let least = self.empties.iter().copied().fold(f64::INFINITY, f64::min);
        (least, self.empties.iter().copied().fold(0.0, f64::max))
    }

    /// The reasons not to trust the run; empty if there are none.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let stolen = Ticks::now().since(self.start).1;
        complaints(self.load, machine::Machine::here().cores, &self.empties, &self.others, stolen)
    }
}

fn complaints(load: f64, cores: usize, empties: &[f64], others: &[f64], stolen: f64) -> Vec<String> {
    let mut found = Vec::new();
    if empties.is_empty() {
        found.push("the empty process was not timed".to_string());
    }
    if let Some(first) = empties.first() {
        let worst = empties.iter().map(|one| one / first - 1.0).max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let worst = worst.unwrap_or(0.0);
        if worst.abs() > DRIFT {
            found.push(format!(
                "the empty process moved by {:+.0} % from its first {:.0} µs",
                worst * 100.0,
                first * 1e6
            ));
        }
    }
    let most = others.iter().copied().fold(0.0, f64::max);
    if most > OTHERS {
        found.push(format!("others used up to {:.0} % of all cores while nothing of ours ran", most * 100.0));
    }
    if load > cores as f64 * 0.5 {
        found.push(format!("the load average was {load:.2} on {cores} cores before the start"));
    }
    if stolen > STOLEN {
        found.push(format!("the host took {:.1} % of the time for others", stolen * 100.0));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_machine_is_trusted_and_a_busy_one_is_not() {
        let quiet = complaints(0.3, 2, &[100e-6, 110e-6, 90e-6], &[0.01, 0.05], 0.001);
        assert_eq!(quiet, Vec::<String>::new());
        for (loud, word) in [
            (complaints(0.3, 2, &[100e-6, 120e-6], &[], 0.0), "+20 %"),
            (complaints(0.3, 2, &[100e-6, 80e-6], &[], 0.0), "-20 %"),
            (complaints(0.3, 2, &[100e-6], &[0.0, 0.5], 0.0), "50 %"),
            (complaints(1.5, 2, &[100e-6], &[], 0.0), "1.50"),
            (complaints(0.3, 2, &[100e-6], &[], 0.1), "10.0 %"),
            (complaints(0.3, 2, &[], &[], 0.0), "not timed"),
        ] {
            assert!(loud.len() == 1 && loud[0].contains(word), "{loud:?}");
        }
    }
}
