//! Rows as lines and back, without a file.

use super::{Parent, push_line};
use crate::Row;

/// The line of a row.
pub(crate) fn line(row: &Row<'_>) -> Vec<u8> {
    let mut line = Vec::new();
    push_line(row, &Parent::new(row.parent), &mut line);
    line
}
