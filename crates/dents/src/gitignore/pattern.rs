//! The lines of an ignore file, as git reads them (gitignore(5)), on bytes.
//!
//! Braces are no pattern. A pattern with brackets that are never closed matches nothing. A line is parsed once; most lines are
//! a name or a suffix, and cost one comparison for each entry.

/// The rules of one file, the last one first.
pub(super) struct IgnoreFile(Vec<Rule>);

/// A line.
struct Rule {
    /// `!`: what matches is not ignored.
    negated: bool,
    /// A slash at the end: only directories match.
    only_directories: bool,
    /// Whether letters match in either case: `core.ignoreCase`.
    fold: bool,
    pattern: Pattern,
}

enum Pattern {
    /// No slash, no wildcard: the name.
    Name(Vec<u8>),
    /// `*.o`: the end of the name.
    Suffix(Vec<u8>),
    /// Any other pattern without a slash, for the name.
    Wild(Vec<Token>),
    /// With a slash: for the path below the directory of the file. It begins with this text; the rest matches the tokens.
    Path(Vec<u8>, Vec<Token>),
}

#[derive(Debug, PartialEq)]
enum Token {
    Byte(u8),
    /// `?`: any byte but a slash.
    Any,
    /// `[…]`: the bytes that are in it.
    Set([u64; 4]),
    /// `*`: no slash.
    Star,
    /// `**`, alone between slashes: anything.
    Everything,
    /// `**/`: no, one or more directories.
    Directories,
    /// Matches nothing.
    Never,
}

impl IgnoreFile {
    /// Parses a file.
    pub(super) fn new(text: &[u8], fold: bool) -> IgnoreFile {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut rules: Vec<Rule> =
            text.split(|byte| *byte == b'\n').filter_map(|line| Rule::new(line, fold)).collect();
        rules.reverse();
        IgnoreFile(rules)
    }

    /// Whether a path is ignored, if a rule matches it. The path is below the directory of the file.
    pub(super) fn says(&self, path: &[u8], is_dir: bool) -> Option<bool> {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let rule = self.0.iter().find(|rule| (is_dir || !rule.only_directories) && rule.matches(path, name));
        rule.map(|rule| !rule.negated)
    }
}

impl Rule {
    fn new(line: &[u8], fold: bool) -> Option<Rule> {
        if line.is_empty() || line.starts_with(b"#") {
            return None;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // For git a line is a string of C.
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let line = without_blanks_at_the_end(line);
        let (negated, line) = line.strip_prefix(b"!").map_or((false, line), |line| (true, line));
        let (only_directories, line) = line.strip_suffix(b"/").map_or((false, line), |line| (true, line));
        let plain = line.iter().position(|byte| b"*?[\\".contains(byte)).unwrap_or(line.len());
        let pattern = if line.contains(&b'/') {
            let text = line.strip_prefix(b"/").unwrap_or(line);
            let plain = plain - (line.len() - text.len()).min(plain);
            Pattern::Path(text[..plain].to_vec(), tokens(&text[plain..], fold))
        } else if plain == line.len() {
            Pattern::Name(line.to_vec())
        } else if plain == 0
            && line.starts_with(b"*")
            && !line[1..].iter().any(|byte| b"*?[\\".contains(byte))
        {
            Pattern::Suffix(line[1..].to_vec())
        } else {
            Pattern::Wild(tokens(line, fold))
        };
        Some(Rule { negated, only_directories, fold, pattern })
    }

    fn matches(&self, path: &[u8], name: &[u8]) -> bool {
        let same = |a: &[u8], b: &[u8]| if self.fold { a.eq_ignore_ascii_case(b) } else { a == b };
        match &self.pattern {
            Pattern::Name(wanted) => same(wanted, name),
            Pattern::Suffix(end) => name.len() >= end.len() && same(end, &name[name.len() - end.len()..]),
            Pattern::Wild(tokens) => matches(tokens, name, self.fold),
            Pattern::Path(begin, tokens) => {
                path.len() >= begin.len()
                    && same(begin, &path[..begin.len()])
                    && matches(tokens, &path[begin.len()..], self.fold)
            }
        }
    }
}

/// Blanks at the end do not count, unless a backslash is before them. A TAB does.
fn without_blanks_at_the_end(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while at < line.len() {
        at += match line[at] {
            // The backslash at the end keeps what is before it.
            b'\\' if at + 1 == line.len() => return line,
            b'\\' => {
                end = at + 2;
                2
            }
            b' ' => 1,
            _ => {
                end = at + 1;
                1
            }
        };
    }
    &line[..end.min(line.len())]
}

fn tokens(pattern: &[u8], fold: bool) -> Vec<Token> {
    let mut tokens = Vec::new();
    let lower = |byte: u8| if fold { byte.to_ascii_lowercase() } else { byte };
    let mut at = 0;
    while let Some(byte) = pattern.get(at) {
        at += 1;
        tokens.push(match byte {
            b'?' => Token::Any,
            b'\\' => {
                at += 1;
                // As it is: git leaves its case alone, and so never matches it in the other one.
                pattern.get(at - 1).map_or(Token::Never, |byte| Token::Byte(*byte))
            }
            b'*' => stars(pattern, &mut at),
            b'[' => set(pattern, &mut at, fold).map_or(Token::Never, Token::Set),
            byte => Token::Byte(lower(*byte)),
        });
    }
    tokens
}

/// One or more stars; `at` is behind the first. Two or more alone between slashes match slashes too.
fn stars(pattern: &[u8], at: &mut usize) -> Token {
    let first = *at - 1;
    *at += pattern[*at..].iter().take_while(|byte| **byte == b'*').count();
    let rest = &pattern[*at..];
    let begins = first == 0 || pattern[first - 1] == b'/';
    if *at - first == 1 || !begins {
        return Token::Star;
    }
    match rest {
        [b'/', ..] => {
            *at += 1;
            Token::Directories
        }
        [] | [b'\\', b'/', ..] => Token::Everything,
        _ => Token::Star,
    }
}

/// The bytes in brackets; `at` is behind the first bracket, and then behind the last. `None` if they are never closed, or a
/// class in them does not exist.
fn set(pattern: &[u8], at: &mut usize, fold: bool) -> Option<[u64; 4]> {
    let negated = matches!(pattern.get(*at), Some(b'!' | b'^'));
    *at += usize::from(negated);
    let mut members = [false; 256];
    let mut before = None;
    let mut first = true;
    loop {
        let byte = *pattern.get(*at)?;
        if byte == b']' && !first {
            *at += 1;
            break;
        }
        first = false;
        *at += 1;
        before = match (byte, before) {
            (b'-', Some(start)) if !matches!(pattern.get(*at), None | Some(b']')) => {
                let end = escaped(pattern, at)?;
                for byte in 0..=255u8 {
                    let upper = fold
                        && byte.is_ascii_lowercase()
                        && (start..=end).contains(&byte.to_ascii_uppercase());
                    members[usize::from(byte)] |= (start..=end).contains(&byte) || upper;
                }
                None
            }
            (b'[', _) if pattern.get(*at) == Some(&b':') => class(pattern, at, fold, &mut members)?,
            _ => {
                *at -= 1;
                let byte = escaped(pattern, at)?;
                members[usize::from(byte)] = true;
                Some(byte)
            }
        };
    }
    let mut set = [0; 4];
    for byte in 0..=255u8 {
        let seen = if fold { byte.to_ascii_lowercase() } else { byte };
        let is_in = members[usize::from(seen)] != negated && byte != b'/';
        set[usize::from(byte / 64)] |= u64::from(is_in) << (byte % 64);
    }
    Some(set)
}

/// The byte at `at`, or behind a backslash there.
fn escaped(pattern: &[u8], at: &mut usize) -> Option<u8> {
    *at += usize::from(*pattern.get(*at)? == b'\\');
    *at += 1;
    pattern.get(*at - 1).copied()
}

/// A class, `[:name:]`; `at` is at the first colon. Where that has no end of its own, the bracket is a member as any other.
/// `None` if the class does not exist; else what a range may begin with.
#[expect(clippy::option_option, reason = "the outer one is an error")]
fn class(pattern: &[u8], at: &mut usize, fold: bool, members: &mut [bool; 256]) -> Option<Option<u8>> {
    let start = *at + 1;
    let end = start + pattern[start..].iter().position(|byte| *byte == b']')?;
    let Some(name) = pattern[start..end].strip_suffix(b":") else {
        members[usize::from(b'[')] = true;
        return Some(Some(b'['));
    };
    let is_in: fn(&u8) -> bool = match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| (0x20..0x7f).contains(byte),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" if fold => u8::is_ascii_alphabetic,
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    };
    (0..=255u8).filter(is_in).for_each(|byte| members[usize::from(byte)] = true);
    *at = end + 1;
    Some(None)
}

/// Whether the tokens match all of a text.
///
/// A star is matched with as little as possible, and with more when what follows fails. Between two stars it is enough to try
/// the last one, because the earlier ones end at the same slash; so the time is at most the product of both lengths.
fn matches(tokens: &[Token], text: &[u8], fold: bool) -> bool {
    let (mut token, mut at) = (0, 0);
    // Where to go on after a failure: the token behind the star, and the text that is tried next.
    let mut star: Option<(usize, usize)> = None;
    let mut deep: Option<(usize, usize)> = None;
    loop {
        let byte = text.get(at).copied();
        match (tokens.get(token), byte) {
            (None, None) => return true,
            (Some(Token::Star), _) => {
                token += 1;
                star = Some((token, at));
                continue;
            }
            (Some(Token::Everything | Token::Directories), _) => {
                token += 1;
                (star, deep) = (None, Some((token, at)));
                continue;
            }
            (Some(wanted), Some(byte)) if wanted.fits(byte, fold) => {
                (token, at) = (token + 1, at + 1);
                continue;
            }
            _ => {}
        }
        if let Some((behind, tried)) = star
            && text.get(tried).is_some_and(|byte| *byte != b'/')
        {
            star = Some((behind, tried + 1));
            (token, at) = (behind, tried + 1);
            continue;
        }
        let Some((behind, tried)) = deep else { return false };
        let step = match tokens[behind - 1] {
            Token::Directories => text[tried..].iter().position(|byte| *byte == b'/'),
            _ => text.get(tried).map(|_| 0),
        };
        let Some(step) = step else { return false };
        (star, deep) = (None, Some((behind, tried + step + 1)));
        (token, at) = (behind, tried + step + 1);
    }
}

impl Token {
    fn fits(&self, byte: u8, fold: bool) -> bool {
        match self {
            Token::Byte(wanted) => *wanted == if fold { byte.to_ascii_lowercase() } else { byte },
            Token::Any => byte != b'/',
            Token::Set(set) => set[usize::from(byte / 64)] >> (byte % 64) & 1 == 1,
            Token::Star | Token::Everything | Token::Directories | Token::Never => false,
        }
    }
}
