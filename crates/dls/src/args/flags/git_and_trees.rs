//! What is found out beside what the kernel says of an entry: its state in git, what is below it. GNU has none of it.

use super::super::numbers::{parse_budget, parse_depth, parse_git_budget, parse_limit};
use super::{Arity, Definition, Flag};

/// The group of [`super::Group::Found`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::long(
        "git",
        Flag::Git,
        "as -l, and show what git says of each file: staged, and in the work tree; wait for it at most DURATION \
         (500ms, 2s) from its start, 200ms by default",
    )
    .more(
        "One letter for what differs between the last commit and the index, one for what differs between the index \
         and the file: `-` nothing, `M` modified, `N` new or untracked, `D` deleted, `R` renamed, `T` another type, \
         `I` ignored, `U` unmerged. A directory shows the gravest of what is below it. What is in no repository \
         shows `-`.\n\nThat is the answer of one `git status` for each repository, which runs while the directory is \
         read. A late answer shows as `…`: the listing goes on and git is killed. The \
         environment's `DLS_GIT_BUDGET` is the DURATION where none is given; 0 waits as long as it takes. No \
         program is run that the repository's own configuration names: see docs/GIT.md.",
    )
    .optional("DURATION", |value| Ok(parse_git_budget(value).map(drop)?)),
    Definition::long("gitignore", Flag::Gitignore, "leave out what git ignores, and .git").more(
        "What is named on the command line is listed in any case, and so is what is in an ignored directory that is \
         named. Git is waited for 5 seconds, unless `--git=DURATION` or `DLS_GIT_BUDGET` says otherwise; if it does \
         not answer, all is listed, and one line on standard error says so.",
    ),
    Definition {
        arity: Arity::Optional,
        ..Definition::long(
            "tree",
            Flag::Tree,
            "show what is below each directory as a tree, to a depth of DEPTH or all of it",
        )
        .value("DEPTH", |value| Ok(parse_depth(value).map(drop)?))
    }
    .more(
        "Each directory is sorted and filtered as its listing would be, but `.` and `..` are never shown. Symbolic \
         links are shown with what they lead to and not followed, unless `-L` is given. With `-l` the columns of the \
         long view stand before the branches. Without options that need more, no file is asked about: only directories are \
         read, and links.",
    ),
    Definition::long(
        "tree-limit",
        Flag::TreeLimit,
        "with --tree, show at most N entries of each directory, and how many more there are",
    )
    .value("N", |value| Ok(parse_limit(value).map(drop)?)),
    Definition {
        arity: Arity::Optional,
        ..Definition::long(
            "total-size",
            Flag::TotalSize,
            "take for a directory's size that of all below it, as far as found in DURATION (1s by default; 0 waits for \
             ever)",
        )
        .value("DURATION", |value| Ok(parse_budget(value).map(drop)?))
    }
    .more(
        "Files with several links count once in each directory. The sizes are those of regular files and links; blocks \
         are those of everything. What could not be added up in time, or not be read, is marked: the size is that much \
         or more. The time is that of all directories together.",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, valued};
    use super::*;

    #[test]
    fn git() {
        plain(Flag::Git, &[c"--git"]);
        valued(Flag::Git, "2s", &[&[c"--git=2s"]]);
        assert_eq!(
            complaint(&[c"--git=soon"]),
            "ls: invalid time for git: 'soon' (must be a number of seconds, or end in ms, s, m, h, d, w or y)"
        );
    }

    #[test]
    fn gitignore() {
        plain(Flag::Gitignore, &[c"--gitignore", c"--giti"]);
        assert_eq!(complaint(&[c"--gitignore=1"]), "ls: option '--gitignore' doesn't allow an argument");
    }

    #[test]
    fn tree() {
        plain(Flag::Tree, &[c"--tree"]);
        valued(Flag::Tree, "2", &[&[c"--tree=2"]]);
        for bad in [c"--tree=0", c"--tree=x", c"--tree=", c"--tree=-1", c"--tree=99999999999"] {
            let value = bad.to_str().unwrap().strip_prefix("--tree=").unwrap();
            let expected = std::format!("ls: invalid depth for --tree: '{value}' (must be 1 to 4294967295)");
            assert_eq!(complaint(&[bad]), expected);
        }
    }

    #[test]
    fn tree_limit() {
        valued(Flag::TreeLimit, "100", &[&[c"--tree-limit=100"], &[c"--tree-l", c"100"]]);
        let expected = "ls: invalid number of entries for --tree-limit: '0' (must be 1 to 4294967295)";
        assert_eq!(complaint(&[c"--tree-limit=0"]), expected);
        assert_eq!(complaint(&[c"--tree-limit"]), "ls: option '--tree-limit' requires an argument");
    }

    #[test]
    fn total_size() {
        plain(Flag::TotalSize, &[c"--total-size", c"--tot"]);
        valued(Flag::TotalSize, "200ms", &[&[c"--total-size=200ms"]]);
        let expected = "ls: invalid time for --total-size: 'x' (must be a number of seconds, or end in ms, s, m, h, d, w or y; 0 is no limit)";
        assert_eq!(complaint(&[c"--total-size=x"]), expected);
    }
}
