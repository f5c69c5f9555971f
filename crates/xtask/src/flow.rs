//! The direction of the data flow, as ordinary tests: imports go one way, and each kind of input has one entry.
//!
//! In no crate is there a circle of files that use each other, so that a reader can read it from the top down. A use is a path:
//! `crate::`, `super::`, `self::`, or a module below. It leads to the file that declares the item, whatever re-exports it. A file that
//! only re-exports an item of a module below does not use it. Between the folders and files at the top of a crate there is no circle
//! either. Nothing imports the root itself, which imports all, but for the crates of [`WITH_ROOT`]. Tests may import everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

use crate::step::workspace;
use crate::tidy::files;

/// The crates that are not free of circles yet.
const OTHERS: [&str; 1] = ["dents"];
/// The folders that are not free of circles yet; from outside they are.
const FOLDERS: [(&str, &str); 4] = [
    ("dents-core", "tree"),
    ("dents-commands", "diff"),
    ("dents-commands", "report"),
    ("dents-cli", "browse"),
];
/// The crates whose modules share types and functions of the root.
const WITH_ROOT: [&str; 6] = ["dents-sink", "dents-core", "dents-locale", "dents-sys", "dents-rt", "dents-c"];

/// A path in the tree of modules; empty for the root.
type Module = Vec<String>;
type Imports = BTreeMap<Module, BTreeSet<Module>>;

fn stem(path: &Path) -> String {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_string()
}

/// What of a source is an import, a path.
struct Patterns {
    /// What is no path of a use: imports for tests, modules below, the scope of a visibility.
    others: Regex,
    import: Regex,
    path: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let pattern = |text| Regex::new(text).expect("a pattern");
    Patterns {
        others: pattern(
            r"#\[cfg\(test\)\]\n(?:pub.*)?use [^;]+;|(?:pub(?:\([^)]*\))? +)?mod \w+;|\(in [\w:]+\)",
        ),
        import: pattern(r"(?m)^( *)(pub(?:\([^)]*\))? +)?use ([^;]+);"),
        path: pattern(r"\w+(?:::\w+)+"),
    }
});

/// Code without comments, and without the tests that a file ends in.
fn code(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_test = |two: &[&str]| {
        let is_gate = two[0] == "#[cfg(test)]" || two[0].starts_with("#[cfg(all(test");
        is_gate && two[1].contains("mod ") && two[1].ends_with('{')
    };
    let end = lines.windows(2).position(is_test).unwrap_or(lines.len());
    lines[..end].iter().map(|line| line.split("//").next().unwrap_or_default().to_string() + "\n").collect()
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

/// The paths of a `use`, whose braces may be nested.
fn expanded(tree: &str) -> Vec<String> {
    let Some((head, list)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_string()];
    };
    let list = list.trim_end().strip_suffix('}').unwrap_or(list);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for letter in list.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        match parts.last_mut() {
            Some(part) if letter != ',' || depth > 0 => part.push(letter),
            _ => parts.push(String::new()),
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty()).flat_map(|part| expanded(part.trim()));
    parts.map(|path| head.trim().to_string() + &path).collect()
}

/// What a file says of other modules.
struct Said {
    /// Absolute paths of what it uses.
    uses: Vec<Module>,
    /// Its names for items of other modules: they may be used through it.
    names: BTreeMap<String, Module>,
}

/// A path that is written in this module, from the root; `None` if it leads out of the crate.
fn absolute(module: &Module, path: &str, has: &dyn Fn(&Module) -> bool) -> Option<Module> {
    let mut words =
        path.split("::").map(str::to_string).filter(|word| !word.is_empty() && word != "self").peekable();
    let mut from = match words.peek().map(String::as_str) {
        Some("crate") => {
            words.next();
            return Some(words.collect());
        }
        Some("super") => module.clone(),
        Some(child) if has(&[&module[..], &[child.to_string()]].concat()) => module.clone(),
        _ if path.starts_with("self::") => module.clone(),
        _ => return None,
    };
    while words.next_if(|word| word == "super").is_some() {
        from.pop();
    }
    Some(from.into_iter().chain(words).collect())
}

fn said(module: &Module, text: &str, has: &dyn Fn(&Module) -> bool) -> Said {
    let Patterns { others, import, path } = &*PATTERNS;
    let text = &others.replace_all(text, "");
    let body = import.replace_all(text, "");
    let words: BTreeSet<&str> = body.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let paths = path.find_iter(&body).filter_map(|path| absolute(module, path.as_str(), has));
    let (mut uses, mut names): (Vec<Module>, _) = (paths.collect(), BTreeMap::new());
    // A module inside of the file imports from the file.
    let is_inside = |import: &Captures<'_>| !import[1].is_empty() && import[3].starts_with("super");
    for import in import.captures_iter(text).filter(|import| !is_inside(import)) {
        for path in expanded(&import[3]).iter().filter_map(|path| absolute(module, path, has)) {
            let name = path.last().cloned().unwrap_or_default();
            let only_passes_on = path.starts_with(module) && import.get(2).is_some();
            if !only_passes_on || words.contains(&*name) {
                uses.push(path.clone());
            }
            names.insert(name, path);
        }
    }
    Said { uses, names }
}

/// The module that declares the item of a path.
fn declares(path: &[String], all: &BTreeMap<Module, Said>, depth: usize) -> Module {
    let length = (0..=path.len()).rev().find(|length| all.contains_key(&path[..*length])).unwrap_or_default();
    let (module, rest) = path.split_at(length);
    let elsewhere = rest.first().and_then(|name| all.get(module)?.names.get(name));
    match elsewhere {
        Some(other) if depth < 8 && other != path => {
            declares(&[&other[..], &rest[1..]].concat(), all, depth + 1)
        }
        _ => module.to_vec(),
    }
}

/// The modules of these texts, without those of tests, and the modules that each uses.
fn imports(texts: &BTreeMap<Module, String>) -> Imports {
    let skipped: BTreeSet<String> = texts.values().flat_map(|text| of_tests(text)).collect();
    let is_test = |module: &Module| module.iter().any(|part| skipped.contains(part));
    let has = |module: &Module| texts.contains_key(module) && !is_test(module);
    let all: BTreeMap<Module, Said> = texts
        .iter()
        .filter(|(module, _)| !is_test(module))
        .map(|(module, text)| (module.clone(), said(module, &code(text), &has)))
        .collect();
    let mut imports = Imports::new();
    for (module, said) in all.iter().filter(|(module, _)| !module.is_empty()) {
        let uses = said.uses.iter().map(|path| declares(path, &all, 0));
        let others = uses.filter(|other| other != module && !other.is_empty()).collect();
        imports.insert(module.clone(), others);
    }
    imports
}

fn texts(src: &Path) -> BTreeMap<Module, String> {
    let mut all = Vec::new();
    files(src, "rs", &mut all);
    let module = |path: &Path| -> Module {
        let parts = path.strip_prefix(src).expect("below it").iter().map(|part| stem(Path::new(part)));
        parts.filter(|part| !["mod", "lib", "main"].contains(&part.as_str())).collect()
    };
    let mut texts: BTreeMap<Module, String> = BTreeMap::new();
    for path in &all {
        // A program and a library have the same root.
        *texts.entry(module(path)).or_default() += &fs::read_to_string(path).expect("UTF-8");
    }
    texts
}

/// The same between the folders and files at the top.
fn at_top(imports: &Imports) -> Imports {
    let mut top = Imports::new();
    for (module, used) in imports {
        let others = used.iter().map(|used| used[..1].to_vec()).filter(|used| *used != module[..1]);
        top.entry(module[..1].to_vec()).or_default().extend(others);
    }
    top
}

/// The modules in circles of imports: what remains when modules that import none that remains, and those that none of them imports, are
/// removed again and again.
fn circle(imports: &Imports) -> Vec<String> {
    let mut rest: Vec<&Module> = imports.keys().collect();
    loop {
        let before = rest.clone();
        rest.retain(|name| {
            let is_used = before.iter().any(|other| imports[*other].contains(*name));
            is_used && before.iter().any(|other| imports[*name].contains(*other))
        });
        if rest.len() == before.len() {
            return rest.iter().map(|module| module.join("/")).collect();
        }
    }
}

#[test]
fn no_circle_of_files() {
    let (mut seen, mut faults) = (0, Vec::new());
    for entry in fs::read_dir(workspace().join("crates")).expect("crates") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let texts = texts(&path.join("src"));
        let mut imports = imports(&texts);
        seen += imports.len();
        let mut check = |what: &str, is_free: bool, imports: &Imports| {
            let circle = circle(imports);
            match is_free {
                true if circle.is_empty() => {}
                true => faults.push(format!("{name}: a circle {what}: {circle:?}")),
                false if circle.is_empty() => {
                    faults.push(format!("{name}: no circle {what} any more: guard it"))
                }
                false => {}
            }
        };
        if OTHERS.contains(&name) {
            check("of files", false, &imports);
            continue;
        }
        for (_, folder) in FOLDERS.iter().filter(|(of, _)| *of == name) {
            check(&format!("in {folder}"), false, &within(&mut imports, folder));
        }
        check("of files", true, &imports);
        check("of folders", true, &at_top(&imports));
        if !WITH_ROOT.contains(&name) {
            faults.extend(uses_of_root(&texts).into_iter().map(|fault| format!("{name}: {fault}")));
        }
    }
    assert!(seen > 600, "{seen} files");
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Takes out the imports inside of a folder.
fn within(imports: &mut Imports, folder: &str) -> Imports {
    let inside = imports.iter_mut().filter(|(module, _)| module[0] == folder);
    inside
        .map(|(module, used)| (module.clone(), used.extract_if(.., |used| used[0] == folder).collect()))
        .collect()
}

/// The files that use an item of the root.
fn uses_of_root(texts: &BTreeMap<Module, String>) -> Vec<String> {
    let skipped: BTreeSet<String> = texts.values().flat_map(|text| of_tests(text)).collect();
    let mut found = Vec::new();
    for (module, text) in texts.iter().filter(|(module, _)| !module.is_empty()) {
        if !module.iter().any(|part| skipped.contains(part)) {
            let said = said(module, &code(text), &|_| false);
            let of_root =
                said.uses.into_iter().filter(|path| !path.is_empty() && !texts.contains_key(&path[..1]));
            found.extend(
                of_root.map(|path| format!("{} uses {} of the root", module.join("/"), path.join("::"))),
            );
        }
    }
    found
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

/// Each file uses the next, by a path of another form; `a` names an item where it is declared, and where it is passed on.
#[test]
fn a_circle_is_found() {
    let module = |path: &str| -> Module { path.split('/').map(str::to_string).collect() };
    let read = |texts: &[(&str, &str)]| {
        imports(&texts.iter().map(|(path, text)| (module(path), (*text).to_string())).collect())
    };
    let mut texts = vec![
        ("a", "use crate::{b::{self, X as Y}, Error};"),
        ("b", "mod one;\npub use one::X;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}"),
        ("b/one", "fn f() -> super::two::Z { two() } // crate::a"),
        ("b/two", "use std::a;\npub(in super::super) mod x;"),
    ];
    let imports = read(&texts);
    assert_eq!(imports[&module("a")], BTreeSet::from([module("b"), module("b/one")]));
    assert!(imports[&module("b")].is_empty(), "it only passes X on");
    assert!(circle(&imports).is_empty() && circle(&at_top(&imports)).is_empty());
    texts[3].1 = "use super::X;";
    assert_eq!(circle(&read(&texts)), ["b/one", "b/two"]);
    texts[3].1 = "use crate::c;";
    texts.push(("c/deep", "use crate::b::one::W;"));
    texts.push(("c", "mod deep;"));
    assert!(circle(&read(&texts)).is_empty());
    assert_eq!(circle(&at_top(&read(&texts))), ["b", "c"], "between folders");
    assert_eq!(of_tests("#[cfg(test)]\n#[path = \"x\"]\nmod odd;\nmod even;"), ["odd"]);
    assert_eq!(code("a // b\n#[cfg(test)]\nmod tests {\n}"), "a \n");
    assert_eq!(expanded("a::{b, c::{d, e as f}}"), ["a::b", "a::c::d", "a::c::e"]);
}
