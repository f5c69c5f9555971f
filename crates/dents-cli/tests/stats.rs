//! `dents stats` beside `find`.

mod tools;

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use tools::{dents, linked_tree, shell, stdout, text, tree};

/// An entry in the output of `find`.
struct Found {
    inode: String,
    path: String,
    kind: String,
    user: String,
    group: String,
    size: u64,
    blocks: u64,
    depth: String,
}

/// All entries. A file has the depth of its least deep name, and the first extension among the names of that depth.
fn found(cwd: &Path) -> Vec<Found> {
    let listed = shell(cwd, r"find t -printf '%i\0%p\0%y\0%u\0%g\0%s\0%b\0%d\0'");
    let fields: Vec<&str> = listed.split_terminator('\0').collect();
    let entry = |fields: &[&str]| {
        let [inode, path, kind, user, group, size, blocks, depth] = fields else { panic!("{fields:?}") };
        let [inode, path, kind, user, group, depth] =
            [inode, path, kind, user, group, depth].map(|field| (*field).to_owned());
        let [size, blocks] = [size, blocks].map(|field| field.parse().unwrap());
        Found { inode, path, kind, user, group, size, blocks, depth }
    };
    let mut all: Vec<Found> = fields.chunks(8).map(entry).collect();
    all.sort_by_key(|one| (one.depth.len(), one.depth.clone(), extension(one)));
    let mut seen = HashSet::new();
    all.retain(|one| seen.insert(one.inode.clone()));
    all
}

/// Entries, bytes and allocated bytes for each value of a key.
fn expected<'f>(
    found: impl Iterator<Item = &'f Found>,
    key: impl Fn(&Found) -> String,
) -> BTreeMap<String, [u64; 3]> {
    let mut sums: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    for one in found {
        let sum = sums.entry(key(one)).or_default();
        let size = if matches!(&*one.kind, "f" | "l") { one.size } else { 0 };
        [1, size, one.blocks * 512].iter().zip(sum).for_each(|(add, to)| *to += add);
    }
    sums
}

fn extension(one: &Found) -> String {
    match one.path.rsplit_once('/').map_or(&*one.path, |(_, name)| name).rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && extension.len() < 4 && extension != "1" => {
            extension.to_owned()
        }
        _ => String::new(),
    }
}

fn size_class(one: &Found) -> String {
    let limits =
        [(0, "empty"), (4 << 10, "to 4K"), (64 << 10, "to 64K"), (1 << 20, "to 1M"), (16 << 20, "to 16M")];
    limits.iter().find(|(limit, _)| one.size <= *limit).unwrap().1.to_owned()
}

fn table<'v>(object: &'v Value, by: &str) -> &'v Value {
    object["tables"].as_array().unwrap().iter().find(|table| table["by"] == by).unwrap()
}

fn sum(row: &Value) -> [u64; 3] {
    ["entries", "size", "allocated"].map(|field| row[field].as_u64().unwrap())
}

fn sums(table: &Value) -> BTreeMap<String, [u64; 3]> {
    let row = |row: &Value| (row["name"].as_str().unwrap().to_owned(), sum(row));
    table["rows"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn every_key_as_find_has_it() {
    for dir in [tree(), linked_tree()] {
        if tools::is_root() {
            shell(dir.path(), "chown 7:8 t/b/one t/a; chown -h 54321:54321 t/to-b");
        }
        let keys = "user,group,extension,age,size,depth";
        let object = tools::json(&dents(dir.path(), &format!("stats -n 99 --by {keys} --json t")));
        let found = found(dir.path());
        let check = |key, expected| assert_eq!(sums(table(&object, key)), expected, "{key}");
        check("user", expected(found.iter(), |one| one.user.clone()));
        check("group", expected(found.iter(), |one| one.group.clone()));
        check("depth", expected(found.iter(), |one| one.depth.clone()));
        let files = || found.iter().filter(|one| one.kind == "f");
        check("extension", expected(files(), extension));
        check("size", expected(files(), size_class));
        check("age", expected(files(), |_| "to a day".to_owned()));
        assert_eq!(table(&object, "user")["others"], Value::Null);
    }
}

#[test]
fn totals_are_du_s() {
    let object = tools::json(&dents(Path::new("/"), "stats --json --by depth /usr/share"));
    let du = shell(Path::new("/"), "du -s -B1 /usr/share");
    assert_eq!(
        object["tables"][0]["total"]["allocated"],
        du.split('\t').next().unwrap().parse::<u64>().unwrap()
    );
}

#[test]
fn ages() {
    let dir = tree();
    for (nth, (age, _)) in AGES.iter().enumerate() {
        shell(dir.path(), &format!("touch -d '{age}' t/b/aged{nth}"));
    }
    let object = tools::json(&dents(dir.path(), "stats -n 99 --by age --json t/b"));
    let sums = sums(table(&object, "age"));
    for (age, class) in AGES {
        // This class already has two files (one of them with two names).
        let recent = if class == "to a day" { 2 } else { 0 };
        assert_eq!(sums[class][0], 1 + recent, "{age}: {sums:?}");
    }
    // In their own order.
    let rows = table(&object, "age")["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, AGES.map(|(_, class)| class));
}

#[test]
fn what_changes_during_the_scan_is_new() {
    let dir = tree();
    shell(dir.path(), "for i in $(seq 60); do mkdir -p t/slow/$i; : > t/slow/$i/f; done");
    let scan = dents(dir.path(), "stats --by age --json --rate 100 t/slow");
    let child = scan.command().stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(std::time::Duration::from_millis(500));
    shell(dir.path(), "touch t/slow/*/f");
    let output = child.wait_with_output().expect("it ends");
    let object: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let sums = sums(table(&object, "age"));
    assert_eq!(
        sums.iter().map(|(class, sum)| (class.as_str(), sum[0])).collect::<Vec<_>>(),
        [("to a day", 60)]
    );
}

#[test]
fn ages_in_a_file_stay_what_they_were() {
    let dir = tree();
    // The file becomes a day old in four seconds.
    shell(dir.path(), "touch -d '86396 seconds ago' t/b/aged");
    let mut before = Vec::new();
    let ages = |suffix: &str| {
        let words = format!("stats --by age --json --from x.{suffix}");
        text(&stdout(&dents(dir.path(), &words)))
    };
    for suffix in ["parquet", "sqlite"] {
        stdout(&dents(dir.path(), &format!("scan -o x.{suffix} t/b")));
        before.push(ages(suffix));
    }
    std::thread::sleep(std::time::Duration::from_secs(6));
    assert_eq!([ages("parquet"), ages("sqlite")], before[..]);
}

const AGES: [(&str, &str); 6] = [
    ("2 hours", "in the future"),
    ("2 hours ago", "to a day"),
    ("3 days ago", "to a week"),
    ("400 days ago", "to 2 years"),
    ("3000 days ago", "to 10 years"),
    ("1950-01-01", "over 10 years"),
];

#[test]
fn rows_beyond_the_number_are_one() {
    let dir = tree();
    let object = tools::json(&dents(dir.path(), "stats -n 2 --by depth --json t"));
    let table = table(&object, "depth");
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    let all = [&rows[0], &rows[1], &table["others"]].map(sum);
    let added: Vec<u64> = (0..3).map(|at| all.iter().map(|sum| sum[at]).sum()).collect();
    assert_eq!(added, sum(&table["total"]));
}

#[test]
fn any_number_of_workers_finds_the_same() {
    let words = |threads| {
        format!("stats --json --by user,group,extension,age,size,depth --threads {threads} /usr/share /etc")
    };
    let first = text(&stdout(&dents(Path::new("/"), &words(1))));
    for threads in [2, 7] {
        assert_eq!(text(&stdout(&dents(Path::new("/"), &words(threads)))), first);
    }
}

#[test]
fn a_file_of_rows_gives_what_the_tree_gave() {
    let dir = linked_tree();
    let words = "stats --json --by user,group,extension,age,size,depth";
    let live = text(&stdout(&dents(dir.path(), &format!("{words} t"))));
    for suffix in ["ndjson", "parquet", "sqlite"] {
        let file = dir.path().join(format!("scan.{suffix}"));
        stdout(&dents(dir.path(), "scan t -o").args([&file]));
        assert_eq!(text(&stdout(&dents(dir.path(), words).args(["--from"]).args([&file]))), live, "{suffix}");
    }
}

#[test]
fn for_people() {
    let dir = tree();
    let drawn = text(&stdout(&dents(dir.path(), "stats --by depth --by extension -n 2 t")));
    assert!(drawn.starts_with("ENTRIES"), "{drawn}");
    for part in ["  DEPTH\n", "  (others)\n", "  (all)\n", "  EXTENSION\n", "  (none)\n", "  100.0%  "] {
        assert!(drawn.contains(part), "{part:?} in\n{drawn}");
    }
    let object = tools::json(&dents(dir.path(), "stats --by user --json t/empty"));
    assert_eq!(
        table(&object, "user")["rows"][0]["id"],
        json!(shell(dir.path(), "id -u").trim().parse::<u32>().unwrap())
    );
}

/// In an earlier version the word of a table had a cell of bytes without a title.
#[test]
fn rows_of_csv_have_as_many_cells_as_there_are_titles() {
    let dir = tree();
    for by in ["user", "user,size", "extension,size,depth"] {
        let table = text(&stdout(&dents(dir.path(), &format!("stats --csv --by {by} t"))));
        let mut lines = table.lines().map(|line| {
            // Only the first cell has a quote.
            let (quoted, rest) =
                line.strip_prefix('"').and_then(|rest| rest.split_once('"')).unwrap_or(("", line));
            (quoted.contains('"'), rest.matches(',').count())
        });
        let titles = lines.next().expect("titles");
        assert!(lines.all(|row| row == titles), "{by}: {table}");
    }
}
