//! `--grid`: whether `auto` chooses well. Each fixed mode and `auto`, `-al` of plain files of every size, on every file
//! system, warm and cold, on one core and on all; `auto` over the best fixed mode, and the worst cell by name.

use std::path::Path;

use super::directories::{self, Dir, Shape};
use super::job::Job;
use super::measure::{Budget, Conditions};
use super::noise::Noise;
use super::programs::MODES;
use super::report::{milliseconds, thousands};
use super::setup::{FileSystem, Setup};
use super::{full, report};
use crate::step::Result;

const COUNTS: &[usize] = &[1, 10, 100, 1000, 10_000, 100_000, 1_000_000];

/// The most that `auto` may cost, × the best fixed mode; a cell over it is measured again.
const LIMIT: f64 = 1.1;
const AGAIN: usize = 2;

const WARM: Budget = Budget { seconds: 1.0, fewest: 6, most: 900 };
const COLD: Budget = Budget { seconds: 3.0, fewest: 6, most: 30 };

/// Median seconds of classic, par, iou and auto.
#[derive(Clone, Debug)]
struct Cell {
    fs: String,
    count: usize,
    conditions: Conditions,
    seconds: [f64; MODES.len()],
}

impl Cell {
    /// `auto` over the best fixed mode.
    fn ratio(&self) -> f64 {
        let [fixed @ .., auto] = &self.seconds;
        auto / fixed.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn name(&self) -> String {
        format!("{}, {}, n = {}", self.fs, self.conditions.name(), thousands(self.count))
    }

    fn row(&self) -> String {
        let times = self.seconds.map(|seconds| format!(" {} |", milliseconds(seconds))).concat();
        let mark = if self.ratio() > LIMIT { "**" } else { "" };
        let (count, conditions) = (thousands(self.count), self.conditions.name());
        format!("| {} | {conditions} | {count} |{times} {mark}{:.2}{mark} |\n", self.fs, self.ratio())
    }
}

/// Measures the grid and writes `GRID.md` into `out`.
pub(crate) fn run(out: &Path) -> Result<()> {
    let mut noise = Noise::start();
    let counts = directories::counts(std::env::var("COUNT").ok().as_deref(), COUNTS)?;
    let setup = Setup::prepare(true)?;
    let empty = setup.empty.command(Job::Long, "").unwrap_or_default().concat();
    let mut cells = Vec::new();
    for system in &setup.systems {
        for &count in &counts {
            noise.look(&setup.stopwatch, &empty)?;
            let dir = system.build(Shape::Plain, count)?;
            for (cold, one_core) in [(false, false), (false, true), (true, false), (true, true)] {
                if !cold || system.cold {
                    let conditions = Conditions { cold, one_core };
                    let cell = measure(&setup, system, &dir, count, conditions)?;
                    println!("   {}: auto {:.2} × the best fixed mode", cell.name(), cell.ratio());
                    cells.push(cell);
                }
            }
            let notes = [&setup.notes[..], &[full::BROKEN_OFF.into()]].concat();
            full::write(out, "GRID.md", &page(&cells, &noise.complaints(), &notes))?;
        }
    }
    noise.look(&setup.stopwatch, &empty)?;
    let complaints = noise.complaints();
    full::write(out, "GRID.md", &page(&cells, &complaints, &setup.notes))?;
    println!("{}\n{}", worst(&cells), report::verdict(&complaints));
    Ok(())
}

/// One cell. Where `auto` looks bad it is measured again, and the least of each mode's medians counts.
fn measure(
    setup: &Setup,
    system: &FileSystem,
    dir: &Dir,
    count: usize,
    conditions: Conditions,
) -> Result<Cell> {
    let budget = if conditions.cold { COLD } else { WARM };
    let contenders: Vec<_> =
        setup.ours.iter().filter_map(|program| system.contender(program, Job::Long, dir)).collect();
    let mut cell = Cell { fs: system.fs.clone(), count, conditions, seconds: [f64::INFINITY; MODES.len()] };
    for _ in 0..=AGAIN {
        let samples = setup.stopwatch.compare(&contenders, None, conditions, budget)?;
        for (best, sample) in cell.seconds.iter_mut().zip(samples) {
            *best = best.min(sample?.median());
        }
        if cell.ratio() <= LIMIT {
            break;
        }
    }
    Ok(cell)
}

fn worst(cells: &[Cell]) -> String {
    let over = cells.iter().filter(|cell| cell.ratio() > LIMIT).count();
    match cells.iter().max_by(|one, other| one.ratio().total_cmp(&other.ratio())) {
        None => "Nothing was measured.".into(),
        Some(cell) => format!(
            "Worst: {}, {:.2} × the best fixed mode. {over} of {} cells are over {LIMIT}.",
            cell.name(),
            cell.ratio(),
            cells.len()
        ),
    }
}

fn page(cells: &[Cell], complaints: &[String], notes: &[String]) -> String {
    let machine = super::machine::Machine::here();
    let mut text = format!(
        "# The grid of `--mode=auto`\n\nWritten by `cargo xtask bench --grid`, {}, at {}: {} cores, {}, Linux {}. `-al` of plain \
         files, medians in milliseconds; the last column is `auto` over the best fixed mode.\n\n**{}** {}\n\n",
        super::machine::date(),
        super::machine::revision(),
        machine.cores,
        machine.cpu,
        machine.kernel,
        worst(cells),
        report::verdict(complaints)
    );
    text += &format!("| on | | n | {} | auto ÷ best |\n|---|---|--:|", MODES.join(" | "));
    text += &format!("{}\n", "--:|".repeat(MODES.len() + 1));
    text.extend(cells.iter().map(Cell::row));
    if !cells.iter().any(|cell| cell.conditions.cold) {
        text += "\nNo cold runs: only root can drop the caches, and only a disk is cold then.\n";
    }
    for note in notes {
        text += &format!("\n- {}\n", note.lines().next().unwrap_or_default());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_cell_is_named() {
        let cell = |count, auto| Cell {
            fs: "tmpfs".into(),
            count,
            conditions: Conditions::default(),
            seconds: [2.0, 1.0, 3.0, auto],
        };
        let cells = [cell(10, 1.05), cell(1000, 1.3), cell(100, 0.9)];
        let worst = worst(&cells);
        assert!(worst.starts_with("Worst: tmpfs, warm, all cores, n = 1,000, 1.30 ×"), "{worst}");
        assert!(worst.contains("1 of 3 cells"), "{worst}");
        let page = page(&cells, &[], &[]);
        assert!(page.contains("| 2000 | 1000 | 3000 | 1300 | **1.30** |"), "{page}");
        assert!(page.contains("No cold runs"), "{page}");
    }
}
