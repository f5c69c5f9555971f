//! Standard output as a terminal: its width, its colours, its characters.

use crate::message;
use dents_locale::{Charset, Locale};
use dents_render::quantity::grouped;
use dents_render::quote::{Quoter, Quoting};
use dents_sys::{AsFd, tty};
use std::io;

/// Standard output.
pub struct Screen {
    /// Its width, if it is a terminal.
    pub(crate) columns: Option<usize>,
    /// The charset of texts.
    pub charset: Charset,
    colours: bool,
    quoter: Quoter,
}

/// The parts of the output that have a colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Text.
    Plain,
    /// Titles and totals.
    Bold,
    /// Sizes.
    Size,
    /// Bars.
    Bar,
}

impl Paint {
    fn sequence(self) -> &'static str {
        match self {
            Paint::Plain => "",
            Paint::Bold => "\x1b[1m",
            Paint::Size => "\x1b[32m",
            Paint::Bar => "\x1b[36m",
        }
    }
}

impl Screen {
    /// Costs a system call or two; reads `NO_COLOR` and `TERM`.
    pub fn stdout() -> Screen {
        let stdout = io::stdout();
        let terminal = tty::isatty(stdout.as_fd());
        // Terminals that do not know their width have 80 columns.
        let columns = terminal.then(|| tty::columns(stdout.as_fd()).map_or(80, usize::from));
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        Screen::new(columns, terminal && !unwanted && !dumb, message::locale())
    }

    /// A screen of this width, with or without colours.
    pub fn new(columns: Option<usize>, colours: bool, locale: &Locale) -> Screen {
        // Names are quoted in files too, because a cell of a table must not contain a newline.
        let quoter = Quoter::new(Quoting::ShellEscape, locale, false, b"").and_invisible();
        Screen { columns, charset: locale.charset, colours, quoter }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.columns.is_some()
    }

    /// The number of its lines, if it is a terminal that knows it: one system call.
    pub(crate) fn lines(&self) -> Option<usize> {
        self.columns?;
        tty::rows(io::stdout().as_fd()).map(usize::from)
    }

    /// A name in the form of `ls` on a terminal: in quotes if a shell needs them, control characters escaped.
    pub fn name(&self, name: &[u8]) -> Vec<u8> {
        let mut drawn = Vec::with_capacity(name.len() + 8);
        self.quoter.write(name, &mut drawn);
        drawn
    }

    /// A number, on a terminal in groups of three digits.
    pub(crate) fn count(&self, number: u64) -> Vec<u8> {
        let text = if self.is_terminal() { grouped(number) } else { number.to_string() };
        text.into_bytes()
    }

    /// Appends text, in its colour if colours are on.
    pub(crate) fn paint(&self, paint: Paint, text: &[u8], out: &mut Vec<u8>) {
        if !self.colours || paint == Paint::Plain {
            return out.extend_from_slice(text);
        }
        out.extend_from_slice(paint.sequence().as_bytes());
        out.extend_from_slice(text);
        out.extend_from_slice(b"\x1b[0m");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        let screen = Screen::new(Some(80), true, &Locale::C_UTF8);
        assert_eq!(screen.name(b"plain"), b"plain");
        assert_eq!(screen.name("f\u{fc}r".as_bytes()), "f\u{fc}r".as_bytes());
        assert_eq!(screen.name(b"two\nlines\x1b[2J"), br"'two'$'\n''lines'$'\033''[2J'");
        assert_eq!(screen.name(b"\xff"), br"''$'\377'");
        // RIGHT-TO-LEFT OVERRIDE, ZERO WIDTH SPACE; a joiner between Latin letters, and between letters that are joined.
        assert_eq!(screen.name("exe\u{202e}txt.a".as_bytes()), br"'exe'$'\342\200\256''txt.a'");
        assert_eq!(screen.name("a\u{200b}b".as_bytes()), br"'a'$'\342\200\213''b'");
        assert_eq!(screen.name("a\u{200d}b".as_bytes()), br"'a'$'\342\200\215''b'");
        let joined = "\u{645}\u{6cc}\u{200c}\u{62e}\u{1f468}\u{200d}\u{1f469}\u{fe0f}";
        assert_eq!(screen.name(joined.as_bytes()), joined.as_bytes());
    }

    /// The set against the tables of the regex crate.
    #[test]
    fn invisible_characters_are_those_of_unicode() {
        let glyphs = r"\u{600}-\u{605}\u{6dd}\u{70f}\u{890}\u{891}\u{8e2}\u{110bd}\u{110cd}";
        let set =
            format!(r"^[\p{{Zl}}\p{{Zp}}\u{{115f}}\u{{1160}}\u{{3164}}\u{{ffa0}}[\p{{Cf}}--[{glyphs}]]]$");
        let set = regex::Regex::new(&set).expect("a set");
        for char in char::MIN..=char::MAX {
            let mut text = [0; 4];
            let text = char.encode_utf8(&mut text);
            let is_invisible = dents_render::invisible::is_invisible(char);
            assert_eq!(is_invisible, set.is_match(text), "U+{:04X}", u32::from(char));
        }
    }

    #[test]
    fn colours_only_where_they_are_wanted() {
        let drawn = |colours| {
            let mut out = Vec::new();
            Screen::new(Some(80), colours, &Locale::C).paint(Paint::Bold, b"x", &mut out);
            out
        };
        assert_eq!(drawn(true), b"\x1b[1mx\x1b[0m");
        assert_eq!(drawn(false), b"x");
    }
}
