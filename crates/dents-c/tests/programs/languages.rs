//! The examples with each compiler, each way to link, and sanitizers; and in other languages than C.

use crate::*;

/// Each example with its words, and the end of its output in `tree()`.
const EXAMPLES: [(&str, &[&str], &str); 5] = [
    ("walk.c", &["a"], " a/f9\n"),
    ("walk.cc", &["."], "(none)\t41\t479\n"),
    ("table.c", &["count", "."], "all\t44\n"),
    ("largest.c", &["--type=f", "a"], "19\ta/f19\n"),
    ("cancel.c", &["600", "1000", "."], "44 rows: complete\n"),
];

/// The examples that need no scan.
const OF_WALKS: [&str; 2] = ["walk.c", "walk.cc"];

/// Compilers of C and of C++.
const GNU: [&str; 2] = ["gcc", "g++"];
const CLANG: [&str; 2] = ["clang", "clang++"];

/// Of gcc, because those of clang are a package of their own. Every finding ends the program with an error, leaks too.
pub(crate) fn sanitizers() -> Vec<String> {
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"].map(str::to_owned).to_vec()
}

/// Compiles the examples of this library and runs them.
fn check(library: &Library, is_whole: bool, compilers: [&str; 2], options: &[String]) {
    let (dir, programs) = (tree(), TempDir::new("c-programs").expect("fixture"));
    for (source, words, end) in EXAMPLES.iter().filter(|one| is_whole || OF_WALKS.contains(&one.0)) {
        let compiler = compilers[usize::from(source.ends_with(".cc"))];
        if is_there(compiler, "the examples were not compiled with it") {
            let program = library.compile(programs.path(), &examples().join(source), compiler, options);
            let output = succeed(Command::new(&program).args(*words).current_dir(dir.path()));
            let told = text(&output.stdout);
            assert!(told.ends_with(end), "{compiler} {source} {options:?}: {told}");
        }
    }
}

#[test]
fn each_compiler_shared_and_static_with_sanitizers() {
    for (library, is_whole) in [(WALK_ONLY.get(), false), (ALL.get(), true)] {
        for link in [library.shared(), library.archive()] {
            check(library, is_whole, CLANG, &link);
            check(library, is_whole, GNU, &link);
            check(library, is_whole, GNU, &[sanitizers(), link].concat());
        }
    }
}

#[test]
fn the_library_is_found_by_its_soname() {
    let programs = TempDir::new("c-programs").expect("fixture");
    let needed =
        succeed(Command::new("readelf").arg("-d").arg(shared(ALL.get(), programs.path(), "table.c")));
    assert!(text(&needed.stdout).contains("[libdents.so.0]"), "{}", text(&needed.stdout));
}

#[test]
fn cpp() {
    if !is_there("c++", "the example in C++ was not run under valgrind") {
        return;
    }
    let (dir, programs) = (tree(), TempDir::new("c-programs").expect("fixture"));
    for hidden in ["a/x.c", "a/y.c", ".git/z.c"] {
        std::fs::create_dir_all(dir.path().join(hidden).parent().expect("a directory")).expect("fixture");
        std::fs::write(dir.path().join(hidden), "four").expect("fixture");
    }
    let library = WALK_ONLY.get();
    let program = library.compile(programs.path(), &examples().join("walk.cc"), "c++", &library.shared());
    let output = run(&program, &[".", "missing"], dir.path());
    assert_eq!(text(&output.stdout), "(none)\t41\t479\n.c\t2\t8\n");
    assert_eq!(text(&output.stderr), "walk: missing: No such file or directory\n");
    let output = run(&program, &[], dir.path());
    assert_eq!(text(&output.stderr), "dents_walk_open: Invalid argument\n");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn go() {
    if !is_there("go", "the example in Go was not built") {
        return;
    }
    let (dir, programs) = (tree(), TempDir::new("c-programs").expect("fixture"));
    let newer = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let newest = std::fs::File::open(dir.path().join("b/f7")).expect("fixture");
    newest.set_modified(newer).expect("fixture");
    for library in [WALK_ONLY.get(), ALL.get()] {
        let program = programs.path().join("walk-go");
        let mut build = library.command("go");
        // Nothing is downloaded: the example needs the standard library alone.
        build.args(["build", "-o"]).arg(&program).arg(examples().join("walk.go")).env("GOPROXY", "off");
        build.env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go")).env("GOTOOLCHAIN", "local");
        succeed(build.env("CGO_ENABLED", "1").current_dir(dir.path()));
        let mut walk = Command::new(&program);
        walk.args(["a", "missing", "b"]).current_dir(dir.path());
        let output = walk.env("LD_LIBRARY_PATH", library.prefix.join("lib")).output().expect("it runs");
        assert_eq!(text(&output.stdout), "b/f7\n", "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "walk missing: no such file or directory\n");
        assert_eq!(output.status.code(), Some(1));
    }
}
