//! The reader of NDJSON.

use super::line::Line;
use crate::checksum::{self, Checksum};
use crate::details::{Detail, Draft};
use crate::format::{Extent, Format};
use crate::row::Row;
use crate::scan_file::{Columns, Limits, ScanFile, Selection, Span};
use crate::{SCHEMA, message, subvolumes};
use dents_core::bulk::Subvolume;
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
    span: Span,
    subvolumes: Vec<Subvolume>,
    path: PathBuf,
    file: BufReader<Box<dyn Read + Send>>,
    /// The first line, if it was read before the others.
    first: Vec<u8>,
    /// Set at the end, if the file has no checksum.
    unchecked: Arc<AtomicBool>,
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

    /// Passes every row to `give`. Skips empty lines. A last line without a newline is an error, because it was cut off.
    fn for_each(&mut self, give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>) -> io::Result<Option<Extent>> {
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

impl ScanFile for Lines {
    fn format(&self) -> Format {
        Format::Ndjson
    }

    fn span(&self) -> Span {
        self.span
    }

    fn subvolumes(&self) -> Vec<Subvolume> {
        self.subvolumes.clone()
    }

    fn unchecked(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(&self.unchecked))
    }

    /// The columns of details in the first line; none if that line is invalid, which [`Self::for_each`] reports.
    fn details(&mut self) -> Columns {
        if self.first.is_empty() {
            let Lines { file, first, .. } = self;
            let _ = file.take(Limits::ROW as u64).read_until(b'\n', first);
        }
        let fields: HashMap<Cow<'_, str>, IgnoredAny> =
            serde_json::from_slice(&self.first).unwrap_or_default();
        let details = Detail::ALL.into_iter().filter(|detail| fields.contains_key(detail.name()));
        details.fold(Columns::empty(), |all, detail| all | detail.column())
    }

    fn each(
        &mut self,
        wanted: &Selection<'_>,
        give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<Option<Extent>> {
        self.for_each(&mut wanted.filter(give))
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
    json: &[u8],
    counted: &mut Counted,
    give: &mut dyn FnMut(&Row<'_>) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    let mut line = Line::default();
    if let Err(error) = line.read(json) {
        return take_record(json, counted, &error);
    }
    if line.v > u64::from(SCHEMA) {
        return Err(Wrong::Version(line.v));
    }
    let mut details = Draft::default();
    let row = line.row(&mut details).map_err(|problem| Wrong::Line(problem.to_string()))?;
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
