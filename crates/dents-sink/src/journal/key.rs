//! Keys of directories: 128 bits for a path of any length.
//!
//! The hash is SipHash-1-3 with a secret of the journal, so that two directories with the same key cannot be constructed. The
//! probability that two of n directories have the same key by chance is n² / 2¹²⁹: for 400 million, 1 in 4 × 10²¹.

use dents_core::path;
use siphasher::sip128::{Hasher128, SipHasher13};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub(super) type Key = u128;
pub(super) type KeyMap<V> = HashMap<Key, V, BuildHasherDefault<Fold>>;
pub(super) type KeySet = HashSet<Key, BuildHasherDefault<Fold>>;

/// Makes keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) secret: [u8; 16],
}

impl Keys {
    /// Keys with a random secret, from the standard library's hash tables.
    pub(super) fn new() -> Keys {
        let half = || {
            use std::hash::BuildHasher;
            std::hash::RandomState::new().hash_one(std::process::id()).to_le_bytes()
        };
        let mut secret = [0; 16];
        secret[..8].copy_from_slice(&half());
        secret[8..].copy_from_slice(&half());
        Keys { secret }
    }

    /// The key of the directory at `path` whose entries have this depth. The depth distinguishes `a/b` below the operand `a` from
    /// an operand `a/b`.
    pub(super) fn of(&self, path: &[u8], depth: u32) -> Key {
        self.child(b"", path, depth)
    }

    /// The key of a subdirectory of the directory at `parent`.
    pub(super) fn child(&self, parent: &[u8], name: &[u8], depth: u32) -> Key {
        let mut hasher = SipHasher13::new_with_key(&self.secret);
        hasher.write(&depth.to_le_bytes());
        hasher.write(parent);
        hasher.write(path::separator(parent));
        hasher.write(name);
        hasher.finish128().as_u128()
    }
}

/// A hasher that takes bits of the key: keys are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_has_the_key_of_its_path() {
        let keys = Keys::new();
        assert_eq!(keys.child(b"a/b", b"c", 3), keys.of(b"a/b/c", 3));
        assert_eq!(keys.child(b"/", b"usr", 2), keys.of(b"/usr", 2));
        assert_eq!(keys.child(b"", b"dir/", 1), keys.of(b"dir/", 1));
        assert_ne!(keys.of(b"a/b", 1), keys.of(b"a/b", 2));
        assert_ne!(keys.of(b"a/b", 1), Keys::new().of(b"a/b", 1), "each journal has a secret of its own");
    }
}
