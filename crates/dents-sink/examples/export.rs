//! Writes generated rows into a file, to measure an output without the walk of `dents scan -o`: `export FORMAT FILE N`. With the
//! format `none` it writes nothing, and measures the generation of the rows.
//!
//! The rows look like those of a home directory: 30 entries in each directory, names of 14 bytes, paths of 80, one owner, increasing
//! inode numbers and times with gaps. `EXPORT_WORKERS` sets the number of workers.

use dents_core::batch::Time;
use dents_core::needs::Kind;
use dents_sink::time::Unit;
use dents_sink::{About, Extent, Facts, Format, Part, Row, Sink, create};
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [format, file, rows] = &args[..] else {
        eprintln!("usage: export ndjson|parquet|sqlite|none FILE N");
        std::process::exit(2);
    };
    let workers = std::env::var("EXPORT_WORKERS").ok().and_then(|workers| workers.parse().ok()).unwrap_or(2);
    let begun = Instant::now();
    let sink = match Format::of_name(format) {
        Some(format) => {
            let about = About {
                program: "the example `export`",
                begun: Time::UNKNOWN,
                ended: None,
                timestamps: Unit::Micros,
                index: false,
                subvolumes: &[],
                details: Default::default(),
            };
            create(Path::new(file), format, &about)?
        }
        None => Box::new(Nowhere),
    };
    let rows = invent(&*sink, rows.parse().map_err(io::Error::other)?, workers)?;
    let filled = begun.elapsed().as_secs_f64();
    sink.finish(Extent::Complete)?;
    let taken = begun.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    eprintln!("{rows} rows in {filled:.3} s, {taken:.3} s with what comes after; {peak}");
    Ok(())
}

/// Discards all rows.
struct Nowhere;

impl Sink for Nowhere {
    fn part(&self) -> Box<dyn Part + '_> {
        Box::new(Nowhere)
    }

    fn finish(self: Box<Self>, _: Extent) -> io::Result<Option<PathBuf>> {
        Ok(None)
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
            details: Default::default(),
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
        unknown: dents_sink::read::Columns::empty(),
    }
}
