//! The programs, and how they are measured: times by `hyperfine -N`, memory and system calls by helpers of `dents-lab`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use super::cases::{CASES, Case, Figure};
use super::places::Scratch;
use crate::step::{Result, at, cargo, printed, read, target_dir, workspace, write};
use crate::tools;

/// How far an empty process may move before a run counts as noisy.
const DRIFT: f64 = 0.15;
/// Seconds for the runs of one program of a case, where it is short; and for a turn of all programs, over all rounds.
const SHORT: f64 = 6.0;
const LONG: f64 = 30.0;
/// The cost of a run beside the program itself: hyperfine's fork, its bookkeeping.
const OVERHEAD: f64 = 0.0006;

/// The programs of the cases.
pub(crate) struct Programs {
    /// By the first word of a command.
    paths: BTreeMap<&'static str, String>,
    peak: String,
    calls: String,
    /// Drops the caches, and executes its arguments: the program is warmed up, the directory is not.
    chill: String,
    /// An empty directory.
    nothing: String,
    answer: String,
}

impl Programs {
    /// Builds ours and finds the others. A missing peer is left out with a line; GNU `ls` must be there.
    pub(crate) fn prepare(scratch: &Scratch) -> Result<Programs> {
        tools::ensure(tools::FOR_BENCHES)?;
        printed(&mut cargo(["build", "--release", "--package", "dents-ls"]))?;
        printed(&mut cargo(["build", "--package", "dents-lab", "--bin", "calls"]))?;
        let text = |name: &str| scratch.join(name).display().to_string();
        let mut paths = BTreeMap::new();
        let commands = CASES.iter().flat_map(|case| case.commands);
        let names: BTreeSet<&str> = commands.filter_map(|command| command.split(' ').next()).collect();
        for name in names {
            let path = match name {
                "dls" => Some(install(scratch)?),
                "empty" => Some(compile("empty.S", &text("empty"))?),
                "floor" => Some(compile("floor.c", &text("floor"))?),
                "ls" => Some(gnu()?),
                peer => find(peer),
            };
            match path {
                Some(path) => drop(paths.insert(name, path)),
                None => println!("== {name} is not on this machine (in PATH), so not measured"),
            }
        }
        let chill = "echo 3 > /proc/sys/vm/drop_caches\n\"$@\" > /dev/null 2>&1\ntrue\n";
        write(text("chill.sh"), chill)?;
        let calls = target_dir().join("debug/calls").display().to_string();
        let peak = compile("peak.c", &text("peak"))?;
        Ok(Programs {
            paths,
            peak,
            calls,
            chill: text("chill.sh"),
            nothing: text("nothing"),
            answer: text("answer.json"),
        })
    }

    /// The figure of each command of a case whose program is there, in the unit of the case.
    pub(crate) fn measure(&self, case: &Case, dir: &str) -> Result<Vec<(&'static str, f64)>> {
        let is_there = |command: &&&str| self.words(command, dir).is_some();
        let commands: Vec<&str> = case.commands.iter().filter(is_there).copied().collect();
        let words: Vec<Vec<String>> =
            commands.iter().filter_map(|command| self.words(command, dir)).collect();
        let figures = match case.figure {
            Figure::Warm => self.times(&words, None, case.locale)?,
            Figure::Cold => {
                let warm = commands.iter().filter_map(|command| self.words(command, &self.nothing)).collect();
                self.times(&words, Some(warm), case.locale)?
            }
            Figure::Memory => each(&words, |words| Ok(number(&self.peak, words)? / 1024.0))?,
            Figure::Calls => each(&words, |words| number(&self.calls, words))?,
        };
        let figures: Vec<_> = commands.into_iter().zip(figures).collect();
        for (command, figure) in &figures {
            println!("   {command}: {figure:.3}");
        }
        Ok(figures)
    }

    /// The median of an empty process, in milliseconds.
    pub(crate) fn empty(&self) -> Result<f64> {
        let command = [vec![self.paths["empty"].clone()]];
        Ok(median(self.round(&command, None, "C", 300)?.concat()))
    }

    /// Build, day, programs and machine, for the reader.
    pub(crate) fn machine(&self, scratch: &Scratch) -> String {
        let version = |name: &str| {
            self.paths.get(name).map(|path| {
                // The first line of eza has no number, the second no name.
                let line = said(path, &["--version"], |line| line.bytes().any(|byte| byte.is_ascii_digit()));
                if line.starts_with(name) { line } else { format!("{name} {line}") }
            })
        };
        let versions: Vec<String> = ["ls", "eza", "lsd"].into_iter().filter_map(version).collect();
        let at = scratch.join("nothing").display().to_string();
        let fs = said("df", &["--output=fstype", &at], |line| line != "Type");
        format!(
            "Build {}, {}; {}; {} cores, {}, {fs}.",
            said("git", &["describe", "--always", "--dirty"], |_| true),
            said("date", &["-u", "+%Y-%m-%d %H:%M UTC"], |_| true),
            versions.join(", "),
            std::thread::available_parallelism().map_or(1, usize::from),
            said("uname", &["-sr"], |_| true)
        )
    }

    /// The words of a command on a directory; `None` where its program is missing.
    fn words(&self, command: &str, dir: &str) -> Option<Vec<String>> {
        let mut words: Vec<String> = command.split(' ').map(String::from).collect();
        words[0] = self.paths.get(words[0].as_str())?.clone();
        words.push(dir.to_string());
        Some(words)
    }

    /// Median milliseconds. All commands run one after the other, for several rounds, so that a disturbance affects all of
    /// them; back every other time, so that none always comes after the same neighbour.
    fn times(
        &self,
        commands: &[Vec<String>],
        cold: Option<Vec<Vec<String>>>,
        locale: &str,
    ) -> Result<Vec<f64>> {
        let prepare = cold
            .map(|all| all.iter().map(|words| format!("sh {} {}", self.chill, words.join(" "))).collect());
        let first = self.round(commands, prepare.as_ref(), locale, 1)?;
        let (rounds, runs) = turns(&first.concat());
        let mut times = vec![Vec::new(); commands.len()];
        let (mut commands, mut prepare) = (commands.to_vec(), prepare);
        for round in 0..rounds {
            let mut found = self.round(&commands, prepare.as_ref(), locale, runs)?;
            if round % 2 == 1 {
                found.reverse();
            }
            times.iter_mut().zip(found).for_each(|(all, some)| all.extend(some));
            commands.reverse();
            prepare.iter_mut().for_each(|all: &mut Vec<String>| all.reverse());
        }
        Ok(times.into_iter().map(median).collect())
    }

    /// Runs each command so many times; the milliseconds of each run.
    fn round(
        &self,
        commands: &[Vec<String>],
        prepare: Option<&Vec<String>>,
        locale: &str,
        runs: usize,
    ) -> Result<Vec<Vec<f64>>> {
        let mut hyperfine = Command::new("hyperfine");
        let warm = if prepare.is_none() && runs > 1 { "1" } else { "0" };
        hyperfine.args([
            "-N",
            "--style=none",
            "--runs",
            &runs.to_string(),
            "--warmup",
            warm,
            "--export-json",
            &self.answer,
        ]);
        for one in prepare.into_iter().flatten() {
            hyperfine.args(["--prepare", one]);
        }
        printed(environment(&mut hyperfine, locale).args(commands.iter().map(|words| words.join(" "))))?;
        let answer = read(&self.answer)?;
        times(&answer)
            .filter(|times| times.len() == commands.len())
            .ok_or_else(|| format!("hyperfine's answer is odd: {answer}"))
    }
}

/// How many rounds, and runs in each, given the milliseconds of one run of each command.
fn turns(times: &[f64]) -> (usize, usize) {
    let all = times.iter().sum::<f64>() / 1e3;
    let slowest = times.iter().copied().fold(0.0, f64::max) / 1e3;
    let rounds = ((LONG / all) as usize).clamp(3, 10);
    (rounds, ((SHORT / rounds as f64 / (slowest + OVERHEAD)) as usize).clamp(1, 150))
}

/// `results[].times` of hyperfine's JSON, in milliseconds.
fn times(json: &str) -> Option<Vec<Vec<f64>>> {
    let answer: Value = serde_json::from_str(json).ok()?;
    let of =
        |one: &Value| one.get("times")?.as_array()?.iter().map(|time| Some(time.as_f64()? * 1e3)).collect();
    answer.get("results")?.as_array()?.iter().map(of).collect()
}

/// Of an even number the mean of the middle two; zero of none.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    match times.len() {
        0 => 0.0,
        n => (times[(n - 1) / 2] + times[n / 2]) / 2.0,
    }
}

/// Whether single figures of a run can be trusted, given milliseconds of an empty process and the load before.
pub(crate) fn noise(before: f64, after: f64, load: f64) -> String {
    let cores = std::thread::available_parallelism().map_or(1.0, |cores| usize::from(cores) as f64);
    let noisy = (after / before - 1.0).abs() > DRIFT || load > cores / 2.0;
    let verdict = if noisy {
        "The machine was noisy, so trust ratios rather than times"
    } else {
        "The machine was quiet"
    };
    format!(
        "{verdict}: an empty process took {before:.3} ms before and {after:.3} ms after, the load average before was {load:.2}."
    )
}

/// The load average over a minute. To be read before anything is built or run.
pub(crate) fn load() -> f64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// `dls` as users have it after copying it to its place: written from the beginning to the end, it lies in large pieces
/// in the page cache, and starts 10 µs sooner than as the linker left it.
fn install(scratch: &Scratch) -> Result<String> {
    let built = target_dir().join("release/dls");
    let from = std::env::var("DLS").unwrap_or_else(|_| built.display().to_string());
    let to = scratch.join("dls");
    write(&to, at(&from, fs::read(&from))?)?;
    at(&to, fs::set_permissions(&to, fs::Permissions::from_mode(0o755)))?;
    Ok(to.display().to_string())
}

/// GNU `ls`: `$GNU_LS`, or `ls`, if its version says GNU.
pub(crate) fn gnu() -> Result<String> {
    let name = std::env::var("GNU_LS").unwrap_or_else(|_| "ls".into());
    let is_gnu =
        |path: &String| !said(path, &["--version"], |line| line.contains("GNU coreutils")).is_empty();
    let path = find(&name).filter(is_gnu);
    path.ok_or_else(|| format!("{name} is not GNU ls: install coreutils, or name it in GNU_LS"))
}

/// The full path of a program, so that its search is not timed.
fn find(program: &str) -> Option<String> {
    tools::find(program).map(|path| path.display().to_string())
}

/// One of crates/dents-lab/bench, which need no C library.
fn compile(source: &str, to: &str) -> Result<String> {
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-no-pie", "-nostdlib", "-static"]);
    cc.args(["-Wl,--build-id=none", "-o", to]);
    printed(cc.arg(workspace().join("crates/dents-lab/bench").join(source)))?;
    Ok(to.to_string())
}

fn each(commands: &[Vec<String>], figure: impl Fn(&[String]) -> Result<f64>) -> Result<Vec<f64>> {
    commands.iter().map(|words| figure(words)).collect()
}

/// The number that `program command…` prints.
fn number(program: &str, words: &[String]) -> Result<f64> {
    let text = printed(environment(Command::new(program).args(words), "C"))?;
    text.trim().parse().map_err(|_| format!("{program} {}: no number: {text}", words.join(" ")))
}

/// The environment of everything that is measured.
fn environment<'c>(command: &'c mut Command, locale: &str) -> &'c mut Command {
    command.env_remove("LS_COLORS").env_remove("TZ").env("LC_ALL", locale).env("TERM", "xterm")
}

/// The first line that is `wanted` of what a program prints, without colours; empty if there is none.
fn said(program: &str, args: &[&str], wanted: impl Fn(&str) -> bool) -> String {
    let mut command = Command::new(program);
    let text = printed(command.args(args).current_dir(workspace()).env("NO_COLOR", "1")).unwrap_or_default();
    text.lines().find(|line| wanted(line)).unwrap_or_default().trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let json = r#"{"results":[{"command":"ls","times":[0.3,0.1]},{"command":"x","times":[2]}]}"#;
        assert_eq!(times(json), Some(vec![vec![300.0, 100.0], vec![2000.0]]));
        for odd in ["", "{}", r#"{"results":[{}]}"#, r#"{"results":[{"times":["x"]}]}"#] {
            assert_eq!(times(odd), None, "{odd}");
        }
    }

    #[test]
    fn medians() {
        assert_eq!(
            (median(vec![4.0, 1.0, 3.0, 2.0]), median(vec![3.0, 9.0, 1.0]), median(vec![])),
            (2.5, 3.0, 0.0)
        );
    }

    #[test]
    fn short_commands_run_often_and_long_ones_seldom() {
        assert_eq!(turns(&[0.3, 1.5, 2.5]), (10, 150));
        assert_eq!(turns(&[100.0, 400.0, 1100.0]), (10, 1));
        assert_eq!(turns(&[1400.0, 5700.0, 10_200.0]), (3, 1));
    }

    #[test]
    fn a_busy_machine_is_not_trusted() {
        assert!(noise(0.1, 0.11, 0.1).starts_with("The machine was quiet"));
        for loud in [noise(0.1, 0.12, 0.1), noise(0.1, 0.08, 0.1), noise(0.1, 0.1, 1e3)] {
            assert!(loud.starts_with("The machine was noisy"), "{loud}");
        }
    }
}
