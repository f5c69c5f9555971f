//! `completions/_dls`: for a directory of zsh's `$fpath`.

use dls::args::flags::{Arity, Definition};

use super::files::{MARK, Value, options, phrase};
use super::words::about;

pub(super) fn script() -> String {
    let specs: Vec<String> = options().flat_map(specs).collect();
    format!(
        "#compdef dls\n# {MARK}\n\n_arguments -s -S \\\n  {} \\\n  '*:file:_files'\n",
        specs.join(" \\\n  ")
    )
}

/// One line of `_arguments`, or two where only the long spelling takes a value.
fn specs(option: &Definition) -> Vec<String> {
    let help = format!("[{}]", quote(phrase(option)));
    let value = match Value::of(option) {
        Value::None => String::new(),
        Value::Words(words) => {
            let each = words.iter().map(|word| format!("{word}\\:\"{}\"", about(option.long, word)));
            format!(":{}:(({}))", name(option), each.collect::<Vec<_>>().join(" "))
        }
        // A sign before the first word stays.
        Value::List(words) => {
            let each = words.iter().map(|word| format!("\"{word}[{}]\"", about(option.long, word)));
            let each = each.collect::<Vec<_>>().join(" ");
            format!(":{}:{{ compset -P \"[+-]\"; _values -s , column {each} }}", name(option))
        }
        Value::Files => format!(":{}:_files", name(option)),
        Value::Free => format!(":{}: ", name(option)),
    };
    let letter = option.letter.map(|letter| format!("-{}", letter as char));
    let long = option.long.map(|long| format!("--{long}"));
    let repeatable = matches!(Value::of(option), Value::Files);
    let apart = |spec: String| format!("'{spec}'");
    // After a letter, `+` also takes the value from the same word; after a name, `=` does, and `=-` only from there.
    match (letter, long, option.arity) {
        (Some(letter), Some(long), Arity::None) => {
            vec![format!("'({letter} {long})'{{{letter},{long}}}'{help}'")]
        }
        (Some(letter), Some(long), Arity::Required) => {
            let once = if repeatable { "*".into() } else { format!("({letter} {long})") };
            vec![format!("'{once}'{{{letter}+,{long}=}}'{help}{value}'")]
        }
        (Some(letter), Some(long), Arity::Optional) => vec![
            apart(format!("({letter} {long}){letter}{help}")),
            apart(format!("({letter} {long}){long}=-{help}:{value}")),
        ],
        (Some(letter), None, _) => vec![apart(format!("{letter}{help}"))],
        (None, Some(long), Arity::None) => vec![apart(format!("{long}{help}"))],
        (None, Some(long), Arity::Required) => {
            vec![apart(format!("{}{long}={help}{value}", if repeatable { "*" } else { "" }))]
        }
        (None, Some(long), Arity::Optional) => vec![apart(format!("{long}=-{help}:{value}"))],
        (None, None, _) => Vec::new(),
    }
}

/// The value's name, as zsh shows it above a menu.
fn name(option: &Definition) -> String {
    option.value_name.to_lowercase().replace('_', " ")
}

/// Inside single quotes and brackets.
fn quote(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]").replace('\'', "'\\''")
}
