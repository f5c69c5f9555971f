//! Scans in several files.

use crate::{diff, make, playground, scan};
use dents_lab::fixture::TempDir;
use dents_sink::manifest::{Manifest, Shard};
use dents_sink::read::open;
use dents_sink::{About, Extent, Format, create, time};
use std::path::Path;

/// The rows of a scan file, divided among three shards.
fn divide(dir: &TempDir, from: &str, to: &str) {
    let (from, to) = (dir.path().join(from), dir.path().join(to));
    std::fs::create_dir(&to).expect("a directory");
    let shards: Vec<Shard> = (0..3).map(|nth| shard(&from, &to, nth)).collect();
    let (begun, ended) = (time::now(), Some(time::now()));
    let manifest = Manifest { extent: Extent::Complete, begun, ended, roots: vec![b"t".to_vec()], shards };
    manifest.write(&to).expect("written");
}

fn shard(from: &Path, to: &Path, nth: u64) -> Shard {
    let file = format!("shard-{nth}.parquet");
    let about = About {
        program: "a test",
        begun: time::now(),
        ended: None,
        timestamps: time::Unit::Micros,
        index: false,
        subvolumes: &[],
        details: Default::default(),
    };
    let sink = create(&to.join(&file), Format::Parquet, &about).expect("a file");
    let (mut part, mut number, mut rows) = (sink.part(), 0, 0);
    let mut give = |row: &dents_sink::Row<'_>| {
        number += 1;
        if number % 3 != nth {
            return Ok(());
        }
        rows += 1;
        part.row(row)
    };
    open(from).expect("opened").for_each(&mut give).expect("read");
    part.flush().expect("written");
    drop(part);
    sink.finish(Extent::Complete).expect("written");
    Shard { file, rows }
}

#[test]
fn directories_of_shards_differ_as_their_scans_do() {
    let dir = playground();
    make(&dir, "mkdir -p t/a/b t/c; for i in $(seq 30); do echo $i >t/a/b/$i; done; ln t/a/b/1 t/c/one");
    scan(&dir, "old.parquet");
    make(&dir, "rm t/a/b/2; mv t/a/b/3 t/c/; echo longer >>t/a/b/4; mkdir t/new; echo 5 >t/new/5");
    scan(&dir, "new.parquet");
    divide(&dir, "old.parquet", "old");
    divide(&dir, "new.parquet", "new");
    for options in ["", "--csv", "--json", "--depth 3 --by size"] {
        let expected = diff(&dir, 1, &format!("{options} old.parquet new.parquet"));
        for words in ["old new", "old new.parquet", "old.parquet new", "old t"] {
            assert_eq!(diff(&dir, 1, &format!("{options} {words}")), expected, "{options} {words}");
        }
    }
    diff(&dir, 0, "new t");
    diff(&dir, 0, "new new.parquet");
}
