//! The JSON of ncdu (<https://dev.yorhel.nl/ncdu/jsonfmt>), format version 1.2: an array for each directory, an object for each entry.
//!
//! ```json
//! [1,2,{"progname":"dents","progver":"0.1.0","timestamp":1795470023,"complete":true},
//! [{"name":"/srv","asize":4096,"dsize":4096,"dev":65024,"uid":0,"gid":0,"mode":16877,"mtime":1795470023,"ino":2},
//! {"name":"disk.img","asize":100000,"dsize":102400,"uid":0,"gid":0,"mode":33188,"mtime":1795470023,"ino":11},
//! [{"name":"empty","asize":4096,"dsize":4096,"uid":0,"gid":0,"mode":16877,"mtime":1795470023,"ino":12}]]]
//! ```
//!
//! This format is for the exchange with ncdu and gdu. Unlike the others it does not keep rows exactly:
//!
//! | | written | read |
//! |---|---|---|
//! | roots | one directory | |
//! | names | bytes as they are, also if they are not UTF-8; control characters escaped, as ncdu does | the same |
//! | `asize`, `dsize` | size and allocated space; 0 is left out | |
//! | `dev` | where it is not that of the directory above | |
//! | `ino` | always; ncdu itself only for files with several links | otherwise a number that depends on the path |
//! | `hlnkc`, `nlink` | of files with several links | `nlink` is 1, with `hlnkc` at least 2 |
//! | `uid`, `gid`, `mode`, `mtime` | if they are known; times in seconds. ncdu itself only with `-e` | otherwise not known ([`crate::Facts::unknown`]), as the other times |
//! | `notreg` | neither a regular file nor a directory | without a mode a link if it has a size, else of unknown type |
//! | `read_error` | a request failed | the error is then `EIO`, as the file has no number |
//! | `excluded` | never | an entry without metadata |
//! | `complete` | whether the scan is complete | ncdu writes a file at the end of a scan, so otherwise it is |
//!
//! Names of owners, targets of links and the other times are not kept. Rows must come in the order of their paths, so they are sorted like
//! those of Parquet, in bounded memory.
//!
//! The format has no checksum, so a file with another digit, another letter in a name or an entry less is another valid file: damage is noticed
//! only where it breaks the structure (`tests/files/mutants.rs`).

#[cfg(test)]
mod tests;

mod read;
mod tree;

pub(crate) use read::Dump;

use crate::format::{About, Extent};
use crate::output::{Output, Own};
use crate::sink::{Part, Sink};
use crate::sorted::Sorter;
use dents_core::batch::Time;
use dents_render::record::text::push_string;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use tree::Tree;

/// A file of ncdu that is being written.
pub struct Ncdu {
    version: String,
    begun: Time,
    rows: Sorter,
    output: Output,
}

impl Ncdu {
    /// Begins the file.
    #[must_use]
    pub fn new(output: Output, about: &About<'_>) -> Self {
        let version = about.program.rsplit(' ').next().unwrap_or_default().to_owned();
        Ncdu { version, begun: about.begun, rows: Sorter::new(output.scratch()), output }
    }
}

impl Sink for Ncdu {
    fn part(&self) -> Box<dyn Part + '_> {
        Box::new(self.rows.worker())
    }

    fn own(&self) -> Option<Own> {
        self.output.own()
    }

    fn finish(self: Box<Self>, extent: Extent) -> io::Result<Option<PathBuf>> {
        let Ncdu { version, begun, rows, output } = *self;
        let mut begin = b"[1,2,{\"progname\":\"dents\",\"progver\":".to_vec();
        push_string(version.as_bytes(), &mut begin);
        let complete = extent == Extent::Complete;
        begin.extend(format!(",\"timestamp\":{},\"complete\":{complete}}}", begun.sec.max(0)).bytes());
        let mut out = BufWriter::with_capacity(256 << 10, output);
        out.write_all(&begin)?;
        let rows = rows.finish()?;
        let mut tree = Tree::new(&mut out);
        rows.all(&mut |row| tree.row(row))?;
        tree.finish()?;
        out.write_all(b"]\n")?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.commit(extent)
    }
}
