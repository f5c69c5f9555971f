//! Basic regular expressions of POSIX, as `regcomp` takes them without flags, in the syntax of the regex crate.

use regex::bytes::Regex;
use std::iter::{Peekable, from_fn};
use std::str::Chars;

const CLASSES: [&str; 12] = [
    "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
    "xdigit",
];

/// Compiles an expression. It is searched in a text of any bytes.
pub(crate) fn compile(basic: &str) -> Result<Regex, String> {
    let text = translated(basic)?;
    Regex::new(&format!("(?s-u){text}")).map_err(|_| "it is no basic regular expression".to_owned())
}

fn translated(basic: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = basic.chars().peekable();
    // Whether an expression begins here, where `*` is itself and `^` is the beginning.
    let mut begins = true;
    while let Some(character) = rest.next() {
        let began = std::mem::replace(&mut begins, false);
        match character {
            '\\' => begins = escaped(&mut out, rest.next())?,
            '[' => bracket(&mut out, &mut rest)?,
            '*' if began => literal(&mut out, '*'),
            '^' if began => {
                out.push('^');
                begins = true;
            }
            '$' if ends(rest.clone()) => out.push('$'),
            '*' | '.' => out.push(character),
            other => literal(&mut out, other),
        }
    }
    Ok(out)
}

/// A character after a backslash. Returns whether an expression begins after it.
fn escaped(out: &mut String, character: Option<char>) -> Result<bool, String> {
    match character {
        Some(special @ ('(' | '|')) => {
            out.push(special);
            return Ok(true);
        }
        Some(special @ (')' | '{' | '}' | '+' | '?')) => out.push(special),
        Some(digit @ '1'..='9') => return Err(format!("\\{digit}: what a group matched cannot be repeated")),
        Some(other) => literal(out, other),
        None => return Err("a backslash stands at the end".to_owned()),
    }
    Ok(false)
}

/// Whether an expression ends here.
fn ends(mut rest: impl Iterator<Item = char>) -> bool {
    match rest.next() {
        None => true,
        Some('\\') => matches!(rest.next(), Some(')' | '|')),
        Some(_) => false,
    }
}

fn literal(out: &mut String, character: char) {
    if character.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(character);
}

/// The rest of a bracket expression. `]` is itself in the first place, and a backslash always is.
fn bracket(out: &mut String, rest: &mut Peekable<Chars<'_>>) -> Result<(), String> {
    let unclosed = || "a [ has no ]".to_owned();
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut is_first = true;
    loop {
        let character = rest.next().ok_or_else(unclosed)?;
        match character {
            ']' if !is_first => break,
            '[' if rest.next_if_eq(&':').is_some() => {
                let word: String = from_fn(|| rest.next_if(char::is_ascii_lowercase)).collect();
                if rest.next() != Some(':') || rest.next() != Some(']') {
                    return Err(unclosed());
                }
                if !CLASSES.contains(&word.as_str()) {
                    return Err(format!("[:{word}:] is no class of characters"));
                }
                out.extend(["[:", &word, ":]"]);
            }
            '[' if rest.next_if(|next| matches!(next, '.' | '=')).is_some() => {
                return Err("[. .] and [= =] are not supported".to_owned());
            }
            // A range, unless it is first or last.
            '-' if !is_first && rest.peek().is_some_and(|next| *next != ']') => out.push('-'),
            other if other.is_ascii() => literal(out, other),
            other => return Err(format!("{other:?} cannot be in brackets, where a byte is meant")),
        }
        is_first = false;
    }
    out.push(']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_posix() {
        for (basic, name, expected) in [
            ("01", "a01b", true),
            (".*01.*", "01", true),
            ("^01", "a01", false),
            ("01$", "01", true),
            ("a^b$c", "a^b$c", true),
            ("a+b?(c)|{2}", "a+b?(c)|{2}", true),
            (r"a\+b", "aaab", true),
            (r"^\(ab\)\{2\}$", "abab", true),
            (r"^\(ab\|cd\)$", "cd", true),
            ("*a", "*a", true),
            (r"\(*a\)", "*a", true),
            ("[.]", "ab", false),
            ("^[]a-c[:digit:]-]*$", "a]1-c", true),
            ("^[^a-c]$", "b", false),
            (r"^[\]$", r"\", true),
            ("^[a&~|-]*$", "a&~-|", true),
            (r"\.", "a", false),
            ("é", "café", true),
        ] {
            let compiled = compile(basic).unwrap_or_else(|error| panic!("{basic}: {error}"));
            assert_eq!(compiled.is_match(name.as_bytes()), expected, "{basic} {name}");
        }
        assert!(compile("a.c").unwrap().is_match(b"a\xffc"));
        for wrong in ["[a", r"\(a\)\1", r"a\", r"\(a", "[[:nothing:]]", "[[.a.]]", "[é]"] {
            assert!(compile(wrong).is_err(), "{wrong}");
        }
    }
}
