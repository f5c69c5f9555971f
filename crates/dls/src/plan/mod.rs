//! What follows from what was said, the environment and the terminal. The only stage that reads either.
//!
//! A plan is complete: it holds the style, the order and, as the union of what these declare, the needs. Nothing
//! after it decides what must be known of an entry.

mod below;
mod choices;
mod claims;
mod colors;
mod git;
mod icons;
mod programs;
mod view;
mod warning;
mod zone;

use crate::args::numbers::{block_size_prefix, parse_tab_size, parse_timeout, parse_width};
use crate::args::words::{self, NamedTimeStyle, QuotingStyle};
use crate::args::{Args, Definition, UsageError};
use crate::environment::Environment;
use crate::locale::{Found, Language};
use alloc::boxed::Box;
use alloc::vec::Vec;
pub use below::Below;
#[cfg(test)]
pub(crate) use claims::claims;
pub use claims::{Claim, Claimant, Explain};
use core::ffi::CStr;
pub use git::GitWishes;
pub use warning::Warning;
pub(crate) use warning::bad_theme;
pub use zone::ZoneName;

use choices::{Choices, happens};
use dents_core::needs::{Kinds, Needs, NeedsByKind};
use dents_core::read::Filter;
use dents_core::sort::{Key, Order};
use dents_core::stat::choose::IN_FLIGHT;
use dents_core::stat::{Dereference, Mode};
use dents_locale::Locale;
use dents_render::record::Syntax;
use dents_render::{Format, Indicator, Quoting, SizeFormat, Style, TimeStyle};
use dents_sys::host;

/// Everything decided: plain data, which nothing after it changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan<'a> {
    /// The program's name in messages.
    pub program: &'a [u8],
    /// Charset and order of names.
    pub locale: Locale,
    /// Which names of a directory.
    pub filter: Filter,
    /// `-d`: a directory is an entry like any other.
    pub directory: bool,
    /// `-R`.
    pub recursive: bool,
    /// Which links are followed.
    pub dereference: Dereference,
    /// The order of entries and of operands.
    pub order: Order,
    /// How many entries of a directory are shown at most.
    pub top: Option<usize>,
    /// Of which types.
    pub shown: Kinds,
    /// Operands that were perhaps meant as values; see [`Args::apart`].
    pub apart: Vec<(&'a CStr, &'static Definition)>,
    /// What the listing looks like.
    pub style: Style,
    /// What must be known of an entry of a directory.
    pub needs: NeedsByKind,
    /// What must be known of an operand.
    pub operand_needs: NeedsByKind,
    /// [`Needs::UID`] and [`Needs::GID`], where they are shown as names.
    pub names: Needs,
    /// Which zone times are shown in.
    pub zone: ZoneName<'a>,
    /// Whether the six-month rule needs to know what time it is.
    pub shows_times: bool,
    /// Whether entries are shown as they are read.
    pub streams: bool,
    /// `--tree`, `--total-size`.
    pub below: Below,
    /// The strategy.
    pub mode: Mode,
    /// The number of threads, if it was named.
    pub threads: Option<usize>,
    /// Round trips in flight at most.
    pub in_flight: usize,
    /// `--timeout` in nanoseconds, if there is to be one.
    pub timeout_ns: Option<u64>,
    /// What git is asked for.
    pub git: Option<GitWishes>,
    /// `--timing`.
    pub timing: bool,
    /// `--lazy`.
    pub lazy: bool,
    /// `--explain`.
    pub explain: Option<Box<Explain>>,
}

impl<'a> Plan<'a> {
    /// Decides. What is wrong with the environment is added to `warnings`, also where there will be no plan.
    ///
    /// # Errors
    /// Options that contradict each other; a time style that is none.
    pub fn new(
        args: &Args<'a>,
        around: &Surroundings<'a, '_>,
        warnings: &mut Vec<Warning<'a>>,
    ) -> Result<Self, UsageError<'a>> {
        let Surroundings { environment, program, locale: found, terminal, .. } = *around;
        let (manner, locale) = (Manner::of(program), found.locale());
        let mut planner = Planner { around, manner, locale, warnings };
        let choices = Choices::new(&args.said, args.defaults, terminal.is_some());
        let style = planner.style(&choices)?;
        let long = style.format == Format::Long;
        let time = style.time;
        let key = choices.key.unwrap_or(match choices.time {
            Some(_) if !long => Key::Time,
            _ => Key::Name,
        });
        // Nobody sees in which order entries are counted; with `-R` it is that of the directories.
        let key = if choices.count && !choices.recursive && choices.top.is_none() { Key::None } else { key };
        let order = Order { key, reverse: choices.reverse, directories_first: choices.directories_first };
        let mut needs = style.needs() | order.needs(time);
        if choices.recursive || choices.below.any() || choices.only.is_some() {
            needs |= NeedsByKind::all(Needs::TYPE);
        }
        let mut names = Needs::empty();
        names.set(Needs::UID, style.wants_user_names());
        names.set(Needs::GID, style.wants_group_names());
        let dereference = choices.dereference.unwrap_or(
            if choices.directory || style.indicator == Indicator::Classify || long {
                Dereference::Never
            } else {
                Dereference::OperandDirectories
            },
        );
        let timeout_ns = planner.timeout_ns(&choices);
        let git = planner.git(&choices, &style, timeout_ns);
        Ok(Plan {
            program,
            locale,
            filter: choices.filter(locale.utf8, environment.posixly_correct.is_some()),
            directory: choices.directory,
            recursive: choices.recursive && choices.below.tree.is_none(),
            dereference,
            order,
            top: choices.top,
            shown: choices.shown(),
            apart: args.apart.clone(),
            needs,
            operand_needs: style.operand_needs() | needs | NeedsByKind::all(Needs::TYPE),
            names,
            zone: ZoneName::new(environment),
            shows_times: style.view.as_ref().map_or(long, |view| view.shows_times()),
            // GNU streams lines only. Names between commas come to the same, but for messages about entries, which
            // then stand before all of them: so only where nothing is asked of an entry.
            streams: key == Key::None
                && choices.top.is_none()
                && (matches!(style.format, Format::Lines | Format::Record | Format::Count)
                    || style.format == Format::Commas
                        && !needs.asks_any()
                        && dereference != Dereference::Always)
                && !style.blocks
                && !choices.below.any()
                && !choices.recursive
                && git.is_none(),
            below: choices.below,
            mode: choices.mode,
            threads: choices.threads,
            in_flight: choices.in_flight.unwrap_or(IN_FLIGHT),
            timeout_ns,
            git,
            timing: choices.timing,
            lazy: choices.lazy,
            explain: choices.explain.map(|when| {
                Box::new(Explain {
                    plan_only: when == words::Explain::Plan,
                    claims: claims::claims(&args.said, &style, &order, choices.recursive),
                    colors_are_set: environment.ls_colors.is_some_and(|value| !value.is_empty()),
                })
            }),
            style,
        })
    }

    /// Whether times are shown as dates, which takes a zone. Ages do not.
    pub(crate) fn shows_dates(&self) -> bool {
        self.shows_times && self.style.view.as_ref().is_none_or(|view| !view.relative)
    }

    /// Whether links found in a directory stand for what they lead to.
    #[must_use]
    pub fn follows_entries(&self) -> bool {
        self.dereference == Dereference::Always
    }
}

/// What the program was called as: the defaults of three programs that are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// What suits stdout.
    Ls,
    /// `dir`: as `ls -C -b`, whatever stdout is.
    Dir,
    /// `vdir`: as `ls -l -b`.
    Vdir,
}

impl Manner {
    fn of(program: &[u8]) -> Manner {
        match program.rsplit(|byte| *byte == b'/').next() {
            Some(b"dir") => Manner::Dir,
            Some(b"vdir") => Manner::Vdir,
            _ => Manner::Ls,
        }
    }

    /// Without an option that says otherwise.
    fn format(self, terminal: bool) -> Format {
        match self {
            Manner::Vdir => Format::Long,
            Manner::Ls if !terminal => Format::Lines,
            Manner::Ls | Manner::Dir => Format::Columns,
        }
    }

    /// Without an option or a variable that says otherwise.
    fn quoting(self, terminal: bool) -> Quoting {
        match self {
            Manner::Dir | Manner::Vdir => Quoting::Escape,
            Manner::Ls if terminal => Quoting::ShellEscape,
            Manner::Ls => Quoting::Literal,
        }
    }
}

/// A block size from the environment, where GNU makes the best of a bad value: what makes no sense is passed over, what
/// stands before the nonsense counts, and what is too large is as large as can be.
fn block_size_of_variable(value: &[u8]) -> Option<SizeFormat> {
    let beginning =
        || Some(SizeFormat::Blocks { size: block_size_prefix(value)?, suffix: "", grouping: None });
    choices::block_size(value).or_else(beginning)
}

/// What a plan follows from, beside the arguments.
#[derive(Clone, Copy)]
pub struct Surroundings<'a, 'e> {
    /// The environment.
    pub environment: &'e Environment<'a>,
    /// The name that the program was called by.
    pub program: &'a [u8],
    /// The user's locale.
    pub locale: &'e Found<'a>,
    /// The language of messages, which has the word before totals and the marks around names.
    pub language: &'e Language,
    /// The width of the terminal that stdout is; see [`crate::output::Streams::terminal`].
    pub terminal: Option<u16>,
}

/// What decides, and notes what is wrong with the environment.
struct Planner<'a, 'e> {
    around: &'e Surroundings<'a, 'e>,
    manner: Manner,
    locale: Locale,
    warnings: &'e mut Vec<Warning<'a>>,
}

impl<'a> Planner<'a, '_> {
    /// What is wrong with the environment is told in GNU's order: widths, quoting, times, colours.
    ///
    /// In a frame of its own, so that what it puts on the stack is gone when the plan is put together.
    #[inline(never)]
    fn style(&mut self, choices: &Choices<'a>) -> Result<Style, UsageError<'a>> {
        let terminal = self.around.terminal.is_some();
        let special = choices.special();
        let format = choices.below.format(choices.format.unwrap_or(self.manner.format(terminal)));
        let format = special.unwrap_or(format);
        if choices.summary && choices.syntax == Some(Syntax::Csv) {
            return Err(UsageError::SummaryAndCsv);
        }
        if special.is_some() && choices.below.tree.is_some() {
            return Err(UsageError::TreeAndRows);
        }
        if choices.top.is_some() && choices.below.tree.is_some() {
            return Err(UsageError::TreeAndTop);
        }
        let long = format == Format::Long;
        let spread = matches!(format, Format::Columns | Format::Across | Format::Commas);
        let plain = special.is_some();
        let colored = happens(choices.color, terminal) && !plain;
        let width = if spread || colored { self.width(choices) } else { 0 };
        let tab_size = if spread { self.tab_size(choices) } else { 0 };
        let quoting = self.quoting(choices);
        let hyperlink = happens(choices.hyperlink, terminal) && !plain;
        let dired = choices.dired && long && !hyperlink && choices.below.tree.is_none();
        if dired && choices.zero {
            return Err(UsageError::DiredAndZero);
        }
        let time_style = if long { self.time_style(choices)? } else { TimeStyle::Locale };
        let colors = if colored { self.colors() } else { None };
        let (mut block_size, mut file_size) = self.sizes(choices);
        if (block_size.has_point() || file_size.has_point())
            && let Some(point) = self.around.locale.decimal_point()
        {
            (block_size, file_size) = (block_size.with_point(point), file_size.with_point(point));
        }
        if (block_size.has_groups() || file_size.has_groups())
            && let Some(groups) = self.around.locale.grouping()
        {
            (block_size, file_size) = (block_size.with_groups(groups), file_size.with_groups(groups));
        }
        let mut style = Style {
            format,
            eol: if choices.zero { 0 } else { b'\n' },
            inode: choices.inode && !plain,
            blocks: choices.blocks && !plain,
            owner: !choices.no_owner,
            group: !choices.no_group,
            author: choices.author,
            context: choices.context && !plain,
            numeric: choices.numeric,
            block_size,
            file_size,
            time: choices.time.unwrap_or(Needs::MTIME),
            time_style,
            total: if long || choices.blocks { self.around.language.get("total").leak() } else { b"total" },
            time_names: if long { self.around.locale.time_names() } else { None },
            indicator: if plain { Indicator::None } else { choices.indicator },
            quotes: if quoting.is_of_locale() { self.around.language.quotes() } else { None },
            quoting,
            qmark: choices.qmark.unwrap_or(self.manner == Manner::Ls && terminal),
            width,
            // Some terminals get tabs and colours on one line wrong.
            tab_size: if colors.is_some() { 0 } else { tab_size },
            colors,
            icons: if choices.icons.is_some() { self.icons(choices, dired) } else { None },
            hyperlink: hyperlink.then(host::nodename),
            dired,
            tree: choices.below.tree.is_some(),
            stats_all: matches!(choices.key, Some(Key::Size | Key::Time))
                || (choices.time.is_some() && choices.key.is_none() && !long),
            targets: choices.directories_first && !plain,
            record: choices.record(),
            summary: choices.summary,
            top: choices.top.is_some(),
            locale: self.locale,
            ..Style::default()
        };
        if long && choices.wishes.view() {
            self.view(choices, &mut style);
        }
        Ok(style)
    }

    /// `--block-size`, `-h` and `--si` hold for everything; else the environment does, but `-k` takes its
    /// blocks back.
    fn sizes(&mut self, choices: &Choices<'a>) -> (SizeFormat, SizeFormat) {
        if let Some(sizes) = choices.sizes {
            return (sizes, sizes);
        }
        let own = self.around.environment.ls_block_size;
        let shared = self.around.environment.block_size;
        let blocks = if self.around.environment.posixly_correct.is_some() {
            SizeFormat::POSIX
        } else {
            SizeFormat::KIBI
        };
        let named = own.or(shared).or(self.around.environment.blocksize);
        let mut block_size = named.and_then(block_size_of_variable).unwrap_or(blocks);
        let file_size = if own.is_some() || shared.is_some() { block_size } else { SizeFormat::BYTES };
        if choices.kibibytes {
            block_size = SizeFormat::KIBI;
        }
        (block_size, file_size)
    }

    fn time_style(&mut self, choices: &Choices<'a>) -> Result<TimeStyle, UsageError<'a>> {
        // Ages are the view's, and take no format.
        let said = choices.time_style.filter(|_| !choices.wishes.relative());
        let said = said.or(self.around.environment.time_style).unwrap_or(b"locale");
        let style = words::time_style(said, self.around.locale.is_posix_time())?;
        Ok(match style {
            words::TimeStyle::Named(NamedTimeStyle::FullIso) => TimeStyle::FullIso,
            words::TimeStyle::Named(NamedTimeStyle::LongIso) => TimeStyle::LongIso,
            words::TimeStyle::Named(NamedTimeStyle::Iso) => TimeStyle::Iso,
            words::TimeStyle::Named(NamedTimeStyle::Locale) => self.around.locale.time_style(),
            words::TimeStyle::Format { older, recent } => {
                TimeStyle::Custom { recent: recent.into(), other: older.into() }
            }
        })
    }

    fn quoting(&mut self, choices: &Choices<'a>) -> Quoting {
        if let Some(quoting) = choices.quoting {
            return quoting;
        }
        let default = self.manner.quoting(self.around.terminal.is_some());
        let Some(value) = self.around.environment.quoting_style else { return default };
        match words::lookup::<QuotingStyle>(value) {
            Ok(style) => choices::quoting(style),
            Err(_) => {
                self.warn("ignoring invalid value of environment variable QUOTING_STYLE: %s", value);
                default
            }
        }
    }

    /// `-w`, the terminal, `COLUMNS`, 80.
    fn width(&mut self, choices: &Choices<'a>) -> usize {
        if let Some(width) = choices.width {
            return width;
        }
        if let Some(width @ 1..) = self.around.terminal {
            return usize::from(width);
        }
        let Some(value) = self.around.environment.columns.filter(|value| !value.is_empty()) else {
            return 80;
        };
        parse_width(value).unwrap_or_else(|_| {
            self.warn("ignoring invalid width in environment variable COLUMNS: %s", value);
            80
        })
    }

    fn tab_size(&mut self, choices: &Choices<'a>) -> usize {
        if let Some(size) = choices.tab_size {
            return size;
        }
        let Some(value) = self.around.environment.tabsize else { return 8 };
        parse_tab_size(value).unwrap_or_else(|_| {
            self.warn("ignoring invalid tab size in environment variable TABSIZE: %s", value);
            8
        })
    }

    /// `--timeout`, the environment's DLS_TIMEOUT, none. Zero is none.
    fn timeout_ns(&mut self, choices: &Choices<'a>) -> Option<u64> {
        let ns = choices.timeout_ns.or_else(|| {
            let value = self.around.environment.dls_timeout.filter(|value| !value.is_empty())?;
            let parsed = parse_timeout(value);
            if parsed.is_err() {
                self.warn("ignoring invalid timeout in environment variable DLS_TIMEOUT: %s", value);
            }
            parsed.ok()
        });
        ns.filter(|ns| *ns > 0)
    }

    fn warn(&mut self, message: &'static str, value: &'a [u8]) {
        self.warnings.push(Warning::Ignored { message, value });
    }
}

#[cfg(test)]
mod tests;
