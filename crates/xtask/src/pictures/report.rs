//! The picture of a page of `dents report`, by Chromium.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::svg::PLACE;
use crate::step::{Result, Steps, cargo, target_dir, workspace};

/// What the page is about: a tree that every machine has.
const TREE: &str = "/usr";
/// Width and height.
const SIZE: &str = "1000,900";

/// Draws the page in light and dark. Without Chromium, says so.
pub(super) fn draw() -> Result<()> {
    let Some(chromium) =
        ["/usr/bin/chromium", "/usr/bin/google-chrome"].into_iter().find(|path| Path::new(path).is_file())
    else {
        println!("== without Chromium: the pictures of dents report stay as they are");
        return Ok(());
    };
    let mut steps = Steps::default();
    steps.run("dents", &mut cargo(["build", "--release", "--package", "dents-cli"]));
    let page = target_dir().join("report.html");
    let mut report = Command::new(target_dir().join("release/dents"));
    steps.run("a report", report.args(["report", TREE, "--output"]).arg(&page));
    // The numbers of Chromium's settings.
    for (theme, number) in [("dark", 0), ("light", 1)] {
        let picture: PathBuf = workspace().join(PLACE).join(format!("report-{theme}.png"));
        let mut browser = Command::new(chromium);
        browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
        browser.arg(format!("--window-size={SIZE}")).arg(format!("--screenshot={}", picture.display()));
        browser.arg(format!("--blink-settings=preferredColorScheme={number}"));
        browser.arg(format!("file://{}", page.display())).stderr(Stdio::null());
        steps.run(&format!("the {theme} picture of the report"), &mut browser);
    }
    steps.finish()
}
