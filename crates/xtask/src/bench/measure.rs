//! Times of commands, by `hyperfine -N`, in turns.
//!
//! Compared programs run on the same directory one after the other, for several rounds, so that a disturbance affects
//! all of them. The result is the median over all rounds, and its ratio to another program's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::machine;
use crate::step::{Result, spell};

/// The number of rounds; programs with fewer runs get fewer. A disturbance of a shared machine lasts about a second:
/// with three rounds it affected one program and not the next, and ratios of the same two programs differed by half.
const ROUNDS: usize = 15;

/// The cost of a run beside the program itself: hyperfine's fork, its bookkeeping.
const OVERHEAD: f64 = 0.0006;

/// How long to measure one program on one directory.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// Seconds to be filled with runs.
    pub(crate) seconds: f64,
    /// At least so many runs, however long they take.
    pub(crate) fewest: usize,
    /// At most so many.
    pub(crate) most: usize,
}

impl Budget {
    /// Runs in all, given the time of one.
    fn runs(&self, one: f64) -> usize {
        ((self.seconds / (one + OVERHEAD)) as usize).clamp(self.fewest, self.most)
    }
}

/// Of so many runs those that come in this round.
fn share(runs: usize, round: usize) -> usize {
    runs * (round + 1) / ROUNDS - runs * round / ROUNDS
}

/// Under which circumstances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conditions {
    /// The caches are dropped before each run.
    pub(crate) cold: bool,
    /// On one core, the first that this process may use.
    pub(crate) one_core: bool,
}

impl Conditions {
    /// In words for tables.
    pub(crate) fn name(self) -> String {
        let cache = if self.cold { "cold" } else { "warm" };
        if self.one_core { format!("{cache}, 1 core") } else { format!("{cache}, all cores") }
    }
}

/// All times of one program, in seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    /// Of an even number the mean of the middle two; zero of none.
    pub(crate) fn median(&self) -> f64 {
        let mut times = self.0.clone();
        times.sort_by(f64::total_cmp);
        match times.len() {
            0 => 0.0,
            n if n % 2 == 1 => times[n / 2],
            n => (times[n / 2 - 1] + times[n / 2]) / 2.0,
        }
    }

    /// How many.
    pub(crate) fn runs(&self) -> usize {
        self.0.len()
    }
}

/// One program's command line.
pub(crate) struct Contender {
    /// Its words.
    pub(crate) command: Vec<String>,
    /// The same on an empty directory, which warms the program up after the caches were dropped.
    pub(crate) warm_up: Vec<String>,
}

/// Runs hyperfine.
pub(crate) struct Stopwatch {
    answer: PathBuf,
    chill: PathBuf,
    core: String,
}

impl Stopwatch {
    /// With its files in `scratch`.
    pub(crate) fn new(scratch: &Path) -> Result<Stopwatch> {
        let chill = scratch.join("chill.sh");
        let text = "echo 3 > /proc/sys/vm/drop_caches\n\"$@\" > /dev/null 2>&1\ntrue\n";
        fs::write(&chill, text).map_err(|error| format!("{}: {error}", chill.display()))?;
        Ok(Stopwatch { answer: scratch.join("answer.json"), chill, core: machine::first_core() })
    }

    /// Times all contenders in turns. One that fails at its first run is an error in its place; one that fails
    /// later ends the comparison.
    pub(crate) fn compare(
        &self,
        contenders: &[Contender],
        env: Option<(&str, &str)>,
        conditions: Conditions,
        budget: Budget,
    ) -> Result<Vec<Result<Sample>>> {
        let time = |contender: &Contender, runs, warm| self.time(contender, env, conditions, runs, warm);
        let mut samples = Vec::new();
        let mut runs = Vec::new();
        for contender in contenders {
            let first = time(contender, 1, 0).and_then(|first| {
                // The first run of a short program is not representative.
                if first.median() < 0.2 && !conditions.cold { time(contender, 1, 2) } else { Ok(first) }
            });
            runs.push(first.as_ref().map_or(0, |first| budget.runs(first.median())));
            samples.push(first.map(|_| Sample::default()));
        }
        for round in 0..ROUNDS {
            let forth = 0..contenders.len();
            // Back every other time, so that no program always comes after the same neighbour.
            let order: Vec<usize> = if round % 2 == 0 { forth.collect() } else { forth.rev().collect() };
            for at in order {
                let runs = share(runs[at], round);
                if let (Ok(sample), 1..) = (&mut samples[at], runs) {
                    let warm = usize::from(!conditions.cold && runs > 1);
                    sample.0.extend(time(&contenders[at], runs, warm)?.0);
                }
            }
        }
        Ok(samples)
    }

    fn time(
        &self,
        contender: &Contender,
        env: Option<(&str, &str)>,
        conditions: Conditions,
        runs: usize,
        warm: usize,
    ) -> Result<Sample> {
        let mut command = match conditions.one_core {
            // The children of this process inherit the core, so the time of taskset is not measured.
            true => Command::new("taskset"),
            false => Command::new("hyperfine"),
        };
        if conditions.one_core {
            command.args(["-c", &self.core, "hyperfine"]);
        }
        command.args(["-N", "--style=none", "--runs", &runs.to_string(), "--warmup", &warm.to_string()]);
        if conditions.cold {
            let prepare = ["sh".to_string(), self.chill.display().to_string()];
            let all: Vec<String> = prepare.into_iter().chain(contender.warm_up.iter().cloned()).collect();
            command.args(["--prepare", &quote(&all)]);
        }
        command.arg("--export-json").arg(&self.answer).arg(quote(&contender.command));
        command.env_remove("LS_COLORS").env_remove("TZ").env("LC_ALL", "C").env("TERM", "xterm");
        command.envs(env);
        let output = command.output().map_err(|error| format!("hyperfine: {error}"))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            let why = why.lines().find(|line| line.starts_with("Error")).unwrap_or("it failed");
            return Err(format!("{}: {why}", contender.command.join(" ")));
        }
        let text =
            fs::read_to_string(&self.answer).map_err(|error| format!("hyperfine's answer: {error}"))?;
        times(&text).ok_or_else(|| format!("hyperfine's answer is odd ({}): {text}", spell(&command)))
    }
}

/// `results[0].times` of hyperfine's JSON.
fn times(json: &str) -> Option<Sample> {
    let answer: Value = serde_json::from_str(json).ok()?;
    let times = answer.get("results")?.get(0)?.get("times")?.as_array()?;
    let times: Vec<f64> = times.iter().map(Value::as_f64).collect::<Option<_>>()?;
    (!times.is_empty()).then_some(Sample(times))
}

/// Words as hyperfine splits them: as a shell does.
pub(crate) fn quote(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@".contains(c);
    let quoted = words.iter().map(|word| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let json = r#"{"results":[{"command":"ls, \"all\"","median":9.0,"times":[0.3,0.1,0.2],"exit_codes":[0,0,0]}]}"#;
        let sample = times(json).expect("it is well-formed");
        assert_eq!((sample.median(), sample.runs()), (0.2, 3));
        for odd in [
            "",
            "{}",
            r#"{"results":[]}"#,
            r#"{"results":[{"times":[]}]}"#,
            r#"{"results":[{"times":["x"]}]}"#,
        ] {
            assert!(times(odd).is_none(), "{odd}");
        }
    }

    #[test]
    fn medians() {
        assert_eq!(Sample(vec![4.0, 1.0, 3.0, 2.0]).median(), 2.5);
        assert_eq!(Sample::default().median(), 0.0);
    }

    #[test]
    fn short_commands_run_often_and_long_ones_seldom() {
        let budget = Budget { seconds: 1.5, fewest: 6, most: 1500 };
        assert_eq!(budget.runs(0.0001), 1500);
        assert_eq!(budget.runs(0.0144), 100);
        assert_eq!(budget.runs(5.0), 6);
    }

    #[test]
    fn all_runs_come_in_some_round() {
        for runs in [3, 6, 100, 1500] {
            assert_eq!((0..ROUNDS).map(|round| share(runs, round)).sum::<usize>(), runs);
        }
        assert!((0..ROUNDS).all(|round| share(3, round) <= 1));
    }

    #[test]
    fn words_are_quoted_as_for_a_shell() {
        let words = ["a b", "it's", "-al", ""].map(String::from);
        assert_eq!(quote(&words), r"'a b' 'it'\''s' -al ''");
    }
}
