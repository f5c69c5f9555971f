//! The lines of the file. Pure: bytes in, options and mistakes out.
//!
//! ```text
//! # a comment
//! --group-directories-first
//! --sort=version
//! --time-style +%d %b %Y
//! -w 100
//! always --si
//! colors = header=1;4:size-g=31
//! ```
//!
//! A line has an option and its value as on a command line, separated by `=` or blanks. The value ends at the end of the
//! line, and no character in it is special. A line that begins with `always` holds also if stdout is a pipe.

use crate::args::flags::Flag;
use crate::args::{Args, Said, UsageError, time_style, words};
use crate::locale::Language;
use crate::plan::bad_theme;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::ops::Range;
use dents_render::view::BadTheme;
use dents_render::{Icons, Theme};

/// The number of mistakes that are reported: a file of another kind would have one on every line.
const TOLD: usize = 10;

/// The parsed file.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// Options, in order.
    pub(super) said: Vec<Said<'static>>,
    /// `colors = …`, several of them with colons between.
    pub(super) colors: Option<&'static [u8]>,
    /// `icons = …`, likewise.
    pub(super) icons: Option<&'static [u8]>,
    /// The accepted lines, with their text.
    pub(super) used: Vec<(usize, &'static [u8])>,
    pub(super) mistakes: Vec<Mistake>,
    /// Whether there were more than [`TOLD`] mistakes.
    pub(super) gave_up: bool,
}

/// A line that is passed over.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) what: Fault,
}

/// A mistake in a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A mistake that the command line would have too.
    Usage(UsageError<'static>),
    /// The line is not an option or a setting.
    Neither(&'static [u8]),
    /// An option that makes sense on the command line alone.
    Unfit(&'static [u8]),
    /// It holds a control character.
    Control,
    /// A piece of `colors` that makes no sense.
    Color(BadTheme<'static>),
    /// A piece of `icons` that makes none.
    Icon {
        /// The piece.
        pair: &'static [u8],
        /// A valid value.
        way_out: &'static str,
    },
}

impl Fault {
    /// For stderr; `place` is the program, the file and the line.
    pub(super) fn message(&self, place: &[u8], language: &Language) -> Vec<u8> {
        let (before, value, after): (&[u8], &[u8], &[u8]) = match self {
            Self::Usage(error) => {
                return [error.message_at(place, language), error.hint(place)].concat();
            }
            Self::Neither(line) => (
                b"no option: ",
                line,
                b" (there may be options, 'colors = ...', 'icons = ...', '# comments')",
            ),
            Self::Unfit(line) => (b"only for the command line: ", line, b""),
            Self::Color(why) => return [place, b": colors: ", &bad_theme(why, language)[..], b"\n"].concat(),
            Self::Icon { pair, way_out } => {
                return [
                    place,
                    b": icons: ignoring ",
                    &language.quote(pair)[..],
                    b": ",
                    way_out.as_bytes(),
                    b"\n",
                ]
                .concat();
            }
            Self::Control => {
                return [place, b": a control character in the line, which is not used\n"].concat();
            }
        };
        [place, b": ", before, &language.quote(value), after, b"\n"].concat()
    }
}

/// Reads a file's text, which is kept as long as the process lives, as argv is: options point into it.
pub(super) fn parse(text: Vec<u8>, only_always: bool) -> Config {
    let mut config = Config::default();
    let text: &'static [u8] = text.leak();
    let mut words = Words::default();
    for (line, content) in lines(text) {
        let (always, content) = match after_word(content, b"always") {
            Some(content) => (true, content),
            None => (false, content),
        };
        if only_always && !always {
            continue;
        }
        if content.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
            config.mistake(line, Fault::Control);
        } else if let Some(value) = setting(content, b"colors") {
            let check = |piece| {
                let mut fault = None;
                Theme::default().apply(piece, &mut |why| fault = Some(Fault::Color(why)));
                fault
            };
            config.set(&mut words.colors, line, content, value, &check);
        } else if let Some(value) = setting(content, b"icons") {
            let check = |piece| {
                let added = Box::<Icons>::default().add(piece);
                added.err().map(|bad| Fault::Icon { pair: bad.pair, way_out: bad.why.way_out() })
            };
            config.set(&mut words.icons, line, content, value, &check);
        } else if content.len() > 1 && content[0] == b'-' && content != b"--" {
            words.option(line, content);
        } else {
            config.mistake(line, Fault::Neither(content));
        }
        if config.gave_up {
            break;
        }
    }
    config.read(words);
    config
}

impl Config {
    /// Appends the valid pieces between colons to a setting, and reports the others, because the line number is known
    /// here.
    fn set(
        &mut self,
        setting: &mut Option<Vec<u8>>,
        line: usize,
        content: &'static [u8],
        value: &'static [u8],
        check: &dyn Fn(&'static [u8]) -> Option<Fault>,
    ) {
        for piece in value.split(|byte| *byte == b':') {
            match check(piece) {
                Some(why) => self.mistake(line, why),
                None => add(setting, piece),
            }
        }
        self.used.push((line, content));
    }

    /// The words of all lines as getopt reads them, each line by itself: a mistake in one is none in the next.
    fn read(&mut self, words: Words) {
        let Words { text, lines, colors, icons } = words;
        let text: &'static [u8] = text.leak();
        for Line { line, content, words } in lines {
            let argv = text[words].split_inclusive(|byte| *byte == 0);
            let argv = argv.filter_map(|word| CStr::from_bytes_with_nul(word).ok());
            match crate::args::parse(argv, false).map_err(Fault::Usage).and_then(|args| fit(args, content)) {
                Ok(said) => {
                    self.said.extend(said);
                    self.used.push((line, content));
                }
                Err(fault) => self.mistake(line, fault),
            }
        }
        self.used.sort_unstable_by_key(|(line, _)| *line);
        self.mistakes.sort_unstable_by_key(|mistake| mistake.line);
        self.colors = colors.map(|colors| &*colors.leak());
        self.icons = icons.map(|icons| &*icons.leak());
    }

    fn mistake(&mut self, line: usize, what: Fault) {
        if self.mistakes.len() < TOLD {
            self.mistakes.push(Mistake { line, what });
        } else {
            self.gave_up = true;
        }
    }
}

/// The options of a line, if a file may have them.
fn fit(args: Args<'static>, content: &'static [u8]) -> Result<Vec<Said<'static>>, Fault> {
    if !args.operands.is_empty() {
        return Err(Fault::Neither(content));
    }
    for said in &args.said {
        if !can_be_default(said.flag) {
            return Err(Fault::Unfit(content));
        }
        // On the command line Plan looks at it, and only for a long listing; such a line could not be named then. It
        // knows `relative` besides.
        if let (Flag::TimeStyle, Some(style)) =
            (said.flag, said.value.filter(|style| *style != words::RELATIVE.as_bytes()))
        {
            time_style(style, false).map_err(Fault::Usage)?;
        }
    }
    Ok(args.said)
}

/// Whether an option makes sense in a file.
pub(super) fn can_be_default(flag: Flag) -> bool {
    !matches!(flag, Flag::Help | Flag::Version | Flag::Init | Flag::NoConfig)
}

/// Lines with their numbers, without the blanks around them, comments and empty ones.
fn lines(text: &'static [u8]) -> impl Iterator<Item = (usize, &'static [u8])> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.enumerate().map(|(at, line)| (at + 1, line));
    lines.filter(|(_, line)| !line.is_empty() && line[0] != b'#')
}

/// The text after `word` and blanks.
fn after_word(line: &'static [u8], word: &[u8]) -> Option<&'static [u8]> {
    let rest = line.strip_prefix(word)?;
    rest.first().is_some_and(u8::is_ascii_whitespace).then(|| rest.trim_ascii_start())
}

/// The value of `key = value`.
fn setting(line: &'static [u8], key: &[u8]) -> Option<&'static [u8]> {
    Some(line.strip_prefix(key)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start())
}

fn add(setting: &mut Option<Vec<u8>>, value: &[u8]) {
    let all = setting.get_or_insert_default();
    if !all.is_empty() {
        all.push(b':');
    }
    all.extend_from_slice(value);
}

/// The values that own their text, before the options that borrow it are made.
#[derive(Default)]
struct Words {
    /// Words, each with a NUL behind it.
    text: Vec<u8>,
    lines: Vec<Line>,
    colors: Option<Vec<u8>>,
    icons: Option<Vec<u8>>,
}

struct Line {
    line: usize,
    content: &'static [u8],
    /// Where in the text its words are.
    words: Range<usize>,
}

impl Words {
    /// `--name value` becomes `--name=value`, since a value that may be left out is taken only so; `-x value` two words.
    fn option(&mut self, line: usize, content: &'static [u8]) {
        let start = self.text.len();
        let blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
        let end = content.iter().position(|byte| blank(byte) || *byte == b'=');
        let (name, rest) = content.split_at(end.unwrap_or(content.len()));
        self.text.extend_from_slice(name);
        let joint = if name.starts_with(b"--") { b'=' } else { 0 };
        match rest.trim_ascii_start() {
            [] => {}
            // `-x=value` has the `=` in its value, as on the command line.
            value @ [b'=', ..] if rest.len() == value.len() || joint == 0 => {
                self.text.extend_from_slice(value)
            }
            [b'=', value @ ..] => self.value(b'=', value.trim_ascii_start()),
            value => self.value(joint, value),
        }
        self.text.push(0);
        self.lines.push(Line { line, content, words: start..self.text.len() });
    }

    fn value(&mut self, joint: u8, value: &[u8]) {
        self.text.push(joint);
        self.text.extend_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn said(text: &str) -> Vec<(Flag, Option<String>)> {
        let config = parse(text.into(), false);
        assert_eq!(config.mistakes, [], "{text}");
        let value = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        config.said.iter().map(|said| (said.flag, said.value.map(value))).collect()
    }

    fn complaints(text: &[u8]) -> Vec<String> {
        let config = parse(text.into(), false);
        let place = |line: usize| std::format!("dls: f:{line}").into_bytes();
        let message = |one: &Mistake| {
            one.what.message(&place(one.line), &Language::english(dents_locale::Charset::Ascii))
        };
        let messages = config.mistakes.iter().map(message);
        messages.map(|text| String::from_utf8(text).unwrap()).collect()
    }

    #[test]
    fn options_stand_as_on_a_command_line() {
        let value = |text: &str| Some(String::from(text));
        assert_eq!(said("--sort=version\n"), [(Flag::Sort, value("version"))]);
        for text in ["--sort  version", "\t--sort\tversion \r\n", "--sort = version"] {
            assert_eq!(said(text), [(Flag::Sort, value("version"))], "{text}");
        }
        assert_eq!(said("--color auto"), [(Flag::Color, value("auto"))]);
        assert_eq!(said("--color"), [(Flag::Color, None)]);
        assert_eq!(said("-la"), [(Flag::Long, None), (Flag::All, None)]);
        assert_eq!(said("-w 80\n-w80"), [(Flag::Width, value("80")), (Flag::Width, value("80"))]);
        assert_eq!(said("-I #*#"), [(Flag::Ignore, value("#*#"))]);
        assert_eq!(said("--ignore=a b = c"), [(Flag::Ignore, value("a b = c"))]);
        assert_eq!(said("--time-style +%d %b"), [(Flag::TimeStyle, value("+%d %b"))]);
        assert_eq!(said("\u{feff}# x\n\n  # y\n-h"), [(Flag::HumanReadable, None)]);
    }

    #[test]
    fn mistakes_name_their_line_and_spoil_no_other() {
        let text =
            b"-h\n--foo\nls\n--help\n--sort=x\n-l x\n\x1b[31m\n--sort\n--time-style=x\n--\n-1\n--no-config";
        let complaints = complaints(text);
        let first = complaints.iter().map(|text| text.lines().next().unwrap());
        let expected = [
            "dls: f:2: unrecognized option '--foo'",
            "dls: f:3: no option: 'ls' (there may be options, 'colors = ...', 'icons = ...', '# comments')",
            "dls: f:4: only for the command line: '--help'",
            "dls: f:5: invalid argument 'x' for '--sort'",
            "dls: f:6: no option: '-l x' (there may be options, 'colors = ...', 'icons = ...', '# comments')",
            "dls: f:7: a control character in the line, which is not used",
            "dls: f:8: option '--sort' requires an argument",
            "dls: f:9: invalid argument 'x' for 'time style'",
            "dls: f:10: no option: '--' (there may be options, 'colors = ...', 'icons = ...', '# comments')",
            "dls: f:12: only for the command line: '--no-config'",
        ];
        assert_eq!(first.collect::<Vec<_>>(), expected);
        let config = parse(text.to_vec(), false);
        assert_eq!(
            config.said.iter().map(|said| said.flag).collect::<Vec<_>>(),
            [Flag::HumanReadable, Flag::OnePerLine]
        );
        assert_eq!(config.used, [(1, &b"-h"[..]), (11, b"-1")]);
    }

    #[test]
    fn settings_add_up() {
        let config = parse(b"colors = header=1:size=2\nicons=a=b\n  colors =you=3".to_vec(), false);
        assert_eq!(config.colors, Some(&b"header=1:size=2:you=3"[..]));
        assert_eq!(config.icons, Some(&b"a=b"[..]));
        assert!(config.said.is_empty() && config.mistakes.is_empty());
        assert_eq!(complaints(b"colours = x").len(), 1);
    }

    #[test]
    fn mistakes_inside_a_setting_name_their_line() {
        let text = b"-h\ncolors = you=1:header=red:size\nicons = *.rs=e7a8:*.c\ncolors = hue=1";
        let complaints = complaints(text);
        let expected = [
            "dls: f:2: colors: invalid colour 'red' for 'header' (must be",
            "dls: f:2: colors: no value in 'size' (must be",
            "dls: f:3: icons: ignoring '*.c': ",
            "dls: f:4: colors: unknown key 'hue'; keys are",
        ];
        assert_eq!(complaints.len(), expected.len(), "{complaints:?}");
        for (complaint, expected) in complaints.iter().zip(expected) {
            assert!(complaint.starts_with(expected) && complaint.ends_with('\n'), "{complaint}");
        }
        let config = parse(text.to_vec(), false);
        assert_eq!((config.colors, config.icons), (Some(&b"you=1"[..]), Some(&b"*.rs=e7a8"[..])));
    }

    #[test]
    fn unseen_only_always_counts() {
        let text =
            b"-h\nalways --sort=size\nalways colors = you=1\nrubbish\nalways rubbish\nalwaysx\nalways\n";
        let config = parse(text.to_vec(), true);
        assert_eq!(config.said.len(), 1);
        assert_eq!(config.colors, Some(&b"you=1"[..]));
        assert_eq!(config.mistakes.iter().map(|mistake| mistake.line).collect::<Vec<_>>(), [5]);
        let config = parse(text.to_vec(), false);
        assert_eq!(config.said.len(), 2);
        assert_eq!(config.mistakes.iter().map(|mistake| mistake.line).collect::<Vec<_>>(), [4, 5, 6, 7]);
    }

    #[test]
    fn what_is_no_text_is_told_in_a_few_lines() {
        let mut seed = 1_u64;
        let mut byte = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 56) as u8
        };
        let noise: Vec<u8> = (0..65_536).map(|_| byte()).collect();
        let config = parse(noise, false);
        assert_eq!(config.mistakes.len(), TOLD);
        assert!(config.gave_up);
    }
}
