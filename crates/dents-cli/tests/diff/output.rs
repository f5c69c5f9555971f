//! Text, CSV and JSON; the differences that count as a change.

use crate::tools::{dents, is_root, json, shell};
use crate::{diff, make, playground, scan};
use dents_lab::fixture::TempDir;
use serde_json::{Value, json};

/// `t` with some files, scanned to `old.parquet`.
fn old() -> TempDir {
    let dir = playground();
    make(
        &dir,
        "mkdir -p t/a/b t/c; head -c 5000 /dev/zero >t/a/x; head -c 100 /dev/zero >t/a/b/y; \
         head -c 9000 /dev/zero >t/c/z; ln t/c/z t/c/z2; ln -s x t/link",
    );
    scan(&dir, "old.parquet");
    dir
}

fn paths(object: &Value, list: &str) -> Vec<String> {
    let path = |entry: &Value| entry["path"].as_str().unwrap().to_owned();
    object[list].as_array().unwrap().iter().map(path).collect()
}

/// The JSON of a run that finds differences.
fn found(dir: &TempDir, words: &str) -> Value {
    serde_json::from_str(&diff(dir, 1, &format!("--json {words}"))).expect("JSON")
}

#[test]
fn nothing_differs() {
    let dir = old();
    for suffix in ["parquet", "sqlite", "ndjson"] {
        scan(&dir, &format!("new.{suffix}"));
        for words in [format!("old.parquet new.{suffix}"), format!("new.{suffix} old.parquet")] {
            let drawn = diff(&dir, 0, &words);
            assert_eq!(drawn, "no difference\n");
            assert_eq!(diff(&dir, 0, &format!("--names {words}")), "");
            let summary = diff(&dir, 0, &format!("--summary {words}"));
            assert!(summary.contains("      0     0          0  new\n"), "{summary}");
        }
    }
    let object = json(&dents(dir.path(), "diff --json old.parquet t"));
    assert_eq!(object["total"], json!({"bytes": 0, "allocated": 0, "entries": 0}));
    assert_eq!([&object["directories"], &object["users"], &object["new"]], [&json!([]); 3]);
    assert_eq!(diff(&dir, 0, "--csv old.parquet t").lines().count(), 1);
    // To read a file, or to make and remove a name, changes no fact that is compared.
    make(&dir, "cat t/a/x >/dev/null; touch t/a/other; rm t/a/other; ln t/a/x t/a/x2; rm t/a/x2");
    diff(&dir, 0, "old.parquet t");
}

#[test]
fn one_object_has_all() {
    let dir = old();
    make(&dir, "head -c 7000 /dev/zero >t/new; rm t/a/x; mv t/a/b t/c/b2; head -c 300 /dev/zero >>t/c/z");
    let object = found(&dir, "old.parquet t");
    let head: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    for field in [
        "dents",
        "schema",
        "complete",
        "errors",
        "total",
        "summary",
        "unknown",
        "directories",
        "users",
        "new",
        "deleted",
        "changed",
        "moved",
    ] {
        assert!(head.contains(&field), "{field}");
    }
    assert_eq!(
        (&object["dents"], &object["complete"], &object["errors"]),
        (&json!("diff"), &json!(true), &json!(0))
    );
    let without = |mut entry: Value| {
        entry.as_object_mut().unwrap().remove("allocated");
        entry
    };
    assert_eq!(
        without(object["new"][0].clone()),
        json!({"path": "new", "type": "file", "old_size": null, "new_size": 7000, "old_path": null, "bytes": 7000, "changes": []})
    );
    assert_eq!(
        without(object["deleted"][0].clone()),
        json!({"path": "a/x", "type": "file", "old_size": 5000, "new_size": null, "old_path": null, "bytes": -5000, "changes": []})
    );
    assert_eq!(paths(&object, "changed"), ["c/z", "c/z2"]);
    let sizes = |nth: usize| {
        ["old_size", "new_size", "bytes"].map(|field| object["changed"][nth][field].as_i64().unwrap())
    };
    assert_eq!([sizes(0), sizes(1)], [[9000, 9300, 300], [9000, 9300, 0]], "two links count once");
    assert_eq!(paths(&object, "moved"), ["c/b2", "c/b2/y"]);
    assert_eq!(object["moved"][1]["old_path"], "a/b/y");
    assert_eq!(object["total"]["bytes"], 7000 - 5000 + 300);
    let directory = |path: &str| {
        let rows = object["directories"].as_array().unwrap();
        let row = rows.iter().find(|row| row["path"] == path).unwrap();
        ["depth", "bytes", "entries"].map(|field| row[field].as_i64().unwrap())
    };
    assert_eq!(directory("."), [0, 2300, 0]);
    assert_eq!(directory("a"), [1, -5100, -3]);
    assert_eq!(directory("c"), [1, 400, 2]);
    assert_eq!(object["users"][0]["bytes"], 2300);
    assert_eq!(found(&dir, "--depth 0 old.parquet t")["directories"].as_array().unwrap().len(), 1);
    assert_eq!(found(&dir, "-n 1 old.parquet t")["directories"].as_array().unwrap().len(), 1);
    let summary = found(&dir, "--summary old.parquet t");
    assert_eq!([&summary["new"], &summary["directories"]], [&Value::Null; 2]);
    assert_eq!(summary["summary"], object["summary"]);
}

/// The lines, with one blank between words.
fn lines(drawn: &str) -> Vec<String> {
    drawn.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn for_people() {
    let dir = old();
    make(&dir, "head -c 7000 /dev/zero >t/a/new; mv t/a/b t/c/b2; mv t/c/z2 t/z2; rm t/a/x; chmod 751 t/c");
    let drawn = diff(&dir, 1, "--by size --bytes old.parquet t");
    let lines = lines(&drawn);
    assert_eq!(lines[0], "DIFFERENCE SIZE ALLOCATED ENTRY", "{drawn}");
    // The largest first; a moved directory without its entries.
    for (nth, (begin, end)) in [
        ("moved 0 0 ", "c/z2 -> z2"),
        ("new +7000 ", " a/new"),
        ("deleted -5000 ", " a/x"),
        ("changed 0 0 ", "c (mode)"),
        ("moved 0 0 ", "a/b -> c/b2"),
        ("", ""),
        ("ENTRIES SIZE ALLOCATED DIRECTORY", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let line = &lines[nth + 1];
        assert!(line.starts_with(begin) && line.ends_with(end), "{line}\n{drawn}");
    }
    assert!(lines.iter().any(|line| line.starts_with("1 +7000 ") && line.ends_with("new")), "{drawn}");
    assert!(lines.iter().any(|line| line.starts_with("3 0 0 moved")), "{drawn}");
    assert!(lines.iter().any(|line| line.ends_with("ALLOCATED USER")), "{drawn}");
    let summary = diff(&dir, 1, "--summary old.parquet t");
    assert!(
        !summary.contains("DIRECTORY") && !summary.contains("ENTRY") && summary.contains("moved"),
        "{summary}"
    );
    let some = diff(&dir, 1, "-n 1 old.parquet t");
    assert!(some.contains("(4 other entries; -n shows more, --names all)"), "{some}");
    assert!(
        some.contains("(2 others; -n shows more)") || some.contains("(1 other; -n shows more)"),
        "{some}"
    );
    let none = diff(&dir, 1, "-n 0 old.parquet t");
    assert!(
        !none.contains("ENTRY") && !none.contains("USER") && none.contains("(5 other entries;"),
        "{none}"
    );
    assert_eq!(shell(dir.path(), "ls -A"), "old.parquet\nt\n", "no temporary file is left");
}

#[test]
fn only_tables_that_have_rows_are_shown() {
    let dir = old();
    make(&dir, "mv t/a/x t/a/other");
    let drawn = diff(&dir, 1, "old.parquet t");
    assert!(drawn.contains("a/x -> a/other"), "{drawn}");
    assert!(!drawn.contains("DIRECTORY") && !drawn.contains("USER"), "{drawn}");
}

/// A thousand new files do not hide the one that was deleted.
#[test]
fn a_file_of_each_kind_is_named() {
    let dir = old();
    make(&dir, "for n in $(seq 300); do head -c 20000 /dev/zero >t/c/$n; done; rm t/a/b/y; chmod 700 t/a");
    let drawn = diff(&dir, 1, "old.parquet t");
    let lines = lines(&drawn);
    let of = |word: &str| lines.iter().filter(|line| line.starts_with(word)).count();
    assert_eq!([of("new "), of("deleted "), of("changed "), of("moved ")], [8, 1, 1, 0], "{drawn}");
    assert!(drawn.contains("(292 other entries; -n shows more, --names all)\n"), "{drawn}");
}

/// As many entries as the terminal has lines for: the first table does not scroll away. Control characters do not reach it.
#[test]
fn a_screen_on_a_terminal() {
    let dir = old();
    make(
        &dir,
        "for n in $(seq 300); do echo >t/c/$n; done; head -c 50000 /dev/zero >\"$(printf 't/c/\\033[2J')\"",
    );
    let program = dents_lab::process::quote(env!("CARGO_BIN_EXE_dents").as_ref());
    let at = dents_lab::process::quote(dir.path().as_os_str());
    for rows in [40, 60] {
        let screen = dents_lab::tmux::Screen::new(80, rows).expect("a directory");
        let script = format!("cd {at}; {program} diff old.parquet t; printf 'status %s' $?; exec sleep 60\n");
        screen.start(&script).expect("tmux");
        let lines = screen
            .until(|lines| lines.iter().any(|line| line == "status 1"))
            .unwrap_or_else(|error| panic!("{rows}: {error}"));
        let text = lines.join("\n");
        assert!(lines[0].starts_with("DIFFERENCE") && lines[1].ends_with(r"'c/'$'\033''[2J'"), "{text}");
        assert_eq!(lines.iter().position(|line| line == "status 1"), Some(usize::from(rows) - 1), "{text}");
        assert!(text.contains(" other entries; -n shows more, --names all)"), "{text}");
    }
}

#[test]
fn names_of_all() {
    let dir = old();
    make(
        &dir,
        "mv t/a/b t/b2; rm t/c/z2; chmod 640 t/a/x; printf 1 >\"$(printf 't/new\\nline\\377')\"; \
         for n in $(seq 100 130); do echo >t/c/$n; done",
    );
    let line = |n: u32| format!("new\tc/{n}\n");
    let new: String = (100..=130).map(line).collect();
    let expected = format!(
        "{new}new\tnew\nline\u{fffd}\ndeleted\tc/z2\nchanged\ta/x\nmoved\ta/b\tb2\nmoved\ta/b/y\tb2/y\n"
    );
    assert_eq!(diff(&dir, 1, "--names old.parquet t"), expected);
    // A NUL ends every field, so a name can be read whatever bytes it has.
    let exact = diff(&dir, 1, "--names -0 old.parquet t");
    let fields: Vec<&str> = exact.split('\0').collect();
    assert_eq!(
        fields[62..],
        "new|new\nline\u{fffd}|deleted|c/z2|changed|a/x|moved|a/b|b2|moved|a/b/y|b2/y|"
            .split('|')
            .collect::<Vec<_>>()
    );
    assert!(
        diff(&dir, 1, "-n 99 old.parquet t").contains("'new'$'\\n''line'$'\\377'"),
        "no name makes a line of its own"
    );
}

/// A scan that was written into the tree leaves itself out, so it is no new file either.
#[test]
fn an_unchanged_tree_is_equal_to_the_scan_inside_it() {
    let dir = playground();
    make(&dir, "mkdir t; echo a >t/a");
    for time in ["first", "second"] {
        crate::tools::stdout(&dents(&dir.path().join("t"), "scan -o s.parquet ."));
        let differences = diff(&dir, 0, "--csv t/s.parquet t");
        assert_eq!(differences.lines().count(), 1, "for the {time} time: {differences}");
    }
    make(&dir, "cp t/s.parquet t/copy");
    assert!(
        diff(&dir, 1, "--csv t/s.parquet t").contains("\nnew,copy,"),
        "another file of these bytes is new"
    );
}

#[test]
fn comma_separated_values() {
    let dir = old();
    make(
        &dir,
        "printf 123 >'t/a,\"b\"'; printf 1 >\"$(printf 't/\\377')\"; mv t/a/x \"$(printf 't/new\\nline')\"",
    );
    let lines = diff(&dir, 1, "--csv old.parquet t");
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(
        lines[0],
        "difference,path,type,old_size,new_size,old_path,bytes,allocated,changes,path_bytes,old_path_bytes"
    );
    assert!(lines[1].starts_with("new,\"a,\"\"b\"\"\",file,,3,,3,"), "{lines:?}");
    assert!(lines[2].starts_with("new,,file,,1,,1,") && lines[2].ends_with(",/w==,"), "{lines:?}");
    assert!(
        lines[3].starts_with("moved,,file,5000,5000,a/x,0,0,,") && lines[3].ends_with(",bmV3CmxpbmU=,"),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 4);
    let summary = diff(&dir, 1, "--csv --summary old.parquet t");
    assert!(summary.starts_with("difference,entries,bytes,allocated\nnew,2,4,"), "{summary}");
}

#[test]
fn what_makes_a_change() {
    let dir = old();
    let is_root = is_root();
    for (script, path, words) in [
        ("chmod 600 t/a/x", "a/x", vec!["mode"]),
        ("chmod 700 t/a", "a", vec!["mode"]),
        ("chown 7 t/a/b", "a/b", vec!["uid"]),
        ("chgrp 7 t/a/b", "a/b", vec!["gid"]),
        ("touch -d '2001-01-01' t/a/x", "a/x", vec!["mtime"]),
        ("cp -p t/a/x t/a/x2; mv t/a/x2 t/a/x", "a/x", vec!["ino"]),
        ("rm t/a/x; mkfifo t/a/x", "a/x", vec!["type"]),
        ("rm t/a/x; mkdir t/a/x", "a/x", vec!["type"]),
    ] {
        if script.starts_with("ch") && script.contains(" 7 ") && !is_root {
            continue;
        }
        let dir = old();
        make(&dir, script);
        let object = found(&dir, "old.parquet t");
        assert_eq!(paths(&object, "changed"), [path], "{script}");
        assert_eq!(object["changed"][0]["changes"], json!(words), "{script}");
        for list in ["new", "deleted", "moved"] {
            assert_eq!(paths(&object, list), [""; 0], "{script}: {list}");
        }
    }
    make(&dir, "ln -sfn other t/link");
    let changes = found(&dir, "old.parquet t")["changed"][0]["changes"].clone();
    assert!(changes.as_array().unwrap().contains(&json!("target")), "{changes}");
}

#[test]
fn a_name_that_is_added_to_a_file_has_no_bytes() {
    let dir = old();
    // The new names are before the other names, so a count by the first name would change the sums of directories.
    make(&dir, "ln t/c/z t/a/first; ln t/a/x t/0");
    let object = found(&dir, "old.parquet t");
    assert_eq!(paths(&object, "new"), ["0", "a/first"]);
    assert_eq!((&object["total"]["bytes"], &object["total"]["entries"]), (&json!(0), &json!(2)));
    assert!(object["directories"].as_array().unwrap().iter().all(|row| row["bytes"] == 0), "{object}");
    make(&dir, "rm t/c/z t/c/z2");
    let object = found(&dir, "old.parquet t");
    assert_eq!(object["moved"][0]["path"], "a/first");
    assert_eq!((paths(&object, "deleted"), &object["total"]["bytes"]), (vec!["c/z2".to_owned()], &json!(0)));
}

#[test]
fn one_root_has_any_name_and_several_have_their_own() {
    let dir = old();
    make(&dir, "cp -r t u; printf 12 >t/new");
    let other = found(&dir, "old.parquet u");
    assert!(paths(&other, "new").is_empty() && paths(&other, "deleted").is_empty(), "{other}");
    crate::tools::stdout(&dents(dir.path(), "scan -o both.ndjson u/ t"));
    make(&dir, "rm u/a/x; printf 123 >t/c/more");
    crate::tools::stdout(&dents(dir.path(), "scan -o later.sqlite t// u"));
    let object = found(&dir, "both.ndjson later.sqlite");
    assert_eq!(
        (paths(&object, "new"), paths(&object, "deleted")),
        (vec!["t/c/more".into()], vec!["u/a/x".into()])
    );
}

#[test]
fn standard_input_and_links_that_are_named() {
    let dir = old();
    make(&dir, "ln -s t named; printf 12 >t/new");
    let program = env!("CARGO_BIN_EXE_dents");
    let script =
        format!("'{program}' scan --format ndjson t | '{program}' diff --csv old.parquet - | grep -c ^new");
    assert_eq!(shell(dir.path(), &script), "1\n");
    assert_eq!(paths(&found(&dir, "old.parquet named"), "new"), ["new"]);
}

/// A filter leaves entries out of both scans: of a scan file and of a tree.
#[test]
fn filters() {
    let dir = old();
    make(&dir, "head -c 7000 /dev/zero >t/new.c; head -c 10 /dev/zero >t/new.h; rm t/a/x; mkdir t/d");
    scan(&dir, "new.parquet");
    for new in ["t", "new.parquet"] {
        let of = |words: &str, list: &str| paths(&found(&dir, &format!("{words} old.parquet {new}")), list);
        assert_eq!(of("--type f", "new"), ["new.c", "new.h"], "{new}");
        assert_eq!(of("--type f", "deleted"), ["a/x"], "{new}");
        assert_eq!(of("--include *.c", "new"), ["new.c"], "{new}");
        assert_eq!(of("--exclude new*", "new"), ["d"], "{new}");
        assert_eq!(of("--size +4k --type f", "new"), ["new.c"], "{new}");
        assert_eq!(of("--max-depth 1", "deleted"), [""; 0], "{new}");
        diff(&dir, 0, &format!("--include *.d old.parquet {new}"));
    }
}
