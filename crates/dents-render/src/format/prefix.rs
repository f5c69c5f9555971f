//! The parts before a name in every format: inode number, allocated size and, except in the long format, context.

use crate::frame::Rows;
use crate::number::{Text, digits, push_number, push_right, push_spaces};
use crate::style::Style;
use alloc::vec::Vec;
use dents_core::batch::Entry;

/// Which of these columns are shown, and how wide they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prefix {
    inode: Option<usize>,
    blocks: Option<usize>,
    context: Option<usize>,
    /// Whether the columns are aligned. Otherwise the widths are zero, and each entry takes as many columns as its
    /// numbers need.
    aligned: bool,
}

impl Prefix {
    /// Columns as wide as their widest number, in a batch of entries.
    pub(super) fn aligned(style: &Style, rows: Rows<'_>) -> Prefix {
        let entries = || rows.measured().filter(|entry| entry.is_known());
        let inodes = || rows.measured().filter(|entry| entry.knows_ino());
        let blocks = |entry: Entry<'_>| style.prefix.block_size.blocks(entry.blocks()).width();
        Prefix {
            inode: style.prefix.inode.then(|| inodes().map(|entry| entry.ino()).max().map_or(0, digits)),
            blocks: style.prefix.blocks.then(|| entries().map(blocks).max().unwrap_or(0)),
            context: style
                .prefix
                .context
                .then(|| entries().map(|entry| context(&entry).len()).max().unwrap_or(0)),
            aligned: true,
        }
    }

    /// Columns that are not aligned: each cell is as wide as its text.
    pub(super) fn unaligned(style: &Style) -> Prefix {
        Prefix {
            inode: style.prefix.inode.then_some(0),
            blocks: style.prefix.blocks.then_some(0),
            context: style.prefix.context.then_some(0),
            aligned: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.inode.is_none() && self.blocks.is_none() && self.context.is_none()
    }

    /// The width for an entry: in columns of the screen if the columns are aligned, else in bytes. (If no entry could be stat'ed, GNU
    /// counts the question marks as 0.)
    pub(super) fn width(&self, style: &Style, entry: &Entry<'_>) -> usize {
        if self.aligned {
            return [self.inode, self.blocks, self.context]
                .into_iter()
                .flatten()
                .map(|width| width + 1)
                .sum();
        }
        let known = entry.is_known();
        let inode = if style.prefix.inode && entry.knows_ino() { digits(entry.ino()) } else { 1 };
        let blocks = if known && style.prefix.blocks {
            style.prefix.block_size.blocks(entry.blocks()).len()
        } else {
            1
        };
        let context = self.context.map_or(0, |_| context(entry).len() + 1);
        self.inode.map_or(0, |_| inode + 1) + self.blocks.map_or(0, |_| blocks + 1) + context
    }

    #[inline]
    pub(super) fn write(&self, style: &Style, entry: &Entry<'_>, out: &mut Vec<u8>) {
        let known = entry.is_known();
        if let Some(width) = self.inode {
            // A file system without inode numbers returns 0.
            match if entry.knows_ino() { entry.ino() } else { 0 } {
                0 => push_right(out, b"?", width),
                inode => push_number(out, inode, width),
            }
            out.push(b' ');
        }
        if let Some(width) = self.blocks {
            let text = if known { style.prefix.block_size.blocks(entry.blocks()) } else { question_mark() };
            push_spaces(out, text.padding(width));
            out.extend_from_slice(text.as_bytes());
            out.push(b' ');
        }
        if let Some(width) = self.context {
            push_right(out, context(entry), width);
            out.push(b' ');
        }
    }

    /// Writes blanks in place of these columns, on a line without an entry.
    pub(super) fn write_blank(&self, out: &mut Vec<u8>) {
        [self.inode, self.blocks, self.context]
            .into_iter()
            .flatten()
            .for_each(|width| push_spaces(out, width + 1));
    }
}

/// The security context as shown.
pub(super) fn context<'b>(entry: &Entry<'b>) -> &'b [u8] {
    entry.context().unwrap_or(b"?")
}

fn question_mark() -> Text {
    let mut text = Text::empty();
    text.prepend(b"?");
    text
}
