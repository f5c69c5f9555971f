//! The encodings of values: each collects those of a page.

use super::pack;
use crate::bytes::in_common;
use ::parquet::basic::Encoding;
use ::parquet::data_type::ByteArray;
use ::parquet::file::statistics::{Statistics, ValueStatistics};
use std::collections::HashMap;

/// Encodes the values of a column, without nulls, page by page.
pub(super) trait Encode: Default {
    /// Appends the values since the last page. Returns their encoding.
    fn page(&mut self, out: &mut Vec<u8>) -> Encoding;

    /// Ends the dictionary. Returns its bytes, and the number of its values.
    fn dictionary(&mut self) -> Option<(Vec<u8>, u32)> {
        None
    }

    /// The smallest and the largest value, with the number of nulls; `None` if there are no values, or if the bounds do not help readers to skip
    /// row groups.
    fn statistics(&mut self, nulls: u64) -> Option<Statistics>;
}

/// The longest bound. A row group with a longer one, below thousands of directories, has no bounds: the footer is in memory as a whole.
const LONGEST: usize = 4096;

/// The smallest and the largest of some bytes.
#[derive(Default)]
enum Bounds {
    #[default]
    None,
    Between([Vec<u8>; 2]),
    /// One was longer than [`LONGEST`].
    TooLong,
}

impl Bounds {
    fn widen(&mut self, value: &[u8]) {
        match self {
            Bounds::TooLong => {}
            Bounds::Between([least, greatest]) if (&least[..]..=&greatest[..]).contains(&value) => {}
            // Not kept: a chain of directories has gigabytes of paths, each of which would be the next bound.
            _ if value.len() > LONGEST => *self = Bounds::TooLong,
            Bounds::Between([_, greatest]) if value > &greatest[..] => value.clone_into(greatest),
            Bounds::Between([least, _]) => value.clone_into(least),
            Bounds::None => *self = Bounds::Between([value.to_vec(), value.to_vec()]),
        }
    }

    /// Takes those of other values.
    fn take(&mut self, others: &mut Bounds) {
        match std::mem::take(others) {
            Bounds::None => {}
            Bounds::Between(bounds) => bounds.iter().for_each(|bound| self.widen(bound)),
            Bounds::TooLong => *self = Bounds::TooLong,
        }
    }

    fn statistics(&mut self, nulls: u64) -> Option<Statistics> {
        let Bounds::Between([least, greatest]) = std::mem::take(self) else { return None };
        let [least, greatest] = [least, greatest].map(|value| Some(ByteArray::from(value)));
        Some(Statistics::ByteArray(ValueStatistics::new(least, greatest, None, Some(nulls), false)))
    }
}

/// The kinds of bounds of a column.
pub(super) mod bounds {
    /// No bounds.
    pub(crate) const NONE: u8 = 0;
    /// Bounds of values that come in order.
    pub(crate) const SORTED: u8 = 1;
    /// Bounds of values in any order.
    pub(crate) const ANY: u8 = 2;
}

/// DELTA_BYTE_ARRAY: each value as the number of first bytes that it shares with the previous value, and its other bytes. `BOUNDS` is one of
/// [`bounds`].
#[derive(Default)]
pub(super) struct Front<const BOUNDS: u8> {
    last: Vec<u8>,
    /// For each value the number of bytes that it shares with the previous value, and the number of its other bytes.
    shared: Vec<u32>,
    own: Vec<u32>,
    bytes: Vec<u8>,
    bounds: Bounds,
}

impl<const BOUNDS: u8> Front<BOUNDS> {
    /// Takes a value that begins with `known` bytes of the value before, or more.
    pub(super) fn put(&mut self, value: &[u8], known: usize) {
        // The first value of a page shares no bytes.
        let shared = match self.shared.is_empty() {
            true => 0,
            false => known + in_common(&self.last[known..], &value[known..]),
        };
        let own = &value[shared..];
        if BOUNDS == bounds::SORTED && self.shared.is_empty()
            || BOUNDS == bounds::ANY
                && (self.shared.is_empty() || !own.is_empty() || shared < self.last.len())
        {
            self.bounds.widen(value);
        }
        self.shared.push(shared as u32);
        self.own.push(own.len() as u32);
        self.bytes.extend_from_slice(own);
        self.last.truncate(shared);
        self.last.extend_from_slice(own);
    }

    /// Bytes of the page.
    pub(super) fn held(&self) -> usize {
        self.bytes.len()
    }
}

impl<const BOUNDS: u8> Encode for Front<BOUNDS> {
    fn page(&mut self, out: &mut Vec<u8>) -> Encoding {
        if BOUNDS == bounds::SORTED && !self.shared.is_empty() {
            self.bounds.widen(&self.last);
        }
        let Front { shared, own, bytes, .. } = self;
        for lengths in [shared, own] {
            pack::differences(out, lengths.iter().map(|length| i64::from(*length)));
            lengths.clear();
        }
        out.append(bytes);
        Encoding::DELTA_BYTE_ARRAY
    }

    fn statistics(&mut self, nulls: u64) -> Option<Statistics> {
        self.bounds.statistics(nulls)
    }
}

/// PLAIN: bytes that seldom repeat.
#[derive(Default)]
pub(super) struct Plain(Vec<u8>);

fn put_plain(out: &mut Vec<u8>, value: &[u8]) {
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    out.extend_from_slice(value);
}

impl Plain {
    pub(super) fn put(&mut self, value: &[u8]) {
        put_plain(&mut self.0, value);
    }

    /// Bytes of the page.
    pub(super) fn held(&self) -> usize {
        self.0.len()
    }
}

impl Encode for Plain {
    fn page(&mut self, out: &mut Vec<u8>) -> Encoding {
        out.append(&mut self.0);
        Encoding::PLAIN
    }

    fn statistics(&mut self, _: u64) -> Option<Statistics> {
        None
    }
}

/// Positions in a dictionary.
#[derive(Default)]
struct Positions {
    page: Vec<u32>,
    values: u32,
}

impl Positions {
    fn page(&mut self, out: &mut Vec<u8>) {
        let width = pack::width(self.values.saturating_sub(1)).max(1);
        out.push(width as u8);
        pack::runs(out, &self.page, width);
        self.page.clear();
    }
}

/// A dictionary of bytes, for few different and short values. It has bounds if `BOUNDED`.
#[derive(Default)]
pub(super) struct Words<const BOUNDED: bool> {
    known: HashMap<Box<[u8]>, u32>,
    last: Vec<u8>,
    positions: Positions,
    dictionary: Vec<u8>,
    bounds: Bounds,
}

impl<const BOUNDED: bool> Words<BOUNDED> {
    pub(super) fn put(&mut self, word: &[u8]) {
        let position = match self.positions.page.last() {
            Some(last) if self.last == word => *last,
            _ => self.position(word),
        };
        self.positions.page.push(position);
    }

    fn position(&mut self, word: &[u8]) -> u32 {
        word.clone_into(&mut self.last);
        if let Some(position) = self.known.get(word) {
            return *position;
        }
        let position = self.positions.values;
        self.positions.values += 1;
        self.known.insert(word.into(), position);
        put_plain(&mut self.dictionary, word);
        if BOUNDED {
            self.bounds.widen(word);
        }
        position
    }
}

impl<const BOUNDED: bool> Encode for Words<BOUNDED> {
    fn page(&mut self, out: &mut Vec<u8>) -> Encoding {
        self.positions.page(out);
        Encoding::RLE_DICTIONARY
    }

    fn dictionary(&mut self) -> Option<(Vec<u8>, u32)> {
        self.known.clear();
        Some((std::mem::take(&mut self.dictionary), std::mem::take(&mut self.positions.values)))
    }

    fn statistics(&mut self, nulls: u64) -> Option<Statistics> {
        self.bounds.statistics(nulls)
    }
}

/// Texts that repeat and may be long: in a dictionary, until that is full.
#[derive(Default)]
pub(super) struct Repeated {
    words: Words<true>,
    others: Front<{ bounds::ANY }>,
    is_full: bool,
    /// The length of the dictionary when the page began.
    at_page: usize,
}

impl Repeated {
    /// The approximate bytes of a full dictionary.
    const FULL: usize = 1 << 20;

    /// Takes a value that begins with `known` bytes of the value before, or more.
    pub(super) fn put(&mut self, value: &[u8], known: usize) {
        if self.is_full { self.others.put(value, known) } else { self.words.put(value) }
    }

    /// Bytes of the page.
    pub(super) fn held(&self) -> usize {
        self.words.dictionary.len() - self.at_page + self.others.held()
    }
}

impl Encode for Repeated {
    fn page(&mut self, out: &mut Vec<u8>) -> Encoding {
        let encoding = if self.is_full { self.others.page(out) } else { self.words.page(out) };
        self.at_page = self.words.dictionary.len();
        self.is_full = self.at_page >= Self::FULL;
        encoding
    }

    fn dictionary(&mut self) -> Option<(Vec<u8>, u32)> {
        (self.at_page, self.is_full) = (0, false);
        self.words.dictionary()
    }

    fn statistics(&mut self, nulls: u64) -> Option<Statistics> {
        self.words.bounds.take(&mut self.others.bounds);
        self.words.statistics(nulls)
    }
}

/// A number, in the 32 or 64 bits that its column has.
pub(super) trait Number: Copy + Ord + Default {
    fn bits(self) -> u64;

    fn plain(self, out: &mut Vec<u8>);

    fn statistics(bounds: [Self; 2], nulls: u64) -> Statistics;
}

macro_rules! number {
    ($type:ty, $as:ty, $kind:ident) => {
        impl Number for $type {
            fn bits(self) -> u64 {
                self as u64
            }

            fn plain(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn statistics(bounds: [Self; 2], nulls: u64) -> Statistics {
                let [least, greatest] = bounds.map(|bound| Some(bound as $as));
                Statistics::$kind(ValueStatistics::new(least, greatest, None, Some(nulls), false))
            }
        }
    };
}

number!(u32, i32, Int32);
number!(i32, i32, Int32);
number!(u64, i64, Int64);
number!(i64, i64, Int64);

/// The smallest and the largest of some numbers.
#[derive(Default)]
struct Span<N>(Option<[N; 2]>);

impl<N: Number> Span<N> {
    fn widen(&mut self, numbers: &[N]) {
        for number in numbers {
            let [least, greatest] = self.0.get_or_insert([*number; 2]);
            *least = (*least).min(*number);
            *greatest = (*greatest).max(*number);
        }
    }

    fn statistics(&mut self, nulls: u64) -> Option<Statistics> {
        Some(N::statistics(self.0.take()?, nulls))
    }
}

/// DELTA_BINARY_PACKED: numbers near the previous number.
#[derive(Default)]
pub(super) struct Near<N> {
    pub(super) page: Vec<N>,
    span: Span<N>,
}

impl<N: Number> Encode for Near<N> {
    fn page(&mut self, out: &mut Vec<u8>) -> Encoding {
        self.span.widen(&self.page);
        pack::differences(out, self.page.iter().map(|number| number.bits() as i64));
        self.page.clear();
        Encoding::DELTA_BINARY_PACKED
    }

    fn statistics(&mut self, nulls: u64) -> Option<Statistics> {
        self.span.statistics(nulls)
    }
}

/// PLAIN: numbers that seldom repeat.
#[derive(Default)]
pub(super) struct Wide<N> {
    pub(super) page: Vec<N>,
    span: Span<N>,
}

impl<N: Number> Encode for Wide<N> {
    fn page(&mut self, out: &mut Vec<u8>) -> Encoding {
        self.span.widen(&self.page);
        self.page.drain(..).for_each(|number| number.plain(out));
        Encoding::PLAIN
    }

    fn statistics(&mut self, nulls: u64) -> Option<Statistics> {
        self.span.statistics(nulls)
    }
}

/// A dictionary of numbers.
#[derive(Default)]
pub(super) struct Few<N> {
    known: HashMap<u64, u32>,
    last: N,
    positions: Positions,
    dictionary: Vec<u8>,
    span: Span<N>,
}

impl<N: Number> Few<N> {
    pub(super) fn put(&mut self, number: N) {
        let position = match self.positions.page.last() {
            Some(last) if self.last == number => *last,
            _ => self.position(number),
        };
        self.positions.page.push(position);
    }

    fn position(&mut self, number: N) -> u32 {
        self.last = number;
        let next = self.positions.values;
        let position = *self.known.entry(number.bits()).or_insert(next);
        if position == next {
            self.positions.values += 1;
            number.plain(&mut self.dictionary);
            self.span.widen(&[number]);
        }
        position
    }
}

impl<N: Number> Encode for Few<N> {
    fn page(&mut self, out: &mut Vec<u8>) -> Encoding {
        self.positions.page(out);
        Encoding::RLE_DICTIONARY
    }

    fn dictionary(&mut self) -> Option<(Vec<u8>, u32)> {
        self.known.clear();
        Some((std::mem::take(&mut self.dictionary), std::mem::take(&mut self.positions.values)))
    }

    fn statistics(&mut self, nulls: u64) -> Option<Statistics> {
        self.span.statistics(nulls)
    }
}

/// PLAIN: truth values.
#[derive(Default)]
pub(super) struct Bits(pub(super) Vec<bool>);

impl Encode for Bits {
    fn page(&mut self, out: &mut Vec<u8>) -> Encoding {
        pack::bits(out, &self.0);
        self.0.clear();
        Encoding::PLAIN
    }

    fn statistics(&mut self, _: u64) -> Option<Statistics> {
        None
    }
}
