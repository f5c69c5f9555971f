//! Rows of typed cells: `--csv` writes them, and another program receives them as a table.

use dents_core::batch::Time;
use std::io;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number.
    Number,
    /// A word of this project.
    Word,
    /// A name or path: any bytes.
    Text,
    /// A point in time.
    Time,
}

/// A cell of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'c> {
    /// A number.
    Number(i128),
    /// A word of this project.
    Word(&'c str),
    /// A name or path: any bytes.
    Text(&'c [u8]),
    /// A point in time.
    Time(Time),
    /// No value.
    Null,
}

/// Receives rows.
pub trait RowWriter {
    /// Name and type of each column. Called once, before all rows.
    fn titles(&mut self, titles: &[(&'static str, Type)]) -> io::Result<()>;

    /// A row, with a cell for each column.
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()>;
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// The values of a column of [`Type::Number`].
    Numbers(Vec<Option<i128>>),
    /// The values of a column of [`Type::Word`] or [`Type::Text`].
    Texts(Vec<Option<Box<[u8]>>>),
    /// The values of a column of [`Type::Time`].
    Times(Vec<Option<Time>>),
}

/// A table in memory, by columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// Name, type and values of each column; all have as many values.
    pub columns: Vec<(&'static str, Type, Values)>,
}

impl RowWriter for Records {
    fn titles(&mut self, titles: &[(&'static str, Type)]) -> io::Result<()> {
        let values = |kind| match kind {
            Type::Number => Values::Numbers(Vec::new()),
            Type::Word | Type::Text => Values::Texts(Vec::new()),
            Type::Time => Values::Times(Vec::new()),
        };
        self.columns = titles.iter().map(|(name, kind)| (*name, *kind, values(*kind))).collect();
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        debug_assert_eq!(cells.len(), self.columns.len());
        for ((_, _, values), cell) in self.columns.iter_mut().zip(cells) {
            match (values, cell) {
                (Values::Numbers(values), Cell::Number(number)) => values.push(Some(*number)),
                (Values::Texts(values), Cell::Text(text)) => values.push(Some((*text).into())),
                (Values::Texts(values), Cell::Word(word)) => values.push(Some(word.as_bytes().into())),
                (Values::Times(values), Cell::Time(time)) => values.push(Some(*time)),
                (Values::Numbers(values), _) => values.push(None),
                (Values::Texts(values), _) => values.push(None),
                (Values::Times(values), _) => values.push(None),
            }
        }
        Ok(())
    }
}
