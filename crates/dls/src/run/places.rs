//! Where entries are: what hyperlinks lead to, and which repository git is asked about.

use super::Listing;
use crate::timing::Phase;
use alloc::vec::Vec;
use dents::batch::{Batch, Entry};
use dents::canonical::canonicalize;
use dents::needs::Kind;
use dents_render::Places;
use dents_sys::host;

impl Listing<'_, '_, '_> {
    /// Finds out where the entries of a directory are, if hyperlinks lead there: in the directory under their names,
    /// but for symbolic links, `.` and `..`.
    pub(super) fn locate(&mut self, batch: &Batch, place: Option<&[u8]>) {
        let Some(directory) = place else { return };
        self.timing.enter(Phase::Read);
        let elsewhere = |entry: &Entry<'_>| {
            let link = matches!(entry.d_kind(), Kind::Link | Kind::Unknown);
            link || matches!(entry.name(), b"." | b"..")
        };
        let others = self.canonical_all(directory, batch.iter().filter(elsewhere));
        self.renderer.set_places(Places { directory: directory.to_vec(), others });
    }

    /// The same for operands, which may be anywhere.
    pub(super) fn locate_operands(&mut self, batch: &Batch) {
        if self.plan.style.hyperlink.is_some() {
            let cwd = self.cwd().to_vec();
            let others = self.canonical_all(&cwd, batch.iter());
            self.renderer.set_places(Places { directory: Vec::new(), others });
        }
    }

    pub(super) fn cwd(&mut self) -> &[u8] {
        self.cwd.get_or_insert_with(|| host::current_directory().unwrap_or_default())
    }

    pub(super) fn canonical(&mut self, path: &[u8]) -> Vec<u8> {
        let cwd = self.cwd().to_vec();
        match &self.limit {
            Some(limit) => {
                limit.canonical(&cwd, Vec::from([path.to_vec()])).pop().flatten().unwrap_or_default()
            }
            None => canonicalize(&cwd, path),
        }
    }

    /// Where these entries are, seen from a directory.
    pub(super) fn canonical_all<'e>(
        &self,
        base: &[u8],
        entries: impl Iterator<Item = Entry<'e>>,
    ) -> Vec<(u32, Option<Vec<u8>>)> {
        let Some(limit) = &self.limit else {
            return entries
                .map(|entry| (entry.index() as u32, Some(canonicalize(base, entry.name()))))
                .collect();
        };
        let (places, names) = entries
            .map(|entry| (entry.index() as u32, entry.name().to_vec()))
            .unzip::<_, _, Vec<_>, Vec<_>>();
        places.into_iter().zip(limit.canonical(base, names)).collect()
    }
}
