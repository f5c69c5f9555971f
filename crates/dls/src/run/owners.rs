//! The stage after stat: the names of users and groups.

use super::session::Session;
use crate::timing::Phase;
use dents_core::batch::Batch;
use dents_core::owners::{Getent, Owners};

/// Adds the owners of a batch to the known ones, if the plan needs names.
pub(super) fn learn(owners: &mut Owners, batch: &Batch, session: &Session<'_>) {
    let names = session.plan.names;
    if !names.is_empty() {
        session.timing.enter(Phase::Owners);
        owners.take_files(session.system.rings);
        let deadline = session.deadline().map(|deadline| deadline as &dyn Getent);
        owners.learn(batch, names, deadline.unwrap_or(session.system.getent));
    }
}
