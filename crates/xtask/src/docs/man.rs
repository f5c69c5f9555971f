//! `man/dls.1`: the prose of `man/dls.1.in` around the options of the table.

use dls::args::flags::{Arity, Definition, TABLE};

use super::files::MARK;
use crate::step::workspace;

/// Columns of a line of source, which `mandoc -T lint` wants to be at most 80.
const LINE: usize = 78;

pub(super) fn page() -> String {
    let path = workspace().join("man/dls.1.in");
    let prose = std::fs::read_to_string(path).expect("man/dls.1.in is there");
    let prose = prose.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    let (before, after) = prose.split_once("@OPTIONS@\n").expect("man/dls.1.in has a place for the options");
    format!(".\\\" {MARK}\n.\\\" The prose is in man/dls.1.in.\n{before}{}{after}", groups())
}

fn groups() -> String {
    let mut out = String::new();
    for (group, definitions) in TABLE {
        out += &format!(".SS {}\n", group.heading().trim_end_matches(':'));
        definitions.iter().for_each(|definition| option(&mut out, definition));
    }
    out
}

fn option(out: &mut String, definition: &Definition) {
    let bold = |spelling: String| format!("\\fB{}\\fR", spelling.replace('-', "\\-"));
    let letter = definition.letter.map(|letter| bold(format!("-{}", letter as char)));
    let long = definition.long.map(|long| bold(format!("--{long}")));
    let value = format!("\\fI{}\\fR", definition.value_name);
    let both: Vec<String> = letter.into_iter().chain(long).collect();
    *out += &format!(".TP\n{}", both.join(", "));
    match definition.arity {
        Arity::None => {}
        Arity::Required => *out += &format!("={value}"),
        Arity::Optional => *out += &format!("[={value}]"),
    }
    out.push('\n');
    paragraph(out, &format!("{}.", capitalised(definition.help)), definition.value_name);
    for (nth, text) in definition.more.split("\n\n").enumerate().filter(|(_, text)| !text.is_empty()) {
        if nth > 0 {
            out.push_str(".IP\n");
        }
        paragraph(out, text, definition.value_name);
    }
}

fn capitalised(help: &str) -> String {
    let mut chars = help.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

/// Text in roff: text in backticks, and what looks like an option, in bold; the name of the value in italics.
fn paragraph(out: &mut String, text: &str, value: &str) {
    let mut line = String::new();
    let mut code = false;
    for word in text.split(' ') {
        let drawn = if code || word.contains('`') { fonts(word, &mut code) } else { plain(word, value) };
        if !line.is_empty() && line.len() + 1 + drawn.len() > LINE {
            *out += &format!("{line}\n");
            line.clear();
        }
        if line.is_empty() {
            // At the beginning of a line, a dot or an apostrophe would make it a request.
            line = if drawn.starts_with(['.', '\'']) { format!("\\&{drawn}") } else { drawn };
        } else {
            line += &format!(" {drawn}");
        }
        // A sentence ends its line, so that roff sees it end.
        if word.ends_with('.') && word.trim_end_matches('.').len() + 1 == word.len() && word.len() > 1 {
            *out += &format!("{line}\n");
            line.clear();
        }
    }
    if !line.is_empty() {
        *out += &format!("{line}\n");
    }
}

/// A word with backticks in it, or between two that have one.
fn fonts(word: &str, code: &mut bool) -> String {
    let mut out = String::new();
    for (nth, piece) in word.split('`').enumerate() {
        if nth > 0 {
            *code = !*code;
            out += if *code { "\\fB" } else { "\\fR" };
        }
        out += &if *code { escaped(piece).replace('-', "\\-") } else { escaped(piece) };
    }
    out
}

/// A word outside backticks, with its punctuation kept out of the font.
fn plain(word: &str, value: &str) -> String {
    let core = word.trim_start_matches('(').trim_end_matches([')', ',', ';', ':', '.']);
    let font = match core {
        _ if core.starts_with('-') && core.len() > 1 => "\\fB",
        _ if core == value && !value.is_empty() => "\\fI",
        _ => return escaped(word),
    };
    let (before, after) = word.split_once(core).unwrap_or_default();
    format!("{before}{font}{}\\fR{after}", escaped(core).replace('-', "\\-"))
}

/// Escapes characters that have a meaning in roff, or that it replaces by others.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('~', "\\(ti").replace('^', "\\(ha")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_roff() {
        let roff = |text| {
            let mut out = String::new();
            paragraph(&mut out, text, "WORD");
            out
        };
        assert_eq!(roff("as -l, by WORD (-t)"), "as \\fB\\-l\\fR, by \\fIWORD\\fR (\\fB\\-t\\fR)\n");
        assert_eq!(roff("`a b-c`, - \\n ~"), "\\fBa b\\-c\\fR, - \\en \\(ti\n");
        assert_eq!(roff(". and .. end. So"), "\\&. and .. end.\nSo\n");
        assert!(roff(&"word ".repeat(99)).lines().all(|line| line.len() <= LINE));
    }
}
