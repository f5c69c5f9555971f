//! What a program and the Python module are built from, as CycloneDX: cargo-cyclonedx writes it.

use std::path::{Path, PathBuf};

use super::build::Workshop;
use super::stage::VERSION;
use crate::step::{self, Result, Steps, cargo, or_told, read};
use crate::tools;

/// Each program, and the module, with the directory of its package.
const BUILT: &[(&str, &str)] = &[("dls", "crates/dls"), ("dents", "crates/dents-cli"), (MODULE, "python")];
/// The module in the wheel.
const MODULE: &str = "dents-python";

/// The list of the module, which is in the wheel too.
pub(super) fn of_module(out: &Path) -> PathBuf {
    out.join(format!("{MODULE}-{VERSION}.cdx.json"))
}

pub(super) fn write(steps: &mut Steps, workshop: &Workshop, out: &Path) -> Result<()> {
    let left_out = "the release has no list of what it is built from (SBOM)";
    let Some(tool) = or_told(tools::pinned(&tools::CYCLONEDX), left_out) else { return Ok(()) };
    for (program, package) in BUILT {
        let manifest = workshop.source.join(package).join("Cargo.toml");
        let name = format!("{program}-{VERSION}.cdx");
        let mut list = std::process::Command::new(&tool);
        list.args(["cyclonedx", "--format=json", "--spec-version=1.5", "--no-build-deps", "--manifest-path"]);
        list.arg(&manifest).args(["--override-filename", &name]).envs(workshop.environment(""));
        // The tool finds the packages by cargo.
        list.env("CARGO", cargo(["--version"]).get_program());
        if !steps.run(&format!("SBOM of {program}"), &mut list) {
            continue;
        }
        // The tool writes a file beside each manifest of the workspace.
        let file = manifest.with_file_name(format!("{name}.json"));
        let source = workshop.source.display().to_string();
        step::write(out.join(format!("{name}.json")), read(file)?.replace(&source, "/dents"))?;
    }
    Ok(())
}
