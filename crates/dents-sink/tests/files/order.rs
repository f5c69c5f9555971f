//! The rows of a Parquet file are in the order of their paths, and the statistics of its row groups have their first and last paths.

use crate::common::{Owned, Playground, Rng, as_written, read, write};
use dents_sink::Format;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use std::fs::File;
use std::path::Path;

/// Rows of many nested directories. Their names have another order than their paths, and are longer than the minimum that writers usually keep.
fn rows(count: usize) -> Vec<Owned> {
    let mut rng = Rng(17);
    let begin = [&b"/"[..], &[b'a'; 90]].concat();
    let mut directories = vec![begin];
    let mut rows = Vec::new();
    while rows.len() < count {
        let parent = directories[rng.below(directories.len() as u64) as usize].clone();
        for _ in 0..rng.below(60) {
            let row = rng.row(&parent);
            if rng.one_in(9) && row.path().len() < 900 {
                directories.push(row.path());
            }
            rows.push(row);
        }
    }
    rows.truncate(count);
    rows
}

/// The first and the last path of each row group, and the number of its rows.
fn groups(path: &Path) -> Vec<([Vec<u8>; 2], i64)> {
    let file = SerializedFileReader::new(File::open(path).expect("there")).expect("Parquet");
    let groups = file.metadata().row_groups().iter();
    let of = |group: &parquet::file::metadata::RowGroupMetaData| {
        let column = group.columns().iter().find(|one| one.column_path().parts() == ["path_bytes"]);
        let statistics = column.expect("a column").statistics().expect("statistics");
        let Statistics::ByteArray(_) = statistics else { panic!("not of bytes") };
        assert!(statistics.min_is_exact() && statistics.max_is_exact());
        let [min, max] = [statistics.min_bytes_opt(), statistics.max_bytes_opt()];
        ([min.expect("a minimum").to_vec(), max.expect("a maximum").to_vec()], group.num_rows())
    };
    groups.map(of).collect()
}

#[test]
fn rows_stand_in_the_order_of_paths_over_the_whole_file() {
    let rows = rows(100_000);
    let expected = as_written(Format::Parquet, rows.clone());
    let mut counts = Vec::new();
    for parts in [1, 2, 256] {
        let ground = Playground::new();
        let path = ground.file(Format::Parquet);
        write(&path, Format::Parquet, &rows, parts).expect("written");
        let back = read(&path).expect("read");
        let paths = |rows: &[Owned]| rows.iter().map(Owned::path).collect::<Vec<_>>();
        assert!(paths(&back) == paths(&expected), "{parts} parts");
        let groups = groups(&path);
        let mut at = 0;
        for ([min, max], count) in &groups {
            assert!(*count <= 35_000, "{parts} parts: {count} rows");
            let last = at + *count as usize - 1;
            assert_eq!([min, max], [&expected[at].path(), &expected[last].path()]);
            at = last + 1;
        }
        assert_eq!(at, expected.len());
        counts.push(groups.len());
    }
    // With 2,000,000 rows there are 62 groups. A subtree that crosses a boundary is in two of them, less than 5 %.
    assert_eq!(counts, [4; 3]);
}

/// If the temporary file cannot grow, the message names the output, and the old file is unchanged.
#[test]
fn a_full_disk_while_rows_are_sorted_keeps_the_old_file() {
    const NAME: &str = "a_full_disk_while_rows_are_sorted";
    let Ok(this) = std::env::current_exe() else { return };
    if let Some(path) = std::env::var_os("DENTS_SINK_SORTED") {
        let error = write(Path::new(&path), Format::Parquet, &rows(200_000), 3).expect_err("limited");
        println!("REFUSED {error}");
        return;
    }
    let ground = Playground::new();
    let path = ground.file(Format::Parquet);
    std::fs::write(&path, "before").expect("written");
    let limited = std::process::Command::new("sh")
        .args(["-c", "ulimit -f 64; trap '' XFSZ; exec \"$0\" \"$1\" --nocapture"])
        .arg(this)
        .arg(NAME)
        .env("DENTS_SINK_SORTED", &path)
        .output()
        .expect("started");
    let said = String::from_utf8_lossy(&limited.stdout);
    assert!(
        said.contains("REFUSED") && said.contains("scan.parquet: cannot write: File too large"),
        "{said}"
    );
    assert_eq!(std::fs::read(&path).expect("read"), b"before");
    assert_eq!(ground.names().len(), 1);
}
