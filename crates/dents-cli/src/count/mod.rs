//! `dents count`: entries by type, as `readdir` tells it.
//!
//! Costs `openat`, `getdents64` and `close` for each directory, and one `statx` for each PATH, whose type `readdir`
//! does not give. Where `readdir` gives no types, one `statx` for each entry; `--json` says how many. With several PATHs one
//! `statx` more for each of them and for each directory: a directory that lies in several PATHs counts once.

mod roots;

use crate::overlap::{self, Overlap};
use crate::report::{Column, Completion, Diagnostics, Head, Paint, Screen, Table, write_json};
use crate::walk::Walk;
use dents_core::batch::Batch;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::{Failure, Follow, Place, Step, Tally, Visitor};
use roots::Roots;
use serde::Serialize;
use std::io::{self, Write};
use std::process::ExitCode;

/// Count entries by type
///
/// The PATHs themselves count, as for find(1); an entry that lies in several PATHs counts once. Types are those that readdir gives;
/// entries are stat'ed only where it gives none.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    walk: Walk,
    /// One JSON object
    #[arg(long, help_heading = "What is shown")]
    json: bool,
}

/// By type, as `d_type` numbers them.
type Counts = [u64; 16];

/// The types in the order in which they are shown, each with the words for one and for several.
const TYPES: [(Kind, &str, &str); 9] = [
    (Kind::Dir, "directory", "directories"),
    (Kind::Reg, "file", "files"),
    (Kind::Link, "link", "links"),
    (Kind::Sock, "socket", "sockets"),
    (Kind::Fifo, "fifo", "fifos"),
    (Kind::Block, "block device", "block devices"),
    (Kind::Char, "character device", "character devices"),
    (Kind::Whiteout, "whiteout", "whiteouts"),
    (Kind::Unknown, "unknown", "unknown"),
];

pub(crate) fn run(args: &Args) -> ExitCode {
    let diagnostics = Diagnostics::begin();
    let options = args.walk.options(NeedsByKind::all(Needs::TYPE));
    // Where links are followed, a file that several links lead to counts once for each link: each link is an entry.
    let follow = if options.follow == Follow::Never { Follow::Never } else { Follow::Operands };
    let paths = args.walk.paths();
    let (overlap, roots) = (Overlap::new(&paths, follow), Roots::new(&paths, follow));
    let (counts, again) = (Counts::default(), Counts::default());
    let make = |_| Counter { diagnostics: &diagnostics, overlap: &overlap, roots: &roots, counts, again };
    let outcome = args.walk.walk(&options, make);
    let (mut counts, mut again) = (counts, roots.again);
    let (end, tally) = (outcome.end, outcome.tally);
    for one in outcome.visitors {
        counts.iter_mut().zip(one.counts).for_each(|(all, some)| *all += some);
        again.iter_mut().zip(one.again).for_each(|(all, some)| *all += some);
    }
    counts.iter_mut().zip(again).for_each(|(all, some)| *all = all.saturating_sub(some));
    let completion = Completion::new(end, diagnostics);
    completion.finish(|out| match args.json {
        true => json(&counts, &completion, &tally, out),
        false => table(&counts, &Screen::stdout(), out),
    })
}

struct Counter<'t> {
    diagnostics: &'t Diagnostics,
    overlap: &'t Overlap,
    roots: &'t Roots,
    counts: Counts,
    /// How many of these were counted before.
    again: Counts,
}

impl Visitor for Counter<'_> {
    type State = ();

    fn opened(&mut self, place: &Place<'_>, (): &mut ()) -> Step {
        let inode = if self.overlap.has_directories() { overlap::directory(place.dir) } else { None };
        if inode.is_none_or(|inode| self.overlap.is_new(inode)) {
            return Step::Enter;
        }
        self.again[Kind::Dir as usize] += 1;
        Step::Skip
    }

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        self.diagnostics.saw(place, batch);
        // An operand that does not exist is no entry. An entry without a type counts as one of unknown type.
        for entry in batch.iter().filter(|entry| place.depth > 0 || entry.fault().is_none()) {
            self.counts[entry.kind() as usize] += 1;
            if entry.kind() != Kind::Dir && self.roots.hold(place, &entry) {
                self.again[entry.kind() as usize] += 1;
            }
        }
        Step::Enter
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.diagnostics.failed(failure);
        Step::Enter
    }
}

/// Directories, files and links are always shown, other types if there are any.
fn table(counts: &Counts, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(vec![Column::right("").painted(Paint::Size), Column::left("")]);
    let mut row = |count, one: &str, many: &str| {
        table.row(vec![screen.count(count), if count == 1 { one } else { many }.into()]);
    };
    for (nth, (kind, one, many)) in TYPES.into_iter().enumerate() {
        let count = counts[kind as usize];
        if nth < 3 || count > 0 {
            row(count, one, many);
        }
    }
    row(counts.iter().sum(), "entry", "entries");
    table.draw(screen, out)
}

/// `{"dents":"count", …, "entries":N, "types":{"directories":N, "files":N, …}, "stats":N}`.
#[derive(Serialize)]
struct Object {
    #[serde(flatten)]
    head: Head,
    entries: u64,
    types: Types,
    /// `statx` made: one for each PATH where `readdir` tells types.
    stats: u64,
}

#[derive(Serialize)]
struct Types {
    directories: u64,
    files: u64,
    links: u64,
    sockets: u64,
    fifos: u64,
    block_devices: u64,
    character_devices: u64,
    whiteouts: u64,
    unknown: u64,
}

fn json(counts: &Counts, completion: &Completion, tally: &Tally, out: &mut dyn Write) -> io::Result<()> {
    let of = |kind: Kind| counts[kind as usize];
    let types = Types {
        directories: of(Kind::Dir),
        files: of(Kind::Reg),
        links: of(Kind::Link),
        sockets: of(Kind::Sock),
        fifos: of(Kind::Fifo),
        block_devices: of(Kind::Block),
        character_devices: of(Kind::Char),
        whiteouts: of(Kind::Whiteout),
        unknown: of(Kind::Unknown),
    };
    let head = Head::new("count", completion);
    let object = Object { head, entries: counts.iter().sum(), types, stats: tally.stats };
    write_json(&object, out)
}
