//! Nests rows that come in the order of their paths.
//!
//! Paths are compared bytewise, so `a-b` comes between `a` and `a/c`. A directory therefore waits until something below it comes, or until
//! nothing below it can come any more; then it is written, empty. Those that wait are a stack, because each of their paths begins with the
//! one before. So memory grows with the depth of the tree alone.

use crate::row::{Fault, Row};
use crate::scan_file::Columns;
use crate::words;
use dents_core::facts::Facts;
use dents_core::needs::Kind;
use dents_core::path;
use std::io::{self, Write};

/// Writes rows as nested arrays.
pub(super) struct Tree<'o> {
    out: &'o mut dyn Write,
    /// The last row, because a directory that could not be read has two.
    held: Option<Entry>,
    /// The path of the innermost open directory.
    path: Vec<u8>,
    open: Vec<Open>,
    waiting: Vec<Entry>,
}

/// An open directory.
struct Open {
    /// The length of its path.
    end: usize,
    dev: (u32, u32),
}

/// An entry that is not written yet.
struct Entry {
    path: Vec<u8>,
    /// The length of the path of its directory.
    parent: usize,
    depth: u32,
    kind: Kind,
    facts: Option<Facts<'static>>,
    has_failed: bool,
}

impl Entry {
    fn of(row: &Row<'_>) -> Entry {
        let mut path = Vec::with_capacity(row.parent.len() + row.name.len() + 1);
        row.path(&mut path);
        let Row { parent, depth, kind, fault, .. } = *row;
        let facts = row.without_texts().facts;
        Entry { path, parent: parent.len(), depth, kind, facts, has_failed: fault.is_some() }
    }

    /// A directory of which there is no row, because a filter left it out.
    fn unknown(path: &[u8], parent: usize, depth: u32) -> Entry {
        Entry { path: path.to_vec(), parent, depth, kind: Kind::Dir, facts: None, has_failed: false }
    }

    fn name(&self) -> &[u8] {
        let name = &self.path[self.parent..];
        if self.depth == 0 { name } else { name.strip_prefix(b"/").unwrap_or(name) }
    }
}

impl<'o> Tree<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Tree<'o> {
        Tree { out, held: None, path: Vec::new(), open: Vec::new(), waiting: Vec::new() }
    }

    pub(super) fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        let entry = Entry::of(row);
        if let Some(held) = &mut self.held
            && held.path == entry.path
            && held.depth == entry.depth
        {
            held.has_failed |= entry.has_failed;
            held.facts = held.facts.or(entry.facts);
            if row.fault.is_some_and(|fault: Fault| fault.is_of_directory()) {
                held.kind = Kind::Dir;
            }
            return Ok(());
        }
        match self.held.replace(entry) {
            Some(held) => self.take(held),
            None => Ok(()),
        }
    }

    /// Writes the rest, and closes all directories but not the array around them.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Some(held) = self.held.take() {
            self.take(held)?;
        }
        while let Some(empty) = self.waiting.pop() {
            self.enter(empty)?;
        }
        if self.path.is_empty() {
            return Err(wrong("the scan has no entry; ncdu's format needs a directory"));
        }
        self.close(0)
    }

    fn take(&mut self, entry: Entry) -> io::Result<()> {
        while let Some(last) = self.waiting.last() {
            // Something below it may come yet: it is not after `last/`.
            let may_come = is_below(&entry.path, &last.path)
                || entry.path.strip_prefix(&last.path[..]).is_some_and(|rest| rest.first() < Some(&b'/'));
            if may_come {
                break;
            }
            let Some(empty) = self.waiting.pop() else { break };
            self.enter(empty)?;
        }
        self.reach(&entry)?;
        if entry.kind == Kind::Dir {
            self.waiting.push(entry);
            return Ok(());
        }
        if entry.depth == 0 {
            return Err(wrong("a PATH is not a directory, as the root of ncdu's format must be"));
        }
        self.write(&entry, b"\n")
    }

    /// Closes the directories that an entry is not in, and opens those that it is in.
    fn reach(&mut self, entry: &Entry) -> io::Result<()> {
        let parent = &entry.path[..entry.parent];
        while let Some(top) = self.open.last() {
            if entry.depth > 0 && (self.path[..top.end] == *parent || is_below(parent, &self.path[..top.end]))
            {
                break;
            }
            self.close(self.open.len() - 1)?;
        }
        let missing = (entry.depth as usize).saturating_sub(self.open.len());
        let mut ends = vec![entry.parent];
        while ends.len() < missing {
            let last = ends[ends.len() - 1];
            let above = entry.path[..last].iter().rposition(|byte| *byte == b'/');
            // The slash of the root belongs to it.
            ends.push(above.map_or(0, |slash| slash.max(1)));
        }
        for end in ends.into_iter().take(missing).rev() {
            let path = &entry.path[..end];
            let known = self.waiting.iter().position(|one| one.path == path);
            let depth = self.open.len() as u32;
            let above = self.open.last().map_or(0, |open| open.end);
            let directory = match known {
                Some(at) => self.waiting.remove(at),
                None => Entry::unknown(path, above, depth),
            };
            self.begin(&directory)?;
        }
        Ok(())
    }

    /// Writes a directory in which there is nothing.
    fn enter(&mut self, directory: Entry) -> io::Result<()> {
        self.reach(&directory)?;
        self.begin(&directory)?;
        self.close(self.open.len() - 1)
    }

    fn begin(&mut self, directory: &Entry) -> io::Result<()> {
        if self.open.is_empty() && !self.path.is_empty() {
            return Err(wrong("the scan has several PATHs, and ncdu's format one root"));
        }
        self.write(directory, b"\n[")?;
        let above = self.open.last().map_or((0, 0), |open| open.dev);
        let dev = directory.facts.map_or(above, |facts| facts.dev);
        self.path.clear();
        self.path.extend_from_slice(&directory.path);
        self.open.push(Open { end: self.path.len(), dev });
        Ok(())
    }

    /// Closes directories until this many are open.
    fn close(&mut self, open: usize) -> io::Result<()> {
        while self.open.len() > open {
            self.open.pop();
            self.out.write_all(b"]")?;
        }
        if let Some(top) = self.open.last() {
            self.path.truncate(top.end);
        }
        Ok(())
    }

    fn write(&mut self, entry: &Entry, begin: &[u8]) -> io::Result<()> {
        let mut text = vec![b','];
        text.extend_from_slice(begin);
        text.extend_from_slice(b"{\"name\":\"");
        push_name(entry.name(), &mut text);
        text.push(b'"');
        let above = self.open.last().map(|open| open.dev);
        if let Some(facts) = &entry.facts {
            push_facts(facts, entry.kind, above, &mut text);
        }
        if !matches!(entry.kind, Kind::Reg | Kind::Dir) {
            text.extend_from_slice(b",\"notreg\":true");
        }
        if entry.has_failed {
            text.extend_from_slice(b",\"read_error\":true");
        }
        text.push(b'}');
        self.out.write_all(&text)
    }
}

fn push_facts(facts: &Facts<'_>, kind: Kind, above: Option<(u32, u32)>, out: &mut Vec<u8>) {
    let mut number = |name: &str, number: u64| {
        out.extend(format!(",\"{name}\":{number}").bytes());
    };
    for (name, size) in [("asize", facts.size), ("dsize", facts.allocated)] {
        if size > 0 {
            number(name, size);
        }
    }
    if above != Some(facts.dev) {
        number("dev", words::device(facts.dev));
    }
    for (name, column, value) in [
        ("uid", Columns::UID, facts.uid),
        ("gid", Columns::GID, facts.gid),
        ("mode", Columns::MODE, facts.mode.into()),
    ] {
        if facts.knows(column) {
            number(name, value.into());
        }
    }
    if let Some(Ok(seconds)) = facts.known(Columns::MTIME, u64::try_from(facts.mtime.sec)) {
        number("mtime", seconds);
    }
    number("ino", facts.ino);
    if facts.nlink > 1 && kind != Kind::Dir {
        number("nlink", facts.nlink.into());
        out.extend_from_slice(b",\"hlnkc\":true");
    }
}

/// Escapes what ncdu escapes. All other bytes are written as they are.
fn push_name(name: &[u8], out: &mut Vec<u8>) {
    for byte in name {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            0..=0x1f | 0x7f => out.extend(format!("\\u{byte:04x}").bytes()),
            _ => out.push(*byte),
        }
    }
}

/// Whether a path is below a directory.
fn is_below(path: &[u8], directory: &[u8]) -> bool {
    let Some(rest) = path.strip_prefix(directory) else { return false };
    !rest.is_empty() && rest.starts_with(path::separator(directory))
}

fn wrong(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{problem}; choose another format"))
}
