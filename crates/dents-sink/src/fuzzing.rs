//! Fuzz targets; see `dents-fuzz`.

pub use crate::journal::fuzzing::{frames, rows};

use crate::format::Format;
use crate::ndjson::fuzzing::comes_back;
use crate::read;
use crate::read::Take;
use crate::row::Row;
use crate::scan_file::{Columns, Wanted};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::{fs, io};

/// Files of one call, removed when it ends.
pub(crate) struct TemporaryDir(pub(crate) PathBuf);

impl TemporaryDir {
    pub(crate) fn new() -> TemporaryDir {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("dents-sink-fuzzing-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        // In memory, if there is a tmpfs: on a busy disk each file can take milliseconds.
        let places = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
        let made = places.iter().map(|dir| dir.join(&name)).find(|path| fs::create_dir(path).is_ok());
        TemporaryDir(made.expect("a directory for temporary files"))
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).expect("a file");
        path
    }
}

impl Drop for TemporaryDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// NDJSON: rows that are written as lines and read again stay the same.
pub fn ndjson(bytes: &[u8]) {
    scan(bytes, Format::Ndjson);
}

/// Parquet: the checksums detect most damage; see [`parquet_sealed`].
#[cfg(feature = "parquet")]
pub fn parquet(bytes: &[u8]) {
    scan(bytes, Format::Parquet);
}

/// Parquet with corrected checksums, so that damage reaches the decoder.
#[cfg(feature = "parquet")]
pub fn parquet_sealed(bytes: &[u8]) {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| crate::parquet::on_panic(|_| ()));
    let mut bytes = bytes.to_vec();
    crate::parquet::fuzzing::seal(&mut bytes);
    scan(&bytes, Format::Parquet);
}

/// SQLite.
#[cfg(feature = "sqlite")]
pub fn sqlite(bytes: &[u8]) {
    scan(bytes, Format::Sqlite);
}

/// The JSON of ncdu.
#[cfg(feature = "parquet")]
pub fn ncdu(bytes: &[u8]) {
    scan(bytes, Format::Ncdu);
}

/// The manifest of a scan in several files: a valid one that is written and read again stays the same.
#[cfg(feature = "parquet")]
pub fn manifest(bytes: &[u8]) {
    use crate::manifest::{Manifest, NAME};
    let dir = TemporaryDir::new();
    dir.file(NAME, bytes);
    match Manifest::read(&dir.0) {
        Ok(manifest) => {
            manifest.write(&dir.0).expect("what is valid can be written");
            assert_eq!(Manifest::read(&dir.0).expect("what is written is valid"), manifest);
        }
        Err(error) => assert!(error.to_string().contains(NAME), "{error}"),
    }
    // The shards do not exist.
    let opened = read::open(&dir.0).map(|reader| reader.row_groups(&Wanted::default()));
    assert!(opened.is_err() || opened.is_ok_and(|groups| groups == read::RowGroups::default()));
}

/// The files of a scan in parts, unchanged and with corrected checksums: plan, claim and list of what a task left over. An error names
/// the file.
#[cfg(feature = "parquet")]
pub fn parts(bytes: &[u8]) {
    parts_of(bytes);
    let mut mended = bytes.to_vec();
    crate::journal::fuzzing::mend(&mut mended);
    parts_of(&mended);
}

#[cfg(feature = "parquet")]
fn parts_of(bytes: &[u8]) {
    use crate::parts::{Parts, fuzzing};
    let dir = TemporaryDir::new();
    dir.file("plan", bytes);
    if let Ok(parts) = Parts::open(&dir.0) {
        assert!(parts.plan().roots.len() <= bytes.len() && parts.plan().options.len() <= bytes.len());
    }
    let parts = fuzzing::plan(&dir.0);
    for made in ["claims/1", "log/1", "left/2.0123456789abcdef0123456789abcdef"] {
        dir.file(made, bytes);
    }
    match parts.directories("1") {
        Ok(directories) => assert!(directories.len() <= bytes.len()),
        Err(error) => assert!(error.to_string().contains("claims/1"), "{error}"),
    }
    // The sources of a claim: with those of a forged one it fails, or makes the next claim.
    let claimed = parts.claim(Some(3)).map(|claim| claim.is_none_or(|claim| claim.directories <= 3));
    assert!(claimed.unwrap_or(true));
    let _ = parts.tasks(&mut |_| Ok(()));
}

/// Reads a scan file. Its rows stay the same if they are written as lines and read again, and if only some columns are read. An
/// error names the file.
fn scan(bytes: &[u8], format: Format) {
    let dir = TemporaryDir::new();
    let path = dir.file("scan", bytes);
    // Names alone are read from another column, which may have other damage.
    let mut columns = Columns::from_bits_truncate(crc32fast::hash(bytes)) | Columns::PARENT;
    // If one detail is wanted, a row may keep others that are not.
    columns.set(Columns::DETAILS, columns.contains(Columns::PROJECT));
    let (mut all, mut parent) = (Sum::default(), Vec::new());
    let read = read::open(&path).and_then(|reader| {
        if reader.format() != format {
            return Ok(None);
        }
        let _ = reader.span();
        reader.for_each(&mut |row| {
            all.row(&row.only(columns))?;
            parent = row.parent.to_vec();
            comes_back(row);
            Ok(())
        })
    });
    // A row takes at least a bit, except in Parquet, where all rows may be equal.
    assert!(format != Format::Ndjson || all.rows <= bytes.len());
    match read {
        Err(error) => assert!(error.to_string().contains("scan"), "{error}"),
        Ok(None) if all.rows == 0 => {}
        Ok(_) => assert_eq!(part(&path, columns, &[]).expect("it was read before"), all),
    }
    // The test does not check which rows these are, because statistics or an index may be wrong.
    let _ = part(&path, Columns::NAME, &[parent]);
}

/// The rows of a file that are below some paths.
fn part(path: &Path, columns: Columns, below: &[Vec<u8>]) -> io::Result<Sum> {
    let (mut sums, _) = read::open(path)?.read(&Wanted { columns, below }, 1, |_| Sum::default())?;
    Ok(sums.remove(0))
}

/// Rows, and a checksum of them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sum {
    rows: usize,
    checksum: u32,
}

impl Take for Sum {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.rows += 1;
        let mut checksum = crc32fast::Hasher::new_with_initial(self.checksum);
        checksum.update(format!("{row:?}").as_bytes());
        self.checksum = checksum.finalize();
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::format::Extent;
    use crate::format::{About, Format};
    use crate::row::{Asked, Fault, Row};
    use crate::{Facts, create};
    use dents_core::batch::Time;
    use dents_core::needs::Kind;

    pub(crate) fn some_rows() -> Vec<Row<'static>> {
        let time = Time { sec: 1_700_000_000, nsec: 123_456_789 };
        let facts = Facts {
            dev: (8, 1),
            ino: 12_345_678,
            mode: 0o100_644,
            nlink: 1,
            uid: 1000,
            gid: 100,
            user: Some(b"ann"),
            group: Some(b"gr\xffoup"),
            size: u64::MAX,
            allocated: 8192,
            atime: time,
            btime: None,
            ctime: Time { sec: -1, nsec: 1 },
            mtime: time,
            lazy: false,
            unknown: super::Columns::empty(),
        };
        let row = Row {
            parent: b"dir",
            name: b"a",
            depth: 1,
            kind: Kind::Reg,
            facts: Some(facts),
            target: None,
            details: Default::default(),
            fault: None,
        };
        let far = Facts {
            mtime: Time { sec: i64::MAX, nsec: 999_999_999 },
            btime: Some(time),
            user: None,
            ..facts
        };
        vec![
            Row { parent: b"", name: b"dir", depth: 0, kind: Kind::Dir, ..row },
            row,
            Row { name: b"l\n\xff", kind: Kind::Link, target: Some(b"/to \xc3\xa9"), ..row },
            Row {
                facts: None,
                fault: Some(Fault { asked: Asked::Stat, errno: 13 }),
                kind: Kind::Unknown,
                ..row
            },
            Row { name: b"far", facts: Some(far), ..row },
            Row { name: b"more", details: crate::Details::parse(DETAILS).expect("valid"), ..row },
        ]
    }

    /// Project 300, flags `i`, no ACL, an attribute.
    const DETAILS: &[u8] = b"\x00\xac\x02\x01\x01i\x02\x00\x03\x06user.a";

    /// A file of this format.
    pub(crate) fn written(format: Format, rows: &[Row<'_>]) -> Vec<u8> {
        let dir = super::TemporaryDir::new();
        let path = dir.0.join("scan");
        let begun = Time { sec: 1_700_000_000, nsec: 0 };
        let about = About {
            program: "test",
            begun,
            ended: None,
            timestamps: crate::time::Unit::Micros,
            index: false,
            subvolumes: &[],
            details: super::Columns::DETAILS,
        };
        let sink = create(&path, format, &about).expect("a sink");
        let mut part = sink.part();
        rows.iter().for_each(|row| part.row(row).expect("room"));
        part.flush().expect("room");
        drop(part);
        sink.finish(Extent::Complete).expect("room");
        at_another_time(&path)
    }

    /// Sets the end of the scan to a constant, so that mutations are reproducible.
    fn at_another_time(path: &std::path::Path) -> Vec<u8> {
        let ended = crate::read::open(path).expect("a scan").span().ended.expect("it has ended");
        let (ended, always) = (crate::time::text(ended), b"2026-11-22T10:00:00.000000000Z");
        let mut bytes = std::fs::read(path).expect("it is there");
        if bytes.starts_with(b"[") {
            return bytes;
        }
        let at =
            bytes.windows(always.len()).position(|part| part == ended.as_bytes()).expect("its end is told");
        bytes[at..at + always.len()].copy_from_slice(always);
        #[cfg(feature = "parquet")]
        if bytes.starts_with(b"PAR1") {
            crate::parquet::fuzzing::seal(&mut bytes);
        }
        bytes
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn manifest() {
        use crate::manifest::{Manifest, NAME, Shard};
        let begun = Time { sec: 1_700_000_000, nsec: 0 };
        let shard = |number| Shard { file: format!("{number:04}.parquet"), rows: number };
        let (roots, shards) = (vec![b"/home".to_vec(), b"/data/\xff".to_vec()], (1..4).map(shard).collect());
        let ended = Some(begun);
        let of = |extent, shards| {
            let dir = super::TemporaryDir::new();
            let roots = roots.clone();
            Manifest { extent, begun, ended, roots, shards }.write(&dir.0).expect("room");
            std::fs::read(dir.0.join(NAME)).expect("it is there")
        };
        let corpus = [of(Extent::Complete, shards), of(Extent::Partial, Vec::new())];
        dents_fuzz::check("manifest", &corpus, super::manifest);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parts() {
        let corpus = crate::parts::fuzzing::files();
        dents_fuzz::check("parts", &corpus, super::parts);
    }

    #[test]
    fn ndjson() {
        dents_fuzz::check("ndjson", &[written(Format::Ndjson, &some_rows())], super::ndjson);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet() {
        dents_fuzz::check("parquet", &[written(Format::Parquet, &some_rows())], super::parquet);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_sealed() {
        // Found by fuzzing: a far time for a column that has none, and a page of 2^50 values.
        let far = include_bytes!("../tests/files/far-time-of-no-column.parquet").to_vec();
        let large = include_bytes!("../tests/files/large-number-of-values.parquet").to_vec();
        let corpus = [written(Format::Parquet, &some_rows()), far, large];
        dents_fuzz::check("parquet_sealed", &corpus, super::parquet_sealed);
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn sqlite() {
        dents_fuzz::check("sqlite", &[written(Format::Sqlite, &some_rows())], super::sqlite);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn ncdu() {
        let written = written(Format::Ncdu, &some_rows());
        let own = br#"[1,0,{},[{"name":"/r","dev":7},{"name":"x","hlnkc":true,"ino":4},[{"name":"d","read_error":true}]]]"#;
        dents_fuzz::check("ncdu", &[written, own.to_vec()], super::ncdu);
    }

    #[test]
    fn frames() {
        dents_fuzz::check("frames", &[crate::journal::fuzzing::segment(&some_rows())], super::frames);
    }

    #[test]
    fn rows() {
        dents_fuzz::check("rows", &[crate::journal::fuzzing::encoded(&some_rows())], super::rows);
    }
}
