//! Which entries are shown, in which order, and which of them is selected.

use super::tree::{Flags, Id, Node, Tree};
use std::collections::{BTreeSet, HashMap};

/// What entries are sorted by. Each begins with what is wanted most: the largest, the newest, the first name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Size,
    Name,
    Items,
    Time,
}

/// The directory that is shown.
pub(super) struct View {
    pub(super) directory: Id,
    /// Its entries, as they are shown.
    pub(super) rows: Vec<Id>,
    /// The index of the selected row, and of the first that is visible.
    pub(super) selected: usize,
    pub(super) offset: usize,
    pub(super) key: Key,
    pub(super) reversed: bool,
    pub(super) directories_first: bool,
    /// Whether sizes are bytes in files, not allocated bytes.
    pub(super) apparent: bool,
    pub(super) shows_items: bool,
    pub(super) shows_times: bool,
    /// Only names that contain this text are shown.
    pub(super) filter: String,
    pub(super) marks: BTreeSet<Id>,
    /// The largest figure of a row: the length of a bar is a share of it.
    pub(super) largest: u64,
    /// The selected entries of directories that were shown before.
    before: HashMap<Id, Id>,
    /// Whether the user has moved since the directory was entered; until then the first row stays selected.
    has_moved: bool,
    version: u64,
}

impl View {
    pub(super) fn new(directory: Id, apparent: bool) -> View {
        View {
            directory,
            rows: Vec::new(),
            selected: 0,
            offset: 0,
            key: Key::Size,
            reversed: false,
            directories_first: false,
            apparent,
            shows_items: false,
            shows_times: false,
            filter: String::new(),
            marks: BTreeSet::new(),
            largest: 0,
            before: HashMap::new(),
            has_moved: false,
            version: u64::MAX,
        }
    }

    /// The figure by which entries are compared.
    pub(super) fn figure(&self, node: &Node) -> u64 {
        if self.apparent { node.size } else { node.allocated }
    }

    /// The selected entry.
    pub(super) fn entry(&self) -> Option<Id> {
        self.rows.get(self.selected).copied()
    }

    /// Whether the tree has changed since the rows were made.
    pub(super) fn is_old(&self, tree: &Tree) -> bool {
        self.version != tree.version
    }

    /// Makes the rows again. The selected entry stays selected.
    pub(super) fn arrange(&mut self, tree: &Tree) {
        let selected = self.entry().filter(|_| self.has_moved);
        self.version = tree.version;
        let passes = self.passes();
        let is_shown = |id: &Id| {
            let node = tree.node(*id);
            let is_empty = node.has(Flags::UNKNOWN) && node.entries == 0 && !node.has(Flags::FAILED);
            !is_empty && passes(tree.name(*id))
        };
        // The keys are computed once: a directory may have millions of entries.
        let shown = tree.children(self.directory).filter(is_shown);
        let mut rows: Vec<(bool, u64, &[u8], Id)> = shown.map(|id| self.keys(tree, id)).collect();
        let reversed = self.reversed && self.key == Key::Name;
        rows.sort_unstable_by(|a, b| {
            let by_name = if reversed { b.2.cmp(a.2) } else { a.2.cmp(b.2) };
            (a.0, a.1).cmp(&(b.0, b.1)).then(by_name)
        });
        let rows: Vec<Id> = rows.into_iter().map(|row| row.3).collect();
        self.largest = rows.iter().map(|id| self.figure(tree.node(*id))).max().unwrap_or(0);
        self.rows = rows;
        self.select(selected);
    }

    /// Whether a name contains the text of the filter; all do if there is none.
    pub(super) fn passes(&self) -> impl Fn(&[u8]) -> bool + use<> {
        let needle = self.filter.to_lowercase();
        move |name| needle.is_empty() || String::from_utf8_lossy(name).to_lowercase().contains(&needle)
    }

    /// Selects an entry, or keeps the index if it is not shown.
    fn select(&mut self, id: Option<Id>) {
        let found = id.and_then(|id| self.rows.iter().position(|row| *row == id));
        self.selected = found.unwrap_or(self.selected).min(self.rows.len().saturating_sub(1));
    }

    /// What decides the place of an entry: the least comes first.
    fn keys<'t>(&self, tree: &'t Tree, id: Id) -> (bool, u64, &'t [u8], Id) {
        let node = tree.node(id);
        let figure = match self.key {
            Key::Size => self.figure(node),
            Key::Items => node.entries.into(),
            Key::Time => node.mtime.cast_unsigned() ^ (1 << 63),
            Key::Name => 0,
        };
        let figure = if self.reversed { figure } else { u64::MAX - figure };
        (self.directories_first && !node.is_dir(), figure, tree.name(id), id)
    }

    /// Sorts by a key; by the key of now in the other direction.
    pub(super) fn sort(&mut self, key: Key, tree: &Tree) {
        self.reversed = self.key == key && !self.reversed;
        self.key = key;
        self.has_moved = false;
        self.selected = 0;
        self.arrange(tree);
    }

    /// Selects the row this far from the selected one.
    pub(super) fn step(&mut self, rows: isize) {
        self.go(self.selected.saturating_add_signed(rows));
    }

    /// Selects a row, or the last if there are fewer.
    pub(super) fn go(&mut self, row: usize) {
        self.has_moved = true;
        self.selected = row.min(self.rows.len().saturating_sub(1));
    }

    /// Shows another directory. The entry that was selected there before is selected again, or `select`.
    pub(super) fn enter(&mut self, directory: Id, select: Option<Id>, tree: &Tree) {
        if let Some(entry) = self.entry() {
            self.before.insert(self.directory, entry);
        }
        let selected = select.or(self.before.get(&directory).copied());
        self.directory = directory;
        self.filter.clear();
        (self.selected, self.offset) = (0, 0);
        self.has_moved = false;
        self.arrange(tree);
        self.select(selected);
        self.has_moved = selected.is_some();
    }

    /// Moves the first visible row so that the selected one is visible, if this many are.
    pub(super) fn scroll(&mut self, visible: usize) {
        let most = self.rows.len().saturating_sub(visible);
        let lowest = (self.selected + 1).saturating_sub(visible.max(1));
        self.offset = self.offset.clamp(lowest, self.selected.max(lowest)).min(most);
    }

    /// Marks the selected entry, or takes its mark away, and goes to the next.
    pub(super) fn mark(&mut self) {
        if let Some(id) = self.entry() {
            if !self.marks.remove(&id) {
                self.marks.insert(id);
            }
            self.step(1);
        }
    }

    /// What an action is about: the marks, or the selected entry. An entry below another one of these is left out.
    pub(super) fn chosen(&self, tree: &Tree) -> Vec<Id> {
        if self.marks.is_empty() {
            return self.entry().into_iter().collect();
        }
        let is_below = |id: &Id| tree.ancestors(*id).any(|above| self.marks.contains(&above));
        self.marks.iter().copied().filter(|id| tree.is_attached(*id) && !is_below(id)).collect()
    }

    /// Forgets entries that were removed.
    pub(super) fn forget_removed(&mut self, tree: &Tree) {
        self.marks.retain(|id| tree.is_attached(*id));
        self.before.retain(|directory, entry| tree.is_attached(*directory) && tree.is_attached(*entry));
    }
}
