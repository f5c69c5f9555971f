//! `--visible-to`: what a user could find by himself.
//!
//! To see an entry, a user must read the directory that holds it, and search that directory and all above it. So nothing is tested but
//! directories, and below one that the user may not both read and search everything is left out. Of an ACL only its presence is known: it may
//! allow more than the mode, or less. So a directory with one is open to its owner alone, whose permissions no ACL changes.

use super::owner;
use dents_core::facts::{Columns, Facts};
use dents_core::needs::{Kind, Needs, NeedsByKind};
use std::process::Command;

/// Read and search.
const OPEN: u16 = 0o5;

/// A user, with his groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Viewer {
    uid: u32,
    gids: Vec<u32>,
}

impl Viewer {
    /// The columns of a scan file that decide.
    pub(crate) const COLUMNS: Columns =
        Columns::PATH.union(Columns::MODE).union(Columns::UID).union(Columns::GID).union(Columns::ACL);

    /// What a walk must know: of directories alone, and of links that it may enter.
    pub(crate) fn needs(follow: bool) -> NeedsByKind {
        let needs = Needs::MODE | Needs::UID | Needs::GID | Needs::MARK;
        let of_links = if follow { NeedsByKind::of(Kind::Link, needs) } else { NeedsByKind::default() };
        NeedsByKind::of(Kind::Dir, needs) | of_links
    }

    /// `USER`, or `USER:GROUP,GROUP`, by name or number.
    pub(super) fn parse(text: &str) -> Result<Viewer, String> {
        let (user, groups) = text.split_once(':').map_or((text, None), |(user, groups)| (user, Some(groups)));
        let uid = owner::user(user)?;
        let gids = match groups {
            Some(groups) => {
                groups.split(',').filter(|name| !name.is_empty()).map(owner::group).collect::<Result<_, _>>()
            }
            None if uid == 0 => Ok(Vec::new()),
            None => groups_of(user),
        };
        Ok(Viewer { uid, gids: gids? })
    }

    /// Whether the user sees the entries of a directory with these facts, if he sees the directory.
    pub(crate) fn opens(&self, facts: &Facts<'_>, has_acl: bool) -> bool {
        if self.uid == 0 {
            return true;
        }
        if facts.lacks(Needs::MODE | Needs::UID | Needs::GID) {
            return false;
        }
        let shift = match () {
            () if facts.uid == self.uid => 6,
            () if has_acl => return false,
            () if self.gids.contains(&facts.gid) => 3,
            () => 0,
        };
        (facts.mode >> shift) & OPEN == OPEN
    }
}

/// The groups of a user, those of the directory services of the site among them: one child process.
fn groups_of(user: &str) -> Result<Vec<u32>, String> {
    let found =
        Command::new("id").args(["-G", "--", user]).output().ok().filter(|output| output.status.success());
    let words = found.and_then(|output| String::from_utf8(output.stdout).ok());
    let gids = words.and_then(|words| words.split_whitespace().map(|word| word.parse().ok()).collect());
    gids.ok_or_else(|| {
        format!("the groups of {user:?} are not known here: name them, as in {user}:GROUP,GROUP")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(mode: u16, uid: u32, gid: u32) -> Facts<'static> {
        Facts { mode: 0o040_000 | mode, uid, gid, ..Facts::default() }
    }

    #[test]
    fn users_with_their_groups() {
        assert_eq!(Viewer::parse("7:8,root"), Ok(Viewer { uid: 7, gids: vec![8, 0] }));
        assert_eq!(Viewer::parse("7:"), Ok(Viewer { uid: 7, gids: vec![] }));
        assert_eq!(Viewer::parse("root"), Ok(Viewer { uid: 0, gids: vec![] }));
        let unknown = Viewer::parse("3999999999").unwrap_err();
        assert!(unknown.contains("name them, as in 3999999999:GROUP,GROUP"), "{unknown}");
        assert!(
            Viewer::parse("no-such-user-here:1").is_err() && Viewer::parse("7:no-such-group-here").is_err()
        );
    }

    /// As the kernel has it, the first class that fits decides.
    #[test]
    fn the_class_of_the_user_decides() {
        let one = Viewer { uid: 7, gids: vec![8] };
        for (mode, uid, gid, opens) in [
            (0o700, 7, 9, true),
            (0o077, 7, 8, false),
            (0o050, 1, 8, true),
            (0o705, 1, 8, false),
            (0o005, 1, 9, true),
            (0o770, 1, 9, false),
            (0o004, 1, 9, false),
            (0o001, 1, 9, false),
        ] {
            assert_eq!(one.opens(&facts(mode, uid, gid), false), opens, "{mode:o} {uid} {gid}");
        }
        assert!(one.opens(&facts(0o700, 7, 9), true), "no ACL takes from the owner");
        assert!(!one.opens(&facts(0o777, 1, 8), true));
        assert!(Viewer { uid: 0, gids: vec![] }.opens(&facts(0, 1, 1), true));
        let unknown = facts(0o777, 1, 1).without(Columns::MODE, Kind::Dir);
        assert!(!one.opens(&unknown, false), "what is not known is not shown");
    }
}
