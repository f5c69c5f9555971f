//! The walk of `dents stats`.

use super::hardlinks::Links;
use super::sums::Sums;
use super::{Args, Gathered, Key, Now};
use crate::entry::AnyEntry;
use crate::overlap::Overlap;
use crate::report::Diagnostics;
use dents_core::batch::{Batch, Entry};
use dents_core::mounts::Mounts;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::{End, Failure, Outcome, Place, Step, Visitor};

/// The needs of a key, beside those of all keys.
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

pub(super) fn walk(args: &Args, now: Now, diagnostics: &Diagnostics) -> (Gathered, End) {
    let needs = needs(&args.by);
    let mut options = args.walk.options(NeedsByKind::all(needs));
    options.extra = true;
    let overlap = Overlap::new(&args.walk.paths(), options.follow);
    let links = Links::new(&args.by, Mounts::default().overlap());
    let make = |_| Summer {
        sums: Sums::new(&args.by, now),
        needs,
        diagnostics,
        overlap: &overlap,
        links: &links,
        again: Vec::new(),
    };
    let Outcome { visitors, end, .. } = args.walk.walk(&options, make);
    let mut sums = Sums::new(&args.by, now);
    visitors.into_iter().for_each(|one| sums.merge(one.sums));
    ((sums, links), end)
}

struct Summer<'t> {
    sums: Sums,
    needs: Needs,
    diagnostics: &'t Diagnostics,
    overlap: &'t Overlap,
    links: &'t Links,
    /// Directories in the last batch that were counted before.
    again: Vec<usize>,
}

impl Summer<'_> {
    fn see(&mut self, place: &Place<'_>, entry: &Entry<'_>) {
        let seen = AnyEntry::live(place, entry, self.needs);
        let Some(facts) = seen.facts else { return };
        if seen.kind == Kind::Dir && !self.overlap.is_new(facts.inode) {
            return self.again.push(entry.index());
        }
        self.sums.see(&seen, self.overlap.names(facts.inode, facts.nlink), self.links);
    }
}

impl Visitor for Summer<'_> {
    type State = ();

    fn entries(&mut self, place: &Place<'_>, batch: &Batch, (): &()) -> Step {
        self.diagnostics.saw(place, batch);
        self.again.clear();
        batch.iter().for_each(|entry| self.see(place, &entry));
        Step::Enter
    }

    fn descend(&mut self, _: &Place<'_>, entry: &Entry<'_>, (): &()) -> Step {
        // The entries come in the order of their indices.
        if self.again.binary_search(&entry.index()).is_ok() { Step::Skip } else { Step::Enter }
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.diagnostics.failed(failure);
        Step::Enter
    }
}
