//! What a listing looks like: the part of the plan that concerns rendering.

use crate::color::Colors;
use crate::field::{Field, Record};
use crate::human::SizeFormat;
use crate::icons::Icons;
use crate::indicator::Indicator;
use crate::quote::{Quoter, Quotes, Quoting};
use crate::time::{Clock, Stamp, TimeStyle, Zone};
use crate::view::View;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_core::batch::Time;
use dents_core::needs::Needs;
use dents_locale::{Locale, TimeNames};

/// The arrangement of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `-1`: one name a line.
    Lines,
    /// `-l`.
    Long,
    /// `-C`: columns, sorted downwards.
    Columns,
    /// `-x`: columns, sorted across.
    Across,
    /// `-m`: names separated by commas.
    Commas,
    /// `--json`, `--ndjson`, `--csv`: rows for programs, as [`Style::record`] says.
    Record,
    /// `--count`: how many of each type; in the syntax of [`Style::record`], if there is one.
    Count,
}

/// What all frames of a listing look like: plain data, and nothing in it changes during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// The arrangement of entries.
    pub format: Format,
    /// What ends each line: `\n`, or NUL with `--zero`. (Headers and blank lines end with `\n` all the same.)
    pub eol: u8,
    /// `-i`: the inode number first.
    pub inode: bool,
    /// `-s`: the allocated size, and the total before each directory's entries.
    pub blocks: bool,
    /// Long format: the owner (not with `-g`).
    pub owner: bool,
    /// Long format: the group (not with `-o` or `-G`).
    pub group: bool,
    /// Long format: the author, which on Linux is the owner.
    pub author: bool,
    /// `-Z`: the security context.
    pub context: bool,
    /// The word before the total, in the user's language.
    pub total: &'static [u8],
    /// `-n`: owners and groups as numbers.
    pub numeric: bool,
    /// How allocated sizes and totals are shown: `--block-size`, `-k`, `-h`, `--si`.
    pub block_size: SizeFormat,
    /// How file sizes are shown: bytes unless `--block-size`, `-h` or `--si` was given (`-k` does not count).
    pub file_size: SizeFormat,
    /// Which time the long format shows: exactly one of [`Needs::TIMES`].
    pub time: Needs,
    /// How the long format shows it.
    pub time_style: TimeStyle,
    /// What months and days are called, unless as in the C locale.
    pub time_names: Option<TimeNames<'static>>,
    /// `-F`, `--file-type`, `-p`.
    pub indicator: Indicator,
    /// How unusual names are written.
    pub quoting: Quoting,
    /// The marks of the user's language, for the quoting styles that follow the locale.
    pub quotes: Option<Quotes>,
    /// `-q`: what is not printable becomes `?` (in the quoting styles that let it through).
    pub qmark: bool,
    /// Colours, unless there are none.
    pub colors: Option<Colors>,
    /// `--icons`: a glyph before each name, unless there are none.
    pub icons: Option<Box<Icons>>,
    /// `--hyperlink`: names are links for the terminal, to files on the host of this name. The frames must then
    /// say where entries are; see [`crate::Places`].
    pub hyperlink: Option<Vec<u8>>,
    /// `-D`: long lines are set in by two columns, and the run ends with the places of the names in the output.
    pub dired: bool,
    /// Width of the screen in columns; 0 means no limit.
    pub width: usize,
    /// Distance of tab stops; 0 means to use spaces only (set it so with colours, as GNU does).
    pub tab_size: usize,
    /// `--tree`: entries below their directories. Symbolic links are shown with what they lead to, as in the long format.
    pub tree: bool,
    /// Whether every entry is stat'ed whatever the style wants: to sort by size or time. GNU shows the colour
    /// `mh` only where it stats anyway; with this `false` so do we, at no cost.
    pub stats_all: bool,
    /// Whether the targets of symbolic links are looked at in any case: to group directories first. Then they
    /// are shown in colour, and with an indicator, where otherwise they would not be.
    pub targets: bool,
    /// Rows for programs: their syntax and fields.
    pub record: Option<Record>,
    /// `--summary`: a line at the end that says what was listed.
    pub summary: bool,
    /// `--top`: only some entries of a directory are shown, so a total would be of nothing that can be seen.
    pub top: bool,
    /// What the long format shows in place of GNU's columns.
    pub view: Option<Box<View>>,
    /// Charset.
    pub locale: Locale,
}

impl Default for Style {
    /// What `ls` shows in a pipe, in the C locale.
    fn default() -> Self {
        Style {
            format: Format::Lines,
            eol: b'\n',
            inode: false,
            blocks: false,
            owner: true,
            group: true,
            author: false,
            context: false,
            total: b"total",
            numeric: false,
            block_size: SizeFormat::KIBI,
            file_size: SizeFormat::BYTES,
            time: Needs::MTIME,
            time_style: TimeStyle::Locale,
            time_names: None,
            indicator: Indicator::None,
            quoting: Quoting::Literal,
            quotes: None,
            qmark: false,
            colors: None,
            icons: None,
            hyperlink: None,
            dired: false,
            width: 80,
            tab_size: 8,
            tree: false,
            stats_all: false,
            targets: false,
            record: None,
            summary: false,
            top: false,
            view: None,
            locale: Locale::C,
        }
    }
}

impl Style {
    /// Whether symbolic links are shown with what they lead to.
    pub(crate) fn shows_links(&self) -> bool {
        self.format == Format::Long || self.tree
    }

    /// Whether the targets of symbolic links are looked at: for their colour, or for the indicator behind them.
    pub(crate) fn checks_targets(&self) -> bool {
        let long = self.shows_links();
        self.targets
            || self.colors.as_ref().is_some_and(|colors| colors.checks_targets(long))
            || (long && self.indicator >= Indicator::FileType)
    }

    /// Whether owners must be resolved to names: [`dents_core::owners`] has something to do.
    #[must_use]
    pub fn wants_user_names(&self) -> bool {
        self.format == Format::Long && !self.numeric && (self.owner || self.author)
            || self.records(Field::User)
    }

    /// Whether groups must be resolved to names.
    #[must_use]
    pub fn wants_group_names(&self) -> bool {
        self.format == Format::Long && !self.numeric && self.group || self.records(Field::Group)
    }

    /// Whether rows for programs have this field.
    fn records(&self, field: Field) -> bool {
        self.format == Format::Record
            && self.record.as_ref().is_some_and(|record| record.fields.contains(&field))
    }

    /// Whether a `total` line precedes the entries of a directory.
    #[must_use]
    pub fn shows_total(&self) -> bool {
        ((self.format == Format::Long && self.view.is_none()) || self.blocks) && !self.top
    }

    /// Whether the format stats every entry by itself, or the caller does.
    pub(crate) fn stats_anyway(&self) -> bool {
        let extras = self.context || self.hyperlink.is_some();
        self.format == Format::Long || self.blocks || self.inode || self.stats_all || extras
    }

    /// Whether unquoted names are set one column to the right when a neighbour is quoted: in the styles that
    /// quote only where they must, where names stand in columns.
    pub(crate) fn aligns_quotes(&self) -> bool {
        let variable = matches!(self.quoting, Quoting::Shell | Quoting::ShellEscape | Quoting::CMaybe);
        let columns = matches!(self.format, Format::Columns | Format::Across) && self.width != 0;
        variable && (self.format == Format::Long || columns)
    }

    /// The quoting of names. Beyond what the style asks for: what could be mistaken for the end of a name or for an
    /// indicator behind it.
    pub(crate) fn name_quoter(&self) -> Quoter {
        let mut extra = self.indicator.ambiguous().to_vec();
        if self.quoting == Quoting::Escape {
            extra.push(b' ');
        }
        Quoter::new(self.quoting, &self.locale, self.qmark, &extra).with_quotes(self.quotes.as_ref())
    }

    /// What writes times, as seen from a present in a zone.
    pub(crate) fn clock(&self, now: Time, zone: Option<&Arc<Zone>>) -> Clock {
        Clock::new(&self.time_style, self.time_names, self.locale.utf8, now, zone)
    }

    /// What writes times of any age in this style's format.
    #[must_use]
    pub fn stamp(&self, zone: &Zone) -> Stamp {
        Stamp::new(self.clock(Time::default(), Some(&Arc::new(zone.clone()))))
    }

    /// The quoting of the names before a directory's entries, which end in a colon.
    pub(crate) fn header_quoter(&self) -> Quoter {
        Quoter::new(self.quoting, &self.locale, self.qmark, b":").with_quotes(self.quotes.as_ref())
    }
}
