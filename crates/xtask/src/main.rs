//! The project's own commands: `cargo xtask test`, `cargo xtask bench`.
//!
//! Few dependencies and small ones, so that the first thing a contributor runs compiles in seconds. Each command is a
//! list of steps, and prints the command of each.

mod api;
mod bars;
mod bench;
mod c_library;
mod dist;
mod docs;
#[cfg(test)]
mod flow;
mod fuzz;
mod listing;
mod pictures;
mod programs;
mod publish;
mod python;
mod step;
mod syscalls;
mod test;
#[cfg(test)]
mod tidy;
mod tools;
mod vm;
#[cfg(test)]
mod workflows;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test            check everything a change must pass: format, lints, both builds, all tests, docs, tidiness
  test WORD...    only the tests of these packages and suites, or with these words in their names; test --help
  model           run the engine's models with more preemptions: every interleaving, some minutes
  bench [--help]  measure beside GNU ls and others, into bench/results.tsv and the tables of it: ten minutes; --check compares
  fuzz [--seconds N] [--jobs N]
                  run each fuzz target for N seconds (60), with cargo-fuzz and a nightly compiler
  syscalls        count the system calls of listings beside GNU ls, into docs/SYSCALLS.md
  slowfs MOUNT    mount a slow, hung or lying file system to play with; slowfs --help says how
  disk IMAGE COMMAND
                  run a command on the file system of an image, on a rotating disk in miniature; disk --help
  vm KERNEL JOB   run a job in a virtual machine with a kernel of Debian's; without words it lists them
  docs            write the manual pages, the completions and the tables of the bench anew, from the flags and the results
  listing         write crates/dls/listing.ld anew: what short listings execute, to be linked side by side
  pictures        draw what dls shows on a terminal, into docs/pictures
  api             save the public interface of dents, into crates/dents/api.txt
  publish         make and build the archives of the packages for crates.io; upload nothing
  install-c       build the C library and install it: --prefix DIR; install-c --help
  wheel           build the Python package, install it in a clean virtual environment, and run all its tests there
  dist [--check | --test]
                  build the files of a release: tarball, Debian package, wheel, SBOM, checksums; dist --help
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["test", ref words @ ..] => test::run(words),
        ["model"] => test::model(),
        ["bench", ref rest @ ..] => bench::run(rest),
        ["docs"] => docs::run(),
        ["listing"] => listing::run(),
        ["pictures"] => pictures::run(),
        ["api"] => api::run(),
        ["install-c", ref rest @ ..] => c_library::run(rest),
        ["publish"] => publish::run(),
        ["dist", ref rest @ ..] => dist::run(rest),
        ["wheel"] => python::wheel(),
        ["fuzz", ref rest @ ..] => fuzz::run(rest),
        ["vm", ref rest @ ..] => vm::run(rest),
        ["syscalls"] => syscalls::run(),
        [program @ ("slowfs" | "disk"), ref rest @ ..] => return programs::run(program, rest),
        ["--help" | "help"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}
