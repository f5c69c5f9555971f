//! The columns of a Parquet file, as other programs see them: text for UTF-8, bytes beside it, times in the requested unit. Files of
//! earlier versions can still be read.

use crate::common::{Owned, Playground, Rng, as_written, read, read_any, write, write_in};
use dents_sink::Format;
use dents_sink::time::Unit;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, TimestampType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fs::File;
use std::path::Path;

/// The rows of [`Rng`] with this seed, written by a program of version 1 of the schema.
const FIRST_VERSION: &[u8] = include_bytes!("version-1.parquet");
const FIRST_SEED: u64 = 5;
const FIRST_ROWS: usize = 60;

/// The same in version 2, with nanoseconds.
const SECOND_VERSION: &[u8] = include_bytes!("version-2.parquet");
const SECOND_SEED: u64 = 6;
const SECOND_ROWS: usize = 14;

/// The columns of text that have a column of bytes beside them.
const TEXTS: [&str; 5] = ["path", "parent", "user", "group", "target"];

fn open(path: &Path) -> SerializedFileReader<File> {
    SerializedFileReader::new(File::open(path).expect("there")).expect("Parquet")
}

fn field<'r>(row: &'r Row, name: &str) -> &'r Field {
    row.get_column_iter().find(|(one, _)| *one == name).map(|(_, field)| field).expect("a column")
}

fn bytes(field: &Field) -> Option<&[u8]> {
    match field {
        Field::Null => None,
        Field::Bytes(bytes) => Some(bytes.data()),
        other => panic!("not bytes: {other:?}"),
    }
}

/// The value of a text column for these bytes.
fn text_of(bytes: Option<&[u8]>) -> Field {
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    text.map_or(Field::Null, |text| Field::Str(text.to_string()))
}

#[test]
fn text_is_text_and_bytes_are_beside_it() {
    let ground = Playground::new();
    let path = ground.file(Format::Parquet);
    let rows = as_written(Format::Parquet, Rng(3).rows(800));
    write(&path, Format::Parquet, &rows, 1).expect("written");
    let (mut texts, mut others) = (0, 0);
    for (row, owned) in open(&path).get_row_iter(None).expect("rows").zip(&rows) {
        let (row, owned) = (row.expect("a row"), owned.row());
        for name in TEXTS {
            let exact = bytes(field(&row, &format!("{name}_bytes")));
            assert_eq!(field(&row, name), &text_of(exact), "{name}");
            let is_text = field(&row, name) != &Field::Null;
            texts += u32::from(is_text);
            others += u32::from(exact.is_some() && !is_text);
        }
        let mut path = Vec::new();
        owned.path(&mut path);
        assert_eq!(bytes(field(&row, "path_bytes")), Some(&path[..]));
        assert_eq!(bytes(field(&row, "parent_bytes")), Some(owned.parent));
        assert_eq!(bytes(field(&row, "target_bytes")), owned.target);
        assert_eq!(bytes(field(&row, "user_bytes")), owned.facts.and_then(|facts| facts.user));
        assert_eq!(bytes(field(&row, "group_bytes")), owned.facts.and_then(|facts| facts.group));
        assert_eq!(field(&row, "name"), &text_of(Some(owned.name)));
        let extension = dents_sink::extension(owned.name);
        assert_eq!(field(&row, "extension"), &text_of(Some(extension).filter(|end| !end.is_empty())));
    }
    assert!(texts > 100 && others > 100, "{texts} texts, {others} others");
}

/// A dictionary of these values would have 12 MB.
#[test]
fn parents_of_any_length_are_text_in_bounded_memory() {
    let ground = Playground::new();
    let path = ground.file(Format::Parquet);
    let mut rng = Rng(11);
    let directories = (0..6_000).map(|nth| format!("/{}{nth:05}", "d".repeat(2_000)));
    let rows: Vec<Owned> =
        directories.flat_map(|parent| [0, 1].map(|_| rng.row(parent.as_bytes()))).collect();
    let rows = as_written(Format::Parquet, rows);
    write(&path, Format::Parquet, &rows, 2).expect("written");
    assert!(read(&path).expect("read") == rows);
    let file = open(&path);
    for (row, owned) in file.get_row_iter(None).expect("rows").zip(&rows) {
        assert_eq!(field(&row.expect("a row"), "parent"), &text_of(Some(&owned.parent)));
    }
    let metadata = file.metadata().row_group(0);
    let column = metadata.columns().iter().find(|one| one.column_path().parts() == ["parent"]);
    let column = column.expect("a column");
    assert!(column.uncompressed_size() < 4 << 20, "{} bytes", column.uncompressed_size());
    let bounds = column.statistics().expect("statistics");
    let ends = [&rows[0], &rows[rows.len() - 1]].map(|row| Some(&row.parent[..]));
    assert_eq!([bounds.min_bytes_opt(), bounds.max_bytes_opt()], ends);
}

#[test]
fn columns_have_the_types_that_others_know() {
    for (timestamps, expected) in [(Unit::Micros, TimeUnit::MICROS), (Unit::Nanos, TimeUnit::NANOS)] {
        let ground = Playground::new();
        let path = ground.file(Format::Parquet);
        write_in(&path, Format::Parquet, timestamps, &Rng(1).rows(10)).expect("written");
        let file = open(&path);
        let schema = file.metadata().file_metadata().schema_descr();
        let column = |name: &str| {
            let found = schema.columns().iter().find(|column| column.path().parts() == [name]);
            found.cloned().unwrap_or_else(|| panic!("no column {name}"))
        };
        for name in TEXTS.into_iter().chain(["name", "extension", "type", "asked", "far_times"]) {
            assert_eq!(column(name).logical_type_ref(), Some(&LogicalType::String), "{name}");
            assert_eq!(column(name).converted_type(), ConvertedType::UTF8, "{name}");
        }
        for name in TEXTS {
            assert_eq!(column(&format!("{name}_bytes")).logical_type_ref(), None, "{name}");
        }
        for name in ["atime", "btime", "ctime", "mtime"] {
            let utc = TimestampType { is_adjusted_to_u_t_c: true, unit: expected };
            assert_eq!(column(name).logical_type_ref(), Some(&LogicalType::Timestamp(utc)), "{name}");
        }
    }
}

#[test]
fn microseconds_come_back_rounded_down() {
    let rows = as_written(Format::Parquet, Rng(9).rows(2000));
    let expected: Vec<Owned> = rows.iter().map(|row| row.clone().in_units(Unit::Micros)).collect();
    assert_ne!(rows, expected);
    let ground = Playground::new();
    let path = ground.file(Format::Parquet);
    write_in(&path, Format::Parquet, Unit::Micros, &rows).expect("written");
    let back = read(&path).expect("read");
    assert_eq!(back.len(), expected.len());
    for (back, row) in back.iter().zip(&expected) {
        assert_eq!(back, row);
    }
}

#[test]
fn files_of_the_first_version_are_read() {
    let ground = Playground::new();
    let path = ground.file(Format::Parquet);
    std::fs::write(&path, FIRST_VERSION).expect("written");
    let rows = Rng(FIRST_SEED).rows(FIRST_ROWS).into_iter().map(Owned::without_details).collect();
    assert_eq!(read_any(&path).expect("read"), (rows, None));
}

#[test]
fn files_of_the_second_version_are_read() {
    let ground = Playground::new();
    let path = ground.file(Format::Parquet);
    std::fs::write(&path, SECOND_VERSION).expect("written");
    let complete = Some(dents_sink::Extent::Complete);
    let rows = Rng(SECOND_SEED).rows(SECOND_ROWS).into_iter().map(Owned::without_details).collect();
    assert_eq!(read_any(&path).expect("read"), (rows, complete));
}

/// The caller that creates a file sets the program and the start of the scan.
#[test]
fn a_file_says_when_its_scan_was_begun() {
    let ground = Playground::new();
    let path = ground.file(Format::Parquet);
    write(&path, Format::Parquet, &Rng(1).rows(10), 1).expect("written");
    let file = open(&path);
    let values = file.metadata().file_metadata().key_value_metadata().expect("there");
    let value = |key: &str| values.iter().find(|one| one.key == key).and_then(|one| one.value.clone());
    assert_eq!(value("dents.begun").as_deref(), Some("2023-11-14T22:13:20.000000001Z"));
    assert_eq!(value("dents.program").as_deref(), Some("a test"));
    assert_eq!(value("dents.order").as_deref(), Some("path"));
    assert_eq!(value("dents.schema").as_deref(), Some("3"));
}
