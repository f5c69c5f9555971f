//! `--names`: the names of all entries that differ, in the order of the lists and of their paths. They are written as they are read, so they
//! take no memory.

use super::lists::{Difference, List};
use super::{Args, Outcome};
use crate::output::Screen;
use std::io::{self, Write};

/// WORD, a tab, the path; of a moved entry WORD, a tab, the old path, a tab, the new path. On a terminal names are quoted, elsewhere unchanged.
/// With `--null` a NUL ends each word and each path.
pub(super) fn write(args: &Args, mut outcome: Outcome, out: &mut dyn Write) -> io::Result<()> {
    let screen = Screen::stdout();
    let (tab, end) = if args.null { (b"\0", b"\0") } else { (b"\t", b"\n") };
    let is_quoted = screen.is_terminal() && !args.null;
    let name = |path: &[u8], out: &mut dyn Write| match is_quoted {
        true => out.write_all(&screen.name(path)),
        false => out.write_all(path),
    };
    for list in List::ALL {
        while let Some(Difference { path, old_path, .. }) = outcome.listed.next(list)? {
            out.write_all(list.word().as_bytes())?;
            for path in old_path.iter().chain([&path]) {
                out.write_all(tab)?;
                name(path, out)?;
            }
            out.write_all(end)?;
        }
    }
    Ok(())
}
