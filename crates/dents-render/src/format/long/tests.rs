//! The widths of columns, which must not depend on which thread measures which entry.

use super::*;
use dents_locale::Locale;
use std::string::String;
use std::vec;

fn style(utf8: bool) -> Style {
    let locale = if utf8 { Locale::C_UTF8 } else { Locale::C };
    Style { format: crate::Format::Long, locale, ..Style::default() }
}

/// Several threads find the widths that a single thread finds, no matter which of them measures the widest entry.
#[test]
fn measures_are_joined_field_by_field() {
    let (owners, style) = (Owners::default(), style(true));
    type Set = fn(&mut Columns<'_>, u32);
    type Get = fn(&Columns<'_>) -> u64;
    let fields: [(Set, Get); 10] = [
        (|c, n| c.users.width = n as usize, |c| c.users.width as u64),
        (|c, n| c.groups.width = n as usize, |c| c.groups.width as u64),
        (|c, n| c.context_width = n as usize, |c| c.context_width as u64),
        (|c, n| c.inode = n.into(), |c| c.inode),
        (|c, n| c.blocks_width = n as usize, |c| c.blocks_width as u64),
        (|c, n| c.nlink = n, |c| c.nlink.into()),
        (|c, n| c.size = n.into(), |c| c.size),
        (|c, n| c.size_width = n as usize, |c| c.size_width as u64),
        (|c, n| c.major = Some(n), |c| c.major.map_or(0, u64::from)),
        (|c, n| c.minor = Some(n), |c| c.minor.map_or(0, u64::from)),
    ];
    let values = |columns: &Columns<'_>| fields.map(|(_, get)| get(columns));
    for (nth, (set, get)) in fields.iter().enumerate() {
        for (mine, theirs) in [(300, 40), (40, 300)] {
            let [mut one, mut other] = [Columns::new(&style, &owners), Columns::new(&style, &owners)];
            let mut expected = values(&one);
            expected[nth] = 300;
            set(&mut one, mine);
            set(&mut other, theirs);
            one.join(&other);
            assert_eq!((values(&one), get(&one)), (expected, 300), "field {nth}");
        }
    }
    for (mine, theirs) in [(true, false), (false, true), (false, false)] {
        let [mut one, mut other] = [Columns::new(&style, &owners), Columns::new(&style, &owners)];
        (one.any_mark, other.any_mark) = (mine, theirs);
        one.join(&other);
        assert_eq!(one.any_mark, mine || theirs);
    }
}

/// A column of sizes is as wide as its devices: major number, comma, blank, minor number.
#[test]
fn devices_widen_the_column_of_sizes() {
    let (owners, style) = (Owners::default(), style(true));
    for (size, major, minor, width) in [
        (0, None, None, 1),
        (123_456_789_012, Some(1), Some(3), 12),
        (7, Some(1), Some(3), 4),
        (7, Some(254), Some(1_048_575), 12),
        (12_345, Some(0), Some(0), 5),
    ] {
        let mut columns = Columns::new(&style, &owners);
        (columns.size, columns.major, columns.minor) = (size, major, minor);
        assert_eq!(Row::new(columns).size_width, width, "{size} {major:?} {minor:?}");
    }
}

#[test]
fn inode_zero_is_none() {
    for (inode, text) in [(0, "    ?"), (1, "    1"), (12_345, "12345")] {
        let mut place = vec![b' '; 5];
        put_inode(&mut place, inode);
        assert_eq!(String::from_utf8_lossy(&place), text, "{inode}");
    }
}
