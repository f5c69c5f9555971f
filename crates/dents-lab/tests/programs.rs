//! Output for programs: it conforms to its schema, and names are restored byte for byte, in every mode.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dents_lab::fixture::{TempDir, mix};
use dents_lab::memory::peak;
use dents_lab::process::{End, Outcome, Run};
use dents_lab::suite::{checked, release};
use dents_lab::syscalls::trace;
use dents_lab::zoo::Zoo;
use serde_json::Value;

/// The strategies, and a deadline, which replaces them.
const WAYS: [&str; 5] = ["--mode=classic", "--mode=par", "--mode=iou", "--mode=auto", "--timeout=1h"];

fn dls(dir: &Path, args: &[&str]) -> Outcome {
    Run::new(checked().path()).cwd(dir).args(args).output().expect("dls starts")
}

/// Its output, which must be the same with every strategy.
fn printed(dir: &Path, args: &[&str]) -> Vec<u8> {
    let mut all = WAYS.iter().map(|way| {
        let mut args = args.to_vec();
        args.push(way);
        let outcome = dls(dir, &args);
        assert_ne!(outcome.end, End::Exit(2), "{args:?} {}", String::from_utf8_lossy(&outcome.stderr));
        outcome.stdout
    });
    let first = all.next().expect("some way");
    for (way, other) in WAYS[1..].iter().zip(all) {
        assert!(other == first, "{args:?}: {way} differs from {}", WAYS[0]);
    }
    first
}

fn document(dir: &Path, args: &[&str]) -> Value {
    serde_json::from_slice(&printed(dir, args)).expect("a JSON document")
}

fn lines(dir: &Path, args: &[&str]) -> Vec<Value> {
    let printed = printed(dir, args);
    printed
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| serde_json::from_slice(line).expect("a line of JSON"))
        .collect()
}

/// The bytes of a text, decoded as docs/OUTPUT.md describes.
fn bytes(row: &Value, field: &str) -> Option<Vec<u8>> {
    match &row[format!("{field}_bytes")] {
        Value::String(base64) => Some(STANDARD.decode(base64).expect("base64")),
        _ => row[field].as_str().map(|text| text.as_bytes().to_vec()),
    }
}

/// Directories and the names in them, from the rows.
type Names = BTreeSet<(Vec<u8>, Vec<u8>)>;

fn names<'v>(rows: impl IntoIterator<Item = &'v Value>) -> Names {
    let name = |row: &Value| Some((bytes(row, "directory")?, bytes(row, "name")?));
    rows.into_iter().map(|row| name(row).expect("a directory and a name")).collect()
}

fn names_of_csv(table: &[u8]) -> Names {
    let mut reader = csv::Reader::from_reader(table);
    let headers = reader.byte_headers().expect("a header").clone();
    let column = |name: &str| headers.iter().position(|header| header == name.as_bytes()).expect("a column");
    let columns = ["directory", "name"].map(|name| (column(name), column(&format!("{name}_bytes"))));
    let name = |row: csv::ByteRecord| {
        let [directory, name] = columns.map(|(text, base64)| match &row[base64] {
            b"" => row[text].to_vec(),
            base64 => STANDARD.decode(base64).expect("base64"),
        });
        (directory, name)
    };
    reader.byte_records().map(|row| name(row.expect("a row"))).collect()
}

/// The same, read by std.
fn names_below(root: &Path) -> Names {
    let mut names = Names::new();
    let mut left = vec![(PathBuf::from("."), root.to_path_buf())];
    while let Some((shown, directory)) = left.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            names.insert((shown.as_os_str().as_bytes().to_vec(), entry.file_name().as_bytes().to_vec()));
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push((shown.join(entry.file_name()), entry.path()));
            }
        }
    }
    names
}

#[test]
fn names_come_back() {
    let zoo = Zoo::new().expect("a zoo");
    let expected = names_below(zoo.path());
    assert!(expected.len() > 300 && expected.iter().any(|(_, name)| str::from_utf8(name).is_err()));
    for columns in [&[][..], &["--columns=name"]] {
        let with = |args: &[&'static str]| [args, columns].concat();
        let document = document(zoo.path(), &with(&["-AR", "--json"]));
        assert_eq!(names(document["entries"].as_array().expect("entries")), expected);
        assert_eq!(names(&lines(zoo.path(), &with(&["-AR", "--ndjson"]))), expected);
        assert_eq!(names_of_csv(&printed(zoo.path(), &with(&["-AR", "--csv"]))), expected);
    }
}

/// No control sequence of a terminal is written as it is.
#[test]
fn hostile_names_are_harmless() {
    let zoo = Zoo::new().expect("a zoo");
    for format in ["--json", "--ndjson", "--csv", "--count"] {
        let text = String::from_utf8(printed(zoo.path(), &["-AR", format])).expect("UTF-8");
        let newline = |c: char| matches!(c, '\r' | '\n');
        assert!(!text.chars().any(|c| c.is_control() && !newline(c)), "{format}");
    }
    let rows = printed(zoo.path(), &["-AR", "--csv"]);
    assert_eq!(rows.split(|byte| *byte == b'\n').count(), names_below(zoo.path()).len() + 2);
}

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/dls-1.schema.json");
    let text = fs::read_to_string(path).expect("the schema");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    jsonschema::draft202012::new(&schema).expect("a schema")
}

fn assert_valid(schema: &jsonschema::Validator, value: &Value, args: &[&str]) {
    let errors: Vec<String> = schema.iter_errors(value).map(|error| format!("{error:.300}")).collect();
    assert!(errors.is_empty(), "{args:?}: {errors:?}");
}

#[test]
fn output_is_what_the_schema_says() {
    let zoo = Zoo::new().expect("a zoo");
    let schema = schema();
    let all = "--columns=mode,octal,links,user,group,uid,gid,size,blocks,inode,device,modified,changed,accessed,\
               created,context,xattrs,flags,git,total,name";
    let runs: &[&[&str]] = &[
        &["-A"],
        &["-AR", "--summary"],
        &["-AlR", "-Z", "--xattr"],
        &["-An", "--lazy"],
        &["-AR", all],
        &["-AL", "--columns=size,name"],
        &["-d", ".", "/dev/null", "names"],
        &["-AR", "--count"],
        &["--count", "--summary", ".", "names", "closed"],
        &["-AS", "--top=7"],
        &["/dev"],
    ];
    for args in runs {
        let json = [args, &["--json"][..]].concat();
        let document: Value = serde_json::from_slice(&dls(zoo.path(), &json).stdout).expect("JSON");
        assert_valid(&schema, &document, &json);
        let ndjson = [args, &["--ndjson"][..]].concat();
        for line in dls(zoo.path(), &ndjson).stdout.split_inclusive(|byte| *byte == b'\n') {
            assert_valid(&schema, &serde_json::from_slice(line).expect("JSON"), &ndjson);
        }
    }
}

/// A schema that accepts everything would prove nothing.
#[test]
fn the_schema_refuses_what_is_not_output() {
    let schema = schema();
    for wrong in [
        r#"{"v":1,"name":"a","size":-1}"#,
        r#"{"v":1,"name":"a","size":"1"}"#,
        r#"{"v":1,"name":"a","name_bytes":"/w=="}"#,
        r#"{"v":1,"name":"a","surprise":1}"#,
        r#"{"v":2,"name":"a"}"#,
        r#"{"v":1,"name":"a","mtime":"yesterday"}"#,
        r#"{"version":1,"program":"dls","lazy":false,"entries":[]}"#,
        r#"[]"#,
    ] {
        assert!(!schema.is_valid(&serde_json::from_str(wrong).expect("JSON")), "{wrong}");
    }
}

/// Facts are those that std sees.
#[test]
fn facts_are_true() {
    let zoo = Zoo::new().expect("a zoo");
    let document = document(zoo.path(), &["-A", "--json"]);
    let rows = document["entries"].as_array().expect("entries");
    assert!(rows.len() > 100);
    for row in rows {
        let path = zoo.path().join(std::ffi::OsStr::from_bytes(&bytes(row, "name").expect("a name")));
        let metadata = fs::symlink_metadata(&path).expect("metadata");
        let numbers = [
            ("mode", u64::from(metadata.mode())),
            ("nlink", metadata.nlink()),
            ("uid", metadata.uid().into()),
            ("gid", metadata.gid().into()),
            ("size", metadata.size()),
            ("allocated", metadata.blocks() * 512),
            ("ino", metadata.ino()),
            ("dev", metadata.dev()),
        ];
        for (field, expected) in numbers {
            assert_eq!(row[field].as_u64(), Some(expected), "{field} of {}", path.display());
        }
        let device = matches!(row["type"].as_str(), Some("char" | "block"));
        assert_eq!(row["rdev"].as_u64(), device.then(|| metadata.rdev()), "{}", path.display());
        let target = fs::read_link(&path).ok().map(|target| target.as_os_str().as_bytes().to_vec());
        assert_eq!(bytes(row, "target"), target, "{}", path.display());
        let nanos = format!(".{:09}Z", metadata.mtime_nsec());
        assert!(row["mtime"].as_str().is_some_and(|time| time.ends_with(&nanos)), "{}", path.display());
    }
}

#[test]
fn what_cannot_be_listed_is_told() {
    let dir = TempDir::new("programs").expect("a directory");
    fs::write(dir.path().join("file"), "").expect("a file");
    let outcome = dls(dir.path(), &["--json", "file", "missing"]);
    assert_eq!(outcome.end, End::Exit(2));
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("cannot access 'missing'"));
    let document: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
    assert_eq!(document["entries"][0]["name"], "file");
    assert_eq!(document["entries"][0]["directory"], Value::Null);
    let error = &document["errors"][0];
    assert_eq!((&error["path"], &error["error"]), (&"missing".into(), &"ENOENT".into()));
    assert_eq!(error["message"], "No such file or directory");
}

#[test]
fn nothing_listed_is_a_document_too() {
    let dir = TempDir::new("programs").expect("a directory");
    let empty = document(dir.path(), &["--json"]);
    assert_eq!((empty["entries"].as_array().map(Vec::len), empty["version"].as_u64()), (Some(0), Some(1)));
    assert_eq!(printed(dir.path(), &["--ndjson"]), b"");
    assert_eq!(
        printed(dir.path(), &["--csv", "--columns=size,name"]),
        b"size,directory,name,lazy,asked,errno,error,directory_bytes,name_bytes\r\n"
    );
}

/// Large enough that rows are drawn in pieces; streamed, they are the same in the order of the directory.
#[test]
fn large_directories() {
    let dir = mix(&std::env::temp_dir(), 37_000).expect("a directory");
    for format in ["--json", "--ndjson", "--csv"] {
        let sorted = printed(dir.path(), &[format]);
        let streamed = printed(dir.path(), &[format, "-U"]);
        let mut rows = [sorted, streamed].map(|all| {
            let end = |line: &[u8]| line.strip_suffix(b",").map_or(line.to_vec(), <[u8]>::to_vec);
            all.split(|byte| *byte == b'\n').map(end).collect::<Vec<_>>()
        });
        assert!(rows[0].len() > 30_000 && rows[0] != rows[1], "{format}");
        rows.iter_mut().for_each(|rows| rows.sort());
        assert!(rows[0] == rows[1], "{format}");
    }
}

/// `--top=N` prints what `head -n N` would.
#[test]
fn top_is_the_head() {
    let dir = mix(&std::env::temp_dir(), 40_000).expect("a directory");
    let zoo = Zoo::new().expect("a zoo");
    for options in [
        "-1S",
        "-1Sr",
        "-1t",
        "-1tr",
        "-1v",
        "-1X",
        "-1r",
        "-1",
        "-1U",
        "-1Sa --group-directories-first",
        "-1 --sort=width",
    ] {
        let options: Vec<&str> = options.split(' ').collect();
        for (dir, most) in [(dir.path(), 10), (dir.path(), 15_000), (zoo.path(), 3), (zoo.path(), 100_000)] {
            // One line for each name, whatever characters it has.
            let options = [&options[..], &["-b"]].concat();
            let all = dls(dir, &options).stdout;
            let head: Vec<u8> =
                all.split_inclusive(|byte| *byte == b'\n').take(most).flatten().copied().collect();
            let top = format!("--top={most}");
            let top = printed(dir, &[&options[..], &[top.as_str()]].concat());
            assert!(top == head, "{options:?} {most}");
        }
    }
}

/// Only shown entries determine the widths of columns, and there is no total.
#[test]
fn top_of_a_long_listing() {
    let dir = TempDir::new("programs").expect("a directory");
    for (name, size) in [("large", 123_456), ("small", 1), ("tiny", 0)] {
        fs::write(dir.path().join(name), vec![b'x'; size]).expect("a file");
    }
    let sizes = |args: &[&str]| {
        let printed = String::from_utf8(printed(dir.path(), args)).expect("text");
        let size = |line: &str| line.split_whitespace().nth(4).expect("a size").to_string();
        printed.lines().map(size).collect::<Vec<_>>()
    };
    assert_eq!(sizes(&["-lS", "--top=2"]), ["123456", "1"]);
    assert_eq!(sizes(&["-lSr", "--top=2"]), ["0", "1"]);
    let narrow = String::from_utf8(printed(dir.path(), &["-lSr", "--top=1"])).expect("text");
    assert!(narrow.contains(" 0 ") && !narrow.contains("  0 ") && !narrow.contains("total"), "{narrow}");
}

/// Facts that are neither shown nor needed for the order are left out, whichever worker requested them.
#[test]
fn top_tells_of_what_it_shows() {
    let dir = TempDir::new("programs").expect("a directory");
    for name in ["a", "b", "z"] {
        std::os::unix::fs::symlink("nowhere", dir.path().join(name)).expect("a link");
    }
    for (options, told) in [(&["-lL", "--top=2"][..], 2), (&["-lLr", "--top=1"], 1), (&["-LS", "--top=1"], 3)]
    {
        let expected = dls(dir.path(), options);
        assert_eq!(String::from_utf8_lossy(&expected.stderr).lines().count(), told, "{options:?}");
        for way in ["--timeout=60", "-R", "--total-size=0", "--gitignore", "--mode=iou"] {
            let outcome = dls(dir.path(), &[options, &[way]].concat());
            let texts = [&outcome.stderr, &expected.stderr].map(|text| String::from_utf8_lossy(text));
            assert_eq!((&texts[0], &outcome.end), (&texts[1], &expected.end), "{options:?} {way}");
        }
    }
}

#[test]
fn counts() {
    let zoo = Zoo::new().expect("a zoo");
    let document = document(zoo.path(), &["-A", "--count", "--json", ".", "names"]);
    let mut kinds = std::collections::BTreeMap::new();
    for entry in fs::read_dir(zoo.path()).expect("the zoo").flatten() {
        *kinds.entry(entry.file_type().expect("a type").is_dir()).or_insert(0_u64) += 1;
    }
    let here = &document["counts"][0];
    assert_eq!(here["types"]["directory"].as_u64(), kinds.get(&true).copied());
    assert_eq!(here["entries"].as_u64(), Some(kinds[&true] + kinds[&false]));
    let text = String::from_utf8(printed(zoo.path(), &["-a", "--count"])).expect("text");
    let total = text.lines().last().expect("a last line");
    assert_eq!(total.trim(), format!("{} total", kinds[&true] + kinds[&false]));
}

/// Operands count, also `.`.
#[test]
fn operands_are_counted() {
    let dir = TempDir::new("programs").expect("a directory");
    fs::create_dir(dir.path().join("sub")).expect("a directory");
    fs::write(dir.path().join("one"), "12345").expect("a file");
    let text = |args: &[&str]| String::from_utf8(printed(dir.path(), args)).expect("text");
    assert_eq!(text(&["--count", "-d"]), "1 directory\n1 total\n");
    assert_eq!(text(&["--count", "-d", ".", "one", "sub"]), "1 file\n2 directory\n3 total\n");
    assert_eq!(text(&["--summary", "-d"]), ".\n1 entry: 1 directory\n");
    assert_eq!(
        text(&["--count", "-a"]),
        "1 file\n1 directory\n2 total\n",
        "of a directory they are no entries"
    );
}

#[test]
fn the_total_of_a_file_is_its_size() {
    let dir = TempDir::new("programs").expect("a directory");
    fs::create_dir(dir.path().join("sub")).expect("a directory");
    fs::write(dir.path().join("sub/two"), "123").expect("a file");
    fs::write(dir.path().join("one"), "12345").expect("a file");
    for args in
        [&["--ndjson", "--columns=-accessed", "--total-size"][..], &["--ndjson", "--columns=total,name"]]
    {
        let rows = lines(dir.path(), args);
        let (file, directory) = (&rows[0], &rows[1]);
        assert_eq!((&file["total"], &file["total_whole"]), (&5.into(), &true.into()), "{file}");
        assert_eq!(file["total_allocated"].as_u64().map(|bytes| bytes % 512), Some(0));
        assert_eq!((&directory["total_whole"], directory["total"].as_u64() >= Some(3)), (&true.into(), true));
    }
    let view = String::from_utf8(printed(dir.path(), &["--columns=total,name", "one"])).expect("text");
    assert_eq!(view, "5 one\n");
}

/// A name that shows as another one on a terminal: `exe.fdp` for `pdf.exe` behind U+202E. It comes back byte for byte.
#[test]
fn what_turns_the_direction_of_writing_leaves_escaped() {
    let dir = TempDir::new("programs").expect("a directory");
    let name = "a\u{202e}\u{2066}b";
    fs::write(dir.path().join(name), "").expect("a file");
    for format in ["--json", "--ndjson", "--csv"] {
        let text = String::from_utf8(printed(dir.path(), &[format])).expect("text");
        assert!(!text.contains(['\u{202e}', '\u{2066}']), "{format}: {text:?}");
    }
    assert_eq!(lines(dir.path(), &["--ndjson"])[0]["name"], name);
    assert!(
        names_of_csv(&printed(dir.path(), &["--csv"]))
            .iter()
            .any(|one| format!("{one:?}").contains("226, 128, 174"))
    );
}

#[test]
fn summaries() {
    let dir = TempDir::new("programs").expect("a directory");
    fs::create_dir(dir.path().join("sub")).expect("a directory");
    fs::write(dir.path().join("one"), "12345").expect("a file");
    fs::write(dir.path().join("sub/two"), "123").expect("a file");
    let last = |args: &[&str]| {
        let text = String::from_utf8(printed(dir.path(), args)).expect("text");
        text.lines().last().expect("a last line").to_string()
    };
    assert_eq!(last(&["--summary"]), "2 entries: 1 file, 1 directory");
    assert_eq!(last(&["-laR", "--summary"]), "3 entries, 8 bytes: 2 files, 1 directory");
    assert_eq!(last(&["-C", "--summary", "one"]), "1 entry: 1 file");
    // Emacs looks for the last lines.
    assert!(last(&["-D", "--summary"]).starts_with("//DIRED-OPTIONS//"));
    let document = document(dir.path(), &["--json", "--summary", "-R"]);
    assert_eq!((&document["summary"]["bytes"], &document["summary"]["entries"]), (&8.into(), &3.into()));
    let refused = dls(dir.path(), &["--csv", "--summary"]);
    assert_eq!(refused.end, End::Exit(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("use --json or --ndjson"));
}

/// Entries that do not need it are not asked.
#[test]
fn calls() {
    let dir = mix(&std::env::temp_dir(), 2_000).expect("a directory");
    let stats = |args: &[&str]| {
        let args = [args, &["--mode=classic"]].concat();
        let trace = trace(&Run::new(release().path()).cwd(dir.path()).args(&args)).expect("strace");
        assert_eq!(trace.outcome.end, End::Exit(0));
        let count = |name| trace.count(name);
        (count("statx"), count("readlinkat"), count("listxattrat") + count("llistxattr"))
    };
    for args in [
        &["--json", "--columns=name"][..],
        &["--ndjson", "-U", "--columns=name"],
        &["--count"],
        &["--count", "--json"],
        &["--summary"],
        &["--top=5"],
        &["-1v", "--top=5"],
    ] {
        assert_eq!(stats(args), (0, 0, 0), "{args:?}");
    }
    let entries = fs::read_dir(dir.path()).expect("the directory").count();
    let (statx, links, attributes) = stats(&["-A", "--json"]);
    assert!(statx >= entries && links < entries && attributes == 0, "{statx} {links} {attributes}");
    assert_eq!(stats(&["-l", "--top=5"]).0, 5);
    let (statx, _, attributes) = stats(&["-AlS", "--top=5"]);
    assert!(statx <= entries + 6 && attributes == 5, "{statx} {attributes}");
}

/// With any number of them.
#[test]
fn memory_is_bounded() {
    let dir = mix(&std::env::temp_dir(), 100_000).expect("a directory");
    let resident = |args: &[&str]| {
        let peak = peak(&Run::new(release().path()).cwd(dir.path()).args(args)).expect("a run");
        println!("{args:?}: {} KiB", peak.resident_kib);
        peak.resident_kib
    };
    let whole = resident(&["--ndjson"]);
    for args in [&["--ndjson", "-U"][..], &["--ndjson", "-S", "--top=1000"]] {
        assert!(resident(args) * 2 < whole, "{args:?}");
    }
}
