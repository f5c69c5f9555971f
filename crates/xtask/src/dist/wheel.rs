//! The Python package of a release: a wheel, which maturin builds.

use std::path::Path;

use super::build::Workshop;
use super::{licences, sbom};
use crate::python;
use crate::step::{Result, Steps, copy, or_told, read, write};

/// Builds the wheel, into `out`. Where the tools are missing, says so.
pub(super) fn build(steps: &mut Steps, workshop: &Workshop, out: &Path) -> Result<()> {
    let Some((_, tools)) = or_told(python::builders(), "the release has no wheel") else { return Ok(()) };
    let (wheels, project) = (workshop.staged.join("wheels"), workshop.source.join("python"));
    // In this copy maturin writes no SBOM: it would have the paths of this machine.
    let manifest = project.join("pyproject.toml");
    write(&manifest, read(&manifest)? + "\n[tool.maturin.sbom]\nrust = false\n")?;
    // Into the wheel goes each file beside the manifest that is called so.
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&workshop.source.join(licence), &project, licence)?;
    }
    write(project.join("LICENSE-THIRD-PARTY.txt"), licences::collect(&workshop.source, &licences::MODULE)?)?;
    let mut build = python::module(&tools, "maturin");
    build.args(["build", "--manifest-path"]).arg(project.join("Cargo.toml"));
    build.arg("--target-dir").arg(workshop.target.join("wheel"));
    build.arg("--out").arg(&wheels).envs(workshop.environment(""));
    let list = sbom::of_module(out);
    if list.is_file() {
        build.arg("--sbom-include").arg(list);
    }
    if steps.run("the wheel", &mut build) {
        let wheel = python::only_file(&wheels)?;
        python::tag_is_portable(&wheel)?;
        copy(&wheel, out, &wheel.file_name().unwrap_or_default().to_string_lossy())?;
    }
    Ok(())
}
