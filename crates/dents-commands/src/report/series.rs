//! How a tree grew: sums of several scans by user and by directory.
//!
//! Scans are read one after the other. Of each scan the rows with the most allocated space are kept, and the sum of the others, so memory
//! grows with the number of scans, not with what they hold.

use crate::message;
use crate::overlap::Overlap;
use crate::session::Status;
use crate::source::{Gathered, Job, Opened, Source, Way};
use crate::stats::{By, Links, Now, Sum, Summer, Sums, Tally, merged};
use dents_core::tree::{End, Follow};
use dents_sink::read::Columns;
use dents_sink::{Extent, Format};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The most scans of a series: the page has a figure for each row and each of them.
const SCANS: usize = 400;
/// The rows of a scan that are kept, and those of a table in the page.
const KEPT: usize = 500;
const ROWS: usize = 30;
/// The keys of the two tables.
const TABLES: [&str; 2] = ["user", "directory:1"];

/// The scans and their sums, the oldest scan first.
pub(super) struct Series {
    pub(super) scans: Vec<Scan>,
    pub(super) users: Lines,
    pub(super) directories: Lines,
}

/// A scan, and its sum.
pub(super) struct Scan {
    pub(super) path: OsString,
    /// When it began, in seconds.
    pub(super) begun: i64,
    pub(super) complete: bool,
    pub(super) total: Sum,
}

/// The rows of a table, the largest first, each with a sum for each scan.
pub(super) struct Lines {
    pub(super) rows: Vec<(Vec<u8>, Vec<Sum>)>,
    /// The sum of all other rows, if there are any.
    pub(super) others: Option<Vec<Sum>>,
}

/// Whether all of several PATHs are scans, so that the report is about these scans and not about the files.
pub(super) fn is_series(paths: &[OsString]) -> bool {
    paths.len() > 1 && paths.iter().all(|path| is_scan(Path::new(path)))
}

fn is_scan(path: &Path) -> bool {
    (Format::of_path(path).is_some() && path.is_file()) || path.join("manifest.json").is_file()
}

/// Reads all scans.
pub(super) fn of(job: &Job<'_>, paths: &[OsString]) -> Result<Series, Status> {
    let session = job.diagnostics.session();
    if paths.len() > SCANS {
        let many = message::counted(paths.len() as u64, "scan", "scans");
        return Err(session.wrong(&format!("{many} are more than a series of {SCANS}; name fewer of them")));
    }
    let mut read = Vec::with_capacity(paths.len());
    for path in paths {
        read.push(one(job, path)?);
    }
    read.sort_by(|a, b| (a.scan.begun, &a.scan.path).cmp(&(b.scan.begun, &b.scan.path)));
    let lines = |at: usize| Lines::of(&read.iter().map(|one| &one.tables[at]).collect::<Vec<&Kept>>());
    let [users, directories] = [0, 1].map(lines);
    Ok(Series { users, directories, scans: read.into_iter().map(|one| one.scan).collect() })
}

/// A scan, with its tables by user and by directory.
struct Read {
    scan: Scan,
    tables: [Kept; 2],
}

/// The largest rows of a table of one scan.
#[derive(Default)]
struct Kept {
    rows: Vec<(Vec<u8>, Sum)>,
    others: Option<Sum>,
}

fn one(job: &Job<'_>, path: &OsStr) -> Result<Read, Status> {
    let source = Source::new(Some(path.to_owned()), job.source.is_partial());
    let session = job.diagnostics.session();
    let Some(file) = source.file() else { return Err(Status::FAILURE) };
    let opened = file.open(session)?;
    let Some(begun) = opened.span().begun else {
        let name = message::quoted_text(path.as_bytes());
        let problem = "does not say when it was made, so it has no place in a series; leave it out";
        session.say(format!("{name}: {problem}").as_bytes());
        return Err(Status::FAILURE);
    };
    let (tables, complete) = tables(&Job { source: &source, ..*job }, opened)?;
    let total = tables[0].total();
    Ok(Read { scan: Scan { path: path.to_owned(), begun: begun.sec, complete, total }, tables })
}

fn tables(job: &Job<'_>, opened: Opened<'_>) -> Result<([Kept; 2], bool), Status> {
    let tables: Vec<By> = TABLES.iter().flat_map(|key| By::parse(key).unwrap_or_default()).collect();
    let now = Now::recorded(opened.span());
    let (overlap, links) = (Overlap::new(&[], Follow::Never), Links::new(&tables, true));
    let make = || Summer::new(Sums::new(&tables, now), &overlap, &links);
    let way = Way::once(Columns::PATH | Columns::NAME | Columns::USER);
    let Gathered { consumers, end, extent, .. } = job.read(opened, &way, make)?;
    if end != End::Complete {
        return Err(job.diagnostics.session().stopped().unwrap_or(Status::FAILURE));
    }
    let sums = merged(consumers, Sums::new(&tables, now));
    let mut kept = sums.into_tables(links).into_iter().map(Kept::of);
    let mut next = || kept.next().unwrap_or_default();
    Ok(([next(), next()], extent == Some(Extent::Complete)))
}

impl Kept {
    fn of(tally: Tally) -> Kept {
        let mut rows: Vec<(Vec<u8>, Sum)> =
            tally.rows.into_iter().map(|row| (row.first.name, row.sum)).collect();
        rows.sort_by(|(a, one), (b, other)| (Reverse(one.allocated), a).cmp(&(Reverse(other.allocated), b)));
        let others = rows.split_off(rows.len().min(KEPT));
        Kept { rows, others: (!others.is_empty()).then(|| total(others.iter().map(|(_, sum)| *sum))) }
    }

    fn total(&self) -> Sum {
        total(self.rows.iter().map(|(_, sum)| *sum).chain(self.others))
    }
}

impl Lines {
    /// The rows that had the most allocated space at any time. A row that a scan does not have is 0 there.
    fn of(scans: &[&Kept]) -> Lines {
        let mut all: HashMap<&[u8], Vec<Sum>> = HashMap::new();
        let mut others = vec![Sum::default(); scans.len()];
        for (nth, kept) in scans.iter().enumerate() {
            for (name, sum) in &kept.rows {
                all.entry(name).or_insert_with(|| vec![Sum::default(); scans.len()])[nth] += *sum;
            }
            others[nth] += kept.others.unwrap_or_default();
        }
        let mut rows: Vec<(&[u8], Vec<Sum>)> = all.into_iter().collect();
        let most = |sums: &[Sum]| Reverse(sums.iter().map(|sum| sum.allocated).max());
        rows.sort_by(|(a, one), (b, other)| (most(one), a).cmp(&(most(other), b)));
        for (_, sums) in rows.split_off(rows.len().min(ROWS)) {
            others.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
        }
        let rows = rows.into_iter().map(|(name, sums)| (name.to_vec(), sums)).collect();
        Lines { rows, others: others.iter().any(|sum| *sum != Sum::default()).then_some(others) }
    }
}

fn total(sums: impl Iterator<Item = Sum>) -> Sum {
    sums.fold(Sum::default(), |mut all, sum| {
        all += sum;
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(rows: &[(&str, u128)], others: Option<u128>) -> Kept {
        let sum = |allocated| Sum { entries: 1, size: allocated / 2, allocated };
        let rows = rows.iter().map(|(name, allocated)| (name.as_bytes().to_vec(), sum(*allocated))).collect();
        Kept { rows, others: others.map(sum) }
    }

    #[test]
    fn lines_have_a_figure_for_each_scan() {
        let (old, new) = (kept(&[("ann", 50), ("bob", 9)], None), kept(&[("eve", 70), ("ann", 20)], Some(3)));
        let lines = Lines::of(&[&old, &new]);
        let figures = |sums: &[Sum]| sums.iter().map(|sum| sum.allocated).collect::<Vec<u128>>();
        let rows: Vec<(&[u8], Vec<u128>)> =
            lines.rows.iter().map(|(name, sums)| (&name[..], figures(sums))).collect();
        let expected: [(&[u8], Vec<u128>); 3] =
            [(b"eve", vec![0, 70]), (b"ann", vec![50, 20]), (b"bob", vec![9, 0])];
        assert_eq!(rows, expected);
        assert_eq!(lines.others.map(|sums| figures(&sums)), Some(vec![0, 3]));
        assert_eq!((old.total().allocated, new.total().entries), (59, 3));
    }

    #[test]
    fn further_rows_are_one() {
        let names: Vec<String> = (0..ROWS + 5).map(|nth| format!("u{nth}")).collect();
        let rows: Vec<(&str, u128)> =
            names.iter().enumerate().map(|(nth, name)| (&name[..], 100 - nth as u128)).collect();
        let scan = kept(&rows, None);
        let lines = Lines::of(&[&scan]);
        assert_eq!(lines.rows.len(), ROWS);
        let all = lines.rows.iter().map(|(_, sums)| sums[0]).chain(lines.others.unwrap());
        assert_eq!(total(all), scan.total());
    }
}
