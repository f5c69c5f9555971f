//! Lists of columns: `--columns=mode,size,name`; with signs, columns to add and to remove: `--columns=+git,-links`.

use super::bad_value::BadValue;
use super::words::{Words, lookup};
use alloc::vec::Vec;
use dents_render::Column;

impl Words for Column {
    const SPELLINGS: &'static [&'static [&'static str]] = Column::SPELLINGS;
    const MEANINGS: &'static [Self] = &Column::ALL;
}

/// The columns of a list that [`super::parse`] has let through: words between commas, each of which may be shortened.
#[must_use]
pub fn columns(list: &[u8]) -> Vec<Column> {
    items(list).filter_map(|item| lookup(item).ok()).collect()
}

/// Whether a list changes the default columns: it begins with a sign.
#[must_use]
pub fn is_change(list: &[u8]) -> bool {
    matches!(list.first(), Some(b'+' | b'-'))
}

/// The columns of such a list, and whether each is put to the others or taken from them. A sign holds up to the next one.
pub fn changes(list: &[u8]) -> impl Iterator<Item = (bool, Column)> {
    let mut puts = true;
    items(list).filter_map(move |item| {
        let (sign, word) = sign(item);
        puts = sign.map_or(puts, |sign| sign == b'+');
        Some((puts, lookup(word).ok()?))
    })
}

fn sign(item: &[u8]) -> (Option<u8>, &[u8]) {
    match item {
        [sign @ (b'+' | b'-'), word @ ..] => (Some(*sign), word),
        word => (None, word),
    }
}

/// The check of a definition whose value is a list of columns. It reports the first word that is not a column or is
/// ambiguous.
pub(super) fn check(list: &[u8]) -> Result<(), BadValue> {
    let mut start = 0;
    for item in items(list) {
        let word = if is_change(list) { sign(item).1 } else { item };
        if let Err(why) = lookup::<Column>(word) {
            return Err(BadValue::Item { start: start + item.len() - word.len(), len: word.len(), why });
        }
        start += item.len() + 1;
    }
    Ok(())
}

fn items(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == b',')
}

#[cfg(test)]
mod tests {
    use super::super::flags::testing::complaint;
    use super::*;

    #[test]
    fn lists() {
        assert_eq!(columns(b"name"), [Column::Name]);
        let three = [Column::Size, Column::Modified, Column::Name];
        assert_eq!(columns(b"size,mtime,name"), three);
        assert_eq!(columns(b"si,modi,n"), three, "as far as a beginning is one word's alone");
        assert!(check(b"name,size").is_ok() && check(b"name;size").is_err());
    }

    #[test]
    fn lists_with_signs() {
        let all = |list: &'static [u8]| changes(list).collect::<Vec<_>>();
        assert_eq!(all(b"+git"), [(true, Column::Git)]);
        let expected =
            [(true, Column::Git), (true, Column::Inode), (false, Column::User), (false, Column::Links)];
        assert_eq!(all(b"+git,inode,-owner,links"), expected);
        assert!(is_change(b"-owner") && !is_change(b"owner") && check(b"+git,-owner,links").is_ok());
        let blamed = |list: &core::ffi::CStr| complaint(&[c"--columns", list]);
        assert_eq!(blamed(c"+git,-bytes"), "ls: invalid argument 'bytes' for '--columns'");
        assert_eq!(blamed(c"git,+size"), "ls: invalid argument '+size' for '--columns'", "no change");
        assert_eq!(blamed(c"+"), "ls: ambiguous argument '' for '--columns'");
    }

    #[test]
    fn the_word_that_is_none_is_blamed() {
        let blamed = |list: &core::ffi::CStr| complaint(&[c"--columns", list]);
        assert_eq!(blamed(c"size,bytes,name"), "ls: invalid argument 'bytes' for '--columns'");
        assert_eq!(blamed(c"name,mo"), "ls: ambiguous argument 'mo' for '--columns'");
        assert_eq!(blamed(c"name,"), "ls: ambiguous argument '' for '--columns'");
    }
}
