//! Lustre's attributes of a file: its stripes (`lustre.lov`), and its state in hierarchical storage (`lustre.hsm`).
//!
//! The layouts are `lov_user_md_v1`, `lov_user_md_v3`, `lov_comp_md_v1` and `hsm_attrs` of Lustre's `lustre_user.h`; all numbers are
//! little-endian. The bytes come from a file system, so any bytes are accepted. Bytes that follow no layout give no result.

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

use alloc::string::String;
use alloc::vec::Vec;

/// The magic numbers of layouts.
const V1: u32 = 0x0bd1_0bd0;
const V3: u32 = 0x0bd3_0bd0;
const COMPOSITE: u32 = 0x0bd6_0bd0;
/// A V3 layout with storage targets that a user has chosen.
const SPECIFIC: u32 = 0x0bd5_0bd0;

/// The offsets of fields, in bytes from the beginning of their structure.
mod at {
    pub(super) const STRIPE_COUNT: usize = 28;
    /// In V3.
    pub(super) const POOL: usize = 32;
    pub(super) const POOL_LENGTH: usize = 16;
    /// In composite layouts.
    pub(super) const ENTRY_COUNT: usize = 14;
    pub(super) const ENTRIES: usize = 32;
    /// In their entries.
    pub(super) const ENTRY_FLAGS: usize = 4;
    pub(super) const ENTRY_OFFSET: usize = 24;
    pub(super) const ENTRY_LENGTH: usize = 48;
    pub(super) const HSM_FLAGS: usize = 4;
    pub(super) const HSM_LENGTH: usize = 24;
}

/// An entry of a composite layout whose stripes exist.
const INSTANTIATED: u32 = 0x10;
/// This number of stripes means all storage targets.
const ALL: u16 = u16::MAX;

/// The stripes of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Striping<'a> {
    /// The number of stripes; `None` if the file will use all storage targets, which are not chosen yet.
    pub stripes: Option<u32>,
    /// The pool; empty for none.
    pub pool: &'a [u8],
}

/// Parses `lustre.lov`. In a composite layout the last component with stripes counts, as in `lfs getstripe -c`; if no component has
/// stripes, the last one.
#[must_use]
pub fn striping(bytes: &[u8]) -> Option<Striping<'_>> {
    if u32_at(bytes, 0)? != COMPOSITE {
        return plain(bytes);
    }
    let entries = usize::from(u16_at(bytes, at::ENTRY_COUNT)?);
    let entry = |index: usize| bytes.get(at::ENTRIES + index * at::ENTRY_LENGTH..);
    let has_stripes = |index: &usize| {
        entry(*index)
            .and_then(|entry| u32_at(entry, at::ENTRY_FLAGS))
            .is_some_and(|flags| flags & INSTANTIATED != 0)
    };
    let last = (0..entries).rev().find(has_stripes).or(entries.checked_sub(1))?;
    let offset = usize::try_from(u32_at(entry(last)?, at::ENTRY_OFFSET)?).ok()?;
    plain(bytes.get(offset..)?)
}

fn plain(bytes: &[u8]) -> Option<Striping<'_>> {
    let magic = u32_at(bytes, 0)?;
    let stripes = Some(u16_at(bytes, at::STRIPE_COUNT)?).filter(|count| *count != ALL).map(u32::from);
    let pool = match magic {
        V1 => b"",
        V3 | SPECIFIC => {
            let pool = bytes.get(at::POOL..at::POOL + at::POOL_LENGTH)?;
            pool.split(|byte| *byte == 0).next().unwrap_or_default()
        }
        _ => return None,
    };
    Some(Striping { stripes, pool })
}

/// The states in hierarchical storage, in the order of their bits.
const STATES: [&str; 7] = ["exists", "dirty", "released", "archived", "norelease", "noarchive", "lost"];

/// Parses `lustre.hsm`: the words of the states, with a comma between them.
#[must_use]
pub fn hsm(bytes: &[u8]) -> Option<String> {
    let flags = u32_at(bytes.get(..at::HSM_LENGTH)?, at::HSM_FLAGS)?;
    let words = STATES.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1).map(|(_, word)| *word);
    Some(words.collect::<Vec<_>>().join(","))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    /// The attribute of a file in the output of `debugfs` of ldiskfs, from a mailing list of Lustre users
    /// (<http://lists.lustre.org/pipermail/lustre-discuss-lustre.org/2013-January/011474.html>).
    const RECORDED: &str = "d0 0b d1 0b 01 00 00 00 cc f5 3d 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 10 00 01 00 00 00 \
                            05 ec 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 06 00 00 00";

    fn bytes(hex: &str) -> Vec<u8> {
        hex.split_ascii_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    /// A layout with this number of stripes, in a pool or in none.
    fn layout(stripes: u16, pool: Option<&[u8]>) -> Vec<u8> {
        let mut layout = bytes(RECORDED);
        layout.truncate(at::POOL);
        layout[at::STRIPE_COUNT..][..2].copy_from_slice(&stripes.to_le_bytes());
        if let Some(pool) = pool {
            layout[..4].copy_from_slice(&V3.to_le_bytes());
            layout.extend_from_slice(pool);
            layout.resize(at::POOL + at::POOL_LENGTH, 0);
        }
        layout
    }

    /// A composite layout of these components; those with `true` have stripes.
    fn composite(components: &[(bool, Vec<u8>)]) -> Vec<u8> {
        let mut all = vec![0; at::ENTRIES + components.len() * at::ENTRY_LENGTH];
        all[..4].copy_from_slice(&COMPOSITE.to_le_bytes());
        all[at::ENTRY_COUNT..][..2].copy_from_slice(&(components.len() as u16).to_le_bytes());
        for (index, (is_there, layout)) in components.iter().enumerate() {
            let (offset, flags) = (all.len() as u32, if *is_there { INSTANTIATED } else { 0 });
            let entry = &mut all[at::ENTRIES + index * at::ENTRY_LENGTH..];
            entry[at::ENTRY_FLAGS..][..4].copy_from_slice(&flags.to_le_bytes());
            entry[at::ENTRY_OFFSET..][..4].copy_from_slice(&offset.to_le_bytes());
            all.extend_from_slice(layout);
        }
        all
    }

    fn seen(bytes: &[u8]) -> Option<(Option<u32>, &str)> {
        striping(bytes).map(|Striping { stripes, pool }| (stripes, core::str::from_utf8(pool).unwrap()))
    }

    #[test]
    fn a_recorded_file_has_one_stripe() {
        assert_eq!(seen(&bytes(RECORDED)), Some((Some(1), "")));
    }

    #[test]
    fn pools_and_counts() {
        assert_eq!(seen(&layout(4, Some(b"flash"))), Some((Some(4), "flash")));
        assert_eq!(seen(&layout(0, Some(b"a-name-of-16-pos"))), Some((Some(0), "a-name-of-16-pos")));
        assert_eq!(seen(&layout(u16::MAX, None)), Some((None, "")));
    }

    #[test]
    fn the_last_component_with_stripes_counts() {
        let parts =
            [(true, layout(1, None)), (true, layout(4, Some(b"disk"))), (false, layout(u16::MAX, None))];
        assert_eq!(seen(&composite(&parts)), Some((Some(4), "disk")));
        assert_eq!(seen(&composite(&parts[2..])), Some((None, "")));
        assert_eq!(seen(&composite(&[])), None);
    }

    #[test]
    fn bytes_that_are_cut_off_give_nothing() {
        let whole = composite(&[(true, layout(2, Some(b"p")))]);
        for end in 0..whole.len() {
            assert_eq!(seen(&whole[..end]), None, "{end}");
        }
        let hsm_bytes = [0; at::HSM_LENGTH];
        assert!((0..at::HSM_LENGTH).all(|end| hsm(&hsm_bytes[..end]).is_none()));
    }

    #[test]
    fn states_in_hierarchical_storage() {
        let of = |flags: u32| {
            let mut bytes = [0; at::HSM_LENGTH];
            bytes[at::HSM_FLAGS..][..4].copy_from_slice(&flags.to_le_bytes());
            hsm(&bytes).unwrap()
        };
        assert_eq!(
            [of(0), of(0x9), of(0xd), of(0x80)],
            ["", "exists,archived", "exists,released,archived", ""]
        );
    }
}
