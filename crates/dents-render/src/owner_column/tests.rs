//! Owners, and the width of their column.

use super::*;
use crate::style::LongStyle;
use dents_locale::Locale;
use std::string::String;

/// Ids that are equal in their low bits, a name in two alphabets, one that cannot be printed, and one without a name.
fn name(_: &Owners, id: u32) -> Option<&'static [u8]> {
    match id {
        7 => Some(b"ann"),
        23 => Some("J\u{f6}rg".as_bytes()),
        39 => Some("\u{6f22}\u{5b57}".as_bytes()),
        55 => Some(b"b\x01d"),
        _ => None,
    }
}

const IDS: [u32; 6] = [7, 23, 39, 55, 71, u32::MAX - 8];

fn style(utf8: bool) -> Style {
    let locale = if utf8 { Locale::C_UTF8 } else { Locale::C };
    Style { format: crate::Format::Long, locale, ..Style::default() }
}

fn written(column: &mut OwnerColumn<'_>, id: Option<u32>) -> String {
    let mut out = Vec::new();
    column.write(id, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[test]
fn owners_that_share_a_place_keep_their_names() {
    let (owners, style) = (Owners::default(), style(true));
    assert!(IDS.iter().all(|id| *id as usize % OwnerColumn::CACHE == 7), "they share a place");
    let mut column = OwnerColumn::new(&style, &owners, name, true);
    IDS.iter().for_each(|id| column.measure(*id));
    assert_eq!(column.width, 10);
    for _ in 0..2 {
        for (id, text) in IDS.into_iter().zip([
            "ann        ",
            "J\u{f6}rg       ",
            "\u{6f22}\u{5b57}       ",
            // A width that is not known is not padded.
            "b\u{1}d ",
            "        71 ",
            "4294967287 ",
        ]) {
            assert_eq!(written(&mut column, Some(id)), text, "{id}");
            assert_eq!(written(&mut column, Some(id)), text, "{id}, from the cache");
        }
        assert_eq!(written(&mut column, None), "?          ");
    }
}

/// The id 0 and an unused place of the cache look alike but for the width.
#[test]
fn the_first_owner_may_be_root() {
    fn root(_: &Owners, id: u32) -> Option<&'static [u8]> {
        (id == 0).then_some(b"root")
    }
    let (owners, style) = (Owners::default(), style(true));
    let mut column = OwnerColumn::new(&style, &owners, root, true);
    column.measure(0);
    assert_eq!((column.width, written(&mut column, Some(0))), (4, "root ".into()));
    assert_eq!(written(&mut column, Some(16)), "  16 ");
    assert_eq!(written(&mut column, Some(0)), "root ");
}

#[test]
fn bytes_that_the_charset_has_not_are_of_no_width() {
    let (owners, style) = (Owners::default(), style(false));
    let mut column = OwnerColumn::new(&style, &owners, name, true);
    [7, 23].iter().for_each(|id| column.measure(*id));
    assert_eq!(column.width, 3, "the name outside of ASCII does not count");
    assert_eq!(written(&mut column, Some(23)), "J\u{f6}rg ");
    assert_eq!(written(&mut column, Some(7)), "ann ");
}

#[test]
fn numbers_have_no_names() {
    let owners = Owners::default();
    let numeric = Style { long: LongStyle { numeric: true, ..style(true).long }, ..style(true) };
    for (style, shown) in [(&numeric, true), (&style(true), false)] {
        let mut column = OwnerColumn::new(style, &owners, name, shown);
        IDS[..2].iter().for_each(|id| column.measure(*id));
        assert_eq!((column.width, written(&mut column, Some(7))), (2, " 7 ".into()));
    }
}
