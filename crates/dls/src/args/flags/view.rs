//! Options for appearance: icons, columns of your choice, ages and gradients. GNU `ls` has none of them.

use super::super::columns;
use super::super::words::{ColorScale, When};
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
        "Name, extension and type select the icon, so icons make no system call. `auto` draws them on a terminal if the \
         locale is UTF-8. The environment variable DLS_ICONS sets others, as code points in hexadecimal or as characters: \
         `DLS_ICONS='*.rs=e7a8:README*=f02d:src/=f07c:di=f024b'`. There are none with `--zero` and `--dired`.",
    )
    .optional_word::<When>("WHEN"),
    Definition::long("header", Flag::Header, "as -l, and begin with a line of column titles").more(
        "This and the other options of this group that imply `-l` select a long format that GNU `ls` does not have, the \
         view: it has no `total` line, its columns can be chosen, and with `--color` they have the colours of \
         `DLS_COLORS`.\n\nIn a file of default options these options do not make a listing long; they take effect if it \
         is long anyway.",
    ),
    Definition::long(
        "columns",
        Flag::ColumnList,
        "as -l, with these columns in this order, or the default ones with (+) and without (-) these: mode, octal, \
         links, user, group, uid, gid, size, blocks, inode, device, modified, changed, accessed, created, context, \
         xattrs, flags, git, total, name",
    )
    .more(
        "Commas separate the words, and each word may be abbreviated. `--columns=+git` adds a column to the default ones, \
         before the name, and `--columns=-owner` removes one. A sign applies to the words after it, up to the next sign; \
         several such lists add up. Only facts that a column shows are requested: `--columns=name` requests nothing about \
         regular files. `git` runs git as `--git` does. `total` shows `-` for a directory, unless `--total-size` is given. \
         docs/COLUMNS.md describes each column.",
    )
    .value("LIST", columns::check)
    .suggests::<Column>(),
    Definition::long(
        "mounts",
        Flag::Mounts,
        "as -l, and show after the name of a mount point what is mounted there",
    )
    .more(
        "It shows type and source of the file system, such as `[ext4 /dev/sda1]`. `dls` reads /proc/self/mountinfo once, \
         and only if there is a mount point to show.",
    ),
    Definition::long("xattr", Flag::Xattr, "as -l, and list the extended attributes below each entry")
        .more("Each attribute has a line with its name and the size of its value in bytes, indented below the name."),
    Definition::long(
        "smart-group",
        Flag::SmartGroup,
        "as -l, and show a group only where its name differs from the owner's",
    ),
    Definition::long(
        "color-scale",
        Flag::ColorScale,
        "as -l --color=auto, with a colour for each unit of sizes and for each span of ages; WHAT is all, age or size",
    )
    .more(
        "It is the colour of all long formats that GNU `ls` does not have, so it is needed only without the other options of \
         this group. `size` leaves the times without colours, and `age` the sizes. DLS_COLORS sets other colours. A later \
         `--color` wins.",
    )
    .optional_word::<ColorScale>("WHAT"),
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
        plain(Flag::ColorScale, &[c"--color-scale", c"--color-s"]);
        valued(Flag::ColorScale, "age", &[&[c"--color-scale=age"]]);
        assert_eq!(complaint(&[c"--color-scale=x"]), "ls: invalid argument 'x' for '--color-scale'");
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
