//! Words that completions offer for a value with a grammar of its own.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use std::ffi::OsStr;

/// Parses by a function. The words, each with what it means, are only offered: other values may be valid, too.
#[derive(Clone)]
struct Offered<T> {
    parse: fn(&str) -> Result<T, String>,
    words: Vec<(&'static str, &'static str)>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Offered<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let parse = self.parse;
        StringValueParser::new().try_map(move |text| parse(&text)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.words.iter().map(|(word, about)| PossibleValue::new(*word).help(*about))))
    }
}

/// A parser by this function that has these words for completions.
pub(crate) fn offered<T: Clone + Send + Sync + 'static>(
    parse: fn(&str) -> Result<T, String>,
    words: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> impl TypedValueParser<Value = T> {
    Offered { parse, words: words.into_iter().collect() }
}
