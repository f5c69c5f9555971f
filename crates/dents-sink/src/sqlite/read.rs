//! The reader of SQLite files.

use super::{APPLICATION, COLUMNS, TARGET, as_file, names};
use crate::checksum::{self, Checksum};
use crate::details::{Detail, Details, Draft, Value};
use crate::format::{Extent, Format};
use crate::row::Row;
use crate::scan_file::{Columns, Limits, ScanFile, Selection, Span};
use crate::words::Problem;
use crate::{SCHEMA, message, subvolumes, words};
use dents_core::batch::Time;
use dents_core::bulk::Subvolume;
use dents_core::facts::{Access, Cell, Facts, Type};
use dents_core::needs::Kind;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Statement};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// The columns that the table `scan` has in every file.
const ABOUT: [&str; 3] = ["program", "begun", "ended"];

const NAME_ONE: &str = "name one that `dents scan` wrote";

/// How long a file may be locked by another program.
const BUSY: Duration = Duration::from_millis(500);

/// Steps of SQLite's machine between two looks at the flag, less than a millisecond.
const STEPS: i32 = 10_000;

const RANGE: &str = " WHERE path >= ? AND path < ?";

/// An SQLite file that this crate wrote.
pub(crate) struct Table {
    path: PathBuf,
    database: Connection,
    /// The columns of details in the table.
    details: Columns,
    /// Whether the file has no checksum; set at the end, if all rows were read.
    unchecked: Arc<AtomicBool>,
}

/// The checks of the rows of a file.
struct Checks {
    limits: Limits,
    checksum: Checksum,
}

impl Table {
    /// Opens a file, and checks that this crate wrote it. When `cancel` is set, queries end.
    pub(crate) fn open(path: &Path, cancel: &Arc<AtomicBool>) -> io::Result<Table> {
        let number =
            |database: &Connection, name| database.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let open = || {
            let database = connect(path, Arc::clone(cancel))?;
            let (application, version) =
                (number(&database, "application_id")?, number(&database, "user_version")?);
            Ok((database, application, version))
        };
        let (database, application, version) = open().map_err(|error| wrong(path, &error))?;
        if application != APPLICATION {
            return Err(message::bad_file(path, "an SQLite database, but not of a scan", NAME_ONE));
        }
        if pages_missing(path).unwrap_or(false) {
            return Err(message::damaged(path, "the last pages are missing"));
        }
        match u64::try_from(version) {
            Ok(version) if version > u64::from(SCHEMA) => {
                return Err(message::too_new(path, version, SCHEMA));
            }
            _ => {}
        }
        let table = |table, expected: &[String]| {
            let names = columns(&database, table, expected).map_err(|error| wrong(path, &error))?;
            let none = || message::bad_file(path, &format!("\"{table}\" is not a table of a scan"), NAME_ONE);
            names.ok_or_else(none)
        };
        let names = table("entries", &names())?;
        table("scan", &ABOUT.map(String::from))?;
        let details = Detail::ALL.into_iter().filter(|detail| names.iter().any(|name| name == detail.name()));
        let details = details.fold(Columns::empty(), |all, detail| all | detail.column());
        Ok(Table { path: path.to_path_buf(), database, details, unchecked: Arc::default() })
    }

    /// A text of the table `scan`; `None` if the table, the column or the text is missing.
    fn about(&self, column: &str) -> Option<String> {
        let select = format!("SELECT {column} FROM scan");
        self.database.query_row(&select, (), |row| row.get::<_, Option<String>>(0)).ok().flatten()
    }

    fn give(
        &self,
        statement: &mut Statement<'_>,
        details: &[Detail],
        checks: &mut Checks,
        give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let broken = |error: rusqlite::Error| wrong(&self.path, &error);
        let mut rows = statement.raw_query();
        let (mut draft, mut number) = (Draft::default(), 0_u64);
        while let Some(row) = rows.next().map_err(broken)? {
            let mut values = [ValueRef::Null; COLUMNS];
            for (index, value) in values.iter_mut().enumerate() {
                *value = row.get_ref(index).map_err(broken)?;
            }
            number += 1;
            let damaged = |problem: &str| message::damaged(&self.path, &format!("row {number}: {problem}"));
            draft.clear();
            for (detail, index) in details.iter().zip(COLUMNS..) {
                let value = row.get_ref(index).map_err(broken)?;
                draft.push(*detail, detail_of(*detail, value).map_err(damaged)?);
            }
            let row = row_of(&values).map_err(damaged)?;
            let row = Row { details: draft.details(), ..row };
            checks.limits.check(&row).map_err(|problem| damaged(&problem))?;
            checks.checksum.add(&row);
            give(&row)?;
        }
        Ok(())
    }

    /// Compares the checksum of all rows with that of the table `scan`, which earlier versions made without it.
    fn compare(&self, checksum: &Checksum) -> io::Result<()> {
        let broken = |error: rusqlite::Error| wrong(&self.path, &error);
        let mut statement = self.database.prepare("SELECT * FROM scan").map_err(broken)?;
        let Ok(column) = statement.column_index("checksum") else {
            self.unchecked.store(true, Relaxed);
            return Ok(());
        };
        let recorded = statement.query_row((), |row| row.get::<_, Option<String>>(column)).optional();
        let recorded = recorded.map_err(broken)?.flatten().and_then(|text| Checksum::parse(&text));
        let is_same = recorded.is_some_and(|recorded| recorded.is(checksum));
        if is_same { Ok(()) } else { Err(message::damaged(&self.path, checksum::WRONG)) }
    }

    /// Whether SQLite finds a range of paths by an index: then its plan is a search, otherwise a scan.
    fn has_index(&self) -> rusqlite::Result<bool> {
        let explain = format!("EXPLAIN QUERY PLAN SELECT path, mode FROM entries{RANGE}");
        let plan = self.database.query_row(&explain, ["", ""], |row| row.get::<_, String>("detail"))?;
        Ok(plan.starts_with("SEARCH"))
    }

    /// The extent, from the table `scan`. Earlier versions made it without the column.
    fn extent(&self) -> rusqlite::Result<Option<Extent>> {
        let mut statement = self.database.prepare("SELECT * FROM scan")?;
        let Ok(column) = statement.column_index("complete") else { return Ok(None) };
        let complete = statement.query_row((), |row| row.get::<_, Option<bool>>(column)).optional()?;
        Ok(complete.flatten().map(|complete| if complete { Extent::Complete } else { Extent::Partial }))
    }
}

impl ScanFile for Table {
    fn format(&self) -> Format {
        Format::Sqlite
    }

    fn details(&mut self) -> Columns {
        self.details
    }

    fn span(&self) -> Span {
        Span::of(self.about("begun").as_deref(), self.about("ended").as_deref())
    }

    fn subvolumes(&self) -> Vec<Subvolume> {
        self.about("subvolumes").map(|text| subvolumes::parse(&text)).unwrap_or_default()
    }

    fn unchecked(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(&self.unchecked))
    }

    /// Passes the wanted rows on. Reads all rows, unless the paths have an index.
    fn each(
        &mut self,
        wanted: &Selection<'_>,
        give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<Option<Extent>> {
        let broken = |error: rusqlite::Error| wrong(&self.path, &error);
        let mut give = wanted.filter(give);
        let mut checks = Checks { limits: Limits::new(Columns::all()), checksum: Checksum::default() };
        let details: Vec<Detail> = Detail::of(self.details).collect();
        let names = names().into_iter().chain(details.iter().map(|detail| detail.name().to_owned()));
        let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
        let select = format!("SELECT {} FROM entries", names.join(", "));
        if !wanted.below.is_all() && self.has_index().map_err(broken)? {
            let mut statement = self.database.prepare(&format!("{select}{RANGE}")).map_err(broken)?;
            for range in wanted.below.ranges() {
                for [from, to] in as_values(&range.start, &range.end).into_iter().flatten() {
                    statement.raw_bind_parameter(1, from).map_err(broken)?;
                    statement.raw_bind_parameter(2, to).map_err(broken)?;
                    self.give(&mut statement, &details, &mut checks, &mut give)?;
                }
            }
        } else {
            let mut statement = self.database.prepare(&select).map_err(broken)?;
            self.give(&mut statement, &details, &mut checks, &mut give)?;
            self.compare(&checks.checksum)?;
        }
        self.extent().map_err(broken)
    }
}

/// Opens the file so that it can change nothing, runs no code of its own, and takes no more memory than a row needs. When `cancel` is set, the
/// next query ends, or the running one within milliseconds.
fn connect(path: &Path, cancel: Arc<AtomicBool>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut database = Connection::open_with_flags(as_file(path), flags)?;
    for (config, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
    ] {
        database.set_db_config(config, value)?;
    }
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, Limits::ROW as i32),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
        (Limit::SQLITE_LIMIT_COLUMN, 200),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        database.set_limit(limit, value)?;
    }
    database.busy_timeout(BUSY)?;
    database.progress_handler(STEPS, Some(move || cancel.load(Relaxed)))?;
    Ok(database)
}

/// The names of the columns of a table; `None` if it is none, for example a view, if a column is computed, or if an expected one is missing.
/// `PRAGMA` finds what a file itself calls `pragma_table_list` no better than a table, so these are statements.
fn columns(database: &Connection, table: &str, expected: &[String]) -> rusqlite::Result<Option<Vec<String>>> {
    let (mut is_table, mut is_stored, mut names) = (false, true, Vec::new());
    database.pragma(Some("main"), "table_list", table, |row| {
        is_table |= row.get::<_, String>("type")? == "table";
        Ok(())
    })?;
    database.pragma(Some("main"), "table_xinfo", table, |row| {
        is_stored &= row.get::<_, i64>("hidden")? == 0;
        names.push(row.get::<_, String>("name")?);
        Ok(())
    })?;
    let has_all = expected.iter().all(|name| names.contains(name));
    Ok((is_table && is_stored && has_all).then_some(names))
}

/// Whether the file was cut off: SQLite reads missing bytes of the last page as zeros. Its header has the size of a page at 16 (1 means 64 KiB) and
/// the number of pages at 28 (<https://www.sqlite.org/fileformat.html>).
fn pages_missing(path: &Path) -> io::Result<bool> {
    let file = File::open(path)?;
    let mut header = [0; 32];
    file.read_exact_at(&mut header, 0)?;
    let size = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 1 << 16,
        size => u64::from(size),
    };
    let pages = u64::from(u32::from_be_bytes([header[28], header[29], header[30], header[31]]));
    Ok(file.metadata()?.len() < pages * size)
}

fn wrong(path: &Path, error: &rusqlite::Error) -> io::Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            message::in_use(path, &error.to_string())
        }
        Some(ErrorCode::OperationInterrupted) => io::ErrorKind::Interrupted.into(),
        _ => message::damaged(path, &error.to_string()),
    }
}

/// A range of paths, as texts and as blobs, because SQLite compares texts only with texts. A path that is not UTF-8 is a blob, and so are all
/// paths below it.
fn as_values<'a>(from: &'a [u8], to: &'a [u8]) -> [Option<[ToSqlOutput<'a>; 2]>; 2] {
    let values =
        |kind: fn(&'a [u8]) -> ValueRef<'a>| [from, to].map(|path| ToSqlOutput::Borrowed(kind(path)));
    let is_text = std::str::from_utf8(from).is_ok();
    [is_text.then(|| values(ValueRef::Text)), Some(values(ValueRef::Blob))]
}

fn row_of<'a>(values: &[ValueRef<'a>; COLUMNS]) -> Result<Row<'a>, Problem> {
    let kind = words::kind(bytes(values[4])?.ok_or("a row has no type")?)?;
    Ok(Row {
        parent: bytes(values[1])?.ok_or("a row has no parent")?,
        name: bytes(values[2])?.ok_or("a row has no name")?,
        depth: number(values[3])?.ok_or("a row has no depth")?,
        kind,
        facts: if values[COLUMNS - 1] == ValueRef::Null { None } else { Some(facts_of(values, kind)?) },
        target: bytes(values[TARGET])?,
        details: Details::default(),
        fault: words::fault(bytes(values[TARGET + 1])?, number(values[TARGET + 2])?)?,
    })
}

fn detail_of(detail: Detail, value: ValueRef<'_>) -> Result<Option<Value<'_>>, Problem> {
    match detail.kind() {
        Type::Narrow => return Ok(number(value)?.map(|number: u32| Value::Number(number.into()))),
        // Numbers of 2⁶³ and more are negative.
        Type::Wide => return Ok(number(value)?.map(|number: i64| Value::Number(number as u64))),
        Type::Text => {}
    }
    match bytes(value)?.map(str::from_utf8) {
        None => Ok(None),
        Some(text) => Ok(Some(Value::Text(text.map_err(|_| "a detail is not UTF-8")?))),
    }
}

fn facts_of<'a>(values: &[ValueRef<'a>; COLUMNS], kind: Kind) -> Result<Facts<'a>, Problem> {
    let mut facts = Facts::neutral(kind);
    for (fact, column) in super::facts() {
        let value = values[column];
        let cell = match fact.access {
            _ if value == ValueRef::Null => None,
            Access::Text(..) => bytes(value)?.map(Cell::Text),
            Access::Time(..) => Some(Cell::Time(time(value, values[column + 1])?)),
            Access::Flag(..) => number(value)?.map(|number: i64| Cell::Flag(number != 0)),
            // Numbers of 2⁶³ and more are negative.
            Access::Wide(..) => number(value)?.map(|number: i64| Cell::Number(number as u64)),
            Access::Narrow(..) | Access::Short(..) => number(value)?.map(Cell::Number),
        };
        let problem = if cell.is_none() { "a fact is missing" } else { "a number is out of range" };
        fact.take(&mut facts, cell).ok_or(problem)?;
    }
    Ok(facts)
}

fn time(sec: ValueRef<'_>, nsec: ValueRef<'_>) -> Result<Time, Problem> {
    const MISSING: Problem = "a fact is missing";
    let at = Time { sec: number(sec)?.ok_or(MISSING)?, nsec: number(nsec)?.ok_or(MISSING)? };
    if at.nsec < 1_000_000_000 { Ok(at) } else { Err("a number is out of range") }
}

fn bytes(value: ValueRef<'_>) -> Result<Option<&[u8]>, Problem> {
    match value {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(Some(bytes)),
        _ => Err("a number where a text should be"),
    }
}

fn number<N: TryFrom<i64>>(value: ValueRef<'_>) -> Result<Option<N>, Problem> {
    match value {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(value) => value.try_into().map(Some).map_err(|_| "a number is out of range"),
        _ => Err("a text where a number should be"),
    }
}
