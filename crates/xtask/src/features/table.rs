//! What is tried. The order of cells is that of `PROGRAMS`: dls, GNU ls, eza, lsd, lsr, uutils, nushell.

use Cell::{Absent, Run, Told};

/// One thing that people want of a listing.
pub(super) struct Row {
    pub(super) what: &'static str,
    pub(super) want: Want,
    pub(super) cells: [Cell; 7],
}

/// How it is found out.
pub(super) enum Cell {
    /// By running it with these arguments; words `NAME=value` before them go into its environment.
    Run(&'static [&'static str]),
    /// Nobody knows of an option to try; none of these words is in its help.
    Absent(&'static [&'static str]),
    /// It is not on this machine, or no single command can show it.
    Told(&'static str),
}

/// What an output must have, or be.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Want {
    /// Nothing: the option is taken.
    Ok,
    /// The bytes of GNU `ls` with the same arguments.
    SameAsGnu,
    /// One of these.
    Any(&'static [&'static str]),
    /// The first, and not the second.
    But(&'static str, &'static str),
    /// The one before the other.
    Order(&'static str, &'static str),
    /// A character of the private use areas.
    Icon,
    /// JSON that has the name `f2` in it.
    Json,
    /// On a terminal: no sequence from a file's name reaches it.
    Harmless,
    /// On a terminal: no colours.
    Plain,
    /// Whatever it is: the number of system calls.
    Calls,
}

impl Want {
    pub(super) fn needs_terminal(self) -> bool {
        matches!(self, Want::Harmless | Want::Plain)
    }

    pub(super) fn is_met(self, text: &str, gnu: impl Fn() -> Option<String>) -> bool {
        match self {
            Want::Ok => true,
            Want::SameAsGnu => gnu().is_some_and(|theirs| theirs == text),
            Want::Any(needles) => needles.iter().any(|needle| text.contains(needle)),
            Want::But(has, lacks) => text.contains(has) && !text.contains(lacks),
            Want::Order(first, second) => {
                matches!((text.find(first), text.find(second)), (Some(one), Some(other)) if one < other)
            }
            Want::Icon => text.chars().any(|c| matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)),
            Want::Json => serde_json::from_str::<serde_json::Value>(text).is_ok() && text.contains("\"f2\""),
            Want::Harmless => text.contains("owned") && !text.contains("\x1b]0;owned"),
            Want::Plain => text.contains("f10") && !text.contains("\x1b["),
            Want::Calls => false,
        }
    }
}

/// An option that only `dls` is known to have: the others are asked for it all the same.
const fn ours(
    what: &'static str,
    want: Want,
    args: &'static [&'static str],
    word: &'static [&'static str],
) -> Row {
    let cells = [Run(args), Run(args), Run(args), Run(args), Told("no"), Run(args), Absent(word)];
    Row { what, want, cells }
}

const fn row(what: &'static str, want: Want, cells: [Cell; 7]) -> Row {
    Row { what, want, cells }
}

/// All of it.
pub(super) const ROWS: &[Row] = &[
    row(
        "GNU's bytes for `-la`",
        Want::SameAsGnu,
        [
            Run(&["-la"]),
            Run(&["-la"]),
            Run(&["-la"]),
            Run(&["-la"]),
            Told("no"),
            Run(&["-la"]),
            Run(&["-n", "-c", "ls -la"]),
        ],
    ),
    row(
        "system calls for `-al` of 1,000 files",
        Want::Calls,
        [
            Run(&["-al"]),
            Run(&["-al"]),
            Run(&["-al"]),
            Run(&["-al"]),
            Told("105"),
            Run(&["-al"]),
            Run(&["-n", "-c", "ls -la"]),
        ],
    ),
    row(
        "hostile names harmless on a terminal",
        Want::Harmless,
        [
            Run(&["h"]),
            Run(&["h"]),
            Run(&["h"]),
            Run(&["h"]),
            Told("no"),
            Run(&["h"]),
            Run(&["-n", "-c", "ls h"]),
        ],
    ),
    row(
        "colours of LS_COLORS",
        Want::Any(&["31m", "38;5;1m"]),
        [
            Run(&["--color"]),
            Run(&["--color"]),
            Run(&["--color=always"]),
            Run(&["--color=always"]),
            Told("no"),
            Run(&["--color=always"]),
            Told("yes"),
        ],
    ),
    row(
        "`NO_COLOR`",
        Want::Plain,
        [
            Run(&["NO_COLOR=1", "DLS_CONFIG=dls.conf"]),
            Run(&["NO_COLOR=1", "--color=auto"]),
            Run(&["NO_COLOR=1"]),
            Run(&["NO_COLOR=1"]),
            Told("no"),
            Run(&["NO_COLOR=1", "--color=auto"]),
            Run(&["NO_COLOR=1", "-n", "-c", "ls"]),
        ],
    ),
    row(
        "a file of default options",
        Want::Order("f2", "a.txt"),
        [
            Run(&["DLS_CONFIG=dls.conf", "-1"]),
            Absent(&["--config"]),
            Absent(&["--config"]),
            Run(&["--config-file", "lsd.yaml"]),
            Told("no"),
            Absent(&["--config"]),
            Told("yes"),
        ],
    ),
    row(
        "natural order of numbers",
        Want::Order("f2", "f10"),
        [
            Run(&["-v"]),
            Run(&["-v"]),
            Run(&["-1"]),
            Run(&["-v"]),
            Told("yes"),
            Run(&["-v"]),
            Run(&["-n", "-c", "ls | sort-by -n name | get name | to text"]),
        ],
    ),
    row(
        "directories first",
        Want::Order("z", "a.txt"),
        [
            Run(&["--group-directories-first"]),
            Run(&["--group-directories-first"]),
            Run(&["--group-directories-first"]),
            Run(&["--group-directories-first"]),
            Told("yes"),
            Run(&["--group-directories-first"]),
            Run(&["-n", "-c", "ls | sort-by type name | get name | to text"]),
        ],
    ),
    row(
        "the order of the user's locale",
        Want::Order("\u{e4}hre", "f10"),
        [
            Run(&["LC_ALL=de_DE.UTF-8", "-1"]),
            Run(&["LC_ALL=de_DE.UTF-8", "-1"]),
            Run(&["LC_ALL=de_DE.UTF-8", "-1"]),
            Run(&["LC_ALL=de_DE.UTF-8", "-1"]),
            Told("no"),
            Run(&["LC_ALL=de_DE.UTF-8", "-1"]),
            Run(&["LC_ALL=de_DE.UTF-8", "-n", "-c", "ls | get name | to text"]),
        ],
    ),
    row(
        "hyperlinks",
        Want::Any(&["\x1b]8;"]),
        [
            Run(&["--hyperlink"]),
            Run(&["--hyperlink"]),
            Run(&["--hyperlink=always"]),
            Run(&["--hyperlink", "always"]),
            Told("yes"),
            Run(&["--hyperlink"]),
            Told("yes"),
        ],
    ),
    row(
        "icons",
        Want::Icon,
        [
            Run(&["--icons=always"]),
            Run(&["--icons=always"]),
            Run(&["--icons=always"]),
            Run(&["--icon=always"]),
            Told("yes"),
            Run(&["--icons=always"]),
            Absent(&["icon"]),
        ],
    ),
    row(
        "a header",
        Want::Any(&["Name", "NAME", "name"]),
        [
            Run(&["-l", "--header"]),
            Run(&["-l", "--header"]),
            Run(&["-l", "--header"]),
            Run(&["-l", "--header"]),
            Told("no"),
            Run(&["-l", "--header"]),
            Run(&["-n", "-c", "ls"]),
        ],
    ),
    row(
        "columns of one's choice, in one's order",
        Want::But("31", "root"),
        [
            Run(&["--columns=size,name"]),
            Run(&["--columns=size,name"]),
            Run(&["--columns=size,name"]),
            Run(&["-l", "--blocks", "size,name"]),
            Told("no"),
            Run(&["--columns=size,name"]),
            Run(&["-n", "-c", "ls -l | select size name | to csv"]),
        ],
    ),
    row(
        "ages instead of times",
        Want::But("", ":"),
        [
            Run(&["-l", "--time-style=relative"]),
            Run(&["-l", "--time-style=relative"]),
            Run(&["-l", "--time-style=relative"]),
            Run(&["-l", "--date", "relative"]),
            Told("no"),
            Run(&["-l", "--time-style=relative"]),
            Run(&["-n", "-c", "ls | get modified | first | date humanize"]),
        ],
    ),
    row(
        "formats of times of one's own",
        Want::Any(&["=20"]),
        [
            Run(&["-l", "--time-style=+=%Y"]),
            Run(&["-l", "--time-style=+=%Y"]),
            Run(&["-l", "--time-style=+=%Y"]),
            Run(&["-l", "--date", "+=%Y"]),
            Told("no"),
            Run(&["-l", "--time-style=+=%Y"]),
            Run(&["-n", "-c", "ls | get modified | first | format date '=%Y'"]),
        ],
    ),
    row(
        "time of birth",
        Want::Ok,
        [
            Run(&["-l", "--time=birth"]),
            Run(&["-l", "--time=birth"]),
            Run(&["-l", "--created"]),
            Absent(&["birth", "created"]),
            Told("no"),
            Run(&["-l", "--time=birth"]),
            Run(&["-n", "-c", "ls -l | get created | to text"]),
        ],
    ),
    row(
        "several times side by side",
        Want::Ok,
        [
            Run(&["--columns=modified,created,name"]),
            Run(&["--columns=modified,created,name"]),
            Run(&["-l", "--modified", "--created"]),
            Absent(&["birth", "created"]),
            Told("no"),
            Run(&["--columns=modified,created,name"]),
            Run(&["-n", "-c", "ls -l | select modified created name | to csv"]),
        ],
    ),
    row(
        "the mark of an ACL",
        Want::Any(&["rw-+", "r--+"]),
        [
            Run(&["-l"]),
            Run(&["-l"]),
            Run(&["-l"]),
            Run(&["-l"]),
            Told("no"),
            Run(&["-l"]),
            Run(&["-n", "-c", "ls -l"]),
        ],
    ),
    row(
        "extended attributes",
        Want::Any(&["user.tag"]),
        [
            Run(&["-l", "--xattr"]),
            Run(&["-l", "--xattr"]),
            Run(&["-l", "--extended"]),
            Absent(&["xattr", "extended attr"]),
            Told("no"),
            Run(&["-l", "--xattr"]),
            Absent(&["xattr", "attribute"]),
        ],
    ),
    row(
        "flags of files (immutable, append-only, …)",
        Want::Any(&["d z.tar.gz"]),
        [
            Run(&["--columns=flags,name"]),
            Run(&["--columns=flags,name"]),
            Run(&["-l", "--no-permissions", "--no-filesize", "--no-user", "--no-time", "--flags"]),
            Absent(&["flags"]),
            Told("no"),
            Run(&["--columns=flags,name"]),
            Absent(&["flags of"]),
        ],
    ),
    row(
        "mounts in the listing",
        Want::Any(&["/ ["]),
        [
            Run(&["-ld", "--mounts", "/"]),
            Run(&["-ld", "--mounts", "/"]),
            Run(&["-ld", "--mounts", "/"]),
            Absent(&["mount"]),
            Told("no"),
            Run(&["-ld", "--mounts", "/"]),
            Absent(&["mount"]),
        ],
    ),
    row(
        "git status",
        Want::Any(&["M f2"]),
        [
            Run(&["-l", "--git"]),
            Run(&["-l", "--git"]),
            Run(&["-l", "--git"]),
            Run(&["-l", "--git"]),
            Told("no"),
            Run(&["-l", "--git"]),
            Absent(&["git"]),
        ],
    ),
    row(
        "without what git ignores",
        Want::But("f2", "skip.log"),
        [
            Run(&["--gitignore"]),
            Run(&["--gitignore"]),
            Run(&["--git-ignore"]),
            Absent(&["gitignore", "git-ignore"]),
            Told("no"),
            Run(&["--gitignore"]),
            Absent(&["gitignore"]),
        ],
    ),
    row(
        "trees",
        Want::Any(&["── inner", "-- inner"]),
        [
            Run(&["--tree"]),
            Run(&["--tree"]),
            Run(&["--tree"]),
            Run(&["--tree"]),
            Told("yes"),
            Run(&["--tree"]),
            Absent(&["tree"]),
        ],
    ),
    row(
        "trees with a cap per directory",
        Want::Any(&["more"]),
        [
            Run(&["--tree", "--tree-limit=1"]),
            Run(&["--tree", "--tree-limit=1"]),
            Run(&["--tree", "--tree-limit=1"]),
            Run(&["--tree", "--tree-limit=1"]),
            Told("no"),
            Run(&["--tree", "--tree-limit=1"]),
            Absent(&["tree"]),
        ],
    ),
    row(
        "total sizes of directories",
        Want::Any(&["4.8", "5.0"]),
        [
            Run(&["-lh", "--total-size"]),
            Run(&["-lh", "--total-size"]),
            Run(&["-l", "--total-size"]),
            Run(&["-l", "--total-size"]),
            Told("no"),
            Run(&["-lh", "--total-size"]),
            Run(&["-n", "-c", "ls --du | get size | to text"]),
        ],
    ),
    row(
        "JSON",
        Want::Json,
        [
            Run(&["--json"]),
            Run(&["--json"]),
            Run(&["--json"]),
            Run(&["--json"]),
            Told("no"),
            Run(&["--json"]),
            Run(&["-n", "-c", "ls | to json"]),
        ],
    ),
    row(
        "CSV",
        Want::Any(&["name,", ",name"]),
        [
            Run(&["--csv"]),
            Run(&["--csv"]),
            Run(&["--csv"]),
            Run(&["--csv"]),
            Told("no"),
            Run(&["--csv"]),
            Run(&["-n", "-c", "ls | to csv"]),
        ],
    ),
    row(
        "the largest N",
        Want::But("f10", "f2"),
        [
            Run(&["-S", "--top=1"]),
            Run(&["-S", "--top=1"]),
            Run(&["-s", "size", "--top=1"]),
            Run(&["-S", "--top=1"]),
            Told("no"),
            Run(&["-S", "--top=1"]),
            Run(&["-n", "-c", "ls | sort-by size | last 1 | get name | to text"]),
        ],
    ),
    row(
        "how many of each type",
        Want::Any(&["3 director", "dir,3"]),
        [
            Run(&["--count"]),
            Run(&["--count"]),
            Run(&["--count"]),
            Run(&["--count"]),
            Told("no"),
            Run(&["--count"]),
            Run(&["-n", "-c", "ls | get type | uniq --count | to csv"]),
        ],
    ),
    ours("a summary at the end", Want::Any(&["entries, "]), &["-l", "--summary"], &["summary"]),
    ours("a deadline, and what has answered by then", Want::Ok, &["--timeout=9s"], &["timeout", "deadline"]),
    ours("what was asked of the kernel, and for which option", Want::Ok, &["--explain"], &["explain"]),
    row(
        "SELinux contexts",
        Want::Ok,
        [
            Run(&["-lZ"]),
            Run(&["-lZ"]),
            Run(&["-lZ"]),
            Run(&["-lZ"]),
            Told("no"),
            Run(&["-lZ"]),
            Absent(&["context", "SELinux"]),
        ],
    ),
];
