//! The subvolumes of btrfs that a scan began in, with their generations at its start, as text: `UUID:GENERATION`, separated by spaces.
//! A later scan finds by them what changed meanwhile ([`dents_core::bulk::changed`]).

use dents_core::bulk::Subvolume;
use std::fmt::Write;

/// Positions of the digits of a UUID before which there is a hyphen.
const HYPHENS: [usize; 4] = [4, 6, 8, 10];

/// As text; empty if there are none.
pub(crate) fn text(subvolumes: &[Subvolume]) -> String {
    let mut text = String::new();
    for Subvolume { uuid, generation } in subvolumes {
        if !text.is_empty() {
            text.push(' ');
        }
        for (nth, byte) in uuid.iter().enumerate() {
            if HYPHENS.contains(&nth) {
                text.push('-');
            }
            let _ = write!(text, "{byte:02x}");
        }
        let _ = write!(text, ":{generation}");
    }
    text
}

/// From a text; words that are not valid are left out, as a later version may have others.
pub(crate) fn parse(text: &str) -> Vec<Subvolume> {
    text.split(' ').filter_map(one).collect()
}

fn one(word: &str) -> Option<Subvolume> {
    let (uuid, generation) = word.split_once(':')?;
    let digits = uuid.replace('-', "");
    let number = u128::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 32)?;
    Some(Subvolume { uuid: number.to_be_bytes(), generation: generation.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_back() {
        let one = Subvolume { uuid: *b"\0\x01\x02\x03abcdefgh\xfc\xfd\xfe\xff", generation: 77 };
        let other = Subvolume { generation: u64::MAX, ..one };
        assert_eq!(text(&[one]), "00010203-6162-6364-6566-6768fcfdfeff:77");
        for all in [&[one, other][..], &[one], &[]] {
            assert_eq!(parse(&text(all)), all);
        }
        assert_eq!(
            parse("x 00:1 00010203-6162-6364-6566-6768fcfdfeff:-1 +0010203-6162-6364-6566-6768fcfdfeff"),
            []
        );
    }
}
