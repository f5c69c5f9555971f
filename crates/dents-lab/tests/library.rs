//! The programs of docs/COMPARE.md: those with `dents` in a fresh crate that has nothing else, those with `walkdir`, `ignore` and
//! `jwalk` in another. Each must print what `std` finds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dents_lab::fixture::{self, TempDir, copy_program};
use dents_lab::oracle::target_dir;

/// The others, in the versions that Cargo.lock has.
const OTHERS: &[&str] = &["walkdir", "ignore", "jwalk"];
const TASKS: &[&str] =
    &["Every entry with its size", "One directory", "A sum in parallel", "Subdirectories and others"];

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/dents-lab is in a workspace")
}

/// The blocks of the page, by library and task.
fn programs() -> BTreeMap<(String, String), String> {
    let page = fs::read_to_string(workspace().join("docs/COMPARE.md")).expect("it is there");
    let mut programs = BTreeMap::new();
    for section in page.split("\n## ").skip(1) {
        let task = section.lines().next().unwrap_or_default();
        for block in section.split("```rust\n").skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            let (library, code) = block.split_once('\n').expect("a block has lines");
            let library = library.strip_prefix("// ").expect("a block begins with its library");
            let old = programs.insert((library.to_string(), task.to_string()), code.to_string());
            assert!(old.is_none(), "{task} has two programs with {library}");
        }
    }
    programs
}

/// A crate in `place` with these dependencies, and a program for each task of each library.
fn crate_with(place: &Path, dependencies: &str, libraries: &[&str]) -> PathBuf {
    let programs = programs();
    let (mut functions, mut arms) = (String::new(), String::new());
    for library in libraries {
        for (number, task) in TASKS.iter().enumerate() {
            let code = &programs[&(library.to_string(), task.to_string())];
            let function = format!("{library}_{number}");
            functions += &format!(
                "fn {function}(root: &str) -> Result<(), Box<dyn std::error::Error>> {{\n{code}Ok(())\n}}\n"
            );
            arms += &format!("\"{function}\" => {function}(&root),\n");
        }
    }
    let main = format!(
        "fn main() -> Result<(), Box<dyn std::error::Error>> {{\nlet mut args = std::env::args().skip(1);\n\
         let (task, root) = (args.next().unwrap(), args.next().unwrap());\nmatch task.as_str() {{\n{arms}_ => unreachable!(),\n}}\n}}\n{functions}"
    );
    fs::create_dir_all(place.join("src")).expect("a directory");
    fs::write(place.join("src/main.rs"), main).expect("a file");
    let manifest = format!(
        "[package]\nname = \"fresh\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}\n[workspace]\n"
    );
    fs::write(place.join("Cargo.toml"), manifest).expect("a file");
    fs::copy(workspace().join("Cargo.lock"), place.join("Cargo.lock")).expect("a file");
    let target = target_dir().join("fresh");
    let build = |network: &[&str]| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet"]).args(network).current_dir(place);
        cargo
            .env("CARGO_TARGET_DIR", &target)
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .output()
            .expect("cargo runs")
    };
    // Packages that this workspace was built with need no network; others are fetched.
    let mut output = build(&["--offline"]);
    if !output.status.success() {
        output = build(&[]);
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The next crate takes its place in the target directory.
    let program = place.join("program");
    copy_program(&target.join("debug/fresh"), &program);
    program
}

/// Paths and sizes of everything at and below `root`, as std finds them.
fn all(root: &Path, found: &mut Vec<(PathBuf, u64)>) {
    let metadata = fs::symlink_metadata(root).expect("it is there");
    found.push((root.to_path_buf(), metadata.len()));
    if metadata.is_dir() {
        for entry in fs::read_dir(root).expect("it can be read") {
            all(&entry.expect("an entry").path(), found);
        }
    }
}

/// The expected output of each task, its lines sorted.
fn expected(root: &Path) -> [Vec<String>; 4] {
    let mut found = Vec::new();
    all(root, &mut found);
    let mut sizes: Vec<String> =
        found.iter().map(|(path, size)| format!("{size} {}", path.display())).collect();
    let bytes: u64 = found.iter().map(|(_, size)| size).sum();
    let entries = fs::read_dir(root).expect("it can be read").map(|entry| entry.expect("an entry"));
    let entries: Vec<(bool, String)> = entries
        .map(|entry| (entry.file_type().expect("a type").is_dir(), entry.file_name().display().to_string()))
        .collect();
    let directories = entries.iter().filter(|entry| entry.0).count();
    let others = entries.len() - directories;
    let mut names: Vec<String> = entries.iter().map(|(is_dir, name)| format!("{is_dir} {name}")).collect();
    sizes.sort();
    names.sort();
    [
        sizes,
        names,
        vec![format!("{bytes} bytes, 0 errors")],
        vec![format!("{directories} directories, {others} others")],
    ]
}

/// Runs each program over a tree and compares.
fn compare(program: &Path, libraries: &[&str]) {
    let tree = fixture::mix(&std::env::temp_dir(), 200).expect("a tree");
    for (number, text) in ["", "one", "two and three"].iter().enumerate() {
        let below = tree.path().join(format!("dir0/{number}"));
        fs::create_dir(&below).expect("a directory");
        fs::write(below.join("file"), text).expect("a file");
    }
    let expected = expected(tree.path());
    assert!(expected[0].len() > 200 && expected[1].len() == 200);
    for library in libraries {
        for (number, expected) in expected.iter().enumerate() {
            let mut run = Command::new(program);
            run.arg(format!("{library}_{number}")).arg(tree.path());
            let mut output = run.output().expect("the program runs");
            // jwalk fails where its threads do not start within a second.
            for _ in 0..3 {
                if !output.status.success() && *library == "jwalk" {
                    output = run.output().expect("the program runs");
                }
            }
            assert!(output.status.success(), "{library}: {}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8(output.stdout).expect("names are UTF-8");
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_unstable();
            assert_eq!(&lines, expected, "{} with {library}", TASKS[number]);
        }
    }
}

#[test]
fn programs_of_each_library_print_what_std_finds() {
    let programs = programs();
    let libraries: Vec<&str> = ["dents"].iter().chain(OTHERS).copied().collect();
    assert_eq!(programs.len(), TASKS.len() * libraries.len(), "docs/COMPARE.md: {:?}", programs.keys());

    let fresh = TempDir::new("fresh").expect("a directory");
    let dents = workspace().join("crates/dents");
    let program = crate_with(fresh.path(), &format!("dents = {{ path = {dents:?} }}\n"), &["dents"]);
    compare(&program, &["dents"]);

    let others = TempDir::new("fresh").expect("a directory");
    let dependencies = "walkdir = \"2\"\nignore = \"0.4\"\njwalk = \"0.8\"\n";
    let program = crate_with(others.path(), dependencies, OTHERS);
    compare(&program, OTHERS);
}
