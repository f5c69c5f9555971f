//! The long format: columns and their widths, times in every zone, owners, marks, sizes.

use dents_lab::case::Case;
use dents_lab::fixture::TempDir;
use dents_lab::process::{Run, text};
use dents_lab::suite::{Places, checked, expect_same, oracle, release};
use dents_lab::syscalls::trace;

#[test]
fn time_zones() {
    let places = Places::new();
    let zones = [
        "UTC0",
        "",
        "Europe/Berlin",
        ":Europe/Berlin",
        "America/St_Johns",
        "Pacific/Apia",
        "Africa/Monrovia",
        "Antarctica/Troll",
        "right/UTC",
        "EST5EDT",
        "EST5EDT,M3.2.0,M11.1.0",
        "<-03>3",
        "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45",
        "IST-2IDT,M3.4.4/26,M10.5.0",
        "WGT3WGST,M3.5.0/-2,M10.5.0/-1",
        "XXX-24:59:59",
        "XXX24:59:59",
        "J1,60",
        "UTC0UTC,J60/0,J300/0",
        "AAA1BBB,59/0,300/0",
        "/usr/share/zoneinfo/Asia/Tokyo",
        ":/nonexistent",
        "../etc/passwd",
        "No/Such",
        "A",
        "AB3",
        "EST5EDT,",
        "UTC+25",
        "é",
        "posixrules",
        "localtime",
    ];
    let styles = ["-l", "--full-time", "-l --time-style=long-iso", "-lu --time-style=iso"];
    let mut cases = Vec::new();
    for zone in zones {
        for style in styles {
            cases.push(Case::new(places.zoo.path()).options(style).env("TZ", zone));
        }
    }
    expect_same(&oracle(), &checked(), &cases);
}

/// `--acl` on a local file system: `auto` is `always`, which is GNU's; with `never` no list of attributes is requested, there is no mark,
/// and JSON says that it is not known.
#[test]
fn marks_on_demand() {
    let dir = TempDir::new("acl").expect("a directory");
    for name in ["plain", "marked"] {
        std::fs::write(dir.path().join(name), "").expect("a file");
    }
    let marks = std::process::Command::new("setfacl")
        .args(["-m", "u:1234:r"])
        .arg(dir.path().join("marked"))
        .status();
    let has_acls = marks.is_ok_and(|status| status.success());
    let listed = |args: &[&str]| Run::new(release().path()).cwd(dir.path()).args(args);
    let shown = |args: &[&str]| text(&listed(args).output().expect("it starts").stdout);
    let gnu =
        text(&Run::new(oracle().path()).cwd(dir.path()).args(["-l"]).output().expect("it starts").stdout);
    assert_eq!(gnu.contains("-rw-r--r--+"), has_acls, "{gnu}");
    for acl in ["--acl=always", "--acl=auto"] {
        assert_eq!(shown(&["-l", acl]), gnu, "{acl}");
    }
    let bare = shown(&["-l", "--acl=never"]);
    let unmarked: Vec<String> =
        gnu.lines().map(|line| line.replacen("+ ", " ", 1).replacen("--  ", "-- ", 1)).collect();
    assert_eq!(bare.lines().collect::<Vec<_>>(), unmarked, "{gnu}");
    for args in [&["-l", "--acl=never"][..], &["-lR", "--acl=never", "."], &["--tree", "-l", "--acl=never"]] {
        let trace = trace(&listed(args)).expect("strace");
        let lists = ["listxattrat", "llistxattr", "lgetxattr", "getxattrat"].map(|call| trace.count(call));
        // This strace may not know the newest calls by name.
        let unknown = trace.calls().iter().filter(|call| call.name.starts_with("syscall_0x1d")).count();
        assert_eq!((lists, unknown), ([0; 4], 0), "{args:?}");
    }
    assert!(shown(&["--json", "-l", "--acl=never"]).contains("\"acl\":null"));
}

/// Sizes in every unit, on disk and on tmpfs, alone and in the total.
#[test]
fn sizes_and_totals() {
    let places = Places::new();
    let mut cases = Vec::new();
    for place in places.all.iter().filter(|place| !place.live) {
        for unit in ["", "-h", "--si", "-k", "-h -k", "-k -h"] {
            for format in ["-l", "-s", "-sC", "-ls", "-sm", "-Rs", "-sS", "-lsS"] {
                cases.push(Case::new(&place.cwd).options(unit).options(format));
            }
        }
    }
    expect_same(&oracle(), &checked(), &cases);
}

/// Each file of the zoo by itself: every column's width then follows from one entry.
#[test]
fn every_entry_alone() {
    let places = Places::new();
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(places.zoo.path()).expect("the zoo is readable").flatten() {
        for (n, options) in ["-ld", "-nid", "-lsh", "-lF"].iter().enumerate() {
            let case = Case::new(places.zoo.path()).options(options).operands([entry.file_name()]);
            cases.push(if n % 2 == 0 {
                case
            } else {
                case.options("--color=always").env("LC_ALL", "C.UTF-8")
            });
        }
    }
    expect_same(&oracle(), &checked(), &cases);
}

/// Links: their texts, their targets, and the colours of both.
#[test]
fn links() {
    let places = Places::new();
    let mut cases = Vec::new();
    for colors in
        ["", "ln=target", "ln=target:or=31:mi=32", "or=31", "mi=32", "ln=0", "or=0:mi=0", "ex=0:su=0:di=0"]
    {
        for options in ["-l", "-lF", "-F", "-lp", "-ld link-dir", "-l link-dir/ link-file", "-lU link-loop-a"]
        {
            let case = Case::new(places.zoo.path()).options(options);
            cases.push(case.clone());
            cases.push(case.options("--color=always").env("LS_COLORS", colors));
        }
    }
    expect_same(&oracle(), &checked(), &cases);
}

/// Owners without a name, and wide names of owners, need root to be made; the machine's own are compared in all four
/// spellings.
#[test]
fn owners() {
    let places = Places::new();
    let cases: Vec<Case> = ["-l", "-n", "-g", "-o", "-go", "-lG", "-ng", "-no", "-gG", "-ogn", "-lGn"]
        .iter()
        .flat_map(|options| {
            let zoo = Case::new(places.zoo.path()).options(options);
            [zoo.clone(), zoo.operands(["owner-huge", "owner-nameless"])]
        })
        .collect();
    expect_same(&oracle(), &checked(), &cases);
}
