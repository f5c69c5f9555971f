//! The operands of the command line: always stat'ed, and followed by other rules than entries of a directory.

use super::ask::Asker;
use super::fill;
use super::question::{Harvest, Question, Report, Tally};
use super::resources::{Asking, Resources};
use crate::batch::{Batch, Bits, Meta, Names};
use crate::needs::{Kind, Needs, NeedsByKind};
use core::ffi::CStr;
use dents_engine::limit::policy::Lists;
use dents_sys::{BorrowedFd, Errno};

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dereference {
    /// None.
    Never,
    /// Operands that lead to a directory.
    #[default]
    OperandDirectories,
    /// Operands.
    Operands,
    /// All.
    Always,
}

/// Fills a batch of operands. All must have been pushed as [`Kind::Unknown`], because no `readdir` returned their
/// types.
///
/// Costs one `statx` each, and one more for a symbolic link that may lead to a directory.
pub fn fill_operands(
    batch: &mut Batch,
    dir: BorrowedFd<'_>,
    needs: &NeedsByKind,
    dereference: Dereference,
    resources: &Resources<'_>,
) -> Report {
    let needs = *needs | NeedsByKind::all(Needs::TYPE);
    let follow = matches!(dereference, Dereference::Operands | Dereference::Always);
    // Operands are never stat'ed lazily, and need no explanation.
    let resources = &Resources { lazy: false, counter: None, ..*resources };
    let mut report = fill(batch, dir, &Asking { needs: &needs, follow, resources });
    if dereference == Dereference::OperandDirectories {
        report.tally += follow_to_directories(batch, dir, &needs, resources);
        report.tally.faults = batch.metas.iter().filter(|meta| meta.is_faulty()).count() as u64;
        batch.faulty = report.tally.faults > 0;
    }
    report
}

fn follow_to_directories(
    batch: &mut Batch,
    dir: BorrowedFd<'_>,
    needs: &NeedsByKind,
    resources: &Resources<'_>,
) -> Tally {
    let watch = resources.threads.watching();
    let question = Question {
        dir,
        needs,
        follow: true,
        by_text: true,
        lists: Lists::WithMetadata,
        lazy: false,
        counter: None,
        watch,
    };
    let mut asker = Asker::new(question, batch.texts.len());
    let names = Names { bytes: &batch.arena, from: 0 };
    // Operands have unknown types, so each has a slot at its own position.
    for (dent, meta) in batch.dents.iter().zip(batch.metas.iter_mut()) {
        follow_to_directory(&mut asker, dent.kind(), dent.c_name(names), meta);
    }
    let mut harvest = Harvest { texts: core::mem::take(&mut batch.texts), ..Harvest::default() };
    asker.merge_into(&mut harvest);
    batch.texts = harvest.texts;
    harvest.tally
}

/// Stats a link again, this time through it. A dangling link, a loop, or a link to something other than a directory
/// stays a link; any other error is a fault.
pub(crate) fn follow_to_directory(asker: &mut Asker<'_>, kind: Kind, name: &CStr, meta: &mut Meta) {
    if !meta.bits.contains(Bits::STAT) || Kind::from_mode(meta.mode) != Kind::Link {
        return;
    }
    let link = core::mem::take(meta);
    asker.ask(kind, name, meta);
    let leads_to =
        if meta.bits.contains(Bits::STAT) { Ok(Kind::from_mode(meta.mode)) } else { Err(meta.errno()) };
    match leads_to {
        Ok(Kind::Dir) => {}
        Ok(_) | Err(Errno::NOENT | Errno::LOOP) => *meta = link,
        Err(_) => {}
    }
}
