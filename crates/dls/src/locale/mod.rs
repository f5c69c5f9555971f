//! The user's locale: found and mapped as the C library does, and read only where a listing needs it.
//!
//! C, POSIX and C.UTF-8 open no file. Another locale is one archive file, and for a long listing the catalog with the
//! translations of GNU `ls`'s two time formats, if it is installed.

mod language;
mod mapped;

use crate::environment::Environment;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use core::sync::atomic::AtomicU8;
use dents_core::pattern::Tables;
use dents_locale::{Case, Locale, TimeNames, UserLocale, Variables, catalog, copy};
use dents_render::TimeStyle;
use dents_render::human::{Grouping, Separator};
use language::{Catalogs, is_utf8};
pub use language::{Domain, Language};
use mapped::Mapped;

/// The locale that the environment asks for.
pub struct FoundLocale<'a> {
    user: UserLocale<'a, 'static>,
    /// The name of the locale of messages.
    messages: &'a [u8],
    /// The name of the locale of numbers.
    numeric: &'a [u8],
    language: Option<&'a [u8]>,
    output_charset: Option<&'a [u8]>,
}

impl Tables for FoundLocale<'_> {
    fn class(&self, name: &[u8]) -> Option<Vec<RangeInclusive<u32>>> {
        self.user.class(name, &mut Mapped)
    }

    fn class_bytes(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.user.class_bytes(name, &mut Mapped)
    }

    fn range(&self, from: u32, to: u32) -> Option<Vec<RangeInclusive<u32>>> {
        self.user.range(from, to)
    }

    fn bytes(&self) -> Option<[u8; 256]> {
        self.user.bytes()
    }

    fn equals(&self, char: u32) -> Option<Vec<RangeInclusive<u32>>> {
        self.user.equals(char)
    }

    fn equal_bytes(&self, byte: u8) -> Option<Vec<u8>> {
        self.user.equal_bytes(byte)
    }
}

impl<'a> FoundLocale<'a> {
    /// Looks for it.
    #[must_use]
    pub fn new(environment: &Environment<'a>) -> FoundLocale<'a> {
        let variables = Variables {
            all: environment.lc_all,
            ctype: environment.lc_ctype,
            collate: environment.lc_collate,
            time: environment.lc_time,
            lang: environment.lang,
        };
        // `setlocale` fails if a single one is not installed.
        let others = [
            environment.lc_numeric,
            environment.lc_monetary,
            environment.lc_messages,
            environment.lc_paper,
            environment.lc_name,
            environment.lc_address,
            environment.lc_telephone,
            environment.lc_measurement,
            environment.lc_identification,
        ];
        let others: Vec<&[u8]> = others.into_iter().flatten().collect();
        let user = UserLocale::find(&variables, &others, environment.locpath, &mut Mapped);
        let messages = if user.is_installed() { variables.name(environment.lc_messages) } else { b"C" };
        let numeric = variables.name(environment.lc_numeric);
        let Environment { language, output_charset, .. } = *environment;
        FoundLocale { user, messages, numeric, language, output_charset }
    }

    /// Charset, and whether names are ordered by rules.
    #[must_use]
    pub fn locale(&self) -> Locale {
        self.user.locale()
    }

    /// The tables that names are ordered by; none where bytes decide.
    pub(crate) fn collate(&self) -> Option<&'static [AtomicU8]> {
        self.user.collate()
    }

    /// Whether times are those of the C locale, not of one that is merely like it (C.UTF-8).
    pub(crate) fn is_posix_time(&self) -> bool {
        matches!(self.user.time_name(), b"C" | b"POSIX")
    }

    /// The names of months and days for this style, if they differ from those of C.
    pub(crate) fn time_names(&self, style: &TimeStyle) -> Option<TimeNames<'static>> {
        let time = self.user.time(&mut Mapped);
        let names = time.and_then(|time| TimeNames::new(copy(TimeNames::part(time)).leak()));
        match style {
            TimeStyle::Custom { recent, other } => self.rare_names(names, [recent, other], time),
            _ => names,
        }
    }

    /// What few formats need: the names of months that stand alone, and how letters change their case.
    fn rare_names(
        &self,
        names: Option<TimeNames<'static>>,
        formats: [&[u8]; 2],
        time: Option<&'static [AtomicU8]>,
    ) -> Option<TimeNames<'static>> {
        let has = |bytes: &[u8]| formats.iter().any(|format| format.iter().any(|byte| bytes.contains(byte)));
        let mut names = names;
        if has(b"O")
            && let (Some(names), Some(alone)) = (&mut names, time.and_then(TimeNames::months_alone))
        {
            names.alone = alone.map(|names| names.map(|name| &*name.leak()));
            // GNU 9.10 shows numerals in one of the locales that have some.
            names.has_numerals_alone = self.user.time_name().starts_with(b"fa_IR");
        }
        if has(b"^#P")
            && let Some(case) = self.user.ctype(&mut Mapped).and_then(Case::new)
        {
            names.get_or_insert(TimeNames::C).case = Some(Box::leak(Box::new(case)));
        }
        names
    }

    /// The formats of recent and of other times: GNU `ls` has them translated, which changes their order.
    pub(crate) fn time_style(&self) -> TimeStyle {
        let catalogs = self.catalogs(self.user.time_name(), "LC_TIME");
        if catalogs.are_missing() {
            return TimeStyle::Locale;
        }
        let translated = |format| self.translated(&catalogs, format);
        TimeStyle::Custom { recent: translated(b"%b %e %H:%M"), other: translated(b"%b %e  %Y") }
    }

    /// The decimal point, where it is not a point.
    pub(crate) fn decimal_point(&self) -> Option<Separator> {
        let point = self.user.decimal_point(self.numeric, &mut Mapped)?;
        Separator::new(&point, self.locale().charset).filter(|_| !point.is_empty())
    }

    /// How digits are grouped, where they are.
    pub(crate) fn grouping(&self) -> Option<Grouping> {
        let (separator, sizes) = self.user.grouping(self.numeric, &mut Mapped)?;
        Some(Grouping::new(Separator::new(&separator, self.locale().charset)?, &sizes))
    }

    /// The language of messages.
    #[must_use]
    pub fn language(&self) -> Language {
        Language::new(self.locale().charset, self.messages, self.language).in_charset(self.output_charset)
    }

    fn catalogs(&self, locale: &[u8], category: &str) -> Catalogs {
        // C.UTF-8 has no translations, so no file is opened.
        let has_some = !locale.starts_with(b"C.");
        let paths = has_some.then(|| catalog::paths(locale, self.language, category, "coreutils"));
        Catalogs::new(paths.unwrap_or_default())
    }

    fn translated(&self, catalogs: &Catalogs, text: &[u8]) -> Vec<u8> {
        // Charsets are not converted: a translation that is not ASCII must be in the charset that is wanted.
        let is_utf8 = is_utf8(self.output_charset, self.locale().charset);
        let translated = catalogs.get(text).filter(|text| text.is_ascii() || is_utf8);
        translated.unwrap_or_else(|| text.to_vec())
    }
}
