//! What makes a listing pleasant to look at: icons, columns of one's choice, ages and gradients. GNU has none of it.

use super::super::columns;
use super::{Definition, Flag};
use dents_render::Column;

/// The group of [`super::Group::Look`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::long("header", Flag::Header, "with -l, begin with a line that says what the columns are").more(
        "This and the other options of the group that speak of `-l` lead to a long format of our own, the view: it has \
         no `total` line, its columns can be chosen, and with `--color` they have colours too, those of `DLS_COLORS`.",
    ),
    Definition::long(
        "columns",
        Flag::ColumnList,
        "as -l, with these columns in this order: mode, octal, links, user, group, uid, gid, size, blocks, inode, device, \
         modified, changed, accessed, created, context, xattrs, flags, git, total, name",
    )
    .more(
        "Words between commas; each may be shortened. Only what the columns show is asked about: \
         `--columns=name` asks nothing of regular files. Columns that only another option can fill (`git`, `total`) \
         show `-` without it. See docs/COLUMNS.md for what stands in each.",
    )
    .value("LIST", columns::check)
    .suggests::<Column>(),
    Definition::long(
        "mounts",
        Flag::Mounts,
        "with -l, say behind the name of a mount point what is mounted there",
    )
    .more(
        "The file system's type and its source, such as `[ext4 /dev/sda1]`. /proc/self/mountinfo is read, once, and only \
         if there is a mount point to show.",
    ),
    Definition::long("xattr", Flag::Xattr, "with -l, list the extended attributes below each entry")
        .more("A line for each with its name and the size of its value in bytes, set in below the name."),
    Definition::long(
        "smart-group",
        Flag::SmartGroup,
        "with -l, show a group only where it is called otherwise than the owner",
    ),
    Definition::long("no-owner", Flag::NoOwner, "with -l, leave out the owner, as -g does"),
    Definition::long("no-time", Flag::NoTime, "with -l, leave out the time"),
    Definition::long("no-mode", Flag::NoMode, "with -l, leave out the mode"),
    Definition::long("no-size", Flag::NoSize, "with -l, leave out the size"),
    Definition::long("no-links", Flag::NoLinks, "with -l, leave out the number of links"),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, valued};
    use super::*;

    #[test]
    fn flags_of_the_view() {
        plain(Flag::Header, &[c"--header", c"--hea"]);
        plain(Flag::Mounts, &[c"--mounts", c"--mou"]);
        plain(Flag::Xattr, &[c"--xattr", c"--x"]);
        plain(Flag::SmartGroup, &[c"--smart-group", c"--sm"]);
        plain(Flag::NoOwner, &[c"--no-owner", c"--no-o"]);
        plain(Flag::NoTime, &[c"--no-time", c"--no-t"]);
        plain(Flag::NoMode, &[c"--no-mode", c"--no-m"]);
        plain(Flag::NoSize, &[c"--no-size", c"--no-s"]);
        plain(Flag::NoLinks, &[c"--no-links", c"--no-l"]);
        plain(Flag::NoGroup, &[c"--no-g", c"--no"]);
    }

    #[test]
    fn columns_are_words() {
        valued(Flag::ColumnList, "size,name", &[&[c"--columns=size,name"], &[c"--columns", c"size,name"]]);
        assert_eq!(complaint(&[c"--columns"]), "ls: option '--columns' requires an argument");
    }
}
