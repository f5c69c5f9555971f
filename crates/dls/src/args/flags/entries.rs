//! Which entries are listed, and what is done with symbolic links.

use super::{Definition, Flag};

/// The group of [`super::Group::Entries`].
pub(super) const ENTRIES: &[Definition] = &[
    Definition::both(b'a', "all", Flag::All, "list names that start with a dot too, . and .. among them"),
    Definition::both(b'A', "almost-all", Flag::AlmostAll, "the same without . and .."),
    Definition::both(b'B', "ignore-backups", Flag::IgnoreBackups, "leave out names that end in ~").not_yet(),
    Definition::both(b'd', "directory", Flag::Directory, "list a directory itself instead of what is in it"),
    Definition::long(
        "hide",
        Flag::Hide,
        "leave out names that match the shell PATTERN, unless -a or -A is given",
    )
    .value("PATTERN", |_| Ok(()))
    .not_yet(),
    Definition::both(
        b'I',
        "ignore",
        Flag::Ignore,
        "leave out names that match the shell PATTERN, whatever else",
    )
    .value("PATTERN", |_| Ok(()))
    .not_yet(),
    Definition::both(b'R', "recursive", Flag::Recursive, "list every directory below too"),
];

/// The group of [`super::Group::Links`].
pub(super) const LINKS: &[Definition] = &[
    Definition::both(
        b'L',
        "dereference",
        Flag::Dereference,
        "show what a link points to in place of the link",
    )
    .not_yet(),
    Definition::both(
        b'H',
        "dereference-command-line",
        Flag::DereferenceCommandLine,
        "the same, for links named on the command line only",
    )
    .not_yet(),
    Definition::long(
        "dereference-command-line-symlink-to-dir",
        Flag::DereferenceCommandLineSymlinkToDir,
        "the same, for links named on the command line that point to a directory",
    )
    .not_yet(),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, valued};
    use super::*;

    #[test]
    fn all() {
        plain(Flag::All, &[c"-a", c"--all"]);
        plain(Flag::AlmostAll, &[c"-A", c"--almost-all", c"--alm"]);
        assert_eq!(
            complaint(&[c"--al"]),
            "ls: option '--al' is ambiguous; possibilities: '--all' '--almost-all'"
        );
    }

    #[test]
    fn ignore_backups() {
        plain(Flag::IgnoreBackups, &[c"-B", c"--ignore-backups", c"--ignore-"]);
    }

    #[test]
    fn directory() {
        plain(Flag::Directory, &[c"-d", c"--directory", c"--direc"]);
    }

    #[test]
    fn hide() {
        valued(Flag::Hide, "*.o", &[&[c"--hide=*.o"], &[c"--hide", c"*.o"]]);
        valued(Flag::Hide, "", &[&[c"--hide="], &[c"--hide", c""]]);
        assert_eq!(complaint(&[c"--hide"]), "ls: option '--hide' requires an argument");
    }

    #[test]
    fn ignore() {
        valued(
            Flag::Ignore,
            "a=b",
            &[&[c"-Ia=b"], &[c"-I", c"a=b"], &[c"--ignore=a=b"], &[c"--ignore", c"a=b"]],
        );
        assert_eq!(complaint(&[c"-I"]), "ls: option requires an argument -- 'I'");
    }

    #[test]
    fn recursive() {
        plain(Flag::Recursive, &[c"-R", c"--recursive", c"--rec"]);
    }

    #[test]
    fn dereference() {
        plain(Flag::Dereference, &[c"-L", c"--dereference"]);
        plain(Flag::DereferenceCommandLine, &[c"-H", c"--dereference-command-line"]);
        plain(
            Flag::DereferenceCommandLineSymlinkToDir,
            &[c"--dereference-command-line-symlink-to-dir", c"--dereference-command-line-"],
        );
        assert_eq!(
            complaint(&[c"--deref=x"]),
            "ls: option '--deref=x' is ambiguous; possibilities: '--dereference-command-line' \
             '--dereference-command-line-symlink-to-dir' '--dereference'"
        );
    }
}
