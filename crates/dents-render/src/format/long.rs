//! `-l`: a line for each entry. One pass measures the columns, a second one writes them.

use super::prefix::context;
use crate::consumer::{Consumer, Declare};
use crate::dired::{Dired, INDENT};
use crate::frame::{Frame, Rows};
use crate::mode;
use crate::name::Painter;
use crate::number::{Text, digits, push_left, put_number, put_right};
use crate::owner_column::OwnerColumn;
use crate::parallel::in_pieces;
use crate::sink::Sink;
use crate::style::Style;
use crate::time::Clock;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::iter::repeat_n;
use core::ops::Range;
use dents_core::batch::{Entry, Mark, Time};
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::owners::Owners;
use dents_core::team::Team;

pub(crate) fn declare(style: &Style, to: &mut Declare<'_>) {
    let mut all = Needs::TYPE | Needs::MODE | Needs::NLINK | Needs::SIZE | Needs::BLOCKS | style.long.time;
    all.set(Needs::UID, style.long.owner || style.long.author);
    all.set(Needs::GID, style.long.group);
    to(
        Consumer::Long,
        NeedsByKind::all(all)
            | NeedsByKind::of(Kind::Char, Needs::RDEV)
            | NeedsByKind::of(Kind::Block, Needs::RDEV)
            | NeedsByKind::of(Kind::Link, Needs::LINK),
    );
}

pub(crate) fn render(
    painter: &mut Painter<'_>,
    clock: &mut Option<Box<Clock>>,
    dired: &mut Option<Dired>,
    (frame, rows): (&Frame<'_>, Rows<'_>),
    team: &Team<'_>,
    out: &mut impl Sink,
) {
    let style = painter.style();
    let columns = measure(style, rows, frame.owners, team);
    let in_pieces = dired.is_none()
        && in_pieces(rows, painter, team, out, &|rows, painter, out| {
            let mut clock = style.clock(frame.now, frame.zone);
            draw(rows, &mut Row::new(columns.clone()), &mut clock, painter, &mut None, out);
        });
    if !in_pieces {
        let clock = clock.get_or_insert_with(|| Box::new(style.clock(frame.now, frame.zone)));
        clock.set(frame.now, frame.zone);
        draw(rows, &mut Row::new(columns), clock, painter, dired, out);
    }
}

/// Entries measured at a time by one thread.
const MEASURED: usize = 16_384;

fn measure<'s>(style: &'s Style, rows: Rows<'_>, owners: &'s Owners, team: &Team<'_>) -> Columns<'s> {
    let measure = |places: Range<usize>, columns: &mut Columns<'s>| {
        rows.measured_at(places).for_each(|entry| columns.measure(&entry));
    };
    let mut columns = Columns::new(style, owners);
    let count = rows.measured_count();
    if team.threads() == 1 || count < 2 * MEASURED {
        measure(0..count, &mut columns);
        return columns;
    }
    let part = |start| (start..count.min(start + MEASURED), columns.clone());
    let mut parts: Vec<_> = (0..count).step_by(MEASURED).map(part).collect();
    team.each(&mut parts, &|(places, columns)| measure(places.clone(), columns));
    parts.iter().for_each(|(_, part)| columns.join(part));
    columns
}

fn draw(
    rows: Rows<'_>,
    row: &mut Row<'_>,
    clock: &mut Clock,
    painter: &mut Painter<'_>,
    dired: &mut Option<Dired>,
    out: &mut impl Sink,
) {
    for entry in rows.shown() {
        let buffer = out.buffer();
        let line = buffer.len();
        painter.begin_line(buffer);
        let colored = buffer.len() - line;
        if dired.is_some() {
            buffer.extend_from_slice(INDENT);
        }
        let start = buffer.len() + row.counted_from;
        row.write(&entry, buffer);
        if entry.is_known() && entry.time() != Time::UNKNOWN {
            clock.write(entry.time(), buffer);
        } else {
            clock.write_unknown(buffer);
        }
        buffer.push(b' ');
        // An owner's name may have more bytes than columns. Then the row is longer than planned.
        let column = buffer.len().wrapping_sub(start).wrapping_sub(row.excess);
        match dired {
            None => {
                painter.name_and_target(&entry, column, buffer);
            }
            Some(dired) => {
                dired.uncount(colored);
                write_dired(dired, painter, &entry, column, out);
            }
        }
        out.buffer().push(row.style.eol);
        out.checkpoint();
    }
}

/// Like [`Painter::name_and_target`], and records the position of the name.
#[cold]
fn write_dired(
    dired: &mut Dired,
    painter: &mut Painter<'_>,
    entry: &Entry<'_>,
    column: usize,
    out: &mut impl Sink,
) {
    let offset = dired.offset(out);
    let buffer = out.buffer();
    let before = buffer.len();
    let (name, counted) = painter.name_and_target(entry, column, buffer);
    dired.uncount(buffer.len() - before - counted);
    let padding = painter.padding(entry.name());
    dired.name(offset + padding as u64, name - padding);
}

/// The widths of the columns.
#[derive(Clone)]
struct Columns<'s> {
    style: &'s Style,
    users: OwnerColumn<'s>,
    groups: OwnerColumn<'s>,
    context_width: usize,
    any_mark: bool,
    inode: u64,
    blocks_width: usize,
    nlink: u32,
    size: u64,
    size_width: usize,
    major: Option<u32>,
    minor: Option<u32>,
}

impl<'s> Columns<'s> {
    fn new(style: &'s Style, owners: &'s Owners) -> Columns<'s> {
        let column = |shown: bool, names| OwnerColumn::new(style, owners, names, shown);
        Columns {
            style,
            users: column(style.long.owner || style.long.author, Owners::user),
            groups: column(style.long.group, Owners::group),
            context_width: 0,
            any_mark: false,
            inode: 0,
            blocks_width: 1,
            nlink: 0,
            size: 0,
            size_width: 1,
            major: None,
            minor: None,
        }
    }

    /// Measures an entry. An entry that could not be stat'ed fits into any column.
    #[inline]
    fn measure(&mut self, entry: &Entry<'_>) {
        if !entry.is_known() {
            return;
        }
        let style = self.style;
        self.any_mark |= !style.long.mark.is_empty() && entry.mark() != Mark::None;
        self.nlink = self.nlink.max(entry.nlink());
        if style.prefix.inode {
            self.inode = self.inode.max(entry.ino());
        }
        if style.prefix.blocks {
            self.blocks_width = self.blocks_width.max(style.prefix.block_size.blocks(entry.blocks()).width());
        }
        if style.long.owner || style.long.author {
            self.users.measure(entry.uid());
        }
        if style.long.group {
            self.groups.measure(entry.gid());
        }
        if style.prefix.context {
            self.context_width = self.context_width.max(context(entry).len());
        }
        if is_device(entry) {
            let (major, minor) = entry.rdev();
            self.major = self.major.max(Some(major));
            self.minor = self.minor.max(Some(minor));
        } else if style.long.file_size.is_in_units_of(1) {
            self.size = self.size.max(entry.size());
        } else {
            self.size_width = self.size_width.max(style.long.file_size.bytes(entry.size()).width());
        }
    }
}

impl Columns<'_> {
    /// Joins the measurements of another thread.
    fn join(&mut self, other: &Columns<'_>) {
        self.users.width = self.users.width.max(other.users.width);
        self.groups.width = self.groups.width.max(other.groups.width);
        self.context_width = self.context_width.max(other.context_width);
        self.any_mark |= other.any_mark;
        self.inode = self.inode.max(other.inode);
        self.blocks_width = self.blocks_width.max(other.blocks_width);
        self.nlink = self.nlink.max(other.nlink);
        self.size = self.size.max(other.size);
        self.size_width = self.size_width.max(other.size_width);
        self.major = self.major.max(other.major);
        self.minor = self.minor.max(other.minor);
    }
}

fn is_device(entry: &Entry<'_>) -> bool {
    matches!(entry.kind(), Kind::Char | Kind::Block)
}

/// Everything before the time: a text of spaces, into which each column writes at its position. The owners of the
/// entry before stay in it, because they seldom change.
struct Row<'s> {
    style: &'s Style,
    users: OwnerColumn<'s>,
    groups: OwnerColumn<'s>,
    context_width: usize,
    text: Vec<u8>,
    /// Owner and group in `text`; `None` at first, and for an entry without known owners.
    owners: Option<(u32, u32)>,
    /// The security context in `text`, if it is shown.
    context: Vec<u8>,
    inode: Range<usize>,
    blocks: Range<usize>,
    mode: usize,
    mark: Option<usize>,
    nlink: Range<usize>,
    owners_start: usize,
    size_width: usize,
    minor_width: usize,
    /// Whether sizes may have more bytes than columns.
    wide: bool,
    /// The position from which GNU counts the columns of the screen: the size, if owners are before it.
    counted_from: usize,
    /// How many bytes the row has more than columns, before the position from which columns are counted. It is
    /// negative (wrapped around) if an owner's name of unknown width is not padded.
    excess: usize,
}

impl<'s> Row<'s> {
    fn new(columns: Columns<'s>) -> Row<'s> {
        let style = columns.style;
        let mut end = 0;
        let mut place = |width: Option<usize>| {
            let start = end;
            end += width.map_or(0, |width| width + 1);
            start..start + width.unwrap_or(0)
        };
        let inode = place(style.prefix.inode.then(|| digits(columns.inode)));
        let blocks = place(style.prefix.blocks.then_some(columns.blocks_width));
        let mode = place(Some(10 + usize::from(columns.any_mark)));
        let nlink = place(Some(digits(columns.nlink.into())));
        let [major_width, minor_width] =
            [columns.major, columns.minor].map(|n| n.map_or(0, |n| digits(n.into())));
        let device_width = if major_width > 0 { major_width + 2 + minor_width } else { 0 };
        let mut row = Row {
            style,
            text: Vec::new(),
            owners: None,
            context: Vec::new(),
            context_width: columns.context_width,
            mark: columns.any_mark.then_some(mode.start + 10),
            mode: mode.start,
            inode,
            blocks,
            owners_start: nlink.end + 1,
            nlink,
            size_width: columns.size_width.max(digits(columns.size)).max(device_width),
            minor_width,
            wide: style.long.file_size.is_wide() || style.prefix.block_size.is_wide(),
            counted_from: 0,
            excess: 0,
            users: columns.users,
            groups: columns.groups,
        };
        row.set_owners(None, b"?");
        if style.long.owner || style.long.group || style.long.author || style.prefix.context {
            row.counted_from = row.size_start();
        }
        row
    }

    /// Writes other owners, or another context, into the row.
    #[cold]
    fn set_owners(&mut self, owners: Option<(u32, u32)>, context: &[u8]) {
        let Row { style, text, users, groups, .. } = self;
        text.clear();
        text.resize(self.owners_start, b' ');
        self.owners = owners;
        if style.long.owner {
            users.write(owners.map(|(user, _)| user), text);
        }
        if style.long.group {
            groups.write(owners.map(|(_, group)| group), text);
        }
        if style.long.author {
            users.write(owners.map(|(user, _)| user), text);
        }
        if style.prefix.context {
            self.context.clear();
            self.context.extend_from_slice(context);
            push_left(text, context, self.context_width);
            text.push(b' ');
        }
        text.resize(text.len() + self.size_width + 1, b' ');
        self.excess = self.owners_excess();
    }

    fn owners_excess(&self) -> usize {
        if self.counted_from > 0 { self.size_start().wrapping_sub(self.counted_from) } else { 0 }
    }

    fn size_start(&self) -> usize {
        self.text.len() - 1 - self.size_width
    }

    #[inline]
    fn write(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) {
        if !entry.is_known() {
            self.set_owners(None, b"?");
            out.extend_from_slice(&self.text);
            let start = out.len() - self.text.len();
            return self.write_unknown(entry, &mut out[start..]);
        }
        let user = if self.style.long.owner || self.style.long.author { entry.uid() } else { 0 };
        let group = if self.style.long.group { entry.gid() } else { 0 };
        let same = self.owners == Some((user, group));
        if !same || (self.style.prefix.context && self.context != context(entry)) {
            let context = if self.style.prefix.context { context(entry) } else { b"" };
            self.set_owners(Some((user, group)), context);
        }
        out.extend_from_slice(&self.text);
        let start = out.len() - self.text.len();
        let row = &mut out[start..];
        row[self.mode..self.mode + 10].copy_from_slice(&mode::letters(entry.mode()));
        if let Some(mark) = self.mark {
            row[mark] = entry.mark().letter();
        }
        put_number(&mut row[self.nlink.clone()], entry.nlink().into());
        if self.style.prefix.inode {
            put_inode(&mut row[self.inode.clone()], entry.ino());
        }
        if self.style.prefix.blocks {
            put_right(
                &mut row[self.blocks.clone()],
                self.style.prefix.block_size.blocks(entry.blocks()).as_bytes(),
            );
        }
        let size_start = self.size_start();
        self.write_size(entry, &mut row[size_start..size_start + self.size_width]);
        if self.wide {
            self.write_wide(entry, start, out);
        }
    }

    /// Inserts sizes that have more bytes than columns. The last one is first, so that the positions before it do not
    /// move.
    #[cold]
    fn write_wide(&mut self, entry: &Entry<'_>, start: usize, out: &mut Vec<u8>) {
        let mut replace = |place: Range<usize>, text: Text| {
            let bytes = repeat_n(b' ', text.padding(place.len())).chain(text.as_bytes().iter().copied());
            let before = out.len();
            out.splice(start + place.start..start + place.end, bytes);
            out.len().wrapping_sub(before)
        };
        let (size, blocks) = (
            self.style.long.file_size.bytes(entry.size()),
            self.style.prefix.block_size.blocks(entry.blocks()),
        );
        if size.is_wide() && !is_device(entry) {
            let size_start = self.size_start();
            replace(size_start..size_start + self.size_width, size);
        }
        self.excess = self.owners_excess();
        if self.style.prefix.blocks && blocks.is_wide() {
            let longer = replace(self.blocks.clone(), blocks);
            if self.counted_from > 0 {
                self.excess = self.excess.wrapping_add(longer);
            }
        }
    }

    #[inline]
    fn write_size(&self, entry: &Entry<'_>, place: &mut [u8]) {
        if is_device(entry) {
            let (major, minor) = entry.rdev();
            let (before, after) = place.split_at_mut(self.size_width - self.minor_width);
            put_number(after, minor.into());
            let (before, comma) = before.split_at_mut(before.len() - 2);
            comma[0] = b',';
            put_number(before, major.into());
        } else if self.style.long.file_size.is_in_units_of(1) {
            put_number(place, entry.size());
        } else {
            put_right(place, self.style.long.file_size.bytes(entry.size()).as_bytes());
        }
    }

    #[cold]
    fn write_unknown(&self, entry: &Entry<'_>, row: &mut [u8]) {
        row[self.mode] = mode::letter(entry.kind());
        row[self.mode + 1..self.mode + 10].copy_from_slice(&mode::UNKNOWN);
        let size_start = self.size_start();
        let size = size_start..size_start + self.size_width;
        for place in [self.inode.clone(), self.blocks.clone(), self.nlink.clone(), size] {
            put_right(&mut row[place], b"?");
        }
        if let Some(mark) = self.mark {
            row[mark] = b'?';
        }
    }
}

/// Writes an inode number. 0 means that the file system has none.
fn put_inode(place: &mut [u8], inode: u64) {
    match inode {
        0 => put_right(place, b"?"),
        inode => put_number(place, inode),
    }
}

#[cfg(test)]
mod tests;
