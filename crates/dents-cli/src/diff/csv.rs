//! `--csv`: a row for each entry that differs. The cell of an unknown value is empty.

use super::lists::{Difference, List};
use super::{Args, Outcome};
use crate::report::{Cell, Sheet, Type};
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

pub(super) fn write(args: &Args, mut outcome: Outcome, sheet: &mut dyn Sheet) -> io::Result<()> {
    if args.summary {
        return counts(&outcome, sheet);
    }
    sheet.titles(&TITLES)?;
    for list in List::ALL {
        while let Some(difference) = outcome.listed.next(list)? {
            row(&difference, sheet)?;
        }
    }
    Ok(())
}

fn counts(outcome: &Outcome, sheet: &mut dyn Sheet) -> io::Result<()> {
    sheet.titles(&COUNTS)?;
    for list in List::ALL {
        let count = outcome.listed.counts[list as usize];
        let [entries, bytes, allocated] =
            [i128::from(count.entries), count.bytes, count.allocated].map(Cell::Number);
        sheet.row(&[Cell::Word(list.word()), entries, bytes, allocated])?;
    }
    Ok(())
}

fn row(difference: &Difference, sheet: &mut dyn Sheet) -> io::Result<()> {
    let Difference { list, path, kind, old_size, new_size, old_path, changes, growth } = difference;
    let [old_size, new_size] =
        [old_size, new_size].map(|size| size.map_or(Cell::Null, |size| Cell::Number(size.into())));
    let changes: Vec<&str> = changes.words().collect();
    sheet.row(&[
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
