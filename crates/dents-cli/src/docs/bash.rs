//! `completions/dents.bash`: the frame of `dls`, with the words and options of each command.

use super::{MARK, all};
use clap::{Arg, ArgAction, Command, ValueHint};
use std::collections::{BTreeMap, BTreeSet};

const FRAME: &str = include_str!("../../../xtask/src/docs/frame.bash");

/// The end of the completion: names of files are no value.
const FREE: &str = "compopt +o bashdefault +o default 2>/dev/null; return";

pub(super) fn script(program: &Command) -> String {
    let commands: Vec<(String, &Command)> = all(program).into_iter().map(|one| (words(one), one)).collect();
    let valued =
        || commands.iter().flat_map(|(_, command)| command.get_arguments()).filter(|arg| has_value(arg));
    let letters: BTreeSet<char> = valued().filter_map(Arg::get_short).collect();
    let required: BTreeSet<String> =
        valued().filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
    let after: Vec<String> = commands.iter().map(|(words, one)| format!("'{}'", after(words, one))).collect();
    let offers = [(String::new(), program)].iter().chain(&commands).flat_map(offers).collect::<Vec<_>>();
    let frame = FRAME
        .replace("@PROGRAM@", "dents")
        .replace("@COMMANDS@", &after.join(" | "))
        .replace("@LETTERS@", &letters.into_iter().collect::<String>())
        .replace("@REQUIRED@", &Vec::from_iter(required).join(" | "))
        .replace("@VALUES@", &values(&commands))
        .replace("@OPTIONS@", &offers.join("\n"));
    format!("# bash completion for dents.\n# {MARK}\n{frame}")
}

/// The words of a command with hyphens between, without the program: `parts-claim`.
fn words(command: &Command) -> String {
    super::name(command).trim_start_matches("dents-").to_owned()
}

/// What the frame compares: the command above, a blank, and the next word.
fn after(words: &str, command: &Command) -> String {
    let name = command.get_name();
    let above = words.strip_suffix(name).unwrap_or_default().trim_end_matches('-');
    format!("{above} {name}")
}

fn has_value(arg: &Arg) -> bool {
    !arg.is_positional() && matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// A branch for each kind of value: which options of which commands have it.
fn values(commands: &[(String, &Command)]) -> String {
    let mut branches: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (words, command) in commands {
        for arg in command.get_arguments().filter(|arg| has_value(arg)) {
            let spellings = branches.entry(action(arg)).or_default();
            spellings.extend(arg.get_short().map(|letter| format!("'{words} -{letter}'")));
            spellings.extend(arg.get_long().map(|long| format!("'{words} --{long}'")));
        }
    }
    let branch = |(action, spellings): (String, Vec<String>)| {
        format!("        {}) {action} ;;", spellings.join(" | "))
    };
    branches.into_iter().map(branch).collect::<Vec<_>>().join("\n")
}

/// What a value may be.
fn action(arg: &Arg) -> String {
    let words =
        super::offered(arg).iter().map(|word| word.get_name().to_owned()).collect::<Vec<_>>().join(" ");
    let name = super::value_name(arg);
    match arg.get_value_hint() {
        _ if !words.is_empty() && super::is_list(arg) => format!("words='{words}' list=1"),
        _ if !words.is_empty() => format!("words='{words}'"),
        ValueHint::Username => "words=$(compgen -u)".into(),
        ValueHint::Unknown if !["FILE", "SCAN", "GLOB", "OLD"].iter().any(|part| name.contains(part)) => {
            FREE.into()
        }
        _ => "return".into(),
    }
}

/// The branches for a word that is no value: options, and the commands below.
fn offers((words, command): &(String, &Command)) -> Vec<String> {
    let mut options = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set()) {
        options.extend(arg.get_short().map(|letter| format!("-{letter}")));
        let equals = if has_value(arg) { "=" } else { "" };
        options.extend(arg.get_long().map(|long| format!("--{long}{equals}")));
    }
    let mut branches = vec![format!("            {words},-*) words='{}' ;;", options.join(" "))];
    let below: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    if !below.is_empty() {
        branches.push(format!("            {words},*) words='{}' ;;", below.join(" ")));
    }
    branches
}
