//! A check of the round trip of rows, without a file.

use super::read::{Counted, take_line};
use super::{Fields, Parent, push_line};
use crate::row::Row;
use crate::scan_file::Columns;
use dents_render::record::{Cells, Syntax};

/// Checks that the row, written as a line and read again, is the same.
pub(crate) fn comes_back(row: &Row<'_>) {
    let mut line = Vec::new();
    let mut parent = Parent::default();
    parent.set(row.parent);
    push_line(row, &parent, &Fields::new(Columns::DETAILS), &mut Cells::new(Syntax::Ndjson), &mut line);
    let mut same = false;
    let mut compare = |back: &Row<'_>| {
        same = back == row;
        Ok(())
    };
    let read = take_line(line.trim_ascii_end(), &mut Counted::default(), &mut compare);
    assert!(read.is_ok() && same, "{row:?} is not {}: {read:?}", line.escape_ascii());
}
