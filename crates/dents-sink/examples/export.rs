//! Rows into a file, to measure outputs with: `export FORMAT FILE walk PATH…` takes them from a tree, `export FORMAT FILE rows N`
//! out of nothing. With the format `none` nothing is written: what the rows themselves cost.
//!
//! Invented rows look like those of a home directory: 30 entries a directory, names of 14 bytes, paths of 80, one owner, inode
//! numbers and times that follow each other with leaps. `EXPORT_WORKERS` sets the number of workers.

use dents::batch::{Batch, Time};
use dents::needs::{Kind, Needs, NeedsByKind};
use dents::owners::{Getent, Owners};
use dents::stat::Workers;
use dents::tree::{self, Failure, Options, Place, Problem, Step, Visitor};
use dents_sink::{Asked, Facts, Fault, Format, Part, Row, Sink, create};
use std::ffi::{CStr, CString};
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::time::Instant;

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [format, file, source, from @ ..] = &args[..] else {
        eprintln!("usage: export ndjson|parquet|sqlite|none FILE rows N\n       export … walk PATH…");
        std::process::exit(2);
    };
    let workers = std::env::var("EXPORT_WORKERS").ok().and_then(|workers| workers.parse().ok());
    let begun = Instant::now();
    let sink = match Format::of_name(format) {
        Some(format) => create(Path::new(file), format, "the example `export`")?,
        None => Box::new(Nowhere),
    };
    let rows = match source.as_str() {
        "walk" => walk(&*sink, from, workers)?,
        _ => invent(&*sink, from.concat().parse().map_err(io::Error::other)?, workers.unwrap_or(2))?,
    };
    let filled = begun.elapsed().as_secs_f64();
    sink.finish()?;
    let taken = begun.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    eprintln!("{rows} rows in {filled:.3} s, {taken:.3} s with what comes after; {peak}");
    Ok(())
}

/// What takes rows and forgets them.
struct Nowhere;

impl Sink for Nowhere {
    fn part(&self) -> Box<dyn Part + '_> {
        Box::new(Nowhere)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

impl Part for Nowhere {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        std::hint::black_box(row);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// std's scoped threads.
struct Threads;

impl Workers for Threads {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for worker in 1..workers {
                // A thread that cannot be started is left out.
                let _ = std::thread::Builder::new().spawn_scoped(scope, move || job(worker));
            }
            job(0);
        });
    }
}

/// Names of owners come from files alone here.
struct NoChild;

impl Getent for NoChild {
    fn getent(&self, _: &CStr, _: &[u32]) -> Option<Vec<u8>> {
        None
    }
}

struct Export<'s> {
    part: Box<dyn Part + 's>,
    owners: Owners,
    rows: u64,
    error: Option<io::Error>,
}

fn walk(sink: &dyn Sink, paths: &[String], workers: Option<usize>) -> io::Result<u64> {
    let paths: Vec<CString> = paths.iter().flat_map(|path| CString::new(path.as_str())).collect();
    let operands: Vec<&CStr> = paths.iter().map(CString::as_c_str).collect();
    let needs = NeedsByKind::all(Needs::all().difference(Needs::XATTRS | Needs::TARGET));
    let options = Options { needs, extra: true, workers, ..Options::default() };
    let make = |_| Export { part: sink.part(), owners: Owners::default(), rows: 0, error: None };
    let mut rows = 0;
    for mut one in tree::walk(&operands, &options, &Threads, make).visitors {
        rows += one.rows;
        one.error.map_or(Ok(()), Err)?;
        one.part.flush()?;
    }
    Ok(rows)
}

impl Visitor for Export<'_> {
    type State = ();

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        self.owners.learn(batch, Needs::UID | Needs::GID, &NoChild);
        for entry in batch.iter() {
            let fault =
                entry.fault().map(|(_, errno)| Fault { asked: Asked::Stat, errno: errno.raw_os_error() });
            let facts = entry.extra().filter(|_| entry.is_known()).map(|extra| Facts {
                dev: extra.dev,
                ino: entry.ino(),
                mode: entry.mode(),
                nlink: entry.nlink(),
                uid: entry.uid(),
                gid: entry.gid(),
                user: self.owners.user(entry.uid()),
                group: self.owners.group(entry.gid()),
                size: entry.size(),
                allocated: entry.blocks() * 512,
                atime: extra.atime,
                btime: (extra.btime != Time::UNKNOWN).then_some(extra.btime),
                ctime: extra.ctime,
                mtime: extra.mtime,
                lazy: false,
            });
            let (parent, name, depth) = (place.path, entry.name(), place.depth);
            let row = Row { parent, name, depth, kind: entry.kind(), facts, target: entry.link(), fault };
            self.rows += 1;
            if let Err(error) = self.part.row(&row) {
                self.error = Some(error);
                return Step::Stop;
            }
        }
        Step::Enter
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        let asked = match failure.problem {
            Problem::Open => Asked::Open,
            Problem::Read => Asked::Read,
            Problem::Loop => Asked::Loop,
        };
        let fault = Some(Fault { asked, errno: failure.errno.raw_os_error() });
        let depth = failure.depth.saturating_sub(1);
        let (name, kind) = (failure.path, Kind::Dir);
        self.error =
            self.part.row(&Row { parent: b"", name, depth, kind, facts: None, target: None, fault }).err();
        Step::Enter
    }
}

fn invent(sink: &dyn Sink, rows: u64, workers: usize) -> io::Result<u64> {
    std::thread::scope(|scope| {
        let work = |worker: usize| {
            let mut part = sink.part();
            scope.spawn(move || fill(&mut *part, rows / workers as u64, worker as u64))
        };
        let parts: Vec<_> = (0..workers).map(work).collect();
        parts.into_iter().map(|part| part.join().expect("no panic")).sum()
    })
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn fill(part: &mut dyn Part, rows: u64, worker: u64) -> io::Result<u64> {
    let mut state = worker + 1;
    let (mut parent, mut name) = (String::new(), String::new());
    let (mut ino, mut mtime) = (worker << 32, 1_700_000_000_i64);
    for nth in 0..rows {
        if nth % 30 == 0 {
            parent.clear();
            let (project, folder) = (nth / 3000, nth / 30 % 100);
            let _ = write!(
                parent,
                "/home/worker{worker}/projects/project-{project:06}/src/modules/module_{folder:03}"
            );
            mtime += random(&mut state) as i64 % 10_000;
            ino += random(&mut state) % 1000;
        }
        name.clear();
        let stem = ["main", "lib", "test", "part"][nth as usize % 4];
        let _ = write!(name, "{stem}_{:06x}.rs", random(&mut state) % 0xff_ffff);
        ino += 1;
        let facts = Facts { ino, ..invented(&mut state, mtime) };
        let (parent, name) = (parent.as_bytes(), name.as_bytes());
        part.row(&Row {
            parent,
            name,
            depth: 7,
            kind: Kind::Reg,
            facts: Some(facts),
            target: None,
            fault: None,
        })?;
    }
    part.flush()?;
    Ok(rows)
}

fn invented(state: &mut u64, mtime: i64) -> Facts<'static> {
    let size = random(state) % (1 << (random(state) % 24));
    let stamp = Time { sec: mtime + random(state) as i64 % 60, nsec: (random(state) % 1_000_000_000) as u32 };
    Facts {
        dev: (8, 1),
        ino: 0,
        mode: 0o100_644,
        nlink: 1,
        uid: 1000,
        gid: 1000,
        user: Some(b"worker"),
        group: Some(b"users"),
        size,
        allocated: size.next_multiple_of(4096),
        atime: stamp,
        btime: Some(stamp),
        ctime: stamp,
        mtime: stamp,
        lazy: false,
    }
}
