//! Walks a tree, for measurements: `walk names|count|sizes|all [-jN] [-i] [-b] [-x] [-L] [-u] [-rN] PATH…`.
//!
//! `names` reads and counts all names, `count` counts by type, `sizes` sums sizes and blocks (a file with several links
//! counts for each), `all` reads all metadata. `-j` sets the number of workers, `-i` walks in inode order, `-b` reads
//! metadata in bulk wherever it can, `-x` stays on one file system, `-L` follows links, `-u` treats all types as unknown, `-r` limits the requests per second, `-v`
//! prints the tally.

#[path = "../tests/common/mod.rs"]
mod common;

use common::Threads;
use dents_core::batch::Batch;
use dents_core::bulk::When;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::{self, End, Failure, Follow, Options, Order, Place, Step, Visitor};
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

#[derive(Clone, Copy, PartialEq)]
enum What {
    Names,
    Count,
    Sizes,
    All,
}

struct Sums {
    what: What,
    kinds: [u64; 16],
    size: u64,
    blocks: u64,
    faults: u64,
}

impl Visitor for Sums {
    type State = ();

    fn entries(&mut self, _: &Place<'_>, batch: &Batch, (): &()) -> Step {
        match self.what {
            What::Names => self.kinds[0] += batch.len() as u64,
            What::Count => batch.iter().for_each(|entry| self.kinds[entry.kind() as usize] += 1),
            What::Sizes | What::All => {
                for entry in batch.iter() {
                    self.kinds[entry.kind() as usize] += 1;
                    self.size += entry.size();
                    self.blocks += entry.blocks();
                }
            }
        }
        Step::Enter
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        eprintln!("walk: {}: {:?}: {}", failure.path.escape_ascii(), failure.problem, failure.errno);
        self.faults += 1;
        Step::Enter
    }
}

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let what = match args.next().as_deref().and_then(|what| what.to_str()) {
        Some("names") => What::Names,
        Some("count") => What::Count,
        Some("sizes") => What::Sizes,
        Some("all") => What::All,
        _ => {
            eprintln!("usage: walk names|count|sizes|all [-jN] [-i] [-b] [-x] [-L] [-u] [-rN] [-v] PATH…");
            return ExitCode::FAILURE;
        }
    };
    let mut options = Options::default();
    let (mut paths, mut verbose) = (Vec::new(), false);
    for arg in args {
        match arg.as_encoded_bytes() {
            [b'-', b'j', number @ ..] => options.workers = number_of(number),
            [b'-', b'r', number @ ..] => options.rate = number_of(number),
            b"-i" => options.order = Order::Inode,
            b"-b" => options.bulk = When::Always,
            b"-x" => options.one_file_system = true,
            b"-L" => options.follow = Follow::Always,
            b"-u" => options.distrust_d_type = true,
            b"-v" => verbose = true,
            _ => paths.push(CString::new(arg.into_vec()).expect("arguments have no NUL")),
        }
    }
    match what {
        What::Names => options.needs = NeedsByKind::default(),
        What::Count => {}
        What::Sizes => options.needs = NeedsByKind::all(Needs::TYPE | Needs::SIZE | Needs::BLOCKS),
        What::All => {
            options.needs = NeedsByKind::all(Needs::all().difference(Needs::XATTRS | Needs::TARGET));
            options.extra = true;
        }
    }
    report(what, &paths, &options, verbose)
}

fn number_of<N: std::str::FromStr>(digits: &[u8]) -> Option<N> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn report(what: What, paths: &[CString], options: &Options<'_>, verbose: bool) -> ExitCode {
    let operands: Vec<&CStr> = paths.iter().map(CString::as_c_str).collect();
    let make = |_| Sums { what, kinds: [0; 16], size: 0, blocks: 0, faults: 0 };
    let outcome = tree::walk(&operands, options, &Threads, make);
    let mut sums = make(0);
    for one in &outcome.visitors {
        sums.kinds.iter_mut().zip(one.kinds).for_each(|(all, some)| *all += some);
        sums.size += one.size;
        sums.blocks += one.blocks;
        sums.faults += one.faults;
    }
    let of = |kind: Kind| sums.kinds[kind as usize];
    match what {
        What::Names => println!("{} names", sums.kinds[0]),
        _ => println!(
            "{} directories, {} files, {} links, {} others",
            of(Kind::Dir),
            of(Kind::Reg),
            of(Kind::Link),
            sums.kinds.iter().sum::<u64>() - of(Kind::Dir) - of(Kind::Reg) - of(Kind::Link)
        ),
    }
    if matches!(what, What::Sizes | What::All) {
        println!("{} bytes, {} KiB on disk", sums.size, sums.blocks / 2);
    }
    if verbose {
        eprintln!("{:?}\n{:?}", outcome.end, outcome.tally);
    }
    if outcome.end == End::Complete && sums.faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
