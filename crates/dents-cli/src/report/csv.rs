//! The output of `--csv`: a line of titles, then a line for each row (RFC 4180). A text that is not UTF-8 is empty, and in Base64 in a
//! column of its own at the end.

use dents_render::record::{Cells, Syntax};
use std::io::{self, Write};

/// Writes rows.
pub(crate) struct Csv<'o> {
    out: &'o mut dyn Write,
    cells: Cells,
    line: Vec<u8>,
    is_first: bool,
}

impl<'o> Csv<'o> {
    /// Writes the titles. For each column of [texts](Csv::text) the last titles must have one with `_bytes` at its end.
    pub(crate) fn new(titles: &[&str], out: &'o mut dyn Write) -> io::Result<Csv<'o>> {
        writeln!(out, "{}", titles.join(","))?;
        Ok(Csv { out, cells: Cells::new(Syntax::Csv), line: Vec::new(), is_first: true })
    }

    /// What stands before the next cell.
    fn comma(&mut self) -> &'static [u8] {
        if std::mem::take(&mut self.is_first) { b"" } else { b"," }
    }

    /// A number.
    pub(crate) fn number(&mut self, number: i128) -> &mut Self {
        let comma = self.comma();
        self.line.extend_from_slice(comma);
        self.line.extend_from_slice(number.to_string().as_bytes());
        self
    }

    /// A word of our own, which needs no quotes.
    pub(crate) fn word(&mut self, word: &str) -> &mut Self {
        let comma = self.comma();
        self.line.extend_from_slice(comma);
        self.line.extend_from_slice(word.as_bytes());
        self
    }

    /// Text from outside.
    pub(crate) fn text(&mut self, text: &[u8]) -> &mut Self {
        let comma = self.comma();
        self.cells.text([comma, comma], Some(text), &mut self.line);
        self
    }

    /// Writes the row.
    pub(crate) fn end_row(&mut self) -> io::Result<()> {
        self.cells.end_row(&mut self.line);
        self.line.push(b'\n');
        let written = self.out.write_all(&self.line);
        self.line.clear();
        self.is_first = true;
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_bytes() {
        let mut out = Vec::new();
        let mut csv = Csv::new(&["path", "bytes", "path_bytes"], &mut out).unwrap();
        csv.text(b"a,\"b\"").number(-7).end_row().unwrap();
        csv.text(b"\xff").number(1).end_row().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "path,bytes,path_bytes\n\"a,\"\"b\"\"\",-7,\n,1,/w==\n");
    }
}
