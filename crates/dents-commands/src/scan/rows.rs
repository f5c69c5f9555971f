//! Rows for the formats of `dents-sink`: one with all metadata for each entry, and one for each directory that could not be entered.

use super::text_output::FirstError;
use crate::consumer::Consumer;
use crate::details::Asker;
use crate::entry::{Found, Origin};
use crate::owners::{Names, SharedOwners};
use dents_core::batch::{self, Batch, Entry};
use dents_core::needs::{Kind, Needs};
use dents_core::tree::{Failure, Place, Problem, Step};
use dents_sink::read::Columns;
use dents_sink::{Asked, Details, Facts, Fault, Part, Row};
use std::ffi::CString;

/// The needs of rows with these columns.
pub(crate) fn needs(columns: Columns) -> Needs {
    let needs = Needs::TYPE | columns.needs();
    if columns.contains(Columns::USUAL) { needs | Needs::EXTRA } else { needs }
}

/// Gives the rows of one worker to its part of the output.
pub(crate) struct Rows<'p, P = Box<dyn Part + 'p>> {
    pub(super) part: P,
    first_error: &'p FirstError,
    names: Names<'p>,
    operands: &'p [CString],
    columns: Columns,
    /// The needs of the columns.
    needs: Needs,
    details: Asker,
}

impl<'p, P: Part> Rows<'p, P> {
    pub(crate) fn new(
        part: P,
        first_error: &'p FirstError,
        owners: &'p SharedOwners,
        operands: &'p [CString],
    ) -> Self {
        Rows {
            part,
            first_error,
            names: Names::new(owners),
            operands,
            columns: Columns::USUAL,
            needs: Columns::USUAL.needs(),
            details: Asker::default(),
        }
    }

    /// With these columns alone.
    pub(crate) fn with(self, columns: Columns) -> Self {
        Rows { columns, needs: columns.needs(), details: Asker::new(columns), ..self }
    }
}

impl<P: Part> Rows<'_, P> {
    fn row(&mut self, row: &Row<'_>) {
        if let Err(error) = self.part.row(row) {
            self.first_error.note(error);
        }
    }
}

impl<P: Part> Consumer for Rows<'_, P> {
    type State = ();

    fn begin(&mut self, _: &Place<'_>, batch: &Batch) {
        let mut names = Needs::empty();
        names.set(Needs::UID, self.columns.contains(Columns::USER));
        names.set(Needs::GID, self.columns.contains(Columns::GROUP));
        if !names.is_empty() {
            self.names.learn(batch, names);
        }
    }

    fn entry(&mut self, found: &Found<'_>, (): &()) -> Step {
        let Found { parent, name, depth, kind, .. } = *found;
        match found.origin {
            Origin::Live(place, entry) => {
                let row = Row {
                    parent,
                    name,
                    depth,
                    kind,
                    facts: facts(entry, &self.names, self.columns, self.needs),
                    target: if kind == Kind::Link && self.columns.contains(Columns::TARGET) {
                        entry.link()
                    } else {
                        None
                    },
                    details: self.details.ask(place, entry),
                    fault: entry.fault().map(|(asked, errno)| Fault {
                        asked: if asked == batch::Asked::Link { Asked::Link } else { Asked::Stat },
                        errno: errno.raw_os_error(),
                    }),
                };
                // Not `self.row`, as the row borrows from the names.
                if let Err(error) = self.part.row(&row) {
                    self.first_error.note(error);
                }
            }
            Origin::Row(row) => self.row(&Row { parent, name, depth, ..*row }),
        }
        Step::Enter
    }

    fn failed(&mut self, failure: &Failure<'_>) {
        let (parent, name) = split(failure, self.operands);
        let asked = match failure.problem {
            Problem::Open => Asked::Open,
            Problem::Read => Asked::Read,
            Problem::Loop => Asked::Loop,
        };
        let fault = Some(Fault { asked, errno: failure.errno.raw_os_error() });
        let depth = failure.depth.saturating_sub(1);
        self.row(&Row {
            parent,
            name,
            depth,
            kind: Kind::Dir,
            facts: None,
            target: None,
            details: Details::default(),
            fault,
        });
    }

    fn failed_row(&mut self, row: &Row<'_>) {
        self.row(row);
    }

    fn requests(&mut self) -> u64 {
        self.details.requests()
    }

    fn finish(&mut self) {
        if let Err(error) = self.part.flush() {
            self.first_error.note(error);
        }
    }

    fn takes_faults(&self) -> bool {
        true
    }
}

/// The facts of these needs. Others are not read: the walk may not know them.
fn facts<'n>(entry: &Entry<'_>, names: &'n Names<'_>, columns: Columns, needs: Needs) -> Option<Facts<'n>> {
    entry.extra()?;
    let facts = Facts::of(entry, needs);
    Some(Facts {
        user: if columns.contains(Columns::USER) { names.user(facts.uid) } else { None },
        group: if columns.contains(Columns::GROUP) { names.group(facts.gid) } else { None },
        ..facts
    })
}

/// Parent and name of a directory that failed, as in the row of its entry.
pub(crate) fn split<'f>(failure: &Failure<'f>, operands: &[CString]) -> (&'f [u8], &'f [u8]) {
    let path = failure.path;
    let slash = path.iter().rposition(|byte| *byte == b'/').filter(|_| failure.depth > 1);
    let Some(slash) = slash else { return (b"", path) };
    // The slashes at the end of a PATH belong to the PATH.
    let is_operand = |end: usize| operands.iter().any(|operand| operand.to_bytes() == &path[..end]);
    let end = if failure.depth == 2 && !is_operand(slash) { slash + 1 } else { slash };
    (&path[..end], &path[slash + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use dents_sys::Errno;

    #[test]
    fn the_parent_of_what_failed_is_that_of_its_row() {
        let operands = [c"/".to_owned(), c"a".to_owned(), c"b//".to_owned(), c"/x/y".to_owned()];
        for (path, depth, parent, name) in [
            ("/", 1, "", "/"),
            ("/x/y", 1, "", "/x/y"),
            ("/bin", 2, "/", "bin"),
            ("/x/y/z", 2, "/x/y", "z"),
            ("/usr/bin", 3, "/usr", "bin"),
            ("a/c", 2, "a", "c"),
            ("b//c", 2, "b//", "c"),
            ("b//c/d", 3, "b//c", "d"),
        ] {
            let (id, problem, errno) = (1, Problem::Open, Errno::ACCESS);
            let failure = Failure { id, parent: 0, depth, path: path.as_bytes(), problem, errno };
            assert_eq!(split(&failure, &operands), (parent.as_bytes(), name.as_bytes()), "{path}");
        }
    }
}
