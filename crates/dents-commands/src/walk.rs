//! The walk: the options that all commands have, and the call of the library.

use crate::session::Session;
use crate::time;
use dents_core::bulk::When;
use dents_core::needs::NeedsByKind;
use dents_core::tree::{self, Flag, Follow, Options};
use std::ffi::{CString, OsString};
use std::num::{NonZeroU32, NonZeroUsize};
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

/// The options of every command.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "The walk")]
#[group(skip)]
pub struct Walk {
    /// Where to begin [default: the current directory]
    #[arg(value_name = "PATH", help_heading = None)]
    paths: Vec<OsString>,
    /// Stay on the file systems of the PATHs
    #[arg(short = 'x', long)]
    one_file_system: bool,
    /// Follow all symbolic links: enter the directories and show the files that they lead to
    #[arg(short = 'L', long)]
    follow: bool,
    /// Follow only PATHs that are symbolic links
    #[arg(short = 'H', long, conflicts_with = "follow")]
    follow_paths: bool,
    /// Number of workers, each with one request in flight [default: as many as suit machine and file system]
    #[arg(long, value_name = "N", value_parser = crate::number::positive::<NonZeroUsize>)]
    threads: Option<NonZeroUsize>,
    /// Limit the number of requests per second, to spare a server
    #[arg(long, value_name = "N", value_parser = crate::number::positive::<NonZeroU32>)]
    rate: Option<NonZeroU32>,
    /// Stop after this time and keep the results so far: 10s, 5m, 1h30m
    #[arg(long, value_name = "DURATION", value_parser = time::duration)]
    timeout: Option<Duration>,
    /// Read the metadata of the whole file system at once (XFS and btrfs, root only)
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Bulk::Auto)]
    bulk: Bulk,
}

/// When metadata is read in bulk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Bulk {
    /// If PATH is the root of the file system, and the metadata of most files is needed
    Auto,
    /// Wherever it is possible, also for a part of the file system
    Always,
    /// Never
    Never,
}

impl Walk {
    /// The options of the library, for these needs. The timeout begins here.
    pub(crate) fn options<'o>(&'o self, needs: NeedsByKind, session: &'o Session) -> Options<'o> {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Options {
            needs,
            follow: self.follow(),
            mounts_loop: session.mounts_loop(),
            one_file_system: self.one_file_system,
            workers: self.threads.map(NonZeroUsize::get),
            rate: self.rate,
            deadline_ns: self.timeout.map(|time| tree::deadline_in(nanoseconds(time))),
            cancel: Some(Flag::Borrowed(session.stop_flag())),
            bulk: match self.bulk {
                Bulk::Auto => When::Auto,
                Bulk::Always => When::Always,
                Bulk::Never => When::Never,
            },
            ..Options::default()
        }
    }

    /// The same walk for other paths, which are followed if they are links.
    pub(crate) fn elsewhere(&self) -> Walk {
        Walk { paths: Vec::new(), follow_paths: !self.follow, ..self.clone() }
    }

    /// Which links are followed.
    pub fn follow(&self) -> Follow {
        match (self.follow, self.follow_paths) {
            (true, _) => Follow::Always,
            (_, true) => Follow::Operands,
            _ => Follow::Never,
        }
    }

    /// Whether links are followed, so that an entry is the target of a link.
    pub(crate) fn follows(&self) -> bool {
        self.follow
    }

    /// How many workers decode a scan file: one for each core.
    pub(crate) fn workers(&self) -> usize {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(cores).get()
    }

    /// Whether other file systems are left out.
    pub(crate) fn one_file_system(&self) -> bool {
        self.one_file_system
    }

    /// The PATHs of the command line, possibly none.
    pub fn given(&self) -> &[OsString] {
        &self.paths
    }

    /// The PATHs. An argument cannot contain a NUL.
    pub fn paths(&self) -> Vec<CString> {
        let given = self.paths.iter().map(|path| CString::new(path.clone().into_vec()).unwrap_or_default());
        if self.paths.is_empty() { vec![c".".to_owned()] } else { given.collect() }
    }
}
