//! The output of `--csv`: a line of titles, then a line for each row (RFC 4180). If a text is not UTF-8, its cell is empty, and a column
//! at the end has the text in Base64. That column has the name of the first, with `_bytes` appended.

use crate::rows::{Cell, RowWriter, Type};
use dents_render::record::{Cells, Syntax};
use std::io::{self, Write};

/// Writes rows.
pub(crate) struct Csv<'o> {
    out: &'o mut dyn Write,
    cells: Cells,
    types: Vec<Type>,
    line: Vec<u8>,
}

impl<'o> Csv<'o> {
    pub(crate) fn new(out: &'o mut dyn Write) -> Csv<'o> {
        Csv { out, cells: Cells::new(Syntax::Csv), types: Vec::new(), line: Vec::new() }
    }
}

impl RowWriter for Csv<'_> {
    fn titles(&mut self, titles: &[(&'static str, Type)]) -> io::Result<()> {
        self.types = titles.iter().map(|(_, kind)| *kind).collect();
        let texts = titles.iter().filter(|(_, kind)| *kind == Type::Text);
        let bytes = texts.map(|(name, _)| format!("{name}_bytes"));
        let titles = titles.iter().map(|(name, _)| (*name).to_owned());
        writeln!(self.out, "{}", titles.chain(bytes).collect::<Vec<_>>().join(","))
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        debug_assert_eq!(cells.len(), self.types.len());
        for (nth, (cell, kind)) in cells.iter().zip(&self.types).enumerate() {
            let comma: &[u8] = if nth == 0 { b"" } else { b"," };
            match cell {
                _ if *kind == Type::Text => {
                    let text = if let Cell::Text(text) = cell { Some(*text) } else { None };
                    self.cells.text([comma; 2], text, &mut self.line);
                }
                Cell::Number(number) => {
                    self.line.extend_from_slice(comma);
                    write!(self.line, "{number}")?;
                }
                Cell::Word(word) if word.contains(',') => {
                    self.line.extend_from_slice(comma);
                    write!(self.line, "\"{word}\"")?;
                }
                Cell::Word(word) => self.cells.word(comma, Some(word.as_bytes()), &mut self.line),
                Cell::Time(time) => self.cells.time(comma, Some(*time), &mut self.line),
                Cell::Text(_) | Cell::Null => self.cells.null(comma, &mut self.line),
            }
        }
        self.cells.end_row(&mut self.line);
        self.line.push(b'\n');
        let written = self.out.write_all(&self.line);
        self.line.clear();
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_bytes() {
        let mut out = Vec::new();
        let mut csv = Csv::new(&mut out);
        csv.titles(&[("by", Type::Word), ("path", Type::Text), ("bytes", Type::Number)]).unwrap();
        csv.row(&[Cell::Word("user,age"), Cell::Text(b"a,\"b\""), Cell::Number(-7)]).unwrap();
        csv.row(&[Cell::Word("size"), Cell::Text(b"\xff"), Cell::Null]).unwrap();
        csv.row(&[Cell::Word(""), Cell::Null, Cell::Number(1)]).unwrap();
        let lines = "by,path,bytes,path_bytes\n\"user,age\",\"a,\"\"b\"\"\",-7,\nsize,,,/w==\n,,1,\n";
        assert_eq!(String::from_utf8(out).unwrap(), lines);
    }
}
