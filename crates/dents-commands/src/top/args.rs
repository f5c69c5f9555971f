//! The options of `dents top`.

use crate::filter::{self, Depths};
use crate::output::Units;
use crate::source::Source;
use crate::walk::Walk;
use dents_core::needs::Needs;

/// Show the largest, oldest, newest files, the fullest directories
///
/// Only regular files are shown, a file with several links once. A directory below several PATHs is shown once too. On a terminal sizes
/// have a unit that fits; elsewhere each line is the value in bytes or in Coordinated Universal Time, a tab and the unquoted path.
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
    /// Show N of them
    #[arg(short, long, value_name = "N", value_parser = crate::number::whole::<usize>, default_value_t = 10, help_heading = "What is shown")]
    pub(super) number: usize,
    /// What to look for
    #[arg(long, value_enum, default_value_t = By::Size, help_heading = "What is shown")]
    pub(super) by: By,
    /// End lines with a NUL instead of a newline
    #[arg(short = '0', long, help_heading = "What is shown", conflicts_with = "json")]
    pub(super) null: bool,
    /// One JSON object: names byte-exact, sizes in bytes
    #[arg(long, help_heading = "What is shown")]
    pub(super) json: bool,
    /// A table as CSV, with a line of titles: sizes in bytes
    #[arg(long, help_heading = "What is shown", conflicts_with_all = ["json", "null"])]
    pub(super) csv: bool,
    #[command(flatten)]
    pub(super) units: Units,
}

/// The criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum By {
    /// The largest files
    Size,
    /// The files with the most allocated space
    Allocated,
    /// The files that were modified the longest time ago
    Oldest,
    /// The files that were modified last
    Newest,
    /// The files that were read the longest time ago
    Atime,
    /// The directories with the most entries
    Entries,
}

impl By {
    /// The needs of regular files; other entries have none.
    pub(super) fn needs(self) -> Needs {
        let value = match self {
            By::Size => Needs::SIZE,
            By::Allocated => Needs::BLOCKS,
            By::Oldest | By::Newest => Needs::MTIME,
            By::Atime => Needs::ATIME,
            By::Entries => return Needs::empty(),
        };
        Needs::TYPE | Needs::INODE | Needs::NLINK | value
    }
}
