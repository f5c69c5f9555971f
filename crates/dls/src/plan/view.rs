//! Whether the long format is GNU's or the view, and with which columns.
//!
//! GNU's stays wherever no option asks for more than it can show: a `-l` without any of ours comes through here with one
//! comparison and nothing made.

use super::choices::Choices;
use super::{Planner, Warning};
use crate::args::words::RELATIVE;
use crate::args::{self, Flag, Said};
use alloc::boxed::Box;
use alloc::vec::Vec;
use dents_core::needs::Needs;
use dents_render::{Column, Style, Theme, View};
use dents_sys::host;

/// What the options say of the view.
#[derive(Default)]
pub(super) struct Wishes<'a> {
    /// Whether there is to be one, whatever the style of times.
    pub(super) asked: bool,
    columns: Option<&'a [u8]>,
    /// Lists of what changes these, or the usual ones.
    changes: Vec<&'a [u8]>,
    header: bool,
    /// The last `--time-style` was `relative`.
    relative: bool,
    smart_group: bool,
    mounts: bool,
    pub(super) xattrs: bool,
    pub(super) git: bool,
    /// Columns to be left out.
    without: Vec<Column>,
}

impl<'a> Wishes<'a> {
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

    /// The columns that are put to those there would be, and (`false`) taken away from them.
    pub(super) fn changes(&self) -> impl Iterator<Item = (bool, Column)> + '_ {
        self.changes.iter().flat_map(|list| args::changes(list))
    }

    /// Whether a column was picked or put to the others.
    pub(super) fn picks(&self, column: Column) -> bool {
        let picked = self.columns().is_some_and(|columns| columns.contains(&column));
        self.changes().filter(|(_, changed)| *changed == column).last().map_or(picked, |(puts, _)| puts)
    }

    /// Whether a long format is to be the view.
    pub(super) fn view(&self) -> bool {
        self.asked || self.relative
    }

    /// Whether times are ages, which is no style that GNU's own code must know.
    pub(super) fn relative(&self) -> bool {
        self.relative
    }
}

const TIMES: [Column; 4] = [Column::Modified, Column::Changed, Column::Accessed, Column::Created];

/// The columns of `--columns`, or those that `-l` and its companions show, less what was left out.
#[cold]
#[inline(never)]
fn columns(choices: &Choices<'_>, time: Needs) -> Vec<Column> {
    let mut columns = match choices.wishes.columns {
        Some(list) => args::columns(list),
        None => [
            (choices.inode, Column::Inode),
            (choices.blocks, Column::Blocks),
            (true, Column::Mode),
            (true, Column::Links),
            (!choices.no_owner, Column::User),
            (!choices.no_group, Column::Group),
            (choices.author, Column::User),
            (choices.context, Column::Context),
            (true, Column::Size),
            (true, Column::of_time(time)),
            (choices.wishes.git, Column::Git),
            (true, Column::Name),
        ]
        .into_iter()
        .filter_map(|(shown, column)| shown.then_some(column))
        .collect(),
    };
    if choices.wishes.git && !columns.contains(&Column::Git) {
        put(&mut columns, Column::Git);
    }
    for (puts, column) in choices.wishes.changes() {
        match columns.contains(&column) {
            false if puts => put(&mut columns, column),
            true if !puts => columns.retain(|one| *one != column),
            _ => {}
        }
    }
    columns.retain(|column| !choices.wishes.without.contains(column));
    columns
}

/// Before the name.
fn put(columns: &mut Vec<Column>, column: Column) {
    let name = columns.iter().position(|column| *column == Column::Name);
    columns.insert(name.unwrap_or(columns.len()), column);
}

impl Planner<'_, '_> {
    /// Puts the view in the place of GNU's long format. What stands in its columns stands nowhere else.
    #[cold]
    #[inline(never)]
    pub(super) fn view(&mut self, choices: &Choices<'_>, style: &mut Style) {
        let wishes = &choices.wishes;
        let mut view = View {
            columns: columns(choices, style.time),
            header: wishes.header,
            relative: wishes.relative,
            smart_group: wishes.smart_group,
            mounts: wishes.mounts,
            xattrs: wishes.xattrs,
            ..View::default()
        };
        if style.colors.is_some() {
            self.theme(&mut view.theme);
            let owners = [Column::User, Column::Uid];
            view.me = owners.iter().any(|column| view.columns.contains(column)).then(host::effective_user);
        }
        (style.owner, style.group) = (view.shows_users(), view.shows_groups());
        (style.author, style.inode, style.blocks, style.context) = (false, false, false, false);
        style.dired = false;
        style.view = Some(Box::new(view));
    }

    /// `DLS_COLORS`, laid over the built-in theme.
    #[cold]
    #[inline(never)]
    fn theme(&mut self, theme: &mut Theme) {
        let Some(value) = self.around.environment.dls_colors else { return };
        theme.apply(value, &mut |why| self.warnings.push(Warning::BadTheme(why)));
    }
}
