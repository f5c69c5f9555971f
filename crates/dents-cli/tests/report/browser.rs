//! The page in Chromium: `browser.cjs` asserts. Without Chromium, Node or npm the test says so.

use super::run;
use crate::tools::{linked_tree, name, stdout};
use dents_lab::fixture::TempDir;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages of npm that drive the browser, and check accessibility.
const PACKAGES: [&str; 2] = ["playwright-core@1.65.1", "axe-core@4.14.1"];

fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| dirs.iter().map(|dir| dir.join(name)).find(|path| path.is_file()))
}

/// The directory with the packages, which npm installs once.
fn packages() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-npm");
    let modules = dir.join("node_modules");
    let wanted = PACKAGES.join("\n");
    if fs::read_to_string(dir.join("installed")).ok().as_deref() == Some(&wanted) {
        return Some(modules);
    }
    fs::create_dir_all(&dir).ok()?;
    fs::write(dir.join("package.json"), r#"{"private":true}"#).ok()?;
    let mut npm = Command::new(program(&["npm"])?);
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]).args(PACKAGES);
    npm.current_dir(&dir).status().ok().filter(|status| status.success())?;
    fs::write(dir.join("installed"), wanted).ok()?;
    Some(modules)
}

/// A tree with names that look like markup, directories of different sizes, and a scan from before.
fn pages() -> TempDir {
    let dir = linked_tree();
    let root = dir.path().join("t");
    stdout(&run(dir.path(), "scan -o old.parquet t"));
    for (sub, size) in
        [("big/inner", 900_000), ("big/other", 300_000), ("<img src=x onerror=hacked()>", 200_000)]
    {
        fs::create_dir_all(root.join(sub)).expect("directories");
        fs::write(root.join(sub).join("data.bin"), vec![b'x'; size]).expect("a file");
    }
    let odd = root.join(name(b"caf\xe9"));
    fs::create_dir(&odd).expect("a directory");
    fs::write(odd.join("\u{202e}gpj.exe"), vec![b'x'; 150_000]).expect("a file");
    fs::write(root.join("big").join("<script>hacked()<\u{2215}script>.txt"), [b'x'; 50_000]).expect("a file");
    for nth in 0..30 {
        fs::write(root.join(format!("big/inner/{nth}.Ext{nth}")), vec![b'x'; 1000 * nth]).expect("files");
    }
    dents_lab::fixture::settle(dir.path()).expect("settled");
    stdout(&run(dir.path(), "report -o page.html --since old.parquet t"));
    let grown = dir.path().join("u/<b>grown");
    fs::create_dir_all(&grown).expect("directories");
    fs::create_dir(dir.path().join("u/same")).expect("a directory");
    fs::rename(&root, dir.path().join("kept")).expect("moved");
    fs::rename(dir.path().join("u"), &root).expect("moved");
    for nth in 1..=3 {
        let size = 200_000 * nth;
        fs::write(root.join("<b>grown").join(format!("{nth}")), vec![b'x'; size]).expect("a file");
        dents_lab::fixture::settle(dir.path()).expect("settled");
        stdout(&run(dir.path(), &format!("scan -o {nth}.parquet t")));
        std::thread::sleep(std::time::Duration::from_millis(1100));
    }
    stdout(&run(dir.path(), "report -o series.html 2.parquet 3.parquet 1.parquet"));
    dir
}

#[test]
fn the_page_in_chromium() {
    let Some(chromium) = program(&["chromium", "chromium-browser", "google-chrome", "chrome"]) else {
        return println!("without Chromium: the page of dents report is not tested in a browser");
    };
    let (Some(node), Some(modules)) = (program(&["node"]), packages()) else {
        return println!(
            "without Node, or its packages: the page of dents report is not tested in a browser"
        );
    };
    let dir = pages();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/browser.cjs");
    let mut test = Command::new("timeout");
    test.args(["120".as_ref(), node.as_os_str()]).arg(script).arg(chromium);
    test.args(["page.html", "series.html"].map(|page| dir.path().join(page)));
    // The browser writes into its home.
    let output = test.env("NODE_PATH", modules).env("HOME", dir.path()).output().expect("node runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.ends_with("all is well\n"), "{out}\n{err}");
}
