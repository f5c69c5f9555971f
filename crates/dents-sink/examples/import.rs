//! Reads a scan file, to measure a reader without a command: `import FILE WORKERS WHAT [PATH]`. WHAT sets the columns: `all`, `stats` (those
//! of `dents stats --by user,age`), `names` (the same with `extension`), `paths` or `none`. With PATH only rows below it are read.

use dents_sink::Row;
use dents_sink::read::{Columns, Take, Wanted, open};
use std::io;
use std::time::Instant;

struct Sum(u64);

impl Take for Sum {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.0 = self.0.wrapping_add(row.facts.map_or(1, |facts| facts.size ^ facts.mtime.sec as u64))
            + row.name.len() as u64;
        Ok(())
    }
}

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, workers, what, below @ ..] = &args[..] else {
        eprintln!("usage: import FILE WORKERS all|stats|names|paths|none [PATH…]");
        std::process::exit(2);
    };
    let stats = Columns::INODE
        | Columns::NLINK
        | Columns::UID
        | Columns::USER
        | Columns::SIZE
        | Columns::ALLOCATED
        | Columns::MTIME;
    let columns = match &what[..] {
        "all" => Columns::all(),
        "stats" => stats,
        "paths" => Columns::PATH,
        "names" => stats | Columns::NAME,
        _ => Columns::empty(),
    };
    let below: Vec<Vec<u8>> = below.iter().map(|path| path.clone().into_bytes()).collect();
    let wanted = Wanted { columns, below: &below };
    let begun = Instant::now();
    let reader = open(file.as_ref())?;
    let groups = reader.row_groups(&wanted);
    let (sums, _) = reader.read(&wanted, workers.parse().map_err(io::Error::other)?, |_| Sum(0))?;
    let sum = sums.iter().fold(0_u64, |sum, one| sum.wrapping_add(one.0));
    println!("{:.3} s, sum {sum}, {groups:?}", begun.elapsed().as_secs_f64());
    Ok(())
}
