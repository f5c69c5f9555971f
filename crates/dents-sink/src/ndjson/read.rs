//! The reader of NDJSON.

use crate::checksum::{self, Checksum};
use crate::read::{Columns, Limits, Span};
use crate::row::{Facts, Row};
use crate::words::Problem;
use crate::{Detail, Details, Draft, Extent, SCHEMA, Value, message, subvolumes, time, words};
use dents_core::batch::Time;
use dents_core::bulk::Subvolume;
use dents_core::needs::Kind;
use dents_render::record::text::from_base64;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The longest record of a scan.
const RECORD: u64 = 64 << 10;

/// An NDJSON file.
pub(crate) struct Lines {
    pub(crate) span: Span,
    pub(crate) subvolumes: Vec<Subvolume>,
    path: PathBuf,
    file: BufReader<Box<dyn Read + Send>>,
    /// The first line, if it was read before the others.
    first: Vec<u8>,
    /// Set at the end, if the file has no checksum.
    pub(crate) unchecked: Arc<AtomicBool>,
}

/// One line; texts without escapes are borrowed. `path` follows from parent and name, so it is not read.
#[derive(Deserialize)]
struct Line<'a> {
    v: u64,
    #[serde(borrow)]
    parent: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parent_bytes: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name_bytes: Option<Cow<'a, str>>,
    depth: u32,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    ino: Option<u64>,
    dev: Option<u64>,
    nlink: Option<u32>,
    mode: Option<u16>,
    uid: Option<u32>,
    gid: Option<u32>,
    #[serde(borrow)]
    user: Option<Cow<'a, str>>,
    #[serde(borrow)]
    user_bytes: Option<Cow<'a, str>>,
    #[serde(borrow)]
    group: Option<Cow<'a, str>>,
    #[serde(borrow)]
    group_bytes: Option<Cow<'a, str>>,
    size: Option<u64>,
    allocated: Option<u64>,
    #[serde(borrow)]
    atime: Option<Cow<'a, str>>,
    #[serde(borrow)]
    btime: Option<Cow<'a, str>>,
    #[serde(borrow)]
    ctime: Option<Cow<'a, str>>,
    #[serde(borrow)]
    mtime: Option<Cow<'a, str>>,
    #[serde(borrow)]
    target: Option<Cow<'a, str>>,
    #[serde(borrow)]
    target_bytes: Option<Cow<'a, str>>,
    lazy: Option<bool>,
    #[serde(borrow)]
    asked: Option<Cow<'a, str>>,
    errno: Option<i32>,
    project: Option<u32>,
    #[serde(borrow)]
    flags: Option<Cow<'a, str>>,
    #[serde(borrow)]
    acl: Option<Cow<'a, str>>,
    #[serde(borrow)]
    xattrs: Option<Cow<'a, str>>,
    #[serde(borrow)]
    filesystem: Option<Cow<'a, str>>,
    stripes: Option<u32>,
    #[serde(borrow)]
    pool: Option<Cow<'a, str>>,
    #[serde(borrow)]
    hsm: Option<Cow<'a, str>>,
}

impl Line<'_> {
    fn details(&self) -> Draft {
        let mut draft = Draft::default();
        for detail in Detail::ALL {
            let number = |number: Option<u32>| number.map(Value::Number);
            draft.push(
                detail,
                match detail {
                    Detail::Project => number(self.project),
                    Detail::Stripes => number(self.stripes),
                    Detail::Flags => text_of(&self.flags),
                    Detail::Acl => text_of(&self.acl),
                    Detail::Xattrs => text_of(&self.xattrs),
                    Detail::Filesystem => text_of(&self.filesystem),
                    Detail::Pool => text_of(&self.pool),
                    Detail::Hsm => text_of(&self.hsm),
                },
            );
        }
        draft
    }
}

fn text_of<'t>(text: &'t Option<Cow<'_, str>>) -> Option<Value<'t>> {
    text.as_deref().map(Value::Text)
}

/// Start and end of the scan, and its subvolumes, from the last line, if that is the record. This reads the end of the file before the rows, so it needs a
/// regular file.
fn recorded(file: &File) -> Option<(Span, Vec<Subvolume>)> {
    #[derive(Deserialize)]
    struct Record {
        scan: Times,
    }
    #[derive(Deserialize)]
    struct Times {
        begun: String,
        ended: Option<String>,
        #[serde(default)]
        subvolumes: String,
    }
    let about = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut end = vec![0; usize::try_from(about.len().min(RECORD)).ok()?];
    let start = about.len() - end.len() as u64;
    file.read_exact_at(&mut end, start).ok()?;
    let line = end.trim_ascii_end().rsplit(|byte| *byte == b'\n').next()?;
    let Record { scan } = serde_json::from_slice(line).ok()?;
    let span = Span::of(Some(&scan.begun), scan.ended.as_deref());
    Some((span, subvolumes::parse(&scan.subvolumes)))
}

/// The field that lines of every version have.
#[derive(Deserialize)]
struct Version {
    v: u64,
}

/// A line with the record of a scan.
#[derive(Deserialize)]
struct Record {
    v: u64,
    scan: Scan,
}

#[derive(Deserialize)]
struct Scan {
    complete: bool,
    rows: u64,
    checksum: Option<String>,
}

/// The number of rows that were read, and their checksum; the sums of the records.
#[derive(Default)]
pub(super) struct Counted {
    rows: u64,
    recorded: u64,
    records: u64,
    partial: bool,
    checksum: Checksum,
    recorded_checksum: Checksum,
    /// A record has no checksum.
    unchecked: bool,
}

impl Counted {
    /// The extent, at the end of the file.
    fn extent(&self) -> Result<Option<Extent>, String> {
        let Counted { rows, recorded, records, partial, .. } = *self;
        match rows.cmp(&recorded) {
            Ordering::Less => Err(format!("{rows} of {recorded} rows are there")),
            Ordering::Equal if !self.unchecked && !self.checksum.is(&self.recorded_checksum) => {
                Err(checksum::WRONG.to_owned())
            }
            _ if partial => Ok(Some(Extent::Partial)),
            Ordering::Equal if records > 0 => Ok(Some(Extent::Complete)),
            _ => Ok(None),
        }
    }
}

impl Lines {
    /// Reads a file, whose first bytes were read already.
    pub(crate) fn new(path: &Path, begin: Vec<u8>, file: File) -> Lines {
        let (span, subvolumes) = recorded(&file).unwrap_or_default();
        let all: Box<dyn Read + Send> = Box::new(io::Cursor::new(begin).chain(file));
        Lines {
            span,
            subvolumes,
            path: path.to_path_buf(),
            file: BufReader::with_capacity(256 << 10, all),
            first: Vec::new(),
            unchecked: Arc::default(),
        }
    }

    /// The columns of details in the first line; none if that line is invalid, which [`Self::for_each`] reports.
    pub(crate) fn details(&mut self) -> Columns {
        if self.first.is_empty() {
            let Lines { file, first, .. } = self;
            let _ = file.take(Limits::ROW as u64).read_until(b'\n', first);
        }
        let fields: HashMap<Cow<'_, str>, IgnoredAny> =
            serde_json::from_slice(&self.first).unwrap_or_default();
        let details = Detail::ALL.into_iter().filter(|detail| fields.contains_key(detail.name()));
        details.fold(Columns::empty(), |all, detail| all | detail.column())
    }

    /// Passes every row to `give`. Skips empty lines. A last line without a newline is an error, because it was cut off.
    pub(crate) fn for_each(
        &mut self,
        give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<Option<Extent>> {
        let mut line = std::mem::take(&mut self.first);
        let mut is_first = !line.is_empty();
        let mut number = 0_u64;
        let mut counted = Counted::default();
        let mut limits = Limits::new(Columns::all());
        let mut give = |row: &Row<'_>| {
            limits.check(row).map_err(Wrong::Line)?;
            give(row).map_err(Wrong::Receiver)
        };
        loop {
            number += 1;
            if !std::mem::take(&mut is_first) {
                line.clear();
                let read = (&mut self.file).take(Limits::ROW as u64).read_until(b'\n', &mut line);
                read.map_err(|error| message::cannot_read(&self.path, &error))?;
            }
            if line.is_empty() {
                self.unchecked.store(counted.unchecked && counted.rows == counted.recorded, Relaxed);
                return counted.extent().map_err(|problem| message::damaged(&self.path, &problem));
            }
            if line.pop_if(|last| *last == b'\n').is_none() {
                let problem = if line.len() < Limits::ROW { "has no end" } else { "is longer than 256 MiB" };
                return Err(message::damaged(&self.path, &format!("line {number} {problem}")));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            take_line(&line, &mut counted, &mut give).map_err(|wrong| match wrong {
                Wrong::Version(version) => message::too_new(&self.path, version, SCHEMA),
                Wrong::Line(problem) => message::damaged(&self.path, &format!("line {number}: {problem}")),
                Wrong::Receiver(error) => error,
            })?;
        }
    }
}

/// The reason why a line is neither a row nor a record.
#[derive(Debug)]
pub(super) enum Wrong {
    Version(u64),
    Line(String),
    Receiver(io::Error),
}

pub(super) fn take_line(
    line: &[u8],
    counted: &mut Counted,
    give: &mut dyn FnMut(&Row<'_>) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    let line = match serde_json::from_slice::<Line<'_>>(line) {
        Ok(line) => line,
        Err(error) => return take_record(line, counted, &error),
    };
    if line.v > u64::from(SCHEMA) {
        return Err(Wrong::Version(line.v));
    }
    let parts = Parts::of(&line).map_err(|problem| Wrong::Line(problem.to_string()))?;
    let row = parts.row();
    counted.rows += 1;
    counted.checksum.add(&row);
    give(&row)
}

/// Handles a line that is not a row, for this reason.
fn take_record(line: &[u8], counted: &mut Counted, reason: &serde_json::Error) -> Result<(), Wrong> {
    match serde_json::from_slice::<Record>(line) {
        Ok(Record { v, scan: Scan { complete, rows, checksum } }) if v <= u64::from(SCHEMA) => {
            counted.recorded = counted.recorded.saturating_add(rows);
            counted.records += 1;
            counted.partial |= !complete;
            match checksum.map(|text| Checksum::parse(&text).ok_or("no checksum in \"checksum\"")) {
                Some(mut sum) => counted
                    .recorded_checksum
                    .take(sum.as_mut().map_err(|wrong| Wrong::Line((*wrong).to_owned()))?),
                None => counted.unchecked = true,
            }
            Ok(())
        }
        // A later version may have changed the fields.
        _ => match serde_json::from_slice::<Version>(line) {
            Ok(Version { v }) if v > u64::from(SCHEMA) => Err(Wrong::Version(v)),
            _ => Err(Wrong::Line(format!("no row of a scan: {reason}"))),
        },
    }
}

/// A row. Texts that were escaped or in base64 are owned.
struct Parts<'a> {
    parent: Cow<'a, [u8]>,
    name: Cow<'a, [u8]>,
    user: Option<Cow<'a, [u8]>>,
    group: Option<Cow<'a, [u8]>>,
    target: Option<Cow<'a, [u8]>>,
    details: Draft,
    /// All fields except the texts.
    row: Row<'static>,
}

impl<'a> Parts<'a> {
    fn of(line: &'a Line<'_>) -> Result<Parts<'a>, Problem> {
        let kind = words::kind(line.kind.as_bytes())?;
        let facts = if line.lazy.is_some() {
            Some(facts_of(line, kind).ok_or("a fact is missing or no value")?)
        } else {
            None
        };
        let fault = words::fault(line.asked.as_deref().map(str::as_bytes), line.errno)?;
        Ok(Parts {
            parent: bytes_of(&line.parent, &line.parent_bytes)?.ok_or("no \"parent\"")?,
            name: bytes_of(&line.name, &line.name_bytes)?.ok_or("no \"name\"")?,
            user: bytes_of(&line.user, &line.user_bytes)?,
            group: bytes_of(&line.group, &line.group_bytes)?,
            target: bytes_of(&line.target, &line.target_bytes)?,
            details: line.details(),
            row: Row {
                parent: b"",
                name: b"",
                depth: line.depth,
                kind,
                facts,
                target: None,
                details: Details::default(),
                fault,
            },
        })
    }

    fn row(&self) -> Row<'_> {
        let others = [&self.user, &self.group, &self.target].map(Option::as_deref);
        self.row.with_texts([&self.parent, &self.name], others, self.details.details())
    }
}

fn facts_of(line: &Line<'_>, kind: Kind) -> Option<Facts<'static>> {
    let known = [
        (Columns::MODE, line.mode.is_some()),
        (Columns::UID, line.uid.is_some()),
        (Columns::GID, line.gid.is_some()),
        (Columns::ATIME, line.atime.is_some()),
        (Columns::CTIME, line.ctime.is_some()),
        (Columns::MTIME, line.mtime.is_some()),
    ];
    let unknown =
        known.iter().filter(|(_, is_known)| !is_known).fold(Columns::empty(), |all, (one, _)| all | *one);
    let time = |text: &Option<_>| if text.is_some() { time_of(text) } else { Some(Time::default()) };
    let facts = Facts {
        dev: words::device_halves(line.dev?),
        ino: line.ino?,
        mode: line.mode.unwrap_or_default(),
        nlink: line.nlink?,
        uid: line.uid.unwrap_or_default(),
        gid: line.gid.unwrap_or_default(),
        user: None,
        group: None,
        size: line.size?,
        allocated: line.allocated?,
        atime: time(&line.atime)?,
        btime: if line.btime.is_some() { Some(time_of(&line.btime)?) } else { None },
        ctime: time(&line.ctime)?,
        mtime: time(&line.mtime)?,
        lazy: line.lazy?,
        unknown,
    };
    Some(facts.without(unknown, kind))
}

fn time_of(text: &Option<Cow<'_, str>>) -> Option<Time> {
    time::parse(text.as_deref()?.as_bytes())
}

/// The bytes of a field, from its text or its base64.
fn bytes_of<'a>(
    text: &'a Option<Cow<'_, str>>,
    base64: &Option<Cow<'_, str>>,
) -> Result<Option<Cow<'a, [u8]>>, Problem> {
    match (text, base64) {
        (_, Some(base64)) => {
            Ok(Some(Cow::Owned(from_base64(base64.as_bytes()).ok_or("what should be base64 is not")?)))
        }
        (Some(text), None) => Ok(Some(Cow::Borrowed(text.as_bytes()))),
        (None, None) => Ok(None),
    }
}
