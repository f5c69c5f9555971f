//! The filters of `dents scan`. The tests come in the order of their cost:
//!
//! 1. names and types ([`Filter::may_want`]), which `readdir` gives: no system call;
//! 2. facts ([`Filter::wants`]): one `statx`, of the entries that passed the first tests and of no other.

pub(crate) mod globs;
pub(crate) mod kinds;
mod owner;
mod size;

use super::origin::Origin;
use crate::time;
use clap::builder::{OsStringValueParser, TypedValueParser};
use dents_core::batch::{Entry, Time};
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::Place;
use globs::Globs;
use kinds::Kinds;
use regex::bytes::Regex;
use size::Size;

/// The options of the filters.
#[derive(clap::Args)]
#[command(next_help_heading = "Which entries")]
#[group(skip)]
pub(crate) struct Args {
    /// Show only directories
    #[arg(short = 'd', long, conflicts_with = "files")]
    directories: bool,
    /// Show only entries that are not directories
    #[arg(short = 'f', long)]
    files: bool,
    /// Show only these types: f d l p s c b, as in find
    #[arg(short = 't', long = "type", value_name = "TYPES", value_parser = Kinds::parse)]
    kinds: Vec<Kinds>,
    /// Show only paths that match a regular expression (of the regex crate)
    #[arg(short = 'g', long, value_name = "RE")]
    grep: Vec<Regex>,
    /// Show only names that match a glob; a glob with a slash matches paths below PATH
    #[arg(long, value_name = "GLOB", value_parser = globs::One::parse)]
    include: Vec<globs::One>,
    /// Leave out entries that match a glob, and everything below them
    #[arg(long, value_name = "GLOB", value_parser = globs::One::parse)]
    exclude: Vec<globs::One>,
    /// Leave out what .gitignore and .ignore files exclude, and .git
    #[arg(long)]
    gitignore: bool,
    /// Leave out names that begin with a dot, and everything below them
    #[arg(long)]
    no_hidden: bool,
    /// Show only sizes of more than (+), less than (-) or exactly N units, rounded up to whole units: c bytes, w 2 bytes, b 512 bytes,
    /// K, M, G, T, P (powers of 1024), KB, MB, … (powers of 1000); a fraction, as in 1.5M, is not rounded
    #[arg(long, value_name = "[+-]N[UNIT]", value_parser = Size::parse, allow_hyphen_values = true)]
    size: Vec<Size>,
    /// Show only entries that were modified after FILE was, or after a time: 2026-01-31, 2026-01-31T12:00, @SECONDS, or a duration
    /// before the start: 7d, 2w, 1y
    #[arg(long, value_name = "FILE|TIME", value_parser = point_in_time())]
    newer: Vec<Time>,
    /// Show only entries that were last modified before FILE was, or before a time, written as for --newer
    #[arg(long, value_name = "FILE|TIME", value_parser = point_in_time())]
    older: Vec<Time>,
    /// Show only entries of this user
    #[arg(long, value_name = "NAME|UID", value_parser = owner::user)]
    user: Option<u32>,
    /// Show only entries of this group
    #[arg(long, value_name = "NAME|GID", value_parser = owner::group)]
    group: Option<u32>,
    /// Leave out entries less than N levels below PATH, which has level 0
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    min_depth: u32,
    /// Leave out entries more than N levels below PATH
    #[arg(long, value_name = "N", default_value_t = u32::MAX, hide_default_value = true)]
    pub(crate) max_depth: u32,
}

fn point_in_time() -> impl TypedValueParser<Value = Time> {
    OsStringValueParser::new().try_map(|word| time::point(&word))
}

/// The filters, compiled.
pub(crate) struct Filter<'a> {
    args: &'a Args,
    kinds: Option<Kinds>,
    include: Option<Globs>,
    exclude: Option<Globs>,
    /// Whether there is a test of types, or of names.
    has_types: bool,
    has_names: bool,
}

impl<'a> Filter<'a> {
    /// # Errors
    /// If the globs are too many for one automaton.
    pub(crate) fn new(args: &'a Args) -> Result<Self, String> {
        let kinds = args.kinds.iter().copied().reduce(Kinds::or);
        let (include, exclude) = (Globs::new(&args.include)?, Globs::new(&args.exclude)?);
        let has_names = include.is_some() || exclude.is_some() || args.gitignore || !args.grep.is_empty();
        let has_types = kinds.is_some() || args.directories || args.files;
        Ok(Filter { args, kinds, include, exclude, has_types, has_names })
    }

    /// The needs of the filters, and those of the output for the entries that pass.
    pub(crate) fn needs(&self, output: Needs, follow: bool) -> NeedsByKind {
        let facts = self.args.facts() | output;
        let Some(kinds) = self.types().filter(|_| self.kinds.is_some() || follow || !facts.is_empty()) else {
            // -d and -f alone only need to tell directories from other entries, which takes fewer `statx` than all types.
            return NeedsByKind::all(facts);
        };
        let mut needs = kinds.needs(facts);
        if follow {
            // The file that a link leads to has another type, which only `statx` tells.
            needs |= NeedsByKind::of(Kind::Link, facts | Needs::TYPE);
        }
        needs
    }

    /// The types that can pass, if not all.
    fn types(&self) -> Option<Kinds> {
        let plain = match (self.args.directories, self.args.files) {
            (true, _) => Some(Kinds::DIRECTORIES),
            (_, true) => Some(Kinds::OTHERS),
            _ => None,
        };
        match (self.kinds, plain) {
            (Some(kinds), Some(plain)) => Some(kinds.and(plain)),
            (kinds, plain) => kinds.or(plain),
        }
    }

    /// Whether all entries of a directory pass.
    pub(crate) fn wants_all(&self, place: &Place<'_>) -> bool {
        !self.selects() && self.args.facts().is_empty() && place.depth >= self.args.min_depth
    }

    /// Whether no entry of a directory can pass.
    pub(crate) fn wants_none(&self, place: &Place<'_>) -> bool {
        place.depth < self.args.min_depth
    }

    /// Whether names and types may leave an entry out.
    pub(crate) fn selects(&self) -> bool {
        self.has_types || self.has_names
    }

    /// Whether an entry passes the tests of its name and of the type that `readdir` gave; with `follow` a link may have any type.
    /// `scratch` is overwritten.
    pub(crate) fn may_want(
        &self,
        place: &Place<'_>,
        origin: &Origin,
        entry: &Entry<'_>,
        follow: bool,
        scratch: &mut Vec<u8>,
    ) -> bool {
        let is_open = entry.kind() == Kind::Unknown || (follow && entry.kind() == Kind::Link);
        (is_open || self.type_fits(entry.kind()))
            && (!self.has_names || self.name_fits(place, origin, entry, scratch))
    }

    /// Whether an entry that [passed the first tests](Filter::may_want) passes them all.
    pub(crate) fn wants(
        &self,
        place: &Place<'_>,
        origin: &Origin,
        entry: &Entry<'_>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        self.type_fits(entry.kind())
            && self.args.facts_fit(entry)
            // A rule of an ignore file may be about directories alone, and now it is known whether the entry is one.
            && (entry.kind() == entry.d_kind() || !self.args.gitignore || !self.prunes(place, origin, entry, scratch))
    }

    fn type_fits(&self, kind: Kind) -> bool {
        let args = self.args;
        self.kinds.is_none_or(|kinds| kinds.has(kind))
            && (!args.directories || kind == Kind::Dir)
            && (!args.files || kind != Kind::Dir)
    }

    fn name_fits(
        &self,
        place: &Place<'_>,
        origin: &Origin,
        entry: &Entry<'_>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        if let Some(include) = &self.include
            && !include.match_name(entry.name())
        {
            place.join(entry.name(), scratch);
            if !include.match_path(origin.below(scratch)) {
                return false;
            }
        }
        if !self.args.grep.is_empty() {
            place.join(entry.name(), scratch);
            if !self.args.grep.iter().all(|pattern| pattern.is_match(scratch)) {
                return false;
            }
        }
        !self.prunes(place, origin, entry, scratch)
    }

    /// Whether an entry is left out with everything below it. A PATH never is.
    pub(crate) fn prunes(
        &self,
        place: &Place<'_>,
        origin: &Origin,
        entry: &Entry<'_>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        if place.depth == 0 {
            return false;
        }
        if let Some(exclude) = &self.exclude {
            if exclude.match_name(entry.name()) {
                return true;
            }
            place.join(entry.name(), scratch);
            if exclude.match_path(origin.below(scratch)) {
                return true;
            }
        }
        if !self.args.gitignore {
            return false;
        }
        entry.name() == b".git"
            || origin.rules.as_ref().is_some_and(|rules| {
                let mut path = Vec::new();
                place.join(entry.name(), &mut path);
                rules.ignores(&path, entry.kind() == Kind::Dir, scratch)
            })
    }

    /// Whether directories must be looked at before they are entered.
    pub(crate) fn can_prune(&self) -> bool {
        self.exclude.is_some() || self.args.gitignore
    }

    /// Whether ignore files must be read.
    pub(crate) fn reads_ignore_files(&self) -> bool {
        self.args.gitignore
    }

    /// Whether hidden names are left out, which the walk does itself.
    pub(crate) fn hides(&self) -> bool {
        self.args.no_hidden
    }
}

impl Args {
    fn facts(&self) -> Needs {
        let mut needs = Needs::empty();
        needs.set(Needs::SIZE, !self.size.is_empty());
        needs.set(Needs::MTIME, !self.newer.is_empty() || !self.older.is_empty());
        needs.set(Needs::UID, self.user.is_some());
        needs.set(Needs::GID, self.group.is_some());
        needs
    }

    fn facts_fit(&self, entry: &Entry<'_>) -> bool {
        if self.facts().is_empty() {
            return true;
        }
        let time = entry.extra().map(|extra| extra.mtime).unwrap_or_default();
        entry.is_known()
            && self.size.iter().all(|size| size.fits(entry.size()))
            && self.newer.iter().all(|newer| time > *newer)
            && self.older.iter().all(|older| time < *older)
            && self.user.is_none_or(|uid| entry.uid() == uid)
            && self.group.is_none_or(|gid| entry.gid() == gid)
    }
}
