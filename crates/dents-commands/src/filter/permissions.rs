//! `--perm MODE`, `-MODE` and `/MODE`, with the meaning that they have in `find -perm`.

/// A test of permission bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Permissions {
    which: Which,
    bits: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// Exactly these bits.
    Exactly,
    /// All of these bits.
    All,
    /// At least one of these bits; without bits, any file.
    Any,
}

const MOST: u16 = 0o7777;

impl Permissions {
    /// Parses a mode: octal, or clauses as `u=rw,g+r,o-w` applied to a mode of 0.
    pub(crate) fn parse(text: &str) -> Result<Permissions, String> {
        let (which, mode) = match text.as_bytes() {
            [b'-', ..] => (Which::All, &text[1..]),
            [b'/', ..] => (Which::Any, &text[1..]),
            _ => (Which::Exactly, text),
        };
        let bits = match u16::from_str_radix(mode, 8) {
            Ok(bits) if bits <= MOST && !mode.starts_with('+') => Some(bits),
            _ => mode.split(',').try_fold(0, clause),
        };
        let bits = bits.ok_or(
            "write it as 644, -u+w, /222 or u=rw,g=r: octal to 7777, or u g o a with + - = and r w x s t",
        )?;
        Ok(Permissions { which, bits })
    }

    /// Whether a mode fits.
    pub(crate) fn fit(self, mode: u16) -> bool {
        let common = mode & self.bits;
        match self.which {
            Which::Exactly => mode & MOST == self.bits,
            Which::All => common == self.bits,
            Which::Any => self.bits == 0 || common != 0,
        }
    }
}

/// Applies a clause such as `ug+rw` or `o=r-w` to the bits of the clauses before it.
fn clause(mut bits: u16, text: &str) -> Option<u16> {
    let at = text.find(['+', '-', '='])?;
    let (who, mut actions) = text.split_at(at);
    let mut of = 0;
    for class in who.bytes() {
        of |= match class {
            b'u' => 0o4700,
            b'g' => 0o2070,
            b'o' => 0o1007,
            b'a' => MOST,
            _ => return None,
        };
    }
    // Without a class the clause applies to all classes; `find` ignores the umask too.
    let of = if of == 0 { MOST } else { of };
    while let Some(action) = actions.bytes().next() {
        actions = &actions[1..];
        let end = actions.find(['+', '-', '=']).unwrap_or(actions.len());
        let mut set = 0;
        for letter in actions[..end].bytes() {
            set |= match letter {
                b'r' => 0o444,
                b'w' => 0o222,
                b'x' => 0o111,
                b's' => 0o6000,
                b't' => 0o1000,
                _ => return None,
            };
        }
        let set = set & of;
        bits = match action {
            b'+' => bits | set,
            b'-' => bits & !set,
            _ => bits & !of | set,
        };
        actions = &actions[end..];
    }
    Some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_as_find_takes_them() {
        for (text, mode, expected) in [
            ("644", 0o644, true),
            ("644", 0o100_644, true),
            ("644", 0o4644, false),
            ("-644", 0o755, true),
            ("-644", 0o640, false),
            ("/222", 0o444, false),
            ("/222", 0o464, true),
            ("/0", 0, true),
            ("-0", 0, true),
            ("0", 0o1, false),
            ("-u+w", 0o200, true),
            ("-u+w,g+w", 0o200, false),
            ("/u=w,g=w", 0o020, true),
            ("u=rw,g=r,o=r", 0o644, true),
            ("a=rx-x", 0o444, true),
            ("-u+s", 0o4000, true),
            ("-u+s", 0o2000, false),
            ("-g+s", 0o2000, true),
            ("+t", 0o1000, true),
            ("-7777", 0o7777, true),
        ] {
            assert_eq!(Permissions::parse(text).map(|one| one.fit(mode)), Ok(expected), "{text} {mode:o}");
        }
    }

    #[test]
    fn what_is_no_mode() {
        for text in ["", "-", "/", "8", "10000", "u", "u+z", "z+r", "u+r,", "+644", "\u{661}"] {
            assert!(Permissions::parse(text).is_err(), "{text:?}");
        }
    }
}
