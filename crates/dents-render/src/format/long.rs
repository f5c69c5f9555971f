//! `-l`: a line for each entry. One pass finds how wide the columns are, a second one writes them.

use super::frills::Frills;
use crate::Sink;
use crate::human::SizeFormat;
use crate::mode;
use crate::number::{digits, push_left, push_number, push_right};
use crate::renderer::Renderer;
use crate::style::Style;
use crate::width::width;
use alloc::vec::Vec;
use dents::batch::{Batch, Entry, Mark};
use dents::needs::{Kind, Needs, NeedsByKind};
use dents::owners::Owners;

pub(crate) fn needs(style: &Style) -> NeedsByKind {
    let mut all = Needs::TYPE | Needs::MODE | Needs::NLINK | Needs::SIZE | Needs::BLOCKS | Needs::MARK | style.time;
    all.set(Needs::UID, style.owner || style.author);
    all.set(Needs::GID, style.group);
    let mut link = Needs::LINK;
    link.set(Needs::TARGET, style.checks_targets());
    style.frills_needs()
        | NeedsByKind::all(all)
        | NeedsByKind::of(Kind::Char, Needs::RDEV)
        | NeedsByKind::of(Kind::Block, Needs::RDEV)
        | NeedsByKind::of(Kind::Link, link)
}

pub(crate) fn render(
    renderer: &mut Renderer<'_>,
    batch: &Batch,
    order: &[u32],
    owners: &Owners,
    out: &mut impl Sink,
) {
    let style = renderer.style;
    let frills = Frills::aligned(style, batch, order);
    let mut columns = Columns::new(style, owners);
    for index in order {
        columns.measure(style, &batch.entry(*index as usize));
    }
    columns.settle(style);
    for index in order {
        let entry = batch.entry(*index as usize);
        let buffer = out.buffer();
        renderer.painter.begin_line(buffer);
        let mut start = buffer.len();
        frills.write(style, &entry, buffer);
        if columns.write_before_size(style, &entry, buffer) {
            start = buffer.len();
        }
        columns.write_size(style, &entry, buffer);
        if entry.is_known() {
            renderer.clock.write(entry.time(), buffer);
        } else {
            renderer.clock.write_unknown(buffer);
        }
        buffer.push(b' ');
        // GNU counts the columns of the screen from the size on, if owners stand before it.
        write_name(renderer, &entry, buffer.len() - start, buffer);
        buffer.push(style.eol);
        out.checkpoint();
    }
}

/// The name, and where a symbolic link leads.
#[inline]
fn write_name(renderer: &mut Renderer<'_>, entry: &Entry<'_>, column: usize, out: &mut Vec<u8>) {
    let painter = &mut renderer.painter;
    let len = painter.name(entry, column, out);
    if entry.kind() != Kind::Link {
        out.extend(painter.indicator(entry));
    } else if let Some(text) = entry.link() {
        out.extend_from_slice(b" -> ");
        painter.target(entry, text, column + len + 4, out);
    }
}

/// The widths of the columns.
struct Columns<'o> {
    users: OwnerColumn<'o>,
    groups: OwnerColumn<'o>,
    any_mark: bool,
    nlink: u32,
    largest: u64,
    nlink_width: usize,
    size_width: usize,
    major_width: usize,
    minor_width: usize,
}

impl<'o> Columns<'o> {
    fn new(style: &Style, owners: &'o Owners) -> Columns<'o> {
        let lookup = |wanted: bool, names: fn(&'o Owners, u32) -> Option<&'o [u8]>| OwnerColumn {
            owners,
            names: (wanted && !style.numeric).then_some(names),
            utf8: style.locale.utf8,
            cache: [Owner::default(); OwnerColumn::CACHE],
            width: 0,
        };
        Columns {
            users: lookup(style.owner || style.author, Owners::user),
            groups: lookup(style.group, Owners::group),
            any_mark: false,
            nlink: 0,
            largest: 0,
            nlink_width: 0,
            size_width: 0,
            major_width: 0,
            minor_width: 0,
        }
    }

    /// Takes an entry into account. One that could not be stat'ed fits into any column.
    #[inline]
    fn measure(&mut self, style: &Style, entry: &Entry<'_>) {
        if !entry.is_known() {
            return;
        }
        self.any_mark |= entry.mark() != Mark::None;
        self.nlink = self.nlink.max(entry.nlink());
        if style.owner || style.author {
            self.users.measure(entry.uid());
        }
        if style.group {
            self.groups.measure(entry.gid());
        }
        if matches!(entry.kind(), Kind::Char | Kind::Block) {
            let (major, minor) = entry.rdev();
            self.major_width = self.major_width.max(digits(major.into()));
            self.minor_width = self.minor_width.max(digits(minor.into()));
        } else if style.file_size == SizeFormat::BYTES {
            self.largest = self.largest.max(entry.size());
        } else {
            self.size_width = self.size_width.max(style.file_size.bytes(entry.size()).len());
        }
    }

    fn settle(&mut self, style: &Style) {
        self.nlink_width = digits(self.nlink.into());
        if style.file_size == SizeFormat::BYTES {
            self.size_width = digits(self.largest);
        }
        if self.major_width > 0 {
            self.size_width = self.size_width.max(self.major_width + 2 + self.minor_width);
        }
    }

    /// Mode, links, owners. Returns whether there is a column of owners.
    #[inline]
    fn write_before_size(&mut self, style: &Style, entry: &Entry<'_>, out: &mut Vec<u8>) -> bool {
        let known = entry.is_known();
        if known {
            out.extend_from_slice(&mode::letters(entry.mode()));
        } else {
            out.push(mode::letter(entry.kind()));
            out.extend_from_slice(&mode::UNKNOWN);
        }
        if self.any_mark {
            out.push(match entry.mark() {
                _ if !known => b'?',
                Mark::None => b' ',
                Mark::Context => b'.',
                Mark::Acl => b'+',
            });
        }
        out.push(b' ');
        if known {
            push_number(out, entry.nlink().into(), self.nlink_width);
        } else {
            push_right(out, b"?", self.nlink_width);
        }
        out.push(b' ');
        if style.owner {
            self.users.write(known.then(|| entry.uid()), out);
        }
        if style.group {
            self.groups.write(known.then(|| entry.gid()), out);
        }
        if style.author {
            self.users.write(known.then(|| entry.uid()), out);
        }
        style.owner || style.group || style.author
    }

    #[inline]
    fn write_size(&self, style: &Style, entry: &Entry<'_>, out: &mut Vec<u8>) {
        if !entry.is_known() {
            push_right(out, b"?", self.size_width);
        } else if matches!(entry.kind(), Kind::Char | Kind::Block) {
            let (major, minor) = entry.rdev();
            let blanks = self.size_width.saturating_sub(self.major_width + 2 + self.minor_width);
            push_number(out, major.into(), self.major_width + blanks);
            out.extend_from_slice(b", ");
            push_number(out, minor.into(), self.minor_width);
        } else {
            push_right(out, style.file_size.bytes(entry.size()).as_bytes(), self.size_width);
        }
        out.push(b' ');
    }
}

/// One column of owners, or of groups.
struct OwnerColumn<'o> {
    owners: &'o Owners,
    /// How an id becomes a name; `None` with `-n`.
    names: Option<fn(&'o Owners, u32) -> Option<&'o [u8]>>,
    utf8: bool,
    /// The owners seen last, found by the low bits of their ids.
    cache: [Owner<'o>; OwnerColumn::CACHE],
    width: usize,
}

/// An id, its name if it has one, and how wide that is. A width of zero marks an unused place.
#[derive(Clone, Copy, Default)]
struct Owner<'o> {
    id: u32,
    name: Option<&'o [u8]>,
    width: usize,
}

impl<'o> OwnerColumn<'o> {
    const CACHE: usize = 16;

    #[inline]
    fn find(&mut self, id: u32) -> Owner<'o> {
        let owner = self.cache[id as usize % OwnerColumn::CACHE];
        if owner.id == id && owner.width != 0 { owner } else { self.look_up(id) }
    }

    #[cold]
    fn look_up(&mut self, id: u32) -> Owner<'o> {
        let name = self.names.and_then(|names| names(self.owners, id));
        let width = match name {
            None => digits(id.into()),
            Some(name) if self.utf8 => width(name, true),
            Some(name) => name.iter().filter(|byte| !byte.is_ascii_control()).count(),
        };
        let owner = Owner { id, name, width };
        self.cache[id as usize % OwnerColumn::CACHE] = owner;
        owner
    }

    #[inline]
    fn measure(&mut self, id: u32) {
        self.width = self.width.max(self.find(id).width);
    }

    /// Names to the left, numbers to the right.
    #[inline]
    fn write(&mut self, id: Option<u32>, out: &mut Vec<u8>) {
        match id.map(|id| self.find(id)) {
            None => push_left(out, b"?", self.width),
            Some(Owner { name: Some(name), width, .. }) => {
                // The bytes of a name may be more than its columns.
                push_left(out, name, self.width - width + name.len());
            }
            Some(Owner { id, .. }) => push_number(out, id.into(), self.width),
        }
        out.push(b' ');
    }
}
