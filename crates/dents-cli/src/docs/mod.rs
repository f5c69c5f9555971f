//! The manual pages and the completions of `dents`, made from the same declarations as `--help`, and the test that keeps
//! them up to date. The test compares; if [`WRITE`] is set, as by `cargo xtask docs`, it writes the files.

mod bash;
mod commands;

use clap::Command;
use clap::builder::PossibleValue;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use commands::{MARK, all, is_list, name, offered};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// If this variable is set, the test writes the files instead of comparing them.
const WRITE: &str = "DLS_WRITE_DOCS";

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A path in the workspace, and the contents of the file.
fn files() -> Vec<(String, String)> {
    let mut files = pages();
    for (shell, name) in [(Shell::Bash, "dents.bash"), (Shell::Zsh, "_dents"), (Shell::Fish, "dents.fish")] {
        files.push((format!("completions/{name}"), completion(shell)));
    }
    files
}

/// The clap command of `dents`, every subcommand under its full name. The subcommand `help` is left out.
fn program() -> Command {
    let mut program = crate::command().disable_help_subcommand(true);
    program.build();
    program
}

/// One for `dents`, which names the others, and one for each command.
fn pages() -> Vec<(String, String)> {
    let program = program();
    let named = all(&program).into_iter().map(|command| (format!("man/{}.1", name(command)), page(command)));
    std::iter::once(("man/dents.1".into(), page(&program))).chain(named).collect()
}

fn page(command: &Command) -> String {
    let man =
        Man::new(command.clone()).title(name(command)).source(concat!("dents ", env!("CARGO_PKG_VERSION")));
    let mut out = format!(".\\\" {MARK}\n").into_bytes();
    let done = man.render_title(&mut out).and_then(|()| man.render_name_section(&mut out));
    done.expect("memory takes it");
    out.extend_from_slice(synopsis(command).as_bytes());
    let done = man.render_description_section(&mut out).and_then(|()| man.render_options_section(&mut out));
    done.expect("memory takes it");
    if command.has_subcommands() {
        man.render_subcommands_section(&mut out).expect("memory takes it");
    }
    if let Some(text) = command.get_after_help() {
        out.extend_from_slice(remarks(&text.to_string()).as_bytes());
    }
    let page = String::from_utf8(out).expect("help is UTF-8");
    page.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

/// The synopsis of `--help`. clap_mangen would put all options into one line, which is hard to read.
fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let (name, rest) = usage.find(" [").or(usage.find(" <")).map_or((usage, ""), |at| usage.split_at(at));
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text([bold(name), roman(rest)]);
    roff.to_roff()
}

/// The text after the options: a section for each paragraph. A paragraph begins with its heading and a colon. If nothing else is in
/// that line, the columns of the following lines are kept.
fn remarks(text: &str) -> String {
    let mut roff = Roff::new();
    for paragraph in text.split("\n\n") {
        let (first, rest) = paragraph.split_once(':').expect("a paragraph begins with its heading");
        let (heading, about) = first.split_once(", ").unwrap_or((first, ""));
        roff.control("SH", [heading.to_uppercase().as_str()]);
        match rest.strip_prefix('\n') {
            None => {
                roff.text([roman(rest.trim_start())]);
            }
            Some(table) => {
                if !about.is_empty() {
                    roff.text([roman(format!("{about}:"))]).control("PP", []);
                }
                roff.control("nf", []);
                for line in table.lines() {
                    roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
                }
                roff.control("fi", []);
            }
        }
    }
    roff.to_roff()
}

/// The script with lists in place of the single words that clap's generators offer: the shells go on behind a comma. `_values` of zsh
/// cannot offer a word with a colon.
fn with_lists(shell: Shell, mut script: String) -> String {
    let program = program();
    for arg in all(&program).into_iter().flat_map(Command::get_arguments).filter(|arg| is_list(arg)) {
        let words = offered(arg);
        if words.is_empty() {
            continue;
        }
        let about = |word: &PossibleValue| word.get_help().map(ToString::to_string).unwrap_or_default();
        let each = |line: &dyn Fn(&str, &str) -> String, between: &str| {
            words.iter().map(|word| line(word.get_name(), &about(word))).collect::<Vec<_>>().join(between)
        };
        let (from, to) = match shell {
            Shell::Zsh if words.iter().all(|word| word.get_help().is_none()) => {
                let plain = each(&|word, _| word.to_owned(), " ");
                (format!(":({plain})"), format!(":_values -s , word {plain}"))
            }
            Shell::Zsh => (
                format!(
                    "(({}))",
                    each(&|word, about| format!("{}\\:\"{about}\"", word.replace(':', "\\:")), "\n")
                ),
                format!(
                    "_values -s , word {}",
                    each(
                        &|word, about| if word.contains(':') {
                            String::new()
                        } else {
                            format!("\"{word}[{about}]\"")
                        },
                        " "
                    )
                ),
            ),
            _ => (
                format!("-a \"{}\"", each(&|word, about| format!("{word}\\t'{about}'"), "\n")),
                format!(
                    "-a '(__fish_complete_list , \"printf \\\"{}\\\"\")'",
                    each(&|word, about| format!("{word}\\\\t{about}\\\\n"), "")
                ),
            ),
        };
        assert!(script.contains(&from) || script.contains(&to), "clap writes lists in another way: {from}");
        script = script.replace(&from, &to);
    }
    script
}

fn completion(shell: Shell) -> String {
    if shell == Shell::Bash {
        return bash::script(&program());
    }
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut program(), "dents", &mut out);
    let script = with_lists(shell, String::from_utf8(out).expect("help is UTF-8"));
    // zsh wants `#compdef` in the first line.
    let (first, rest) = script.split_once('\n').expect("more than a line");
    let text = match first.starts_with("#compdef") {
        true => format!("{first}\n# {MARK}\n{rest}"),
        false => format!("# {MARK}\n{script}"),
    };
    text.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

#[test]
fn are_up_to_date() {
    let mut stale = Vec::new();
    for (path, text) in files() {
        let at = workspace().join(&path);
        if fs::read_to_string(&at).is_ok_and(|found| found == text) {
            continue;
        }
        if env::var_os(WRITE).is_some() {
            fs::write(&at, text).unwrap_or_else(|error| panic!("{path}: {error}"));
        } else {
            stale.push(path);
        }
    }
    assert!(stale.is_empty(), "{stale:?} are not what `dents --help` says: run `cargo xtask docs`");
}

/// The text is shown in menus, without the lines around it in `--help`.
#[test]
fn every_option_has_help_that_stands_alone() {
    for command in all(&program()) {
        for arg in command.get_arguments() {
            let name = format!("{} {}", name(command), arg.get_id());
            let help = arg.get_help().unwrap_or_else(|| panic!("{name} has no help")).to_string();
            assert!(!help.ends_with('.') && !help.contains('\n'), "{name}: one phrase: {help}");
            assert!(!help.to_lowercase().contains("the same"), "{name}: the same as what? {help}");
        }
    }
}

#[test]
fn every_option_is_in_every_file() {
    let files = files();
    let text = |path: &str| files.iter().find(|file| file.0 == path).map(|file| file.1.as_str()).unwrap();
    for command in all(&program()) {
        let page = text(&format!("man/{}.1", name(command)));
        let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
        for long in shown.filter_map(clap::Arg::get_long) {
            assert!(
                page.contains(&format!("\\-\\-{}", long.replace('-', "\\-"))),
                "no --{long} in the manual"
            );
            assert!(text("completions/dents.bash").contains(&format!("--{long}")), "bash: --{long}");
            assert!(text("completions/_dents").contains(&format!("--{long}")), "zsh: --{long}");
            assert!(text("completions/dents.fish").contains(&format!("-l {long}")), "fish: --{long}");
        }
    }
}
