//! Output for programs, and for directories too large to read. GNU has none of it.

use super::super::numbers::parse_top;
use super::{Definition, Flag};

/// The group of [`super::Group::Programs`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::long("json", Flag::Json, "print one JSON document, with an object for each entry").more(
        "Sizes are in bytes, times in UTC as in RFC 3339, and a value that is not known is null. A name that is not UTF-8 \
         is in `name_bytes`, as base64, so no byte of a name is lost. An object has all facts that one `statx` returns; \
         `-Z` adds the context, and `-l` whether there is an ACL. With `-n`, names of owners are not looked up. Errors \
         are at the end of the document too. docs/OUTPUT.md describes the fields. Of `--json`, `--ndjson` and `--csv` \
         the last one wins; options for colours, quoting and formats have no effect.",
    ),
    Definition::long("ndjson", Flag::Ndjson, "print a JSON object for each entry, one on each line")
        .more("The objects are those of `--json`. With `-U` they are written while the directory is read."),
    Definition::long("csv", Flag::Csv, "print a table of values separated by commas (RFC 4180), with a header").more(
        "The fields are those of `--json`, empty where a value is null. CSV has no escapes: a name that is not UTF-8 or \
         has control characters is in the column `name_bytes`, as base64.",
    ),
    Definition::long("top", Flag::Top, "show only the first N entries of each directory")
        .more(
            "The other options set the order: `-S --top=10` shows the ten largest. Facts that the order does not need are \
             requested for these entries only. A multiple of N entries is kept in memory, however large the directory \
             (with `-R` or `--timeout`, all entries of a directory). The long format has no total then. Operands that \
             are files are all shown.",
        )
        .value("N", |value| Ok(parse_top(value).map(drop)?)),
    Definition::long("count", Flag::Count, "show the number of entries of each type instead of the entries").more(
        "There is one line for each type, then the total; `.` and `..` do not count. Where the file system returns types \
         with names, this makes no request about any file. It works with `--json`, `--ndjson` and `--csv` too.",
    ),
    Definition::long("summary", Flag::Summary, "end with a line that counts the entries by type, and adds up their bytes")
        .more(
            "The bytes are those of regular files. They are shown only if the listing needs the sizes anyway, as with `-l` \
             and `-S`. Where the file system returns types with names, the summary itself makes no request. A file with \
             several names counts once for each name.",
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
