//! The options of the filters, which all commands have.

use super::count::Count;
use super::globs;
use super::kinds::{self, Kinds};
use super::owner;
use super::permissions::Permissions;
use super::since::Since;
use super::size::Size;
use crate::time;
use crate::words::offered;
use clap::ValueHint;
use clap::builder::{OsStringValueParser, TypedValueParser};
use dents_core::batch::Time;
use dents_core::needs::Needs;
use regex::bytes::Regex;

/// The options.
#[derive(clap::Args)]
#[command(next_help_heading = "Which entries")]
#[group(skip)]
pub struct Args {
    /// Only these types: f d l p s c b, as in find
    #[arg(short = 't', long = "type", value_name = "TYPES", value_parser = offered(Kinds::parse, kinds::words()), hide_possible_values = true)]
    pub(super) kinds: Vec<Kinds>,
    /// Only paths that match a regular expression (of the regex crate)
    #[arg(short = 'g', long, value_name = "RE")]
    pub(super) grep: Vec<Regex>,
    /// Only names that match a glob, as in find -name, or one of several: *.{c,h}; a glob with a slash matches paths below PATH,
    /// where **/ is any number of directories
    #[arg(long, value_name = "GLOB", value_parser = OsStringValueParser::new().try_map(globs::One::parse))]
    pub(super) include: Vec<globs::One>,
    /// Leave out entries that match a glob, and everything below them
    #[arg(long, value_name = "GLOB", value_parser = OsStringValueParser::new().try_map(globs::One::parse))]
    pub(super) exclude: Vec<globs::One>,
    /// Leave out what .gitignore and .ignore files exclude, and .git
    #[arg(long)]
    pub(super) gitignore: bool,
    /// Leave out names that begin with a dot, and everything below them
    #[arg(long)]
    pub(super) no_hidden: bool,
    /// Only sizes of more than (+), less than (-) or exactly N units, rounded up to whole units: c bytes, w 2 bytes, b 512 bytes,
    /// K, M, G, T, P (powers of 1024), KB, MB, … (powers of 1000); a fraction, as in 1.5M, is not rounded
    #[arg(long, value_name = "[+-]N[UNIT]", value_parser = Size::parse, allow_hyphen_values = true)]
    pub(super) size: Vec<Size>,
    /// Only entries that were modified after FILE was, or after a time: 2026-01-31, 2026-01-31T12:00, @SECONDS, what date or stat
    /// print, or a duration before the start: 7d, 2w, 1y
    #[arg(long, value_name = "FILE|TIME", value_parser = point_in_time())]
    pub(super) newer: Vec<Time>,
    /// Only entries that were last modified before FILE was, or before a time, written as for --newer
    #[arg(long, value_name = "FILE|TIME", value_parser = point_in_time())]
    pub(super) older: Vec<Time>,
    /// Only entries that are new, or whose contents or metadata have changed, since SCAN began: a file that `dents scan -o` wrote. If
    /// SCAN is of a btrfs subvolume, root finds them without a walk
    #[arg(long, value_name = "SCAN", value_parser = OsStringValueParser::new().try_map(Since::parse))]
    pub(super) changed_since: Option<Since>,
    /// The time that --newer and --older compare
    #[arg(long, value_enum, value_name = "TIME", default_value_t = Which::Mtime)]
    time: Which,
    /// Only entries of this user
    #[arg(long, value_name = "NAME|UID", value_hint = ValueHint::Username, value_parser = owner::user)]
    pub(super) user: Option<u32>,
    /// Only entries of this group
    #[arg(long, value_name = "NAME|GID", value_parser = owner::group)]
    pub(super) group: Option<u32>,
    /// Only entries with exactly these permissions; with all (-) or any (/) of them: 644, -u+w, /222, as in find
    #[arg(long, value_name = "[-/]MODE", value_parser = Permissions::parse, allow_hyphen_values = true)]
    pub(super) perm: Vec<Permissions>,
    /// Only entries with more than (+), less than (-) or exactly N links
    #[arg(long, value_name = "[+-]N", value_parser = Count::parse, allow_hyphen_values = true)]
    pub(super) links: Vec<Count>,
    /// Only the file with this inode number
    #[arg(long, value_name = "N", value_parser = crate::number::whole::<u64>)]
    pub(super) inum: Option<u64>,
    /// Only files of size 0, and directories without entries; reads the directories that pass the other tests
    #[arg(long)]
    pub(super) empty: bool,
}

/// The levels that are shown.
#[derive(clap::Args, Clone, Copy)]
#[command(next_help_heading = "Which entries")]
#[group(skip)]
pub struct Depths {
    /// Leave out entries less than N levels below PATH, which has level 0
    #[arg(long, value_name = "N", value_parser = crate::number::whole::<u32>, default_value_t = 0, hide_default_value = true)]
    pub(super) min_depth: u32,
    /// Leave out entries more than N levels below PATH
    #[arg(long, value_name = "N", value_parser = crate::number::whole::<u32>, default_value_t = u32::MAX, hide_default_value = true)]
    pub(super) max_depth: u32,
}

impl Depths {
    /// All levels.
    pub(crate) const ALL: Depths = Depths { min_depth: 0, max_depth: u32::MAX };

    /// An option that leaves out levels, if there is one.
    pub fn given(self) -> Option<&'static str> {
        let Depths { min_depth, max_depth } = self;
        let given = [(min_depth > 0, "--min-depth"), (max_depth < u32::MAX, "--max-depth")];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }
}

/// A time of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Which {
    /// The last change of the contents
    Mtime,
    /// The last access
    Atime,
    /// The last change of the inode
    Ctime,
    /// The birth; a file system may keep none
    Btime,
}

impl Args {
    /// An option that leaves out entries, if there is one. `--time` leaves out none.
    pub fn given(&self) -> Option<&'static str> {
        // All fields, so that the compiler asks about a new one.
        #[rustfmt::skip]
        let Args {
            kinds, grep, include, exclude, gitignore, no_hidden, size, newer, older, changed_since, time: _, user, group, perm, links, inum,
            empty,
        } = self;
        let given = [
            (!kinds.is_empty(), "--type"),
            (!grep.is_empty(), "--grep"),
            (!include.is_empty(), "--include"),
            (!exclude.is_empty(), "--exclude"),
            (*gitignore, "--gitignore"),
            (*no_hidden, "--no-hidden"),
            (!size.is_empty(), "--size"),
            (!newer.is_empty(), "--newer"),
            (!older.is_empty(), "--older"),
            (changed_since.is_some(), "--changed-since"),
            (user.is_some(), "--user"),
            (group.is_some(), "--group"),
            (!perm.is_empty(), "--perm"),
            (!links.is_empty(), "--links"),
            (inum.is_some(), "--inum"),
            (*empty, "--empty"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    /// The time that is compared, as a need.
    pub(crate) fn time(&self) -> Needs {
        match self.time {
            Which::Mtime => Needs::MTIME,
            Which::Atime => Needs::ATIME,
            Which::Ctime => Needs::CTIME,
            Which::Btime => Needs::BTIME,
        }
    }
}

fn point_in_time() -> impl TypedValueParser<Value = Time> {
    OsStringValueParser::new().try_map(|word| time::point(&word))
}
