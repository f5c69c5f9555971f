//! Which entries are wanted. The tests come in the order of what they cost:
//!
//! 1. names and types ([`Filter::may_want`]), which `readdir` told: no system call;
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

/// What was said about the entries that are wanted.
#[derive(clap::Args)]
#[command(next_help_heading = "Which entries")]
#[group(skip)]
pub(crate) struct Args {
    /// Only directories
    #[arg(short = 'd', long, conflicts_with = "files")]
    directories: bool,
    /// Only what is no directory
    #[arg(short = 'f', long)]
    files: bool,
    /// Only these types: f d l p s c b, as find has them
    #[arg(short = 't', long = "type", value_name = "TYPES", value_parser = Kinds::parse)]
    kinds: Vec<Kinds>,
    /// Only paths that match a regular expression (of the regex crate)
    #[arg(short = 'g', long, value_name = "RE")]
    grep: Vec<Regex>,
    /// Only names, with a slash paths below PATH, that match a glob
    #[arg(long, value_name = "GLOB", value_parser = globs::One::parse)]
    include: Vec<globs::One>,
    /// Nothing that matches a glob, nor what is below it
    #[arg(long, value_name = "GLOB", value_parser = globs::One::parse)]
    exclude: Vec<globs::One>,
    /// Nothing that .gitignore and .ignore files keep out, nor .git
    #[arg(long)]
    gitignore: bool,
    /// Nothing whose name begins with a dot, nor what is below it
    #[arg(long)]
    no_hidden: bool,
    /// Only sizes of more (+), less (-) or so many units begun: c bytes, w, b 512 bytes, K, M, G, T, P (powers of 1024), KB, MB,
    /// … (of 1000); a fraction as in 1.5M counts in bytes
    #[arg(long, value_name = "[+-]N[UNIT]", value_parser = Size::parse, allow_hyphen_values = true)]
    size: Vec<Size>,
    /// Only what changed after a FILE did, or after a time: 2026-01-31, 2026-01-31T12:00, @SECONDS, or 7d, 2w, 1y before the start
    #[arg(long, value_name = "FILE|TIME", value_parser = point_in_time())]
    newer: Vec<Time>,
    /// Only what last changed before a FILE did, or before a time, said as for --newer
    #[arg(long, value_name = "FILE|TIME", value_parser = point_in_time())]
    older: Vec<Time>,
    /// Only what belongs to this user
    #[arg(long, value_name = "NAME|UID", value_parser = owner::user)]
    user: Option<u32>,
    /// Only what belongs to this group
    #[arg(long, value_name = "NAME|GID", value_parser = owner::group)]
    group: Option<u32>,
    /// Nothing less than N levels below PATH, which is at 0
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    min_depth: u32,
    /// Nothing more than N levels below PATH
    #[arg(long, value_name = "N", default_value_t = u32::MAX, hide_default_value = true)]
    pub(crate) max_depth: u32,
}

fn point_in_time() -> impl TypedValueParser<Value = Time> {
    OsStringValueParser::new().try_map(|word| time::point(&word))
}

/// The same, made ready.
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
    /// An error is a set of globs that is too large.
    pub(crate) fn new(args: &'a Args) -> Result<Self, String> {
        let kinds = args.kinds.iter().copied().reduce(Kinds::or);
        let (include, exclude) = (Globs::new(&args.include)?, Globs::new(&args.exclude)?);
        let has_names = include.is_some() || exclude.is_some() || args.gitignore || !args.grep.is_empty();
        let has_types = kinds.is_some() || args.directories || args.files;
        Ok(Filter { args, kinds, include, exclude, has_types, has_names })
    }

    /// What must be known: what the filters read, and what the output reads of those that pass.
    pub(crate) fn needs(&self, output: Needs, follow: bool) -> NeedsByKind {
        let facts = self.args.facts() | output;
        let Some(kinds) = self.types().filter(|_| self.kinds.is_some() || follow || !facts.is_empty()) else {
            // For -d and -f alone directories are told from the rest, and by fewer questions than types take.
            return NeedsByKind::all(facts);
        };
        let mut needs = kinds.needs(facts);
        if follow {
            // What a link leads to has another type, of which only its inode tells.
            needs |= NeedsByKind::of(Kind::Link, facts | Needs::TYPE);
        }
        needs
    }

    /// The types that can be wanted, if not all.
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

    /// Whether all entries of a directory are wanted, whatever they are.
    pub(crate) fn wants_all(&self, place: &Place<'_>) -> bool {
        !self.selects() && self.args.facts().is_empty() && place.depth >= self.args.min_depth
    }

    /// Whether no entry of a directory can be wanted.
    pub(crate) fn wants_none(&self, place: &Place<'_>) -> bool {
        place.depth < self.args.min_depth
    }

    /// Whether names and types may keep an entry out.
    pub(crate) fn selects(&self) -> bool {
        self.has_types || self.has_names
    }

    /// Whether an entry is wanted as far as its name and the type that `readdir` told decide that; with `follow` a link may turn
    /// out to be of any type. `scratch` is overwritten.
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

    /// Whether an entry that [may be wanted](Filter::may_want) is wanted.
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

    /// Whether an entry is kept out with all that is below it. PATHs never are.
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
    pub(crate) fn minds_ignore_files(&self) -> bool {
        self.args.gitignore
    }

    /// Whether hidden names are kept out, which the walk does itself.
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
