//! One thread, one question after the other: the oracle of the other strategies.

use super::ask::Asker;
use super::{Harvest, Todo};

pub(crate) fn fill(todo: &mut Todo<'_>, harvest: &mut Harvest) {
    let mut asker = Asker::new(todo.question, todo.arena, harvest.texts.len());
    for (dent, meta) in todo.dents.iter().zip(todo.metas.iter_mut()) {
        asker.ask(dent, meta);
    }
    asker.bring_home(harvest);
}
