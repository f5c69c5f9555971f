//! getopt_long's reading of argv, driven by the table of flags.
//!
//! GNU's long options have precedence: the options that only `dls` has (`--mode` and so on) are considered only for
//! a name that is no abbreviation of a GNU option. So every abbreviation that works with GNU `ls` works the same
//! here, and one that is ambiguous there gets the same message.

use alloc::vec::Vec;
use core::ffi::CStr;

use super::bad_value::BadValue;
use super::error::UsageError;
use super::flags::{self, Arity, Definition, Flag, GNU_ORDER, is_gnu};
use super::parsed::{Args, Said};
use super::words::BadWord;

/// The state of one reading.
struct Reader<'a, I> {
    argv: I,
    args: Args<'a>,
    /// `--help` or `--version` was reached.
    done: bool,
    /// The word before was one of our options, which may have a value and has none.
    open: Option<&'static Definition>,
}

/// Reads all of `argv`; see [`super::parse`].
pub(super) fn read<'a>(
    argv: impl Iterator<Item = &'a CStr>,
    posixly_correct: bool,
) -> Result<Args<'a>, UsageError<'a>> {
    let mut reader = Reader { argv, args: Args::default(), done: false, open: None };
    while !reader.done
        && let Some(word) = reader.argv.next()
    {
        match word.to_bytes() {
            b"--" => reader.only_operands(),
            [b'-', b'-', long @ ..] => reader.long(long)?,
            [b'-', letters @ ..] if !letters.is_empty() => reader.letters(letters)?,
            _ => {
                if let Some(option) = reader.open.take()
                    && (option.check)(word.to_bytes()).is_ok()
                {
                    reader.args.apart.push((word, option));
                }
                reader.args.operands.push(word);
                if posixly_correct {
                    reader.only_operands();
                }
            }
        }
    }
    Ok(reader.args)
}

impl<'a, I: Iterator<Item = &'a CStr>> Reader<'a, I> {
    fn only_operands(&mut self) {
        self.args.operands.extend(&mut self.argv);
    }

    fn next_value(&mut self) -> Option<&'a [u8]> {
        self.argv.next().map(CStr::to_bytes)
    }

    /// `-la`, `-w80`, `-lw 80`: letters until one takes the rest, or the next word, as its value.
    fn letters(&mut self, letters: &'a [u8]) -> Result<(), UsageError<'a>> {
        for (at, &letter) in letters.iter().enumerate() {
            let definition = flags::by_letter(letter).ok_or(UsageError::InvalidOption(letter))?;
            // Only the long form of an option takes an optional value: `-Falways` does not exist.
            let takes_value = definition.arity == Arity::Required;
            let rest = &letters[at + 1..];
            let value = match takes_value {
                false => None,
                true if rest.is_empty() => {
                    Some(self.next_value().ok_or(UsageError::LetterNeedsValue(letter))?)
                }
                true => Some(rest),
            };
            self.say(definition, value)?;
            if takes_value {
                break;
            }
        }
        Ok(())
    }

    /// `--name`, `--name=value`, `--name value`; `typed` is the text after the two dashes.
    fn long(&mut self, typed: &'a [u8]) -> Result<(), UsageError<'a>> {
        let (name, attached) = match typed.iter().position(|&byte| byte == b'=') {
            Some(at) => (&typed[..at], Some(&typed[at + 1..])),
            None => (typed, None),
        };
        let (definition, long) = find_long(name, typed)?;
        let value = match (definition.arity, attached) {
            (Arity::None, Some(_)) => return Err(UsageError::ValueNotAllowed(long)),
            (Arity::Required, None) => Some(self.next_value().ok_or(UsageError::ValueNeeded(long))?),
            _ => attached,
        };
        self.say(definition, value)
    }

    fn say(
        &mut self,
        definition: &'static Definition,
        value: Option<&'a [u8]>,
    ) -> Result<(), UsageError<'a>> {
        if let Some(value) = value {
            (definition.check)(value).map_err(|bad| bad.of(definition, value))?;
        }
        let is_open = definition.arity == Arity::Optional && value.is_none() && !is_gnu(definition.flag);
        self.open = is_open.then_some(definition);
        self.args.said.push(Said { flag: definition.flag, value });
        self.done = matches!(definition.flag, Flag::Help | Flag::Version);
        Ok(())
    }
}

/// The option that has this name or a name that begins with it, and the whole name. No option has two long names, so
/// getopt's rule that candidates of equal meaning are not ambiguous does not apply.
fn find_long<'a>(
    name: &'a [u8],
    typed: &'a [u8],
) -> Result<(&'static Definition, &'static str), UsageError<'a>> {
    let named = || flags::all().filter_map(|definition| Some((definition, definition.long?)));
    if let Some(exact) = named().find(|(_, long)| long.as_bytes() == name) {
        return Ok(exact);
    }
    let place = |flag: Flag| GNU_ORDER.iter().position(|&gnu| gnu == flag);
    // An option that writes a file has no abbreviation, so that it is never chosen by mistake.
    let (mut gnu, ours): (Vec<_>, Vec<_>) = named()
        .filter(|(d, long)| long.as_bytes().starts_with(name) && d.flag != Flag::Init)
        .partition(|(d, _)| place(d.flag).is_some());
    gnu.sort_by_key(|(definition, _)| place(definition.flag));
    let candidates = if gnu.is_empty() { ours } else { gnu };
    match candidates[..] {
        [] => Err(UsageError::UnrecognizedOption(typed)),
        [only] => Ok(only),
        _ => {
            let candidates = candidates.into_iter().map(|(_, long)| long).collect();
            Err(UsageError::AmbiguousOption { typed, candidates })
        }
    }
}

impl BadValue {
    fn of<'a>(self, definition: &Definition, value: &'a [u8]) -> UsageError<'a> {
        match self {
            Self::Word(BadWord { ambiguous, valid }) => {
                UsageError::BadWord { option: definition.long.unwrap_or_default(), value, ambiguous, valid }
            }
            Self::Item { start, len, why } => Self::Word(why).of(definition, &value[start..start + len]),
            Self::Number(why) => UsageError::BadNumber { value, why },
        }
    }
}
