//! The mutator: the only one, for all targets.
//!
//! It changes an input as damage or an attacker changes a file: it flips bits, cuts off the end, repeats a piece, inserts a piece of
//! another file, or sets a length or a count to its smallest or largest value, in binary or in decimal.

/// An endless iterator over mutations of a corpus, which are the same for the same seed.
#[derive(Clone, Debug)]
pub struct Mutations {
    corpus: Vec<Vec<u8>>,
    random: Random,
    /// The most bytes of a mutation.
    longest: usize,
}

impl Mutations {
    /// Mutations of a corpus that has at least one input, which may be empty.
    #[must_use]
    pub fn new(corpus: Vec<Vec<u8>>, seed: u64) -> Mutations {
        let longest = corpus.iter().map(Vec::len).max().unwrap_or(0) + 4096;
        Mutations { corpus, random: Random::new(seed), longest }
    }

    fn pick(&mut self) -> &[u8] {
        let at = self.random.below(self.corpus.len());
        &self.corpus[at]
    }

    /// One step of damage.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        match self.random.below(10) {
            0 | 1 => self.flip(bytes),
            2 => {
                let byte = self.random.next() as u8;
                self.put(bytes, &[byte]);
            }
            3 => bytes.truncate(self.random.below(bytes.len() + 1)),
            4 => {
                let range = self.random.range(bytes.len());
                bytes.drain(range);
            }
            5 => {
                let copy = bytes[self.random.range(bytes.len())].to_vec();
                self.insert(bytes, &copy);
            }
            6 => {
                let other = self.pick().to_vec();
                let piece = other[self.random.range(other.len())].to_vec();
                self.insert(bytes, &piece);
            }
            7 => self.binary(bytes),
            8 => self.decimal(bytes),
            _ => {
                let byte = bytes.get(self.random.below(bytes.len().max(1))).copied().unwrap_or(0);
                let run = vec![byte; 1 << self.random.below(11)];
                self.insert(bytes, &run);
            }
        }
        bytes.truncate(self.longest);
    }

    fn flip(&mut self, bytes: &mut [u8]) {
        if !bytes.is_empty() {
            let at = self.random.below(bytes.len());
            bytes[at] ^= 1 << self.random.below(8);
        }
    }

    /// Replaces the bytes at a random position.
    fn put(&mut self, bytes: &mut [u8], new: &[u8]) {
        if let Some(last) = bytes.len().checked_sub(new.len()) {
            let at = self.random.below(last + 1);
            bytes[at..at + new.len()].copy_from_slice(new);
        }
    }

    fn insert(&mut self, bytes: &mut Vec<u8>, new: &[u8]) {
        let at = self.random.below(bytes.len() + 1);
        bytes.splice(at..at, new.iter().copied());
    }

    /// Replaces one to eight bytes by a number near the limit of a type, in either byte order.
    fn binary(&mut self, bytes: &mut [u8]) {
        let len = bytes.len() as u64;
        let edges = [0, 1, 2, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff, i32::MAX as u64, 1 << 31, u32::MAX.into()];
        let more =
            [1 << 32, i64::MAX as u64, 1 << 63, u64::MAX, u64::MAX - 1, len, len + 1, len.wrapping_sub(1)];
        let all = [&edges[..], &more].concat();
        let number = all[self.random.below(all.len())];
        let width = 1 << self.random.below(4);
        let (little, big) = (number.to_le_bytes(), number.to_be_bytes());
        let new = if self.random.below(2) == 0 { &little[..width] } else { &big[8 - width..] };
        self.put(bytes, new);
    }

    /// Replaces digits by another number, or inserts a number anywhere if there are no digits.
    fn decimal(&mut self, bytes: &mut Vec<u8>) {
        const EDGES: [&[u8]; 9] = [
            b"0",
            b"-1",
            b"4294967295",
            b"4294967296",
            b"9223372036854775808",
            b"18446744073709551615",
            b"18446744073709551616",
            b"1e999",
            b"00000000000000000000000000000001",
        ];
        let new = EDGES[self.random.below(EDGES.len())];
        let from = self.random.below(bytes.len() + 1);
        let start = (from..bytes.len()).find(|at| bytes[*at].is_ascii_digit()).unwrap_or(from);
        let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        bytes.splice(start..start + digits, new.iter().copied());
    }
}

impl Iterator for Mutations {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut bytes = self.pick().to_vec();
        // Usually one or two steps, because a parser refuses a badly damaged input at its first byte.
        for _ in 0..1 + self.random.next().trailing_zeros().min(6) {
            self.damage(&mut bytes);
        }
        Some(bytes)
    }
}

/// xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        // A state of zero would stay zero, and similar seeds must not begin with the same numbers.
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }

    /// A number below `end`, which is not zero.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A random piece of an input of this length.
    fn range(&mut self, len: usize) -> std::ops::Range<usize> {
        let (one, other) = (self.below(len + 1), self.below(len + 1));
        one.min(other)..one.max(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutations(corpus: &[&[u8]], seed: u64, count: usize) -> Vec<Vec<u8>> {
        Mutations::new(corpus.iter().map(|input| input.to_vec()).collect(), seed).take(count).collect()
    }

    #[test]
    fn a_seed_is_all_there_is_to_know() {
        let corpus: [&[u8]; 2] = [b"one 12", b"another"];
        assert_eq!(mutations(&corpus, 7, 500), mutations(&corpus, 7, 500));
        assert_ne!(mutations(&corpus, 7, 500), mutations(&corpus, 8, 500));
    }

    #[test]
    fn all_kinds_of_damage_occur() {
        let all = mutations(&[b"abcdef 12 ghijkl", b"OTHER"], 1, 10_000);
        let with = |what: &str, test: &dyn Fn(&[u8]) -> bool| {
            assert!(all.iter().filter(|bytes| test(bytes)).count() > 10, "{what}");
        };
        with("truncated", &|bytes| !bytes.is_empty() && b"abcdef 12 ghijkl"[..15].starts_with(bytes));
        with("spliced", &|bytes| bytes.windows(4).any(|part| part == b"OTHE") && bytes.contains(&b'g'));
        with("decimal", &|bytes| bytes.windows(11).any(|part| part == b" 4294967295"));
        with("binary", &|bytes| bytes.windows(4).any(|part| part == [0xff; 4]));
        with("twice", &|bytes| bytes.iter().filter(|byte| **byte == b'd').count() == 2);
        with("long runs", &|bytes| bytes.len() > 500);
        with("unlike", &|bytes| bytes.len() == 16 && bytes != b"abcdef 12 ghijkl");
        assert!(all.iter().all(|bytes| bytes.len() <= 16 + 4096));
    }

    #[test]
    fn nothing_can_be_mutated_too() {
        assert!(mutations(&[b""], 3, 1_000).iter().any(|bytes| !bytes.is_empty()));
    }
}
