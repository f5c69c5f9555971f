//! Whether the long format is GNU's or the view, and the columns of the view.
//!
//! It is GNU's unless an option needs more: for a `-l` without options that only `dls` has, this costs one comparison.

use super::choices::Choices;
use super::planner::Planner;
use super::warning::Warning;
use crate::args;
use crate::args::words::ColorScale;
use alloc::boxed::Box;
use alloc::vec::Vec;
use dents_core::needs::Needs;
use dents_render::{Column, Style, Theme, View};
use dents_sys::host;

/// The columns of `--columns`, or those of `-l` and similar options, without those that an option removed.
#[cold]
#[inline(never)]
fn columns(choices: &Choices<'_>, time: Needs) -> Vec<Column> {
    let mut columns = match choices.view.columns {
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
            (choices.view.git, Column::Git),
            (true, Column::Name),
        ]
        .into_iter()
        .filter_map(|(shown, column)| shown.then_some(column))
        .collect(),
    };
    if choices.view.git && !columns.contains(&Column::Git) {
        put(&mut columns, Column::Git);
    }
    for (puts, column) in choices.view.changes() {
        match columns.contains(&column) {
            false if puts => put(&mut columns, column),
            true if !puts => columns.retain(|one| *one != column),
            _ => {}
        }
    }
    columns.retain(|column| !choices.view.without.contains(column));
    columns
}

/// Takes the colours of the column that `--color-scale` does not name.
fn scale(scale: Option<ColorScale>, theme: &mut Theme) {
    let without: &[u8] = match scale {
        None | Some(ColorScale::All) => return,
        Some(ColorScale::Age) => b"size=",
        Some(ColorScale::Size) => b"age=:future=",
    };
    theme.apply(without, &mut |_| {});
}

/// Before the name.
fn put(columns: &mut Vec<Column>, column: Column) {
    let name = columns.iter().position(|column| *column == Column::Name);
    columns.insert(name.unwrap_or(columns.len()), column);
}

impl Planner<'_, '_> {
    /// Replaces GNU's long format by the view. Facts that have a column are not shown elsewhere.
    #[cold]
    #[inline(never)]
    pub(super) fn view(&mut self, choices: &Choices<'_>, style: &mut Style) {
        let options = &choices.view;
        let mut view = View {
            columns: columns(choices, style.long.time),
            header: options.header,
            relative: options.relative,
            smart_group: options.smart_group,
            mounts: options.mounts,
            xattrs: options.xattrs,
            ..View::default()
        };
        if style.names.colors.is_some() {
            self.theme(&mut view.theme);
            scale(options.scale, &mut view.theme);
            let owners = [Column::User, Column::Uid];
            view.me = owners.iter().any(|column| view.columns.contains(column)).then(host::effective_user);
        }
        (style.long.owner, style.long.group) = (view.shows_users(), view.shows_groups());
        let prefix = &mut style.prefix;
        (prefix.inode, prefix.blocks, prefix.context) = (false, false, false);
        style.long.author = false;
        style.long.dired = false;
        style.long.view = Some(Box::new(view));
    }

    /// `DLS_COLORS`, laid over the built-in theme.
    #[cold]
    #[inline(never)]
    fn theme(&mut self, theme: &mut Theme) {
        let Some(value) = self.around.environment.dls_colors else { return };
        theme.apply(value, &mut |why| self.warnings.push(Warning::BadTheme(why)));
    }
}
