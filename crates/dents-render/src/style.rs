//! The look of a listing: the part of the plan that concerns rendering.

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
    /// `-1`: one name on each line.
    Lines,
    /// `-l`.
    Long,
    /// `-C`: columns, sorted downwards.
    Columns,
    /// `-x`: columns, sorted across.
    Across,
    /// `-m`: names separated by commas.
    Commas,
    /// `--json`, `--ndjson`, `--csv`: rows for programs; see [`Style::record`].
    Record,
    /// `--count`: the number of entries of each type, in the syntax of [`Style::record`], if there is one.
    Count,
}

/// The look of all frames of a listing: plain data, which does not change during a run. What one part of a line needs
/// has a type of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// The arrangement of entries.
    pub format: Format,
    /// The end of each line: `\n`, or NUL with `--zero`. (Headers and blank lines always end with `\n`.)
    pub eol: u8,
    /// What precedes a name in every format, and the total.
    pub prefix: PrefixStyle,
    /// The other columns of the long format.
    pub long: LongStyle,
    /// Names.
    pub names: NameStyle,
    /// The place for columns of names.
    pub screen: Screen,
    /// `--tree`: entries below their directories. Symbolic links are shown with their targets, as in the long format.
    pub tree: bool,
    /// Rows for programs: their syntax and fields.
    pub record: Option<Record>,
    /// `--summary`: a line at the end with the counts of what was listed.
    pub summary: bool,
    /// `--top`: only some entries of a directory are shown, so a total would include entries that are not shown.
    pub top: bool,
    /// Charset.
    pub locale: Locale,
}

/// The parts of a line that any format of GNU can have before the name, and the line with the total.
#[derive(Clone, Debug, PartialEq)]
pub struct PrefixStyle {
    /// `-i`: the inode number first.
    pub inode: bool,
    /// `-s`: the allocated size, and the total before each directory's entries.
    pub blocks: bool,
    /// `-Z`: the security context.
    pub context: bool,
    /// How allocated sizes and totals are shown: `--block-size`, `-k`, `-h`, `--si`.
    pub block_size: SizeFormat,
    /// The word before the total, in the user's language.
    pub total: &'static [u8],
}

/// The long format.
#[derive(Clone, Debug, PartialEq)]
pub struct LongStyle {
    /// The owner (not with `-g`).
    pub owner: bool,
    /// The group (not with `-o` or `-G`).
    pub group: bool,
    /// The author, which on Linux is the owner.
    pub author: bool,
    /// `-n`: owners and groups as numbers.
    pub numeric: bool,
    /// How file sizes are shown: bytes unless `--block-size`, `-h` or `--si` was given (`-k` does not count).
    pub file_size: SizeFormat,
    /// Which time is shown: exactly one of [`Needs::TIMES`].
    pub time: Needs,
    /// How it is shown.
    pub time_style: TimeStyle,
    /// The names of months and days, unless they are those of the C locale.
    pub time_names: Option<TimeNames<'static>>,
    /// How the mark after the mode is requested: by one of [`Needs::MARKS`], or not, and then there is none.
    pub mark: Needs,
    /// `-D`: lines are indented by two columns, and the run ends with the positions of the names in the output.
    pub dired: bool,
    /// The view: chosen columns in place of GNU's.
    pub view: Option<Box<View>>,
}

/// How names are written and decorated.
#[derive(Clone, Debug, PartialEq)]
pub struct NameStyle {
    /// How unusual names are written.
    pub quoting: Quoting,
    /// The marks of the user's language, for the quoting styles that follow the locale.
    pub quotes: Option<Quotes>,
    /// `-q`: characters that are not printable become `?` (in the quoting styles that do not escape them).
    pub qmark: bool,
    /// `-F`, `--file-type`, `-p`.
    pub indicator: Indicator,
    /// The colours of names; `None` without colours.
    pub colors: Option<Colors>,
    /// `--icons`: a glyph before each name; `None` without icons.
    pub icons: Option<Box<Icons>>,
    /// `--hyperlink`: names are hyperlinks to files on the host with this name. The frames must then have the paths
    /// of entries; see [`crate::Places`].
    pub hyperlink: Option<Vec<u8>>,
    /// Whether every entry is stat'ed for another reason than the style: to sort by size or time. GNU shows the
    /// colour `mh` only for entries that it stats anyway. If this is `false`, `dls` does the same, at no cost.
    pub stats_all: bool,
    /// Whether the targets of symbolic links are stat'ed for another reason: to group directories first. Then they
    /// are shown in colour and with an indicator, where otherwise they would not be.
    pub targets: bool,
}

/// The screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Width in columns; 0 means no limit.
    pub width: usize,
    /// Distance of tab stops; 0 means to use spaces only (set it so with colours, as GNU does).
    pub tab_size: usize,
}

impl Default for Style {
    /// The style of `ls` in a pipe, in the C locale.
    fn default() -> Self {
        Style {
            format: Format::Lines,
            eol: b'\n',
            prefix: PrefixStyle::default(),
            long: LongStyle::default(),
            names: NameStyle::default(),
            screen: Screen::default(),
            tree: false,
            record: None,
            summary: false,
            top: false,
            locale: Locale::C,
        }
    }
}

impl Default for PrefixStyle {
    /// Nothing before the name.
    fn default() -> Self {
        PrefixStyle {
            inode: false,
            blocks: false,
            context: false,
            block_size: SizeFormat::KIBI,
            total: b"total",
        }
    }
}

impl Default for LongStyle {
    /// `ls -l` in the C locale.
    fn default() -> Self {
        LongStyle {
            owner: true,
            group: true,
            author: false,
            numeric: false,
            file_size: SizeFormat::BYTES,
            time: Needs::MTIME,
            time_style: TimeStyle::Locale,
            time_names: None,
            mark: Needs::MARK,
            dired: false,
            view: None,
        }
    }
}

impl Default for NameStyle {
    /// Names as they are.
    fn default() -> Self {
        NameStyle {
            quoting: Quoting::Literal,
            quotes: None,
            qmark: false,
            indicator: Indicator::None,
            colors: None,
            icons: None,
            hyperlink: None,
            stats_all: false,
            targets: false,
        }
    }
}

impl Default for Screen {
    /// The screen that GNU `ls` assumes.
    fn default() -> Self {
        Screen { width: 80, tab_size: 8 }
    }
}

impl Style {
    /// Whether symbolic links are shown with their targets.
    pub(crate) fn shows_links(&self) -> bool {
        self.format == Format::Long || self.tree
    }

    /// Whether the targets of symbolic links are stat'ed, for their colour or their indicator.
    pub(crate) fn checks_targets(&self) -> bool {
        let long = self.shows_links();
        self.names.targets
            || self.names.colors.as_ref().is_some_and(|colors| colors.checks_targets(long))
            || (long && self.names.indicator >= Indicator::FileType)
    }

    /// Whether owners must be resolved to names, by [`dents_core::owners`].
    #[must_use]
    pub fn wants_user_names(&self) -> bool {
        self.format == Format::Long && !self.long.numeric && (self.long.owner || self.long.author)
            || self.records(Field::User)
    }

    /// Whether groups must be resolved to names.
    #[must_use]
    pub fn wants_group_names(&self) -> bool {
        self.format == Format::Long && !self.long.numeric && self.long.group || self.records(Field::Group)
    }

    /// Whether rows for programs have this field.
    fn records(&self, field: Field) -> bool {
        self.format == Format::Record
            && self.record.as_ref().is_some_and(|record| record.fields.contains(&field))
    }

    /// Whether a `total` line precedes the entries of a directory.
    #[must_use]
    pub fn shows_total(&self) -> bool {
        ((self.format == Format::Long && self.long.view.is_none()) || self.prefix.blocks) && !self.top
    }

    /// Whether the format stats every entry by itself, or the caller does.
    pub(crate) fn stats_anyway(&self) -> bool {
        let extras = self.prefix.context || self.names.hyperlink.is_some();
        self.format == Format::Long
            || self.prefix.blocks
            || self.prefix.inode
            || self.names.stats_all
            || extras
    }

    /// Whether unquoted names are moved one column to the right if another name is quoted: in the styles that quote
    /// only names that need it, if names are in columns.
    pub(crate) fn aligns_quotes(&self) -> bool {
        let variable = matches!(self.names.quoting, Quoting::Shell | Quoting::ShellEscape | Quoting::CMaybe);
        let columns = matches!(self.format, Format::Columns | Format::Across) && self.screen.width != 0;
        variable && (self.format == Format::Long || columns)
    }

    /// The quoting of names. It also quotes characters that could be mistaken for the end of a name or for an
    /// indicator after it.
    pub(crate) fn name_quoter(&self) -> Quoter {
        let mut extra = self.names.indicator.ambiguous().to_vec();
        if self.names.quoting == Quoting::Escape {
            extra.push(b' ');
        }
        self.quoter(&extra)
    }

    /// Writes times, relative to this present, in this zone.
    pub(crate) fn clock(&self, now: Time, zone: Option<&Arc<Zone>>) -> Clock {
        Clock::new(&self.long.time_style, self.long.time_names, self.locale.charset, now, zone)
    }

    /// Writes times of any age in this style's format.
    #[must_use]
    pub fn stamp(&self, zone: &Zone) -> Stamp {
        Stamp::new(self.clock(Time::default(), Some(&Arc::new(zone.clone()))))
    }

    /// The quoting of the names before a directory's entries, which end in a colon.
    pub(crate) fn header_quoter(&self) -> Quoter {
        self.quoter(b":")
    }

    fn quoter(&self, extra: &[u8]) -> Quoter {
        let quoter = Quoter::new(self.names.quoting, &self.locale, self.names.qmark, extra)
            .with_quotes(self.names.quotes.as_ref());
        // GNU writes invisible characters raw, and has neither of these formats.
        if self.long.view.is_some() || self.tree { quoter.and_invisible() } else { quoter }
    }
}
