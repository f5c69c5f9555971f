//! Programs that must be on the machine: found, or installed as root on Debian, or named in an error.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{Result, cargo, target_dir};

/// A program (or a file) that a command needs, and the Debian package that has it.
pub(crate) struct Tool {
    /// A program searched in the usual directories, or the absolute path of a file.
    pub(crate) needs: &'static str,
    /// The package.
    pub(crate) package: &'static str,
}

const fn tool(needs: &'static str, package: &'static str) -> Tool {
    Tool { needs, package }
}

/// Programs that the tests use.
pub(crate) const FOR_TESTS: &[Tool] = &[
    tool("strace", "strace"),
    tool("setfacl", "acl"),
    tool("setfattr", "attr"),
    tool("setcap", "libcap2-bin"),
    tool("setpriv", "util-linux"),
    tool("setsid", "util-linux"),
    tool("prlimit", "util-linux"),
    tool("dircolors", "coreutils"),
    tool("git", "git"),
    tool("gcc", "gcc"),
    tool("g++", "g++"),
    tool("clang", "clang"),
    tool("pkg-config", "pkg-config"),
    tool("valgrind", "valgrind"),
    tool("fusermount3", "fuse3"),
    tool("fakeroot", "fakeroot"),
    tool("faketime", "faketime"),
    tool("tmux", "tmux"),
    tool("zsh", "zsh"),
    tool("fish", "fish"),
    tool("ncdu", "ncdu"),
    tool("mkfs.ext4", "e2fsprogs"),
    tool("mkfs.xfs", "xfsprogs"),
    tool("mkfs.btrfs", "btrfs-progs"),
    tool("/usr/share/zoneinfo/Europe/Berlin", "tzdata"),
    tool("/usr/share/i18n/locales/en_US", "locales"),
];

/// Opens the page of `dents report`.
const FOR_PAGES: &[Tool] = &[tool("chromium", "chromium")];

/// Programs that the benches use.
pub(crate) const FOR_BENCHES: &[Tool] =
    &[tool("hyperfine", "hyperfine"), tool("cc", "gcc"), tool("strace", "strace"), tool("setfacl", "acl")];

/// Checks the Debian package of a release.
pub(crate) const FOR_DEBIAN: &[Tool] = &[tool("lintian", "lintian")];

/// Make the Debian root in which the package is tried, in a user namespace.
pub(crate) const FOR_TRIAL: &[Tool] = &[tool("mmdebstrap", "mmdebstrap"), tool("newuidmap", "uidmap")];

/// Make and run virtual machines.
pub(crate) const FOR_MACHINES: &[Tool] = &[
    tool("qemu-system-x86_64", "qemu-system-x86"),
    tool("mmdebstrap", "mmdebstrap"),
    tool("mke2fs", "e2fsprogs"),
    tool("timeout", "coreutils"),
];

/// A program that is built from its source, in one version: another one might write other bytes.
pub(crate) struct Pinned {
    program: &'static str,
    version: &'static str,
    from: Source,
}

/// Who builds a pinned program.
enum Source {
    /// Cargo, from the package of the same name.
    Cargo,
    /// Go, from this module.
    Go(&'static str),
}

/// Makes the Debian package of a release.
pub(crate) const CARGO_DEB: Pinned = Pinned { program: "cargo-deb", version: "3.8.0", from: Source::Cargo };
/// Lists what a program is built from.
pub(crate) const CYCLONEDX: Pinned =
    Pinned { program: "cargo-cyclonedx", version: "0.5.9", from: Source::Cargo };
/// Checks the workflows of a forge.
pub(crate) const ACTIONLINT: Pinned = Pinned {
    program: "actionlint",
    version: "1.7.7",
    from: Source::Go("github.com/rhysd/actionlint/cmd/actionlint"),
};

/// The path of a pinned program, which is installed below the target directory if it is missing.
pub(crate) fn pinned(tool: &Pinned) -> Result<PathBuf> {
    if let Some(path) = installed(tool) {
        return Ok(path);
    }
    let Pinned { program, version, from } = tool;
    println!("== installing {program} {version}");
    let root = root_of(tool);
    let mut install = match from {
        Source::Cargo => {
            let mut install = cargo(["install", "--quiet", "--locked", program, "--version", version]);
            install.arg("--root").arg(&root);
            install
        }
        Source::Go(module) => {
            let mut install = Command::new("go");
            install.args(["install", &format!("{module}@v{version}")]).env("GOBIN", root.join("bin"));
            install
        }
    };
    let _ = install.stdin(Stdio::null()).status();
    installed(tool).ok_or_else(|| format!("{program} {version} could not be installed"))
}

/// The path of a pinned program, if it is installed.
pub(crate) fn installed(tool: &Pinned) -> Option<PathBuf> {
    Some(root_of(tool).join("bin").join(tool.program)).filter(|path| path.is_file())
}

fn root_of(tool: &Pinned) -> PathBuf {
    target_dir().join("tools").join(format!("{}-{}", tool.program, tool.version))
}

/// Installs missing `tools`: as root on Debian and its derivatives by apt-get; otherwise a message says what to
/// install.
pub(crate) fn ensure(tools: &[Tool]) -> Result<()> {
    let mut packages = missing(tools);
    if packages.is_empty() {
        return Ok(());
    }
    if is_root() && present("apt-get") {
        println!("== installing {}", packages.join(" "));
        let mut update = Command::new("apt-get");
        let _ = update.args(["update", "-qq"]).stdin(Stdio::null()).status();
        let mut install = Command::new("apt-get");
        install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(&packages);
        let _ = install.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).status();
        packages = missing(tools);
    }
    if packages.is_empty() {
        return Ok(());
    }
    Err(format!(
        "missing, please install first (names as in Debian): sudo apt-get install {}",
        packages.join(" ")
    ))
}

/// Installs what opens pages, where Node.js is there, which drives it. It is large, and not to be had everywhere: without it the tests of pages
/// say that they test nothing.
pub(crate) fn ensure_browser() {
    if present("node")
        && present("npm")
        && let Err(why) = ensure(FOR_PAGES)
    {
        println!("\n== the page of dents report is not tested in a browser: {why}");
    }
}

/// The locales that the tests compare in, beside C and C.UTF-8.
pub(crate) const LOCALES: &[&str] = &["en_US", "fr_FR", "de_DE", "sv_SE", "ja_JP", "tr_TR"];

/// Whether these locales are installed with UTF-8. As root, missing ones are generated first.
pub(crate) fn locales(names: &[&str]) -> bool {
    let installed = || {
        let output = Command::new("locale").arg("-a").stderr(Stdio::null()).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    };
    let missing = |list: String| -> Vec<String> {
        let there = |name: &&&str| !list.lines().any(|line| line == format!("{name}.utf8"));
        names.iter().filter(there).map(|name| name.to_string()).collect()
    };
    for name in missing(installed()) {
        if is_root() {
            println!("== generating the locale {name}.UTF-8");
            let mut define = Command::new("localedef");
            define.args(["-i", &name, "-f", "UTF-8", &format!("{name}.UTF-8")]).stdin(Stdio::null());
            let _ = define.status();
        }
    }
    missing(installed()).is_empty()
}

fn missing(tools: &[Tool]) -> Vec<&'static str> {
    let mut packages: Vec<&str> =
        tools.iter().filter(|tool| !present(tool.needs)).map(|tool| tool.package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

fn present(needs: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let usual = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
    let mut dirs = path.split(':').chain(usual);
    if needs.starts_with('/') {
        Path::new(needs).exists()
    } else {
        dirs.any(|dir| Path::new(dir).join(needs).is_file())
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}
