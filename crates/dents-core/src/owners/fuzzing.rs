//! Fuzz target of the parsers of owners.

use super::{GROUPS, Names, USERS, beyond_files, parse};
use crate::owners::Getent;
use alloc::vec::Vec;
use core::ffi::CStr;

/// A `getent` that prints these bytes.
struct Printed<'b>(&'b [u8]);

impl Getent for Printed<'_> {
    fn getent(&self, _: &CStr, _: &[u32]) -> Option<Vec<u8>> {
        Some(self.0.to_vec())
    }
}

/// Lines of passwd(5) and group(5), from a file and from `getent`, and nsswitch.conf(5). A name must lie within its
/// line, have no colon, and come from the first line of its id.
pub fn owners(bytes: &[u8]) {
    for source in [&USERS, &GROUPS] {
        let lines = || bytes.split(|byte| *byte == b'\n').filter_map(|line| parse(line, source.numbers));
        for (name, _) in lines() {
            assert!(!name.is_empty() && !name.contains(&b':'));
            assert!(
                bytes.as_ptr_range().start <= name.as_ptr()
                    && name.as_ptr_range().end <= bytes.as_ptr_range().end
            );
        }
        let wanted = lines().map(|(_, id)| id).take(8).chain([0, 7, u32::MAX]);
        let mut file = Names { file: Some(bytes.to_vec()), beyond_files: Some(false), ..Names::default() };
        let mut child = Names { file: Some(Vec::new()), beyond_files: Some(true), ..Names::default() };
        wanted.clone().for_each(|id| {
            file.note(id);
            child.note(id);
        });
        file.resolve(source, &Printed(b""));
        child.resolve(source, &Printed(bytes));
        for id in wanted {
            let first = lines().find(|(_, other)| *other == id).map(|(name, _)| name);
            assert_eq!((file.get(id), child.get(id)), (first, first));
        }
    }
    for database in [&b"passwd"[..], b"group"] {
        beyond_files(bytes, database);
    }
}
