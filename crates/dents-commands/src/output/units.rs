//! The options for units of sizes.

use clap::ArgAction;
use dents_render::human::SizeFormat;

/// The same options as of `du`: `-h` is a unit, so only `--help` prints help.
#[derive(clap::Args)]
pub(crate) struct Units {
    /// Show sizes with a unit that fits, in powers of 1024: 1.4M
    #[arg(short, long, help_heading = "Units")]
    human_readable: bool,
    /// Show sizes with a unit that fits, in powers of 1000: 1.5M
    #[arg(long, help_heading = "Units", overrides_with = "human_readable")]
    si: bool,
    /// Show sizes in blocks of 1024 bytes, rounded up
    #[arg(short, help_heading = "Units", id = "kibi", overrides_with_all = ["human_readable", "si"])]
    kibi: bool,
    /// Show sizes in bytes
    #[arg(long, help_heading = "Units", overrides_with_all = ["human_readable", "si", "kibi"])]
    bytes: bool,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
}

impl Units {
    pub(crate) fn format(&self, otherwise: SizeFormat) -> SizeFormat {
        match self {
            Units { bytes: true, .. } => SizeFormat::BYTES,
            Units { kibi: true, .. } => SizeFormat::KIBI,
            Units { si: true, .. } => SizeFormat::SI,
            Units { human_readable: true, .. } => SizeFormat::HUMAN,
            _ => otherwise,
        }
    }
}
