//! What to walk, and with what: the part of every command line that is the same, and the way from it into the library.

use dents::needs::NeedsByKind;
use dents::stat::Workers;
use dents::tree::{self, Failure, Follow, Options, Outcome, Problem, Visitor};
use std::ffi::{CStr, CString, OsString};
use std::num::NonZeroU32;
use std::os::unix::ffi::OsStringExt;

/// What every command takes.
#[derive(clap::Args)]
pub(crate) struct Walk {
    /// Where to begin [default: the current directory]
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,
    /// Stay on the file systems of the PATHs
    #[arg(short = 'x', long)]
    one_file_system: bool,
    /// Enter the directories that symbolic links lead to
    #[arg(short = 'L', long)]
    follow: bool,
    /// Workers, each with one request in flight [default: as many as pay]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Requests a second at most, for the sake of the server
    #[arg(long, value_name = "N")]
    rate: Option<NonZeroU32>,
}

impl Walk {
    /// The options, for what must be known of the entries.
    pub(crate) fn options(&self, needs: NeedsByKind) -> Options<'_> {
        Options {
            needs,
            follow: if self.follow { Follow::Always } else { Follow::Never },
            one_file_system: self.one_file_system,
            workers: self.threads,
            rate: self.rate,
            ..Options::default()
        }
    }

    /// Where to begin. An argument cannot hold a NUL.
    pub(crate) fn paths(&self) -> Vec<CString> {
        let given = self.paths.iter().map(|path| CString::new(path.clone().into_vec()).unwrap_or_default());
        if self.paths.is_empty() { vec![c".".to_owned()] } else { given.collect() }
    }

    /// Walks, a visitor for each worker.
    pub(crate) fn walk<V, F>(&self, options: &Options<'_>, make: F) -> Outcome<V>
    where
        V: Visitor + Send,
        F: Fn(usize) -> V + Sync,
    {
        let paths = self.paths();
        let paths: Vec<&CStr> = paths.iter().map(CString::as_c_str).collect();
        tree::walk(&paths, options, &Threads, make)
    }
}

/// std's scoped threads.
pub(crate) struct Threads;

impl Workers for Threads {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for worker in 1..workers {
                // A thread that cannot be started is left out: the others do its work.
                let _ = std::thread::Builder::new().spawn_scoped(scope, move || job(worker));
            }
            job(0);
        });
    }
}

/// Tells of a directory that could not be entered.
pub(crate) fn complain(failure: &Failure<'_>) {
    let problem = match failure.problem {
        Problem::Open => "cannot open directory",
        Problem::Read => "reading directory",
        Problem::Loop => "not entering, it is within itself:",
    };
    let path = String::from_utf8_lossy(failure.path);
    let errno = std::io::Error::from_raw_os_error(failure.errno.raw_os_error());
    eprintln!("dents: {problem} {path:?}: {errno}");
}
