//! A row: the metadata of one entry, which all formats write and read.

use crate::details::Details;
pub use crate::words::{Asked, Fault};
use dents_core::facts::{Columns, Facts};
use dents_core::needs::Kind;
use dents_core::path;

/// One entry, or one directory that could not be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The path of its directory, beginning with the operand; empty for an operand itself.
    pub parent: &'a [u8],
    /// Its name; for an operand, the whole argument.
    pub name: &'a [u8],
    /// 0 for operands, 1 for their entries.
    pub depth: u32,
    /// Its type; unknown if neither `readdir` nor `statx` returned it.
    pub kind: Kind,
    /// The result of `statx`; `None` if it was not called, or failed.
    pub facts: Option<Facts<'a>>,
    /// The target of a symbolic link, as `readlink` returns it.
    pub target: Option<&'a [u8]>,
    /// The facts that the scan has on request.
    pub details: Details<'a>,
    /// The request that failed. A directory that could not be opened or read to its end has a second row for that,
    /// see [`Fault::is_of_directory`]; every other row is an entry.
    pub fault: Option<Fault>,
}

impl<'a> Row<'a> {
    /// Appends the path: parent and name with a slash between them, unless there is no parent or it ends with one.
    pub fn path(&self, path: &mut Vec<u8>) {
        path::push(self.parent, self.name, path);
    }

    /// The row with neutral values in the columns that are not in this set. If the set has a detail, the row keeps all details.
    #[must_use]
    pub fn only(&self, columns: Columns) -> Row<'a> {
        let has = |column| columns.contains(column);
        Row {
            parent: if has(Columns::PARENT) { self.parent } else { b"" },
            name: if has(Columns::NAME) { self.name } else { b"" },
            facts: self.facts.map(|facts| facts.only(columns)),
            target: self.target.filter(|_| has(Columns::TARGET)),
            details: if columns.intersects(Columns::DETAILS) { self.details } else { Details::default() },
            ..*self
        }
    }

    /// Whether this is a root that could not be opened or read to its end: then the scan is not complete.
    #[must_use]
    pub fn is_failed_root(&self) -> bool {
        self.depth == 0
            && self.fault.is_some_and(|fault| fault.asked == Asked::Stat || fault.is_of_directory())
    }

    /// The row without its texts and details, for a caller that keeps these elsewhere.
    #[must_use]
    pub fn without_texts(&self) -> Row<'static> {
        let facts = self.facts.map(|facts| Facts { user: None, group: None, ..facts });
        Row { parent: b"", name: b"", facts, target: None, details: Details::default(), ..*self }
    }

    /// The row with these texts: parent and name, the names of owner and group, the target, and the details.
    #[must_use]
    pub fn with_texts<'t>(
        &self,
        path: [&'t [u8]; 2],
        others: [Option<&'t [u8]>; 3],
        details: Details<'t>,
    ) -> Row<'t> {
        let ([parent, name], [user, group, target]) = (path, others);
        let facts = self.facts.map(|facts| Facts { user, group, ..facts });
        Row { parent, name, facts, target, details, ..*self }
    }

    /// The name with which this parent makes this path; `None` if there is none.
    #[must_use]
    pub fn name_in(parent: &[u8], path: &'a [u8]) -> Option<&'a [u8]> {
        path.strip_prefix(parent)?.strip_prefix(path::separator(parent))
    }
}
