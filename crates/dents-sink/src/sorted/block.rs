//! One worker's part: it sorts the rows of a directory by name.

use super::Sorter;
use super::frame::{Builder, is_second};
use crate::bytes::Bytes;
use crate::coding::{Before, Rows, name_of, put_row};
use crate::row::Row;
use crate::sink::Part;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// The most different owners in one block.
const OWNERS: usize = 32;

/// One worker's rows.
pub(crate) struct Worker<'s> {
    sorter: &'s Sorter,
    block: Block,
    /// Finished frames.
    frames: Vec<u8>,
}

impl Sorter {
    pub(crate) fn worker(&self) -> Worker<'_> {
        self.workers.fetch_add(1, Relaxed);
        Worker { sorter: self, block: Block::default(), frames: Vec::new() }
    }
}

#[cfg(test)]
impl Worker<'_> {
    /// Bytes that it has allocated.
    pub(super) fn held(&self) -> usize {
        let Block { rows, items, builder: _, .. } = &self.block;
        self.frames.capacity() + rows.capacity() + items.capacity() * size_of::<Item>()
    }
}

impl Part for Worker<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        let share = self.sorter.share();
        if row.parent != self.block.path || self.block.is_full(share) {
            self.block.end(&mut self.frames);
            if self.frames.len() >= share {
                self.sorter.take(&mut self.frames)?;
            }
            self.block.begin(row);
        }
        self.block.push(row);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.block.end(&mut self.frames);
        self.sorter.take(&mut self.frames)
    }
}

/// Rows of one directory, in the order in which they came. Each is encoded as if the previous row had the same device and owner, so
/// that rows with the same device and owner can change places.
#[derive(Default)]
struct Block {
    path: Vec<u8>,
    depth: u32,
    rows: Vec<u8>,
    items: Vec<Item>,
    /// The different devices and owners.
    owners: Vec<Before>,
    builder: Builder,
}

/// A row of a block.
struct Item {
    /// The first bytes of the name, which usually decide the order.
    prefix: u64,
    start: u32,
    end: u32,
    /// Its device and owner; `None` without facts.
    owner: Option<u32>,
    /// Whether it is the second row of a directory, about its contents.
    is_second: bool,
}

impl Block {
    /// Whether the block is full. Each row is compared with all owners, so their number is limited too.
    fn is_full(&self, share: usize) -> bool {
        self.rows.len() + self.items.len() * size_of::<Item>() >= share || self.owners.len() >= OWNERS
    }

    fn begin(&mut self, row: &Row<'_>) {
        self.path.clear();
        self.path.extend_from_slice(row.parent);
        self.depth = row.depth;
    }

    fn push(&mut self, row: &Row<'_>) {
        let owner = row.facts.as_ref().map(|facts| {
            // Usually it is the owner of the last row, which is the last of them.
            let known = self.owners.iter().rposition(|owner| owner.is_of(facts));
            known.unwrap_or_else(|| {
                self.owners.push(Before::of(facts));
                self.owners.len() - 1
            })
        });
        let start = self.rows.len();
        let mut none = Before::default();
        let before = owner.map_or(&mut none, |owner| &mut self.owners[owner]);
        put_row(&mut self.rows, &Row { parent: b"", ..*row }, b"", self.depth, before);
        self.items.push(Item {
            prefix: prefix(row.name),
            start: start as u32,
            end: self.rows.len() as u32,
            owner: owner.map(|owner| owner as u32),
            is_second: is_second(row),
        });
    }

    /// Appends the rows as frames, sorted.
    fn end(&mut self, out: &mut Vec<u8>) {
        let Block { path, depth, rows, items, owners, builder } = self;
        let name = |item: &Item| name_of(&rows[item.start as usize..item.end as usize]);
        items.sort_by(|a, b| {
            let by_name = a.prefix.cmp(&b.prefix).then_with(|| name(a).cmp(name(b)));
            by_name.then(a.is_second.cmp(&b.is_second))
        });
        builder.begin(*depth);
        let mut last = None;
        for item in items.drain(..) {
            if builder.is_full() {
                builder.end((path, 0), out);
                builder.begin(*depth);
                last = None;
            }
            let bytes = &rows[item.start as usize..item.end as usize];
            if item.owner.is_none() || item.owner == last {
                builder.encoded(bytes);
                continue;
            }
            last = item.owner;
            let owner = &owners[item.owner.unwrap_or_default() as usize];
            let row = Rows::new(Bytes(bytes), b"", *depth).after(owner).row();
            builder.row(&row.expect("it was encoded above"));
        }
        builder.end((path, 0), out);
        rows.clear();
        owners.clear();
    }
}

/// The first eight bytes as a number of the same order.
fn prefix(name: &[u8]) -> u64 {
    let mut first = [0; 8];
    let len = name.len().min(8);
    first[..len].copy_from_slice(&name[..len]);
    u64::from_be_bytes(first)
}
