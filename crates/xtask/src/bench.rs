//! `cargo xtask bench`: the README's figures, each measured beside what it is compared with, in one run.
//!
//! Programs that are compared run in the same `hyperfine -N` call on the same warm directory, their output
//! thrown away; what counts is the ratio of medians, since the machine's own speed comes and goes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Result, cargo, spell, target_dir, workspace};
use crate::tools;

/// How long to measure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Enough runs for figures to publish.
    Full,
    /// Enough to see a regression.
    Quick,
}

/// LS_COLORS with every key off that would cost a stat.
const CHEAP: &str = "LS_COLORS=ex=00:su=00:sg=00:ca=00";

/// `$DLS` and `$LS_ORACLE` may name other programs to compare.
pub(crate) fn run(effort: Effort) -> Result<()> {
    tools::ensure(tools::FOR_BENCHES)?;
    let bench = Bench::prepare(effort)?;
    let mut table = Table::default();
    bench.start(&mut table)?;
    bench.long(&mut table)?;
    bench.colour(&mut table)?;
    bench.memory(&mut table)?;
    table.print();
    Ok(())
}

/// The programs, and a place for directories; both are removed at the end but for what cargo built.
struct Bench {
    effort: Effort,
    dls: String,
    ls: String,
    floor: String,
    peak: String,
    empty: String,
    dir: PathBuf,
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Bench {
    fn prepare(effort: Effort) -> Result<Bench> {
        if std::env::var_os("DLS").is_none() {
            quietly(&mut cargo(["build", "--release", "--package", "dls"]))?;
        }
        quietly(&mut cargo(["build", "--release", "--package", "dents-lab", "--bins"]))?;
        let dir = std::env::temp_dir().join(format!("dents-bench-{}", std::process::id()));
        fs::create_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        let built = |name: &str| target_dir().join("release").join(name).display().to_string();
        let said = |variable: &str, default: String| std::env::var(variable).unwrap_or(default);
        let empty = dir.join("empty").display().to_string();
        let bench = Bench {
            effort,
            dls: said("DLS", built("dls")),
            ls: said("LS_ORACLE", "ls".to_string()),
            floor: built("floor"),
            peak: built("peak"),
            empty,
            dir,
        };
        let source = workspace().join("crates/dents-lab/bench/empty.S");
        let mut cc = Command::new("cc");
        cc.args(["-nostdlib", "-static", "-Wl,--build-id=none", "-o", &bench.empty]).arg(source);
        quietly(&mut cc)?;
        Ok(bench)
    }

    /// A directory of `count` empty files, made when first asked for.
    fn files(&self, parent: &Path, count: usize) -> Result<String> {
        let dir = parent.join(format!("files{count}"));
        if !dir.is_dir() {
            let make = || -> std::io::Result<()> {
                fs::create_dir(&dir)?;
                (0..count).try_for_each(|n| File::create(dir.join(format!("f{n:07}"))).map(drop))
            };
            make().map_err(|error| format!("{}: {error}", dir.display()))?;
        }
        Ok(dir.display().to_string())
    }

    /// The start of a process, which is most of a small listing.
    fn start(&self, table: &mut Table) -> Result<()> {
        let dir = self.files(&self.dir, 10)?;
        let (dls, ls) = (format!("{} -al {dir}", self.dls), format!("{} -al {dir}", self.ls));
        let runs = if self.effort == Effort::Full { 2000 } else { 300 };
        let programs =
            [("empty static process", self.empty.as_str()), ("dls -al", &dls), ("GNU ls -al", &ls)];
        table.add("10 files", "empty process", &self.compare(runs, "", &programs)?);
        Ok(())
    }

    /// The long format beside GNU's and beside what the kernel alone takes.
    fn long(&self, table: &mut Table) -> Result<()> {
        for (count, full, quick) in [(1000, 300, 60), (100_000, 30, 7)] {
            let dir = self.files(&self.dir, count)?;
            let dls = format!("{} -al {dir}", self.dls);
            let (floor, ls) = (format!("{} {dir}", self.floor), format!("{} -al {dir}", self.ls));
            let runs = if self.effort == Effort::Full { full } else { quick };
            let programs = [("floor", floor.as_str()), ("dls -al", &dls), ("GNU ls -al", &ls)];
            table.add(&format!("{count} files"), "floor", &self.compare(runs, "", &programs)?);
        }
        Ok(())
    }

    /// Colours at no stat an entry, and as they come.
    fn colour(&self, table: &mut Table) -> Result<()> {
        let dir = self.files(&self.dir, 10_000)?;
        let dls = format!("{} --color=always {dir}", self.dls);
        let ls = format!("{} --color=always {dir}", self.ls);
        let programs = [("dls --color=always", dls.as_str()), ("GNU ls --color=always", &ls)];
        let runs = if self.effort == Effort::Full { 100 } else { 20 };
        table.add("10000 files, cheap colours", "dls", &self.compare(runs, CHEAP, &programs)?);
        table.add("10000 files, default colours", "dls", &self.compare(runs, "", &programs)?);
        Ok(())
    }

    /// Peak memory of unsorted names, on tmpfs where there is one: a million files take a disk too long.
    fn memory(&self, table: &mut Table) -> Result<()> {
        let count = if self.effort == Effort::Full { 1_000_000 } else { 200_000 };
        let shm = Path::new("/dev/shm");
        let scratch = Scratch(
            if shm.is_dir() { shm } else { &self.dir }.join(format!("dents-bench-{}", std::process::id())),
        );
        fs::create_dir(&scratch.0).map_err(|error| format!("{}: {error}", scratch.0.display()))?;
        let dir = self.files(&scratch.0, count)?;
        for (name, program) in [("dls -U1", &self.dls), ("GNU ls -U1", &self.ls)] {
            let mut command = Command::new(&self.peak);
            let output = command.args([full_path(program).as_str(), "-U1", &dir]).output();
            let output = output.map_err(|error| error.to_string())?;
            let kib: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().map_err(|_| {
                format!("{}: {}", spell(&command), String::from_utf8_lossy(&output.stderr).trim())
            })?;
            table.line(
                &format!("{count} files"),
                name,
                &format!("{:.1} MiB at most", kib / 1024.0),
                "",
                &spell(&command),
            );
        }
        let (dls, ls) = (format!("{} -U1 {dir}", self.dls), format!("{} -U1 {dir}", self.ls));
        let programs = [("dls -U1", dls.as_str()), ("GNU ls -U1", &ls)];
        table.add(&format!("{count} files"), "dls", &self.compare(7, "", &programs)?);
        Ok(())
    }

    /// Medians of several commands, measured in one `hyperfine` call.
    fn compare(&self, runs: usize, env: &str, programs: &[(&str, &str)]) -> Result<Vec<Measured>> {
        let csv = self.dir.join("medians.csv");
        let mut command = Command::new("hyperfine");
        command
            .args(["-N", "--style=none", "--warmup=5", "--runs", &runs.to_string(), "--export-csv"])
            .arg(&csv);
        for (name, line) in programs {
            command.args(["--command-name", name, line]);
        }
        command.env_remove("LS_COLORS").env("LC_ALL", "C").env("TERM", "xterm");
        if let Some((name, value)) = env.split_once('=') {
            command.env(name, value);
        }
        quietly(&mut command)?;
        let text = fs::read_to_string(&csv).map_err(|error| error.to_string())?;
        let medians = text.lines().skip(1).filter_map(median);
        let shown = programs
            .iter()
            .map(|(name, line)| (name.to_string(), format!("{env} {line}").trim().to_string()));
        let all: Vec<Measured> =
            shown.zip(medians).map(|((name, line), seconds)| Measured { name, line, seconds }).collect();
        if all.len() == programs.len() { Ok(all) } else { Err(format!("hyperfine's answer is odd: {text}")) }
    }
}

/// A directory that goes when its measurement is over.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The time of one command.
struct Measured {
    name: String,
    line: String,
    seconds: f64,
}

/// The fourth column of `command,mean,stddev,median,user,system,min,max`, counted from the right.
fn median(row: &str) -> Option<f64> {
    row.rsplit(',').nth(4)?.parse().ok()
}

/// A markdown table, printed once all is measured.
#[derive(Default)]
struct Table {
    rows: Vec<String>,
}

impl Table {
    /// One line a program, with its time relative to the first.
    fn add(&mut self, what: &str, base: &str, measured: &[Measured]) {
        for one in measured {
            let ratio = format!("{:.2} × {base}", one.seconds / measured[0].seconds);
            let time = format!("{:.3} ms", one.seconds * 1e3);
            self.line(what, &one.name, &time, &ratio, &one.line);
        }
    }

    fn line(&mut self, what: &str, name: &str, value: &str, ratio: &str, command: &str) {
        println!("   {what}: {name}: {value} {ratio}");
        self.rows.push(format!("| {what} | {name} | {value} | {ratio} | `{command}` |"));
    }

    fn print(&self) {
        println!("\n| on | program | median | ratio | command |\n|---|---|---|---|---|");
        for row in &self.rows {
            println!("{row}");
        }
    }
}

fn full_path(program: &str) -> String {
    if program.contains('/') {
        return program.to_string();
    }
    let dirs = std::env::var("PATH").unwrap_or_default();
    let mut paths = dirs.split(':').map(|dir| format!("{dir}/{program}"));
    paths.find(|path| Path::new(path).is_file()).unwrap_or_else(|| program.to_string())
}

fn quietly(command: &mut Command) -> Result<()> {
    println!("   {}", spell(command));
    let output = command.output().map_err(|error| format!("{}: {error}", spell(command)))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{}:\n{}", spell(command), String::from_utf8_lossy(&output.stderr))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_found_whatever_the_command_is_called() {
        assert_eq!(median("\"ls, all\",0.5,0.01,0.25,0.1,0.2,0.3,0.9"), Some(0.25));
        assert_eq!(median("nonsense"), None);
    }
}
