//! Options that select the listed entries, and how symbolic links are treated.

use super::{Definition, Flag};

/// The group of [`super::Group::Entries`].
pub(super) const ENTRIES: &[Definition] = &[
    Definition::both(b'a', "all", Flag::All, "list names that start with a dot too, . and .. among them"),
    Definition::both(b'A', "almost-all", Flag::AlmostAll, "as -a, but . and .. are left out"),
    Definition::both(b'B', "ignore-backups", Flag::IgnoreBackups, "leave out names that end in ~"),
    Definition::both(b'd', "directory", Flag::Directory, "list a directory itself instead of its entries")
        .more(
            "Without an operand, it lists the current directory (`.`). A symbolic link that is an operand is shown, not followed.",
        ),
    Definition::long("only-dirs", Flag::OnlyDirs, "of the entries of a directory, list directories only").more(
        "The entry's own type decides: a symbolic link to a directory is not a directory, unless `-L` is given. Where the \
         file system returns types with names, this costs no system call. Operands are always listed. With `--tree` \
         directories alone are drawn. Of this and `--only-files` the last one wins. GNU `ls` has neither.",
    ),
    Definition::long("only-files", Flag::OnlyFiles, "of the entries of a directory, list regular files only").more(
        "As `--only-dirs`. With `--tree` directories are drawn too, because files are on their branches; with `-R` they \
         are entered and not listed.",
    ),
    Definition::long(
        "hide",
        Flag::Hide,
        "leave out names that match the shell PATTERN, unless -a or -A is given",
    )
    .more("As in the shell, `*` and `?` do not match a dot that begins a name. May be given several times.")
    .value("PATTERN", |_| Ok(())),
    Definition::both(
        b'I',
        "ignore",
        Flag::Ignore,
        "leave out names that match the shell PATTERN, even with -a or -A",
    )
    .more("The pattern is matched as with `--hide`; may be given several times.")
    .value("PATTERN", |_| Ok(())),
    Definition::both(
        b'R',
        "recursive",
        Flag::Recursive,
        "list subdirectories too, at any depth, each under its name",
    )
    .more("With `-L`, a directory that is found again inside itself is reported and not entered."),
];

/// The group of [`super::Group::Links`].
pub(super) const LINKS: &[Definition] = &[
    Definition::both(
        b'L',
        "dereference",
        Flag::Dereference,
        "show the target of a symbolic link, not the link",
    )
    .more("A link without a target is reported, its line has question marks, and the exit status is 1."),
    Definition::both(
        b'H',
        "dereference-command-line",
        Flag::DereferenceCommandLine,
        "as -L, but only for links on the command line",
    ),
    Definition::long(
        "dereference-command-line-symlink-to-dir",
        Flag::DereferenceCommandLineSymlinkToDir,
        "as -H, but only for links that lead to a directory",
    )
    .more("The default, unless `-d`, `-F` or the long format is given."),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, valued};
    use super::*;

    #[test]
    fn only() {
        plain(Flag::OnlyDirs, &[c"--only-dirs", c"--only-d"]);
        plain(Flag::OnlyFiles, &[c"--only-files", c"--only-f"]);
    }

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
