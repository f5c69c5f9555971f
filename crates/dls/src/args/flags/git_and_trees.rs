//! Options for facts that the kernel does not have: the git state of entries, the contents of subdirectories. GNU `ls`
//! has none of them.

use super::super::numbers::{parse_budget, parse_depth, parse_git_budget, parse_limit};
use super::{Arity, Definition, Flag};

/// The group of [`super::Group::GitAndTrees`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::long(
        "git",
        Flag::Git,
        "as -l, and show the git status of each file: staged, and in the work tree; wait for git at most DURATION \
         (500ms, 2s) from its start, 200ms by default",
    )
    .more(
        "The first letter is the difference between the last commit and the index, the second the difference between \
         the index and the file: `-` nothing, `M` modified, `N` new or untracked, `D` deleted, `R` renamed, `T` another \
         type, `I` ignored, `U` unmerged. A directory shows the most serious state of the files below it. A single `-` \
         is for files in no repository.\n\n`dls` runs one `git status` for each repository, while it reads the \
         directory. If the answer is late, the column shows `…`: the listing continues and git is killed. The \
         environment variable `DLS_GIT_BUDGET` sets the DURATION where none is given; 0 sets no limit. No program is run \
         that the repository's own configuration names: see docs/GIT.md.",
    )
    .optional("DURATION", |value| Ok(parse_git_budget(value).map(drop)?)),
    Definition::long("gitignore", Flag::Gitignore, "leave out what git ignores, and .git").more(
        "Operands are always listed, and so are the entries of an ignored directory that is an operand. `dls` waits for \
         git at most 5 seconds, unless `--git=DURATION` or `DLS_GIT_BUDGET` sets another time. If git does not answer, \
         `dls` lists everything, and reports that in one line on standard error.",
    ),
    Definition {
        arity: Arity::Optional,
        ..Definition::long(
            "tree",
            Flag::Tree,
            "show the entries below each directory as a tree, DEPTH levels or all of them",
        )
        .value("DEPTH", |value| Ok(parse_depth(value).map(drop)?))
    }
    .more(
        "Each directory is sorted and filtered as in a listing, but `.` and `..` are never shown. Symbolic links are \
         shown with their targets and not followed, unless `-L` is given. With `-l` the columns of the long view are \
         before the branches. A file costs a request only if a column, a sort key or a colour needs it.",
    ),
    Definition::long(
        "tree-limit",
        Flag::TreeLimit,
        "with --tree, show at most N entries of each directory, and the number of the others",
    )
    .value("N", |value| Ok(parse_limit(value).map(drop)?)),
    Definition {
        arity: Arity::Optional,
        ..Definition::long(
            "total-size",
            Flag::TotalSize,
            "show as a directory's size the sum of all below it, as far as found in DURATION (1s by default; 0 sets no \
             limit)",
        )
        .value("DURATION", |value| Ok(parse_budget(value).map(drop)?))
    }
    .more(
        "The long view shows it (`-l` or `--columns=size,name`), and `-S` sorts by it. A file with several links counts \
         once in each directory. Sizes are those of regular files and links; blocks are those of all entries. A `+` after \
         the size means that some of it could not be read, or not in time: the size is at least that. DURATION is for all \
         directories together.",
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
