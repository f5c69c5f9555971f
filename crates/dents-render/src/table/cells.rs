//! All cells except the name: the text, its width and its colour.

use super::{age, flags};
use crate::mode;
use crate::note::{Change, Git, Note, Total};
use crate::number::{Text, digits, push_number, push_spaces};
use crate::owner_column::{Owner, OwnerColumn};
use crate::style::Style;
use crate::time::Clock;
use crate::view::{Brush, Column, Paint, View};
use crate::width::width;
use alloc::vec::Vec;
use dents_core::batch::{Entry, Mark, Time};
use dents_core::needs::{Kind, Needs};
use dents_core::owners::Owners;

/// A cell whose text has been written.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    /// Columns.
    pub(super) width: usize,
    /// The colour of the whole text; `None` if it has no colour, or if the text contains colours.
    pub(super) paint: Option<Paint>,
    /// Whether it is right-aligned, although its column is not: the number of an owner without a name.
    pub(super) right: bool,
}

impl Cell {
    fn new(width: usize, paint: Option<Paint>) -> Cell {
        Cell { width, paint, right: false }
    }

    fn ascii(text: &[u8], paint: Paint, out: &mut Vec<u8>) -> Cell {
        out.extend_from_slice(text);
        Cell::new(text.len(), Some(paint))
    }

    fn size(text: &Text, paint: Paint, out: &mut Vec<u8>) -> Cell {
        out.extend_from_slice(text.as_bytes());
        Cell::new(text.width(), Some(paint))
    }

    fn number(n: u64, paint: Paint, out: &mut Vec<u8>) -> Cell {
        Cell { right: true, ..Cell::ascii(Text::number(n).as_bytes(), paint, out) }
    }

    /// The cell of a value that is not known.
    fn unknown(out: &mut Vec<u8>) -> Cell {
        Cell::ascii(b"?", Paint::Nothing, out)
    }

    /// The cell of a time that is not known; GNU right-aligns it.
    fn unknown_time(out: &mut Vec<u8>) -> Cell {
        Cell { right: true, ..Cell::unknown(out) }
    }

    /// The cell of a value that does not exist.
    fn none(out: &mut Vec<u8>) -> Cell {
        Cell::ascii(b"-", Paint::Nothing, out)
    }
}

/// Writes cells. It keeps results for one entry that save work for the next.
#[derive(Clone)]
pub(super) struct Cells<'s> {
    style: &'s Style,
    view: &'s View,
    now: Time,
    users: OwnerColumn<'s>,
    groups: OwnerColumn<'s>,
    modes: Modes,
    /// Whether some entry has a mark after its mode.
    any_mark: bool,
    /// Digits of the largest numbers of devices; zero without any.
    major: usize,
    minor: usize,
}

impl<'s> Cells<'s> {
    pub(super) fn new(style: &'s Style, view: &'s View, owners: &'s Owners, now: Time) -> Cells<'s> {
        Cells {
            style,
            view,
            now,
            users: OwnerColumn::new(style, owners, Owners::user, view.shows_users()),
            groups: OwnerColumn::new(style, owners, Owners::group, view.shows_groups()),
            modes: Modes::default(),
            any_mark: false,
            major: 0,
            minor: 0,
        }
    }

    pub(super) fn now(&self) -> Time {
        self.now
    }

    pub(super) fn join(&mut self, other: &Cells<'_>) {
        self.any_mark |= other.any_mark;
        self.major = self.major.max(other.major);
        self.minor = self.minor.max(other.minor);
    }

    /// The width of the numbers of devices in columns, with both parts right-aligned.
    pub(super) fn device_width(&self) -> usize {
        if self.major == 0 { 0 } else { self.major + 2 + self.minor }
    }

    /// Measures a cell.
    #[inline]
    pub(super) fn measure(
        &mut self,
        column: Column,
        entry: &Entry<'_>,
        note: &Note,
        clock: Option<&mut Clock>,
        text: &mut Vec<u8>,
    ) -> usize {
        match column {
            Column::Mode => {
                self.any_mark |= entry.is_known() && entry.knows_mark() && entry.mark() != Mark::None;
                return 10 + usize::from(self.any_mark);
            }
            Column::Size if entry.is_known() && is_device(entry) => {
                let (major, minor) = entry.rdev();
                self.major = self.major.max(digits(major.into()));
                self.minor = self.minor.max(digits(minor.into()));
                return self.device_width();
            }
            _ => {}
        }
        text.clear();
        self.write(column, entry, note, clock, None, text).width
    }

    /// Appends the text of a cell.
    #[inline]
    pub(super) fn write(
        &mut self,
        column: Column,
        entry: &Entry<'_>,
        note: &Note,
        clock: Option<&mut Clock>,
        brush: Option<&Brush>,
        out: &mut Vec<u8>,
    ) -> Cell {
        match column {
            Column::Mode => return self.mode(entry, brush, out),
            Column::Git => return self.git(note.git, brush, out),
            Column::Total => {
                let of_file = || entry.is_known().then(|| Total::of_file(entry)).flatten();
                return self.total(note.total.or_else(of_file), out);
            }
            Column::Inode if entry.knows_ino() => {
                return match entry.ino() {
                    // A file system without inode numbers returns 0.
                    0 => Cell::unknown(out),
                    inode => Cell::number(inode, Paint::Inode, out),
                };
            }
            Column::Context => {
                let Some(context) = entry.context() else { return Cell::unknown(out) };
                out.extend_from_slice(context);
                return Cell::new(width(context, self.style.locale.charset), Some(Paint::Context));
            }
            _ if !entry.is_known() && column.time().is_some() => return Cell::unknown_time(out),
            _ if !entry.is_known() => return Cell::unknown(out),
            _ => {}
        }
        match column {
            Column::Octal => octal(entry.mode(), out),
            Column::Links => Cell::number(entry.nlink().into(), Paint::Links, out),
            Column::User => self.user(entry.uid(), out),
            Column::Group => self.group(entry, out),
            Column::Uid => Cell::number(entry.uid().into(), self.user_paint(entry.uid()), out),
            Column::Gid => Cell::number(entry.gid().into(), Paint::Group, out),
            Column::Size => self.size(entry, note, out),
            Column::Blocks => {
                let unit = self.style.prefix.block_size;
                let sum = |total: Total| unit.sum(total.blocks.saturating_mul(512));
                let blocks = note.total.map_or_else(|| unit.blocks(entry.blocks()), sum);
                Cell::size(&blocks, Paint::Blocks, out)
            }
            Column::Device => device(entry, out),
            Column::Modified | Column::Changed | Column::Accessed | Column::Created => {
                self.time(column, entry, clock, out)
            }
            Column::Xattrs => match entry.xattr_list().count() {
                0 => Cell::none(out),
                count => Cell::number(count as u64, Paint::Xattrs, out),
            },
            Column::Flags => attributes(entry, out),
            // The table draws the name; the others were written above.
            Column::Mode | Column::Git | Column::Total | Column::Inode | Column::Context | Column::Name => {
                Cell::unknown(out)
            }
        }
    }

    fn mode(&mut self, entry: &Entry<'_>, brush: Option<&Brush>, out: &mut Vec<u8>) -> Cell {
        let mark = match entry.is_known().then(|| entry.mark()) {
            _ if !self.any_mark => None,
            None => Some(b'?'),
            Some(mark) => Some(mark.letter()),
        };
        let mut letters = [b'?'; 10];
        if entry.is_known() {
            letters = mode::letters(entry.mode());
        } else {
            letters[0] = mode::letter(entry.kind());
        }
        match brush {
            Some(brush) => self.modes.write(&letters, mark, brush, out),
            None => {
                out.extend_from_slice(&letters);
                out.extend(mark);
            }
        }
        Cell::new(10 + usize::from(mark.is_some()), None)
    }

    fn user_paint(&self, uid: u32) -> Paint {
        match uid {
            uid if self.view.me == Some(uid) => Paint::You,
            0 => Paint::Root,
            _ => Paint::Other,
        }
    }

    fn user(&mut self, uid: u32, out: &mut Vec<u8>) -> Cell {
        let owner = self.users.find(uid);
        put_owner(owner, self.user_paint(uid), out)
    }

    fn group(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Cell {
        let group = self.groups.find(entry.gid());
        if self.view.smart_group {
            let user = self.users.find(entry.uid());
            let same = match (user.name, group.name) {
                (None, None) => user.id == group.id,
                (user, group) => user == group,
            };
            if same {
                return Cell::none(out);
            }
        }
        put_owner(group, Paint::Group, out)
    }

    fn size(&self, entry: &Entry<'_>, note: &Note, out: &mut Vec<u8>) -> Cell {
        if is_device(entry) {
            let (major, minor) = entry.rdev();
            let start = out.len();
            push_number(out, major.into(), self.major);
            out.extend_from_slice(b", ");
            push_number(out, minor.into(), self.minor);
            return Cell::new(out.len() - start, Some(Paint::Device));
        }
        if note.total.is_some() {
            return self.total(note.total, out);
        }
        let text = self.style.long.file_size.bytes(entry.size());
        Cell::size(&text, size_paint(entry.size()), out)
    }

    /// A total, with a plus if something is missing.
    fn total(&self, total: Option<Total>, out: &mut Vec<u8>) -> Cell {
        let Some(total) = total else { return Cell::none(out) };
        let text = self.style.long.file_size.sum(total.bytes);
        let paint = size_paint(u64::try_from(total.bytes).unwrap_or(u64::MAX));
        let mut cell = Cell::size(&text, paint, out);
        if !total.whole {
            out.push(b'+');
            cell.width += 1;
        }
        cell
    }

    fn time(&self, column: Column, entry: &Entry<'_>, clock: Option<&mut Clock>, out: &mut Vec<u8>) -> Cell {
        let time = match column.time() {
            Some(time) if time == self.style.long.time => Some(entry.time()),
            time => entry.extra().map(|extra| match time {
                Some(Needs::CTIME) => extra.ctime,
                Some(Needs::ATIME) => extra.atime,
                Some(Needs::BTIME) => extra.btime,
                _ => extra.mtime,
            }),
        };
        let Some(time) = time.filter(|time| *time != Time::UNKNOWN) else { return Cell::unknown_time(out) };
        let paint = age::paint(time, self.now);
        let Some(clock) = clock else {
            return Cell::ascii(age::text(time, self.now).as_bytes(), paint, out);
        };
        let start = out.len();
        clock.write(time, out);
        Cell::new(width(&out[start..], self.style.locale.charset), Some(paint))
    }

    fn git(&self, git: Git, brush: Option<&Brush>, out: &mut Vec<u8>) -> Cell {
        let (staged, unstaged) = match git {
            Git::Outside => return Cell::none(out),
            Git::Late if self.style.locale.is_utf8() => {
                out.extend_from_slice("…".as_bytes());
                return Cell::new(1, Some(Paint::Nothing));
            }
            Git::Late => return Cell::ascii(b"..", Paint::Nothing, out),
            Git::Status { staged, unstaged } => (staged, unstaged),
        };
        for change in [staged, unstaged] {
            let (letter, paint) = letter(change);
            let colored = brush.filter(|brush| brush.begin(paint, out));
            out.push(letter);
            colored.into_iter().for_each(|brush| brush.end(out));
        }
        Cell::new(2, None)
    }
}

fn is_device(entry: &Entry<'_>) -> bool {
    matches!(entry.kind(), Kind::Char | Kind::Block)
}

fn octal(mode: u16, out: &mut Vec<u8>) -> Cell {
    let mode = mode & 0o7777;
    out.extend([9, 6, 3, 0].map(|shift| b'0' + (mode >> shift & 7) as u8));
    Cell::new(4, Some(Paint::Octal))
}

fn device(entry: &Entry<'_>, out: &mut Vec<u8>) -> Cell {
    let Some(extra) = entry.extra() else { return Cell::unknown(out) };
    let start = out.len();
    push_number(out, extra.dev.0.into(), 0);
    out.push(b':');
    push_number(out, extra.dev.1.into(), 0);
    Cell::new(out.len() - start, Some(Paint::Device))
}

fn attributes(entry: &Entry<'_>, out: &mut Vec<u8>) -> Cell {
    let Some(extra) = entry.extra() else { return Cell::unknown(out) };
    let start = out.len();
    flags::write(extra.attributes, extra.attributes_mask, out);
    let paint = if matches!(out[start..], [b'-' | b'?']) { Paint::Nothing } else { Paint::Flags };
    Cell::new(out.len() - start, Some(paint))
}

/// An owner's name, or its number if it has none.
fn put_owner(owner: Owner<'_>, paint: Paint, out: &mut Vec<u8>) -> Cell {
    match owner.name {
        Some(name) => {
            out.extend_from_slice(name);
            Cell::new(owner.columns(), Some(paint))
        }
        None => Cell::number(owner.id.into(), paint, out),
    }
}

fn size_paint(bytes: u64) -> Paint {
    match bytes {
        0..0x400 => Paint::SizeBytes,
        0x400..0x10_0000 => Paint::SizeKilo,
        0x10_0000..0x4000_0000 => Paint::SizeMega,
        0x4000_0000..0x100_0000_0000 => Paint::SizeGiga,
        _ => Paint::SizeTera,
    }
}

/// The letters of `git status --short`, except for `-` (no difference), `N` (new) and `I` (ignored).
fn letter(change: Change) -> (u8, Paint) {
    match change {
        Change::None => (b'-', Paint::Nothing),
        Change::Ignored => (b'I', Paint::GitIgnored),
        Change::New => (b'N', Paint::GitNew),
        Change::Typechange => (b'T', Paint::GitType),
        Change::Renamed => (b'R', Paint::GitRenamed),
        Change::Modified => (b'M', Paint::GitModified),
        Change::Deleted => (b'D', Paint::GitDeleted),
        Change::Conflicted => (b'U', Paint::GitConflict),
    }
}

/// Modes in colour. They are cached: a directory has few different modes, and each takes ten decisions and up to
/// eleven sequences.
#[derive(Clone, Default)]
struct Modes {
    /// Letters and mark, and their coloured text, at the index of a hash of the letters.
    seen: [([u8; 11], Vec<u8>); Modes::CACHE],
}

impl Modes {
    const CACHE: usize = 16;

    #[inline]
    fn write(&mut self, letters: &[u8; 10], mark: Option<u8>, brush: &Brush, out: &mut Vec<u8>) {
        let mut key = [0; 11];
        key[..10].copy_from_slice(letters);
        key[10] = mark.unwrap_or(0);
        let hash = letters.iter().fold(0usize, |hash, letter| hash.wrapping_mul(31) + usize::from(*letter));
        let slot = &mut self.seen[hash % Modes::CACHE];
        if slot.0 != key {
            slot.0 = key;
            slot.1.clear();
            paint_mode(letters, mark, brush, &mut slot.1);
        }
        out.extend_from_slice(&slot.1);
    }
}

/// Neighbours of one colour share its sequences.
#[cold]
fn paint_mode(letters: &[u8; 10], mark: Option<u8>, brush: &Brush, out: &mut Vec<u8>) {
    let paint = |nth: usize, letter: u8| match letter {
        _ if nth == 10 => Paint::Mark,
        _ if nth == 0 && letter != b'-' => Paint::Type,
        b'r' => Paint::Read,
        b'w' => Paint::Write,
        b'x' => Paint::Execute,
        b's' | b'S' | b't' | b'T' => Paint::Special,
        b'?' => Paint::Nothing,
        _ => Paint::Unset,
    };
    let mut open: Option<(Paint, bool)> = None;
    for (nth, letter) in letters.iter().copied().chain(mark).enumerate() {
        if letter == b' ' {
            break;
        }
        let paint = paint(nth, letter);
        if !open.is_some_and(|(before, _)| brush.same(before, paint)) {
            if open.is_some_and(|(_, colored)| colored) {
                brush.end(out);
            }
            open = Some((paint, brush.begin(paint, out)));
        }
        out.push(letter);
    }
    if open.is_some_and(|(_, colored)| colored) {
        brush.end(out);
    }
    if mark == Some(b' ') {
        push_spaces(out, 1);
    }
}
