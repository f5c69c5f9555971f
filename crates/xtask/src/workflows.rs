//! The workflows of a forge only call `cargo xtask`: what they check can be run on any machine.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::step::workspace;
use crate::tools;

fn workflows() -> Vec<PathBuf> {
    let dir = workspace().join(".github/workflows");
    let entries = fs::read_dir(dir).expect(".github/workflows is there");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// What each `run:` of a workflow executes; a block of lines is its indicator, `|` or `>`.
fn commands(workflow: &str) -> Vec<&str> {
    let keys = workflow.lines().map(|line| line.trim_start().trim_start_matches("- ").trim_start());
    keys.filter_map(|key| key.strip_prefix("run:")).map(str::trim).collect()
}

/// One command, without anything that a shell would execute beside it.
fn is_xtask(command: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_.=".contains(c);
    command.starts_with("cargo xtask ") && command.chars().all(is_plain)
}

#[test]
fn workflows_only_call_xtask() {
    let files = workflows();
    assert!(!files.is_empty());
    for file in files {
        let text = fs::read_to_string(&file).expect("workflows are UTF-8");
        let commands = commands(&text);
        assert!(!commands.is_empty(), "{} runs nothing", file.display());
        for command in commands {
            assert!(is_xtask(command), "{} runs '{command}', not `cargo xtask`", file.display());
        }
    }
    assert_eq!(commands("  - run: a b\n    run: |\n  - name: run: c\n"), ["a b", "|"]);
    assert!(is_xtask("cargo xtask fuzz --seconds 600"));
    assert!(!is_xtask("|") && !is_xtask("cargo xtask test; curl x") && !is_xtask("make"));
}

#[test]
fn actionlint_finds_no_fault() {
    // `cargo xtask test` installs it, where it can.
    let Some(program) = tools::installed(&tools::ACTIONLINT) else {
        return println!("without actionlint: the workflows are not linted");
    };
    let mut lint = Command::new(program);
    let output = lint.args(workflows()).current_dir(workspace()).output().expect("actionlint runs");
    let faults = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{faults}{}", String::from_utf8_lossy(&output.stderr));
}
