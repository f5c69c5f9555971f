//! The entries of a tree.

use super::sums::Sums;
use super::{Args, Key, Now};
use crate::report::Meanwhile;
use crate::seen::Seen;
use dents::batch::Batch;
use dents::needs::{Needs, NeedsByKind};
use dents::tree::{End, Failure, Follow, Place, Step, Visitor};

/// What must be known for a key, beside what tells files with several links.
fn needs_of(key: Key) -> Needs {
    match key {
        Key::User => Needs::UID,
        Key::Group => Needs::GID,
        Key::Age => Needs::MTIME,
        Key::Extension | Key::Size | Key::Depth => Needs::empty(),
    }
}

fn needs(keys: &[Key]) -> Needs {
    let all = Needs::TYPE | Needs::INODE | Needs::NLINK | Needs::SIZE | Needs::BLOCKS;
    keys.iter().fold(all, |all, key| all | needs_of(*key))
}

pub(super) fn walk(args: &Args, now: Now, meanwhile: &Meanwhile) -> (Sums, End) {
    let needs = needs(&args.by);
    let mut options = args.walk.options(NeedsByKind::all(needs));
    options.extra = true;
    let follows = options.follow == Follow::Always;
    let make = |_| Summer { sums: Sums::new(&args.by, now, follows), needs, meanwhile };
    let outcome = args.walk.walk(&options, make);
    let mut sums = Sums::new(&args.by, now, follows);
    outcome.visitors.into_iter().for_each(|one| sums.merge(one.sums));
    (sums, outcome.end)
}

struct Summer<'t> {
    sums: Sums,
    needs: Needs,
    meanwhile: &'t Meanwhile,
}

impl Visitor for Summer<'_> {
    type State = ();

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        self.meanwhile.saw(place, batch);
        batch.iter().for_each(|entry| self.sums.see(&Seen::live(place, &entry, self.needs)));
        Step::Enter
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.meanwhile.failed(failure);
        Step::Enter
    }
}
