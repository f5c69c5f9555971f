//! `--threshold SIZE`, with the meaning that it has in du(1).

use dents_render::quantity::{Decimal, Unit};

/// The smallest or the largest sum that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Threshold {
    AtLeast(u64),
    AtMost(u64),
}

impl Threshold {
    /// Parses a size, with a minus for the largest sum. `-0` is an error, as for du(1).
    pub(super) fn parse(text: &str) -> Result<Threshold, String> {
        let (is_most, size) = match text.strip_prefix('-') {
            Some(size) => (true, size),
            None => (false, text),
        };
        let bytes = Decimal::parse(size.as_bytes()).and_then(|(number, unit)| {
            let unit = if unit.is_empty() { Some(1) } else { Unit::parse(unit).and_then(|unit| unit.size()) };
            number.bytes(unit?)
        });
        match (bytes, is_most) {
            (Some(0), true) | (None, _) => Err(
                "write it as N or -N with K, M, G, T, P (1024) or KB, MB, … (1000), or in bytes: 10M, -1.5GB"
                    .to_owned(),
            ),
            (Some(bytes), true) => Ok(Threshold::AtMost(bytes)),
            (Some(bytes), false) => Ok(Threshold::AtLeast(bytes)),
        }
    }

    pub(super) fn keeps(self, bytes: u128) -> bool {
        match self {
            Threshold::AtLeast(least) => bytes >= least.into(),
            Threshold::AtMost(most) => bytes <= most.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_their_signs() {
        for (text, expected) in [
            ("0", Threshold::AtLeast(0)),
            ("10", Threshold::AtLeast(10)),
            ("1.5K", Threshold::AtLeast(1536)),
            ("-1MB", Threshold::AtMost(1_000_000)),
        ] {
            assert_eq!(Threshold::parse(text), Ok(expected), "{text}");
        }
        for wrong in ["", "-", "-0", "x", "1x", "--1"] {
            assert!(Threshold::parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(Threshold::AtMost(5).keeps(5) && !Threshold::AtMost(5).keeps(6));
        assert!(Threshold::AtLeast(5).keeps(5) && !Threshold::AtLeast(5).keeps(4));
    }
}
