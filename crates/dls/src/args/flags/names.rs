//! How names are drawn: colour, indicators, quoting, links of a terminal.

use super::super::words::{IndicatorStyle, QuotingStyle, When};
use super::{Definition, Flag};

/// The group of [`super::Group::Names`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::long("color", Flag::Color, "colour names by type; see WHEN below")
        .more("LS_COLORS, below, describes the colours and what they cost.")
        .optional_word::<When>("WHEN"),
    Definition::both(
        b'F',
        "classify",
        Flag::Classify,
        "mark types after the name: / directory, * program, @ link, | pipe, = socket, > door; see WHEN below",
    )
    .more(
        "The mark `*` costs a system call for each regular file. The other marks, and so `--file-type`, cost \
         nothing on most file systems.",
    )
    .optional_word::<When>("WHEN"),
    Definition::long("file-type", Flag::FileType, "as -F, but without *"),
    Definition::letter(b'p', Flag::Slash, "mark directories with /"),
    Definition::long(
        "indicator-style",
        Flag::IndicatorStyle,
        "which marks: none (the default), slash (-p), file-type (--file-type), classify (-F)",
    )
    .word::<IndicatorStyle>("WORD"),
    Definition::long(
        "hyperlink",
        Flag::Hyperlink,
        "make each name a link that the terminal can open; see WHEN below",
    )
    .more("It uses the escape sequence OSC 8, with URIs that begin with `file://` and the name of this host.")
    .optional_word::<When>("WHEN"),
    Definition::both(
        b'b',
        "escape",
        Flag::Escape,
        "write characters that do not print as \\n or \\033, and a space with a \\ before it",
    ),
    Definition::both(b'N', "literal", Flag::Literal, "write names as they are, without quotes"),
    Definition::both(
        b'q',
        "hide-control-chars",
        Flag::HideControlChars,
        "write ? for each character that does not print",
    )
    .more("The default on a terminal."),
    Definition::long(
        "show-control-chars",
        Flag::ShowControlChars,
        "write characters that do not print unchanged (the default, except on a terminal)",
    ),
    Definition::both(b'Q', "quote-name", Flag::QuoteName, "put names in double quotes"),
    Definition::long(
        "quoting-style",
        Flag::QuotingStyle,
        "how to quote names: literal, shell, shell-always, shell-escape, shell-escape-always, c, escape, \
         locale; the default is in the environment variable QUOTING_STYLE",
    )
    .more("VALUES, below, has examples of each style.")
    .word::<QuotingStyle>("WORD"),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, said, valued};
    use super::*;

    #[test]
    fn color() {
        plain(Flag::Color, &[c"--color", c"--col"]);
        valued(Flag::Color, "auto", &[&[c"--color=auto"], &[c"--colo=auto"]]);
        valued(Flag::Color, "n", &[&[c"--color=n"]]);
        assert_eq!(complaint(&[c"--color=x"]), "ls: invalid argument 'x' for '--color'");
        assert_eq!(complaint(&[c"--color=a"]), "ls: ambiguous argument 'a' for '--color'");
        assert_eq!(complaint(&[c"--color="]), "ls: ambiguous argument '' for '--color'");
    }

    #[test]
    fn classify() {
        plain(Flag::Classify, &[c"-F", c"--classify", c"--cl"]);
        valued(Flag::Classify, "never", &[&[c"--classify=never"]]);
        assert_eq!(said(&[c"-F1"]), [(Flag::Classify, None), (Flag::OnePerLine, None)], "-F takes no value");
        assert_eq!(complaint(&[c"--classify=x"]), "ls: invalid argument 'x' for '--classify'");
    }

    #[test]
    fn indicators() {
        plain(Flag::FileType, &[c"--file-type", c"--fi"]);
        plain(Flag::Slash, &[c"-p"]);
        valued(Flag::IndicatorStyle, "slash", &[&[c"--indicator-style=slash"], &[c"--ind", c"slash"]]);
        assert_eq!(complaint(&[c"--indicator-style=q"]), "ls: invalid argument 'q' for '--indicator-style'");
    }

    #[test]
    fn hyperlink() {
        plain(Flag::Hyperlink, &[c"--hyperlink", c"--hy"]);
        valued(Flag::Hyperlink, "if-tty", &[&[c"--hyperlink=if-tty"]]);
        assert_eq!(complaint(&[c"--hyperlink=x"]), "ls: invalid argument 'x' for '--hyperlink'");
    }

    #[test]
    fn quoting() {
        plain(Flag::Escape, &[c"-b", c"--escape", c"--e"]);
        plain(Flag::Literal, &[c"-N", c"--literal", c"--l"]);
        plain(Flag::HideControlChars, &[c"-q", c"--hide-control-chars", c"--hide-"]);
        plain(Flag::ShowControlChars, &[c"--show-control-chars", c"--sh"]);
        plain(Flag::QuoteName, &[c"-Q", c"--quote-name", c"--quote"]);
        valued(Flag::QuotingStyle, "shell", &[&[c"--quoting-style=shell"], &[c"--quoti", c"shell"]]);
        assert_eq!(complaint(&[c"--quoting-style=s"]), "ls: ambiguous argument 's' for '--quoting-style'");
        assert_eq!(
            complaint(&[c"--quot"]),
            "ls: option '--quot' is ambiguous; possibilities: '--quote-name' '--quoting-style'"
        );
        assert_eq!(
            complaint(&[c"--hid"]),
            "ls: option '--hid' is ambiguous; possibilities: '--hide-control-chars' '--hide'"
        );
    }
}
