//! The shape of the output: columns, lines, widths.

use super::super::numbers::{parse_tab_size, parse_width};
use super::super::words::Format;
use super::{Definition, Flag};

/// The group of [`super::Group::Format`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::letter(b'1', Flag::OnePerLine, "one name on each line")
    .more(
        "The default when standard output is not a terminal. After `-l` it changes nothing.",
    ),
    Definition::letter(b'C', Flag::Columns, "columns, sorted downwards")
    .more(
        "The default on a terminal.",
    ),
    Definition::letter(b'x', Flag::Across, "columns, sorted across"),
    Definition::letter(b'm', Flag::Commas, "one after the other, with commas between"),
    Definition::long(
        "format",
        Flag::Format,
        "how to arrange names: long or verbose (-l), commas (-m), across or horizontal (-x), vertical (-C), single-column (-1)",
    )
    .word::<Format>("WORD"),
    Definition::both(b'D', "dired", Flag::Dired, "as -l, and write the positions of the names, for Emacs")
    .more(
        "After the listing, lines that start with `//DIRED//` and `//SUBDIRED//` have the offsets in bytes at which \
         each name begins and ends.",
    ),
    Definition::both(b'T', "tabsize", Flag::TabSize, "tab stops are COLS apart, not 8; 0 writes no tabs")
        .value("COLS", |value| Ok(parse_tab_size(value).map(drop)?)),
    Definition::both(b'w', "width", Flag::Width, "lines are COLS wide; 0 sets no limit")
    .more(
        "Without it: the terminal's width, else `COLUMNS`, else 80.",
    )
        .value("COLS", |value| Ok(parse_width(value).map(drop)?)),
    Definition::long("zero", Flag::Zero, "end each line with a NUL byte, and write names as they are")
    .more(
        "For programs that read names, such as `xargs -0`. Names are neither quoted nor coloured, unless a later \
         option changes that.",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, said, valued};
    use super::*;

    #[test]
    fn letters() {
        plain(Flag::OnePerLine, &[c"-1"]);
        plain(Flag::Columns, &[c"-C"]);
        plain(Flag::Across, &[c"-x"]);
        plain(Flag::Commas, &[c"-m"]);
    }

    #[test]
    fn format() {
        valued(
            Flag::Format,
            "across",
            &[&[c"--format=across"], &[c"--format", c"across"], &[c"--fo=across"]],
        );
        valued(Flag::Format, "verb", &[&[c"--format=verb"]]);
        assert_eq!(complaint(&[c"--format=ver"]), "ls: ambiguous argument 'ver' for '--format'");
    }

    #[test]
    fn dired() {
        plain(Flag::Dired, &[c"-D", c"--dired"]);
    }

    #[test]
    fn tab_size() {
        valued(Flag::TabSize, "4", &[&[c"-T4"], &[c"-T", c"4"], &[c"--tabsize=4"], &[c"--ta", c"4"]]);
        assert_eq!(complaint(&[c"-T", c"-4"]), "ls: invalid tab size: '-4'");
        let too_large = "ls: invalid tab size: '9223372036854775808': Value too large for defined data type";
        assert_eq!(complaint(&[c"--tabsize=9223372036854775808"]), too_large);
    }

    #[test]
    fn width() {
        valued(Flag::Width, "80", &[&[c"-w80"], &[c"-w", c"80"], &[c"--width=80"], &[c"--w", c"80"]]);
        assert_eq!(said(&[c"-Cw80", c"-x"])[1..], [(Flag::Width, Some(&b"80"[..])), (Flag::Across, None)]);
        assert_eq!(complaint(&[c"-w=80"]), "ls: invalid line width: '=80'");
        assert_eq!(complaint(&[c"-w", c"--"]), "ls: invalid line width: '--'");
        assert_eq!(complaint(&[c"--width="]), "ls: invalid line width: ''");
        assert_eq!(complaint(&[c"-lw"]), "ls: option requires an argument -- 'w'");
        assert_eq!(complaint(&[c"--wid"]), "ls: option '--width' requires an argument");
    }

    #[test]
    fn zero() {
        plain(Flag::Zero, &[c"--zero", c"--z"]);
        assert_eq!(complaint(&[c"--zero=1"]), "ls: option '--zero' doesn't allow an argument");
    }
}
