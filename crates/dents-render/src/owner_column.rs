//! A column of names of users or of groups, or of their numbers.

use crate::number::{digits, push_left, push_number};
use crate::style::Style;
use crate::width::known_width;
use alloc::vec::Vec;
use dents_core::owners::Owners;
use dents_locale::Charset;

/// How an id becomes a name: [`Owners::user`] or [`Owners::group`].
pub(crate) type Lookup<'o> = fn(&'o Owners, u32) -> Option<&'o [u8]>;

/// One column of owners, or of groups.
#[derive(Clone)]
pub(crate) struct OwnerColumn<'o> {
    owners: &'o Owners,
    /// `None` with `-n`.
    names: Option<Lookup<'o>>,
    charset: Charset,
    /// The owners seen last, found by the low bits of their ids.
    cache: [Owner<'o>; OwnerColumn::CACHE],
    pub(crate) width: usize,
}

/// An id, its name if it has one, and how wide that is. A width of zero marks an unused place.
#[derive(Clone, Copy, Default)]
pub(crate) struct Owner<'o> {
    pub(crate) id: u32,
    pub(crate) name: Option<&'o [u8]>,
    pub(crate) width: usize,
}

impl Owner<'_> {
    /// The width of a name with characters that cannot be printed.
    const UNKNOWN: usize = usize::MAX;

    /// The width in columns.
    pub(crate) fn columns(self) -> usize {
        if self.width == Owner::UNKNOWN { 0 } else { self.width }
    }
}

impl<'o> OwnerColumn<'o> {
    const CACHE: usize = 16;

    pub(crate) fn new(style: &Style, owners: &'o Owners, names: Lookup<'o>, shown: bool) -> Self {
        OwnerColumn {
            owners,
            names: (shown && !style.long.numeric).then_some(names),
            charset: style.locale.charset,
            cache: [Owner::default(); OwnerColumn::CACHE],
            width: 1,
        }
    }

    #[inline]
    pub(crate) fn find(&mut self, id: u32) -> Owner<'o> {
        let owner = self.cache[id as usize % OwnerColumn::CACHE];
        if owner.id == id && owner.width != 0 { owner } else { self.look_up(id) }
    }

    #[cold]
    fn look_up(&mut self, id: u32) -> Owner<'o> {
        let name = self.names.and_then(|names| names(self.owners, id));
        let width = match name {
            None => digits(id.into()),
            Some(name) => known_width(name, self.charset).unwrap_or(Owner::UNKNOWN),
        };
        let owner = Owner { id, name, width };
        self.cache[id as usize % OwnerColumn::CACHE] = owner;
        owner
    }

    #[inline]
    pub(crate) fn measure(&mut self, id: u32) {
        self.width = self.width.max(self.find(id).columns());
    }

    /// Writes a name left-aligned, or a number right-aligned.
    pub(crate) fn write(&mut self, id: Option<u32>, out: &mut Vec<u8>) {
        match id.map(|id| self.find(id)) {
            None => push_left(out, b"?", self.width),
            Some(Owner { name: Some(name), width, .. }) => {
                // A name may have more bytes than columns. A name of unknown width gets no padding.
                let padding = if width == Owner::UNKNOWN { 0 } else { self.width - width };
                push_left(out, name, padding + name.len());
            }
            Some(Owner { id, .. }) => push_number(out, id.into(), self.width),
        }
        out.push(b' ');
    }
}

#[cfg(test)]
mod tests;
