//! The data of the page.

use super::{page, read, run};
use crate::tools::{self, json, linked_tree, stdout, text};
use dents_lab::fixture::TempDir;
use dents_lab::process::End;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The directories of the data: path, and entries, bytes, allocated bytes.
fn directories(data: &Value) -> HashMap<String, Vec<u64>> {
    let tree = &data["tree"];
    let mut above: Vec<String> = Vec::new();
    let mut found = HashMap::new();
    for (nth, depth) in tree["depth"].as_array().expect("depths").iter().enumerate() {
        above.truncate(depth.as_u64().expect("a depth") as usize);
        let name = &tree["name"][nth];
        above.push(name.as_str().or(name[0].as_str()).expect("a name").to_owned());
        let sums = tree["all"][nth].as_array().expect("sums").iter().filter_map(Value::as_u64).collect();
        found.insert(above.join("/"), sums);
    }
    found
}

/// What du says of each directory, with one of its options.
fn du(cwd: &Path, words: &str) -> HashMap<String, u64> {
    let object = json(&run(cwd, &format!("du --json -d 99 {words}")));
    let entries = object["entries"].as_array().expect("entries").iter();
    let number = |entry: &Value| {
        ["allocated", "bytes", "inodes"].iter().find_map(|name| entry[*name].as_u64()).expect("a number")
    };
    entries.filter_map(|entry| Some((entry["path"].as_str()?.to_owned(), number(entry)))).collect()
}

#[test]
fn each_directory_has_the_figures_of_du() {
    let dir = linked_tree();
    stdout(&run(dir.path(), "scan -o t.parquet t"));
    stdout(&run(dir.path(), "scan -o t.ndjson t"));
    let figures = [("--inodes", 0), ("--apparent-size", 1), ("", 2)];
    for words in ["t", "--from t.parquet", "--from t.ndjson", "--threads 1 t", "--threads 7 t"] {
        let (_, data) = page(dir.path(), words);
        let shown = directories(&data);
        assert_eq!(shown["t"], serde_json::from_value::<Vec<u64>>(data["total"].clone()).unwrap());
        for (option, at) in figures {
            // A file with several links is in the first directory by name, as for `du` of a scan.
            let expected = du(dir.path(), &format!("{option} --from t.parquet"));
            assert!(expected.len() >= 8, "{expected:?}");
            for (path, number) in expected {
                assert_eq!(shown[&path][at], number, "{words} {option} {path}");
            }
        }
        assert_eq!(data["directories"].as_u64(), Some(shown.len() as u64));
        assert_eq!((&data["complete"], &data["errors"]), (&json!(true), &json!(0)));
    }
}

#[test]
fn tables_and_lists_are_those_of_stats_and_top() {
    let dir = linked_tree();
    let (_, data) = page(dir.path(), "t");
    let stats = json(&run(dir.path(), "stats --json -n 999 --by user,group,extension,age,size t"));
    for (table, expected) in
        data["tables"].as_array().unwrap().iter().zip(stats["tables"].as_array().unwrap())
    {
        let sums: Vec<Value> = table["rows"].as_array().unwrap().iter().map(|row| row[1].clone()).collect();
        let rows = expected["rows"].as_array().unwrap().iter();
        let expected: Vec<Value> =
            rows.map(|row| json!([row["entries"], row["size"], row["allocated"]])).collect();
        assert!(!sums.is_empty());
        assert_eq!(sums, expected, "{}", table["by"]);
    }
    let top = json(&run(dir.path(), "top --json -n 500 --by allocated t"));
    let expected: Vec<&Value> =
        top["entries"].as_array().unwrap().iter().map(|row| &row["allocated"]).collect();
    let shown: Vec<&Value> = data["largest"].as_array().unwrap().iter().map(|row| &row[1]).collect();
    assert_eq!(shown, expected);
}

#[test]
fn records_on_disk_change_nothing() {
    let dir = linked_tree();
    stdout(&run(dir.path(), "scan -o t.parquet t"));
    let (whole, _) = page(dir.path(), "--from t.parquet");
    let small = run(dir.path(), "report -o page.html --from t.parquet").env("DENTS_TEST_DIFF_MEMORY", "300");
    stdout(&small);
    assert_eq!(read(&dir.path().join("page.html")).0, whole);
}

#[test]
fn several_roots_and_a_part_of_a_scan() {
    let dir = linked_tree();
    let (_, data) = page(dir.path(), "t/a t/b t/a.b");
    assert_eq!(data["roots"], 3);
    let shown = directories(&data);
    assert!(shown.contains_key("t/a/deep/er") && !shown.contains_key("t"), "{shown:?}");
    stdout(&run(dir.path(), "scan -o t.parquet t"));
    let (_, data) = page(dir.path(), "--from t.parquet t/a");
    assert_eq!(directories(&data), directories(&page(dir.path(), "t/a").1));
}

#[test]
fn names_are_exact_and_end_no_script() {
    let dir = TempDir::new("report").expect("a directory");
    let names: [&[u8]; 4] =
        [b"</script><script>alert(1)<", b"<!--<script>", b"caf\xe9\\", "a\u{202e}b\"'&".as_bytes()];
    for name in names {
        fs::create_dir_all(dir.path().join("t").join(tools::name(&name.replace_slash())))
            .expect("directories");
    }
    let (page, data) = page(dir.path(), "t");
    assert_eq!(page.matches("</script>").count(), 3, "one for each script");
    let shown = data["tree"]["name"].as_array().unwrap();
    for expected in [
        json!("<\u{2215}script><script>alert(1)<"),
        json!("<!--<script>"),
        json!(["caf\\xe9\\\\"]),
        json!("a\u{202e}b\"'&"),
    ] {
        assert!(shown.contains(&expected), "{expected} {shown:?}");
    }
    assert!(!page.contains('\u{202e}'));
}

trait ReplaceSlash {
    fn replace_slash(&self) -> Vec<u8>;
}

/// A name has no slash, but something that looks like one.
impl ReplaceSlash for &[u8] {
    fn replace_slash(&self) -> Vec<u8> {
        let piece = |byte: &u8| if *byte == b'/' { "\u{2215}".as_bytes().to_vec() } else { vec![*byte] };
        self.iter().flat_map(piece).collect()
    }
}

#[test]
fn a_worse_page_replaces_no_good_one() {
    let dir = linked_tree();
    let (good, _) = page(dir.path(), "t");
    let outcome = tools::run(&run(dir.path(), "report -o page.html t nowhere"));
    assert_eq!(outcome.end, End::Exit(1));
    assert!(text(&outcome.stderr).contains("the report is not complete; it is in 'page.html.partial'"));
    assert_eq!(read(&dir.path().join("page.html")).0, good);
    assert_eq!(read(&dir.path().join("page.html.partial")).1["complete"], false);
    // Nor a scan, and a wrong option leaves everything as it was.
    stdout(&run(dir.path(), "scan -o t.parquet t"));
    for words in [
        "report -o t.parquet --from t.parquet",
        "report -o t.parquet --since t.parquet t",
        "report -o page.html --since t.parquet --from t.parquet t/a",
        "report -o page.html --since t.parquet t/a t/b",
        "report t",
    ] {
        let outcome = tools::run(&run(dir.path(), words));
        assert_eq!(outcome.end, End::Exit(2), "{words}: {}", text(&outcome.stderr));
    }
    stdout(&run(dir.path(), "count --from t.parquet"));
    let names = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.as_bytes().ends_with(b".part")));
}

#[test]
fn changes_are_those_of_diff() {
    let dir = linked_tree();
    stdout(&run(dir.path(), "scan -o old.parquet t"));
    let root = dir.path().join("t");
    fs::write(root.join("new"), vec![b'x'; 70_000]).expect("a file");
    fs::remove_file(root.join("b/one")).expect("removed");
    fs::rename(root.join("a.b/1.tar"), root.join("b/moved.tar")).expect("moved");
    dents_lab::fixture::settle(dir.path()).expect("settled");
    stdout(&run(dir.path(), "scan -o new.parquet t"));
    let expected = tools::run(&run(dir.path(), "diff --json old.parquet new.parquet"));
    let expected: Value = serde_json::from_slice(&expected.stdout).expect("JSON");
    for words in
        ["--since old.parquet --from new.parquet", "--since old.parquet t", "--since t/inside.parquet t"]
    {
        if words.contains("inside") {
            // The scan itself is no change.
            fs::copy(dir.path().join("old.parquet"), root.join("inside.parquet")).expect("copied");
        }
        let (_, data) = page(dir.path(), words);
        let changes = &data["changes"];
        let total = &expected["total"];
        assert_eq!(
            changes["total"],
            json!([total["bytes"], total["allocated"], total["entries"]]),
            "{words}"
        );
        for (nth, list) in ["new", "deleted", "changed", "moved"].into_iter().enumerate() {
            assert_eq!(changes["counts"][nth][2], expected["summary"][list]["entries"], "{words} {list}");
            let paths = |rows: &Value, key: &dyn Fn(&Value) -> Value| {
                let mut paths: Vec<String> =
                    rows.as_array().unwrap().iter().map(|row| key(row).to_string()).collect();
                paths.sort();
                paths
            };
            let shown = paths(&changes["lists"][nth], &|row| row[0].clone());
            assert_eq!(shown, paths(&expected[list], &|row| row["path"].clone()), "{words} {list}");
        }
        assert_eq!(changes["lists"][3][0][1], "a.b/1.tar");
    }
}

/// The largest files of a directory; those of a file with several links are in the directory where it counts.
#[test]
fn the_largest_files_of_each_directory() {
    let dir = linked_tree();
    let many = dir.path().join("t/many");
    fs::create_dir(&many).expect("a directory");
    for nth in 1..=30 {
        fs::write(many.join(format!("f{nth}")), vec![b'x'; 10_000 * nth]).expect("a file");
    }
    dents_lab::fixture::settle(dir.path()).expect("settled");
    stdout(&run(dir.path(), "scan -o t.parquet t"));
    let files = |words: &str| {
        let (_, data) = page(dir.path(), words);
        let (files, names) = (&data["files"], &data["tree"]["name"]);
        let all = files["of"].as_array().unwrap().iter().zip(files["name"].as_array().unwrap());
        let named = |(of, name): (&Value, &Value)| {
            let of = of.as_u64().unwrap() as usize;
            (names[of].as_str().unwrap_or_default().to_owned(), name.as_str().unwrap_or_default().to_owned())
        };
        all.map(named).collect::<Vec<_>>()
    };
    for words in ["t", "--from t.parquet", "--threads 1 t", "--threads 5 t"] {
        let all = files(words);
        let of_many: Vec<&str> =
            all.iter().filter(|(of, _)| of == "many").map(|(_, name)| name.as_str()).collect();
        let expected: Vec<String> = (11..=30).rev().map(|nth| format!("f{nth}")).collect();
        assert_eq!(of_many, expected, "{words}");
        // x.c is also a/deep/x.
        assert!(
            all.contains(&("t".into(), "x.c".into())) != all.contains(&("deep".into(), "x".into())),
            "{all:?}"
        );
        let mut sorted = all.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), all.len(), "each file once");
    }
}

/// Several scans of one tree: the newest is the report, all are the series.
#[test]
fn a_series_of_scans() {
    let dir = linked_tree();
    for nth in 1..=3 {
        fs::write(dir.path().join("t/b/one"), vec![b'x'; 100_000 * nth]).expect("a file");
        dents_lab::fixture::settle(dir.path()).expect("settled");
        stdout(&run(dir.path(), &format!("scan -o {nth}.parquet t")));
    }
    stdout(&run(dir.path(), "scan -o 2.ndjson --from 2.parquet"));
    let (_, data) = page(dir.path(), "3.parquet 1.parquet 2.ndjson");
    let series = &data["series"];
    let names: Vec<&Value> = series["scans"].as_array().unwrap().iter().map(|scan| &scan[0]).collect();
    assert_eq!(names, ["1.parquet", "2.ndjson", "3.parquet"]);
    assert_eq!((&data["from"], &data["paths"]), (&json!("3.parquet"), &json!([])));
    for (nth, scan) in series["scans"].as_array().unwrap().iter().enumerate() {
        let (_, alone) = page(dir.path(), &format!("--from {}.parquet", nth + 1));
        assert_eq!((&scan[3], &scan[2]), (&alone["total"], &json!(true)), "the sums of scan {nth}");
        let (_, part) = page(dir.path(), &format!("--from {}.parquet t/b", nth + 1));
        let row = series["directories"]["rows"].as_array().unwrap().iter().find(|row| row[0] == "t/b");
        let sum = &row.expect("a row")[1][nth];
        assert!(
            part["total"][1].as_u64() >= sum[1].as_u64()
                && sum[1].as_u64() >= Some(100_000 * (nth as u64 + 1))
        );
    }
    assert_eq!(directories(&data), directories(&page(dir.path(), "--from 3.parquet").1));
    // Filters are for all scans.
    let (_, some) = page(dir.path(), "--type d 1.parquet 3.parquet");
    assert_eq!(some["series"]["scans"][0][3][1], 0);
    // A file that is no scan is a PATH like any other, and so is one scan alone.
    for words in ["1.parquet t", "1.parquet"] {
        assert_eq!(page(dir.path(), words).1["series"], Value::Null, "{words}");
    }
}

#[test]
fn what_is_no_series() {
    let dir = linked_tree();
    stdout(&run(dir.path(), "scan -o 1.parquet t"));
    fs::copy(dir.path().join("1.parquet"), dir.path().join("2.parquet")).expect("copied");
    fs::write(dir.path().join("text.parquet"), "no scan").expect("a file");
    fs::write(dir.path().join("dump.json"), r#"[1,2,{"progname":"ncdu"},[{"name":"/t"}]]"#).expect("a file");
    for (words, status, problem) in [
        ("-o 1.parquet 1.parquet 2.parquet", 2, "is a scan, which the report would replace"),
        ("-o page.html --since 1.parquet 1.parquet 2.parquet", 2, "several PATHs are a series"),
        ("-o page.html --gitignore 1.parquet 2.parquet", 2, "use --exclude"),
        ("-o page.html 1.parquet text.parquet", 1, "not a file of a scan"),
        ("-o page.html 1.parquet dump.json", 1, "does not say when it was made"),
    ] {
        let outcome = tools::run(&run(dir.path(), &format!("report {words}")));
        let message = text(&outcome.stderr);
        assert_eq!(outcome.end, End::Exit(status), "{words}: {message}");
        assert!(message.contains(problem), "{words}: {message}");
    }
    assert!(!dir.path().join("page.html").exists());
    // The scans are as they were.
    page(dir.path(), "1.parquet 2.parquet");
}
