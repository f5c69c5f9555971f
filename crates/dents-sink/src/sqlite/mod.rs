//! SQLite: one table in one file.
//!
//! # The schema, version 1
//!
//! Table `entries`, a row for each entry:
//!
//! | column | typeof | value |
//! |---|---|---|
//! | `path`, `parent`, `name` | text or blob, see below | the path is parent, slash, name |
//! | `depth` | integer | 0 for operands |
//! | `type` | text | `file`, `directory`, `link`, `fifo`, `socket`, `char`, `block`, `whiteout`, `unknown` |
//! | `ino`, `dev` | integer | `dev` as `stat(2)` numbers devices; values of 2⁶³ and more are negative, as SQLite's integers are signed |
//! | `nlink`, `mode`, `uid`, `gid` | integer | `mode` with its type bits: `printf('%o', mode & 4095)` |
//! | `user`, `group` | text or blob | null if the id has no name; `group` is a word of SQL: write `"group"` |
//! | `size`, `allocated` | integer | bytes |
//! | `atime`, `btime`, `ctime`, `mtime` | integer | whole seconds since 1970, rounded down: `datetime(mtime, 'unixepoch')` |
//! | `atime_ns`, … | integer | the nanoseconds beyond |
//! | `target` | text or blob | where a symbolic link leads |
//! | `asked` | text | the request that failed: `stat`, `link`, `open`, `read`, `loop` |
//! | `errno` | integer | the error of the kernel |
//! | `lazy` | integer | 1 if the values may be out of date |
//!
//! Details ([`crate::Detail`]) have columns with their names after these: integer or text.
//!
//! Unknown values are null. **Text or blob**: valid UTF-8 is text, so that `LIKE`, `GLOB` and `=` work; other bytes are a blob.
//! All blobs sort after all texts. Each value has a type of its own in SQLite, so one column is enough where Parquet needs two.
//!
//! Table `scan` has one row: `schema` (1), `program`, `begun`, `ended` (RFC 3339), `complete` (1, or 0 if a root could not be
//! opened or the walk was stopped), `subvolumes` (on btrfs `UUID:GENERATION` of each subvolume where the scan began, separated by spaces,
//! before the start; older files do not have this column), `checksum` (that of all rows of `entries`, whatever their order, see `checksum.rs`;
//! older files do not have this column). `PRAGMA application_id` is 0x64656e74 (`dent`), `PRAGMA user_version` the version of the
//! schema.
//!
//! With [`About::index`] there are indexes on `path`, `parent`, `size`, `mtime` and `user`, which have these names. They are made at the
//! end, from all rows.
//!
//! # How it is written
//!
//! One transaction on the temporary file, without a journal and without syncing: an unfinished file is removed, and [`Output`] syncs a
//! finished one. Pages have 16 KiB: with the usual 4 KiB, long paths take two thirds more time, a call for each page. SQLite takes rows on one thread at a time, so a part collects a batch of rows and inserts it under the lock.

mod read;

pub(crate) use read::Table;

use crate::checksum::Checksum;
use crate::details::{Detail, Details, Value};
use crate::format::{About, Extent};
use crate::output::{Output, Own};
use crate::row::Row;
use crate::sink::{Part, Sink};
use crate::{SCHEMA, message, subvolumes, time, words};
use dents_core::batch::Time;
use dents_core::facts::{Access, Cell, FACTS, Fact, Facts, Type};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Statement};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// `dent`.
pub(crate) const APPLICATION: i64 = 0x6465_6e74;

/// The table of the scan.
const SCAN: &str =
    "CREATE TABLE scan (schema INTEGER NOT NULL, program TEXT NOT NULL, begun TEXT NOT NULL, ended TEXT,
  complete INTEGER, subvolumes TEXT, checksum TEXT);";

/// The columns before those of facts, with their declarations.
const FIRST: [&str; 5] =
    ["path NOT NULL", "parent NOT NULL", "name NOT NULL", "depth INTEGER NOT NULL", "type TEXT NOT NULL"];

/// The columns between those of facts and `lazy`, the last fact.
const BETWEEN: [&str; 3] = ["target", "asked TEXT", "errno INTEGER"];

/// The columns without those of details: a time has two.
const COLUMNS: usize = {
    let (mut columns, mut nth) = (FIRST.len() + BETWEEN.len(), 0);
    while nth < FACTS.len() {
        columns += width(&FACTS[nth]);
        nth += 1;
    }
    columns
};

/// The first column of [`BETWEEN`].
const TARGET: usize = COLUMNS - 1 - BETWEEN.len();

/// The columns of a fact.
const fn width(fact: &Fact) -> usize {
    if let Access::Time(..) = fact.access { 2 } else { 1 }
}

/// The first column of each fact.
const PLACES: [usize; FACTS.len()] = {
    let (mut places, mut next, mut nth) = ([COLUMNS - 1; FACTS.len()], FIRST.len(), 0);
    while nth + 1 < FACTS.len() {
        places[nth] = next;
        next += width(&FACTS[nth]);
        nth += 1;
    }
    places
};

/// Each fact with its first column. `lazy` is the last.
fn facts() -> impl Iterator<Item = (&'static Fact, usize)> {
    FACTS.iter().zip(PLACES)
}

/// The declarations of the columns without those of details. `group` is a word of SQL.
fn declarations() -> Vec<String> {
    let mut all: Vec<String> = FIRST.map(String::from).into();
    for fact in &FACTS {
        let name = format!("\"{}\"", fact.word);
        match fact.access {
            Access::Text(..) => all.push(name),
            Access::Time(..) => {
                all.extend([format!("{name} INTEGER"), format!("\"{}_ns\" INTEGER", fact.word)])
            }
            Access::Flag(..) => {
                all.extend(BETWEEN.map(String::from));
                all.push(format!("{name} INTEGER"));
            }
            _ => all.push(format!("{name} INTEGER")),
        }
    }
    all
}

/// The names of the columns without those of details, in their order.
fn names() -> Vec<String> {
    let name =
        |declaration: String| declaration.split(' ').next().unwrap_or_default().trim_matches('"').to_owned();
    declarations().into_iter().map(name).collect()
}

/// The columns that queries select and sort by. An index that is made at the end is sorted once; an index that is kept up to date would be
/// searched for each row.
const INDEXES: &str = "
CREATE INDEX path ON entries(path);
CREATE INDEX parent ON entries(parent);
CREATE INDEX size ON entries(size);
CREATE INDEX mtime ON entries(mtime);
CREATE INDEX user ON entries(user);
";

/// Rows of a batch.
const BATCH: usize = 1024;

/// An SQLite file that is being written.
pub struct Sqlite {
    database: Mutex<Connection>,
    checksum: Mutex<Checksum>,
    output: Output,
    ended: Option<Time>,
    index: bool,
    /// The details, whose columns come last.
    details: Vec<Detail>,
}

impl Sqlite {
    /// Begins the file. The table `scan` will have program and start.
    ///
    /// # Errors
    /// If the output is not a file (a pipe, stdout), or SQLite cannot write it.
    pub fn new(output: Output, about: &About<'_>) -> io::Result<Self> {
        let named = output.named();
        let begun = output.by_path(|path| begin(path, about).map_err(|error| cannot_write(named, &error)))?;
        let Some(database) = begun else { return Err(needs_a_file(named)) };
        let (database, details) = (Mutex::new(database), Detail::of(about.details).collect());
        let checksum = Mutex::default();
        Ok(Sqlite { database, checksum, output, ended: about.ended, index: about.index, details })
    }

    fn insert(&self, rows: &[Held], texts: &[u8]) -> io::Result<()> {
        let database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        let insert = || {
            let columns = COLUMNS + self.details.len();
            let insert = format!("INSERT INTO entries VALUES (?{})", ",?".repeat(columns - 1));
            let mut statement = database.prepare(&insert)?;
            rows.iter().try_for_each(|row| row.insert(texts, &self.details, &mut statement))
        };
        insert().map_err(|error| cannot_write(self.output.named(), &error))
    }
}

/// The error for an output that is not a file: SQLite opens a path, and writes anywhere in the file.
pub(crate) fn needs_a_file(path: &Path) -> io::Error {
    let problem = "SQLite needs a file, and this is a pipe or a device";
    message::bad_file(path, problem, "name a file, or write NDJSON")
}

fn begin(path: &Path, about: &About<'_>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NOFOLLOW)?;
    database.execute_batch(
        "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;",
    )?;
    database.pragma_update(None, "application_id", APPLICATION)?;
    database.pragma_update(None, "user_version", SCHEMA)?;
    database.execute_batch("BEGIN")?;
    database.execute_batch(&format!("CREATE TABLE entries ({}); {SCAN}", declarations().join(", ")))?;
    for detail in Detail::of(about.details) {
        let kind = if detail.kind() == Type::Text { "TEXT" } else { "INTEGER" };
        database.execute_batch(&format!("ALTER TABLE entries ADD COLUMN {} {kind}", detail.name()))?;
    }
    let scan = "INSERT INTO scan (schema, program, begun, subvolumes) VALUES (?, ?, ?, ?)";
    let subvolumes = Some(subvolumes::text(about.subvolumes)).filter(|text| !text.is_empty());
    database.execute(scan, (SCHEMA, about.program, time::text(about.begun), subvolumes))?;
    Ok(database)
}

/// A path without a special meaning to SQLite: `:memory:` has one.
fn as_file(path: &Path) -> PathBuf {
    Path::new(".").join(path)
}

impl Sink for Sqlite {
    fn part(&self) -> Box<dyn Part + '_> {
        Box::new(Writer { sink: self, rows: Vec::new(), texts: Vec::new(), checksum: Checksum::default() })
    }

    fn own(&self) -> Option<Own> {
        self.output.own()
    }

    fn finish(self: Box<Self>, extent: Extent) -> io::Result<Option<PathBuf>> {
        let database = self.database.into_inner().unwrap_or_else(PoisonError::into_inner);
        let complete = extent == Extent::Complete;
        let ended = time::text(self.ended.unwrap_or_else(time::now));
        let checksum = self.checksum.into_inner().unwrap_or_else(PoisonError::into_inner).text();
        let written = database
            .execute("UPDATE scan SET ended = ?, complete = ?, checksum = ?", (ended, complete, checksum))
            .and_then(|_| database.execute_batch(if self.index { INDEXES } else { "" }))
            .and_then(|()| database.execute_batch("COMMIT"))
            .and_then(|()| database.close().map_err(|(_, error)| error));
        written.map_err(|error| cannot_write(self.output.named(), &error))?;
        self.output.commit(extent)
    }
}

fn cannot_write(path: &Path, error: &rusqlite::Error) -> io::Error {
    use rusqlite::ErrorCode;
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => io::ErrorKind::StorageFull,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => io::ErrorKind::PermissionDenied,
        Some(ErrorCode::TooBig) => io::ErrorKind::FileTooLarge,
        _ => io::ErrorKind::Other,
    };
    message::cannot_write(path, &io::Error::new(kind, error.to_string()))
}

/// One worker's rows.
struct Writer<'s> {
    sink: &'s Sqlite,
    rows: Vec<Held>,
    texts: Vec<u8>,
    checksum: Checksum,
}

impl Part for Writer<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.rows.push(Held::new(row, &mut self.texts));
        self.checksum.add(row);
        if self.rows.len() == BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.insert(&self.rows, &self.texts)?;
        self.sink.checksum.lock().unwrap_or_else(PoisonError::into_inner).take(&mut self.checksum);
        self.rows.clear();
        self.texts.clear();
        Ok(())
    }
}

/// A row whose texts are kept elsewhere.
struct Held {
    row: Row<'static>,
    path: Range<usize>,
    /// The end of the parent and the start of the name in the path.
    parent: usize,
    name: usize,
    user: Option<Range<usize>>,
    group: Option<Range<usize>>,
    target: Option<Range<usize>>,
    details: Option<Range<usize>>,
}

impl Held {
    fn new(row: &Row<'_>, texts: &mut Vec<u8>) -> Held {
        let start = texts.len();
        row.path(texts);
        let path = start..texts.len();
        let mut keep = |text: Option<&[u8]>| {
            let start = texts.len();
            texts.extend_from_slice(text?);
            Some(start..texts.len())
        };
        Held {
            parent: start + row.parent.len(),
            name: path.end - row.name.len(),
            path,
            user: keep(row.facts.and_then(|facts| facts.user)),
            group: keep(row.facts.and_then(|facts| facts.group)),
            target: keep(row.target),
            details: keep(Some(row.details.bytes()).filter(|bytes| !bytes.is_empty())),
            row: row.without_texts(),
        }
    }

    fn insert(
        &self,
        texts: &[u8],
        details: &[Detail],
        statement: &mut Statement<'_>,
    ) -> rusqlite::Result<()> {
        let word = |word: &'static str| ValueRef::Text(word.as_bytes());
        let kept =
            |range: &Option<Range<usize>>| range.clone().map_or(ValueRef::Null, |range| text(&texts[range]));
        let Held { path, parent, name, row, .. } = self;
        let mut values = [ValueRef::Null; COLUMNS];
        values[0] = text(&texts[path.clone()]);
        values[1] = text(&texts[path.start..*parent]);
        values[2] = text(&texts[*name..path.end]);
        values[3] = ValueRef::Integer(i64::from(row.depth));
        values[4] = word(words::of_kind(row.kind));
        if let Some(facts) = &row.facts {
            put_facts(facts, [kept(&self.user), kept(&self.group)], &mut values);
        }
        values[TARGET] = kept(&self.target);
        if let Some(fault) = row.fault {
            (values[TARGET + 1], values[TARGET + 2]) =
                (word(fault.asked.word()), ValueRef::Integer(i64::from(fault.errno)));
        }
        let known = self.details.clone().map(|range| Details::from_bytes(&texts[range])).unwrap_or_default();
        let details = details.iter().map(|detail| match known.get(*detail) {
            None => ValueRef::Null,
            Some(Value::Number(number)) => ValueRef::Integer(number as i64),
            Some(Value::Text(text)) => ValueRef::Text(text.as_bytes()),
        });
        for (index, value) in values.into_iter().chain(details).enumerate() {
            statement.raw_bind_parameter(index + 1, ToSqlOutput::Borrowed(value))?;
        }
        statement.raw_execute().map(|_| ())
    }
}

/// The values of facts. The texts of these are kept elsewhere: names of owner and group.
fn put_facts<'v>(facts: &Facts<'_>, texts: [ValueRef<'v>; 2], values: &mut [ValueRef<'v>; COLUMNS]) {
    let mut texts = texts.into_iter();
    for (fact, column) in self::facts() {
        match fact.cell(facts) {
            _ if matches!(fact.access, Access::Text(..)) => {
                values[column] = texts.next().unwrap_or(ValueRef::Null)
            }
            Some(Cell::Number(number)) => values[column] = ValueRef::Integer(number as i64),
            Some(Cell::Flag(flag)) => values[column] = ValueRef::Integer(flag.into()),
            Some(Cell::Time(at)) => {
                (values[column], values[column + 1]) =
                    (ValueRef::Integer(at.sec), ValueRef::Integer(at.nsec.into()));
            }
            Some(Cell::Text(_)) | None => {}
        }
    }
}

fn text(bytes: &[u8]) -> ValueRef<'_> {
    if std::str::from_utf8(bytes).is_ok() { ValueRef::Text(bytes) } else { ValueRef::Blob(bytes) }
}
