//! Rows out of nothing, to measure outputs with: `rows ROWS FORMAT FILE [WORKERS]`, or `rows ROWS none -`.
//!
//! They look like those of a home directory: directories of about 30 entries, names of 12 bytes, paths of 70, one owner,
//! inode numbers and times that follow each other with leaps.

use dents::batch::Time;
use dents::needs::Kind;
use dents_sink::{Facts, Format, Part, Row, create};
use std::io;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [rows, format, file, rest @ ..] = &args[..] else {
        eprintln!("usage: rows ROWS ndjson|parquet|sqlite|none FILE [WORKERS]");
        std::process::exit(2);
    };
    let rows: u64 = rows.parse().map_err(io::Error::other)?;
    let workers: u64 = rest.first().map_or(Ok(2), |workers| workers.parse()).map_err(io::Error::other)?;
    let begun = Instant::now();
    let bytes = match Format::of_name(format) {
        None => (0..workers)
            .map(|worker| fill(&mut Nowhere(0), rows / workers, worker))
            .sum::<io::Result<u64>>()?,
        Some(format) => {
            let sink = create(Path::new(file), format, "the example `rows`")?;
            let bytes = std::thread::scope(|scope| {
                let part = |worker| {
                    let mut part = sink.part();
                    scope.spawn(move || fill(&mut *part, rows / workers, worker))
                };
                let parts: Vec<_> = (0..workers).map(part).collect();
                parts.into_iter().map(|part| part.join().expect("no panic")).sum::<io::Result<u64>>()
            })?;
            let filled = begun.elapsed();
            sink.finish()?;
            eprint!("filled in {:.3} s, ", filled.as_secs_f64());
            bytes
        }
    };
    let taken = begun.elapsed();
    let each = taken.as_nanos() as u64 * workers / rows.max(1);
    eprintln!("{rows} rows of {bytes} bytes in {:.3} s, {each} ns a row and worker", taken.as_secs_f64());
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    writeln!(io::stderr(), "{peak}")
}

/// What the rows themselves cost.
struct Nowhere(u64);

impl Part for Nowhere {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.0 += std::hint::black_box(row).name.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Returns the sum of sizes.
fn fill(part: &mut dyn Part, rows: u64, worker: u64) -> io::Result<u64> {
    let mut state = worker + 1;
    let (mut parent, mut name) = (String::new(), String::new());
    let (mut ino, mut mtime, mut sum) = (worker << 32, 1_700_000_000_i64, 0);
    for nth in 0..rows {
        use std::fmt::Write;
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
        let _ = write!(
            name,
            "{}_{:06x}.rs",
            ["main", "lib", "test", "part"][nth as usize % 4],
            random(&mut state) % 0xff_ffff
        );
        ino += 1;
        let size = random(&mut state) % (1 << (random(&mut state) % 24));
        sum += size;
        let stamp = Time {
            sec: mtime + random(&mut state) as i64 % 60,
            nsec: (random(&mut state) % 1_000_000_000) as u32,
        };
        let facts = Facts {
            dev: (8, 1),
            ino,
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
        };
        part.row(&Row {
            parent: parent.as_bytes(),
            name: name.as_bytes(),
            depth: 7,
            kind: Kind::Reg,
            facts: Some(facts),
            target: None,
            fault: None,
        })?;
    }
    part.flush()?;
    Ok(sum)
}
