//! Corrects the checksums of damaged files.

use super::checksum::{MAGIC, SEAL, TAIL};
use super::schema::CHECKSUMS;

/// Corrects the checksums of the footer and of the only row group, as far as they are found.
pub(crate) fn seal(bytes: &mut [u8]) {
    let Some(at) = bytes.len().checked_sub(TAIL) else { return };
    let size = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize;
    let Some(footer) = at.checked_sub(size) else { return };
    let Some(seal) = footer.checked_sub(SEAL).filter(|seal| *seal >= 4) else { return };
    let group = format!("{:08x}", crc32fast::hash(&bytes[4..seal]));
    // Key and value are texts of Thrift's compact protocol, with two bytes between them.
    let key = bytes[footer..].windows(CHECKSUMS.len()).position(|part| part == CHECKSUMS.as_bytes());
    let value = key.map(|key| footer + key + CHECKSUMS.len() + 2);
    if let Some(value) = value.and_then(|value| bytes.get_mut(value..value + group.len())) {
        value.copy_from_slice(group.as_bytes());
    }
    let crc = crc32fast::hash(&bytes[footer..]);
    bytes[seal..seal + MAGIC.len()].copy_from_slice(MAGIC);
    bytes[seal + MAGIC.len()..footer].copy_from_slice(&crc.to_le_bytes());
}
