//! Shell patterns: `*.o`, `core.[0-9]*`, `?`, as `fnmatch` with `FNM_PERIOD` (POSIX, Shell & Utilities 2.13).
//!
//! A dot at the beginning of a name is matched only by a dot, never by `?`, `*` or brackets, and a slash is an ordinary
//! character; patterns of names and of paths have other rules. A backslash quotes the next character. In a UTF-8 charset, `?` matches a character; a name or pattern
//! that is not UTF-8 is matched byte by byte, as in glibc. The characters of a class, of a range and of `[=e=]` may be those of the user's
//! locale ([`Tables`]).

use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// A parsed pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    bytes: Vec<Token>,
    /// The same pattern in characters, if the charset is UTF-8 and the pattern is valid UTF-8.
    chars: Option<Vec<Token>>,
    is_ascii: bool,
    special: Special,
}

/// The characters that only themselves match, not `?`, `*` and brackets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Special {
    /// A dot at the beginning: `FNM_PERIOD`.
    Period,
    /// None.
    Nothing,
    /// Slashes: `FNM_PATHNAME`. Here `**/` is any number of directories, and `/**` everything below, which `fnmatch` does not have.
    Slash,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// This character.
    One(u32),
    /// `?`
    Any,
    /// `*`
    Star,
    /// `**/` in a path
    Directories,
    /// `**` at the end of a path
    Rest,
    /// `[…]`
    Set(Set),
    /// Matches nothing: a trailing backslash, a class that does not exist.
    Never,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Set {
    negated: bool,
    ranges: Vec<RangeInclusive<u32>>,
    classes: Vec<Class>,
    /// A member is invalid. Members before it count, those after it do not.
    broken: bool,
}

/// The tables of a locale that patterns are read by. Where it has none, they are read by Unicode.
pub trait Tables {
    /// The characters of a class.
    fn class(&self, name: &[u8]) -> Option<Vec<RangeInclusive<u32>>>;
    /// The bytes of a class, where each byte is a character.
    fn class_bytes(&self, name: &[u8]) -> Option<Vec<u8>>;
    /// The characters of a range, in the order of the locale.
    fn range(&self, from: u32, to: u32) -> Option<Vec<RangeInclusive<u32>>>;
    /// The places of bytes in that order.
    fn bytes(&self) -> Option<[u8; 256]>;
    /// The characters of `[=e=]`: those with the first weight of this one.
    fn equals(&self, char: u32) -> Option<Vec<RangeInclusive<u32>>>;
    /// The same of bytes.
    fn equal_bytes(&self, byte: u8) -> Option<Vec<u8>>;
}

/// No tables.
struct Unicode;

impl Tables for Unicode {
    fn class(&self, _: &[u8]) -> Option<Vec<RangeInclusive<u32>>> {
        None
    }

    fn class_bytes(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn range(&self, _: u32, _: u32) -> Option<Vec<RangeInclusive<u32>>> {
        None
    }

    fn bytes(&self) -> Option<[u8; 256]> {
        None
    }

    fn equals(&self, _: u32) -> Option<Vec<RangeInclusive<u32>>> {
        None
    }

    fn equal_bytes(&self, _: u8) -> Option<Vec<u8>> {
        None
    }
}

/// How a pattern is read.
#[derive(Clone, Copy)]
struct Syntax<'c> {
    /// Whether `[^a]` means `[!a]`.
    caret: bool,
    special: Special,
    tables: &'c dyn Tables,
    /// Whether the pattern is one of bytes.
    is_bytes: bool,
}

/// The test of a class, `[:name:]`.
type Class = fn(char) -> bool;

const CLASSES: [(&[u8], Class); 12] = [
    (b"alnum", char::is_alphanumeric),
    (b"alpha", char::is_alphabetic),
    (b"blank", |c| matches!(c, ' ' | '\t')),
    (b"cntrl", char::is_control),
    (b"digit", |c| c.is_ascii_digit()),
    (b"graph", |c| !c.is_control() && !c.is_whitespace()),
    (b"lower", char::is_lowercase),
    (b"print", |c| !c.is_control()),
    (b"punct", |c| !c.is_control() && !c.is_whitespace() && !c.is_alphanumeric()),
    (b"space", char::is_whitespace),
    (b"upper", char::is_uppercase),
    (b"xdigit", |c| c.is_ascii_hexdigit()),
];

impl Pattern {
    /// Parses a pattern. Any bytes are a pattern. `utf8` tells whether the charset is UTF-8; `caret`, whether `[^a]`
    /// means `[!a]`, as it does unless POSIXLY_CORRECT is set.
    #[must_use]
    pub fn new(pattern: &[u8], utf8: bool, caret: bool) -> Pattern {
        Pattern::with_tables(pattern, utf8, caret, &Unicode)
    }

    /// The same with the classes and the order of the user's locale.
    #[must_use]
    pub fn with_tables(pattern: &[u8], utf8: bool, caret: bool, tables: &dyn Tables) -> Pattern {
        Pattern::with(pattern, utf8, Syntax { caret, special: Special::Period, tables, is_bytes: true })
    }

    /// Parses a pattern of names that may begin with a dot, as `find -name` has it.
    #[must_use]
    pub fn of_name(pattern: &[u8], utf8: bool, tables: &dyn Tables) -> Pattern {
        Pattern::with(
            pattern,
            utf8,
            Syntax { caret: true, special: Special::Nothing, tables, is_bytes: true },
        )
    }

    /// Parses a pattern of paths, which do not begin with a slash: `*` matches no slash, and `**/` any number of directories.
    #[must_use]
    pub fn of_path(pattern: &[u8], utf8: bool, tables: &dyn Tables) -> Pattern {
        Pattern::with(pattern, utf8, Syntax { caret: true, special: Special::Slash, tables, is_bytes: true })
    }

    fn with(pattern: &[u8], utf8: bool, syntax: Syntax<'_>) -> Pattern {
        let text = Some(Characters(pattern)).filter(|text| utf8 && text.are_all());
        let bytes: Vec<u32> = pattern.iter().map(|byte| code(*byte)).collect();
        let chars = text.map(|text| parse(&text.collect(), Syntax { is_bytes: false, ..syntax }));
        let is_ascii = pattern.is_ascii();
        Pattern { bytes: parse(&bytes, syntax), chars, is_ascii, special: syntax.special }
    }

    /// Whether the pattern matches all of a name.
    #[must_use]
    pub fn matches(&self, name: &[u8]) -> bool {
        // In ASCII both ways are the same.
        let is_plain = self.is_ascii && name.is_ascii();
        let characters = || Some(Characters(name)).filter(|text| !is_plain && text.are_all());
        let text = self.chars.as_deref().and_then(|tokens| Some((tokens, characters()?)));
        // A name that does not match in characters is tried in bytes: glibc matches `é` with `?` and with `??`.
        text.is_some_and(|(tokens, name)| matches(tokens, name, self.special))
            || matches(&self.bytes, name, self.special)
    }
}

/// A name as a sequence of characters.
trait Text: Copy {
    /// The character at an offset, and the offset of the next.
    fn at(self, offset: usize) -> Option<(u32, usize)>;
}

impl Text for &[u8] {
    fn at(self, offset: usize) -> Option<(u32, usize)> {
        self.get(offset).map(|byte| (code(*byte), offset + 1))
    }
}

/// A byte as a character. A byte that is not ASCII is in no class, so it becomes a number above all of UTF-8.
fn code(byte: u8) -> u32 {
    if byte.is_ascii() { u32::from(byte) } else { u32::from(byte) + (1 << 31) }
}

/// Bytes as ranges of one each.
fn ranges(bytes: Vec<u8>) -> Vec<RangeInclusive<u32>> {
    bytes.into_iter().map(|byte| code(byte)..=code(byte)).collect()
}

/// Bytes decoded as UTF-8, as in glibc: sequences of up to six bytes, beyond Unicode.
#[derive(Clone, Copy)]
struct Characters<'t>(&'t [u8]);

impl Characters<'_> {
    /// Whether all bytes are valid characters.
    fn are_all(self) -> bool {
        let mut offset = 0;
        while let Some((_, next)) = self.at(offset) {
            offset = next;
        }
        offset == self.0.len()
    }

    fn collect(self) -> Vec<u32> {
        let mut next = 0;
        core::iter::from_fn(|| {
            let (char, after) = self.at(next)?;
            next = after;
            Some(char)
        })
        .collect()
    }
}

impl Text for Characters<'_> {
    fn at(self, offset: usize) -> Option<(u32, usize)> {
        let lead = *self.0.get(offset)?;
        let len = match lead {
            0..=0x7f => return Some((u32::from(lead), offset + 1)),
            0xc2..=0xfd => lead.leading_ones() as usize,
            _ => return None,
        };
        let mut char = u32::from(lead) & (0x7f >> len);
        for byte in self.0.get(offset + 1..offset + len)? {
            if !(0x80..=0xbf).contains(byte) {
                return None;
            }
            char = char << 6 | u32::from(byte & 0x3f);
        }
        let least = if len == 2 { 0x80 } else { 1 << (5 * len - 4) };
        let exists = char >= least && !(0xd800..0xe000).contains(&char);
        exists.then_some((char, offset + len))
    }
}

/// Each star first matches nothing. If the tokens after it fail, the last star takes one more character. Earlier stars
/// need no retry: the tokens after them already matched as early as possible. In a path the last star of the component does so, and
/// then the last `**/` takes one more directory.
fn matches(tokens: &[Token], name: impl Text, special: Special) -> bool {
    let (mut token, mut offset) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    let mut directories: Option<(usize, usize)> = None;
    loop {
        let here = name.at(offset);
        let hides = special == Special::Period && offset == 0;
        match tokens.get(token) {
            None if here.is_none() => return true,
            Some(Token::Rest) => return true,
            Some(Token::Directories) => {
                (directories, star) = (Some((token + 1, offset)), None);
                token += 1;
                continue;
            }
            Some(Token::Star) if !(hides && is_dot(here)) => {
                star = Some((token + 1, offset));
                token += 1;
                continue;
            }
            Some(wanted) if here.is_some_and(|(char, _)| wanted.fits(char, hides, special)) => {
                offset = here.map_or(offset, |(_, next)| next);
                token += 1;
                continue;
            }
            _ => {}
        }
        let may_take = |char| special != Special::Slash || char != SLASH;
        if let Some((after, taken)) = star
            && let Some((_, next)) = name.at(taken).filter(|(char, _)| may_take(*char))
        {
            star = Some((after, next));
            (token, offset) = (after, next);
            continue;
        }
        let Some((after, taken)) = directories else { return false };
        let Some(next) = after_slash(name, taken) else { return false };
        (directories, star) = (Some((after, next)), None);
        (token, offset) = (after, next);
    }
}

/// The offset after the next slash.
fn after_slash(name: impl Text, mut offset: usize) -> Option<usize> {
    loop {
        let (char, next) = name.at(offset)?;
        if char == SLASH {
            return Some(next);
        }
        offset = next;
    }
}

fn is_dot(here: Option<(u32, usize)>) -> bool {
    here.is_some_and(|(char, _)| char == u32::from(b'.'))
}

impl Token {
    /// `hides` tells that a dot is special here.
    fn fits(&self, char: u32, hides: bool, special: Special) -> bool {
        let hidden = (hides && char == u32::from(b'.')) || (special == Special::Slash && char == SLASH);
        match self {
            Token::One(one) => *one == char,
            Token::Any => !hidden,
            Token::Set(set) => !hidden && set.fits(char),
            Token::Star | Token::Directories | Token::Rest | Token::Never => false,
        }
    }
}

impl Set {
    fn add_class(&mut self, name: &[u32], syntax: Syntax<'_>) {
        let Some((name, class)) = class(name) else {
            self.broken = true;
            return;
        };
        if self.broken {
            return;
        }
        let found = if syntax.is_bytes {
            syntax.tables.class_bytes(name).map(ranges)
        } else {
            syntax.tables.class(name)
        };
        match found {
            Some(ranges) => self.ranges.extend(ranges),
            None => self.classes.push(class),
        }
    }

    fn add_range(&mut self, from: u32, to: u32, syntax: Syntax<'_>) {
        if !syntax.is_bytes {
            let ranges = syntax.tables.range(from, to);
            return self.ranges.extend(ranges.unwrap_or_else(|| [from..=to].into()));
        }
        let Some(places) = syntax.tables.bytes() else { return self.ranges.push(from..=to) };
        let place = |char: u32| places[usize::from(char as u8)];
        let places = place(from)..=place(to);
        let bytes = (0..=u8::MAX).map(code).filter(|byte| places.contains(&place(*byte)));
        self.ranges.extend(bytes.map(|byte| byte..=byte));
    }

    fn add_equals(&mut self, char: u32, syntax: Syntax<'_>) {
        let equals = if syntax.is_bytes {
            syntax.tables.equal_bytes(char as u8).map(ranges)
        } else {
            syntax.tables.equals(char)
        };
        self.ranges.extend(equals.unwrap_or_else(|| [char..=char].into()));
    }

    fn fits(&self, char: u32) -> bool {
        let class = |class: &Class| char::from_u32(char).is_some_and(class);
        let has = self.ranges.iter().any(|range| range.contains(&char)) || self.classes.iter().any(class);
        has != self.negated && (has || !self.broken)
    }
}

const BACKSLASH: u32 = b'\\' as u32;
const OPEN: u32 = b'[' as u32;
const CLOSE: u32 = b']' as u32;
const SLASH: u32 = b'/' as u32;
const STAR: u32 = b'*' as u32;

fn parse(mut pattern: &[u32], syntax: Syntax<'_>) -> Vec<Token> {
    let special = syntax.special;
    let mut tokens = Vec::with_capacity(pattern.len());
    // Whether a component of a path begins.
    let mut begins = special == Special::Slash;
    while let Some((&char, rest)) = pattern.split_first() {
        let is_deep = begins && char == STAR && rest.first() == Some(&STAR);
        begins = special == Special::Slash && char == SLASH;
        pattern = rest;
        tokens.push(match char {
            0x3f => Token::Any,
            STAR if is_deep && rest.get(1) == Some(&SLASH) => {
                (pattern, begins) = (&rest[2..], true);
                Token::Directories
            }
            STAR if is_deep && rest.len() == 1 => Token::Rest,
            STAR => Token::Star,
            BACKSLASH => match rest.split_first() {
                Some((&escaped, rest)) => {
                    pattern = rest;
                    Token::One(escaped)
                }
                None => Token::Never,
            },
            OPEN => match parse_set(rest, syntax) {
                Some((set, rest)) => {
                    pattern = rest;
                    Token::Set(set)
                }
                // Brackets that are never closed are ordinary characters.
                None => Token::One(OPEN),
            },
            other => Token::One(other),
        });
    }
    tokens
}

/// The set between brackets, and the tokens after it; `None` if the brackets are never closed.
fn parse_set<'p>(mut rest: &'p [u32], syntax: Syntax<'_>) -> Option<(Set, &'p [u32])> {
    let mut set = Set::default();
    if let [mark @ (0x21 | 0x5e), after @ ..] = rest
        && (*mark == 0x21 || syntax.caret)
    {
        set.negated = true;
        rest = after;
    }
    let mut first = true;
    loop {
        match rest {
            [] => return None,
            [CLOSE, after @ ..] if !first => return Some((set, after)),
            [OPEN, 0x3a, after @ ..] if let Some((name, after)) = parse_class(after) => {
                set.add_class(name, syntax);
                rest = after;
            }
            [OPEN, 0x3d, char, 0x3d, CLOSE, after @ ..] => {
                if !set.broken {
                    set.add_equals(*char, syntax);
                }
                rest = after;
            }
            _ => {
                let (from, after) = parse_member(rest, &mut set.broken)?;
                rest = after;
                let mut to = None;
                if let [0x2d, after @ ..] = after
                    && after.first() != Some(&CLOSE)
                {
                    let (last, after) = parse_member(after, &mut set.broken)?;
                    (to, rest) = (Some(last), after);
                }
                match to {
                    _ if set.broken => {}
                    Some(to) => set.add_range(from, to, syntax),
                    None => set.ranges.push(from..=from),
                }
            }
        }
        first = false;
    }
}

fn class(name: &[u32]) -> Option<(&'static [u8], Class)> {
    let same = |known: &[u8]| known.iter().map(|byte| u32::from(*byte)).eq(name.iter().copied());
    CLASSES.iter().find(|(known, _)| same(known)).copied()
}

/// The name of a class, and the text after its `:]`. A name must consist of lower-case letters.
fn parse_class(rest: &[u32]) -> Option<(&[u32], &[u32])> {
    let len = rest.iter().position(|char| !(0x61..=0x7a).contains(char))?;
    let (name, rest) = rest.split_at(len);
    match rest {
        [0x3a, CLOSE, after @ ..] => Some((name, after)),
        _ => None,
    }
}

/// One end of a range: a character, escaped or not, or `[.x.]` for a character `x`. Names of characters (`[.space.]`)
/// are not supported.
fn parse_member<'p>(rest: &'p [u32], broken: &mut bool) -> Option<(u32, &'p [u32])> {
    match rest {
        [BACKSLASH, escaped, after @ ..] => Some((*escaped, after)),
        [OPEN, 0x2e, char, 0x2e, CLOSE, after @ ..] => Some((*char, after)),
        [OPEN, 0x2e, name @ ..] => {
            *broken = true;
            let end = name.windows(2).position(|pair| pair == [0x2e, CLOSE])?;
            Some((OPEN, &name[end + 2..]))
        }
        [char, after @ ..] => Some((*char, after)),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let pattern = Pattern::new(pattern.as_bytes(), true, true);
        for name in yes {
            assert!(pattern.matches(name.as_bytes()), "{pattern:?} {name}");
        }
        for name in no {
            assert!(!pattern.matches(name.as_bytes()), "{pattern:?} {name}");
        }
    }

    #[test]
    fn paths_and_names_with_dots() {
        let path = |pattern: &str, path: &str| {
            Pattern::of_path(pattern.as_bytes(), true, &Unicode).matches(path.as_bytes())
        };
        for (pattern, yes, no) in [
            ("a/*.c", &["a/x.c", "a/.c"][..], &["a/b/x.c", "a/x.d"][..]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["a/xb", "ab", "a/b/c"]),
            ("**/*.c", &["x.c", "a/b/.c", "a.c/b.c"], &["a.c/b"]),
            ("a/**", &["a/b", "a/b/c"], &["a", "ab/c"]),
            ("**/a/**/b*d/c", &["a/bd/c", "x/a/a/y/bd/bxd/c"], &["a/b/d/c"]),
            ("a**b/c", &["ab/c", "axb/c"], &["a/b/c"]),
            ("a?b", &["a.b"], &["a/b"]),
            ("a[/.]b", &["a.b"], &["a/b"]),
            ("a[!x]b", &["a.b"], &["a/b"]),
            (r"a\/b", &["a/b"], &["a.b"]),
        ] {
            yes.iter().for_each(|one| assert!(path(pattern, one), "{pattern} {one}"));
            no.iter().for_each(|one| assert!(!path(pattern, one), "{pattern} {one}"));
        }
        let name = |pattern: &[u8], name: &[u8]| Pattern::of_name(pattern, true, &Unicode).matches(name);
        assert!(name(b"*.c", b".c") && name(b"?c", b".c") && name(b"[[:punct:]]c", b".c"));
        assert!(name(b"*\xff*", b"a\xffb") && name(b"[[:digit:]]*", b"7a") && !name(b"[[:digit:]]*", b"a7"));
    }

    /// As fnmatch of glibc 2.36 in C.UTF-8.
    #[test]
    fn characters_beyond_unicode() {
        let matches = |pattern: &str, name: &[u8]| Pattern::new(pattern.as_bytes(), true, true).matches(name);
        for name in
            [&b"\x08\xf4\x90\x80\x80"[..], b"\x08\xf8\x88\x80\x80\x80", b"\x08\xfc\x84\x80\x80\x80\x80"]
        {
            assert!(matches("??", name) && !matches("???", name), "{}", name.escape_ascii());
        }
        for name in [&b"\xed\xa0\x80"[..], b"\xc0\x80", b"\xf0\x80\x80\x80"] {
            assert!(!matches("?", name), "{}", name.escape_ascii());
        }
        assert!(matches("??", b"\xc0\x80"), "two bytes that are not a valid character");
    }

    #[test]
    fn stars_and_questions() {
        check("*.o", &["a.o", "b.o.o"], &["a.c", ".o", "a.ox"]);
        check("*", &["a", "a.b"], &[".", "..", ".a"]);
        check(".*", &[".", "..", ".a"], &["a"]);
        check("a*b*c", &["abc", "aXbXbYc", "abcbc"], &["ab", "abcd"]);
        check("?", &["a", "é"], &["", ".", "ab"]);
        check("??", &["ab", "日本", "é"], &["日", "a"]);
        check("", &[""], &["a"]);
    }

    #[test]
    fn sets() {
        check("[a-c]x", &["ax", "cx"], &["dx", "x", "Ax"]);
        check("[!a-c]x", &["dx", "éx"], &["ax", ".x"]);
        check("[]x]", &["]", "x"], &["a"]);
        check("[a-]", &["a", "-"], &["b"]);
        check("[[:digit:][:upper:]_]", &["7", "Q", "_", "É"], &["q", "٣"]);
        check("[\\]a]", &["]", "a"], &["\\"]);
        check("[a", &["[a"], &["a"]);
        check("a[", &["a["], &["a"]);
        check("[[:nonsense:]]", &[], &["n", "["]);
        check("[.a]", &["a"], &["."]);
        check("[a[.space.]b]", &["a"], &[" ", "b", "a]"]);
        check("[^a]", &["b", "^"], &["a"]);
        assert!(Pattern::new(b"[^a]", true, false).matches(b"a"));
        check("[[.a.][=b=]]", &["a", "b"], &["."]);
    }

    #[test]
    fn backslashes() {
        check("\\*", &["*"], &["a", "\\*"]);
        check("a\\", &[], &["a", "a\\"]);
        check("\\a", &["a"], &[]);
    }

    #[test]
    fn names_that_are_not_utf8_are_bytes() {
        let pattern = Pattern::new(b"a?b", true, true);
        assert!(pattern.matches(b"a\xffb") && pattern.matches("aéb".as_bytes()));
        assert!(!pattern.matches(b"a\xc3\xa9\xffb"));
        assert!(Pattern::new(b"a\xff*", true, true).matches(b"a\xffz"));
        let bytes = Pattern::new(b"a?b", false, true);
        assert!(!bytes.matches("aéb".as_bytes()) && bytes.matches(b"a\xe9b"));
        assert!(!Pattern::new(b"[[:alpha:]]", false, true).matches(b"\xe9"));
        assert!(Pattern::new(b"[\xe0-\xef]", false, true).matches(b"\xe9"));
    }

    #[test]
    fn many_stars_take_no_time() {
        let name = [b'a'; 5000];
        assert!(!Pattern::new(&b"a*".repeat(50), false, true).matches(&[&name[..], b"b"].concat()[..40]));
        assert!(!Pattern::new(&[&b"*a".repeat(200)[..], b"c"].concat(), true, true).matches(&name));
    }
}
