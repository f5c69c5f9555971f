//! `--json`: one object. The lists are written as they are read from their sorted files, so they take no memory.

use super::draw::{Grown, directories, users};
use super::growth::Growth;
use super::lists::{Difference, List, Listed};
use super::{Args, Outcome};
use crate::output::{Completion, Head, Named, write_json};
use dents_render::record::text::exact;
use dents_render::record::words;
use serde::ser::{Error, SerializeSeq};
use serde::{Serialize, Serializer};
use std::cell::RefCell;
use std::io::{self, Write};

/// `{"dents":"diff", …, "total":{"bytes":N, "allocated":N, "entries":N}, "summary":{"new":{…}, "deleted":{…}, "changed":{…},
/// "moved":{…}}, "unknown":N, "directories":[{"path":…, "depth":N, "bytes":N, …}, …], "users":[{"name":…, "id":N, "bytes":N, …}, …],
/// "new":[{"path":…, "type":…, "old_size":null, "new_size":N, "old_path":null, "bytes":N, "allocated":N, "changes":[]}, …],
/// "deleted":[…], "changed":[…], "moved":[…]}`. With `--summary` directories, users and lists are null.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    head: Head,
    total: Growth,
    summary: Summary,
    /// Entries that could not be compared.
    unknown: u64,
    directories: Option<Vec<DirectoryObject<'a>>>,
    users: Option<Vec<UserObject<'a>>>,
    new: Option<Entries<'a>>,
    deleted: Option<Entries<'a>>,
    changed: Option<Entries<'a>>,
    moved: Option<Entries<'a>>,
}

#[derive(Serialize)]
struct Summary {
    new: Growth,
    deleted: Growth,
    changed: Growth,
    moved: Growth,
}

#[derive(Serialize)]
struct DirectoryObject<'a> {
    #[serde(flatten)]
    name: Named<'a>,
    depth: u32,
    #[serde(flatten)]
    growth: Growth,
}

#[derive(Serialize)]
struct UserObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_bytes: Option<String>,
    id: u32,
    #[serde(flatten)]
    growth: Growth,
}

#[derive(Serialize)]
struct EntryObject<'a> {
    #[serde(flatten)]
    name: Named<'a>,
    #[serde(rename = "type")]
    kind: &'static str,
    old_size: Option<u64>,
    new_size: Option<u64>,
    /// Null also where it is not UTF-8.
    old_path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_path_bytes: Option<String>,
    bytes: i128,
    allocated: i128,
    changes: Vec<&'static str>,
}

impl<'a> EntryObject<'a> {
    fn new(difference: &'a Difference) -> Self {
        let Difference { path, kind, old_size, new_size, old_path, changes, growth, .. } = difference;
        let (old_path, old_path_bytes) = old_path.as_deref().map_or((None, None), exact);
        EntryObject {
            name: Named::new(path),
            kind: words::of_kind(*kind),
            old_size: *old_size,
            new_size: *new_size,
            old_path,
            old_path_bytes,
            bytes: growth.bytes,
            allocated: growth.allocated,
            changes: changes.words().collect(),
        }
    }
}

/// A list that is read while it is written.
struct Entries<'l> {
    list: List,
    listed: &'l RefCell<Listed>,
}

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = serializer.serialize_seq(None)?;
        while let Some(next) = self.listed.borrow_mut().next(self.list).map_err(Error::custom)? {
            entries.serialize_element(&EntryObject::new(&next))?;
        }
        entries.end()
    }
}

pub(super) fn write(
    args: &Args,
    outcome: Outcome,
    completion: &Completion,
    out: &mut dyn Write,
) -> io::Result<()> {
    let top = args.top.unwrap_or(usize::MAX);
    let (directories, users) = (directories(args, &outcome), users(args, &outcome));
    let count = |list| outcome.listed.counts[list as usize];
    let summary = Summary {
        new: count(List::New),
        deleted: count(List::Deleted),
        changed: count(List::Changed),
        moved: count(List::Moved),
    };
    let listed = RefCell::new(outcome.listed);
    let entries = |list| (!args.summary).then_some(Entries { list, listed: &listed });
    let object = Object {
        head: Head::new("diff", completion),
        total: outcome.sums.total,
        summary,
        unknown: outcome.unknown,
        directories: (!args.summary).then(|| directories.iter().take(top).map(directory).collect()),
        users: (!args.summary).then(|| users.iter().take(top).map(user).collect()),
        new: entries(List::New),
        deleted: entries(List::Deleted),
        changed: entries(List::Changed),
        moved: entries(List::Moved),
    };
    write_json(&object, out)
}

fn directory(row: &Grown) -> DirectoryObject<'_> {
    DirectoryObject { name: Named::new(&row.name), depth: row.depth, growth: row.growth }
}

fn user(row: &Grown) -> UserObject<'_> {
    let (name, name_bytes) = exact(&row.name);
    UserObject { name, name_bytes, id: row.id, growth: row.growth }
}
