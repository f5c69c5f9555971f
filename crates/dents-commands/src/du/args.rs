//! The options of `dents du`.

use super::threshold::Threshold;
use crate::filter;
use crate::output::Units;
use crate::source::Source;
use crate::walk::Walk;
use dents_render::human::SizeFormat;

/// Show the space that directories take, largest first
///
/// Counts allocated space as du(1) does: each file once, even if it has several links, and the blocks of directories too. A file
/// with several links counts in the directory where du(1) finds it first, as directories are read, whatever the number of
/// workers; from a scan file, in the first by name. With -l it counts in each.
///
/// On a terminal each size has a unit that fits and a bar for its share of the total; elsewhere each line is
/// SIZE in blocks of 1024 bytes, a tab and the unquoted path, as du(1) has it.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    #[command(flatten)]
    pub(super) walk: Walk,
    #[command(flatten)]
    pub(super) source: Source,
    #[command(flatten)]
    pub(super) filter: filter::Args,
    /// Show only the sum of each PATH
    #[arg(short, long, help_heading = "What is shown", conflicts_with = "max_depth")]
    pub(super) summarize: bool,
    /// Show directories down to this depth; deeper ones are counted but not shown
    #[arg(short = 'd', long, value_name = "N", value_parser = crate::number::whole::<u32>, default_value_t = 1, help_heading = "What is shown")]
    pub(super) max_depth: u32,
    /// Show files too
    #[arg(short, long, help_heading = "What is shown")]
    pub(super) all: bool,
    /// Show the sum of all PATHs at the end
    #[arg(short = 'c', long, help_heading = "What is shown")]
    pub(super) total: bool,
    /// Count the bytes in files, not the allocated space; directories count 0
    #[arg(long, help_heading = "What is counted")]
    pub(super) apparent_size: bool,
    /// Count the bytes in files and show sizes in bytes: --apparent-size --bytes
    #[arg(short = 'b', help_heading = "What is counted")]
    pub(super) apparent_bytes: bool,
    /// Count a file with several links once for each link
    #[arg(short = 'l', long, help_heading = "What is counted")]
    pub(super) count_links: bool,
    /// End lines with a NUL instead of a newline
    #[arg(short = '0', long, help_heading = "What is shown", conflicts_with = "json")]
    pub(super) null: bool,
    /// One JSON object: names byte-exact, sizes in bytes
    #[arg(long, help_heading = "What is shown")]
    pub(super) json: bool,
    /// A table as CSV, with a line of titles: sizes in bytes
    #[arg(long, help_heading = "What is shown", conflicts_with_all = ["json", "null"])]
    pub(super) csv: bool,
    /// Leave out directories and files smaller than SIZE; if SIZE is negative, larger ones
    #[arg(long, value_name = "[-]SIZE", value_parser = Threshold::parse, allow_hyphen_values = true, help_heading = "What is shown")]
    pub(super) threshold: Option<Threshold>,
    /// Leave subdirectories out of the sum of a directory
    #[arg(short = 'S', long, help_heading = "What is counted")]
    pub(super) separate_dirs: bool,
    /// Count entries, not space: each file once, even if it has several links
    #[arg(long, help_heading = "What is counted", conflicts_with_all = ["apparent_size", "apparent_bytes"])]
    pub(super) inodes: bool,
    #[command(flatten)]
    pub(super) units: Units,
}

/// The figure that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Bytes that are allocated.
    Allocated,
    /// Bytes in files.
    Apparent,
    /// Entries, each file once.
    Inodes,
}

impl Args {
    pub(super) fn depth(&self) -> u32 {
        if self.summarize { 0 } else { self.max_depth }
    }

    pub(super) fn what(&self) -> What {
        match self {
            Args { inodes: true, .. } => What::Inodes,
            Args { apparent_size: true, .. } | Args { apparent_bytes: true, .. } => What::Apparent,
            _ => What::Allocated,
        }
    }

    pub(super) fn units(&self, otherwise: SizeFormat) -> SizeFormat {
        match (self.what(), self.apparent_bytes) {
            // Plain numbers, unless the user asks for a unit.
            (What::Inodes, _) => self.units.format(SizeFormat::BYTES),
            (_, true) => SizeFormat::BYTES,
            _ => self.units.format(otherwise),
        }
    }
}
