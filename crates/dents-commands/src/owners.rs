//! Names of owners, shared by all workers: each is looked up once.

use dents_core::batch::{Batch, Entry};
use dents_core::needs::Needs;
use dents_core::owners::{Getent, Owners};
use std::ffi::CStr;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Names of users and groups, shared by the workers. At most two files are read. If the site has other sources of names, one
/// `getent` is run for all ids of a batch that are not in the files.
#[derive(Default)]
pub(crate) struct SharedOwners(Mutex<Owners>);

/// One worker's copy, which is read without a lock.
pub(crate) struct Names<'p> {
    owners: &'p SharedOwners,
    users: Table,
    groups: Table,
}

impl<'p> Names<'p> {
    pub(crate) fn new(owners: &'p SharedOwners) -> Self {
        Names { owners, users: Table::default(), groups: Table::default() }
    }

    /// Looks up the owners of a batch, if the batch has their ids. `names` says which names are wanted: [`Needs::UID`],
    /// [`Needs::GID`].
    pub(crate) fn learn(&mut self, batch: &Batch, names: Needs) {
        let (mut users, mut groups) = (Vec::new(), Vec::new());
        let (mut last_user, mut last_group) = (None, None);
        for entry in batch.iter().filter(Entry::is_known) {
            let wanted = names & batch.declared().get(entry.kind());
            if wanted.contains(Needs::UID) && last_user.replace(entry.uid()) != Some(entry.uid()) {
                self.users.miss(entry.uid(), &mut users);
            }
            if wanted.contains(Needs::GID) && last_group.replace(entry.gid()) != Some(entry.gid()) {
                self.groups.miss(entry.gid(), &mut groups);
            }
        }
        if users.is_empty() && groups.is_empty() {
            return;
        }
        let mut owners = self.owners.0.lock().unwrap_or_else(PoisonError::into_inner);
        owners.learn_ids(&users, &groups, &Child);
        users.into_iter().for_each(|uid| self.users.learn(uid, owners.user(uid)));
        groups.into_iter().for_each(|gid| self.groups.learn(gid, owners.group(gid)));
    }

    /// The user's name, if it has one.
    pub(crate) fn user(&self, uid: u32) -> Option<&[u8]> {
        self.users.get(uid)
    }

    /// The group's name, if it has one.
    pub(crate) fn group(&self, gid: u32) -> Option<&[u8]> {
        self.groups.get(gid)
    }
}

/// Names sorted by id. There are few of them, and each entry needs one look-up.
#[derive(Default)]
struct Table(Vec<(u32, Option<Box<[u8]>>)>);

impl Table {
    /// Adds an id to `missed` if its name is not known yet.
    fn miss(&self, id: u32, missed: &mut Vec<u32>) {
        if self.0.binary_search_by_key(&id, |(id, _)| *id).is_err() {
            missed.push(id);
        }
    }

    fn get(&self, id: u32) -> Option<&[u8]> {
        let at = self.0.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.0[at].1.as_deref()
    }

    fn learn(&mut self, id: u32, name: Option<&[u8]>) {
        if let Err(at) = self.0.binary_search_by_key(&id, |(id, _)| *id) {
            self.0.insert(at, (id, name.map(Into::into)));
        }
    }
}

/// `getent` as a child process.
pub(crate) struct Child;

impl Getent for Child {
    fn getent(&self, database: &CStr, ids: &[u32]) -> Option<Vec<u8>> {
        let ids = ids.iter().map(u32::to_string);
        let output = Command::new("getent").arg(database.to_str().ok()?).args(ids).output().ok()?;
        Some(output.stdout)
    }
}
