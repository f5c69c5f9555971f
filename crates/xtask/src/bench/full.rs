//! The whole run: every program on every directory, then `RESULTS.md` and the plots.

use std::fs;
use std::path::Path;

use super::directories::{self, Dir, Shape};
use super::job::{Job, Kind};
use super::measure::{Budget, Conditions};
use super::noise::Noise;
use super::programs::Program;
use super::results::{Key, Results};
use super::setup::{FileSystem, Setup};
use super::{plot, promises, report};
use crate::step::Result;

/// Numbers of entries, unless `COUNT` is set.
const COUNTS: &[usize] = &[10, 100, 1000, 10_000, 100_000, 1_000_000];

/// A peer that would take longer than this for one run is left out, in seconds.
const PATIENCE: f64 = 10.0;

/// More lines than this are not asked of `strace`.
const TRACEABLE: f64 = 500_000.0;

const WARM: Budget = Budget { seconds: 1.5, fewest: 6, most: 1500 };
const COLD: Budget = Budget { seconds: 1.5, fewest: 3, most: 15 };

/// The jobs beside `-al` of plain files, and their sizes.
const EXTRAS: &[(Shape, Job, &[usize])] = &[
    (Shape::Plain, Job::Names, &[1000, 100_000, 1_000_000]),
    (Shape::Plain, Job::Unsorted, &[1000, 100_000, 1_000_000, 10_000_000]),
    (Shape::Plain, Job::Locale, &[100_000]),
    (Shape::Plain, Job::Older, &[10_000]),
    (Shape::Mix, Job::Long, &[1000, 100_000]),
    (Shape::Mix, Job::Color, &[10_000]),
    (Shape::Mix, Job::CheapColor, &[10_000]),
    (Shape::Mix, Job::Time, &[100_000]),
    (Shape::Mix, Job::Size, &[100_000]),
    (Shape::Mix, Job::Version, &[100_000]),
    (Shape::Long, Job::Long, &[1000, 100_000]),
    (Shape::Tree, Job::Recursive, &[100_000]),
];

/// Runs all of it and writes into `out`.
pub(crate) fn run(out: &Path) -> Result<()> {
    let mut noise = Noise::start();
    let counts = directories::counts(std::env::var("COUNT").ok().as_deref(), COUNTS)?;
    let setup = Setup::prepare(true)?;
    let mut results = Results { notes: setup.notes.clone(), ..Results::default() };
    for system in &setup.systems {
        for &count in &counts {
            noise.look(&setup.stopwatch, &setup.empty.command(Job::Long, "").unwrap_or_default()[0])?;
            for shape in [Shape::Plain, Shape::Mix, Shape::Long, Shape::Tree] {
                Round { setup: &setup, system, shape, count }.run(&mut results)?;
            }
            results.notes.push(BROKEN_OFF.into());
            save(out, &setup, &results, &noise)?;
            results.notes.pop();
        }
    }
    noise.look(&setup.stopwatch, &setup.empty.command(Job::Long, "").unwrap_or_default()[0])?;
    save(out, &setup, &results, &noise)?;
    println!("\n{}", promises::table(&promises::rows(&results)));
    println!("{}", report::verdict(&noise.complaints()));
    Ok(())
}

/// A run takes up to an hour, so the results are written after each number of entries.
pub(crate) const BROKEN_OFF: &str = "The run was broken off here: what is missing was not measured.";

fn save(out: &Path, setup: &Setup, results: &Results, noise: &Noise) -> Result<()> {
    let (rows, complaints) = (promises::rows(results), noise.complaints());
    write(out, "RESULTS.md", &report::page(setup, results, &rows, noise, &complaints))?;
    for (name, chart) in plot::charts(results) {
        write(out, &name, &chart.svg())?;
    }
    Ok(())
}

/// Writes one file of the report.
pub(crate) fn write(out: &Path, name: &str, text: &str) -> Result<()> {
    let path = out.join(name);
    fs::create_dir_all(out)
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    println!("   {}", path.display());
    Ok(())
}

/// One directory, and all that is asked of it.
struct Round<'a> {
    setup: &'a Setup,
    system: &'a FileSystem,
    shape: Shape,
    count: usize,
}

impl Round<'_> {
    fn run(&self, results: &mut Results) -> Result<()> {
        let extras = EXTRAS.iter().filter(|row| row.0 == self.shape && row.2.contains(&self.count));
        let extras: Vec<Job> = extras.map(|row| row.1).collect();
        let headline = self.shape == Shape::Plain && self.count <= 1_000_000;
        if extras.is_empty() && !headline {
            return Ok(());
        }
        let dir = match self.system.build(self.shape, self.count) {
            Ok(dir) => dir,
            Err(why) => {
                results.note(why);
                return Ok(());
            }
        };
        if headline {
            self.headline(&dir, results)?;
        }
        for job in extras {
            if job == Job::Older {
                self.time(job, Conditions::default(), &dir, &self.setup.older.each_ref(), results)?;
                continue;
            }
            self.time(job, Conditions::default(), &dir, &self.listers(), results)?;
            self.memory(job, &dir, results);
        }
        Ok(())
    }

    /// `-al`, warm, cold, and on one core; its calls and its memory.
    fn headline(&self, dir: &Dir, results: &mut Results) -> Result<()> {
        let cold = Conditions { cold: true, one_core: false };
        let one_core = Conditions { cold: false, one_core: true };
        self.time(Job::Long, Conditions::default(), dir, &self.everyone(), results)?;
        let few: Vec<&Program> = self.everyone().into_iter().filter(|program| !program.is_peer()).collect();
        self.time(Job::Long, one_core, dir, &few, results)?;
        if self.system.cold {
            self.time(Job::Long, cold, dir, &self.listers(), results)?;
        }
        self.calls(dir, results);
        self.memory(Job::Long, dir, results);
        Ok(())
    }

    /// All programs, the yardsticks first.
    fn everyone(&self) -> Vec<&Program> {
        let setup = self.setup;
        let yardsticks = [&setup.empty].into_iter().chain(&setup.floors).chain([&setup.gnu]);
        yardsticks.chain(&setup.peers).chain(&setup.ours).collect()
    }

    /// All programs that list.
    fn listers(&self) -> Vec<&Program> {
        self.everyone().into_iter().filter(|program| program.kind != Kind::Empty).collect()
    }

    fn key(&self, job: Job, conditions: Conditions) -> Key {
        Key { conditions, ..Key::warm(&self.system.fs, self.shape, self.count, job) }
    }

    fn time(
        &self,
        job: Job,
        conditions: Conditions,
        dir: &Dir,
        programs: &[&Program],
        results: &mut Results,
    ) -> Result<()> {
        if !self.setup.timed {
            results.note("no times: hyperfine is missing (Debian: apt-get install hyperfine)".into());
            return Ok(());
        } else if conditions.one_core && !self.setup.pinned {
            results
                .note("nothing on one core: taskset is missing (Debian: apt-get install util-linux)".into());
            return Ok(());
        }
        let key = self.key(job, conditions);
        let (mut names, mut contenders) = (Vec::new(), Vec::new());
        for program in programs {
            let expected = results.times.expected(&key, &program.name).unwrap_or(0.0);
            if program.is_peer() && expected > PATIENCE {
                let what = format!("{} {} of {}", key.fs, job.name(), key.count);
                results.note(format!(
                    "{what}: {} left out, it would take some {expected:.0} s a run",
                    program.name
                ));
            } else if let Some(contender) = self.system.contender(program, job, dir) {
                names.push(program.name.as_str());
                contenders.push(contender);
            }
        }
        let budget = if conditions.cold { COLD } else { WARM };
        let samples = self.setup.stopwatch.compare(&contenders, job.env(), conditions, budget)?;
        for (name, sample) in names.iter().zip(samples) {
            match sample {
                Ok(sample) => {
                    let ms = sample.median() * 1e3;
                    let what = format!("{} {}", job.name(), conditions.name());
                    println!("   {what}: {name}: {ms:.3} ms, {} runs", sample.runs());
                    results.times.add(&key, name, sample.median());
                }
                Err(why) => results.note(format!("{name} failed: {}", why.replace(&dir.path(), "DIR"))),
            }
        }
        Ok(())
    }

    /// The same on every file system, so only on the first.
    fn calls(&self, dir: &Dir, results: &mut Results) {
        if self.system.fs != self.setup.systems[0].fs {
            return;
        }
        let key = self.key(Job::Long, Conditions::default());
        for program in self.listers() {
            let expected = results.calls.expected(&key, &program.name).unwrap_or(0.0);
            let known = self.works(&key, program, results);
            if let Some(command) =
                program.command(Job::Long, &dir.path()).filter(|_| known && expected < TRACEABLE)
                && let Some(calls) = self.setup.calls(&command)
            {
                results.calls.add(&key, &program.name, calls);
            }
        }
    }

    /// Whether a program did this job when it was timed. If nothing is timed, this is unknown, and the program is
    /// tried.
    fn works(&self, key: &Key, program: &Program, results: &Results) -> bool {
        !self.setup.timed || results.times.get(key, &program.name).is_some()
    }

    fn memory(&self, job: Job, dir: &Dir, results: &mut Results) {
        let key = self.key(job, Conditions::default());
        for program in self.listers() {
            let known = self.works(&key, program, results);
            if let Some(command) = program.command(job, &dir.path()).filter(|_| known)
                && let Some(kib) = self.setup.peak(&command, job.env())
            {
                results.memory.add(&key, &program.name, kib);
            }
        }
    }
}
