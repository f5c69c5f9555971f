//! In which order entries are listed.

use super::super::words::{OwnSort, Sort, Words, lookup, own_sort};
use super::{Definition, Flag};

/// The group of [`super::Group::Sort`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::letter(b't', Flag::SortByTime, "sort by time, newest first"),
    Definition::letter(b'S', Flag::SortBySize, "sort by size, largest first"),
    Definition::letter(b'X', Flag::SortByExtension, "sort by extension")
        .more("The extension is what follows the last dot; names without one come first."),
    Definition::letter(b'v', Flag::SortByVersion, "sort by name, with digits compared as numbers")
        .more("So `file9` comes before `file10`."),
    Definition::letter(b'U', Flag::Unsorted, "do not sort: names are in the order of the directory").more(
        "With one name on each line, names are written while the directory is read: the first appears at once, and \
         little memory is needed, however large the directory.",
    ),
    Definition::letter(b'f', Flag::AllUnsorted, "as -aU")
        .more("Unlike in GNU `ls` before 9.5, it does not cancel `-l`, `-s` or `--color`."),
    Definition::long(
        "sort",
        Flag::Sort,
        "sort by WORD: name (the default), none (-U), size (-S), time (-t), version (-v), extension (-X), \
         width, natural, created, modified, inode, type",
    )
    .more(
        "`width` sorts by the width of the name as it is shown, narrowest first.\n\nGNU `ls` does not have the last five \
         words. `natural` compares digits as numbers, as `version` does, and ignores case: `file2`, `File3`, `file10`. \
         `created` is `time` with `--time=birth`, and `modified` is `time` with `--time=mtime`. `inode` puts the lowest \
         number first. `type` puts directories first, then regular files, symbolic links and all else, each by name. \
         These five have no abbreviations.",
    )
    .value("WORD", |value| {
        if own_sort(value).is_none() {
            lookup::<Sort>(value)?;
        }
        Ok(())
    })
    .suggests_all(WORDS),
    Definition::both(b'r', "reverse", Flag::Reverse, "reverse the order"),
    Definition::long(
        "group-directories-first",
        Flag::GroupDirectoriesFirst,
        "directories before all else (but not with -U)",
    )
    .more("A symbolic link to a directory counts as one."),
];

/// The words of `--sort`, for completions.
const WORDS: &[&[&str]] = &{
    let (gnu, own) = (Sort::SPELLINGS, OwnSort::SPELLINGS);
    let mut all: [&[&str]; Sort::SPELLINGS.len() + OwnSort::SPELLINGS.len()] = [&[]; _];
    let mut nth = 0;
    while nth < all.len() {
        all[nth] = if nth < gnu.len() { gnu[nth] } else { own[nth - gnu.len()] };
        nth += 1;
    }
    all
};

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, read, valued};
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
        valued(Flag::Sort, "natural", &[&[c"--sort=natural"], &[c"--sort", c"natural"]]);
        assert_eq!(lookup(b"na"), Ok(Sort::Name), "as GNU has it");
        assert_eq!(complaint(&[c"--sort=nat"]), "ls: invalid argument 'nat' for '--sort'");
        for own in ["natural", "created", "modified", "inode", "type"] {
            let argv = std::ffi::CString::new(["--sort=", own].concat()).unwrap();
            valued(Flag::Sort, own, &[&[&argv]]);
            assert!(WORDS.contains(&&[own][..]));
            let message = read(&[c"--sort=x"])
                .unwrap_err()
                .message(b"ls", &crate::locale::Language::english(dents_locale::Charset::Ascii));
            assert!(!std::string::String::from_utf8(message).unwrap().contains(own), "GNU's list is GNU's");
        }
        assert!(WORDS.contains(&&["name"][..]));
        assert_eq!(complaint(&[c"--sort=ty"]), "ls: invalid argument 'ty' for '--sort'", "as GNU has it");
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
