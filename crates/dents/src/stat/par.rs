//! Threads, each taking the next few entries until none are left.

use super::ask::Asker;
use super::{Harvest, Todo, Workers};
use dents_sys::{AsFd, dir};
use spin::Mutex;

/// Entries taken at a time: at 2 µs an answer a worker comes back for more every 130 µs, so the lock is never
/// contended, and at the end a worker waits for no more than that. Where each answer is a round trip, chunks
/// get smaller so that all threads have work to the end.
const CHUNK: usize = 64;

pub(crate) fn fill(todo: Todo<'_>, harvest: &mut Harvest, threads: usize, workers: &dyn Workers) {
    let chunk = (todo.dents.len() / threads.max(1) / 4).clamp(1, CHUNK);
    let Todo { question, arena, dents, metas } = todo;
    let chunks = Mutex::new(dents.chunks(chunk).zip(metas.chunks_mut(chunk)));
    let first_arena = harvest.texts.len();
    let harvests = Mutex::new((first_arena, core::mem::take(harvest)));
    workers.run(threads, &|worker| {
        let own = if worker > 0 && workers.share_descriptors() && !super::dir_is_cwd(question.dir) {
            dir::open(question.dir, c".").ok()
        } else {
            None
        };
        let mut question = question;
        if let Some(own) = &own {
            question.dir = own.as_fd();
        }
        let mut asker = Asker::new(question, arena, first_arena + worker);
        loop {
            let Some((dents, metas)) = chunks.lock().next() else { break };
            for (dent, meta) in dents.iter().zip(metas) {
                asker.ask(dent, meta);
            }
        }
        asker.bring_home(&mut harvests.lock().1);
    });
    *harvest = harvests.into_inner().1;
}
