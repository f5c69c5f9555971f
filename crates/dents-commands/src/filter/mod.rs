//! The filters of all commands decide which entries pass. The tests are in the order of their cost:
//!
//! 1. names and types (`Filter::may_want`), which `readdir` returns: no system call;
//! 2. facts (`Filter::wants`): one `statx` for each entry that passed the first tests, and for no other;
//! 3. whether a directory is empty: it is opened and read.
//!
//! Some filters leave out an entry with everything below it (`Filter::prunes`); such a directory is not entered.

mod args;
pub(crate) mod basic_regex;
mod count;
mod globs;
pub(crate) mod kinds;
mod owner;
mod permissions;
mod since;
mod size;
mod test;
mod viewer;

pub use args::{Args, Depths};

use crate::entry::{Found, Origin};
use dents::gitignore::Rules;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use globs::Globs;
use kinds::Kinds;
use regex::bytes::Regex;
pub(crate) use since::Since;
use std::sync::Arc;
use test::{Cost, Test};
pub(crate) use viewer::Viewer;

/// The filters, compiled.
pub struct Filter<'a> {
    args: &'a Args,
    depths: Depths,
    /// The tests, the cheapest first.
    tests: Vec<Test<'a>>,
    /// The number of tests that cost no system call.
    free: usize,
    exclude: Option<Globs>,
    /// The types that can pass; `None` for all.
    kinds: Option<Kinds>,
}

/// The state that a directory passes to the filters of its entries: the ignore files that apply there, the nearest first.
pub(crate) type IgnoreRules = Option<Arc<Rules>>;

impl<'a> Filter<'a> {
    /// Puts the filters into the order of their costs. `only` has the types that an option of the command selects, and the option.
    pub fn new(args: &'a Args, depths: Depths, only: Option<(Kinds, &'static str)>) -> Filter<'a> {
        let mut tests: Vec<Test<'a>> = Vec::new();
        tests.extend(only.map(|(kinds, option)| Test::Kinds(kinds, option)));
        tests.extend(args.kinds.iter().copied().reduce(Kinds::or).map(|kinds| Test::Kinds(kinds, "--type")));
        if args.empty {
            tests.extend([Test::Kinds(Kinds::CONTAINERS, "--empty"), Test::Empty]);
        }
        let kinds = tests.iter().filter_map(|test| match test {
            Test::Kinds(kinds, _) => Some(*kinds),
            _ => None,
        });
        let kinds = kinds.reduce(Kinds::and);
        tests.extend(args.inum.map(Test::Inum));
        tests.extend(Globs::new(&args.include).map(Test::Include));
        tests.extend(args.grep.iter().map(Test::Grep));
        tests.extend(args.size.iter().copied().map(Test::Size));
        tests.extend(args.newer.iter().map(|time| Test::Newer(*time, args.time())));
        tests.extend(args.older.iter().map(|time| Test::Older(*time, args.time())));
        tests.extend(args.changed_since.as_ref().map(|since| Test::Changed(since.time)));
        tests.extend(args.user.map(Test::User));
        tests.extend(args.group.map(Test::Group));
        tests.extend(args.perm.iter().copied().map(Test::Permissions));
        tests.extend(args.links.iter().copied().map(Test::Links));
        tests.sort_by_key(Test::cost);
        let free = tests.iter().filter(|test| test.cost() == Cost::Free).count();
        Filter { args, depths, tests, free, exclude: Globs::new(&args.exclude), kinds }
    }

    /// Only names in which an expression is found.
    pub(crate) fn with_name(mut self, expression: &'a Regex) -> Filter<'a> {
        self.tests.insert(0, Test::Name(expression));
        self.free += 1;
        self
    }

    /// The needs of the filters, and those of the command for the entries that pass.
    pub(crate) fn needs(&self, command: NeedsByKind, follow: bool) -> NeedsByKind {
        let facts = |kind| self.tests.iter().fold(Needs::empty(), |all, test| all | test.needs(kind));
        // -d and -f alone only need to tell directories from other entries, which takes fewer `statx` than all types.
        let tells_types = self.tests.iter().any(|test| matches!(test, Test::Kinds(_, "--type" | "--empty")));
        let asks = tells_types || follow || self.tests.len() > self.free || !command.any().is_empty();
        let kinds = match self.kinds.filter(|_| asks) {
            Some(kinds) => kinds,
            None if self.kinds.is_some() => return NeedsByKind::default(),
            None => Kinds::ALL,
        };
        let mut needs = match kinds == Kinds::ALL {
            true => command,
            false => NeedsByKind::all(Needs::TYPE),
        };
        for kind in Kind::KNOWN.into_iter().filter(|kind| kinds.has(*kind)) {
            let of = command.get(kind) | facts(kind);
            if !of.is_empty() {
                needs |= NeedsByKind::of(kind, of);
            }
        }
        if follow && kinds != Kinds::ALL {
            // The target of a link has another type, which only `statx` returns.
            let any = Kind::KNOWN.into_iter().fold(Needs::TYPE, |all, kind| all | needs.get(kind));
            needs |= NeedsByKind::of(Kind::Link, any);
        }
        needs
    }

    /// Whether all entries of a directory pass, by the depth of these entries.
    pub(crate) fn wants_all(&self, depth: u32) -> bool {
        self.tests.is_empty() && !self.can_prune() && depth >= self.depths.min_depth
    }

    /// Whether no entry of a directory can pass.
    pub(crate) fn wants_none(&self, depth: u32) -> bool {
        depth < self.depths.min_depth || depth > self.depths.max_depth
    }

    /// Whether a test may leave out a directory that the walk enters.
    pub(crate) fn has_tests(&self) -> bool {
        !self.tests.is_empty() || self.depths.min_depth > 0
    }

    /// Whether names and types may leave an entry out.
    pub(crate) fn selects(&self) -> bool {
        self.free > 0 || self.can_prune() || self.args.inum.is_some()
    }

    /// Whether an entry passes the tests of its name and of the type that `readdir` returned; with `follow` a link may have any type.
    /// `scratch` is overwritten.
    pub(crate) fn may_want(
        &self,
        found: &Found<'_>,
        rules: &IgnoreRules,
        follow: bool,
        scratch: &mut Vec<u8>,
    ) -> bool {
        let any_type = match found.origin {
            Origin::Live(..) => found.kind == Kind::Unknown || (follow && found.kind == Kind::Link),
            Origin::Row(_) => false,
        };
        self.tests.iter().all(|test| test.may_pass(found, any_type, scratch))
            && !self.prunes(found, rules, scratch)
    }

    /// Whether an entry that [passed the first tests](Filter::may_want) passes all tests. `is_empty` returns whether a directory is
    /// empty; it is called last.
    pub(crate) fn wants(
        &self,
        found: &Found<'_>,
        rules: &IgnoreRules,
        is_empty: impl FnOnce(&Found<'_>) -> bool,
        scratch: &mut Vec<u8>,
    ) -> bool {
        if self.tests.is_empty() && !self.args.gitignore {
            return true;
        }
        let facts = if self.tests.len() > self.free { found.facts() } else { None };
        self.tests.iter().all(|test| test.passes(found, facts.as_ref()))
            && !self.is_pruned_by_its_type(found, rules, scratch)
            && (!self.args.empty || found.kind != Kind::Dir || is_empty(found))
    }

    /// Some rules of ignore files apply to directories only, and the type of an entry may not be known earlier than here.
    fn is_pruned_by_its_type(&self, found: &Found<'_>, rules: &IgnoreRules, scratch: &mut Vec<u8>) -> bool {
        match found.origin {
            Origin::Live(_, entry) => {
                self.args.gitignore && entry.kind() != entry.d_kind() && self.prunes(found, rules, scratch)
            }
            Origin::Row(_) => false,
        }
    }

    /// Whether an entry is left out with everything below it. A PATH never is.
    pub(crate) fn prunes(&self, found: &Found<'_>, rules: &IgnoreRules, scratch: &mut Vec<u8>) -> bool {
        if found.depth == 0 {
            return false;
        }
        if self.args.no_hidden && found.name.starts_with(b".") {
            return true;
        }
        if let Some(exclude) = &self.exclude {
            if exclude.match_name(found.name) {
                return true;
            }
            if exclude.have_paths() {
                found.path(scratch);
                if exclude.match_path(scratch, found.below(scratch)) {
                    return true;
                }
            }
        }
        self.args.gitignore
            && (found.name == b".git"
                || rules.as_ref().is_some_and(|rules| {
                    let mut path = Vec::new();
                    found.path(&mut path);
                    rules.ignores(&path, found.kind == Kind::Dir, scratch)
                }))
    }

    /// Whether directories must be tested before they are entered.
    pub(crate) fn can_prune(&self) -> bool {
        self.exclude.is_some() || self.args.gitignore || self.args.no_hidden
    }

    /// The scan after whose start an entry must have changed.
    pub(crate) fn since(&self) -> Option<&'a Since> {
        self.args.changed_since.as_ref()
    }

    /// The user of `--visible-to`.
    pub(crate) fn viewer(&self) -> Option<&'a Viewer> {
        self.args.visible_to.as_ref()
    }

    /// Whether ignore files must be read.
    pub(crate) fn reads_ignore_files(&self) -> bool {
        self.args.gitignore
    }

    /// Whether hidden names are left out, which the walk does itself.
    pub(crate) fn hides(&self) -> bool {
        self.args.no_hidden
    }

    /// Whether a test reads the [`Extra`](dents_core::batch::Extra) column.
    pub(crate) fn reads_extra(&self) -> bool {
        self.tests.iter().any(|test| test.needs(Kind::Reg).intersects(Needs::TIMES))
    }

    /// The facts that the tests read, for all types of entries together.
    pub(crate) fn facts(&self) -> Needs {
        let of = |kind| self.tests.iter().map(move |test| test.needs(kind));
        Kind::KNOWN.into_iter().flat_map(of).fold(Needs::empty(), |all, one| all | one)
    }

    /// Whether names or paths are tested.
    pub(crate) fn reads_names(&self) -> bool {
        let tests_names =
            |test: &Test<'_>| matches!(test, Test::Include(_) | Test::Grep(_) | Test::Name(_) | Test::Empty);
        self.can_prune() || self.tests.iter().any(tests_names)
    }

    /// Whether the user asks for empty directories.
    pub(crate) fn seeks_empty(&self) -> bool {
        self.args.empty
    }

    /// Entries below this depth are not read.
    pub(crate) fn max_depth(&self) -> u32 {
        self.depths.max_depth
    }

    /// The order of the tests, with a line for each cost: the tests, and the cost.
    pub(crate) fn explain(&self) -> Vec<String> {
        let mut prunes = Vec::new();
        for (given, option) in [
            (self.exclude.is_some(), "--exclude"),
            (self.args.gitignore, "--gitignore"),
            (self.args.no_hidden, "--no-hidden"),
        ] {
            prunes.extend(given.then_some(option));
        }
        let of = |cost| self.tests.iter().filter(move |test| test.cost() == cost).map(Test::option);
        let facts = self.facts() - Needs::TYPE;
        let facts = facts.iter_names().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
        let shuts = Vec::from_iter(self.viewer().map(|_| "--visible-to"));
        let lines = [
            (
                shuts,
                "directories: a statx and a listxattr of each, and what is shut is not entered".to_owned(),
            ),
            (prunes, "names: no system call, and what they leave out is not entered".to_owned()),
            (
                of(Cost::Free).collect(),
                "names and types: no system call where readdir gives types".to_owned(),
            ),
            (of(Cost::Statx).collect(), format!("one statx ({facts}) of each entry that passed these tests")),
            (of(Cost::Open).collect(), "a directory that passed these tests is opened and read".to_owned()),
        ];
        let lines = lines.into_iter().filter(|(options, _)| !options.is_empty()).enumerate();
        lines
            .map(|(nth, (mut options, cost))| {
                options.dedup();
                format!("test {}: {}: {cost}", nth + 1, options.join(", "))
            })
            .collect()
    }
}
