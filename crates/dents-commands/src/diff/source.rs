//! The sources of rows: a scan file, or a walk of a directory. The filters apply to both, before a row gets here.

use super::gather::{Gather, Side};
use super::{Pair, TROUBLE};
use crate::filter::Filter;
use crate::message;
use crate::output::Diagnostics;
use crate::owners::SharedOwners;
use crate::scan::rows::{self, Rows};
use crate::scan::text_output::FirstError;
use crate::session::{Session, Status};
use crate::source::{Below, Gathered, Job, Source, Special, Way};
use crate::stats::owners::Names;
use crate::walk::Walk;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::tree::End;
use dents_sink::Extent;
use dents_sink::Own;
use dents_sink::read::Columns;
use std::ffi::{CString, OsStr};
use std::hash::RandomState;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The facts that are compared, counted or shown.
const COMPARED: Needs = Needs::TYPE
    .union(Needs::INODE)
    .union(Needs::MODE)
    .union(Needs::NLINK)
    .union(Needs::UID)
    .union(Needs::GID)
    .union(Needs::SIZE)
    .union(Needs::BLOCKS)
    .union(Needs::BTIME)
    .union(Needs::MTIME)
    .union(Needs::LINK);

/// The reason why nothing is compared.
pub(crate) enum Stop {
    /// An error that was not reported yet.
    Trouble(io::Error),
    /// An error that was reported.
    Reported,
}

impl Stop {
    /// Reports the error. Returns the exit status: 2, or that of the signal that stopped the run.
    pub(crate) fn report(self, session: &Session) -> Status {
        if let Some(status) = session.stopped() {
            session.say(b"interrupted: nothing was compared");
            return status;
        }
        if let Stop::Trouble(error) = self {
            session.say(message::plain(&error).as_bytes());
        }
        Status(TROUBLE)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Trouble(error)
    }
}

fn trouble(text: &str) -> Stop {
    Stop::Trouble(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// Both sides, the names of users, and how the walk ended if there was one.
pub(super) fn both(
    pair: &Pair<'_>,
    hasher: &RandomState,
    diagnostics: &Diagnostics<'_>,
) -> Result<([Side; 2], Names, End), Stop> {
    let Pair { scans: [old, new], partial, filter, .. } = *pair;
    if [old, new].iter().all(|path| *path == "-") {
        return Err(trouble("OLD and NEW cannot both be standard input; name a file"));
    }
    let is_tree = |path: &OsStr| {
        let path = Path::new(path);
        path.is_dir() && !path.join("manifest.json").exists()
    };
    if is_tree(old) {
        let name = message::quoted_text(old.as_bytes());
        return Err(trouble(&format!(
            "{name}: OLD is a directory; scan it to a file first: dents scan -o FILE"
        )));
    }
    if filter.reads_ignore_files() {
        return Err(trouble("--gitignore needs the files that OLD does not have; use --exclude"));
    }
    if filter.since().is_some() {
        return Err(trouble(
            "--changed-since would leave entries out of OLD; without it, all changes are shown",
        ));
    }
    let sides = Sides { walk: &pair.walk.elsewhere(), partial, filter, hasher, diagnostics };
    let (first, mut users) = sides.file(old)?;
    let (second, others, end) = if is_tree(new) {
        // OLD in NEW is no difference: the scan that wrote it left it out.
        diagnostics.session().leave_out(Own::at(Path::new(old)));
        sides.tree(new)?
    } else {
        let (side, users) = sides.file(new)?;
        (side, users, End::Complete)
    };
    users.merge(others);
    Ok(([first, second], users, end))
}

/// State that both sides share.
struct Sides<'s> {
    walk: &'s Walk,
    partial: bool,
    filter: &'s Filter<'s>,
    hasher: &'s RandomState,
    diagnostics: &'s Diagnostics<'s>,
}

impl Sides<'_> {
    fn job<'j>(&'j self, source: &'j Source, needs: Needs) -> Job<'j> {
        let Sides { walk, filter, diagnostics, .. } = *self;
        let (needs, must) = (NeedsByKind::all(needs), NeedsByKind::default());
        Job { walk, source, filter, diagnostics, needs, must }
    }

    /// Reads a scan file.
    fn file(&self, path: &OsStr) -> Result<(Side, Names), Stop> {
        let source = Source::new(Some(path.to_owned()), self.partial);
        let Some(file) = source.file() else { return Err(Stop::Reported) };
        // The message was written. Its status is not that of diff(1).
        let opened = file.open(self.diagnostics.session()).map_err(|_| Stop::Reported)?;
        let (first_error, owners, gather) =
            (FirstError::default(), SharedOwners::default(), Gather::new(self.hasher));
        let must_stop = || first_error.is_set();
        let way = Way {
            columns: Columns::PATH | Columns::USER,
            below: Below::Nearest,
            in_order: false,
            must_stop: &must_stop,
        };
        let make = || Rows::new(gather.taker(), &first_error, &owners, &[]);
        let outcome = self
            .job(&source, COMPARED)
            .read(opened, &way, make)
            .map(|Gathered { end, extent, .. }| (end, extent));
        first_error.into_result()?;
        let (end, extent) = outcome.map_err(|_| Stop::Reported)?;
        let is_whole = extent == Some(Extent::Complete) || self.partial;
        if end != End::Complete || !is_whole {
            return Err(Stop::Reported);
        }
        Ok(gather.finish()?)
    }

    /// Walks a directory. A link on the command line is followed, as by diff(1).
    fn tree(&self, path: &OsStr) -> Result<(Side, Names, End), Stop> {
        let source = Source::new(None, self.partial);
        let operands = [CString::new(path.as_bytes()).unwrap_or_default()];
        let (first_error, owners, gather) =
            (FirstError::default(), SharedOwners::default(), Gather::new(self.hasher));
        let must_stop = || first_error.is_set();
        let special = Special { paths: Some(&operands), must_stop: &must_stop, ..Special::default() };
        let make = || Rows::new(gather.taker(), &first_error, &owners, &operands);
        let Gathered { end, root_failed, .. } =
            self.job(&source, rows::needs(Columns::USUAL)).walk(&special, make);
        first_error.into_result()?;
        match end {
            End::Complete if !root_failed || self.partial => {}
            End::Deadline if self.partial => {}
            End::Deadline => {
                return Err(trouble("timed out: nothing was compared; --partial compares what was found"));
            }
            // The error was reported, or a signal stopped the run.
            End::Complete | End::Cancelled | End::Stopped => return Err(Stop::Reported),
        }
        let (side, users) = gather.finish()?;
        Ok((side, users, end))
    }
}
