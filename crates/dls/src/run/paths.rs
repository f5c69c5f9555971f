//! The absolute paths of entries, for hyperlinks and for git.

use super::directory::{Directory, Origin};
use super::printer::Printer;
use super::session::Session;
use crate::timing::Phase;
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_core::batch::{Batch, Entry};
use dents_core::canonical::canonicalize;
use dents_core::needs::Kind;
use dents_core::path::join;
use dents_render::Places;
use dents_sys::{Errno, Result, host};

/// Makes paths absolute. Needs paths as the user named them; gives them without symbolic links.
pub(super) struct Paths<'l> {
    session: &'l Session<'l>,
    /// The current directory; `None` until it is needed.
    cwd: Option<Result<Vec<u8>>>,
}

impl<'l> Paths<'l> {
    pub(super) fn new(session: &'l Session<'l>) -> Paths<'l> {
        Paths { session, cwd: None }
    }

    /// The places of a directory's entries: the directory and the name, except for symbolic links, `.` and `..`.
    #[cold]
    #[inline(never)]
    pub(super) fn locate(
        &mut self,
        batch: &Batch,
        place: Option<&[u8]>,
        directory: Directory<'_>,
        printer: &mut Printer<'_, '_>,
    ) -> Option<Arc<Places>> {
        let Some(place) = place else {
            self.tell_nowhere_of_entries(batch, directory.name(), printer);
            return None;
        };
        self.session.timing.enter(Phase::Read);
        let elsewhere = |entry: &Entry<'_>| {
            let link = matches!(entry.d_kind(), Kind::Link | Kind::Unknown);
            link || matches!(entry.name(), b"." | b"..")
        };
        let others = self.canonical_all(place, batch.iter().filter(elsewhere));
        Some(Arc::new(Places { directory: place.to_vec(), others }))
    }

    /// The places of operands, which may be in any directory.
    #[cold]
    #[inline(never)]
    pub(super) fn locate_operands(&mut self, batch: &Batch) -> Places {
        let cwd = self.cwd();
        let known = |entry: &Entry<'_>| cwd.is_ok() || entry.name().starts_with(b"/");
        let (known, unknown): (Vec<_>, Vec<_>) = batch.iter().partition(known);
        let mut others = self.canonical_all(&cwd.unwrap_or_default(), known.into_iter());
        others.extend(unknown.into_iter().map(|entry| (entry.index() as u32, None)));
        others.sort_unstable();
        Places { directory: Vec::new(), others }
    }

    /// The current directory: one `getcwd`, once. It has no path if it was removed.
    fn cwd(&mut self) -> Result<Vec<u8>> {
        self.cwd.get_or_insert_with(host::current_directory).clone()
    }

    /// The absolute path of a directory, if hyperlinks need it and it exists.
    pub(super) fn place(&mut self, path: &[u8]) -> Option<Vec<u8>> {
        let wanted = self.session.plan.style.names.hyperlink.is_some() && self.why_nowhere(path).is_none();
        wanted.then(|| self.canonical(path))
    }

    /// The reason why a hyperlink cannot have the absolute path of `path`: it is empty, or relative to a directory
    /// that was removed.
    fn why_nowhere(&mut self, path: &[u8]) -> Option<Errno> {
        match path.first() {
            None => Some(Errno::NOENT),
            Some(b'/') => None,
            Some(_) => self.cwd().err(),
        }
    }

    /// With `--hyperlink`, reports a path that cannot be resolved, as GNU does.
    pub(super) fn tell_nowhere(&mut self, path: &[u8], origin: Origin, printer: &mut Printer<'_, '_>) {
        if self.session.plan.style.names.hyperlink.is_some()
            && let Some(errno) = self.why_nowhere(path)
        {
            printer.complain("error canonicalizing %s", path, errno, origin);
        }
    }

    /// Reports the errors of operands. As for GNU, a path that `--hyperlink` cannot resolve comes first.
    pub(super) fn operand_faults(&mut self, batch: &Batch, printer: &mut Printer<'_, '_>) {
        if self.session.plan.style.names.hyperlink.is_none() {
            return printer.faults(batch, None);
        }
        for entry in batch.iter() {
            self.tell_nowhere(entry.name(), Origin::Operand, printer);
            if let Some((asked, errno)) = entry.fault() {
                printer.fault(&entry, asked, errno, None);
            }
        }
    }

    /// Reports each entry of a directory that has no absolute path.
    #[cold]
    fn tell_nowhere_of_entries(&mut self, batch: &Batch, path: &[u8], printer: &mut Printer<'_, '_>) {
        for entry in batch.iter() {
            let path = if path == b"." { entry.name().to_vec() } else { join(path, entry.name()) };
            self.tell_nowhere(&path, Origin::Below, printer);
        }
    }

    /// The absolute path of `path`, without symbolic links.
    pub(super) fn canonical(&mut self, path: &[u8]) -> Vec<u8> {
        let cwd = self.cwd().unwrap_or_default();
        match self.session.deadline() {
            Some(deadline) => {
                deadline.canonical(&cwd, Vec::from([path.to_vec()])).pop().flatten().unwrap_or_default()
            }
            None => canonicalize(&cwd, path),
        }
    }

    /// The absolute paths of entries of a directory.
    fn canonical_all<'e>(
        &self,
        base: &[u8],
        entries: impl Iterator<Item = Entry<'e>>,
    ) -> Vec<(u32, Option<Vec<u8>>)> {
        let Some(deadline) = self.session.deadline() else {
            return entries
                .map(|entry| (entry.index() as u32, Some(canonicalize(base, entry.name()))))
                .collect();
        };
        let (places, names) = entries
            .map(|entry| (entry.index() as u32, entry.name().to_vec()))
            .unzip::<_, _, Vec<_>, Vec<_>>();
        places.into_iter().zip(deadline.canonical(base, names)).collect()
    }
}
