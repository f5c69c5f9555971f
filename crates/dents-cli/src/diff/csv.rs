//! `--csv`: a line for each entry that differs; what is not known is empty. A path that is not UTF-8, or that has control characters, is in
//! the last columns, in Base64.

use super::lists::{Difference, List};
use super::{Args, Outcome};
use crate::report::Csv;
use dents_render::record::words;
use std::io::{self, Write};

const TITLES: [&str; 11] = [
    "difference",
    "path",
    "type",
    "old_size",
    "new_size",
    "old_path",
    "bytes",
    "allocated",
    "changes",
    "path_bytes",
    "old_path_bytes",
];
/// With `--summary`.
const COUNTS: [&str; 4] = ["difference", "entries", "bytes", "allocated"];

pub(super) fn write(args: &Args, mut outcome: Outcome, out: &mut dyn Write) -> io::Result<()> {
    if args.summary {
        return counts(&outcome, out);
    }
    let mut csv = Csv::new(&TITLES, out)?;
    for list in List::ALL {
        while let Some(difference) = outcome.listed.next(list)? {
            row(&difference, &mut csv)?;
        }
    }
    Ok(())
}

fn counts(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = Csv::new(&COUNTS, out)?;
    for list in List::ALL {
        let count = outcome.listed.counts[list as usize];
        csv.word(list.word()).number(count.entries.into()).number(count.bytes).number(count.allocated);
        csv.end_row()?;
    }
    Ok(())
}

fn row(difference: &Difference, csv: &mut Csv<'_>) -> io::Result<()> {
    let Difference { list, path, kind, old_size, new_size, old_path, changes, growth } = difference;
    csv.word(list.word()).text(path).word(words::of_kind(*kind));
    for size in [old_size, new_size] {
        match size {
            Some(size) => csv.number((*size).into()),
            None => csv.word(""),
        };
    }
    // An empty text has an empty cell of bytes too.
    csv.text(old_path.as_deref().unwrap_or_default());
    let changes: Vec<&str> = changes.words().collect();
    csv.number(growth.bytes).number(growth.allocated).word(&changes.join(" "));
    csv.end_row()
}
