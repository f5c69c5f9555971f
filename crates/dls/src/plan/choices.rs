//! From options to choices: of two options that conflict the last one wins, with GNU's exceptions.

use super::hierarchy::{BUDGET_NS, HierarchyOptions};
use super::view_options::ViewOptions;
use crate::args::numbers::{
    BlockSize, parse_in_flight, parse_tab_size, parse_threads, parse_timeout, parse_top, parse_width,
};
use crate::args::words::{self, Human, IndicatorStyle, QuotingStyle, When, Words};
use crate::args::{self, Flag, Said};
use crate::locale::FoundLocale;
use alloc::vec::Vec;
use dents_core::needs::{Kind, Kinds, Needs};
use dents_core::pattern::Pattern;
use dents_core::read::{Filter, Hidden};
use dents_core::sort::Key;
use dents_core::stat::{Dereference, Mode};
use dents_render::human::Grouping;
use dents_render::record::Syntax;
use dents_render::{Column, Format, Indicator, Quoting, SizeFormat};

/// The decisions that depend on options alone. `None` if the environment or a default decides.
#[derive(Default)]
pub(super) struct Choices<'a> {
    pub(super) hidden: Hidden,
    hide: Vec<&'a [u8]>,
    ignore: Vec<&'a [u8]>,
    pub(super) directory: bool,
    pub(super) recursive: bool,
    pub(super) dereference: Option<Dereference>,
    pub(super) format: Option<Format>,
    /// The format is long only for the sake of an option of the view.
    pub(super) implied: bool,
    /// Of which types entries are shown, if not of all.
    pub(super) only: Option<Kind>,
    pub(super) dired: bool,
    pub(super) zero: bool,
    pub(super) width: Option<usize>,
    pub(super) tab_size: Option<usize>,
    pub(super) inode: bool,
    pub(super) blocks: bool,
    pub(super) no_owner: bool,
    pub(super) no_group: bool,
    pub(super) author: bool,
    pub(super) context: bool,
    pub(super) numeric: bool,
    pub(super) kibibytes: bool,
    pub(super) sizes: Option<SizeFormat>,
    pub(super) time: Option<Needs>,
    pub(super) time_style: Option<&'a [u8]>,
    pub(super) key: Option<Key>,
    pub(super) reverse: bool,
    pub(super) directories_first: bool,
    pub(super) color: Option<When>,
    pub(super) hyperlink: Option<When>,
    pub(super) icons: Option<When>,
    pub(super) indicator: Indicator,
    pub(super) quoting: Option<Quoting>,
    pub(super) qmark: Option<bool>,
    pub(super) syntax: Option<Syntax>,
    pub(super) top: Option<usize>,
    pub(super) count: bool,
    pub(super) summary: bool,
    pub(super) hierarchy: HierarchyOptions,
    pub(super) mode: Mode,
    pub(super) threads: Option<usize>,
    pub(super) in_flight: Option<usize>,
    pub(super) timeout_ns: Option<u64>,
    pub(super) git_budget_ns: Option<u64>,
    pub(super) gitignore: bool,
    pub(super) timing: bool,
    /// `--no-hints`.
    pub(super) no_hints: bool,
    pub(super) explain: Option<words::Explain>,
    pub(super) acl: Option<words::Acl>,
    pub(super) lazy: bool,
    pub(super) view: ViewOptions<'a>,
}

impl<'a> Choices<'a> {
    /// `terminal`: whether stdout is one, for `--classify=auto`.
    ///
    /// The first `defaults` options are from a file: there, `--header` describes long listings, and does not make a
    /// listing long.
    pub(super) fn new(said: &[Said<'a>], defaults: usize, terminal: bool) -> Self {
        let mut choices = Choices::default();
        for (nth, said) in said.iter().enumerate() {
            choices.entries(said);
            choices.layout(said);
            choices.long(said);
            choices.names(said, terminal);
            choices.order(said);
            choices.programs(said);
            choices.hierarchy.take(said);
            choices.speed(said);
            let of_view = choices.view.take(said) || said.flag == Flag::NoOwner;
            if of_view && (nth >= defaults || choices.picks_all(said)) {
                choices.imply_long();
            }
        }
        choices
    }

    /// Whether an option selects all columns: this changes the format, wherever the option is.
    fn picks_all(&self, said: &Said<'_>) -> bool {
        said.flag == Flag::ColumnList && said.value.is_some_and(|list| !args::is_change(list))
    }

    fn imply_long(&mut self) {
        if self.format != Some(Format::Long) {
            (self.format, self.implied) = (Some(Format::Long), true);
        }
    }

    /// The types of entries that a listing shows, and those that it must read. If links are followed, one may lead to
    /// a shown type; if directories are entered, they may contain one.
    fn kinds(&self) -> (Kinds, Kinds) {
        let Some(only) = self.only else { return (Kinds::ALL, Kinds::ALL) };
        let tree = self.shows_tree();
        let shown = Kinds::of(only).with(Kind::Dir, tree);
        let follows = self.dereference == Some(Dereference::Always);
        (shown, shown.with(Kind::Dir, self.recursive).with(Kind::Link, follows))
    }

    /// Whether a tree is shown.
    pub(super) fn shows_tree(&self) -> bool {
        self.hierarchy.tree.is_some()
    }

    /// The time limit of totals. A column of totals has the default one, if there is no other.
    pub(super) fn total_ns(&self) -> Option<u64> {
        let shown = self.view.picks(Column::Total).then_some(BUDGET_NS);
        self.hierarchy.total_ns.or(shown)
    }

    /// Whether anything below the listed directories is read.
    pub(super) fn looks_below(&self) -> bool {
        self.shows_tree() || self.total_ns().is_some()
    }

    /// Of which types the entries are that a listing shows.
    pub(super) fn shown(&self) -> Kinds {
        self.kinds().0
    }

    /// Which names of a directory are wanted.
    pub(super) fn filter(&self, locale: &FoundLocale<'_>, posixly_correct: bool) -> Filter {
        let utf8 = locale.locale().is_utf8();
        let pattern = |text: &&[u8]| Pattern::with_tables(text, utf8, !posixly_correct, locale);
        let patterns = |texts: &[&[u8]]| texts.iter().map(pattern).collect();
        let (hide, ignore) = (patterns(&self.hide), patterns(&self.ignore));
        Filter { hidden: self.hidden, hide, ignore, kinds: self.kinds().1 }
    }

    fn entries(&mut self, said: &Said<'a>) {
        match said.flag {
            Flag::All => self.hidden = Hidden::All,
            Flag::AlmostAll => self.hidden = Hidden::AlmostAll,
            Flag::IgnoreBackups => self.ignore.extend([&b"*~"[..], b".*~"]),
            Flag::Ignore => self.ignore.extend(said.value),
            Flag::Hide => self.hide.extend(said.value),
            Flag::Directory => self.directory = true,
            Flag::OnlyDirs => self.only = Some(Kind::Dir),
            Flag::OnlyFiles => self.only = Some(Kind::Reg),
            Flag::Recursive => self.recursive = true,
            Flag::Dereference => self.dereference = Some(Dereference::Always),
            Flag::DereferenceCommandLine => self.dereference = Some(Dereference::Operands),
            Flag::DereferenceCommandLineSymlinkToDir => {
                self.dereference = Some(Dereference::OperandDirectories);
            }
            _ => {}
        }
    }

    fn layout(&mut self, said: &Said<'a>) {
        match said.flag {
            // `-1` and `--zero` do not replace the long format.
            Flag::OnePerLine if self.format == Some(Format::Long) => {}
            Flag::OnePerLine => self.format = Some(Format::Lines),
            Flag::Columns => self.format = Some(Format::Columns),
            Flag::Across => self.format = Some(Format::Across),
            Flag::Commas => self.format = Some(Format::Commas),
            Flag::Format => {
                self.implied = false;
                self.format = word(said).map(|format| match format {
                    words::Format::Long => Format::Long,
                    words::Format::Commas => Format::Commas,
                    words::Format::Across => Format::Across,
                    words::Format::Vertical => Format::Columns,
                    words::Format::SingleColumn => Format::Lines,
                });
            }
            Flag::Dired => {
                self.dired = true;
                (self.format, self.implied) = (Some(Format::Long), false);
                self.hyperlink = None;
            }
            Flag::Zero => {
                self.zero = true;
                if self.format != Some(Format::Long) {
                    self.format = Some(Format::Lines);
                }
                self.color = Some(When::Never);
                self.qmark = Some(false);
                self.quoting = Some(Quoting::Literal);
            }
            Flag::Width => self.width = said.value.and_then(|value| parse_width(value).ok()),
            Flag::TabSize => self.tab_size = said.value.and_then(|value| parse_tab_size(value).ok()),
            _ => {}
        }
    }

    fn long(&mut self, said: &Said<'a>) {
        match said.flag {
            Flag::Long => {}
            Flag::FullTime => self.time_style = Some(b"full-iso"),
            Flag::LongWithoutOwner => self.no_owner = true,
            Flag::LongWithoutGroup => self.no_group = true,
            Flag::NumericUidGid => self.numeric = true,
            Flag::Context => return self.context = true,
            Flag::NoOwner => return self.no_owner = true,
            Flag::NoGroup => return self.no_group = true,
            Flag::Author => return self.author = true,
            Flag::Inode => return self.inode = true,
            Flag::Size => return self.blocks = true,
            Flag::Kibibytes => return self.kibibytes = true,
            Flag::HumanReadable => return self.sizes = Some(SizeFormat::HUMAN),
            Flag::Si => return self.sizes = Some(SizeFormat::SI),
            Flag::BlockSize => return self.sizes = said.value.and_then(block_size),
            Flag::TimeStyle => return self.time_style = said.value,
            _ => return,
        }
        (self.format, self.implied) = (Some(Format::Long), false);
    }

    fn names(&mut self, said: &Said<'a>, terminal: bool) {
        match said.flag {
            Flag::Color => self.color = when(said),
            Flag::ColorScale => self.color = self.color.or(Some(When::Auto)),
            Flag::Hyperlink => self.hyperlink = when(said),
            Flag::Icons => self.icons = when(said),
            Flag::Classify if applies(when(said), terminal) => self.indicator = Indicator::Classify,
            Flag::Slash => self.indicator = Indicator::Slash,
            Flag::FileType => self.indicator = Indicator::FileType,
            Flag::IndicatorStyle => {
                self.indicator = match word(said) {
                    Some(IndicatorStyle::Slash) => Indicator::Slash,
                    Some(IndicatorStyle::FileType) => Indicator::FileType,
                    Some(IndicatorStyle::Classify) => Indicator::Classify,
                    Some(IndicatorStyle::None) | None => Indicator::None,
                }
            }
            Flag::Escape => self.quoting = Some(Quoting::Escape),
            Flag::Literal => self.quoting = Some(Quoting::Literal),
            Flag::QuoteName => self.quoting = Some(Quoting::C),
            Flag::QuotingStyle => self.quoting = word(said).map(quoting),
            Flag::HideControlChars => self.qmark = Some(true),
            Flag::ShowControlChars => self.qmark = Some(false),
            _ => {}
        }
    }

    fn order(&mut self, said: &Said<'a>) {
        match said.flag {
            Flag::AllUnsorted => {
                self.hidden = Hidden::All;
                self.key = Some(Key::None);
            }
            Flag::Unsorted => self.key = Some(Key::None),
            Flag::SortBySize => self.key = Some(Key::Size),
            Flag::SortByTime => self.key = Some(Key::Time),
            Flag::SortByVersion => self.key = Some(Key::Version),
            Flag::SortByExtension => self.key = Some(Key::Extension),
            Flag::Sort if said.value.and_then(words::own_sort).is_some() => self.own_order(said),
            Flag::Sort => {
                self.key = word(said).map(|sort| match sort {
                    words::Sort::None => Key::None,
                    words::Sort::Time => Key::Time,
                    words::Sort::Size => Key::Size,
                    words::Sort::Extension => Key::Extension,
                    words::Sort::Version => Key::Version,
                    words::Sort::Name => Key::Name,
                    words::Sort::Width => Key::Width,
                });
            }
            Flag::Ctime => self.time = Some(Needs::CTIME),
            Flag::Atime => self.time = Some(Needs::ATIME),
            Flag::Time => {
                self.time = word(said).map(|time| match time {
                    words::Time::Access => Needs::ATIME,
                    words::Time::Change => Needs::CTIME,
                    words::Time::Modification => Needs::MTIME,
                    words::Time::Birth => Needs::BTIME,
                });
            }
            Flag::Reverse => self.reverse = true,
            Flag::GroupDirectoriesFirst => self.directories_first = true,
            _ => {}
        }
    }

    /// An order that GNU does not have.
    #[cold]
    fn own_order(&mut self, said: &Said<'a>) {
        let Some(sort) = said.value.and_then(words::own_sort) else { return };
        let (key, time) = match sort {
            words::OwnSort::Natural => (Key::Natural, None),
            words::OwnSort::Created => (Key::Time, Some(Needs::BTIME)),
            words::OwnSort::Modified => (Key::Time, Some(Needs::MTIME)),
            words::OwnSort::Inode => (Key::Inode, None),
            words::OwnSort::Type => (Key::Type, None),
        };
        self.key = Some(key);
        self.time = time.or(self.time);
    }

    fn programs(&mut self, said: &Said<'a>) {
        match said.flag {
            Flag::Json => self.syntax = Some(Syntax::Json),
            Flag::Ndjson => self.syntax = Some(Syntax::Ndjson),
            Flag::Csv => self.syntax = Some(Syntax::Csv),
            Flag::Top => self.top = said.value.and_then(|value| parse_top(value).ok()),
            Flag::Count => self.count = true,
            Flag::Summary => self.summary = true,
            _ => {}
        }
    }

    fn speed(&mut self, said: &Said<'a>) {
        match said.flag {
            Flag::Git => self.git_budget_ns = said.value.and_then(|value| parse_timeout(value).ok()),
            Flag::Gitignore => self.gitignore = true,
            Flag::Mode => {
                self.mode = match word(said) {
                    Some(words::Mode::Classic) => Mode::Classic,
                    Some(words::Mode::Par) => Mode::Par,
                    Some(words::Mode::Iou) => Mode::Iou,
                    Some(words::Mode::Auto) | None => Mode::Auto,
                }
            }
            Flag::Threads => self.threads = said.value.and_then(|value| parse_threads(value).ok()),
            Flag::MaxInflight => self.in_flight = said.value.and_then(|value| parse_in_flight(value).ok()),
            Flag::Timeout => self.timeout_ns = said.value.and_then(|value| parse_timeout(value).ok()),
            Flag::Timing => self.timing = true,
            Flag::NoHints => self.no_hints = true,
            Flag::Explain if said.value.is_none() => self.explain = Some(words::Explain::Listing),
            Flag::Explain => self.explain = word(said),
            Flag::Acl => self.acl = word(said),
            Flag::Lazy => self.lazy = true,
            _ => {}
        }
    }
}

/// The meaning of a value that parsing has let through.
fn word<W: Words>(said: &Said<'_>) -> Option<W> {
    said.value.and_then(|value| words::lookup(value).ok())
}

/// An optional WHEN: without a value, always.
fn when(said: &Said<'_>) -> Option<When> {
    if said.value.is_none() { Some(When::Always) } else { word(said) }
}

/// Whether a WHEN applies.
pub(super) fn applies(when: Option<When>, terminal: bool) -> bool {
    match when {
        Some(When::Always) => true,
        Some(When::Auto) => terminal,
        Some(When::Never) | None => false,
    }
}

/// The quoting style of a word.
pub(super) fn quoting(style: QuotingStyle) -> Quoting {
    match style {
        QuotingStyle::Literal => Quoting::Literal,
        QuotingStyle::Shell => Quoting::Shell,
        QuotingStyle::ShellAlways => Quoting::ShellAlways,
        QuotingStyle::ShellEscape => Quoting::ShellEscape,
        QuotingStyle::ShellEscapeAlways => Quoting::ShellEscapeAlways,
        QuotingStyle::C => Quoting::C,
        QuotingStyle::CMaybe => Quoting::CMaybe,
        QuotingStyle::Escape => Quoting::Escape,
        QuotingStyle::Locale => Quoting::Locale,
        QuotingStyle::CLocale => Quoting::Clocale,
    }
}

/// The format that a block size asks for; grouped as in C, which is not at all, until the locale is known.
pub(super) fn block_size(value: &[u8]) -> Option<SizeFormat> {
    let parsed = BlockSize::parse(value).ok()?;
    Some(match parsed.human {
        Some(Human::Base1024) => SizeFormat::HUMAN,
        Some(Human::Base1000) => SizeFormat::SI,
        None => {
            let grouping = parsed.grouped.then(Grouping::default);
            SizeFormat::Blocks { size: parsed.size, suffix: parsed.suffix, grouping }
        }
    })
}
