//! A directory of shards with a manifest is read as one scan. An incomplete directory is refused, and the message names the problem.

use crate::common::{ABOUT, Owned, Playground, Rng, as_written, read, read_any, write, write_as};
use dents_core::batch::Time;
use dents_sink::manifest::{Manifest, NAME, Shard};
use dents_sink::read::{Columns, Span, Wanted, open};
use dents_sink::{Extent, Format, Row};
use std::fs;
use std::path::Path;
use std::sync::Mutex;

const ENDED: Time = Time { sec: 1_700_000_100, nsec: 5 };

fn manifest(shards: &[(&str, u64)]) -> Manifest {
    let shard = |(file, rows): &(&str, u64)| Shard { file: file.to_string(), rows: *rows };
    Manifest {
        extent: Extent::Complete,
        begun: ABOUT.begun,
        ended: Some(ENDED),
        roots: vec![b"/home".to_vec(), b"/d\xff".to_vec(), b"\xe2\x80\xaea\"\n".to_vec(), Vec::new()],
        shards: shards.iter().map(shard).collect(),
    }
}

/// Writes the rows as shards of these sizes, and the manifest.
pub(crate) fn write_shards(directory: &Path, rows: &[Owned], sizes: &[usize]) -> Manifest {
    let (mut left, mut shards) = (rows, Vec::new());
    for (number, size) in sizes.iter().enumerate() {
        let (rows, rest) = left.split_at(*size);
        left = rest;
        let file = format!("shard {number}");
        write(&directory.join(&file), Format::Parquet, rows, 1).expect("written");
        shards.push(Shard { file, rows: *size as u64 });
    }
    assert!(left.is_empty());
    let manifest = Manifest { shards, ..manifest(&[]) };
    manifest.write(directory).expect("written");
    manifest
}

fn problem(directory: &Path) -> String {
    open(directory).err().expect("it is refused").to_string()
}

#[test]
fn a_directory_is_what_its_shards_are_one_after_the_other() {
    let (ground, rows) = (Playground::new(), as_written(Format::Parquet, Rng(1).rows(2000)));
    let written = write_shards(&ground.0, &rows, &[700, 0, 1, 1299]);
    assert_eq!(Manifest::read(&ground.0).expect("valid"), written);
    let reader = open(&ground.0).expect("opened");
    assert_eq!(reader.format(), Format::Parquet);
    assert_eq!(reader.span(), Span { begun: Some(ABOUT.begun), ended: Some(ENDED) });
    assert_eq!(reader.row_groups(&Wanted::default()).read, 3);
    assert!(read(&ground.0).expect("read") == rows);
    let is_plain = |row: &&Owned| !row.parent.is_empty() && !row.parent.ends_with(b"/");
    let below = [300, 1500].map(|from| rows[from..].iter().find(is_plain).expect("one").parent.clone());
    let wanted = Wanted { columns: Columns::all(), below: &below };
    let is_below = |row: &&Owned| {
        below.iter().any(|path| row.parent == *path || row.parent.starts_with(&[&path[..], b"/"].concat()))
    };
    let expected = rows.iter().filter(is_below);
    let taken = Mutex::new(Vec::new());
    let take = |row: &Row<'_>| {
        taken.lock().expect("no panic").push(Owned::of(row));
        Ok(())
    };
    let (takers, extent) = reader.read(&wanted, 2, |_| take).expect("read");
    assert_eq!((takers.len(), extent), (2, Some(Extent::Complete)));
    assert_eq!(taken.into_inner().expect("no panic").len(), expected.count());
}

#[test]
fn an_empty_scan_has_no_shards() {
    let ground = Playground::new();
    manifest(&[]).write(&ground.0).expect("written");
    assert_eq!(read(&ground.0).expect("read"), []);
    assert_eq!(ground.names(), [NAME]);
}

#[test]
fn a_directory_without_a_manifest_is_refused() {
    let ground = Playground::new();
    write(&ground.file(Format::Parquet), Format::Parquet, &[], 1).expect("written");
    assert_eq!(
        problem(&ground.0),
        format!(
            "{}: a directory without manifest.json, so not one of a scan; name a file that `dents scan` wrote; \
             to scan a tree, name it as a path",
            ground.0.display()
        )
    );
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for file in ["", ".", "..", "/etc/passwd", "../a", "a/b", "a/", "a\0", NAME] {
        let ground = Playground::new();
        let error = manifest(&[(file, 0)]).write(&ground.0).expect_err("refused").to_string();
        assert!(error.contains("is not the name of a shard; name each file once"), "{error}");
        assert!(ground.names().is_empty());
        // Another program may have written it.
        manifest(&[("INSTEAD", 0)]).write(&ground.0).expect("written");
        let path = ground.0.join(NAME);
        let text = fs::read_to_string(&path).expect("readable");
        let file = file.replace('\0', "\\u0000");
        fs::write(&path, text.replace("INSTEAD", &file)).expect("written");
        let error = problem(&ground.0);
        assert!(error.contains("manifest.json: ") && error.contains("is not the name of a shard"), "{error}");
    }
    let ground = Playground::new();
    let error = manifest(&[("a", 0), ("b", 1), ("a", 0)]).write(&ground.0).expect_err("refused").to_string();
    assert!(error.contains("the shard \"a\" occurs twice"), "{error}");
}

/// Each case begins with a complete directory.
#[test]
fn a_shard_that_is_not_what_the_manifest_says_is_named() {
    let rows = Rng(2).rows(60);
    let refused = |wrong: &dyn Fn(&Path), expected: &str| {
        let ground = Playground::new();
        write_shards(&ground.0, &rows, &[20, 40]);
        let shard = ground.0.join("shard 1");
        wrong(&shard);
        let error = problem(&ground.0);
        assert!(error.starts_with(&format!("{}: {expected}", shard.display())), "{error}");
    };
    let remove = |shard: &Path| fs::remove_file(shard).expect("removed");
    let put = |shard: &Path, bytes: &[u8]| fs::write(shard, bytes).expect("written");
    refused(&remove, "the manifest names this shard, and it is missing; copy the whole directory again");
    refused(&|shard| put(shard, b""), "cut off or damaged: ");
    refused(&|shard| put(shard, b"{\"scan\":1}\n"), "cut off or damaged: ");
    refused(
        &|shard| {
            remove(shard);
            fs::create_dir(shard).expect("made");
        },
        "cannot read: not a regular file; ",
    );
    refused(
        &|shard| write(shard, Format::Parquet, &rows, 1).expect("written"),
        "60 rows, and the manifest says 40; ",
    );
    refused(
        &|shard| {
            let there = write_as(shard, Format::Parquet, &rows[20..], 1, Extent::Partial).expect("written");
            fs::rename(there.expect("a file"), shard).expect("renamed");
        },
        "not complete, and the manifest says that the scan is; ",
    );
}

#[test]
fn a_scan_that_is_not_complete_may_have_such_shards() {
    let (ground, rows) = (Playground::new(), as_written(Format::Parquet, Rng(3).rows(10)));
    let there = write_as(&ground.0.join("a"), Format::Parquet, &rows, 1, Extent::Partial).expect("written");
    assert_eq!(there, Some(ground.0.join("a.partial")));
    let manifest = Manifest { extent: Extent::Partial, ended: None, ..manifest(&[("a.partial", 10)]) };
    manifest.write(&ground.0).expect("written");
    assert_eq!(read_any(&ground.0).expect("read"), (rows, Some(Extent::Partial)));
    assert_eq!(open(&ground.0).expect("opened").span().ended, None);
}

#[test]
fn manifests_of_other_versions_are_recognised() {
    let ground = Playground::new();
    let path = ground.0.join(NAME);
    let put = |text: &str| fs::write(&path, text).expect("written");
    manifest(&[]).write(&ground.0).expect("written");
    let text = fs::read_to_string(&path).expect("readable");
    put(&text.replacen('{', "{\"later\": {\"a\": [1]},", 1));
    assert_eq!(read(&ground.0).expect("a member that is added changes nothing"), []);
    put("{\"dents\": \"manifest\", \"schema\": 2, \"all\": \"else\"}");
    let error = problem(&ground.0);
    assert!(
        error.contains("written with version 2 of the schema, and this program knows up to 1; "),
        "{error}"
    );
    put(&text.replace("\"manifest\"", "\"parcel\""));
    assert!(problem(&ground.0).contains("manifest.json: not the manifest of a scan; "));
    put(&text[..text.len() / 2]);
    assert!(problem(&ground.0).contains("manifest.json: cut off or damaged: "));
    put(&text.replace("\"path_bytes\": \"", "\"path_bytes\": \"?"));
    assert!(
        problem(&ground.0).contains("manifest.json: cut off or damaged: a time or a path is not valid; ")
    );
    for text in ["", "[]", "{}", "\u{0}"] {
        put(text);
        assert!(problem(&ground.0).contains("manifest.json: cut off or damaged: "), "{text}");
    }
}
