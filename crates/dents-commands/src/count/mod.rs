//! `dents count`: the number of entries of each type, by the types that `readdir` returns.
//!
//! Costs `openat`, `getdents64` and `close` for each directory, and one `statx` for each PATH, whose type `readdir`
//! does not return. Where `readdir` returns no types it costs one `statx` for each entry; `--json` shows the number. With several
//! PATHs it costs one more `statx` for each PATH and each directory, because a directory below several PATHs counts once.

mod roots;

use crate::consumer::Consumer;
use crate::entry::Found;
use crate::filter::{self, Depths, Filter};
use crate::output::{
    Column, Completion, Csv, Destination, Diagnostics, Head, Paint, Screen, Table, write_json,
};
use crate::overlap::Overlap;
use crate::rows::{Cell, RowWriter, Type};
use crate::session::{Session, Status};
use crate::source::{Gathered, Job, Opened, Source, Special, Way};
use crate::walk::Walk;
use dents_core::batch::Batch;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::{End, Follow, Place, Step};
use dents_sink::read::Columns;
use roots::Roots;
use serde::Serialize;
use std::io::{self, Write};

/// Count entries by type
///
/// The PATHs themselves count, as in find(1). An entry below several PATHs counts once. Types are those of readdir; entries are
/// stat'ed only if readdir returns no types.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    filter: filter::Args,
    #[command(flatten)]
    depths: Depths,
    /// One JSON object
    #[arg(long, help_heading = "What is shown", conflicts_with = "csv")]
    json: bool,
    /// A table as CSV, with a line of titles
    #[arg(long, help_heading = "What is shown")]
    csv: bool,
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

pub(crate) fn run(args: &Args, session: &Session) -> Status {
    let filter = Filter::new(&args.filter, args.depths, None);
    let diagnostics = Diagnostics::begin(session);
    let job = Job {
        walk: &args.walk,
        source: &args.source,
        filter: &filter,
        diagnostics: &diagnostics,
        needs: NeedsByKind::all(Needs::TYPE),
        must: NeedsByKind::default(),
    };
    let gathered = match args.source.file() {
        Some(file) => file.open(job.diagnostics.session()).and_then(|opened| from_file(&job, opened)),
        None => Ok(from_tree(&job)),
    };
    let (counts, end, stats) = match gathered {
        Ok(gathered) => gathered,
        Err(code) => return code,
    };
    let completion = Completion::new(end, diagnostics);
    completion.finish(|destination| match destination {
        Destination::Rows(writer) => rows(&counts, writer),
        Destination::Text(out) if args.json => json(&counts, &completion, stats, out),
        Destination::Text(out) if args.csv => rows(&counts, &mut Csv::new(out)),
        Destination::Text(out) => table(&counts, &Screen::stdout(), out),
    })
}

/// The counts, the reason why the work ended, and the number of `statx`.
type Counted = (Counts, End, u64);

fn from_tree(job: &Job<'_>) -> Counted {
    // Where links are followed, a file that several links lead to counts once for each link: each link is an entry.
    let never = job.walk.follow() == Follow::Never;
    let follow = if never { Follow::Never } else { Follow::Operands };
    let paths = job.walk.paths();
    let (overlap, roots) = (Overlap::new(&paths, follow), Roots::new(&paths, follow));
    let mut needs = job.needs;
    if overlap.has_directories() {
        needs |= NeedsByKind::of(Kind::Dir, Needs::TYPE | Needs::INODE);
    }
    let must = if overlap.has_directories() { needs } else { job.must };
    let special = Special { extra: overlap.has_directories(), ..Special::default() };
    let make = || Counter { overlap: &overlap, roots: &roots, counts: Counts::default() };
    let Gathered { consumers, end, tally, .. } = Job { needs, must, ..*job }.walk(&special, make);
    (sum(&consumers), end, tally.stats)
}

fn from_file(job: &Job<'_>, opened: Opened<'_>) -> Result<Counted, Status> {
    let (overlap, roots) = (Overlap::new(&[], Follow::Never), Roots::default());
    let make = || Counter { overlap: &overlap, roots: &roots, counts: Counts::default() };
    let Gathered { consumers, end, .. } = job.read(opened, &Way::once(Columns::empty()), make)?;
    Ok((sum(&consumers), end, 0))
}

fn sum(counters: &[Counter<'_>]) -> Counts {
    let mut counts = Counts::default();
    for one in counters {
        counts.iter_mut().zip(one.counts).for_each(|(all, some)| *all += some);
    }
    counts
}

/// One worker's counts.
struct Counter<'t> {
    overlap: &'t Overlap,
    roots: &'t Roots,
    counts: Counts,
}

impl Consumer for Counter<'_> {
    type State = ();

    fn entry(&mut self, found: &Found<'_>, (): &()) -> Step {
        if found.depth == 0 && found.has_failed() {
            // The entry does not exist.
            return Step::Enter;
        }
        let step = self.passed_over(found);
        let is_new = step == Step::Enter && (found.kind == Kind::Dir || !self.roots.hold(found));
        self.counts[found.kind as usize] += u64::from(is_new);
        step
    }

    /// A directory that was counted as part of another PATH is not entered.
    fn passed_over(&mut self, found: &Found<'_>) -> Step {
        if found.kind != Kind::Dir || !self.overlap.has_directories() {
            return Step::Enter;
        }
        match found.facts() {
            Some(facts) if !self.overlap.is_new(facts.inode()) => Step::Skip,
            _ => Step::Enter,
        }
    }

    fn all(&mut self, _: &Place<'_>, batch: &Batch) -> bool {
        if self.overlap.has_directories() || !self.roots.is_empty() {
            return false;
        }
        batch.iter().for_each(|entry| self.counts[entry.kind() as usize] += 1);
        true
    }

    /// An entry counts even if its `statx` failed, because the entry exists.
    fn takes_faults(&self) -> bool {
        true
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
    /// The number of `statx` calls: one for each PATH where `readdir` returns types.
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

/// A row for each type, and one for all entries.
fn rows(counts: &Counts, writer: &mut dyn RowWriter) -> io::Result<()> {
    writer.titles(&[("type", Type::Word), ("entries", Type::Number)])?;
    for (kind, word, _) in TYPES.into_iter().filter(|(kind, ..)| counts[*kind as usize] > 0) {
        writer.row(&[Cell::Word(word), Cell::Number(counts[kind as usize].into())])?;
    }
    writer.row(&[Cell::Word("all"), Cell::Number(counts.iter().sum::<u64>().into())])
}

fn json(counts: &Counts, completion: &Completion<'_>, stats: u64, out: &mut dyn Write) -> io::Result<()> {
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
    let object = Object { head, entries: counts.iter().sum(), types, stats };
    write_json(&object, out)
}
