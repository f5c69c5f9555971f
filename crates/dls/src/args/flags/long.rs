//! What is told about each entry: the long listing's columns, sizes and times.

use super::super::numbers::BlockSize;
use super::super::words::{NamedTimeStyle, Time};
use super::{Definition, Flag};

/// The group of [`super::Group::Long`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::letter(b'l', Flag::Long, "a line on each entry: mode, links, owner, group, size, time, name"),
    Definition::letter(b'g', Flag::LongWithoutOwner, "as -l without the owner"),
    Definition::letter(b'o', Flag::LongWithoutGroup, "as -l without the group"),
    Definition::both(b'G', "no-group", Flag::NoGroup, "no group in a long listing"),
    Definition::both(b'n', "numeric-uid-gid", Flag::NumericUidGid, "as -l with users and groups as numbers"),
    Definition::long("author", Flag::Author, "name the author in a long listing (here, the owner)").not_yet(),
    Definition::both(b'i', "inode", Flag::Inode, "begin with the inode's number"),
    Definition::both(b's', "size", Flag::Size, "begin with the space taken on disk, in blocks"),
    Definition::both(b'h', "human-readable", Flag::HumanReadable, "short sizes, as 1K, 234M or 2G"),
    Definition::long("si", Flag::Si, "the same in powers of 1000"),
    Definition::both(b'k', "kibibytes", Flag::Kibibytes, "blocks of 1024 bytes for -s and the totals"),
    Definition::long("block-size", Flag::BlockSize, "sizes in units of SIZE; see below")
        .value("SIZE", |value| Ok(BlockSize::parse(value).map(drop)?))
        .not_yet(),
    Definition::letter(
        b'c',
        Flag::Ctime,
        "the time of the last change of mode, owner or contents (ctime):\nshown with -l, sorted by with -lt, \
         and sorted by without -l",
    ),
    Definition::letter(b'u', Flag::Atime, "the same with the time of the last access (atime)"),
    Definition::long(
        "time",
        Flag::Time,
        "which time to show and sort by: mtime or modification (as without this option), atime, access or use \
         (-u), ctime or status (-c), birth or creation",
    )
    .word::<Time>("WORD")
    .not_yet(),
    Definition::long("full-time", Flag::FullTime, "as -l --time-style=full-iso"),
    // Checked by Plan: GNU looks at it only when the listing turns out to be a long one.
    Definition::long("time-style", Flag::TimeStyle, "how to write times with -l; see below")
        .value("TIME_STYLE", |_| Ok(())).suggests::<NamedTimeStyle>(),
    Definition::both(b'Z', "context", Flag::Context, "show the security context of each entry").not_yet(),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, said, valued};
    use super::*;

    #[test]
    fn long() {
        plain(Flag::Long, &[c"-l"]);
        plain(Flag::LongWithoutOwner, &[c"-g"]);
        plain(Flag::LongWithoutGroup, &[c"-o"]);
        plain(Flag::NoGroup, &[c"-G", c"--no-group", c"--no"]);
        plain(Flag::NumericUidGid, &[c"-n", c"--numeric-uid-gid", c"--nu"]);
        plain(Flag::Author, &[c"--author", c"--au"]);
        let flags = [Flag::Long, Flag::LongWithoutOwner, Flag::LongWithoutGroup].map(|flag| (flag, None));
        assert_eq!(said(&[c"-lgo"]), flags);
        assert_eq!(said(&[c"-l", c"-g", c"-o"]), flags);
    }

    #[test]
    fn inode_and_size() {
        plain(Flag::Inode, &[c"-i", c"--inode", c"--ino"]);
        plain(Flag::Size, &[c"-s", c"--size", c"--siz"]);
    }

    #[test]
    fn human() {
        plain(Flag::HumanReadable, &[c"-h", c"--human-readable", c"--hu"]);
        plain(Flag::Si, &[c"--si"]);
        plain(Flag::Kibibytes, &[c"-k", c"--kibibytes", c"--k"]);
        assert_eq!(
            complaint(&[c"--s"]),
            "ls: option '--s' is ambiguous; possibilities: '--size' '--si' '--show-control-chars' '--sort'"
        );
        assert_eq!(complaint(&[c"--si="]), "ls: option '--si' doesn't allow an argument");
    }

    #[test]
    fn block_size() {
        valued(Flag::BlockSize, "1K", &[&[c"--block-size=1K"], &[c"--block-size", c"1K"], &[c"--b=1K"]]);
        assert_eq!(complaint(&[c"--block-size=x"]), "ls: invalid --block-size argument 'x'");
        assert_eq!(complaint(&[c"--b=1x"]), "ls: invalid suffix in --block-size argument '1x'");
        assert_eq!(complaint(&[c"--b=Z"]), "ls: --block-size argument 'Z' too large");
    }

    #[test]
    fn times() {
        plain(Flag::Ctime, &[c"-c"]);
        plain(Flag::Atime, &[c"-u"]);
        valued(Flag::Time, "use", &[&[c"--time=use"], &[c"--time", c"use"]]);
        valued(Flag::Time, "mod", &[&[c"--time=mod"]]);
        valued(Flag::Time, "a", &[&[c"--time=a"]]);
        assert_eq!(complaint(&[c"--time=x"]), "ls: invalid argument 'x' for '--time'");
        let ambiguous = "ls: option '--tim' is ambiguous; possibilities: '--time' '--time-style'";
        assert_eq!(complaint(&[c"--tim"]), ambiguous, "--timing is ours and does not take part");
    }

    #[test]
    fn time_style() {
        plain(Flag::FullTime, &[c"--full-time", c"--fu"]);
        valued(
            Flag::TimeStyle,
            "+%s",
            &[&[c"--time-style=+%s"], &[c"--time-style", c"+%s"], &[c"--time-=+%s"]],
        );
        valued(Flag::TimeStyle, "rubbish", &[&[c"--time-style=rubbish"]]);
    }

    #[test]
    fn context() {
        plain(Flag::Context, &[c"-Z", c"--context", c"--con"]);
        assert_eq!(complaint(&[c"--context=x"]), "ls: option '--context' doesn't allow an argument");
    }
}
