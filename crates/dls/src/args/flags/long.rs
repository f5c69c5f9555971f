//! Options for the long format: columns, sizes and times.

use super::super::numbers::BlockSize;
use super::super::words::{NamedTimeStyle, Time};
use super::{Definition, Flag};

/// The group of [`super::Group::Long`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::letter(b'l', Flag::Long, "a line for each name: mode, links, owner, group, size, time, name")
        .more(
            "\n\nThe mode begins with a letter for the type: `-` for a regular file, `d` directory, `l` \
             symbolic link, `b` block device, `c` character device, `p` FIFO, `s` socket. Three letters \
             each show what owner, group and others may do: read, write, execute. `s` in place of `x` is \
             set-user-ID or set-group-ID, `t` is the sticky bit; capitals mean that the permission to execute \
             is missing. A `+` after the mode marks an access control list, a `.` a security \
             context.\n\nDevices have their major and minor number in place of a size. Times of the last six \
             months show hour and minute, other times the year. A symbolic link shows its target after `->`. \
             A value that is not known is a question mark. The first line of a directory is its `total`: the \
             blocks that its entries take on disk.",
        ),
    Definition::letter(b'g', Flag::LongWithoutOwner, "as -l, without the owner"),
    Definition::letter(b'o', Flag::LongWithoutGroup, "as -l, without the group"),
    Definition::both(b'G', "no-group", Flag::NoGroup, "with -l, leave out the group"),
    Definition::both(b'n', "numeric-uid-gid", Flag::NumericUidGid, "as -l, with users and groups as numbers"),
    Definition::long("author", Flag::Author, "with -l, show the author too (on Linux, the owner again)"),
    Definition::both(b'i', "inode", Flag::Inode, "begin with the number of the inode"),
    Definition::both(b's', "size", Flag::Size, "begin with the space on disk, in blocks; see -k").more(
        "A block is 1024 bytes, or 512 if `POSIXLY_CORRECT` is set; `--block-size` and the environment can \
         change it.",
    ),
    Definition::both(b'h', "human-readable", Flag::HumanReadable, "short sizes, such as 1K, 234M or 2G"),
    Definition::long("si", Flag::Si, "as -h, but in powers of 1000"),
    Definition::both(b'k', "kibibytes", Flag::Kibibytes, "count blocks of 1024 bytes for -s and the totals")
        .more("It overrides the environment, but not `--block-size`, `-h` or `--si`."),
    Definition::long("block-size", Flag::BlockSize, "sizes in units of SIZE; see below")
        .more("Sizes are rounded up.")
        .value("SIZE", |value| Ok(BlockSize::parse(value).map(drop)?)),
    Definition::letter(
        b'c',
        Flag::Ctime,
        "use the time of the last change of mode, owner or contents (ctime): -l shows it, -lt also sorts by \
         it; without -l, sort by it",
    ),
    Definition::letter(b'u', Flag::Atime, "as -c, but the time of the last access (atime)"),
    Definition::long(
        "time",
        Flag::Time,
        "which time to show and sort by: mtime or modification (the default), atime, access or use (-u), \
         ctime or status (-c), birth or creation",
    )
    .more(
        "`birth` is the time at which the file was created. Where the file system does not keep it, a question \
         mark is shown. Without the long format, entries are also sorted by the time.",
    )
    .word::<Time>("WORD"),
    Definition::long("full-time", Flag::FullTime, "as -l --time-style=full-iso"),
    // Checked by Plan: GNU looks at it only when the listing turns out to be a long one.
    Definition::long("time-style", Flag::TimeStyle, "how to write times with -l; see below")
        .more("With `relative`, which GNU `ls` does not have, times are ages such as `3d`. See VALUES.")
        .value("TIME_STYLE", |_| Ok(()))
        .suggests::<NamedTimeStyle>(),
    Definition::both(b'Z', "context", Flag::Context, "show the security context of each entry"),
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
