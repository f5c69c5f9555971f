//! The direction of the data flow in `dls`, as ordinary tests: imports go one way, and each kind of input has one
//! entry.
//!
//! There are no cycles of imports across the folders of a crate, so that a reader can read it from the top down. A
//! module at the top of a crate, a file or a folder, imports others as `crate::NAME`. Nothing imports the root itself,
//! which imports all, but for the crates of [`WITH_ROOT`]. Tests may import everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::step::workspace;
use crate::tidy::files;

/// The crates that have no cycles of imports, and must stay so.
const CRATES: [&str; 12] = [
    "dls",
    "dents-render",
    "dents-engine",
    "dents-commands",
    "dents-cli",
    "dents-sink",
    "dents-core",
    "dents-locale",
    "dents-sys",
    "dents-arrow",
    "dents-lab",
    "xtask",
];
/// Those of them whose modules share types and functions of the root.
const WITH_ROOT: [&str; 4] = ["dents-sink", "dents-core", "dents-locale", "dents-sys"];

type Imports = BTreeMap<String, BTreeSet<String>>;

fn stem(path: &Path) -> String {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_string()
}

/// Code without comments, and without the tests that a file ends in.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().map(|line| line.split("//").next().unwrap_or_default().to_string() + "\n").collect()
}

/// Modules that only tests have: `#[cfg(test)]` precedes them, or the attribute that opens them to fuzzers.
fn of_tests(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_gate = |line: &&str| line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(any(test");
    let mut gated = Vec::new();
    for (nth, _) in lines.iter().enumerate().filter(|(_, line)| is_gate(line)) {
        let next = lines[nth + 1..].iter().find(|line| !line.starts_with("#["));
        let name = next.and_then(|line| line.trim_end_matches(';').rsplit_once("mod "));
        gated.extend(name.map(|(_, name)| name.to_string()));
    }
    gated
}

/// The names that follow `crate::`, those of a list too.
fn imported(code: &str) -> Vec<&str> {
    let after = code.split("crate::").skip(1).map(|after| match after.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap_or_default(),
        None => after.split(',').next().unwrap_or_default(),
    });
    after
        .flat_map(|list| list.split(','))
        .filter(|path| !path.trim().is_empty())
        .map(|path| path.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
        .collect()
}

fn imports(src: &Path, has_root: bool) -> Imports {
    let mut all = Vec::new();
    files(src, "rs", &mut all);
    let texts: Vec<(PathBuf, String)> =
        all.iter().map(|path| (path.clone(), fs::read_to_string(path).expect("UTF-8"))).collect();
    let skipped: BTreeSet<String> = texts.iter().flat_map(|(_, text)| of_tests(text)).collect();
    let room = |path: &Path| {
        let first = path.strip_prefix(src).expect("below it").iter().next().expect("a name");
        stem(Path::new(first))
    };
    let rooms: BTreeSet<String> =
        texts.iter().map(|(path, _)| room(path)).filter(|room| room != "lib" && room != "main").collect();
    let mut imports = Imports::new();
    for (path, text) in &texts {
        let parts = path.strip_prefix(src).expect("below it").iter();
        let is_test = parts.map(|part| stem(Path::new(part))).any(|part| skipped.contains(&part));
        if is_test || !rooms.contains(&room(path)) {
            continue;
        }
        for name in imported(&code(text)) {
            let is_room = rooms.contains(name);
            assert!(is_room || has_root, "{} imports `crate::{name}` from the crate's root", path.display());
            if is_room && name != room(path) {
                imports.entry(room(path)).or_default().insert(name.to_string());
            }
        }
    }
    imports
}

/// The modules in a circle of imports, and those that import them: what remains when modules that import none that remains are
/// removed again and again.
fn circle(imports: &Imports) -> Vec<&String> {
    let mut rest: Vec<&String> = imports.keys().collect();
    loop {
        let before = rest.len();
        let now = rest.clone();
        rest.retain(|name| imports[*name].iter().any(|used| now.contains(&used)));
        if rest.len() == before {
            return rest;
        }
    }
}

#[test]
fn imports_go_one_way() {
    for name in CRATES {
        let src = workspace().join("crates").join(name).join("src");
        let imports = imports(&src, WITH_ROOT.contains(&name));
        assert!(imports.len() >= 2, "{name}: {imports:?}");
        assert!(circle(&imports).is_empty(), "a circle of imports in {name}: {:?}", circle(&imports));
    }
}

/// Files below `folder` whose code, without tests, contains this text.
fn that_say(folder: &str, text: &str) -> Vec<String> {
    let (root, mut all) = (workspace().join("crates").join(folder), Vec::new());
    files(&root, "rs", &mut all);
    assert!(!all.is_empty(), "nothing in {folder}");
    let says = |path: &PathBuf| code(&fs::read_to_string(path).expect("UTF-8")).contains(text);
    let name = |path: &PathBuf| path.strip_prefix(&root).expect("below it").display().to_string();
    all.iter().filter(|path| stem(path) != "tests" && says(path)).map(name).collect()
}

#[test]
fn one_place_reads_the_environment() {
    assert_eq!(that_say("dls/src", "Environment::read("), ["main.rs"]);
    for crate_without in ["dls", "dents-render", "dents-locale", "dents-core", "dents-engine", "dents-sys"] {
        for reading in ["env::var", ".vars()"] {
            let none: [&str; 0] = [];
            assert_eq!(
                that_say(&format!("{crate_without}/src"), reading),
                none,
                "{crate_without}: {reading}"
            );
        }
    }
}

/// But for the line of progress, which another thread draws in its turn.
#[test]
fn one_place_writes() {
    for stream in [".stdout(", ".stderr("] {
        assert_eq!(that_say("dls/src", stream), ["output.rs"], "{stream}");
    }
    assert_eq!(that_say("dls/src", "file::write("), ["main.rs", "progress.rs"]);
}

/// The lines of a tree follow from the results of the stage `notes`: the code has no stage that could make requests.
#[test]
fn the_lines_of_a_tree_ask_nothing() {
    for asking in ["Stage", "Session", "Printer", "self", "dents_sys", "canonical", "git"] {
        let asks = that_say("dls/src/run/tree", asking);
        assert!(!asks.contains(&"outline.rs".to_string()), "{asking}: {asks:?}");
    }
}

/// Neither makes system calls: all of these are in `dents-sys`.
#[test]
fn sort_and_rendering_ask_nothing() {
    for pure in ["dents-core/src/sort", "dents-render/src"] {
        for crate_that_asks in ["dents_sys", "rustix", "std::fs"] {
            let none: [&str; 0] = [];
            assert_eq!(that_say(pure, crate_that_asks), none, "{pure}: {crate_that_asks}");
        }
    }
}

#[test]
fn a_circle_is_found() {
    let read = |text: &'static str| imported(text).into_iter().map(String::from).collect();
    let mut all = Imports::from([("a".into(), read("use crate::b::{X, Y}; crate::c::f()"))]);
    assert_eq!(all["a"], BTreeSet::from(["b".to_string(), "c".to_string()]));
    assert!(circle(&all).is_empty());
    all.insert("c".into(), read("use crate::{d, e::Z};"));
    all.insert("e".into(), read("use crate::a;"));
    assert_eq!(circle(&all), ["a", "c", "e"]);
    assert_eq!(of_tests("#[cfg(test)]\n#[path = \"x\"]\nmod odd;\nmod even;"), ["odd"]);
    assert_eq!(code("a // b\n#[cfg(test)]\nmod tests {\n}"), "a \n");
}
