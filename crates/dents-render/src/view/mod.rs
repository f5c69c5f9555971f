//! The view: a long format with chosen columns, their colours and a header, which GNU does not have. This module
//! describes it; `table` draws it.

mod column;
mod theme;

pub use column::Column;
pub use theme::{BadTheme, Paint, Theme};

pub(crate) use theme::Brush;

use crate::consumer::{Consumer, Declare};
use alloc::vec::Vec;
use dents_core::needs::{Needs, NeedsByKind};

/// The columns of the view, and how they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// From left to right.
    pub columns: Vec<Column>,
    /// Whether a first line has the titles of the columns.
    pub header: bool,
    /// Times as ages, in place of [`crate::LongStyle::time_style`].
    pub relative: bool,
    /// A group only if its name differs from that of the owner.
    pub smart_group: bool,
    /// The mount at a mount point, after its name. See [`crate::Frame::mounted`].
    pub mounts: bool,
    /// Extended attributes below each entry.
    pub xattrs: bool,
    /// The colours of the columns. Without [`crate::NameStyle::colors`] there are none.
    pub theme: Theme,
    /// The effective user of the program, if it is known. As an owner it is shown in a colour of its own.
    pub me: Option<u32>,
}

impl View {
    /// Whether some column shows names of users, or needs them.
    #[must_use]
    pub fn shows_users(&self) -> bool {
        let has = |column| self.columns.contains(&column);
        has(Column::User) || (self.smart_group && has(Column::Group))
    }

    /// Whether some column shows names of groups.
    #[must_use]
    pub fn shows_groups(&self) -> bool {
        self.columns.contains(&Column::Group)
    }

    /// Whether some column shows a time.
    #[must_use]
    pub fn shows_times(&self) -> bool {
        self.columns.iter().any(|column| column.time().is_some())
    }

    /// Declares the needs of the view, each part with its name. `time` is the time that the slots hold.
    #[cold]
    #[inline(never)]
    pub(crate) fn declare(&self, time: Needs, to: &mut Declare<'_>) {
        let mut all = NeedsByKind::default();
        for column in &self.columns {
            // The slot's own time costs no extra.
            all |= match column.time() {
                Some(own) if own == time => NeedsByKind::all(own),
                _ => column.needs(),
            };
        }
        if self.shows_users() {
            all |= Column::User.needs();
        }
        to(Consumer::View, all);
        if self.mounts {
            to(Consumer::Mounts, NeedsByKind::all(Needs::EXTRA));
        }
        if self.xattrs {
            to(Consumer::Xattrs, Column::Xattrs.needs());
        }
    }
}
