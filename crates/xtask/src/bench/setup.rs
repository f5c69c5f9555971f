//! Preparations for a measurement: builds the programs, makes directories, finds the peers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cleanup::Cleanup;
use super::directories::{Dir, Shape};
use super::job::{Job, Kind};
use super::machine;
use super::measure::{Contender, Stopwatch};
use super::programs::{self, Program};
use crate::step::{Result, cargo, spell, target_dir, workspace};
use crate::tools;

/// Everything that a run uses; removed when it is dropped, except what cargo built.
pub(crate) struct Setup {
    /// The empty process.
    pub(crate) empty: Program,
    /// The floor, in order and overlapped; none where it does not compile.
    pub(crate) floors: Vec<Program>,
    /// The measure.
    pub(crate) gnu: Program,
    /// `dls` in every mode.
    pub(crate) ours: Vec<Program>,
    /// On a kernel without `listxattrat`.
    pub(crate) older: [Program; 3],
    /// Those of others.
    pub(crate) peers: Vec<Program>,
    /// Where directories are made.
    pub(crate) systems: Vec<FileSystem>,
    /// Measurements that are not possible on this machine, with reasons.
    pub(crate) notes: Vec<String>,
    /// Times commands.
    pub(crate) stopwatch: Stopwatch,
    /// Whether hyperfine is installed; without it there are counts and memory, but no times.
    pub(crate) timed: bool,
    /// Whether taskset is installed; without it no measurement is limited to one core.
    pub(crate) pinned: bool,
    peak: Option<String>,
    calls: Option<String>,
    _cleanup: Cleanup,
}

/// A file system to measure on.
pub(crate) struct FileSystem {
    /// Its type, as the kernel names it.
    pub(crate) fs: String,
    /// Whether a cold run means anything: it has a disk, and the caches may be dropped.
    pub(crate) cold: bool,
    dir: PathBuf,
    nothing: String,
    inodes: u64,
}

impl FileSystem {
    fn prepare(dir: PathBuf) -> Result<FileSystem> {
        let nothing = dir.join("nothing");
        fs::create_dir_all(&nothing).map_err(|error| format!("{}: {error}", nothing.display()))?;
        let (fs, inodes) = machine::file_system(&dir).unwrap_or(("unknown".into(), u64::MAX));
        let cold = fs != "tmpfs" && machine::can_drop_caches();
        Ok(FileSystem { fs, cold, nothing: nothing.display().to_string(), inodes, dir })
    }

    /// Makes a directory.
    pub(crate) fn build(&self, shape: Shape, count: usize) -> Result<Dir> {
        if self.inodes < count as u64 + 1000 {
            let why = format!("{}: only {} inodes are free, {count} files do not fit", self.fs, self.inodes);
            return Err(format!("{why}; name a larger place in TMPDIR, or fewer in COUNT"));
        }
        println!("   {} of {count} on {}", shape.name(), self.fs);
        let dir = shape.build(&self.dir, count)?;
        // Otherwise the kernel may write the new files to the disk while the first programs are timed.
        quietly(&mut Command::new("sync"))?;
        Ok(dir)
    }

    /// The command of a program on a directory, if the program can do the job.
    pub(crate) fn contender(&self, program: &Program, job: Job, dir: &Dir) -> Option<Contender> {
        let command = program.command(job, &dir.path())?;
        Some(Contender { command, warm_up: program.command(job, &self.nothing)? })
    }
}

impl Setup {
    /// Builds and finds all programs. `$DLS` may name another `dls`, `$TMPDIR` another place than /tmp.
    pub(crate) fn prepare(all_systems: bool) -> Result<Setup> {
        let mut notes: Vec<String> = tools::ensure(tools::FOR_BENCHES).err().into_iter().collect();
        let (dls, calls, refuse) = build()?;
        let own = format!("dents-bench-{}", std::process::id());
        let temporary = fs::canonicalize(std::env::temp_dir()).map_err(|error| format!("TMPDIR: {error}"))?;
        let mut dirs = vec![temporary.join(&own)];
        let shm = Path::new("/dev/shm");
        let on_tmpfs = machine::file_system(&temporary).is_some_and(|(fs, _)| fs == "tmpfs");
        if all_systems && shm.is_dir() && !on_tmpfs {
            dirs.push(shm.join(&own));
        }
        let cleanup = Cleanup::watch(&dirs.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
        let systems = dirs.iter().map(|dir| FileSystem::prepare(dir.clone())).collect::<Result<Vec<_>>>()?;
        let scratch = &dirs[0];
        let dls = install(&dls, scratch)?;
        let empty = compile("empty.S", scratch)?;
        let mut yardstick = |source| compile(source, scratch).map_err(|why| notes.push(why)).ok();
        let (floor, peak) = (yardstick("floor.c"), yardstick("peak.c"));
        let floors = floor.iter().flat_map(|path| {
            [("floor", false), ("floor, overlapped", true)]
                .map(|(name, overlap)| Program::new(name, Kind::Floor(overlap), path))
        });
        let (peers, missing) = programs::peers()?;
        if !missing.is_empty() {
            notes.push(format!("not on this machine (in PATH), so not measured: {}", missing.join(", ")));
        }
        let (gnu, ours) = (programs::gnu()?, programs::ours(&dls));
        Ok(Setup {
            older: programs::older(&refuse, ours.last().expect("there are four modes"), &gnu),
            empty: Program::new("empty process", Kind::Empty, &empty),
            floors: floors.collect(),
            gnu,
            ours,
            peers,
            stopwatch: Stopwatch::new(scratch)?,
            timed: programs::find("hyperfine").is_some(),
            pinned: programs::find("taskset").is_some(),
            systems,
            notes,
            peak,
            calls: programs::find("strace").map(|_| calls),
            _cleanup: cleanup,
        })
    }

    /// Peak resident memory of a command, in KiB.
    pub(crate) fn peak(&self, command: &[String], env: Option<(&str, &str)>) -> Option<f64> {
        answer(self.peak.as_ref()?, command, env)
    }

    /// The system calls of a command and its threads; requests through a ring do not count.
    pub(crate) fn calls(&self, command: &[String]) -> Option<f64> {
        answer(self.calls.as_ref()?, command, None)
    }

    /// The `dls` that chooses its mode.
    pub(crate) fn auto(&self) -> &Program {
        self.ours.last().expect("there are four modes")
    }
}

/// The number that `program command…` prints.
fn answer(program: &str, words: &[String], env: Option<(&str, &str)>) -> Option<f64> {
    let mut command = Command::new(program);
    command
        .args(words)
        .env_remove("LS_COLORS")
        .env_remove("TZ")
        .env("LC_ALL", "C")
        .env("TERM", "xterm")
        .envs(env);
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}

/// `dls`, as it is shipped, the counter of system calls, and the launcher that refuses some.
fn build() -> Result<(String, String, String)> {
    let dls = match std::env::var("DLS") {
        Ok(path) => programs::find(&path).ok_or(format!("DLS={path}: no such program"))?,
        Err(_) => {
            quietly(&mut cargo(["build", "--release", "--package", "dents-ls"]))?;
            target_dir().join("release/dls").display().to_string()
        }
    };
    quietly(&mut cargo(["build", "--package", "dents-lab", "--bin", "calls", "--bin", "refuse"]))?;
    let built = |program: &str| target_dir().join("debug").join(program).display().to_string();
    Ok((dls, built("calls"), built("refuse")))
}

/// A program as users have it after copying it to its place: written from the beginning to the end, it lies in large pieces
/// in the page cache, and starts 10 µs sooner than as the linker left it.
fn install(program: &str, scratch: &Path) -> Result<String> {
    let copy = scratch.join(Path::new(program).file_name().unwrap_or_default());
    let failed = |error| format!("{}: {error}", copy.display());
    fs::write(&copy, fs::read(program).map_err(|error| format!("{program}: {error}"))?).map_err(failed)?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    Ok(copy.display().to_string())
}

/// One of crates/dents-lab/bench, which need no C library.
fn compile(source: &str, scratch: &Path) -> Result<String> {
    let program = scratch.join(source.split('.').next().unwrap_or(source));
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-no-pie", "-nostdlib", "-static"]);
    cc.args(["-Wl,--build-id=none", "-o"]).arg(&program);
    quietly(cc.arg(workspace().join("crates/dents-lab/bench").join(source)))?;
    Ok(program.display().to_string())
}

fn quietly(command: &mut Command) -> Result<()> {
    println!("   {}", spell(command));
    let output = command.output().map_err(|error| format!("{}: {error}", spell(command)))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{}:\n{}", spell(command), String::from_utf8_lossy(&output.stderr))),
    }
}
