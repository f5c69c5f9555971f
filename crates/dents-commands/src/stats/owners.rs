//! Names of users and groups: from the scan file, else from this machine.

use crate::owners::Child;
use dents_core::owners::Owners;
use std::collections::HashMap;

type Written = HashMap<u32, Box<[u8]>>;

/// The names of users and groups that are known.
#[derive(Default)]
pub struct Names {
    /// From a scan file, which may be from another machine.
    users: Written,
    groups: Written,
    /// From this machine.
    owners: Owners,
}

impl Names {
    /// Takes the names that a scan file has for a user and a group.
    pub fn learn(&mut self, uid: u32, user: Option<&[u8]>, gid: u32, group: Option<&[u8]>) {
        for (map, id, name) in [(&mut self.users, uid, user), (&mut self.groups, gid, group)] {
            if let Some(name) = name
                && !map.contains_key(&id)
            {
                map.insert(id, name.into());
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Names) {
        self.users.extend(other.users);
        self.groups.extend(other.groups);
    }

    /// Looks up the names that no scan file has: in two small files, and names that these do not have by one child process for
    /// users and one for groups.
    pub fn resolve<'i>(
        &mut self,
        users: impl Iterator<Item = &'i u32>,
        groups: impl Iterator<Item = &'i u32>,
    ) {
        let users: Vec<u32> = users.filter(|id| !self.users.contains_key(id)).copied().collect();
        let groups: Vec<u32> = groups.filter(|id| !self.groups.contains_key(id)).copied().collect();
        self.owners.learn_ids(&users, &groups, &Child);
    }

    /// The name of a user; the number, if there is no name.
    #[must_use]
    pub fn user(&self, uid: u32) -> Vec<u8> {
        name(self.users.get(&uid).map(|name| &**name).or_else(|| self.owners.user(uid)), uid)
    }

    /// The name of a group; the number, if there is no name.
    #[must_use]
    pub fn group(&self, gid: u32) -> Vec<u8> {
        name(self.groups.get(&gid).map(|name| &**name).or_else(|| self.owners.group(gid)), gid)
    }
}

fn name(known: Option<&[u8]>, id: u32) -> Vec<u8> {
    known.map_or_else(|| id.to_string().into_bytes(), <[u8]>::to_vec)
}
