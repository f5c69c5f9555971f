//! One thread, one question after the other: the oracle of the other strategies.

use super::ask::Asker;
use super::{Harvest, Todo};
use crate::batch::Metas;

pub(crate) fn fill(todo: &Todo<'_>, metas: &mut Metas, harvest: &mut Harvest) {
    let mut asker = Asker::new(todo.question, harvest.texts.len());
    for dents in todo.dents.chunks(Metas::CHUNK) {
        metas.append(asker.ask_all(dents, todo.names));
    }
    asker.bring_home(harvest);
}
