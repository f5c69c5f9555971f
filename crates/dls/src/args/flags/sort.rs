//! In which order entries are listed.

use super::super::words::Sort;
use super::{Definition, Flag};

/// The group of [`super::Group::Sort`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::letter(b't', Flag::SortByTime, "by time, newest first"),
    Definition::letter(b'S', Flag::SortBySize, "by size, largest first"),
    Definition::letter(b'X', Flag::SortByExtension, "by extension"),
    Definition::letter(b'v', Flag::SortByVersion, "by name, with numbers in it as numbers"),
    Definition::letter(b'U', Flag::Unsorted, "as the directory has them"),
    Definition::letter(b'f', Flag::AllUnsorted, "the same with -a"),
    Definition::long(
        "sort",
        Flag::Sort,
        "by WORD: name (as without this option), none (-U), size (-S), time (-t), version (-v), extension (-X), \
         width",
    )
    .word::<Sort>("WORD")
    .not_yet(),
    Definition::both(b'r', "reverse", Flag::Reverse, "in reverse"),
    Definition::long(
        "group-directories-first",
        Flag::GroupDirectoriesFirst,
        "directories before all else, unless the order is the directory's own",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, valued};
    use super::*;

    #[test]
    fn letters() {
        plain(Flag::SortByTime, &[c"-t"]);
        plain(Flag::SortBySize, &[c"-S"]);
        plain(Flag::SortByExtension, &[c"-X"]);
        plain(Flag::SortByVersion, &[c"-v"]);
        plain(Flag::Unsorted, &[c"-U"]);
        plain(Flag::AllUnsorted, &[c"-f"]);
    }

    #[test]
    fn sort() {
        valued(Flag::Sort, "size", &[&[c"--sort=size"], &[c"--sort", c"size"], &[c"--so=size"]]);
        valued(Flag::Sort, "name", &[&[c"--sort=name"]]);
        assert_eq!(complaint(&[c"--sort=n"]), "ls: ambiguous argument 'n' for '--sort'", "none or name");
        assert_eq!(complaint(&[c"--sort"]), "ls: option '--sort' requires an argument");
    }

    #[test]
    fn reverse() {
        plain(Flag::Reverse, &[c"-r", c"--reverse", c"--rev"]);
    }

    #[test]
    fn group_directories_first() {
        plain(Flag::GroupDirectoriesFirst, &[c"--group-directories-first", c"--g"]);
    }
}
