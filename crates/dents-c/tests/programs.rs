//! C programs: built against the library that `cargo xtask install-c` installs, and run under valgrind.

use dents_lab::fixture::TempDir;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two directories above")
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The library, installed once for all tests.
fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prefix");
        let mut install = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        install.args(["xtask", "install-c", "--profile", "bindings-checked", "--prefix"]).arg(&prefix);
        succeed(install.current_dir(workspace()));
        prefix
    })
}

fn pkg_config(words: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.args(words).arg("dents").env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"));
    let output = succeed(&mut command);
    String::from_utf8(output.stdout).expect("text").split_whitespace().map(str::to_owned).collect()
}

/// Of strict C, and of programs that check what a conversion may change.
const WARNINGS: &[&str] = &[
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wshadow",
    "-Wconversion",
    "-Wsign-conversion",
    "-Werror",
];

/// Compiles an example, with every warning an error.
fn compile(dir: &Path, source: &str, compiler: &str, link: &[String]) -> PathBuf {
    let program = dir.join(source.replace('.', "-"));
    let mut command = Command::new(compiler);
    command.args(WARNINGS).args(["-pthread", "-o"]).arg(&program);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(source));
    succeed(command.args(pkg_config(&["--cflags"])).args(link));
    program
}

/// What links with the shared library, and finds it where it is.
fn shared_library() -> Vec<String> {
    let rpath = format!("-Wl,-rpath,{}", prefix().join("lib").display());
    [vec![rpath], pkg_config(&["--libs"])].concat()
}

/// What links with the static library.
fn static_library() -> Vec<String> {
    let archive = prefix().join("lib/libdents.a").to_str().expect("text").to_owned();
    let others = pkg_config(&["--libs", "--static"]).into_iter().filter(|word| word != "-ldents");
    std::iter::once(archive).chain(others).collect()
}

fn shared(dir: &Path, source: &str) -> PathBuf {
    compile(dir, source, "cc", &shared_library())
}

/// Runs it under valgrind: every error and every leak is a failure.
fn run(program: &Path, words: &[&str], cwd: &Path) -> Output {
    let mut command = Command::new("valgrind");
    command.args([
        "--quiet",
        "--error-exitcode=99",
        "--leak-check=full",
        "--show-leak-kinds=definite,indirect",
    ]);
    command.arg("--errors-for-leak-kinds=definite,indirect").arg(program).args(words).current_dir(cwd);
    let output = command.output().expect("valgrind");
    assert_ne!(output.status.code(), Some(99), "{words:?}: {}", text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn tree() -> TempDir {
    let dir = TempDir::new("c").expect("fixture");
    for directory in ["a", "b"] {
        std::fs::create_dir(dir.path().join(directory)).expect("fixture");
        for size in 0..20 {
            std::fs::write(dir.path().join(directory).join(format!("f{size}")), vec![b'x'; size])
                .expect("fixture");
        }
    }
    std::fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"b/\xff")), [b'x'; 99]).expect("fixture");
    dir
}

#[test]
fn a_scan() {
    let (dir, programs) = (tree(), TempDir::new("c-programs").expect("fixture"));
    let largest = shared(programs.path(), "largest.c");
    let output = run(&largest, &["--type=f", "."], dir.path());
    assert_eq!(output.stdout, b"99\t./b/\xff\n", "{}", text(&output.stderr));
    let output = run(&largest, &["--type=f", "a", "missing"], dir.path());
    assert_eq!(text(&output.stdout), "19\ta/f19\n");
    assert!(
        text(&output.stderr).contains("largest: cannot access 'missing': No such file"),
        "{}",
        text(&output.stderr)
    );
    let output = run(&largest, &["--frob"], dir.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("unexpected argument '--frob'"), "{}", text(&output.stderr));
}

#[test]
fn a_table() {
    let (dir, programs) = (tree(), TempDir::new("c-programs").expect("fixture"));
    let table = shared(programs.path(), "table.c");
    let output = run(&table, &["count", "."], dir.path());
    assert_eq!(text(&output.stdout), "directory\t3\nfile\t41\nall\t44\n", "{}", text(&output.stderr));
    let output = run(&table, &["du", "--apparent-size", "-s", "a", "b"], dir.path());
    assert_eq!(text(&output.stdout), "289\t0\tb\tb\n190\t0\ta\ta\n");
    let output = run(&table, &["du", "--from", "missing.parquet"], dir.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("missing.parquet"), "{}", text(&output.stderr));
    let output = run(&table, &["scan"], dir.path());
    assert_eq!(output.status.code(), Some(2), "a scan has no table: {}", text(&output.stdout));
}

#[test]
fn a_scan_that_is_cancelled() {
    let (dir, programs) = (tree(), TempDir::new("c-programs").expect("fixture"));
    let cancel = shared(programs.path(), "cancel.c");
    let output = run(&cancel, &["600", "1000", "."], dir.path());
    assert_eq!(text(&output.stdout), "44 rows: complete\n", "{}", text(&output.stderr));
    // One request a second: the scan would take a minute.
    let output = run(&cancel, &["0.2", "1000", "--rate=1", "."], dir.path());
    assert!(text(&output.stdout).contains("interrupted"), "{}", text(&output.stdout));
}

#[test]
fn other_ways_to_link() {
    let (dir, programs) = (tree(), TempDir::new("c-programs").expect("fixture"));
    let runs: [(&str, &[&str], &str); 3] = [
        ("table.c", &["count", "."], "all\t44\n"),
        ("largest.c", &["--type=f", "a"], "19\ta/f19\n"),
        ("cancel.c", &["600", "1000", "."], "44 rows: complete\n"),
    ];
    for compiler in ["gcc", "clang"] {
        if Command::new(compiler).arg("--version").output().is_err() {
            println!("without {compiler}: the examples were not compiled with it");
            continue;
        }
        for (source, words, end) in runs {
            for link in [shared_library(), static_library()] {
                let program = compile(programs.path(), source, compiler, &link);
                let output = succeed(Command::new(&program).args(words).current_dir(dir.path()));
                let told = text(&output.stdout);
                assert!(told.ends_with(end), "{compiler} {source} {link:?}: {told}");
            }
        }
    }
    // The header is C++ too, and the library is found by its soname.
    let header = programs.path().join("header.cc");
    std::fs::write(&header, "#include <dents.h>\nint main() { return dents_version()[0] == 0; }\n")
        .expect("fixture");
    if Command::new("c++").arg("--version").output().is_ok() {
        let mut command = Command::new("c++");
        command.args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]).arg(&header);
        succeed(command.args(pkg_config(&["--cflags"])));
    } else {
        println!("without c++: the header was not compiled as C++");
    }
    let needed = succeed(Command::new("readelf").arg("-d").arg(shared(programs.path(), "table.c")));
    assert!(text(&needed.stdout).contains("[libdents.so.0]"), "{}", text(&needed.stdout));
}

/// Only the functions of the header are visible, so no other symbol of the library can collide.
#[test]
fn what_the_library_exports() {
    let names =
        succeed(Command::new("nm").args(["-D", "--defined-only"]).arg(prefix().join("lib/libdents.so")));
    let names = text(&names.stdout);
    let names: Vec<&str> = names.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    assert!(names.contains(&"dents_scan"));
    let others: Vec<&&str> = names.iter().filter(|name| !name.starts_with("dents_")).collect();
    assert!(others.is_empty(), "{others:?}");
}
