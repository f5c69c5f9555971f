//! Parses numbers of options. The error says what is wrong with a value, and which values are valid.

use std::str::FromStr;

/// Parses a whole number.
pub(crate) fn whole<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "write it as a whole number, such as 0 or 12, that is not too large".to_owned())
}

/// The same, from 1 on.
pub(crate) fn positive<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "write it as a whole number from 1 on that is not too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    #[test]
    fn mistakes_have_a_way_out() {
        assert_eq!(whole::<u32>("12"), Ok(12));
        for text in ["", "x", "-1", "1.5", "4294967296"] {
            assert!(whole::<u32>(text).unwrap_err().contains("whole number"), "{text}");
        }
        assert!(positive::<NonZeroU32>("0").unwrap_err().contains("from 1"));
    }
}
