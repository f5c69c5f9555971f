//! Formats for programs, and the fields of their rows.

use super::choices::Choices;
use alloc::vec::Vec;
use dents_render::record::{Field, Record};
use dents_render::{Column, Format};

impl Choices<'_> {
    /// The format for programs or counts, if one was asked for: no other one matters then.
    pub(super) fn special(&self) -> Option<Format> {
        if self.count { Some(Format::Count) } else { self.syntax.map(|_| Format::Record) }
    }

    /// The fields of the rows.
    pub(super) fn record(&self) -> Option<Record> {
        self.syntax.map(|syntax| Record { syntax, fields: self.fields(), lazy: self.lazy })
    }

    /// The fields of the selected columns; otherwise those that one `statx` returns, and those that options add.
    #[cold]
    #[inline(never)]
    fn fields(&self) -> Vec<Field> {
        let mut fields = match self.view.columns() {
            Some(columns) => columns.into_iter().flat_map(Column::fields).copied().collect(),
            None => self.usual_fields(),
        };
        for (puts, column) in self.view.changes() {
            let changed = column.fields();
            fields.retain(|field| !changed.contains(field));
            fields.extend(changed.iter().filter(|_| puts));
        }
        Field::complete(fields)
    }

    fn usual_fields(&self) -> Vec<Field> {
        let unnamed = |field: &Field| self.numeric && matches!(field, Field::User | Field::Group);
        let usual = Field::USUAL.iter().copied().filter(|field| !unnamed(field));
        let more: [(bool, &[Field]); 5] = [
            (self.format == Some(Format::Long) && !self.implied, &[Field::Acl]),
            (self.context, Column::Context.fields()),
            (self.view.xattrs, Column::Xattrs.fields()),
            (self.view.git, Column::Git.fields()),
            (self.total_ns().is_some(), Column::Total.fields()),
        ];
        let more = more.into_iter().filter(|(wanted, _)| *wanted).flat_map(|(_, fields)| fields);
        usual.chain(more.copied()).collect()
    }
}
