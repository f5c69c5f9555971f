//! The view: a long format with columns of one's choice, colours in them and a line above, which GNU does not have. What is in
//! it; `table` draws it.

mod column;
mod theme;

pub use column::Column;
pub use theme::{BadTheme, Paint, Theme};

pub(crate) use theme::Brush;

use crate::consumer::{Consumer, Declare};
use alloc::vec::Vec;
use dents_core::needs::{Needs, NeedsByKind};

/// What the view shows, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// From left to right.
    pub columns: Vec<Column>,
    /// Whether a line above says what they are.
    pub header: bool,
    /// Times as ages, in place of [`crate::Style::time_style`].
    pub relative: bool,
    /// A group only where it is called otherwise than the owner.
    pub smart_group: bool,
    /// What is mounted on an entry, behind its name. See [`crate::Frame::mounted`].
    pub mounts: bool,
    /// Extended attributes below each entry.
    pub xattrs: bool,
    /// The colours of the columns. Without [`crate::Style::colors`] there are none.
    pub theme: Theme,
    /// The user who runs the program, if that is known: shown in a colour of its own.
    pub me: Option<u32>,
}

impl View {
    /// Whether some column shows names of users, or has to know them.
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

    /// What must be known of entries, each part with its name. `time` is the one that the slots hold.
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
