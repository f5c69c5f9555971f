//! The program `dents`: see the library of the same package.

use std::process::ExitCode;

dents_sys::closed_stdout_fails!();
dents_sys::exhausted_memory_fails!("dents");

fn main() -> ExitCode {
    dents_cli::main()
}
