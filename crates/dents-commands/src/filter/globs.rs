//! `--include` and `--exclude`: globs that match names, as `find -name` does; a glob with a slash matches paths below the PATH.
//!
//! They are `fnmatch` patterns ([`Pattern`]): any bytes are one. Braces are expanded before, as a shell does.

use crate::locale::OfUser;
use dents_core::pattern::Pattern;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The most patterns that the braces of one glob may give.
const MOST: usize = 4096;

/// One glob.
#[derive(Clone, Debug, Default)]
pub(crate) struct One {
    names: Vec<Pattern>,
    /// Paths below the PATH.
    below: Vec<Pattern>,
    /// Paths from the root directory, without the first slash; and those of them below the current directory, from there.
    absolute: Vec<Pattern>,
    from_here: Vec<Pattern>,
}

impl One {
    /// Parses a word. A slash at its end has no meaning, as a shell adds it to directories.
    pub(crate) fn parse(word: OsString) -> Result<One, String> {
        let here = std::env::current_dir().map(|here| here.into_os_string().into_vec()).unwrap_or_default();
        One::parse_at(word.as_bytes(), &here)
    }

    fn parse_at(word: &[u8], here: &[u8]) -> Result<One, String> {
        let mut one = One::default();
        let utf8 = crate::message::locale().charset.is_utf8();
        let path = |text: &[u8]| Pattern::of_path(text, utf8, &OfUser);
        for glob in expanded(word).ok_or_else(|| format!("its braces give more than {MOST} globs"))? {
            let parts = components(&glob);
            let name = glob.iter().rposition(|byte| *byte != b'/').map_or(&glob[..0], |last| &glob[..=last]);
            if !name.is_empty() && !name.contains(&b'/') {
                one.names.push(Pattern::of_name(name, utf8, &OfUser));
                continue;
            }
            if parts.is_empty() {
                return Err("it matches nothing: entries have names, and are below a PATH".to_owned());
            }
            if parts.contains(&&b".."[..]) {
                return Err(
                    "it matches nothing: no path below a PATH has ‘..’; name the entry from its PATH on"
                        .to_owned(),
                );
            }
            let text = parts.join(&b'/');
            one.below.push(path(&text));
            if glob.starts_with(b"/") {
                one.absolute.push(path(&text));
                let here = components(here);
                if let Some(rest) = parts.strip_prefix(&here[..]).filter(|rest| !rest.is_empty()) {
                    one.from_here.push(path(&rest.join(&b'/')));
                }
            }
        }
        Ok(one)
    }
}

/// The components of a path, except those that lead nowhere.
fn components(path: &[u8]) -> Vec<&[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".").collect()
}

/// The globs that braces stand for: `a.{c,h}` is `a.c` and `a.h`. A backslash quotes the next byte, and braces without a comma are
/// ordinary. `None` if they are too many.
fn expanded(word: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (mut done, mut todo) = (Vec::new(), vec![word.to_vec()]);
    while let Some(glob) = todo.pop() {
        match first_braces(&glob) {
            None => done.push(glob),
            Some((open, close, choices)) => {
                let whole = |choice: &&[u8]| [&glob[..open], choice, &glob[close + 1..]].concat();
                todo.extend(choices.iter().rev().map(whole));
            }
        }
        if done.len() + todo.len() > MOST {
            return None;
        }
    }
    Some(done)
}

/// The first braces with a comma: where they open and close, and what they choose from.
fn first_braces(glob: &[u8]) -> Option<(usize, usize, Vec<&[u8]>)> {
    (0..glob.len()).filter(|at| glob[*at] == b'{' && !is_quoted(glob, *at)).find_map(|open| {
        let (mut depth, mut starts, mut choices) = (0_usize, open + 1, Vec::new());
        for at in (open..glob.len()).filter(|at| !is_quoted(glob, *at)) {
            match glob[at] {
                b'{' => depth += 1,
                b'}' if depth == 1 => {
                    choices.push(&glob[starts..at]);
                    return (choices.len() > 1).then_some((open, at, choices));
                }
                b'}' => depth -= 1,
                b',' if depth == 1 => {
                    choices.push(&glob[starts..at]);
                    starts = at + 1;
                }
                _ => {}
            }
        }
        None
    })
}

/// Whether a backslash quotes a byte.
fn is_quoted(glob: &[u8], at: usize) -> bool {
    glob[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// All globs of an option.
#[derive(Clone, Debug)]
pub(crate) struct Globs(One);

impl Globs {
    /// `None` if there are none.
    pub(crate) fn new(globs: &[One]) -> Option<Globs> {
        let mut all = One::default();
        for One { names, below, absolute, from_here } in globs.iter().cloned() {
            all.names.extend(names);
            all.below.extend(below);
            all.absolute.extend(absolute);
            all.from_here.extend(from_here);
        }
        (!globs.is_empty()).then_some(Globs(all))
    }

    /// Whether one matches the name.
    pub(crate) fn match_name(&self, name: &[u8]) -> bool {
        matches(&self.0.names, name)
    }

    /// Whether there are globs of paths.
    pub(crate) fn have_paths(&self) -> bool {
        !self.0.below.is_empty()
    }

    /// Whether one matches a path, or what of it is below the operand.
    pub(crate) fn match_path(&self, path: &[u8], below: &[u8]) -> bool {
        let whole = || match path.strip_prefix(b"/") {
            Some(path) => matches(&self.0.absolute, path),
            None => matches(&self.0.from_here, path.strip_prefix(b"./").unwrap_or(path)),
        };
        matches(&self.0.below, below) || whole()
    }
}

fn matches(patterns: &[Pattern], text: &[u8]) -> bool {
    patterns.iter().any(|pattern| pattern.matches(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(words: &[&str]) -> Globs {
        let parsed: Vec<One> =
            words.iter().map(|word| One::parse_at(word.as_bytes(), b"/here/now").expect("a glob")).collect();
        Globs::new(&parsed).expect("some")
    }

    #[test]
    fn names_and_paths() {
        let globs = globs(&["*.o", "src/*.c", "/top", "**/deep/x"]);
        assert!(globs.match_name(b"a.o") && globs.match_name(b"\xff.o") && globs.match_name(b"\n.o"));
        assert!(globs.match_name(b".o"), "as find -name");
        let path = |below: &[u8]| globs.match_path(&[b"t/", below].concat(), below);
        assert!(!globs.match_name(b"top") && path(b"top") && !path(b"a/top"));
        assert!(path(b"src/a.c") && !path(b"src/a/b.c"));
        assert!(path(b"a/b/deep/x") && path(b"deep/x"));
    }

    #[test]
    fn words_as_they_are_typed() {
        let globs = globs(&["dir/", "./one", ".//a/./b/", "/here/now/t/x", "/usr/lib"]);
        assert!(globs.match_name(b"dir") && !globs.match_name(b"one"));
        for (path, below) in [
            ("t/one", "one"),
            ("t/a/b", "a/b"),
            ("t/x", "x"),
            ("./t/x", "t/x"),
            ("/here/now/t/x", "x"),
            ("/usr/lib", "lib"),
        ] {
            assert!(globs.match_path(path.as_bytes(), below.as_bytes()), "{path}");
        }
        for (path, below) in
            [("t/u/one", "u/one"), ("u/x", "x"), ("usr/lib", "lib"), ("/t/x", "t/x"), ("lib", "lib")]
        {
            assert!(!globs.match_path(path.as_bytes(), below.as_bytes()), "{path}");
        }
        for word in ["", "/", "././", "../a", "a/../b"] {
            assert!(One::parse_at(word.as_bytes(), b"/").is_err(), "{word:?}");
        }
        assert!(Globs::new(&[]).is_none());
    }

    #[test]
    fn braces_as_in_a_shell() {
        let give = |word: &str| -> Vec<String> {
            let all = expanded(word.as_bytes()).expect("few");
            all.into_iter().map(|glob| String::from_utf8(glob).expect("UTF-8")).collect()
        };
        for (word, globs) in [
            ("*.{c,h}", &["*.c", "*.h"][..]),
            ("{a,b}{1,2}", &["a1", "a2", "b1", "b2"]),
            ("{a,b{1,2},}x", &["ax", "b1x", "b2x", "x"]),
            ("{a}", &["{a}"]),
            ("{{a,b}}", &["{a}", "{b}"]),
            (r"\{a,b}", &[r"\{a,b}"]),
            (r"{a\,b,c}", &[r"a\,b", "c"]),
            ("{a,b", &["{a,b"]),
            ("{{a,b}", &["{a", "{b"]),
            ("a}b,{", &["a}b,{"]),
        ] {
            assert_eq!(give(word), globs, "{word}");
        }
        assert!(expanded("{a,b}".repeat(13).as_bytes()).is_none());
    }
}
