//! The keys of tables, and the value that an entry has for each.

use super::class::{self, Now};
use crate::entry::{Found, above};
use dents_core::facts::Facts;
use dents_core::needs::{Kind, Needs};
use dents_core::path;
use dents_sink::Detail;
use dents_sink::read::Columns;

/// The key by which sums are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    User,
    Group,
    Extension,
    Age,
    Size,
    Depth,
    /// The project id: one request for each entry.
    Project,
    /// The directory at this depth.
    Directory(u32),
}

/// The words of the command line, each with what a row is.
pub(super) const WORDS: [(&str, &str); 8] = [
    ("user", "A row for each owner"),
    ("group", "A row for each group"),
    ("extension", "What stands behind the last dot of the name"),
    ("age", "The time since the last modification"),
    ("size", "The size of files"),
    ("depth", "The level below PATH"),
    ("project", "The project ID of quotas"),
    ("directory:1", "The directory at depth 1, or another depth"),
];

/// No project has this number: the kernel calls it `INVALID_PROJID`.
pub(crate) const NO_PROJECT: u32 = u32::MAX;

/// One or two keys: a table has a row for each value, or for each pair of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct By {
    pub(crate) first: Key,
    pub(crate) second: Option<Key>,
}

impl By {
    /// Parses `KEY`, `KEY,KEY` for pairs, or a list of more keys: a table for each.
    pub(crate) fn parse(text: &str) -> Result<Vec<By>, String> {
        let keys = text.split(',').map(Key::parse).collect::<Result<Vec<Key>, String>>()?;
        match keys[..] {
            [first, second] if first == second => Err("a table of pairs has two different keys".to_owned()),
            [first, second] => Ok(vec![By { first, second: Some(second) }]),
            _ => Ok(keys.into_iter().map(|first| By { first, second: None }).collect()),
        }
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> + use<> {
        [Some(self.first), self.second].into_iter().flatten()
    }

    /// The words of the command line.
    pub(crate) fn word(&self) -> String {
        self.keys().map(Key::word).collect::<Vec<_>>().join(",")
    }

    /// Whether only regular files count.
    pub(crate) fn counts_files(&self) -> bool {
        self.keys().any(|key| matches!(key, Key::Extension | Key::Age | Key::Size))
    }

    /// Whether a value depends on the name, so that a file with several links may have several values.
    pub(crate) fn is_by_name(&self) -> bool {
        self.keys().any(Key::is_by_name)
    }
}

impl Key {
    fn parse(text: &str) -> Result<Key, String> {
        let at_depth =
            |depth: &str| depth.parse().ok().filter(|_| depth.bytes().all(|byte| byte.is_ascii_digit()));
        Ok(match text {
            "user" => Key::User,
            "group" => Key::Group,
            "extension" => Key::Extension,
            "age" => Key::Age,
            "size" => Key::Size,
            "depth" => Key::Depth,
            "project" => Key::Project,
            _ => match text.strip_prefix("directory:").and_then(at_depth) {
                Some(depth) => Key::Directory(depth),
                None => {
                    let keys = "user, group, extension, age, size, depth, project, directory:N (at depth N)";
                    return Err(format!("‘{text}’ is none of {keys}; two with a comma are a table of pairs"));
                }
            },
        })
    }

    /// The word of the command line.
    pub(crate) fn word(self) -> String {
        match self {
            Key::User => "user",
            Key::Group => "group",
            Key::Extension => "extension",
            Key::Age => "age",
            Key::Size => "size",
            Key::Depth => "depth",
            Key::Project => "project",
            Key::Directory(depth) => return format!("directory:{depth}"),
        }
        .to_owned()
    }

    /// The title of a column.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Key::User => "USER",
            Key::Group => "GROUP",
            Key::Extension => "EXTENSION",
            Key::Age => "CHANGED",
            Key::Size => "SIZE OF FILES",
            Key::Depth => "DEPTH",
            Key::Project => "PROJECT",
            Key::Directory(_) => "DIRECTORY",
        }
    }

    /// Whether the values have an order of their own.
    pub(crate) fn is_ordered(self) -> bool {
        matches!(self, Key::Age | Key::Size | Key::Depth)
    }

    pub(crate) fn is_by_name(self) -> bool {
        matches!(self, Key::Extension | Key::Depth | Key::Directory(_))
    }

    /// Whether values are texts, which get numbers.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Key::Extension | Key::Directory(_))
    }

    /// The needs of this key, beside those of all keys.
    pub(crate) fn needs(self) -> Needs {
        match self {
            Key::User => Needs::UID,
            Key::Group => Needs::GID,
            Key::Age => Needs::MTIME,
            Key::Extension | Key::Size | Key::Depth | Key::Project | Key::Directory(_) => Needs::empty(),
        }
    }

    /// The columns of a scan file that this key reads, beside those of its needs.
    pub(crate) fn columns(self) -> Columns {
        match self {
            Key::User => Columns::USER,
            Key::Group => Columns::GROUP,
            Key::Extension => Columns::NAME,
            Key::Directory(_) => Columns::PATH,
            Key::Project => Columns::PROJECT,
            Key::Age | Key::Size | Key::Depth => Columns::empty(),
        }
    }

    /// The value of an entry, if it is a number. A value that is not known is [`Facts::NOBODY`] or [`NO_PROJECT`].
    pub(crate) fn number(self, found: &Found<'_>, facts: &Facts<'_>, now: Now) -> u32 {
        match self {
            Key::User => facts.uid,
            Key::Group => facts.gid,
            Key::Age => facts.time(Needs::MTIME).map_or(u32::MAX, |time| now.age(time) as u32),
            Key::Size => class::size(facts.size) as u32,
            Key::Depth => found.depth,
            Key::Project => found.details.number(Detail::Project).map_or(NO_PROJECT, |number| number as u32),
            Key::Extension | Key::Directory(_) => 0,
        }
    }

    /// Writes the value of an entry, if it is a text, into `text`, replacing its contents.
    pub(crate) fn text(self, found: &Found<'_>, text: &mut Vec<u8>) {
        text.clear();
        match self {
            Key::Extension => text.extend_from_slice(dents_sink::extension(found.name)),
            Key::Directory(depth) => directory(found, depth, text),
            _ => {}
        }
    }
}

/// The directory at this depth that contains the entry, or is the entry. For an entry with a smaller depth, its own directory.
fn directory(found: &Found<'_>, depth: u32, text: &mut Vec<u8>) {
    let is_one = found.depth == 0 || (found.kind == Kind::Dir && found.depth <= depth);
    if is_one {
        return path::push(found.parent, found.name, text);
    }
    // The depth of the parent is smaller by one.
    let levels = (found.depth - 1).saturating_sub(depth);
    text.extend_from_slice((0..levels).fold(found.parent, |path, _| above(path)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_pairs() {
        let by = |text| By::parse(text).map(|all| all.iter().map(|by| (by.first, by.second)).collect());
        assert_eq!(by("user"), Ok(vec![(Key::User, None)]));
        assert_eq!(by("user,age"), Ok(vec![(Key::User, Some(Key::Age))]));
        assert_eq!(by("directory:2,extension"), Ok(vec![(Key::Directory(2), Some(Key::Extension))]));
        assert_eq!(by("user,age,size"), Ok(vec![(Key::User, None), (Key::Age, None), (Key::Size, None)]));
        for (word, _) in WORDS {
            assert_eq!(Key::parse(word).map(Key::word).as_deref(), Ok(word));
        }
        for wrong in ["", "users", "user,", "user,user", "directory", "directory:", "directory:+1"] {
            assert!(By::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
