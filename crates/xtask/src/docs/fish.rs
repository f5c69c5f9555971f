//! `completions/dls.fish`: for a directory of fish's `$fish_complete_path`.

use dls::args::flags::{Arity, Definition};

use super::files::{MARK, Value, options, phrase};
use super::words::about;

pub(super) fn script() -> String {
    let lines: String = options().flat_map(lines).map(|line| format!("complete -c dls {line}\n")).collect();
    format!("# fish completion for dls.\n# {MARK}\n\n{lines}")
}

/// One line, or two where only the long spelling takes a value.
fn lines(option: &Definition) -> Vec<String> {
    let help = quote(phrase(option));
    let letter = option.letter.map(|letter| format!("-s {} ", letter as char)).unwrap_or_default();
    let long = option.long.map(|long| format!("-l {long} ")).unwrap_or_default();
    let value = match Value::of(option) {
        Value::None => String::new(),
        Value::Words(words) => {
            format!("-f -a \"{}\" ", each(&words, &|word| format!("{word}\\t'{}'", about(option.long, word))))
        }
        Value::List(words) => {
            let lines = each(&words, &|word| format!("{word}\\\\t{}", about(option.long, word)));
            format!(
                "-f -a '(__fish_complete_list , \"printf \\\"{}\\\\n\\\"\")' ",
                lines.replace('\n', "\\\\n")
            )
        }
        Value::Files => "-F ".into(),
        Value::Free => "-f ".into(),
    };
    match option.arity {
        Arity::None => vec![format!("{letter}{long}-d '{help}'")],
        Arity::Required => vec![format!("{letter}{long}-r {value}-d '{help}'")],
        Arity::Optional if letter.is_empty() => vec![format!("{long}{value}-d '{help}'")],
        Arity::Optional => vec![format!("{letter}-d '{help}'"), format!("{long}{value}-d '{help}'")],
    }
}

fn each(words: &[&str], line: &dyn Fn(&str) -> String) -> String {
    words.iter().map(|word| line(word)).collect::<Vec<_>>().join("\n")
}

/// Inside single quotes.
fn quote(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}
