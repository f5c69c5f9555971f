//! What makes a listing pleasant to look at: icons, columns of one's choice, ages and gradients. GNU has none of it.

use super::super::columns;
use super::super::words::When;
use super::{Definition, Flag};
use dents_render::Column;

/// The group of [`super::Group::Look`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::long(
        "icons",
        Flag::Icons,
        "draw an icon before each name, for a terminal with a Nerd Font; WHEN is always, auto or never",
    )
    .more(
        "By name, extension and type, so nothing more is asked of the kernel. `auto` draws them on a terminal whose locale \
         is UTF-8. The environment's DLS_ICONS changes them: `DLS_ICONS='*.rs=e7a8:README*=f02d:src/=f07c:di=f024b'`, code \
         points in hexadecimal or the characters themselves. There are none with `--zero` and `--dired`.",
    )
    .optional_word::<When>("WHEN"),
    Definition::long("header", Flag::Header, "as -l, and begin with a line that says what the columns are").more(
        "In a file of default options it holds where a listing is long anyway, as do the others that speak of `-l`.\n\nThis and the other options of the group that speak of `-l` lead to a long format of our own, the view: it has \
         no `total` line, its columns can be chosen, and with `--color` they have colours too, those of `DLS_COLORS`.",
    ),
    Definition::long(
        "columns",
        Flag::ColumnList,
        "as -l, with these columns in this order, or the usual ones with (+) and without (-) these: mode, octal, links, user, group, uid, gid, size, blocks, inode, device, \
         modified, changed, accessed, created, context, xattrs, flags, git, total, name",
    )
    .more(
        "Words between commas; each may be shortened. `--columns=+git` puts a column to those there would be, before the \
         name, and `--columns=-owner` takes one away; a sign holds for the words after it up to the next sign, and such \
         lists add up. Only what the columns show is asked about: \
         `--columns=name` asks nothing of regular files. `git` asks git as `--git` does; `total`, \
         which only another option can fill, shows `-` without it. See docs/COLUMNS.md for what stands in each.",
    )
    .value("LIST", columns::check)
    .suggests::<Column>(),
    Definition::long(
        "mounts",
        Flag::Mounts,
        "as -l, and say behind the name of a mount point what is mounted there",
    )
    .more(
        "The file system's type and its source, such as `[ext4 /dev/sda1]`. /proc/self/mountinfo is read, once, and only \
         if there is a mount point to show.",
    ),
    Definition::long("xattr", Flag::Xattr, "as -l, and list the extended attributes below each entry")
        .more("A line for each with its name and the size of its value in bytes, set in below the name."),
    Definition::long(
        "smart-group",
        Flag::SmartGroup,
        "as -l, and show a group only where it is called otherwise than the owner",
    ),
    Definition::long("no-owner", Flag::NoOwner, "as -l, and leave out the owner, as -g does"),
    Definition::long("no-time", Flag::NoTime, "as -l, and leave out the time"),
    Definition::long("no-mode", Flag::NoMode, "as -l, and leave out the mode"),
    Definition::long("no-size", Flag::NoSize, "as -l, and leave out the size"),
    Definition::long("no-links", Flag::NoLinks, "as -l, and leave out the number of links"),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, valued};
    use super::*;

    #[test]
    fn icons() {
        plain(Flag::Icons, &[c"--icons", c"--ic"]);
        valued(Flag::Icons, "auto", &[&[c"--icons=auto"]]);
        assert_eq!(complaint(&[c"--icons=x"]), "ls: invalid argument 'x' for '--icons'");
    }

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
