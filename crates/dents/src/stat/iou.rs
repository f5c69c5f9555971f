//! `statx` through an io_uring with a fixed number in flight, whatever the size of the directory.
//!
//! What io_uring has no operation for (`readlinkat`, `listxattrat`) is asked directly, as the answers arrive.

use super::ask::Asker;
use super::{Harvest, Todo};
use crate::batch::Metas;
use dents_sys::Result;
use dents_sys::uring::{Ring, StatxRequest};

/// Requests in flight at once. Warm, 64 to 1,024 take the same time; 256 need 40 calls for 10,000 files.
const SLOTS: u32 = dents_sys::uring::DEFAULT_SLOTS;

/// # Errors
/// What setting up the ring gives, or what stops it midway (`ECANCELED` where the kernel may start no worker). Slots
/// may have been filled by then; whoever goes on asks for all of them again.
pub(crate) fn fill(todo: &Todo<'_>, metas: &mut Metas, harvest: &mut Harvest) -> Result<()> {
    let mut ring = Ring::new(SLOTS)?;
    let question = todo.question;
    let mut asker = Asker::new(question, harvest.texts.len());
    let (names, dents) = (todo.names, todo.dents);
    metas.resize(dents.len());
    let mut waiting = dents.iter().enumerate();
    let next = || {
        let (index, dent) = waiting.find(|(_, dent)| Asker::wants_stat(&question, dent.kind()))?;
        let (flags, mask) = Asker::stat_call(&question, dent.kind());
        Some(StatxRequest { token: index as u64, dir: question.dir, path: dent.c_name(names), flags, mask })
    };
    ring.statx(next, |token, answer| {
        let index = token as usize;
        if let Some(meta) = metas.get_mut(index) {
            asker.answered(dents[index].c_name(names), meta, answer);
        }
    })?;
    for (dent, meta) in dents.iter().zip(metas.iter_mut()) {
        if !Asker::wants_stat(&question, dent.kind()) {
            asker.ask(dent.kind(), dent.c_name(names), meta);
        }
    }
    asker.bring_home(harvest);
    Ok(())
}
