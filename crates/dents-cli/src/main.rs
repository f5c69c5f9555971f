//! The program `dents`: see the library of the same package.

use std::process::ExitCode;

fn main() -> ExitCode {
    dents_cli::main()
}
