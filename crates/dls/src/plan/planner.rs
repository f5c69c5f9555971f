//! Decisions that depend on options, environment and terminal together.

use super::called_as::CalledAs;
use super::choices::{self, Choices, applies};
use super::warning::Warning;
use crate::args::numbers::{block_size_prefix, parse_tab_size_variable, parse_timeout, parse_width};
use crate::args::words::{self, NamedTimeStyle, QuotingStyle};
use crate::args::{UsageError, time_style};
use crate::environment::Environment;
use crate::locale::{FoundLocale, Language};
use alloc::vec::Vec;
use dents_core::needs::Needs;
use dents_core::sort::Key;
use dents_locale::Locale;
use dents_render::record::Syntax;
use dents_render::{
    Format, Indicator, LongStyle, NameStyle, PrefixStyle, Quoting, Screen, SizeFormat, Style, TimeStyle,
};
use dents_sys::host;

/// A block size in a variable. GNU corrects invalid values: it ignores those without a valid beginning, uses the valid
/// beginning of others, and takes the largest size for one that is too large.
fn block_size_of_variable(value: &[u8]) -> Option<SizeFormat> {
    let beginning =
        || Some(SizeFormat::Blocks { size: block_size_prefix(value)?, suffix: "", grouping: None });
    choices::block_size(value).or_else(beginning)
}

/// The input of a plan, except the arguments.
#[derive(Clone, Copy)]
pub struct Surroundings<'a, 'e> {
    /// The environment.
    pub environment: &'e Environment<'a>,
    /// The name that the program was called by.
    pub program: &'a [u8],
    /// The user's locale.
    pub locale: &'e FoundLocale<'a>,
    /// The language of messages, which has the word before totals and the marks around names.
    pub language: &'e Language,
    /// The width of the terminal that stdout is; see [`crate::output::Streams::terminal`].
    pub terminal: Option<u16>,
}

/// Makes a plan, and collects warnings.
pub(super) struct Planner<'a, 'e> {
    pub(super) around: &'e Surroundings<'a, 'e>,
    pub(super) called_as: CalledAs,
    pub(super) locale: Locale,
    pub(super) warnings: &'e mut Vec<Warning<'a>>,
}

impl<'a> Planner<'a, '_> {
    /// Warnings about the environment are in GNU's order: widths, quoting, times, colours.
    ///
    /// A function of its own, so that its stack is free again when the plan is made.
    #[inline(never)]
    pub(super) fn style(&mut self, choices: &Choices<'a>) -> Result<Style, UsageError<'a>> {
        let terminal = self.around.terminal.is_some();
        let special = choices.special();
        let format = choices.hierarchy.format(choices.format.unwrap_or(self.called_as.format(terminal)));
        let format = special.unwrap_or(format);
        if choices.summary && choices.syntax == Some(Syntax::Csv) {
            return Err(UsageError::SummaryAndCsv);
        }
        if special.is_some() && choices.shows_tree() {
            return Err(UsageError::TreeAndRows);
        }
        if choices.top.is_some() && choices.shows_tree() {
            return Err(UsageError::TreeAndTop);
        }
        let long = format == Format::Long;
        let spread = matches!(format, Format::Columns | Format::Across | Format::Commas);
        let plain = special.is_some();
        let colored = applies(choices.color, terminal) && !plain;
        let width = if spread || colored { self.width(choices) } else { 0 };
        let tab_size = if spread { self.tab_size(choices) } else { 0 };
        let quoting = self.quoting(choices);
        let hyperlink = applies(choices.hyperlink, terminal) && !plain;
        let dired = choices.dired && long && !hyperlink && !choices.shows_tree();
        if dired && choices.zero {
            return Err(UsageError::DiredAndZero);
        }
        let time_style = if long { self.time_style(choices)? } else { TimeStyle::Locale };
        let colors = if colored { self.colors() } else { None };
        let (block_size, file_size) = self.sizes_of_locale(choices);
        let prefix = PrefixStyle {
            inode: choices.inode && !plain,
            blocks: choices.blocks && !plain,
            context: choices.context && !plain,
            block_size,
            total: if long || choices.blocks { self.around.language.get("total").leak() } else { b"total" },
        };
        // Some terminals get tabs and colours on one line wrong.
        let tab_size = if colors.is_some() { 0 } else { tab_size };
        let mut style = Style {
            format,
            eol: if choices.zero { 0 } else { b'\n' },
            prefix,
            long: self.long_style(choices, long, (time_style, file_size, dired)),
            // In place: colours are half a kilobyte, which is not moved.
            names: NameStyle {
                quotes: if quoting.is_of_locale() { self.around.language.quotes() } else { None },
                quoting,
                qmark: choices.qmark.unwrap_or(self.called_as == CalledAs::Ls && terminal),
                indicator: if plain { Indicator::None } else { choices.indicator },
                colors,
                icons: if choices.icons.is_some() { self.icons(choices, dired) } else { None },
                hyperlink: hyperlink.then(host::nodename),
                stats_all: matches!(choices.key, Some(Key::Size | Key::Time))
                    || (choices.time.is_some() && choices.key.is_none() && !long),
                targets: choices.directories_first && !plain,
            },
            screen: Screen { width, tab_size },
            tree: choices.shows_tree(),
            record: choices.record(),
            summary: choices.summary,
            top: choices.top.is_some(),
            locale: self.locale,
        };
        if long && (choices.view.is_wanted() || choices.looks_below()) {
            self.view(choices, &mut style);
        }
        Ok(style)
    }

    /// The long format. `long`: whether it is shown.
    #[inline]
    fn long_style(
        &self,
        choices: &Choices<'a>,
        long: bool,
        (time_style, file_size, dired): (TimeStyle, SizeFormat, bool),
    ) -> LongStyle {
        LongStyle {
            owner: !choices.no_owner,
            group: !choices.no_group,
            author: choices.author,
            numeric: choices.numeric,
            time: choices.time.unwrap_or(Needs::MTIME),
            time_names: if long { self.around.locale.time_names(&time_style) } else { None },
            time_style,
            mark: match choices.acl {
                None | Some(words::Acl::Always) => Needs::MARK,
                Some(words::Acl::Auto) => Needs::NEAR_MARK,
                Some(words::Acl::Never) => Needs::empty(),
            },
            file_size,
            dired,
            view: None,
        }
    }

    /// The sizes, with the decimal point and the groups of the locale.
    fn sizes_of_locale(&mut self, choices: &Choices<'a>) -> (SizeFormat, SizeFormat) {
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
        (block_size, file_size)
    }

    /// `--block-size`, `-h` and `--si` apply to all sizes; otherwise the environment does, but `-k` restores the
    /// default block size for blocks.
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
        let said = choices.time_style.filter(|_| !choices.view.relative());
        let said = said.or(self.around.environment.time_style).unwrap_or(b"locale");
        let style = time_style(said, self.around.locale.is_posix_time())?;
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
        let default = self.called_as.quoting(self.around.terminal.is_some());
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
        parse_tab_size_variable(value).unwrap_or_else(|_| {
            self.warn("ignoring invalid tab size in environment variable TABSIZE: %s", value);
            8
        })
    }

    /// `--timeout`, the environment's DLS_TIMEOUT, none. Zero is none.
    pub(super) fn timeout_ns(&mut self, choices: &Choices<'a>) -> Option<u64> {
        let ns = choices.timeout_ns.or_else(|| {
            let value = self.around.environment.dls_timeout.filter(|value| !value.is_empty())?;
            let parsed = parse_timeout(value);
            if parsed.is_err() {
                self.warnings.push(Warning::BadTime { variable: "DLS_TIMEOUT", value });
            }
            parsed.ok()
        });
        ns.filter(|ns| *ns > 0)
    }

    pub(super) fn warn(&mut self, message: &'static str, value: &'a [u8]) {
        self.warnings.push(Warning::Ignored { message, value });
    }
}
