//! Tables: titles, columns as wide as their widest cell, numbers right-aligned.

use super::screen::{Paint, Screen};
use dents_render::width::width;
use std::io::{self, Write};

/// Blanks between two columns.
const GAP: usize = 2;

pub(crate) struct Column {
    title: &'static str,
    right: bool,
    paint: Paint,
}

impl Column {
    /// A right-aligned column, for numbers.
    pub(crate) fn right(title: &'static str) -> Column {
        Column { title, right: true, paint: Paint::Plain }
    }

    /// A left-aligned column, for names. The last column is not padded.
    pub(crate) fn left(title: &'static str) -> Column {
        Column { title, right: false, paint: Paint::Plain }
    }

    pub(crate) fn painted(self, paint: Paint) -> Column {
        Column { paint, ..self }
    }
}

/// Rows of cells, drawn when the widths are known.
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Vec<u8>>>,
}

impl Table {
    pub(crate) fn new(columns: Vec<Column>) -> Table {
        Table { columns, rows: Vec::new() }
    }

    /// Adds a row, with a cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<Vec<u8>>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Writes the table. If no column has a title, there is no line of titles.
    pub(crate) fn draw(&self, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.columns.len()).map(|at| self.width(at, screen)).collect();
        let titled = self.columns.iter().any(|column| !column.title.is_empty());
        if titled {
            let titles: Vec<&[u8]> = self.columns.iter().map(|column| column.title.as_bytes()).collect();
            self.line(&titles, &widths, Some(Paint::Bold), screen, out)?;
        }
        for row in &self.rows {
            let cells: Vec<&[u8]> = row.iter().map(Vec::as_slice).collect();
            self.line(&cells, &widths, None, screen, out)?;
        }
        Ok(())
    }

    fn width(&self, at: usize, screen: &Screen) -> usize {
        let cells = self.rows.iter().map(|row| width(&row[at], screen.charset));
        cells.max().unwrap_or(0).max(self.columns[at].title.len())
    }

    fn line(
        &self,
        cells: &[&[u8]],
        widths: &[usize],
        paint: Option<Paint>,
        screen: &Screen,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut line = Vec::new();
        for (at, ((cell, column), most)) in cells.iter().zip(&self.columns).zip(widths).enumerate() {
            let blanks = most.saturating_sub(width(cell, screen.charset));
            let last = at + 1 == cells.len();
            let before = usize::from(at > 0) * GAP + if column.right { blanks } else { 0 };
            line.resize(line.len() + before, b' ');
            screen.paint(paint.unwrap_or(column.paint), cell, &mut line);
            if !column.right && !last {
                line.resize(line.len() + blanks, b' ');
            }
        }
        line.push(b'\n');
        out.write_all(&line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dents_locale::Locale;

    #[test]
    fn columns_stand_below_each_other() {
        let mut table = Table::new(vec![Column::right("SIZE"), Column::left("USER"), Column::left("NAME")]);
        for (size, user, name) in [("1", "\u{6f22}", "a"), ("12345", "root", "longer than others")] {
            table.row([size, user, name].map(|cell| cell.as_bytes().to_vec()).to_vec());
        }
        let mut out = Vec::new();
        table.draw(&Screen::new(None, false, &Locale::C_UTF8), &mut out).unwrap();
        let expected = " SIZE  USER  NAME\n    1  \u{6f22}    a\n12345  root  longer than others\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
