//! The value of `--time-style`, which GNU reads only for a long listing.

use super::error::UsageError;
use super::words::{BadWord, NamedTimeStyle, TimeStyle, lookup};
use alloc::vec::Vec;

/// Reads a time style. GNU does so only for a long listing, after all options have been read, so Plan calls this.
///
/// `posix_time`: LC_TIME is the C or POSIX locale (C.UTF-8 is not). There, a value with the prefix `posix-` is the
/// locale's style, whatever follows the prefix; in other locales the prefix is ignored, even if it is repeated.
///
/// # Errors
/// [`UsageError::BadTimeStyle`] for an unknown name, [`UsageError::BadTimeFormat`] for a second newline in `+FORMAT`.
pub fn time_style(value: &[u8], posix_time: bool) -> Result<TimeStyle<'_>, UsageError<'_>> {
    let mut style = value;
    while let Some(rest) = style.strip_prefix(b"posix-") {
        if posix_time {
            return Ok(TimeStyle::Named(NamedTimeStyle::Locale));
        }
        style = rest;
    }
    let Some(format) = style.strip_prefix(b"+") else {
        let named = lookup(style).map(TimeStyle::Named);
        return named
            .map_err(|BadWord { ambiguous, .. }| UsageError::BadTimeStyle { value: style, ambiguous });
    };
    let lines: Vec<&[u8]> = format.split(|&byte| byte == b'\n').collect();
    match lines[..] {
        [both] => Ok(TimeStyle::Format { older: both, recent: both }),
        [older, recent] => Ok(TimeStyle::Format { older, recent }),
        _ => Err(UsageError::BadTimeFormat { value: format }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_styles() {
        let named = |value, posix| time_style(value, posix);
        assert_eq!(named(b"full", false), Ok(TimeStyle::Named(NamedTimeStyle::FullIso)));
        assert_eq!(named(b"posix-posix-i", false), Ok(TimeStyle::Named(NamedTimeStyle::Iso)));
        assert_eq!(named(b"posix-rubbish", true), Ok(TimeStyle::Named(NamedTimeStyle::Locale)));
        assert_eq!(named(b"l", false), Err(UsageError::BadTimeStyle { value: b"l", ambiguous: true }));
        assert_eq!(named(b"posix-x", false), Err(UsageError::BadTimeStyle { value: b"x", ambiguous: false }));
        assert_eq!(named(b"+%H", true), Ok(TimeStyle::Format { older: b"%H", recent: b"%H" }));
        assert_eq!(named(b"posix-+a\nb", false), Ok(TimeStyle::Format { older: b"a", recent: b"b" }));
        assert_eq!(named(b"+", false), Ok(TimeStyle::Format { older: b"", recent: b"" }));
        assert_eq!(named(b"+a\nb\nc", false), Err(UsageError::BadTimeFormat { value: b"a\nb\nc" }));
    }
}
