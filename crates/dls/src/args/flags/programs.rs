//! Output for programs, and for directories too large to read. GNU has none of it.

use super::super::numbers::parse_top;
use super::{Definition, Flag};

/// The group of [`super::Group::Programs`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::long("json", Flag::Json, "print one JSON document: an object for each entry, with all that is known of it").more(
        "Numbers are bytes, times are RFC 3339 in UTC, what is not known is null. A name that is not UTF-8 stands as \
         base64 under `name_bytes`, so names come back byte for byte. All that one question about a file answers is \
         there; `-Z` adds its context, `-l` whether it has an ACL, and `-n` spares looking up names of owners. \
         What could not be listed is told at the end too. The fields are described in docs/OUTPUT.md. Of `--json`, \
         `--ndjson` and `--csv` the last one counts; colours, quoting and other formats do not matter to them.",
    ),
    Definition::long("ndjson", Flag::Ndjson, "print a JSON object a line for each entry")
        .more("The same objects as those of `--json`. With `-U` they leave as the directory is read."),
    Definition::long("csv", Flag::Csv, "print a table of values separated by commas (RFC 4180), with a header").more(
        "The same fields as those of `--json`, empty where that has null. CSV has no escapes: a name that is not UTF-8 or \
         has control characters stands as base64 in the column `name_bytes`.",
    ),
    Definition::long("top", Flag::Top, "show only the first N entries of each directory")
        .more(
            "The first in whichever order: `-S --top=10` are the ten largest. Only they are asked about beyond what the \
             order must know, and no more than a multiple of N is kept in memory, however large the directory (unless \
             with `-R` or `--timeout`). The long format has no total then. Files named on the command line are all \
             shown.",
        )
        .value("N", |value| Ok(parse_top(value).map(drop)?)),
    Definition::long("count", Flag::Count, "instead of entries, show how many of each type a directory has").more(
        "One line for each type, then the total; `.` and `..` do not count. Nothing is asked about any file where the \
         file system tells types along with names. Also with `--json`, `--ndjson` and `--csv`.",
    ),
    Definition::long("summary", Flag::Summary, "say at the end how many entries were listed, of which types, and their bytes")
        .more(
            "Bytes are those of regular files, and told only where the sizes are known anyway, as with `-l` and `-S`: the \
             summary itself asks nothing where the file system tells types along with names. Hard links count each time.",
        ),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, valued};
    use super::*;

    #[test]
    fn rows() {
        plain(Flag::Json, &[c"--json", c"--j"]);
        plain(Flag::Ndjson, &[c"--ndjson", c"--nd"]);
        plain(Flag::Csv, &[c"--csv", c"--cs"]);
        assert_eq!(complaint(&[c"--json=x"]), "ls: option '--json' doesn't allow an argument");
    }

    #[test]
    fn top() {
        valued(Flag::Top, "10", &[&[c"--top=10"], &[c"--top", c"10"]]);
        for (value, argv) in [("0", c"--top=0"), ("-1", c"--top=-1"), ("ten", c"--top=ten"), ("", c"--top=")]
        {
            let expected =
                std::format!("ls: invalid number of entries for --top: '{value}' (must be 1 or more)");
            assert_eq!(complaint(&[argv]), expected);
        }
        assert_eq!(complaint(&[c"--top"]), "ls: option '--top' requires an argument");
    }

    #[test]
    fn counts() {
        plain(Flag::Count, &[c"--count", c"--cou"]);
        plain(Flag::Summary, &[c"--summary", c"--su"]);
    }
}
