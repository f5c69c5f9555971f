//! `dents du` beside `du`.

mod tools;

use dents_lab::process::{End, Run};
use dents_lab::zoo::Zoo;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tools::{complaints, dents, is_root, linked_tree, other, run, shell, sorted, stdout, text, tree};

/// Both print the same lines, in any order, and have the same exit status.
fn assert_as_du(cwd: &Path, ours: &str, theirs: &str) {
    let (dents, du) = (
        run(&dents(cwd, &format!("du -0 {ours}"))),
        run(&other("/usr/bin/du", cwd, &format!("-0k {theirs}"))),
    );
    let show = |bytes: &[u8]| sorted(bytes, 0).iter().map(|line| text(line)).collect::<Vec<_>>();
    assert_eq!(show(&dents.stdout), show(&du.stdout), "du {ours}: {}", text(&dents.stderr));
    assert_eq!(dents.end, du.end, "du {ours}");
    assert_eq!(complaints(&dents), complaints(&du), "du {ours}");
}

#[test]
fn every_directory_as_du_has_it() {
    let dir = tree();
    for options in ["-s", "-d1", "-d2", "-d99", "-a -d1", "-a -d99", "-l -d9", "-c -d9", "-x -d9"] {
        for operand in ["t", "t/", "./t//", "t/to-b", "t/to-b/", "t/x.c", "t/pipe", "."] {
            let ours = format!("{options} {operand}");
            assert_as_du(dir.path(), &ours, &ours);
        }
    }
    assert_as_du(dir.path(), "", "-d1");
}

#[test]
fn a_zoo_and_the_machines_own_trees() {
    let zoo = Zoo::new().expect("a zoo");
    assert_as_du(zoo.path(), "-d99 -a .", "-a .");
    assert_as_du(Path::new("/usr/share"), "-s doc locale perl", "-s doc locale perl");
    assert_as_du(Path::new("/etc"), "-d99 .", ".");
}

#[test]
fn links_across_directories_count_once() {
    let dir = linked_tree();
    for options in ["-s", "-s -l", "-a -d99 -l"] {
        assert_as_du(dir.path(), &format!("{options} t"), &format!("{options} t"));
    }
}

/// The directories of one tree are read in an order that is not that of their names, which is why there are so many.
#[test]
fn a_file_with_links_counts_where_du_finds_it_first_whatever_the_workers() {
    let dir = linked_tree();
    let root = dir.path().join("t");
    for nth in 0..60 {
        let (sub, other) = (root.join(format!("s{nth}")), root.join(format!("a/o{nth}/deep")));
        fs::create_dir_all(&sub).unwrap();
        fs::create_dir_all(&other).unwrap();
        for file in 0..5 {
            fs::write(sub.join(format!("f{file}")), vec![b'x'; 5000 * (1 + file)]).unwrap();
            fs::hard_link(sub.join(format!("f{file}")), other.join(format!("g{file}"))).unwrap();
            fs::hard_link(sub.join(format!("f{file}")), root.join(format!("h{nth}-{file}"))).unwrap();
        }
    }
    dents_lab::fixture::settle(dir.path()).expect("settled");
    for options in
        ["-d1", "-d2", "-d99", "-S -d99", "-S -d1", "-a -d1", "-a -d99", "-a -S -d99", "--inodes -d3"]
    {
        for threads in [1, 2, 3, 16] {
            for operands in ["t", "t/s7 t", "t/a/o3 t/s3 t/a"] {
                let theirs = format!("{options} {operands}");
                assert_as_du(dir.path(), &format!("{theirs} --threads {threads}"), &theirs);
            }
        }
    }
}

#[test]
fn from_a_scan_a_file_with_links_counts_in_the_first_directory_by_name() {
    let dir = linked_tree();
    for file in ["s.parquet", "s.sqlite", "s.ndjson"] {
        stdout(&dents(dir.path(), &format!("scan -o {file} t")));
    }
    let from = |file: &str, words: &str| stdout(&dents(dir.path(), &format!("du -d9 --from {file} {words}")));
    let first = from("s.parquet", "--bytes --threads 1");
    for threads in [2, 3, 8, 16] {
        for file in ["s.parquet", "s.sqlite", "s.ndjson"] {
            let again = from(file, &format!("--bytes --threads {threads}"));
            assert_eq!(text(&again), text(&first), "{file} {threads}");
        }
    }
    // b and a.b each have a link to a/y.c, which counts in a. The file empty/one counts in b, x.c counts in t.
    let blocks =
        |file: &str| shell(dir.path(), &format!("stat -c '%b' {file}")).trim().parse::<u64>().unwrap() * 512;
    let expected = |own: &[&str]| own.iter().map(|file| blocks(file)).sum::<u64>();
    let line = |bytes: u64, path: &str| format!("{bytes}\tt/{path}\n");
    let lines = text(&first);
    for (path, own) in [
        ("a.b", &["t/a.b", "t/a.b/1.tar"][..]),
        ("b", &["t/b", "t/b/one", "t/b/twice"]),
        ("empty", &["t/empty"]),
        ("a/deep", &["t/a/deep", "t/a/deep/er", "t/a/deep/er/z.h"]),
        ("a", &["t/a", "t/a/y.c", "t/a/dangling", "t/a/deep", "t/a/deep/er", "t/a/deep/er/z.h"]),
    ] {
        assert!(lines.contains(&line(expected(own), path)), "{path} in\n{lines}");
    }
    // A file is shown once, under the first of its paths.
    let files = text(&from("s.parquet", "-a"));
    let shown = |path: &str| files.lines().any(|line| line.ends_with(&format!("\tt/{path}")));
    assert!(shown("a/y.c") && !shown("a.b/y") && !shown("b/y"), "{files}");
}

#[test]
fn what_an_operand_held_counts_no_more_in_the_next() {
    let dir = tree();
    for operands in [
        "t/a t/b",
        "t/a/deep t/a",
        "t t/a",
        "t/a t/a",
        "t/x.c t",
        "t t/x.c",
        "t/x.c t/x.c",
        "t/b/twice t/b",
        "t/b t/b/twice",
        "t/missing t/a",
        "t/a t/missing t/nor-this",
        "t/to-b t/b",
    ] {
        for options in ["-s", "-c -d9", "-l -s", "-a -d9"] {
            let words = format!("{options} {operands}");
            assert_as_du(dir.path(), &words, &words);
        }
    }
}

/// Since 9.2 GNU du counts only the apparent sizes of regular files and links; before, it counted those of all entries.
#[test]
fn apparent_sizes() {
    let dir = tree();
    let all = shell(dir.path(), "du -s --apparent-size -B1 t/empty");
    if all.starts_with("0\t") {
        for options in ["-b -s", "-b -d9", "-b -a -d9"] {
            assert_as_du(dir.path(), &format!("{options} t"), &format!("{options} t"));
        }
    }
    let sum = shell(
        dir.path(),
        r"find t -type f,l -printf '%i %s\n' | sort -u | awk '{sum += $2} END {print sum}'",
    );
    let ours = text(&stdout(&dents(dir.path(), "du -b -s t")));
    assert_eq!(ours, format!("{}\tt\n", sum.trim()));
    assert_eq!(text(&stdout(&dents(dir.path(), "du --apparent-size --bytes -s t"))), ours);
    // Directories have no size of their own, but they have lines.
    assert_eq!(text(&stdout(&dents(dir.path(), "du -b -d1 t/empty"))), "0\tt/empty\n");
}

#[test]
fn links_followed() {
    let dir = tree();
    let root = dir.path().join("t");
    // Two links lead to b, one back to the root.
    symlink("../..", root.join("a/up")).unwrap();
    symlink("../b/twice", root.join("a/file")).unwrap();
    for operands in ["t", "t/b", "t/to-b", "t/b t/to-b", "t/a/file t"] {
        assert_as_du(dir.path(), &format!("-L -s {operands}"), &format!("-L -s {operands}"));
    }
    assert_as_du(dir.path(), "-H -s t/to-b t/a/file", "-D -s t/to-b t/a/file");
}

/// Directories to which several links lead, from directories that are read earlier and later; links to directories above.
#[test]
fn a_directory_counts_under_the_link_by_which_du_enters_it() {
    let dir = tree();
    let root = dir.path().join("t");
    for nth in 0..30 {
        fs::create_dir_all(root.join(format!("d{nth}/sub/deep"))).unwrap();
        fs::write(root.join(format!("d{nth}/sub/file")), vec![b'x'; 5000 * nth]).unwrap();
        symlink(format!("../../d{}/sub", (nth * 7 + 3) % 30), root.join(format!("d{nth}/sub/link"))).unwrap();
        symlink(format!("../d{}/sub/file", (nth * 11 + 5) % 30), root.join(format!("d{nth}/file"))).unwrap();
    }
    symlink("../..", root.join("d7/sub/up")).unwrap();
    dents_lab::fixture::settle(dir.path()).expect("settled");
    for options in ["-d1", "-d3", "-d99 -a", "-S -s", "-S -d99", "-l -s", "-l -d2 -a", "--inodes -d3"] {
        for operands in ["t", "t/d7 t", "t/d3/sub/link t/d3"] {
            let words = format!("-L {options} {operands}");
            assert_as_du(dir.path(), &words, &words);
        }
    }
    // Without -L, links that are operands.
    assert_as_du(dir.path(), "-H -d9 t/d3/sub/link t/d3", "-D t/d3/sub/link t/d3");
}

#[test]
fn other_file_systems_are_left_out() {
    let dir = tree();
    let root = dir.path().join("t");
    let mount = |words: &str| run(&other("/bin/mount", &root, words)).end == End::Exit(0);
    if !is_root() || !mount("-t tmpfs tmpfs a/deep") {
        println!("skipped: mounting needs root");
        return;
    }
    let file = root.join("mounted");
    fs::write(&file, b"covered").unwrap();
    fs::write(root.join("a/deep/inside"), vec![b'x'; 10_000]).unwrap();
    // A file can be a mount point too.
    let bound = mount("--bind a/deep/inside mounted");
    let compare = || {
        for options in ["-s", "-d9", "-x -s", "-x -d9", "-x -a -d9"] {
            assert_as_du(dir.path(), &format!("{options} t"), &format!("{options} t"));
        }
    };
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(compare));
    if bound {
        shell(&root, "umount -l mounted");
    }
    shell(&root, "umount -l a/deep");
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_counted() {
    if !is_root() {
        println!("skipped: an unprivileged user needs root");
        return;
    }
    let dir = tree();
    // A copy that every user may execute.
    let program = dir.path().join("dents");
    dents_lab::fixture::copy_program(Path::new(env!("CARGO_BIN_EXE_dents")), &program);
    shell(dir.path(), "chmod 755 . dents; chmod 700 t/a/deep; chmod 744 t/b; chmod 311 t/a.b");
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    for options in ["-s", "-d9", "-a -d9"] {
        let words = format!("{options} t");
        let as_nobody = |run: Run| tools::run(&run.under(&nobody));
        let ours = as_nobody(Run::new(&program).cwd(dir.path()).args(["du"]).args(words.split_whitespace()));
        let theirs = as_nobody(other("/usr/bin/du", dir.path(), &format!("-k {words}")));
        assert_eq!(sorted(&ours.stdout, b'\n'), sorted(&theirs.stdout, b'\n'), "{words}");
        assert_eq!(complaints(&ours), complaints(&theirs), "{words}");
        assert_eq!((ours.end, theirs.end), (End::Exit(1), End::Exit(1)), "{words}");
    }
}

#[test]
fn the_largest_come_first() {
    let dir = tree();
    let lines = text(&stdout(&dents(dir.path(), "du --bytes -a -d9 t/a t/a.b t/b")));
    let sizes: Vec<u64> =
        lines.lines().map(|line| line.split('\t').next().unwrap().parse().unwrap()).collect();
    assert!(sizes.len() > 8 && sizes.is_sorted_by(|a, b| a >= b), "{lines}");
}

#[test]
fn json_steers_no_terminal() {
    let dir = dents_lab::fixture::TempDir::new("du-json").expect("a temporary directory");
    let name = "a\u{1b}\u{7f}\u{9b}\u{202e}b\"\\";
    fs::write(dir.path().join(name), b"x").expect("a file");
    for command in ["du -a --json .", "top --json .", "stats --by extension --json ."] {
        let written = text(&stdout(&dents(dir.path(), command)));
        let is_command = |char: char| char.is_control() || char == '\u{202e}';
        assert!(!written.trim_end().contains(is_command), "{}", written.escape_debug());
        let _: Value = serde_json::from_str(&written).expect("JSON");
    }
    let object = tools::json(&dents(dir.path(), "top --json ."));
    assert_eq!(object["entries"][0]["path"], format!("./{name}"));
}

#[test]
fn json_has_exact_names() {
    let dir = tree();
    let object = tools::json(&dents(dir.path(), "du -a -d9 --json t"));
    let du = shell(dir.path(), "du -s -B1 t");
    let total: u64 = du.split('\t').next().unwrap().parse().unwrap();
    assert_eq!(object["dents"], "du");
    assert_eq!(
        (&object["schema"], &object["complete"], &object["errors"]),
        (&json!(1), &json!(true), &json!(0))
    );
    assert_eq!(object["total"], total);
    assert_eq!(object["entries"][0], json!({"path": "t", "depth": 0, "bytes": total}));
    let entries = object["entries"].as_array().unwrap();
    let exact: Vec<&Value> = entries.iter().filter(|entry| entry.get("path_bytes").is_some()).collect();
    // t/long name/\xff\x1b[2J
    assert_eq!(exact.len(), 1);
    assert_eq!(exact[0]["path_bytes"], "dC9sb25nIG5hbWUv/xtbMko=");
    assert!(exact[0].get("path").is_none());
    assert!(entries.iter().any(|entry| entry["path"] == "t/c\nd"));
    let missing = run(&dents(dir.path(), "du --json t/missing"));
    let object: Value = serde_json::from_slice(&missing.stdout).unwrap();
    assert_eq!((&object["errors"], &object["entries"], missing.end), (&json!(1), &json!([]), End::Exit(1)));
}

#[test]
fn outputs_that_take_nothing() {
    let dir = tree();
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    let output = dents(dir.path(), "du t").command().stdout(full()).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "dents: cannot write to standard output: No space left on device\n");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = dents(dir.path(), "du t").command().stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(text(&output.stderr), "");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(13));
}

#[test]
fn an_interrupt_keeps_what_was_found() {
    let dir = tree();
    for nth in 0..400 {
        fs::create_dir(dir.path().join(format!("t/d{nth}"))).unwrap();
    }
    for command in ["du", "count", "top", "stats"] {
        // Some hundred requests at 50 a second would take many times as long.
        let slow = dents(dir.path(), &format!("{command} --rate 50 t"));
        let child = slow.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(600));
        shell(dir.path(), &format!("kill -INT {}", child.id()));
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{command}");
        assert!(!output.stdout.is_empty() || command == "top", "{command}");
        let said = "dents: interrupted: the result is incomplete\n";
        assert_eq!(text(&output.stderr), said, "{command}");
    }
}

#[test]
fn a_terminal_gets_bars_and_nothing_that_steers_it() {
    let dir = tree();
    let draw = |run: &Run| text(&dents_lab::terminal::output(run, 60, false).unwrap().stdout);
    let drawn = draw(&dents(dir.path(), "du -a -d9 t"));
    assert!(drawn.contains("100.0%") && drawn.contains("####"), "{drawn}");
    assert!(drawn.contains(r"'t/long name/'$'\377\033''[2J'"), "{drawn}");
    let plain = draw(&dents(dir.path(), "du t").env("NO_COLOR", "1"));
    assert!(!plain.contains('\x1b') && drawn.contains("\x1b[32m"), "{plain}");
}

/// The list of mounts tells whether files may be found twice, and directories below themselves: it is read once, whatever is walked.
#[test]
fn the_list_of_mounts_is_read_once() {
    let dir = dents_lab::fixture::TempDir::new("du-mounts").expect("a directory");
    shell(dir.path(), "mkdir a b c");
    for words in ["du a", "du -s a b c", "count a b", "stats a b"] {
        let trace = dents_lab::syscalls::trace(&dents(dir.path(), words)).expect("strace");
        let reads = |call: &&dents_lab::syscalls::Call| call.text.contains("/proc/self/mountinfo");
        assert_eq!(trace.calls().iter().filter(reads).count(), 1, "{words}");
    }
}
