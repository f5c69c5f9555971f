use crate::style::{Format, LongStyle, NameStyle, PrefixStyle, Screen, Style};
use crate::view::{Column, View};
use crate::{Colors, Frame, FrameKind, Git, Indicator, Note, Places, Quoting, Renderer, Zone};
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_core::batch::{Batch, Time};
use dents_core::mounts::Mounted;
use dents_core::needs::Kind;
use dents_core::owners::Owners;
use dents_core::team::Team;
use std::vec;

fn batch(style: &Style, names: &[(&str, Kind)]) -> (Batch, Vec<u32>) {
    let mut batch = Batch::new(style.operand_needs());
    for (name, kind) in names {
        batch.push(&CString::new(*name).unwrap(), *kind, 1);
    }
    (batch, (0..names.len() as u32).collect())
}

fn render(style: &Style, names: &[(&str, Kind)], kind: FrameKind) -> String {
    let (batch, order) = batch(style, names);
    let mut out = Vec::new();
    let mut renderer = Renderer::new(style);
    renderer.frame(&Frame::new(&batch, &order, kind, &Owners::default()), &Team::ALONE, &mut out);
    renderer.finish(&mut out);
    String::from_utf8(out).unwrap()
}

const REFUSED: [(&str, Kind); 5] =
    [("a", Kind::Reg), ("b c", Kind::Reg), ("d", Kind::Dir), ("l", Kind::Link), ("p", Kind::Fifo)];

/// A directory with read permission and without search permission, as GNU `ls` 9.1 shows it: only names and types are
/// known.
#[test]
fn entries_that_could_not_be_stated() {
    let long = Style { format: Format::Long, ..Style::default() };
    let seen = render(&long, &REFUSED, FrameKind::Directory);
    assert!(
        seen.starts_with("total 0\n-????????? ? ? ? ?            ? a\n-????????? ? ? ? ?            ? b c\n")
    );
    let all = Style {
        prefix: PrefixStyle { inode: true, blocks: true, ..long.prefix.clone() },
        names: NameStyle { quoting: Quoting::ShellEscape, ..long.names.clone() },
        ..long.clone()
    };
    let seen = render(&all, &REFUSED, FrameKind::Operands);
    assert!(
        seen.starts_with(
            "? ? -????????? ? ? ? ?            ?  a\n? ? -????????? ? ? ? ?            ? 'b c'\n"
        )
    );
    let colored = Style {
        names: NameStyle {
            colors: Some(Colors::builtin()),
            indicator: Indicator::Classify,
            ..long.names.clone()
        },
        ..long.clone()
    };
    let seen = render(&colored, &REFUSED, FrameKind::Operands);
    assert!(seen.contains("d????????? ? ? ? ?            ? \x1b[0m\x1b[01;34md\x1b[0m/\n"));
    assert!(seen.contains("l????????? ? ? ? ?            ? \x1b[01;36ml\x1b[0m\n"));
    assert!(seen.ends_with("p????????? ? ? ? ?            ? \x1b[33mp\x1b[0m|\n"));
    for (format, text) in [
        (Format::Columns, "? ? a  ? ? b c  ? ? d  ? ? l  ? ? p\n"),
        (Format::Commas, "? ? a, ? ? b c, ? ? d, ? ? l, ? ? p\n"),
    ] {
        let style = Style {
            format,
            prefix: PrefixStyle { inode: true, blocks: true, ..PrefixStyle::default() },
            ..Style::default()
        };
        assert_eq!(render(&style, &REFUSED, FrameKind::Operands), text);
    }
}

#[test]
fn an_empty_directory_is_nothing_but_its_total() {
    for format in [Format::Lines, Format::Columns, Format::Across, Format::Commas] {
        for width in [0, 80] {
            let style = Style { format, screen: Screen { width, ..Screen::default() }, ..Style::default() };
            assert_eq!(render(&style, &[], FrameKind::Directory), "");
            assert_eq!(render(&style, &[], FrameKind::Chunk { last: true }), "");
        }
    }
    assert_eq!(
        render(&Style { format: Format::Long, ..Style::default() }, &[], FrameKind::Directory),
        "total 0\n"
    );
    assert_eq!(
        render(
            &Style {
                prefix: PrefixStyle { blocks: true, ..PrefixStyle::default() },
                eol: 0,
                ..Style::default()
            },
            &[],
            FrameKind::Directory
        ),
        "total 0\0"
    );
}

/// The chunks of a directory give the same bytes as the whole directory, for any size of chunks.
#[test]
fn chunks_leave_no_seams() {
    let names: Vec<_> = (0..60u32).map(|n| std::format!("{}", n.pow(n % 5 + 1))).collect();
    let names: Vec<_> = names.iter().map(|name| (name.as_str(), Kind::Reg)).collect();
    for (format, width) in [(Format::Commas, 40), (Format::Commas, 0), (Format::Lines, 80)] {
        let style = Style { format, screen: Screen { width, ..Screen::default() }, ..Style::default() };
        let whole = render(&style, &names, FrameKind::Directory);
        let owners = Owners::default();
        for size in [1, 7, 59, 60] {
            let mut out = Vec::new();
            let mut renderer = Renderer::new(&style);
            for chunk in names.chunks(size) {
                let (batch, order) = batch(&style, chunk);
                let kind = FrameKind::Chunk { last: false };
                renderer.frame(&Frame::new(&batch, &order, kind, &owners), &Team::ALONE, &mut out);
            }
            let (batch, order) = batch(&style, &[]);
            let kind = FrameKind::Chunk { last: true };
            renderer.frame(&Frame::new(&batch, &order, kind, &owners), &Team::ALONE, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), whole, "{format:?} {width} {size}");
        }
    }
}

/// The run of `ls file dir1 dir2`.
#[test]
fn headers_and_gaps() {
    let style = Style::default();
    let (batch, order) = batch(&style, &[("x", Kind::Reg)]);
    let mut out = Vec::new();
    let mut renderer = Renderer::new(&style);
    let owners = Owners::default();
    renderer.frame(&Frame::new(&batch, &order, FrameKind::Operands, &owners), &Team::ALONE, &mut out);
    renderer.gap(&mut out);
    renderer.header(b"dir1", None, &mut out);
    renderer.frame(&Frame::new(&batch, &order, FrameKind::Directory, &owners), &Team::ALONE, &mut out);
    renderer.header(b"dir2", None, &mut out);
    renderer.finish(&mut out);
    assert_eq!(out, b"x\n\ndir1:\nx\n\ndir2:\n");
}

#[test]
fn unusual_sequences_are_undone_at_the_end() {
    let colors = |value: &[u8]| Style {
        names: NameStyle { colors: Some(Colors::parse(value).unwrap()), ..NameStyle::default() },
        ..Style::default()
    };
    let dir = [("d", Kind::Dir)];
    assert_eq!(render(&colors(b"lc=<:rc=>"), &dir, FrameKind::Directory), "<0><01;34>d<0>\n<>");
    assert_eq!(render(&colors(b"lc=<:rc=>"), &[("f", Kind::Reg)], FrameKind::Directory), "f\n");
    assert_eq!(render(&colors(b""), &dir, FrameKind::Directory), "\x1b[0m\x1b[01;34md\x1b[0m\n");
}

/// A simple, slow implementation of the rule: the largest number of columns whose sum is below the width of the screen.
#[test]
fn columns_are_as_many_as_fit() {
    let mut state = 3u64;
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % below) as usize
    };
    for _ in 0..300 {
        let names: Vec<String> = (0..=next(40)).map(|_| "x".repeat(1 + next(15))).collect();
        let (screen, across) = (1 + next(120), next(2) == 0);
        let widths = |columns: usize| {
            let rows = names.len().div_ceil(columns);
            let mut widths = vec![3; columns];
            for (nth, name) in names.iter().enumerate() {
                let column = if across { nth % columns } else { nth / rows };
                let width = name.len() + if column + 1 == columns { 0 } else { 2 };
                widths[column] = widths[column].max(width);
            }
            widths
        };
        let fits = |columns: &usize| {
            let widths = widths(*columns);
            widths.iter().all(|width| *width == 3) || widths.iter().sum::<usize>() < screen
        };
        let most = screen.div_ceil(3).min(names.len());
        let columns = (2..=most).rev().find(fits).unwrap_or(1);
        let rows = names.len().div_ceil(columns);
        let widths = widths(columns);
        let mut expected = String::new();
        for row in 0..rows {
            let places: Vec<usize> = match across {
                true => (row * columns..names.len().min((row + 1) * columns)).collect(),
                false => (row..names.len()).step_by(rows).collect(),
            };
            for (nth, place) in places.iter().enumerate() {
                let width = if nth + 1 == places.len() { 0 } else { widths[nth] };
                expected += &std::format!("{:width$}", names[*place]);
            }
            expected += "\n";
        }
        let names: Vec<_> = names.iter().map(|name| (name.as_str(), Kind::Reg)).collect();
        let format = if across { Format::Across } else { Format::Columns };
        let style = Style { format, screen: Screen { width: screen, tab_size: 0 }, ..Style::default() };
        assert_eq!(render(&style, &names, FrameKind::Directory), expected, "{screen} {across}");
    }
}

/// A plain listing needs no request about entries.
#[test]
fn names_alone_need_no_stat() {
    assert!(!Style::default().needs().asks_any());
    assert!(
        !Style {
            format: Format::Columns,
            names: NameStyle { indicator: Indicator::FileType, ..NameStyle::default() },
            ..Style::default()
        }
        .needs()
        .asks_any()
    );
    assert!(
        Style { prefix: PrefixStyle { inode: true, ..PrefixStyle::default() }, ..Style::default() }
            .needs()
            .asks(Kind::Fifo)
    );
    let long = Style { format: Format::Long, ..Style::default() };
    assert!(Kind::KNOWN.iter().all(|kind| long.needs().asks(*kind)));
}

/// The notes, places, time and zone of a frame have no effect on the next frame.
#[test]
fn a_frame_leaves_nothing_for_the_next() {
    let names = [("a", Kind::Reg), ("b c", Kind::Dir)];
    let owners = Owners::default();
    let note = Note { git: Git::Late, total: None };
    let places = Arc::new(Places { directory: b"/elsewhere".to_vec(), others: vec![(1, None)] });
    let zone = Arc::new(Zone::posix(b"AAA-11"));
    let mounted = [(0, Mounted { fs_type: b"fuse".to_vec(), source: b"x".to_vec() })];
    let columns = vec![Column::Git, Column::Total, Column::Modified, Column::Name];
    let view = View { columns, mounts: true, ..View::default() };
    let linked = Style {
        names: NameStyle { hyperlink: Some(b"h".to_vec()), ..NameStyle::default() },
        screen: Screen { width: 40, ..Screen::default() },
        ..Style::default()
    };
    let formats = [Format::Lines, Format::Long, Format::Columns, Format::Across, Format::Commas];
    let plain = formats.map(|format| Style { format, ..linked.clone() });
    let view = Style {
        format: Format::Long,
        long: LongStyle { view: Some(Box::new(view)), ..linked.long },
        ..linked
    };
    for style in plain.iter().chain([&view]) {
        let (batch, order) = batch(style, &names);
        let bare = Frame::new(&batch, &order, FrameKind::Directory, &owners);
        let full = Frame {
            notes: &[note, note],
            mounted: &mounted,
            places: Some(&places),
            zone: Some(&zone),
            now: Time { sec: 1 << 31, nsec: 0 },
            directory: Some(b"elsewhere"),
            ..bare
        };
        let drawn = |frames: &[Frame<'_>]| {
            let (mut renderer, mut out) = (Renderer::new(style), Vec::new());
            frames.iter().for_each(|frame| renderer.frame(frame, &Team::ALONE, &mut out));
            String::from_utf8(out).unwrap()
        };
        let (one, other) = (drawn(&[full]), drawn(&[bare]));
        assert_ne!(one, other, "{:?}", style.format);
        assert_eq!(drawn(&[full, bare, full]), [&one[..], &other, &one].concat(), "{:?}", style.format);
    }
}
