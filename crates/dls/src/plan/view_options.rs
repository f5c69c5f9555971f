//! The options of the view.

use crate::args::words::{self, ColorScale, RELATIVE};
use crate::args::{self, Flag, Said};
use alloc::vec::Vec;
use dents_render::Column;

/// The options of the view.
#[derive(Default)]
pub(super) struct ViewOptions<'a> {
    /// Whether an option demands the view, whatever the style of times.
    pub(super) asked: bool,
    pub(super) columns: Option<&'a [u8]>,
    /// Lists of changes to these columns or to the default ones.
    pub(super) changes: Vec<&'a [u8]>,
    pub(super) header: bool,
    /// The last `--time-style` was `relative`.
    pub(super) relative: bool,
    pub(super) smart_group: bool,
    /// Which columns have a colour by their values.
    pub(super) scale: Option<ColorScale>,
    pub(super) mounts: bool,
    pub(super) xattrs: bool,
    pub(super) git: bool,
    /// Columns to be left out.
    pub(super) without: Vec<Column>,
}

impl<'a> ViewOptions<'a> {
    /// Takes an option. Returns whether it has a meaning in the long format only.
    pub(super) fn take(&mut self, said: &Said<'a>) -> bool {
        match said.flag {
            Flag::ColumnList => match said.value {
                Some(list) if args::is_change(list) => self.changes.push(list),
                list => {
                    self.columns = list;
                    self.changes.clear();
                }
            },
            Flag::Header => self.header = true,
            Flag::SmartGroup => self.smart_group = true,
            Flag::ColorScale => {
                self.scale = said.value.and_then(|value| words::lookup(value).ok()).or(Some(ColorScale::All));
            }
            Flag::Mounts => self.mounts = true,
            Flag::Xattr => self.xattrs = true,
            Flag::Git => self.git = true,
            Flag::NoTime => self.without.extend(TIMES),
            Flag::NoMode => self.without.push(Column::Mode),
            Flag::NoSize => self.without.push(Column::Size),
            Flag::NoLinks => self.without.push(Column::Links),
            Flag::TimeStyle | Flag::FullTime => {
                // GNU's own styles need no view, and take this one back.
                self.relative = said.flag == Flag::TimeStyle && said.value == Some(RELATIVE.as_bytes());
                return false;
            }
            _ => return false,
        }
        self.asked = true;
        true
    }

    /// The columns that were picked.
    pub(super) fn columns(&self) -> Option<Vec<Column>> {
        self.columns.map(args::columns)
    }

    /// The columns to add (`true`) to the default ones and to remove (`false`).
    pub(super) fn changes(&self) -> impl Iterator<Item = (bool, Column)> + '_ {
        self.changes.iter().flat_map(|list| args::changes(list))
    }

    /// Whether a column was picked or put to the others.
    pub(super) fn picks(&self, column: Column) -> bool {
        let picked = self.columns().is_some_and(|columns| columns.contains(&column));
        self.changes().filter(|(_, changed)| *changed == column).last().map_or(picked, |(puts, _)| puts)
    }

    /// Whether the long format is the view.
    pub(super) fn is_wanted(&self) -> bool {
        self.asked || self.relative
    }

    /// Whether times are ages, which is no style that GNU's own code must know.
    pub(super) fn relative(&self) -> bool {
        self.relative
    }
}

const TIMES: [Column; 4] = [Column::Modified, Column::Changed, Column::Accessed, Column::Created];
