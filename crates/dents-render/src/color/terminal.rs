//! Which terminals have colours. It decides if neither `LS_COLORS` nor `COLORTERM` is set.

/// Values of `TERM`, as `dircolors --print-database` of coreutils 9.1 lists them. `*` is anything, `#` a digit.
const TERMINALS: [&[u8]; 26] = [
    b"Eterm",
    b"ansi",
    b"*color*",
    b"con#*x#*",
    b"cons25",
    b"console",
    b"cygwin",
    b"*direct*",
    b"dtterm",
    b"gnome",
    b"hurd",
    b"jfbterm",
    b"konsole",
    b"kterm",
    b"linux",
    b"linux-c",
    b"mlterm",
    b"putty",
    b"rxvt*",
    b"screen*",
    b"st",
    b"terminator",
    b"tmux*",
    b"vt100",
    b"vt220",
    b"xterm*",
];

/// Whether the terminal that `TERM` names has colours by default.
#[must_use]
pub fn is_known_terminal(term: &[u8]) -> bool {
    TERMINALS.iter().any(|pattern| fits(pattern, term))
}

fn fits(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => fits(rest, text) || (!text.is_empty() && fits(pattern, &text[1..])),
        (Some((b'#', rest)), Some((byte, text))) => byte.is_ascii_digit() && fits(rest, text),
        (Some((byte, rest)), Some((other, text))) => byte == other && fits(rest, text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals() {
        for term in ["xterm-256color", "linux", "con80x25", "my-color-term", "tmux", "st"] {
            assert!(is_known_terminal(term.as_bytes()), "{term}");
        }
        for term in ["", "dumb", "conax25", "vt52", "linux2", "st-"] {
            assert!(!is_known_terminal(term.as_bytes()), "{term}");
        }
    }
}
