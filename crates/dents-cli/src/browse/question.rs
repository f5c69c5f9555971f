//! The question before a deletion: what will be gone, all of it, counted at one moment.
//!
//! The tree may grow while the question is on the screen. Its text does not change, and what is deleted is what it counted: the entries
//! with numbers below [`Counted::limit`].

use super::app::App;
use super::delete::{Counted, Target};
use super::scanner::State;
use super::tree::{Flags, Id, Tree};
use dents_commands::inode::Inode;
use dents_commands::message::counted;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// So many paths are shown.
const PATHS: usize = 5;
/// Characters that all of them may have, so that the question fits a terminal.
const OF_PATHS: usize = 320;

pub(super) struct Question {
    pub(super) targets: Vec<Target>,
    pub(super) counted: Counted,
    pub(super) lines: Vec<String>,
}

/// What a deletion takes away.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) entries: u64,
    /// Allocated bytes that become free.
    pub(super) freed: u64,
    /// Entries whose names do not contain the text of the filter, and the allocated bytes that these free.
    pub(super) hidden: u64,
    pub(super) hidden_freed: u64,
    /// Files that keep a link elsewhere, and their allocated bytes.
    pub(super) linked: u64,
    pub(super) linked_bytes: u64,
    /// Entries on other file systems: they stay, with all that is below them.
    pub(super) mounts: u64,
}

impl Question {
    /// About the marks, or the selected entry.
    pub(super) fn new(app: &App<'_>) -> Question {
        let tree = app.scanner.shared.lock();
        let chosen = app.view.chosen(&tree);
        let targets: Vec<Target> = chosen.iter().filter_map(|id| Target::new(&tree, *id)).collect();
        let ids: Vec<Id> = targets.iter().map(|target| target.id).collect();
        let figures = Figures::of(&tree, &ids, app.view.passes());
        let lines = lines(app, &tree, &ids, &figures);
        let counted = Counted { shared: Arc::clone(&app.scanner.shared), limit: tree.limit() };
        Question { targets, counted, lines }
    }
}

impl Figures {
    /// Of these entries and all below them: a look at each.
    pub(super) fn of(tree: &Tree, ids: &[Id], is_shown: impl Fn(&[u8]) -> bool) -> Figures {
        let mut figures = Figures::default();
        // Files with several links: how many of their names are below, whether all these are hidden, and their bytes.
        let mut files: HashMap<Inode, (u32, bool, u64)> = HashMap::new();
        let device = |id: Id| tree.above(id).and_then(|above| tree.device(above)).unwrap_or_default();
        let mut waiting: Vec<(Id, (u32, u32))> = ids.iter().map(|id| (*id, device(*id))).collect();
        while let Some((id, dev)) = waiting.pop() {
            let node = tree.node(id);
            if node.has(Flags::MOUNT) {
                figures.mounts += 1;
                continue;
            }
            let is_hidden = !is_shown(tree.name(id));
            figures.entries += 1;
            figures.hidden += u64::from(is_hidden);
            if node.has(Flags::LINKED) {
                let (names, hidden, _) =
                    files.entry(Inode { dev, ino: node.ino }).or_insert((0, true, node.allocated));
                *names += 1;
                *hidden &= is_hidden;
                continue;
            }
            let mut own = node.allocated;
            for below in tree.children(id) {
                let node = tree.node(below);
                let counts = !node.has(Flags::COUNTED_ELSEWHERE);
                own = own.saturating_sub(if counts { node.allocated } else { 0 });
                waiting.push((below, dev));
            }
            figures.free(own, is_hidden);
        }
        for (inode, (names, is_hidden, bytes)) in files {
            if names < tree.links.nlink(inode) {
                figures.linked += 1;
                figures.linked_bytes = figures.linked_bytes.saturating_add(bytes);
            } else {
                figures.free(bytes, is_hidden);
            }
        }
        figures
    }

    fn free(&mut self, bytes: u64, is_hidden: bool) {
        self.freed = self.freed.saturating_add(bytes);
        self.hidden_freed = self.hidden_freed.saturating_add(if is_hidden { bytes } else { 0 });
    }
}

/// A text, or its last characters after a `<`.
fn end_of(text: String, most: usize) -> String {
    match text.char_indices().rev().nth(most - 1) {
        Some((at, _)) if at > 0 => format!("<{}", &text[at..]),
        _ => text,
    }
}

fn lines(app: &App<'_>, tree: &Tree, ids: &[Id], figures: &Figures) -> Vec<String> {
    let size = |bytes| String::from_utf8_lossy(app.setting.units.bytes(bytes).as_bytes()).into_owned();
    let entries = |number| counted(number, "entry", "entries");
    let mut lines =
        vec![format!("{}, {}, will be gone for ever:", entries(figures.entries), size(figures.freed))];
    let most = OF_PATHS / ids.len().clamp(1, PATHS);
    lines.extend(ids.iter().take(PATHS).map(|id| end_of(app.names.plain(&tree.path(*id)), most)));
    if ids.len() > PATHS {
        lines.push(format!("and {} more", ids.len() - PATHS));
    }
    if figures.hidden > 0 {
        let (hidden, freed) = (entries(figures.hidden), size(figures.hidden_freed));
        lines
            .push(format!("not shown: {hidden} of these, {freed}, whose names lack \"{}\"", app.view.filter));
    }
    let chosen: HashSet<Id> = ids.iter().copied().collect();
    let elsewhere = ids.len() - app.view.rows.iter().filter(|id| chosen.contains(id)).count();
    if elsewhere > 0 {
        lines.push(format!("marked, and not in the list now: {}", entries(elsewhere as u64)));
    }
    if figures.linked > 0 {
        let files = counted(figures.linked, "file", "files");
        lines.push(format!("not freed: {}, {files} with other links", size(figures.linked_bytes)));
    }
    if figures.mounts > 0 {
        lines.push(format!("not deleted: {}", counted(figures.mounts, "mount", "mounts")));
    }
    if app.scanner.state() == State::Scanning {
        lines.push("not deleted: what the scan finds from now on".to_owned());
    }
    lines.extend([String::new(), "y deletes, any other key does not".to_owned()]);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_shown_by_its_end() {
        let end = |text: &str| end_of(text.to_owned(), 3);
        assert_eq!(["", "äbc", "/äbc", "abcdef"].map(end), ["", "äbc", "<äbc", "<def"]);
    }
}
