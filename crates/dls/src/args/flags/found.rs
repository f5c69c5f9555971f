//! What is found out beside what the kernel says of an entry: its state in git, what is below it. GNU has none of it.

use super::super::numbers::parse_git_budget;
use super::{Definition, Flag};

/// The group of [`super::Group::Found`].
pub(super) const FLAGS: &[Definition] = &[
    Definition::long(
        "git",
        Flag::Git,
        "with -l, show what git says of each file: staged, and in the work tree; wait for it at most DURATION \
         (500ms, 2s) from its start, 200ms by default",
    )
    .more(
        "One letter for what differs between the last commit and the index, one for what differs between the index \
         and the file: `-` nothing, `M` modified, `N` new or untracked, `D` deleted, `R` renamed, `T` another type, \
         `I` ignored, `U` unmerged. A directory shows the gravest of what is below it. What is in no repository \
         shows `-`.\n\nThat is the answer of one `git status` for each repository, which runs while the directory is \
         read. If it is late, the column shows `…`, the listing goes on without it, and git is killed. The \
         environment's `DLS_GIT_BUDGET` is the DURATION where none is given; 0 waits as long as it takes. Git is \
         run with all that the repository's own configuration asks for: see docs/GIT.md.",
    )
    .optional("DURATION", |value| Ok(parse_git_budget(value).map(drop)?)),
    Definition::long("gitignore", Flag::Gitignore, "leave out what git ignores, and .git").more(
        "What is named on the command line is listed in any case, and so is what is in an ignored directory that is \
         named. Git is waited for 5 seconds, unless `--git=DURATION` or `DLS_GIT_BUDGET` says otherwise; if it does \
         not answer, all is listed, and one line on standard error says so.",
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
            "ls: invalid time for git: 'soon' (must be a number of seconds, or end in ms, s, m or h)"
        );
    }

    #[test]
    fn gitignore() {
        plain(Flag::Gitignore, &[c"--gitignore", c"--giti"]);
        assert_eq!(complaint(&[c"--gitignore=1"]), "ls: option '--gitignore' doesn't allow an argument");
    }
}
