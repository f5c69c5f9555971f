//! Fuzz target of Lustre's attributes.

use super::{Striping, hsm, striping};

/// `lustre.lov` and `lustre.hsm`: a pool is a part of the bytes, and states are known words.
pub fn lustre(bytes: &[u8]) {
    if let Some(Striping { pool, stripes }) = striping(bytes) {
        assert!(pool.len() <= 16 && stripes.is_none_or(|count| count < u32::from(u16::MAX)));
        assert!(pool.is_empty() || bytes.as_ptr_range().contains(&pool.as_ptr()));
    }
    if let Some(words) = hsm(bytes) {
        assert!(words.is_empty() || words.split(',').all(|word| super::STATES.contains(&word)));
    }
}
