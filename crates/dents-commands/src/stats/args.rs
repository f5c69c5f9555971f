//! The options of `dents stats`.

use super::key::{self, By};
use crate::filter::{self, Depths};
use crate::output::Units;
use crate::source::Source;
use crate::walk::Walk;
use crate::words::offered;

/// Sum up a tree by user, group, extension, age, size and depth
///
/// A file with several links counts once, and so does an entry below several PATHs. The tables by extension, age and size count
/// regular files, the others all entries. Age is the time from the last modification to the start of the scan. Rows of ages, sizes and
/// depths are in ascending order; other rows are in the order of allocated space, the largest first.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    #[command(flatten)]
    pub(super) walk: Walk,
    #[command(flatten)]
    pub(super) source: Source,
    #[command(flatten)]
    pub(super) filter: filter::Args,
    #[command(flatten)]
    pub(super) depths: Depths,
    /// A table by user, group, extension, age, size, depth, project or directory:N (the directory at depth N); by two of them, as in
    /// user,age: a row for each pair; by more of them: a table for each. Several --by are several tables
    #[arg(
        long,
        value_name = "KEY,…",
        value_parser = offered(By::parse, key::WORDS),
        hide_possible_values = true,
        default_value = "user,extension,age,size",
        help_heading = "What is shown"
    )]
    pub(super) by: Vec<Vec<By>>,
    /// Show at most N rows of each table, and one for all `others`
    #[arg(short, long, value_name = "N", value_parser = crate::number::whole::<usize>, default_value_t = 10, help_heading = "What is shown")]
    pub(super) number: usize,
    /// Compute order and shares from the bytes in files, not from allocated space
    #[arg(long, help_heading = "What is shown")]
    pub(super) apparent_size: bool,
    /// One JSON object, sizes in bytes
    #[arg(long, help_heading = "What is shown")]
    pub(super) json: bool,
    /// All rows of all tables as CSV, with a line of titles: sizes in bytes
    #[arg(long, help_heading = "What is shown", conflicts_with = "json")]
    pub(super) csv: bool,
    #[command(flatten)]
    pub(super) units: Units,
}

impl Args {
    pub(super) fn tables(&self) -> Vec<By> {
        self.by.concat()
    }
}
