use super::{Field, Record, Syntax};
use crate::style::{Format, Style};
use crate::{Frame, FrameKind, Git, Note, Renderer, Total};
use alloc::ffi::CString;
use alloc::string::String;
use alloc::vec::Vec;
use dents_core::batch::Batch;
use dents_core::needs::Kind;
use dents_core::owners::Owners;
use dents_core::team::Team;

fn style(syntax: Syntax, fields: &[Field]) -> Style {
    let record = Record { syntax, fields: fields.to_vec(), lazy: false };
    Style { format: Format::Record, record: Some(record), ..Style::default() }
}

/// The output of a run that lists one directory in pieces with these names. No metadata was requested.
fn run(style: &Style, pieces: &[&[&[u8]]], notes: &[Note]) -> String {
    let (mut out, mut renderer) = (Vec::new(), Renderer::new(style));
    let owners = Owners::default();
    for names in pieces {
        let mut batch = Batch::new(style.needs());
        names.iter().for_each(|name| batch.push(&CString::new(*name).expect("no NUL"), Kind::Reg, 1));
        let order: Vec<u32> = (0..batch.len() as u32).collect();
        renderer.header(b"dir", None, &mut out);
        let frame = Frame::new(&batch, &order, FrameKind::Chunk { last: false }, &owners);
        renderer.frame(&Frame { directory: Some(b"dir"), notes, ..frame }, &Team::ALONE, &mut out);
    }
    renderer.fail(b"g\xff", 13, "Permission denied");
    renderer.finish(&mut out);
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn commas_stand_between_rows_of_all_pieces() {
    let style = style(Syntax::Json, &[Field::Name]);
    let errors = r#""errors":[
{"path_bytes":"Z/8=","errno":13,"error":"EACCES","message":"Permission denied"}]}"#;
    let head = r#"{"version":1,"program":"dls","lazy":false,"entries":["#;
    let rows = "\n{\"name\":\"a\"},\n{\"name_bytes\":\"/w==\"},\n{\"name\":\"b\\n\"}";
    let seen = run(&style, &[&[], &[b"a"], &[b"\xff", b"b\n"], &[]], &[]);
    assert_eq!(seen, std::format!("{head}{rows}\n],{errors}\n"));
    assert_eq!(run(&style, &[], &[]), std::format!("{head}\n],{errors}\n"));
}

#[test]
fn lines_and_tables() {
    let fields = [Field::Directory, Field::Name, Field::Type];
    let names: &[&[u8]] = &[b"a", b"\x1b", b"x,y"];
    let ndjson = run(&style(Syntax::Ndjson, &fields), &[names], &[]);
    assert_eq!(ndjson.lines().nth(1), Some(r#"{"v":1,"directory":"dir","name":"\u001b","type":"file"}"#));
    assert_eq!(
        run(&style(Syntax::Csv, &fields), &[names], &[]),
        "directory,name,type,directory_bytes,name_bytes\r\ndir,a,file,,\r\ndir,,file,,Gw==\r\ndir,\"x,y\",file,,\r\n"
    );
}

/// A value that was not requested, or not answered, is null.
#[test]
fn unknown_is_null() {
    let fields =
        Field::complete(Field::USUAL.iter().copied().chain([Field::Acl, Field::Context, Field::Xattrs]));
    let seen = run(&style(Syntax::Ndjson, &fields), &[&[b"a"]], &[]);
    let known = r#"{"v":1,"directory":"dir","name":"a","type":"file","mode":null"#;
    assert!(seen.starts_with(known), "{seen}");
    assert_eq!(seen.matches(":null").count(), fields.len() - 3, "{seen}");
    let csv = run(&style(Syntax::Csv, &fields), &[&[b"a"]], &[]);
    let row = csv.lines().nth(1).expect("a row");
    assert_eq!(row.trim_end_matches(','), "dir,a,file");
    let header = csv.lines().next().expect("a header");
    assert_eq!(row.matches(',').count(), header.matches(',').count());
}

#[test]
fn notes_are_fields() {
    let git = Git::Status { staged: crate::Change::New, unstaged: crate::Change::None };
    let notes = [
        Note { git, total: Some(Total { bytes: 7, blocks: 2, whole: false }) },
        Note { git: Git::Late, total: None },
    ];
    let columns = [crate::view::Column::Git, crate::view::Column::Total];
    let fields: Vec<Field> = columns.into_iter().flat_map(crate::Column::fields).copied().collect();
    let seen = run(&style(Syntax::Ndjson, &fields), &[&[b"a", b"b", b"c"]], &notes);
    let null = r#"{"v":1,"git_staged":null,"git_unstaged":null,"total":null,"total_allocated":null,"total_whole":null}"#;
    let known = r#"{"v":1,"git_staged":"new","git_unstaged":"none","total":7,"total_allocated":1024,"total_whole":false}"#;
    assert_eq!(seen.lines().collect::<Vec<_>>(), [known, null, null]);
}

#[test]
fn counts_and_sums() {
    let style = Style { format: Format::Count, summary: true, ..Style::default() };
    let (mut out, mut renderer) = (Vec::new(), Renderer::new(&style));
    let mut batch = Batch::new(style.needs());
    for (name, kind) in
        [(c".", Kind::Dir), (c"..", Kind::Dir), (c"d", Kind::Dir), (c"f", Kind::Reg), (c"g", Kind::Reg)]
    {
        batch.push(name, kind, 1);
    }
    for kind in [FrameKind::Chunk { last: false }, FrameKind::Chunk { last: true }, FrameKind::Directory] {
        let order: &[u32] = if kind == (FrameKind::Chunk { last: true }) { &[] } else { &[4, 0, 2, 1, 3] };
        renderer.frame(&Frame::new(&batch, order, kind, &Owners::default()), &Team::ALONE, &mut out);
    }
    renderer.finish(&mut out);
    let once = "2 file\n1 directory\n3 total\n";
    let expected = std::format!("{once}{once}6 entries: 4 files, 2 directories\n");
    assert_eq!(String::from_utf8(out).expect("ASCII"), expected);
}
