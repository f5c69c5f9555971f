//! Whether a scan in parts is whole: all tasks are committed, nothing waits, all rows can be read, no entry is there twice.

use super::Parts;
use super::claim::Head;
use crate::format::Extent;
use crate::output::Scratch;
use crate::read;
use crate::row::{Asked, Fault, Row};
use crate::sink::Part;
use crate::sorted::Sorter;
use std::io;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Tasks.
    pub tasks: u64,
    /// Of these, not committed.
    pub open: u64,
    /// Directories that wait.
    pub waiting: u64,
    /// Rows of all shards.
    pub rows: u64,
    /// Directories that could not be opened or read, in the end.
    pub unread: u64,
    /// Shards with a root that could not be read.
    pub partial: u64,
    /// What is wrong, each in a line.
    pub problems: Vec<String>,
}

/// Problems of one kind that are listed.
const LISTED: usize = 10;

impl Parts {
    /// Reads all claims and shards. Rows are sorted by path, in bounded memory.
    ///
    /// # Errors
    /// If a temporary file cannot be written. What is wrong with the files themselves is in the verdict.
    pub fn verify(&self) -> io::Result<Verdict> {
        let mut verdict = Verdict { tasks: self.last(), ..Verdict::default() };
        let sorter = Sorter::new(Scratch::temporary());
        let mut rows = sorter.worker();
        let (mut claimed, mut left) = (0_u64, self.plan.roots.len() as u64);
        for number in 1..=verdict.tasks {
            let checked = self.claim_file(number).and_then(Head::read).and_then(|head| {
                claimed += self.directories(&head.id)?.len() as u64;
                Ok((self.done(&head.id)?, head))
            });
            match checked {
                Err(error) => verdict.problems.push(error.to_string()),
                Ok((None, _)) => verdict.open += 1,
                Ok((Some(done), head)) => {
                    left = left.saturating_add(done.left);
                    verdict.partial += u64::from(done.extent == Extent::Partial);
                    verdict.rows += done.entries;
                    let mut give = |row: &Row<'_>| {
                        let is_unread = |fault: Fault| matches!(fault.asked, Asked::Open | Asked::Read);
                        verdict.unread += u64::from(row.fault.is_some_and(is_unread));
                        rows.row(row)
                    };
                    let reader = self.shard(&head.id).and_then(|shard| read::shard(&shard));
                    match reader.and_then(|reader| reader.for_each(&mut give)) {
                        Ok(_) => {}
                        Err(error) => verdict.problems.push(error.to_string()),
                    }
                }
            }
        }
        rows.flush()?;
        drop(rows);
        match self.waiting() {
            Ok(waiting) => verdict.waiting = waiting,
            Err(error) => verdict.problems.push(error.to_string()),
        }
        if verdict.problems.is_empty() && claimed + verdict.waiting != left {
            let problem = format!(
                "{left} directories were left over, {claimed} of them were claimed, and {} wait",
                verdict.waiting
            );
            verdict.problems.push(problem);
        }
        twice(sorter, &mut verdict.problems)?;
        Ok(verdict)
    }
}

/// Finds entries with two rows. One with another depth is that of another root.
fn twice(sorter: Sorter, problems: &mut Vec<String>) -> io::Result<()> {
    let sorted = sorter.finish()?;
    let (mut before, mut path) = (Vec::new(), Vec::new());
    let mut same: Vec<(u32, bool)> = Vec::new();
    let mut found = 0;
    sorted.all(&mut |row| {
        path.clear();
        row.path(&mut path);
        if path != before {
            std::mem::swap(&mut path, &mut before);
            same.clear();
        }
        let kind = (row.depth, row.fault.is_some_and(|fault| fault.is_of_directory()));
        if same.contains(&kind) {
            found += 1;
            if found <= LISTED {
                problems.push(format!("{} has two rows", before.escape_ascii()));
            }
        }
        same.push(kind);
        Ok(())
    })?;
    if found > LISTED {
        problems.push(format!("{} more entries have two rows", found - LISTED));
    }
    Ok(())
}
