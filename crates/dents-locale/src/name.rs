//! A locale's name, `language[_territory][.codeset][@modifier]`, and the names that are tried in its place.

use alloc::vec::Vec;

/// The parts of a locale's name, each without the sign before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// `fr`
    pub language: &'a [u8],
    /// `FR`
    pub territory: Option<&'a [u8]>,
    /// `UTF-8`, as written.
    pub codeset: Option<&'a [u8]>,
    /// `euro`
    pub modifier: Option<&'a [u8]>,
}

/// Splits at the first such byte.
fn cut(text: &[u8], byte: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|other| *other == byte) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// A codeset as glibc compares them: letters and digits only, in lower case; `iso` before one of digits only.
#[must_use]
pub fn normalized(codeset: &[u8]) -> Vec<u8> {
    let kept = codeset.iter().filter(|byte| byte.is_ascii_alphanumeric());
    let digits = codeset.iter().all(|byte| !byte.is_ascii_alphabetic());
    let prefix: &[u8] = if digits && !codeset.is_empty() { b"iso" } else { b"" };
    prefix.iter().chain(kept).map(u8::to_ascii_lowercase).collect()
}

impl<'a> Name<'a> {
    /// Takes a name apart.
    #[must_use]
    pub fn new(name: &'a [u8]) -> Name<'a> {
        let (name, modifier) = cut(name, b'@');
        let (name, codeset) = cut(name, b'.');
        let (language, territory) = cut(name, b'_');
        let some = |part: Option<&'a [u8]>| part.filter(|part| !part.is_empty());
        Name { language, territory: some(territory), codeset: some(codeset), modifier: some(modifier) }
    }

    /// The name as the archive spells it: the codeset normalised.
    #[must_use]
    pub fn archived(&self) -> Vec<u8> {
        self.spelled(self.territory, self.codeset.map(normalized).as_deref(), self.modifier)
    }

    /// The names that are tried, in glibc's order (seen with `strace`): the modifier is dropped last, the territory
    /// before it; for each of these, the codeset as written, normalised, and dropped.
    #[must_use]
    pub fn candidates(&self) -> Vec<Vec<u8>> {
        let normalized = self.codeset.map(normalized);
        let codesets = [self.codeset, normalized.as_deref(), None];
        let mut names: Vec<Vec<u8>> = Vec::new();
        for modifier in [self.modifier, None] {
            for territory in [self.territory, None] {
                for codeset in codesets {
                    let name = self.spelled(territory, codeset, modifier);
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
        }
        names
    }

    fn spelled(&self, territory: Option<&[u8]>, codeset: Option<&[u8]>, modifier: Option<&[u8]>) -> Vec<u8> {
        let mut name = self.language.to_vec();
        for (sign, part) in [(b'_', territory), (b'.', codeset), (b'@', modifier)] {
            if let Some(part) = part {
                name.push(sign);
                name.extend_from_slice(part);
            }
        }
        name
    }
}

/// Whether this is a name of the C locale, which needs no data.
#[must_use]
pub fn is_c(name: &[u8]) -> bool {
    matches!(name, b"C" | b"POSIX")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str) -> std::string::String {
        let names = Name::new(name.as_bytes()).candidates();
        let names: Vec<_> = names.iter().map(|name| std::string::String::from_utf8_lossy(name)).collect();
        names.join(" ")
    }

    #[test]
    fn candidates_come_in_the_order_seen_under_strace() {
        assert_eq!(listed("fr_FR.UTF-8"), "fr_FR.UTF-8 fr_FR.utf8 fr_FR fr.UTF-8 fr.utf8 fr");
        assert_eq!(listed("C.UTF-8"), "C.UTF-8 C.utf8 C");
        assert_eq!(listed("de"), "de");
        assert_eq!(listed("fr_FR@euro"), "fr_FR@euro fr@euro fr_FR fr");
        assert_eq!(
            listed("xx_YY.UTF-8@mod"),
            "xx_YY.UTF-8@mod xx_YY.utf8@mod xx_YY@mod xx.UTF-8@mod xx.utf8@mod xx@mod \
             xx_YY.UTF-8 xx_YY.utf8 xx_YY xx.UTF-8 xx.utf8 xx"
        );
    }

    #[test]
    fn codesets_are_normalised() {
        let cases: [(&[u8], &[u8]); 5] = [
            (b"UTF-8", b"utf8"),
            (b"ISO-8859-1", b"iso88591"),
            (b"8859-1", b"iso88591"),
            (b"eucJP", b"eucjp"),
            (b"", b""),
        ];
        for (written, plain) in cases {
            assert_eq!(normalized(written), plain);
        }
        assert_eq!(Name::new(b"de_DE.UTF-8@euro").archived(), b"de_DE.utf8@euro");
        assert_eq!(Name::new(b"de_DE").archived(), b"de_DE");
    }
}
