//! Walks: what they return, and what misuse does, with the library for walks alone and with the whole one.

use crate::*;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

fn test_program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

#[test]
fn a_walk() {
    let (dir, programs) = (tree(), TempDir::new("c-programs").expect("fixture"));
    symlink("f3", dir.path().join("a/g")).expect("fixture");
    for library in [WALK_ONLY.get(), ALL.get()] {
        let walk = shared(library, programs.path(), "walk.c");
        let output = run(&walk, &["a", "missing", "b"], dir.path());
        let lines = text(&output.stdout);
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.len(), 22 + 22, "{lines:?}");
        assert!(lines[0].starts_with("d ") && lines[0].ends_with(" a"), "{}", lines[0]);
        assert!(lines[20].starts_with("f 9 ") && lines[20].ends_with(" a/f9"), "{}", lines[20]);
        assert!(lines[21].starts_with("l 2 ") && lines[21].ends_with(" a/g -> f3"), "{}", lines[21]);
        assert_eq!(text(&output.stderr), "walk: missing: No such file or directory\n");
        assert_eq!(output.status.code(), Some(1));
        let output = run(&walk, &[], dir.path());
        assert_eq!(text(&output.stderr), "walk: Invalid argument\n");
        assert_eq!(output.status.code(), Some(2));
    }
}

/// The tree of `options.c`.
fn tree_of_options() -> TempDir {
    let dir = tree();
    let at = |path: &str| dir.path().join(path);
    std::fs::create_dir_all(at("c/.hidden")).expect("fixture");
    std::fs::create_dir(at("d")).expect("fixture");
    std::fs::write(at("c/.hidden/x"), "x").expect("fixture");
    symlink("../d", at("c/link")).expect("fixture");
    symlink("../c", at("d/up")).expect("fixture");
    let old = std::fs::File::create(at("c/old")).expect("fixture");
    old.set_modified(SystemTime::UNIX_EPOCH - Duration::from_millis(1750)).expect("fixture");
    dir
}

/// Under valgrind, and with sanitizers.
fn is_clean(program: &str, dir: &Path) {
    let programs = TempDir::new("c-programs").expect("fixture");
    for library in [WALK_ONLY.get(), ALL.get()] {
        let source = test_program(program);
        let compiled = library.compile(programs.path(), &source, "gcc", &library.shared());
        let output = run(&compiled, &[], dir);
        assert!(output.status.success(), "{program}: {}", text(&output.stderr));
        for options in [library.shared(), library.archive()] {
            let options = [languages::sanitizers(), options].concat();
            succeed(
                Command::new(library.compile(programs.path(), &source, "gcc", &options)).current_dir(dir),
            );
        }
    }
}

#[test]
fn options_and_facts() {
    is_clean("options.c", tree_of_options().path());
}

#[test]
fn misuse_is_defined() {
    is_clean("misuse.c", tree().path());
}

/// Only the functions of the header are visible, so no other symbol of the library can collide; the library for walks alone has those that
/// its header has.
#[test]
fn what_the_libraries_export() {
    for library in [WALK_ONLY.get(), ALL.get()] {
        let names = succeed(
            Command::new("nm").args(["-D", "--defined-only"]).arg(library.prefix.join("lib/libdents.so")),
        );
        let names = text(&names.stdout);
        let mut names: Vec<&str> = names.lines().filter_map(|line| line.split(' ').nth(2)).collect();
        let include = format!("-I{}", library.prefix.join("include").display());
        let header = library.prefix.join("include/dents.h");
        let mut expand = Command::new("cc");
        expand.args(["-E", "-P", &include]).args(library.pkg_config(&["--cflags"])).arg(header);
        let header = text(&succeed(&mut expand).stdout);
        let called = header.split('(').filter_map(|before| before.rsplit([' ', '*']).next());
        let mut declared: Vec<&str> = called.filter(|name| name.starts_with("dents_")).collect();
        names.sort_unstable();
        declared.sort_unstable();
        assert_eq!(names, declared);
        assert_eq!(names.contains(&"dents_scan"), std::ptr::eq(library, ALL.get()));
        assert!(names.contains(&"dents_walk_next"));
    }
}
