//! The two settings of git that change what is ignored: `core.excludesFile` and `core.ignoreCase`.
//!
//! The files are those of git-config(1): of the machine, of the user, of the repository, in this order; a later value wins.
//! `include.path` is followed, `includeIf` is not. No program is run. A repository's value names a file of patterns: it is
//! read with the same care as any ignore file, and nothing of it is shown.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// How many files may include each other.
const DEPTH: usize = 10;

/// Reads a file; `None` if it cannot be read.
pub(super) type Read<'r> = dyn FnMut(&Path) -> Option<Vec<u8>> + 'r;

/// Called with the name of a setting and its value, if it has one.
type Found<'f> = dyn FnMut(&[u8], Option<&[u8]>) + 'f;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Config {
    /// The user's file of patterns, if a setting names one. A relative path is below the top of the repository; an empty one
    /// names no file.
    excludes_file: Option<Vec<u8>>,
    /// Whether letters match in either case.
    pub(super) fold: bool,
}

impl Config {
    /// The settings of the machine and of the user. They are read once.
    pub(super) fn of_user(read: &mut Read<'_>) -> Config {
        static CONFIG: OnceLock<Config> = OnceLock::new();
        CONFIG
            .get_or_init(|| files().iter().fold(Config::default(), |config, file| config.with(file, read)))
            .clone()
    }

    /// These, and those of a file and of the files that it includes.
    pub(super) fn with(self, file: &Path, read: &mut Read<'_>) -> Config {
        self.and(file, DEPTH, read)
    }

    fn and(mut self, file: &Path, depth: usize, read: &mut Read<'_>) -> Config {
        let Some(text) = read(file) else { return self };
        let mut settings = Vec::new();
        parse(&text, &mut |name, value| settings.push((name.to_vec(), value.map(<[u8]>::to_vec))));
        for (name, value) in settings {
            match (&name[..], value) {
                (b"core.excludesfile", Some(value)) => self.excludes_file = Some(expanded(value)),
                (b"core.ignorecase", value) => self.fold = value.is_none_or(|value| is_true(&value)),
                (b"include.path", Some(value)) if depth > 0 => {
                    let path = PathBuf::from(OsString::from_vec(expanded(value)));
                    let path = file.parent().map_or_else(|| path.clone(), |directory| directory.join(&path));
                    self = self.and(&path, depth - 1, read);
                }
                _ => {}
            }
        }
        self
    }

    /// The user's file of patterns; `None` if there is none. A relative path is below `top`.
    pub(super) fn excludes_file(&self, top: &[u8]) -> Option<Vec<u8>> {
        match &self.excludes_file {
            Some(path) if path.is_empty() => None,
            Some(path) => Some(
                Path::new(OsStr::from_bytes(top)).join(OsStr::from_bytes(path)).into_os_string().into_vec(),
            ),
            None => {
                user_directory().map(|directory| directory.join("git/ignore").into_os_string().into_vec())
            }
        }
    }
}

/// The files of the machine and of the user.
fn files() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name);
    let mut files = Vec::new();
    if !variable("GIT_CONFIG_NOSYSTEM").is_some_and(|value| is_true(value.as_bytes())) {
        files.push(variable("GIT_CONFIG_SYSTEM").map_or_else(|| "/etc/gitconfig".into(), PathBuf::from));
    }
    match variable("GIT_CONFIG_GLOBAL") {
        Some(path) => files.push(path.into()),
        None => {
            files.extend(user_directory().map(|directory| directory.join("git/config")));
            files.extend(home().map(|home| home.join(".gitconfig")));
        }
    }
    files
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// `$XDG_CONFIG_HOME`, or `~/.config`.
fn user_directory() -> Option<PathBuf> {
    let own = std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    own.or_else(|| home().map(|home| home.join(".config")))
}

/// `~/` is the home directory.
fn expanded(path: Vec<u8>) -> Vec<u8> {
    match (path.strip_prefix(b"~/"), home()) {
        (Some(rest), Some(home)) => home.join(OsStr::from_bytes(rest)).into_os_string().into_vec(),
        _ => path,
    }
}

/// git's words for true, and numbers but 0. An empty value is false.
fn is_true(value: &[u8]) -> bool {
    let words: [&[u8]; 3] = [b"true", b"yes", b"on"];
    words.iter().any(|word| word.eq_ignore_ascii_case(value))
        || std::str::from_utf8(value).is_ok_and(|text| text.parse::<i64>().is_ok_and(|number| number != 0))
}

/// Passes each setting, `section.key` in small letters, and its value; `None` for a key alone. Keys of sections with a name of
/// their own (`[core "x"]`) are left out. Git refuses a file from its first mistake on: there this ends.
fn parse(text: &[u8], found: &mut Found<'_>) {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut rest = text;
    let mut section: Option<Vec<u8>> = None;
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'#' | b';' => {
                rest = rest.iter().position(|byte| *byte == b'\n').map_or(&[][..], |end| &rest[end..])
            }
            b'[' => {
                let Some((name, after)) = header(after) else { return };
                (section, rest) = (name, after);
            }
            byte if byte.is_ascii_whitespace() => rest = after,
            byte if byte.is_ascii_alphabetic() => {
                let len =
                    rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
                let (key, after) = rest.split_at(len);
                let Some((value, after)) = setting(after) else { return };
                if let Some(section) = &section {
                    let name = [&section[..], b".", key].concat().to_ascii_lowercase();
                    found(&name, value.as_deref());
                }
                rest = after;
            }
            _ => return,
        }
    }
}

/// The name of a section, behind its bracket, and the rest; no name for one with a name of its own. `None` for a mistake.
fn header(text: &[u8]) -> Option<(Option<Vec<u8>>, &[u8])> {
    let len = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(byte)).count();
    let (name, rest) = text.split_at(len);
    if let Some(rest) = rest.strip_prefix(b"]") {
        return Some((Some(name.to_vec()), rest));
    }
    let quoted = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let mut at = 0;
    loop {
        match quoted.get(at)? {
            b'"' => break,
            b'\\' => at += 2,
            b'\n' => return None,
            _ => at += 1,
        }
    }
    Some((None, quoted[at + 1..].strip_prefix(b"]")?))
}

/// The value behind a key, if it has one, and the rest of the file. `None` for a mistake.
fn setting(text: &[u8]) -> Option<(Option<Vec<u8>>, &[u8])> {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let text = &text[blanks..];
    match text.first() {
        None | Some(b'\n') => return Some((None, text)),
        Some(b'\r') if text.get(1) == Some(&b'\n') => return Some((None, text)),
        Some(b'=') => {}
        Some(_) => return None,
    }
    let (mut value, mut at, mut quoted, mut kept) = (Vec::new(), 1, false, 0);
    loop {
        let byte = text.get(at).copied().unwrap_or(b'\n');
        at += 1;
        match byte {
            b'\n' if quoted => return None,
            b'\n' => break,
            b'\r' if text.get(at) == Some(&b'\n') => {}
            b'"' => {
                quoted = !quoted;
                kept = value.len();
            }
            b'#' | b';' if !quoted => {
                at += text[at.min(text.len())..].iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
                break;
            }
            b'\\' => {
                at += 1;
                match text.get(at - 1)? {
                    b'\n' => continue,
                    b'\r' if text.get(at) == Some(&b'\n') => {
                        at += 1;
                        continue;
                    }
                    b'n' => value.push(b'\n'),
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    byte @ (b'\\' | b'"') => value.push(*byte),
                    _ => return None,
                }
                kept = value.len();
            }
            byte if byte.is_ascii_whitespace() && !quoted => {
                // Blanks before the value do not count, nor those at its end.
                if !value.is_empty() {
                    value.push(byte);
                }
            }
            byte => {
                value.push(byte);
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    Some((Some(value), text.get(at..).unwrap_or_default()))
}
