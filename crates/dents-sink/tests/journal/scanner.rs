//! A scan like that of a program: a walk whose visitors write to a journal, which is replayed into an output in the end. The output is
//! a file with a line for each row, with all of its fields.

use dents_core::batch::{Batch, Entry};
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::stat::Workers;
use dents_core::tree::{self, End, Failure, Follow, Outcome, Place, Problem, Step, Visitor};
use dents_sink::journal::{Error, Journal, Options, Scan, Writer};
use dents_sink::{Asked, Facts, Fault, Part, Row};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The variable by which the started process finds its directory and its task.
pub(crate) const TOLD: &str = "DENTS_JOURNAL_PLAYGROUND";
pub(crate) const HOW: &str = "DENTS_JOURNAL_HOW";

/// Rows as text, sorted.
pub(crate) type Rows = Vec<String>;

/// How to scan.
#[derive(Default)]
pub(crate) struct How {
    workers: usize,
    buffer: Option<usize>,
    rate: u32,
    depth: Option<u32>,
    follow: bool,
    one: bool,
    /// Whether to end without replaying, as if killed there.
    leave: bool,
    /// Whether to drop one writer without flushing it.
    forget: bool,
    /// Whether the files lose this number of bytes before they are replayed, as where the disk of a server is full.
    lose: u64,
    /// Stops after this number of batches.
    stop: Option<u32>,
}

impl How {
    pub(crate) fn parse(words: &str) -> How {
        let mut how = How { workers: 1, ..How::default() };
        for word in words.split_whitespace() {
            let (name, number) = word.split_once('=').unwrap_or((word, "0"));
            let number: u32 = number.parse().expect("a number");
            match name {
                "workers" => how.workers = number as usize,
                "buffer" => how.buffer = Some(number as usize),
                "rate" => how.rate = number,
                "depth" => how.depth = Some(number),
                "follow" => how.follow = true,
                "one" => how.one = true,
                "leave" => how.leave = true,
                "forget" => how.forget = true,
                "lose" => how.lose = number.into(),
                "stop" => how.stop = Some(number),
                _ => panic!("{word}?"),
            }
        }
        how
    }

    fn options(&self) -> tree::Options<'static> {
        tree::Options {
            needs: NeedsByKind::all(Needs::TYPE | Needs::SIZE | Needs::INODE | Needs::MODE | Needs::LINK),
            extra: true,
            follow: if self.follow { Follow::Always } else { Follow::Never },
            one_file_system: self.one,
            max_depth: self.depth.unwrap_or(u32::MAX),
            workers: Some(self.workers),
            rate: std::num::NonZeroU32::new(self.rate),
            ..tree::Options::default()
        }
    }

    /// The options that decide which rows there are, without those that only change how the scan works.
    fn words(&self) -> String {
        let mut words = String::new();
        words.extend(self.depth.map(|depth| format!("depth={depth}")));
        words += if self.follow { " follow" } else { "" };
        words + if self.one { " one" } else { "" }
    }
}

struct Threads;

impl Workers for Threads {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for worker in 1..workers {
                scope.spawn(move || job(worker));
            }
            job(0);
        });
    }
}

/// One worker of the scan.
struct Scanner<'j> {
    writer: Writer<'j>,
    left: &'j AtomicU32,
    error: Option<io::Error>,
}

impl Scanner<'_> {
    fn told(&mut self, result: io::Result<()>, step: Step) -> Step {
        match result {
            Ok(()) => step,
            Err(error) => {
                self.error = Some(error);
                Step::Stop
            }
        }
    }
}

impl Visitor for Scanner<'_> {
    type State = ();

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        let stop = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if stop.is_err() {
            return Step::Stop;
        }
        let mut result = self.writer.directory(place);
        for entry in batch.iter() {
            result = result.and_then(|()| self.writer.row(&row(place, &entry)));
        }
        self.told(result, Step::Enter)
    }

    fn descend(&mut self, _: &Place<'_>, entry: &Entry<'_>, (): &()) -> Step {
        if self.writer.enters(entry.name()) { Step::Enter } else { Step::Skip }
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        let result = self.writer.failed(failure).and_then(|()| self.writer.row(&failure_row(failure)));
        self.told(result, Step::Enter)
    }
}

/// Cuts bytes off the end of each file with rows.
fn lose(journal: &Path, bytes: u64) -> io::Result<()> {
    for file in std::fs::read_dir(journal)? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "rows") {
            let file = std::fs::OpenOptions::new().write(true).open(&path)?;
            file.set_len(file.metadata()?.len().saturating_sub(bytes))?;
        }
    }
    Ok(())
}

fn row<'a>(place: &Place<'a>, entry: &'a Entry<'a>) -> Row<'a> {
    let extra = entry.extra();
    let facts = extra.map(|extra| Facts {
        dev: extra.dev,
        ino: entry.ino(),
        mode: entry.mode(),
        nlink: 0,
        uid: 0,
        gid: 0,
        user: Some(b"root"),
        group: None,
        size: entry.size(),
        allocated: 0,
        // Reading a directory changes it.
        atime: extra.mtime,
        btime: Some(extra.btime),
        ctime: extra.ctime,
        mtime: extra.mtime,
        lazy: false,
        unknown: dents_sink::read::Columns::empty(),
    });
    let target = if entry.kind() == Kind::Link { entry.link() } else { None };
    Row {
        details: Default::default(),
        parent: place.path,
        name: entry.name(),
        depth: place.depth,
        kind: entry.kind(),
        facts,
        target,
        fault: None,
    }
}

fn failure_row<'a>(failure: &Failure<'a>) -> Row<'a> {
    let asked = match failure.problem {
        Problem::Open => Asked::Open,
        Problem::Read => Asked::Read,
        Problem::Loop => Asked::Loop,
    };
    let slash = failure.path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    Row {
        parent: &failure.path[..slash],
        name: &failure.path[slash + 1..],
        depth: failure.depth - 1,
        kind: Kind::Dir,
        facts: None,
        target: None,
        details: Default::default(),
        fault: Some(Fault { asked, errno: failure.errno.raw_os_error() }),
    }
}

/// The output.
#[derive(Default)]
struct Lines(Rows);

impl Part for Lines {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.0.push(format!("{row:?}"));
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.sort();
        Ok(())
    }
}

/// Opens a journal, and tries again if it is in use. Another test may just be starting a process, which keeps all open files, and so the
/// lock, until it executes another program.
pub(crate) fn open(dir: &Path, scan: &Scan<'_>, options: Options) -> Result<Journal, Error> {
    for _ in 0..200 {
        match Journal::open(dir, scan, options) {
            Err(Error::InUse { .. }) => std::thread::sleep(Duration::from_millis(5)),
            other => return other,
        }
    }
    Journal::open(dir, scan, options)
}

/// Scans `tree` in the playground, with a journal beside it, into the file `rows`.
pub(crate) fn scan(playground: &Path, how: &How) -> io::Result<()> {
    let tree = c_path(&playground.join("tree"));
    let scan = Scan { options: &how.words(), paths: &[&tree], subvolumes: &[] };
    let mut options = Options::default();
    options.buffer = how.buffer.unwrap_or(options.buffer);
    let journal = open(&playground.join("journal"), &scan, options)?;
    let left = AtomicU32::new(how.stop.unwrap_or(u32::MAX));
    let make = |_| Scanner { writer: journal.writer(), left: &left, error: None };
    let operands = journal.operands(scan.paths);
    let Outcome { visitors, end, .. } =
        tree::walk_on(&operands, journal.start_points(), &how.options(), &Threads, make);
    for (index, mut visitor) in visitors.into_iter().enumerate() {
        if let Some(error) = visitor.error {
            return Err(error);
        }
        if end == End::Complete && !(how.forget && index == 0) {
            visitor.writer.flush()?;
        }
    }
    if how.leave || how.stop.is_some() {
        return Ok(());
    }
    if how.lose > 0 {
        lose(&playground.join("journal"), how.lose)?;
    }
    let mut lines = Lines::default();
    journal.replay(&mut lines)?;
    lines.flush()?;
    std::fs::write(playground.join("rows"), lines.0.join("\n"))?;
    journal.finish()
}

/// The rows of a complete journal that was left behind.
pub(crate) fn replay(playground: &Path) -> Rows {
    let tree = c_path(&playground.join("tree"));
    let scan = Scan { options: "", paths: &[&tree], subvolumes: &[] };
    let journal = open(&playground.join("journal"), &scan, Options::default()).expect("opens");
    assert!(journal.start_points().is_empty(), "all is there");
    let mut lines = Lines::default();
    journal.replay(&mut lines).and_then(|_| lines.flush()).expect("replays");
    lines.0
}

/// The rows of a walk without a journal. A directory that came twice would be there twice.
pub(crate) fn undisturbed(playground: &Path, how: &How) -> Rows {
    struct Straight(Lines);
    impl Visitor for Straight {
        type State = ();

        fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
            batch.iter().for_each(|entry| self.0.row(&row(place, &entry)).expect("in memory"));
            Step::Enter
        }

        fn failed(&mut self, failure: &Failure<'_>) -> Step {
            self.0.row(&failure_row(failure)).expect("in memory");
            Step::Enter
        }
    }
    let tree = c_path(&playground.join("tree"));
    let options = tree::Options { rate: None, ..how.options() };
    let outcome = tree::walk(&[&tree], &options, &Threads, |_| Straight(Lines::default()));
    assert_eq!(outcome.end, End::Complete);
    let mut rows: Rows = outcome.visitors.into_iter().flat_map(|visitor| visitor.0.0).collect();
    rows.sort();
    rows
}

/// The rows that a scan wrote.
pub(crate) fn read(file: &Path) -> Rows {
    let text = std::fs::read_to_string(file).expect("the scan wrote it");
    text.lines().map(str::to_string).collect()
}

pub(crate) fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("paths have no NUL")
}
