//! Tables drawn from batches of names: unknown values, notes, widths and pieces. The process tests of `dents-lab` check the
//! values that `statx` returns.

use super::*;
use crate::color::Colors;
use crate::frame::FrameKind;
use crate::note::{Change, Git, Total};
use crate::renderer::Renderer;
use crate::style::{Format, LongStyle, Style};
use crate::view::Column;
use alloc::boxed::Box;
use alloc::ffi::CString;
use dents_core::batch::Batch;
use dents_core::needs::{Kind, Needs};
use dents_core::owners::Owners;
use dents_core::stat::Workers;
use dents_locale::Locale;
use std::string::String;
use std::vec;

const NAMES: [(&str, Kind); 3] = [("one", Kind::Reg), ("日本", Kind::Dir), ("x", Kind::Fifo)];

fn style(view: View) -> Style {
    Style {
        format: Format::Long,
        long: LongStyle { view: Some(Box::new(view)), ..LongStyle::default() },
        locale: Locale::C_UTF8,
        ..Style::default()
    }
}

fn columns(columns: &[Column]) -> View {
    View { columns: columns.to_vec(), header: true, ..View::default() }
}

fn batch(style: &Style, names: &[(&str, Kind)]) -> (Batch, Vec<u32>) {
    let mut batch = Batch::new(style.needs());
    for (name, kind) in names {
        batch.push(&CString::new(*name).unwrap(), *kind, 7);
    }
    (batch, (0..names.len() as u32).collect())
}

fn render(style: &Style, notes: &[Note], mounted: Vec<(u32, Mounted)>) -> String {
    let (batch, order) = batch(style, &NAMES);
    let mut out = Vec::new();
    let mut renderer = Renderer::new(style);
    let owners = Owners::default();
    let frame = Frame::new(&batch, &order, FrameKind::Directory, &owners);
    renderer.frame(&Frame { notes, mounted: &mounted, ..frame }, &Team::ALONE, &mut out);
    String::from_utf8(out).unwrap()
}

fn status(staged: Change, unstaged: Change) -> Note {
    Note { git: Git::Status { staged, unstaged }, total: None }
}

#[test]
fn what_is_not_known_is_a_question_mark() {
    let all = Column::ALL.iter().copied().filter(|column| *column != Column::Name);
    let seen = render(&style(columns(&all.chain([Column::Name]).collect::<Vec<_>>())), &[], vec![]);
    let lines: Vec<&str> = seen.lines().collect();
    assert!(
        lines[0].starts_with("Mode       Octal Links User Group UID GID Size Blocks Inode Device Modified")
    );
    for (line, start) in
        lines[1..].iter().zip(["-?????????     ? ", "d?????????     ? ", "p?????????     ? "])
    {
        assert!(line.starts_with(start), "{line}");
        // The columns from octal to flags are unknown; git and the total were not requested.
        assert_eq!(line.matches(" ?").count(), 17, "{line}");
        assert_eq!(line.matches(" -").count(), 2, "{line}");
    }
    assert!(lines[2].ends_with(" 日本"));
}

#[test]
fn notes_are_columns() {
    let total = |bytes, whole| Note { total: Some(Total { bytes, blocks: 0, whole }), ..Note::default() };
    let git = style(columns(&[Column::Git, Column::Name]));
    let late = Note { git: Git::Late, total: None };
    let notes = [status(Change::Modified, Change::None), late];
    assert_eq!(render(&git, &notes, vec![]), "Git Name\nM-  one\n…   日本\n-   x\n");
    let letters = [Change::Ignored, Change::New, Change::Typechange, Change::Renamed, Change::Deleted];
    for (change, letter) in letters.into_iter().zip(["I", "N", "T", "R", "D"]) {
        let seen = render(&git, &[status(Change::None, change)], vec![]);
        assert!(seen.contains(&std::format!("-{letter}  one\n")), "{seen}");
    }
    let totals = style(View { header: false, ..columns(&[Column::Total, Column::Name]) });
    let notes = [total(1234, true), total(99, false)];
    assert_eq!(render(&totals, &notes, vec![]), "1234 one\n 99+ 日本\n   - x\n");
}

#[test]
fn a_name_that_is_not_last_is_as_wide_as_it_looks() {
    let view = View { mounts: true, ..columns(&[Column::Name, Column::Git]) };
    let mounted = Mounted { fs_type: b"fuse.x".to_vec(), source: b"a b".to_vec() };
    let mut style = style(view);
    let plain = render(&style, &[], vec![(1, mounted.clone())]);
    assert_eq!(
        plain,
        "Name              Git\none               -\n日本 [fuse.x a b] -\nx                 -\n"
    );
    style.names.colors = Some(Colors::builtin());
    let colored = render(&style, &[], vec![(1, mounted)]);
    let mut text = String::new();
    for (nth, piece) in colored.split('\x1b').enumerate() {
        text += if nth == 0 { piece } else { piece.split_once('m').unwrap().1 };
    }
    assert_eq!(text, plain, "colours take no columns");
    assert!(colored.starts_with("\x1b[4mName\x1b[0m              \x1b[4mGit\x1b[0m\n"));
    assert!(colored.contains("\x1b[36m[fuse.x a b]\x1b[0m"));
}

#[test]
fn a_mount_source_cannot_speak_to_the_terminal() {
    let mut style = style(View { mounts: true, header: false, ..columns(&[Column::Name]) });
    style.names.quoting = crate::Quoting::ShellEscape;
    let mounted = Mounted { fs_type: b"fuse".to_vec(), source: b"\x1b[2J".to_vec() };
    let seen = render(&style, &[], vec![(0, mounted)]);
    assert!(!seen.contains('\x1b') && seen.contains("one [fuse ''$'\\033''[2J']"), "{seen}");
}

#[test]
fn the_theme_colours_and_no_theme_does_not() {
    let mut view = View { header: false, ..columns(&[Column::Git, Column::Name]) };
    view.theme.apply(b"git-modified=01;35:nothing=", &mut |bad| panic!("{bad:?}"));
    let mut style = style(view);
    let notes = [status(Change::None, Change::Modified)];
    assert!(render(&style, &notes, vec![]).starts_with("-M one\n"));
    style.names.colors = Some(Colors::builtin());
    assert!(render(&style, &notes, vec![]).starts_with("-\x1b[01;35mM\x1b[0m one\n"));
    style.names.colors = Some(Colors::parse(b"lc=<:rc=>").unwrap());
    assert!(render(&style, &notes, vec![]).starts_with("-<01;35>M<0> one\n"));
}

#[test]
fn nothing_to_show_has_no_header() {
    let style = style(columns(&[Column::Mode, Column::Name]));
    let (batch, order) = batch(&style, &[]);
    let mut out = Vec::new();
    let mut renderer = Renderer::new(&style);
    let owners = Owners::default();
    renderer.frame(&Frame::new(&batch, &order, FrameKind::Directory, &owners), &Team::ALONE, &mut out);
    assert!(out.is_empty());
}

/// A tree: entries of two batches, each with a branch before its name, in columns of one width.
#[test]
fn one_table_for_many_batches() {
    let style = style(View { header: true, ..columns(&[Column::Total, Column::Name, Column::Git]) });
    let owners = Owners::default();
    let mut painter = Painter::new(&style);
    let batches = [batch(&style, &[("top", Kind::Dir)]).0, batch(&style, &[("below", Kind::Reg)]).0];
    let beside = |nth: usize| Beside {
        note: Note {
            total: Some(Total { bytes: 10u128.pow(nth as u32 * 6), ..Total::default() }),
            git: Git::Outside,
        },
        branch: if nth == 0 { b"" } else { "└── ".as_bytes() },
        branch_width: nth * 4,
        ..Beside::default()
    };
    let frame = Frame::new(&batches[0], &[], FrameKind::Directory, &owners);
    let mut table = Table::new(&style, style.long.view.as_ref().unwrap(), &frame);
    for (nth, batch) in batches.iter().enumerate() {
        table.measure(&batch.entry(0), &beside(nth), &mut painter);
    }
    let mut out = Vec::new();
    table.head(&mut painter, &mut out);
    for (nth, batch) in batches.iter().enumerate() {
        table.row(&batch.entry(0), &beside(nth), &mut painter, &mut out);
    }
    let expected = "   Total Name      Git\n      1+ top       -\n1000000+ └── below -\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

struct Three;

impl Workers for Three {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            (1..workers).for_each(|worker| drop(scope.spawn(move || job(worker))));
            job(0);
        });
    }
}

#[test]
fn pieces_on_all_cores_are_the_whole() {
    let mut style = style(columns(&[Column::Mode, Column::Name, Column::Total]));
    style.names.colors = Some(Colors::builtin());
    let names: Vec<_> = (0..40_000u32).map(|n| std::format!("{}", n.wrapping_mul(2_654_435_761))).collect();
    let kinds = [Kind::Reg, Kind::Dir, Kind::Link];
    let names: Vec<_> = names.iter().zip(0..).map(|(name, n)| (name.as_str(), kinds[n % 3])).collect();
    let (batch, order) = batch(&style, &names);
    let notes: Vec<_> = (0..40_000)
        .map(|n| Note { total: Some(Total { bytes: n * n, blocks: 0, whole: true }), ..Note::default() })
        .collect();
    let draw = |team: &Team<'_>| {
        let mut out = Vec::new();
        let mut renderer = Renderer::new(&style);
        let owners = Owners::default();
        let frame = Frame::new(&batch, &order, FrameKind::Directory, &owners);
        renderer.frame(&Frame { notes: &notes, ..frame }, team, &mut out);
        out
    };
    assert!(draw(&Team::ALONE) == draw(&Team::new(&Three, 3)));
}

#[test]
fn needs_are_those_of_the_columns() {
    let needs = |wanted: &[Column]| style(columns(wanted)).needs();
    assert!(!needs(&[Column::Name]).asks(Kind::Reg), "a name alone asks nothing");
    assert_eq!(needs(&[Column::Name]).get(Kind::Link) & Needs::LINK, Needs::LINK);
    let times = needs(&[Column::Modified]).get(Kind::Reg);
    assert!(times.contains(Needs::MTIME) && !times.contains(Needs::EXTRA), "the slot has room for its own");
    let times = needs(&[Column::Modified, Column::Accessed]).get(Kind::Reg);
    assert!(times.contains(Needs::MTIME | Needs::EXTRA) && !times.contains(Needs::ATIME));
    let smart = View { smart_group: true, ..columns(&[Column::Group]) };
    assert!(style(smart).needs().get(Kind::Reg).contains(Needs::UID | Needs::GID));
    assert!(!style(columns(&[Column::Mode])).shows_total());
}
