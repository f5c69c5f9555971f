//! Warnings about the environment, as data: the caller prints them, and the listing continues.

use crate::args::numbers::TIME;
use crate::locale::Language;
use crate::message::Message;
use alloc::vec::Vec;
use dents_render::Theme;
use dents_render::view::BadTheme;

/// A value of the environment that makes no sense, and so does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning<'a> {
    /// A variable is passed over.
    Ignored {
        /// The message, which GNU's catalogs may translate; the value replaces `%s`.
        message: &'static str,
        /// The value of the variable.
        value: &'a [u8],
    },
    /// A variable of ours that sets a time.
    BadTime {
        /// Its name.
        variable: &'static str,
        /// Its value.
        value: &'a [u8],
    },
    /// `LS_COLORS` has a key that is unknown.
    UnknownColor([u8; 2]),
    /// `LS_COLORS` cannot be read.
    BadColors,
    /// `DLS_ICONS` has a pair that makes no sense.
    BadIcon {
        /// The pair.
        pair: &'a [u8],
        /// A valid value.
        way_out: &'static str,
    },
    /// `DLS_COLORS` has a piece that makes no sense.
    BadTheme(BadTheme<'a>),
}

impl Warning<'_> {
    /// The line, with the program's name.
    #[cold]
    #[must_use]
    pub fn message(&self, program: &[u8], language: &Language) -> Message {
        let message = Message::new(program);
        match self {
            Warning::Ignored { message: id, value } => message.format(id, &[&language.quote(value)]),
            Warning::BadTime { variable, value } => message
                .text("ignoring invalid time in environment variable ")
                .text(variable)
                .text(": ")
                .text(language.quote(value))
                .text(TIME),
            Warning::UnknownColor(key) => message.format("unrecognized prefix: %s", &[&language.quote(key)]),
            Warning::BadColors => message.format("unparsable value for LS_COLORS environment variable", &[]),
            Warning::BadIcon { pair, way_out } => message
                .text("ignoring ")
                .text(language.quote(pair))
                .text(" in environment variable DLS_ICONS: ")
                .text(way_out),
            Warning::BadTheme(why) => message.text("DLS_COLORS: ").text(bad_theme(why, language)),
        }
    }
}

/// The error in a piece of a theme, and a valid piece.
#[cold]
pub(crate) fn bad_theme(why: &BadTheme<'_>, language: &Language) -> Vec<u8> {
    let quote = |text: &[u8]| language.quote(text);
    match why {
        BadTheme::NoValue(piece) => {
            [&b"no value in "[..], &quote(piece), b" (must be KEY=NUMBERS, as in you=01;33)"].concat()
        }
        BadTheme::UnknownKey(key) => {
            let mut text = [&b"unknown key "[..], &quote(key), b"; keys are"].concat();
            for key in Theme::keys() {
                text.extend([b" ", key.as_bytes()].concat());
            }
            text
        }
        BadTheme::BadValue { key, value } => {
            let reason = b" (must be numbers between semicolons, as in 01;33, or nothing)";
            [&b"invalid colour "[..], &quote(value), b" for ", &quote(key), reason].concat()
        }
    }
}
