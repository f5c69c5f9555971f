//! Tests: icons in every format, beside quotes, colours, links and indicators.

use crate::{
    Colors, Format, Frame, FrameKind, Icons, Indicator, NameStyle, Places, Quoting, Renderer, Screen, Style,
};
use alloc::ffi::CString;
use alloc::sync::Arc;
use dents_core::batch::Batch;
use dents_core::needs::Kind;
use dents_core::owners::Owners;
use dents_core::team::Team;
use dents_locale::Locale;
use std::prelude::v1::*;

const ENTRIES: [(&str, Kind); 4] =
    [("a", Kind::Reg), ("b c", Kind::Reg), ("sub", Kind::Dir), ("日本", Kind::Reg)];

fn render(style: &Style, entries: &[(&str, Kind)]) -> String {
    let mut batch = Batch::new(style.needs());
    for (name, kind) in entries {
        batch.push(&CString::new(*name).unwrap(), *kind, 1);
    }
    let order: Vec<u32> = (0..entries.len() as u32).collect();
    let mut renderer = Renderer::new(style);
    let places = Arc::new(Places { directory: b"/d".to_vec(), others: Vec::new() });
    let mut out = Vec::new();
    let owners = Owners::default();
    let frame = Frame::new(&batch, &order, FrameKind::Directory, &owners);
    renderer.frame(&Frame { places: Some(&places), ..frame }, &Team::ALONE, &mut out);
    renderer.finish(&mut out);
    String::from_utf8(out).unwrap()
}

/// Files are `F`, directories `D`.
fn style(format: Format) -> Style {
    let mut icons = Icons::default();
    icons.add(b"fi=F:di=D").unwrap();
    Style {
        format,
        names: NameStyle { icons: Some(icons.into()), quoting: Quoting::ShellEscape, ..NameStyle::default() },
        locale: Locale::C_UTF8,
        screen: Screen { width: 40, tab_size: 0 },
        ..Style::default()
    }
}

#[test]
fn before_the_name_in_every_format() {
    for (format, expected) in [
        (Format::Lines, "F a\nF 'b c'\nD sub\nF 日本\n"),
        (Format::Commas, "F a, F 'b c', D sub, F 日本\n"),
        (Format::Columns, "F  a  F 'b c'  D  sub  F  日本\n"),
        (Format::Across, "F  a  F 'b c'  D  sub  F  日本\n"),
    ] {
        assert_eq!(render(&style(format), &ENTRIES), expected, "{format:?}");
    }
    let long = render(&style(Format::Long), &ENTRIES);
    let ends: Vec<&str> = long.lines().skip(1).map(|line| line.split("? ").last().unwrap()).collect();
    assert_eq!(ends, ["F  a", "F 'b c'", "D  sub", "F  日本"]);
}

/// The icon and its space count in the width of a line: names that fit without icons may not fit with them.
#[test]
fn columns_count_them() {
    let names: Vec<(String, Kind)> = (0..8).map(|n| (std::format!("name{n}"), Kind::Reg)).collect();
    let names: Vec<(&str, Kind)> = names.iter().map(|(name, kind)| (&name[..], *kind)).collect();
    for format in [Format::Columns, Format::Across, Format::Commas] {
        for width in 10..60 {
            let style = Style { screen: Screen { width, ..style(format).screen }, ..style(format) };
            for line in render(&style, &names).lines() {
                // The comma of `-m` may take the last column, as GNU has it.
                assert!(line.len() < width + usize::from(format == Format::Commas), "{width}: {line}");
            }
        }
    }
    let columns =
        Style { screen: Screen { width: 33, ..style(Format::Across).screen }, ..style(Format::Across) };
    assert!(render(&columns, &names).starts_with("F name0  F name1  F name2\n"));
    let without = Style { names: NameStyle { icons: None, ..columns.names }, ..columns };
    assert!(render(&without, &names).starts_with("name0  name1  name2  name3\n"));
}

#[test]
fn within_the_colour_and_outside_of_the_link() {
    let colors = Colors::parse(b"di=1:fi=2:ex=0").unwrap();
    let colored = Style {
        names: NameStyle { colors: Some(colors), indicator: Indicator::Slash, ..style(Format::Across).names },
        ..style(Format::Across)
    };
    assert_eq!(
        render(&colored, &ENTRIES),
        "\x1b[0m\x1b[2mF  a\x1b[0m  \x1b[2mF 'b c'\x1b[0m  \x1b[1mD  sub\x1b[0m/  \x1b[2mF  日本\x1b[0m\n"
    );
    let linked = Style {
        names: NameStyle { hyperlink: Some(b"h".to_vec()), ..style(Format::Across).names },
        ..style(Format::Across)
    };
    let link = |path: &str, text: &str| std::format!("\x1b]8;;file://h/d/{path}\x1b\\{text}\x1b]8;;\x1b\\");
    let expected = [
        "F  ".to_string() + &link("a", "a"),
        "F '".to_string() + &link("b%20c", "b c") + "'",
        "D  ".to_string() + &link("sub", "sub"),
        "F  ".to_string() + &link("%e6%97%a5%e6%9c%ac", "日本"),
    ];
    assert_eq!(render(&linked, &ENTRIES), expected.join("  ") + "\n");
}

/// Executables have an icon of their own if the mode is known anyway; icons alone do not request it.
#[test]
fn they_ask_for_the_type_alone() {
    use dents_core::needs::{Needs, NeedsByKind};
    assert_eq!(style(Format::Columns).needs(), NeedsByKind::all(Needs::TYPE));
    let names = [("x.rs", Kind::Reg)];
    let plain = Style {
        names: NameStyle { icons: Some(Icons::default().into()), ..NameStyle::default() },
        ..Style::default()
    };
    assert_eq!(render(&plain, &names), "\u{e7a8} x.rs\n");
    assert_eq!(render(&Style { names: NameStyle { icons: None, ..plain.names }, ..plain }, &names), "x.rs\n");
}

/// The widths for sorting do not include icons.
#[test]
fn widths_to_sort_by_differ_by_the_name_alone() {
    let mut batch = Batch::new(style(Format::Lines).needs());
    for name in [c"a", c"bcd"] {
        batch.push(name, Kind::Reg, 1);
    }
    let style = style(Format::Lines);
    let widths = Renderer::new(&style).widths(&batch);
    assert_eq!(widths[1] - widths[0], 2);
}
