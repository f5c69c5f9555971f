//! `--csv`: a row for each entry that differs. The cell of an unknown value is empty.

use super::lists::{Difference, List};
use super::{Args, Outcome};
use crate::rows::{Cell, RowWriter, Type};
use dents_render::record::words;
use std::io;

const TITLES: [(&str, Type); 9] = [
    ("difference", Type::Word),
    ("path", Type::Text),
    ("type", Type::Word),
    ("old_size", Type::Number),
    ("new_size", Type::Number),
    ("old_path", Type::Text),
    ("bytes", Type::Number),
    ("allocated", Type::Number),
    ("changes", Type::Word),
];
/// With `--summary`.
const COUNTS: [(&str, Type); 4] = [
    ("difference", Type::Word),
    ("entries", Type::Number),
    ("bytes", Type::Number),
    ("allocated", Type::Number),
];

pub(super) fn write(args: &Args, mut outcome: Outcome, writer: &mut dyn RowWriter) -> io::Result<()> {
    if args.summary {
        return counts(&outcome, writer);
    }
    writer.titles(&TITLES)?;
    for list in List::ALL {
        while let Some(difference) = outcome.listed.next(list)? {
            row(&difference, writer)?;
        }
    }
    Ok(())
}

fn counts(outcome: &Outcome, writer: &mut dyn RowWriter) -> io::Result<()> {
    writer.titles(&COUNTS)?;
    for list in List::ALL {
        let count = outcome.listed.counts[list as usize];
        let [entries, bytes, allocated] =
            [i128::from(count.entries), count.bytes, count.allocated].map(Cell::Number);
        writer.row(&[Cell::Word(list.word()), entries, bytes, allocated])?;
    }
    Ok(())
}

fn row(difference: &Difference, writer: &mut dyn RowWriter) -> io::Result<()> {
    let Difference { list, path, kind, old_size, new_size, old_path, changes, growth } = difference;
    let [old_size, new_size] =
        [old_size, new_size].map(|size| size.map_or(Cell::Null, |size| Cell::Number(size.into())));
    let changes: Vec<&str> = changes.words().collect();
    writer.row(&[
        Cell::Word(list.word()),
        Cell::Text(path),
        Cell::Word(words::of_kind(*kind)),
        old_size,
        new_size,
        old_path.as_deref().map_or(Cell::Null, Cell::Text),
        Cell::Number(growth.bytes),
        Cell::Number(growth.allocated),
        Cell::Word(&changes.join(" ")),
    ])
}
