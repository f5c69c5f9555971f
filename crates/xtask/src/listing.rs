//! `cargo xtask listing`: writes `crates/dls/listing.ld`, the functions that listings of a few files execute, which the
//! linker places side by side.
//!
//! The kernel maps a program's code 64 KiB at a time, 1 to 2 µs each. In the compiler's order, the functions of a short
//! listing lie in a dozen such windows; side by side, in four. The command builds `dls` with its symbols, executes short
//! listings instruction by instruction (`ptrace`), and notes the function that each instruction belongs to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use regex_lite::Regex;

use crate::step::{Result, cargo, spell, target_dir, workspace};
use crate::tools;

/// The listings of ten files whose functions are listed.
const LISTINGS: &[&[&str]] =
    &[&[], &["-al"], &["-l", "--color=always"], &["-C", "--color=always"], &["-A"], &["-F"]];

/// The environments of these listings. The functions of the first one come first in the list, then those that each of
/// the others needs in addition: so a listing in C touches no window because of other locales.
const ENVIRONMENTS: &[&[(&str, &str)]] = &[
    &[("LANG", "C.UTF-8")],
    &[
        ("LANG", "C.UTF-8"),
        ("TZ", "CET-1CEST,M3.5.0,M10.5.0/3"),
        ("LS_COLORS", "di=01;34:ln=01;36:ex=01;32:*.gz=01;31"),
    ],
    &[("LANG", "en_US.UTF-8")],
];

const HEAD: &str = "\
/* Functions that short listings execute, side by side: fewer pages are touched. Written by `cargo xtask listing`; a name
 * that no longer fits does no harm. */
SECTIONS {
    .text.listing : {
";

pub(crate) fn run() -> Result<()> {
    if !tools::locales(&["en_US"]) {
        return Err("the locale en_US.UTF-8 is missing, please generate it first (localedef)".to_string());
    }
    let program = build()?;
    let directory = ten_files().map_err(|error| format!("ten files to list: {error}"))?;
    let functions = Functions::read(&program)?;
    let mut listed: Vec<String> = Vec::new();
    for environment in ENVIRONMENTS {
        let mut names = BTreeSet::new();
        for options in LISTINGS {
            let mut dls = Command::new(&program);
            dls.args(*options)
                .arg(&directory)
                .env("TERM", "xterm-256color")
                .envs(environment.iter().copied());
            let steps = functions.executed(&dls, &mut names);
            let steps =
                steps.map_err(|error| format!("dls cannot be executed step by step (ptrace): {error}"))?;
            println!("{steps:8} instructions  {}", spell(&dls));
        }
        let new: Vec<String> = patterns(&names).into_iter().filter(|name| !listed.contains(name)).collect();
        listed.extend(new);
    }
    let path = workspace().join("crates/dls/listing.ld");
    let lines: String = listed.iter().map(|name| format!("        *(.text*.{name})\n")).collect();
    fs::write(&path, format!("{HEAD}{lines}    }}\n}}\nINSERT BEFORE .text;\n"))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{}: {} functions", path.display(), listed.len());
    Ok(())
}

/// The release build of `dls`, with the names of its functions, beside the one that tests and users execute.
fn build() -> Result<PathBuf> {
    let target = target_dir().join("symbols");
    let mut build = cargo(["build", "--release", "--quiet", "--package", "dents-ls", "--target-dir"]);
    let status = build.arg(&target).env("CARGO_PROFILE_RELEASE_STRIP", "false").status();
    status.map_err(|error| error.to_string())?.success().then_some(()).ok_or("dls does not build")?;
    Ok(target.join("release/dls"))
}

fn ten_files() -> std::io::Result<PathBuf> {
    let directory = target_dir().join("symbols/ten");
    fs::create_dir_all(&directory)?;
    for number in 0..10 {
        fs::write(directory.join(format!("file{number}")), "")?;
    }
    Ok(directory)
}

/// The functions of a program, by address.
struct Functions(Vec<(u64, u64, String)>);

impl Functions {
    fn read(program: &Path) -> Result<Functions> {
        let bytes = fs::read(program).map_err(|error| format!("{}: {error}", program.display()))?;
        let file = object::File::parse(&*bytes).map_err(|error| format!("{}: {error}", program.display()))?;
        let symbols = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
        let mut functions: Vec<_> = symbols
            .filter_map(|symbol| {
                Some((symbol.address(), symbol.address() + symbol.size(), symbol.name().ok()?.to_string()))
            })
            .collect();
        functions.sort();
        Ok(Functions(functions))
    }

    fn at(&self, address: u64) -> Option<&(u64, u64, String)> {
        let after = self.0.partition_point(|function| function.0 <= address);
        self.0[..after].last().filter(|function| address < function.1)
    }

    /// Executes a command step by step, adds the functions of its first thread to `names` and returns the number of steps.
    fn executed(&self, command: &Command, names: &mut BTreeSet<String>) -> nix::Result<u64> {
        let (mut child, pid) = stopped_at_start(command)?;
        let mut steps = 0;
        let mut last = 0..0;
        let mut signal = None;
        loop {
            let address = instruction(pid)?;
            if !last.contains(&address) {
                last = match self.at(address) {
                    Some((start, end, name)) => {
                        names.insert(name.clone());
                        *start..*end
                    }
                    None => 0..0,
                };
            }
            ptrace::step(pid, signal.take())?;
            steps += 1;
            match waitpid(pid, None)? {
                WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
                WaitStatus::Stopped(_, other) => signal = Some(other),
                _ => break,
            }
        }
        let _ = child.wait();
        Ok(steps)
    }
}

/// The address of the next instruction of a stopped process.
#[cfg(target_arch = "x86_64")]
fn instruction(pid: Pid) -> nix::Result<u64> {
    Ok(ptrace::getregs(pid)?.rip)
}

/// The list is for the program without libc, which exists on x86-64 alone.
#[cfg(not(target_arch = "x86_64"))]
fn instruction(_: Pid) -> nix::Result<u64> {
    Err(nix::Error::ENOSYS)
}

/// Starts a command as a traced process that stops before its first instruction. A shell stops itself, is traced from
/// there on, and executes the command: so no code of ours runs between `fork` and `execve`.
fn stopped_at_start(command: &Command) -> nix::Result<(Child, Pid)> {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "kill -STOP $$; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args());
    // Only the command's own environment, because it decides which functions are executed.
    let own = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    shell.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).envs(own);
    let child = shell.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    let child = child.map_err(|error| nix::Error::try_from(error).unwrap_or(nix::Error::EINVAL))?;
    let pid = Pid::from_raw(child.id() as i32);
    waitpid(pid, Some(WaitPidFlag::WUNTRACED))?;
    ptrace::seize(pid, Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_EXITKILL)?;
    nix::sys::signal::kill(pid, Signal::SIGCONT)?;
    loop {
        match waitpid(pid, None)? {
            WaitStatus::PtraceEvent(_, _, event) if event == ptrace::Event::PTRACE_EVENT_EXEC as i32 => break,
            WaitStatus::Stopped(_, signal) if signal != Signal::SIGTRAP && signal != Signal::SIGCONT => {
                ptrace::cont(pid, signal)?;
            }
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => return Err(nix::Error::ENOEXEC),
            _ => ptrace::cont(pid, None)?,
        }
    }
    Ok((child, pid))
}

/// The Rust functions among `names`, without hashes, which differ from compiler to compiler and from machine to
/// machine.
fn patterns(names: &BTreeSet<String>) -> BTreeSet<String> {
    let hash = Regex::new("17h[0-9a-f]{16}E.*$").expect("a pattern");
    let disambiguator = Regex::new("Cs[0-9A-Za-z]+_").expect("a pattern");
    let rust = names.iter().filter(|name| name.starts_with("_ZN") || name.starts_with("_RNv"));
    rust.map(|name| disambiguator.replace_all(&hash.replace(name, "17h*"), "Cs*_").into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_become_wildcards() {
        let names =
            ["_ZN3dls3run17h0123456789abcdefE.llvm.7", "_RNvCs9aZ_7___rustc14___rust_realloc", "memcpy"];
        let names = names.map(String::from).into();
        let patterns: Vec<String> = patterns(&names).into_iter().collect();
        assert_eq!(patterns, ["_RNvCs*_7___rustc14___rust_realloc", "_ZN3dls3run17h*"]);
    }
}
