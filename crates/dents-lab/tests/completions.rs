//! Tab in bash, zsh and fish, typed in a terminal: words of options, lists of words, names of files with blanks.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use dents_lab::fixture::TempDir;
use dents_lab::process::quote;
use dents_lab::tmux::Screen;

/// What is typed, and what the line is after Tab.
const TYPED: [(&str, &str); 7] = [
    ("dls --sort=nat", "dls --sort=natural"),
    ("dls --columns=size,ino", "dls --columns=size,inode"),
    ("dents top --by=ol", "dents top --by=oldest"),
    ("dents stats --by=user,ag", "dents stats --by=user,age"),
    ("dents scan --columns=project,xa", "dents scan --columns=project,xattrs"),
    ("dents parts cl", "dents parts claim"),
    ("dents scan -o my", "dents scan -o my\\ file.txt"),
];

fn completions() -> String {
    quote(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../completions")
            .canonicalize()
            .expect("there")
            .as_os_str(),
    )
}

/// Types each line in a shell that a script starts, and compares.
fn types(shell: &str, settings: &str, start: &str) {
    if Command::new(shell)
        .arg("--version")
        .output()
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    {
        println!("skipped: there is no {shell}");
        return;
    }
    let home = TempDir::new("completions").expect("fixture");
    fs::write(home.path().join("my file.txt"), "").expect("file");
    fs::write(home.path().join(".settings"), settings.replace("COMPLETIONS", &completions()))
        .expect("settings");
    fs::copy(home.path().join(".settings"), home.path().join(".zshrc")).expect("settings");
    let screen = Screen::new(100, 24).expect("tmux");
    let home = quote(home.path().as_os_str());
    // zsh goes on with a comma, and takes it away if a blank follows.
    let shown = |lines: &[String], line: &str| {
        lines.iter().any(|one| one.trim_end().trim_end_matches(',') == format!("> {line}").trim_end())
    };
    for (typed, whole) in TYPED {
        screen
            .start(&format!("cd {home}; export HOME={home} ZDOTDIR={home} TERM=xterm; {start}\n"))
            .expect("tmux");
        screen.until(|lines| shown(lines, "")).expect("a prompt");
        screen.press(&["-l", typed]).expect("tmux");
        screen.until(|lines| shown(lines, typed)).expect("what was typed");
        screen.press(&["Tab"]).expect("tmux");
        screen.until(|lines| shown(lines, whole)).unwrap_or_else(|error| panic!("{shell}: {typed}: {error}"));
        screen.end().expect("tmux");
    }
}

#[test]
fn bash_completes() {
    let settings = "PS1='> '; for program in dls dents; do source COMPLETIONS/$program.bash; done";
    types("bash", settings, "exec bash --noprofile --rcfile .settings -i");
}

#[test]
fn zsh_completes() {
    let settings = "PS1='> '; fpath=(COMPLETIONS $fpath); autoload -Uz compinit; compinit -u -D";
    types("zsh", settings, "exec zsh -d -i");
}

#[test]
fn fish_completes() {
    let settings = "function fish_prompt; echo '> '; end; function fish_greeting; end; set -g fish_autosuggestion_enabled 0
        for program in dls dents; source COMPLETIONS/$program.fish; end";
    types("fish", settings, "exec fish -N -i -C 'source .settings'");
}
