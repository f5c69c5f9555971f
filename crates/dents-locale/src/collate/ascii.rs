//! The fast path for ASCII names, which nearly all names are: the weights of each byte are looked up once and packed
//! into a word.

use alloc::vec::Vec;
use core::ops::Range;

use super::level::{SEPARATOR, position, turned};
use super::tables::Tables;
use crate::file::Byte;

/// ISO 14651's table has four levels; a locale with more takes the long way.
const LEVELS: usize = 4;
/// A byte that takes the long way: it weighs more than three bytes, counts positions where letters do not, or is not
/// ASCII.
const LONG_WAY: u32 = u32::MAX;
/// Set in the word of a byte that the level reads backward.
const BACKWARD: u32 = 1 << 31;
/// The most that a byte adds to a key at one level: two bytes of position and three of weight, rounded up.
const ROOM: usize = 8;

/// The weights of ASCII.
#[derive(Clone, Debug)]
pub(super) struct Ascii {
    levels: usize,
    ways: [Way; LEVELS],
    /// Per byte, the set of those that it may be one element with (Czech `ch`): such pairs take the long way.
    pairs: [u128; 128],
    /// Whether there are such pairs.
    paired: bool,
    /// Per level and byte: the weight in the low three bytes, first byte lowest; its length above them; `BACKWARD`.
    weights: [[u32; 256]; LEVELS],
}

/// How a level is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Forward,
    /// The rule counts ignored elements.
    Placed,
    /// Some bytes backward.
    Turning,
}

/// How many bytes the weight has.
fn length(word: u32) -> usize {
    (word >> 24 & 0x7f) as usize
}

/// Writes a weight at `end`, as a whole word; gives the new end.
fn write(out: &mut [u8], end: usize, word: u32) -> usize {
    out[end..end + 4].copy_from_slice(&word.to_le_bytes());
    end + length(word)
}

impl Ascii {
    pub(super) fn new(tables: &Tables<'_>) -> Ascii {
        let levels = tables.levels();
        let mut ascii = Ascii {
            levels,
            ways: [Way::Forward; LEVELS],
            pairs: [0; 128],
            paired: false,
            weights: [[LONG_WAY; 256]; LEVELS],
        };
        let Some(letter) = tables.single(b'e').filter(|_| levels <= LEVELS) else { return ascii };
        for level in 0..levels {
            if tables.rule(letter, level).position() {
                ascii.ways[level] = Way::Placed;
            }
        }
        for byte in 0..128 {
            let packed = ascii.pack(tables, byte);
            for (level, word) in packed.into_iter().enumerate() {
                ascii.weights[level][usize::from(byte)] = word;
                if packed[0] != LONG_WAY && word & BACKWARD != 0 {
                    ascii.ways[level] = Way::Turning;
                }
            }
        }
        ascii.spare_weightless();
        ascii
    }

    /// Excludes bytes without weight that are read forward in a stretch where others are read backward: `turned` would
    /// lose more elements than this path counts. No locale of glibc has such a byte in ASCII.
    fn spare_weightless(&mut self) {
        for level in 0..self.levels {
            for byte in 0..128 {
                let word = self.weights[level][byte];
                if self.ways[level] == Way::Turning && word & BACKWARD == 0 && length(word) == 0 {
                    self.weights[0][byte] = LONG_WAY;
                }
            }
        }
    }

    /// The words of one byte.
    fn pack(&mut self, tables: &Tables<'_>, byte: u8) -> [u32; LEVELS] {
        let mut words = [0; LEVELS];
        let Some((element, followers)) = tables.alone(byte) else { return [LONG_WAY; LEVELS] };
        self.pairs[usize::from(byte)] = followers;
        self.paired |= followers != 0;
        for (level, word) in words.iter_mut().enumerate().take(self.levels) {
            let weight = tables.weight(element, level);
            let rule = tables.rule(element, level);
            let placed = self.ways[level] == Way::Placed;
            if weight.len() > 3 || rule.position() != placed || (placed && rule.backward()) {
                return [LONG_WAY; LEVELS];
            }
            let mut bytes = [0; 4];
            bytes.iter_mut().zip(weight).for_each(|(byte, weight)| *byte = weight.get());
            bytes[3] = weight.len() as u8;
            *word = u32::from_le_bytes(bytes) | if rule.backward() { BACKWARD } else { 0 };
        }
        words
    }

    /// Whether two bytes of the name, which is ASCII, may be one element.
    fn has_pair(&self, name: &[u8]) -> bool {
        self.paired && name.windows(2).any(|pair| self.pairs[usize::from(pair[0])] >> pair[1] & 1 != 0)
    }

    /// Appends these levels of the key of `name` and returns true; or appends nothing and returns false.
    pub(super) fn key(&self, name: &[u8], levels: Range<usize>, out: &mut Vec<u8>) -> bool {
        let long_way = |byte: &u8| self.weights[0][usize::from(*byte)] == LONG_WAY;
        // An empty name has no byte to test.
        if self.levels > LEVELS || name.iter().any(long_way) || self.has_pair(name) {
            return false;
        }
        for level in levels {
            if level > 0 {
                out.push(SEPARATOR);
            }
            // Each word is written whole and then counted by its length.
            let end = out.len();
            out.resize(end + name.len() * ROOM, 0);
            let weights = &self.weights[level];
            let end = match self.ways[level] {
                Way::Forward => forward(weights, name, out, end),
                Way::Placed => placed(weights, name, out, end),
                Way::Turning => turning(weights, name, out, end),
            };
            out.truncate(end);
        }
        true
    }
}

fn forward(weights: &[u32; 256], name: &[u8], out: &mut [u8], end: usize) -> usize {
    name.iter().fold(end, |end, byte| write(out, end, weights[usize::from(*byte)]))
}

fn placed(weights: &[u32; 256], name: &[u8], out: &mut [u8], mut end: usize) -> usize {
    let mut ignored = 0;
    for byte in name {
        let word = weights[usize::from(*byte)];
        if length(word) == 0 {
            ignored += 1;
            continue;
        }
        let (bytes, length) = position(ignored);
        out[end..end + 2].copy_from_slice(&bytes);
        ignored = 0;
        end = write(out, end + length, word);
    }
    end
}

fn turning(weights: &[u32; 256], name: &[u8], out: &mut [u8], mut end: usize) -> usize {
    let backward = |byte: &u8| weights[usize::from(*byte)] & BACKWARD != 0;
    let mut rest = name;
    while let Some(first) = rest.first() {
        let way = backward(first);
        let count = rest.iter().take_while(|byte| backward(byte) == way).count();
        let (stretch, after) = rest.split_at(count);
        if way {
            for byte in turned(stretch, usize::from(!after.is_empty())) {
                end = write(out, end, weights[usize::from(*byte)]);
            }
        } else {
            end = forward(weights, stretch, out, end);
        }
        rest = after;
    }
    end
}
