//! `--save` and `--check`: a short run, compared with a saved one.
//!
//! The compared values are ratios to the empty process (small listings) or to GNU `ls` in the same run: absolute times
//! depend on the machine. A value that looks worse is measured again before it is called a regression.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::directories::{Dir, Shape};
use super::job::Job;
use super::machine::{self, Machine};
use super::measure::{Budget, Conditions};
use super::noise::Noise;
use super::programs::Program;
use super::setup::Setup;
use super::{full, report};
use crate::step::Result;

const FILE: &str = "baseline.json";

/// Worse by more than this is a regression.
const TOLERANCE: f64 = 1.05;

/// How often a figure that looks worse is measured again, as long as the run is young.
const AGAIN: usize = 3;
const YOUNG: Duration = Duration::from_secs(120);

const SHORT: Budget = Budget { seconds: 1.0, fewest: 9, most: 600 };

/// The jobs: `-al` in all modes, the others in `auto`.
const CASES: &[(Shape, Job, usize)] = &[
    (Shape::Plain, Job::Long, 10),
    (Shape::Plain, Job::Long, 1000),
    (Shape::Mix, Job::Color, 10_000),
    (Shape::Plain, Job::Long, 100_000),
    (Shape::Plain, Job::Names, 100_000),
    (Shape::Plain, Job::Unsorted, 100_000),
    (Shape::Mix, Job::Time, 100_000),
];

/// One value: the ratio or count that is compared, and the time behind it for the reader (zero for counts).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    ratio: f64,
    seconds: f64,
}

/// A saved run.
#[derive(Debug, PartialEq)]
pub(crate) struct Baseline {
    machine: Machine,
    revision: String,
    date: String,
    cells: BTreeMap<String, Cell>,
}

/// Measures and writes the baseline.
pub(crate) fn save(out: &Path) -> Result<()> {
    let (baseline, complaints) = measure(None)?;
    full::write(out, FILE, &baseline.text())?;
    println!("{}", report::verdict(&complaints));
    Ok(())
}

/// Measures and compares; an error when anything got worse.
pub(crate) fn check(out: &Path) -> Result<()> {
    let path = out.join(FILE);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("{}: {error}; `cargo xtask bench --save` writes one", path.display()))?;
    let then = Baseline::parse(&text).ok_or_else(|| {
        format!("{}: not a baseline; `cargo xtask bench --save` writes one", path.display())
    })?;
    let (now, complaints) = measure(Some(&then))?;
    let same = then.machine == now.machine;
    println!("\nbaseline: {}, {}", then.revision, then.date);
    if !same {
        let Machine { cpu, cores, kernel, .. } = &then.machine;
        println!("from another machine ({cores} cores, {cpu}, Linux {kernel}): only ratios are compared");
    }
    print!("{}", comparison(&then.cells, &now.cells, same));
    println!("{}", report::verdict(&complaints));
    let worse = regressions(&then.cells, &now.cells);
    match worse.len() {
        0 => Ok(()),
        n => Err(format!("{n} regressions over 5 %:\n  {}", worse.join("\n  "))),
    }
}

fn measure(then: Option<&Baseline>) -> Result<(Baseline, Vec<String>)> {
    let mut noise = Noise::start();
    let setup = Setup::prepare(false)?;
    let start = Instant::now();
    let empty = setup.empty.command(Job::Long, "").unwrap_or_default().concat();
    let mut cells = BTreeMap::new();
    let mut dir: Option<(Shape, usize, Dir)> = None;
    noise.look(&setup.stopwatch, &empty)?;
    for &(shape, job, count) in CASES {
        if dir.as_ref().is_none_or(|built| (built.0, built.1) != (shape, count)) {
            drop(dir.take());
        }
        let (_, _, dir) = match &mut dir {
            Some(built) => built,
            empty => empty.insert((shape, count, setup.systems[0].build(shape, count)?)),
        };
        let mut found = case(&setup, shape, job, dir, count)?;
        for _ in 0..AGAIN {
            let fine = then.is_none_or(|then| regressions(&then.cells, &found).is_empty());
            if fine || start.elapsed() > YOUNG {
                break;
            }
            keep_better(&mut found, case(&setup, shape, job, dir, count)?);
        }
        cells.extend(found);
    }
    noise.look(&setup.stopwatch, &empty)?;
    let baseline =
        Baseline { machine: Machine::here(), revision: machine::revision(), date: machine::date(), cells };
    Ok((baseline, noise.complaints()))
}

/// The figures of one listing.
fn case(setup: &Setup, shape: Shape, job: Job, dir: &Dir, count: usize) -> Result<BTreeMap<String, Cell>> {
    let base = if count <= 100 { &setup.empty } else { &setup.gnu };
    let programs: Vec<&Program> =
        [base].into_iter().chain(&setup.ours).filter(|one| one.command(job, "").is_some()).collect();
    let contenders: Vec<_> =
        programs.iter().filter_map(|program| setup.systems[0].contender(program, job, dir)).collect();
    let samples = setup.stopwatch.compare(&contenders, job.env(), Conditions::default(), SHORT)?;
    let samples = samples.into_iter().collect::<Result<Vec<_>>>()?;
    let mut cells = BTreeMap::new();
    let what = format!("{}, {count} ({})", job.name(), shape.name());
    for ((program, sample), contender) in programs.iter().zip(&samples).zip(&contenders).skip(1) {
        let seconds = sample.median();
        let cell = Cell { ratio: seconds / samples[0].median(), seconds };
        println!("   {what}: {}: {:.3} × {}", program.name, cell.ratio, base.name);
        cells.insert(format!("{what}: {} × {}", program.name, base.name), cell);
        // The number of calls depends on how threads are scheduled; with one thread it is exact.
        let exact = job == Job::Long && (count <= 100 || program.name == "dls classic");
        if let Some(calls) = setup.calls(&contender.command).filter(|_| exact && count <= 1000) {
            cells.insert(
                format!("{what}: {} system calls", program.name),
                Cell { ratio: calls, seconds: 0.0 },
            );
        }
    }
    Ok(cells)
}

fn keep_better(found: &mut BTreeMap<String, Cell>, again: BTreeMap<String, Cell>) {
    for (name, cell) in again {
        found
            .entry(name)
            .and_modify(|old| *old = if cell.ratio < old.ratio { cell } else { *old })
            .or_insert(cell);
    }
}

/// A line for each figure of `now` that is worse than in `then`.
fn regressions(then: &BTreeMap<String, Cell>, now: &BTreeMap<String, Cell>) -> Vec<String> {
    let worse = now.iter().filter_map(|(name, cell)| {
        let before = then.get(name)?;
        let by = cell.ratio / before.ratio;
        let line =
            || format!("{name}: {:.3}, was {:.3} ({:+.1} %)", cell.ratio, before.ratio, (by - 1.0) * 100.0);
        (by > TOLERANCE).then(line)
    });
    worse.collect()
}

/// All figures side by side; times only where one machine made both.
fn comparison(then: &BTreeMap<String, Cell>, now: &BTreeMap<String, Cell>, same: bool) -> String {
    let mut text = String::new();
    for (name, cell) in now {
        let before = then.get(name);
        let was = before.map_or("new".into(), |before| format!("was {:.3}", before.ratio));
        let times = before.filter(|_| same && cell.seconds > 0.0).map(|before| {
            let ms = report::milliseconds;
            format!("; {} ms, was {} ms", ms(cell.seconds), ms(before.seconds))
        });
        text += &format!("  {name}: {:.3}, {was}{}\n", cell.ratio, times.unwrap_or_default());
    }
    for name in then.keys().filter(|name| !now.contains_key(*name)) {
        text += &format!("  {name}: no longer measured\n");
    }
    text
}

impl Baseline {
    fn text(&self) -> String {
        let Machine { cpu, cores, memory_gib, kernel } = &self.machine;
        let cells = self.cells.iter().map(|(name, cell)| {
            (name.clone(), json!({ "ratio": cell.ratio, "us": (cell.seconds * 1e7).round() / 10.0 }))
        });
        let cells: serde_json::Map<String, Value> = cells.collect();
        let value = json!({
            "machine": { "cpu": cpu, "cores": cores, "memory_gib": memory_gib, "kernel": kernel },
            "revision": self.revision, "date": self.date, "cells": cells,
        });
        format!("{value:#}\n")
    }

    fn parse(text: &str) -> Option<Baseline> {
        let value: Value = serde_json::from_str(text).ok()?;
        let string = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_string());
        let machine = value.get("machine")?;
        let machine = Machine {
            cpu: string(machine, "cpu")?,
            cores: usize::try_from(machine.get("cores")?.as_u64()?).ok()?,
            memory_gib: machine.get("memory_gib")?.as_u64()?,
            kernel: string(machine, "kernel")?,
        };
        let cell = |(name, cell): (&String, &Value)| {
            let ratio = cell.get("ratio")?.as_f64().filter(|ratio| *ratio > 0.0)?;
            Some((name.clone(), Cell { ratio, seconds: cell.get("us")?.as_f64()? / 1e6 }))
        };
        let cells = value.get("cells")?.as_object()?.iter().map(cell).collect::<Option<_>>()?;
        Some(Baseline {
            machine,
            revision: string(&value, "revision")?,
            date: string(&value, "date")?,
            cells,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(rows: &[(&str, f64)]) -> BTreeMap<String, Cell> {
        rows.iter()
            .map(|(name, ratio)| (name.to_string(), Cell { ratio: *ratio, seconds: ratio / 1e3 }))
            .collect()
    }

    #[test]
    fn only_what_got_worse_by_more_than_five_percent_is_named() {
        let then = cells(&[("a", 1.0), ("b", 1.0), ("c", 1.0), ("gone", 1.0)]);
        let now = cells(&[("a", 1.049), ("b", 1.06), ("c", 0.5), ("new", 9.0)]);
        let worse = regressions(&then, &now);
        assert!(worse.len() == 1 && worse[0].starts_with("b: 1.060, was 1.000 (+6.0 %)"), "{worse:?}");
        let text = comparison(&then, &now, true);
        assert!(text.contains("gone: no longer measured") && text.contains("new: 9.000, new"), "{text}");
        assert!(text.contains("was 1.000 ms") && !comparison(&then, &now, false).contains(" ms"), "{text}");
    }

    #[test]
    fn a_second_look_can_only_help() {
        let mut found = cells(&[("a", 1.2), ("b", 1.0)]);
        keep_better(&mut found, cells(&[("a", 1.0), ("b", 1.3)]));
        assert_eq!(found, cells(&[("a", 1.0), ("b", 1.0)]));
    }

    #[test]
    fn a_baseline_survives_its_file() {
        let machine = Machine { cpu: "x \"y\"".into(), cores: 2, memory_gib: 24, kernel: "6.18".into() };
        let cells = cells(&[("-al, 10: dls auto × empty process", 1.5)]);
        let baseline = Baseline { machine, revision: "abc".into(), date: "today".into(), cells };
        assert_eq!(Baseline::parse(&baseline.text()), Some(baseline));
        for bad in ["", "{}", "[1]", "{\"machine\":{},\"cells\":{}}"] {
            assert_eq!(Baseline::parse(bad), None, "{bad}");
        }
    }
}
