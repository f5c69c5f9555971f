//! Lists of columns: `--columns=mode,size,name`.

use super::getopt::BadValue;
use super::words::{Words, lookup};
use alloc::vec::Vec;
use dents_render::Column;

impl Words for Column {
    const SPELLINGS: &'static [&'static [&'static str]] = &[
        &["mode"],
        &["octal"],
        &["links"],
        &["user", "owner"],
        &["group"],
        &["uid"],
        &["gid"],
        &["size"],
        &["blocks"],
        &["inode"],
        &["device"],
        &["modified", "mtime"],
        &["changed", "ctime"],
        &["accessed", "atime"],
        &["created", "birth"],
        &["context"],
        &["xattrs"],
        &["flags"],
        &["git"],
        &["total"],
        &["name"],
    ];
    const MEANINGS: &'static [Self] = &Column::ALL;
}

/// The columns of a list that [`super::parse`] has let through: words between commas, each of which may be shortened.
#[must_use]
pub fn columns(list: &[u8]) -> Vec<Column> {
    items(list).filter_map(|item| lookup(item).ok()).collect()
}

/// The check of a definition whose value is such a list: blames the first word that is no column, or could be several.
pub(super) fn check(list: &[u8]) -> Result<(), BadValue> {
    let mut start = 0;
    for item in items(list) {
        if let Err(why) = lookup::<Column>(item) {
            return Err(BadValue::Item { start, len: item.len(), why });
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
    fn the_word_that_is_none_is_blamed() {
        let blamed = |list: &core::ffi::CStr| complaint(&[c"--columns", list]);
        assert_eq!(blamed(c"size,bytes,name"), "ls: invalid argument 'bytes' for '--columns'");
        assert_eq!(blamed(c"name,mo"), "ls: ambiguous argument 'mo' for '--columns'");
        assert_eq!(blamed(c"name,"), "ls: ambiguous argument '' for '--columns'");
    }

    #[test]
    fn the_first_spelling_is_the_column_s_own_word() {
        for (column, spellings) in Column::ALL.iter().zip(Column::SPELLINGS) {
            assert_eq!(column.word(), spellings[0]);
        }
        assert_eq!(Column::ALL.len(), Column::SPELLINGS.len());
    }
}
