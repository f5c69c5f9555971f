use super::*;
use std::prelude::v1::*;

const NOTHING: Known = Known { mode: None, target: Target::Unasked };

fn glyph(icons: &Icons, name: &str, kind: Kind, known: Known) -> String {
    let mut out = Vec::new();
    icons.write(name.as_bytes(), kind, known, &mut out);
    String::from_utf8(out).unwrap()
}

fn builtin(name: &str, kind: Kind) -> String {
    glyph(&Icons::default(), name, kind, NOTHING)
}

#[test]
fn names_then_extensions_then_types() {
    let rust = builtin("main.rs", Kind::Reg);
    assert_eq!(rust, "\u{e7a8} ");
    assert_eq!(builtin("MAIN.RS", Kind::Reg), rust);
    assert_eq!(builtin("Cargo.toml", Kind::Reg), rust, "the name comes before the extension");
    let file = builtin("whatever", Kind::Reg);
    for name in [".rs", "rs", "a.", "a.rs.no-such-extension", "a.\u{e9}", "."] {
        assert_eq!(builtin(name, Kind::Reg), file, "{name}");
    }
    assert_ne!(builtin(".bashrc", Kind::Reg), file);
}

#[test]
fn directories_have_names_of_their_own() {
    let directory = builtin("whatever", Kind::Dir);
    assert_eq!(builtin("a.rs", Kind::Dir), directory, "the extension of a directory says nothing");
    assert_eq!(builtin("Makefile", Kind::Dir), directory);
    assert_ne!(builtin("node_modules", Kind::Dir), directory);
    assert_eq!(builtin("node_modules", Kind::Reg), builtin("whatever", Kind::Reg));
}

#[test]
fn every_type_differs() {
    let dir = Target::Mode(0o040_755);
    let mut seen: Vec<String> =
        [Kind::Reg, Kind::Dir, Kind::Link, Kind::Fifo, Kind::Sock, Kind::Block, Kind::Char]
            .map(|kind| builtin("x", kind))
            .to_vec();
    seen.push(builtin("x", Kind::Unknown));
    let icons = Icons::default();
    for target in [dir, Target::Missing] {
        seen.push(glyph(&icons, "x", Kind::Link, Known { target, ..NOTHING }));
    }
    seen.push(glyph(&icons, "x", Kind::Reg, Known { mode: Some(0o100_755), ..NOTHING }));
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((seen.len(), count), (TYPES.len(), TYPES.len()));
    // A link has the icon of links, whatever its name. An executable file has the icon of its name, if there is one.
    assert_eq!(builtin("x.rs", Kind::Link), builtin("x", Kind::Link));
    let script = glyph(&icons, "x.py", Kind::Reg, Known { mode: Some(0o100_755), ..NOTHING });
    assert_eq!(script, builtin("x.py", Kind::Reg));
    let plain = glyph(&icons, "x", Kind::Reg, Known { mode: Some(0o100_644), ..NOTHING });
    assert_eq!(plain, builtin("x", Kind::Reg));
}

#[test]
fn what_the_user_says_comes_first_and_the_last_word_counts() {
    let mut icons = Icons::default();
    icons.add(b"*.rs=e001:README*=e002:a*z=e003:src/=e004:di=e005:fi=U+E006:exact=x:*.d/=e007").unwrap();
    let own = |icons: &Icons, name, kind| glyph(icons, name, kind, NOTHING);
    for (name, kind, expected) in [
        ("x.RS", Kind::Reg, "\u{e001} "),
        ("readme.rs", Kind::Reg, "\u{e002} "),
        ("a-z", Kind::Reg, "\u{e003} "),
        ("az", Kind::Reg, "\u{e003} "),
        ("a", Kind::Reg, "\u{e006} "),
        ("src", Kind::Dir, "\u{e004} "),
        ("rc.d", Kind::Dir, "\u{e007} "),
        ("x.rs", Kind::Dir, "\u{e005} "),
        ("src", Kind::Reg, "\u{e006} "),
        ("exact", Kind::Reg, "x "),
        ("exactly", Kind::Reg, "\u{e006} "),
    ] {
        assert_eq!(own(&icons, name, kind), expected, "{name}");
    }
    icons.add(b"*.rs=e00f").unwrap();
    assert_eq!(own(&icons, "x.rs", Kind::Reg), "\u{e00f} ");
}

#[test]
fn backslashes_take_meanings_off() {
    let mut icons = Icons::default();
    icons.add(br"\di=a:a\:b=b:a\=b=c:a\*b=d:*\\=\::e\==\=").unwrap();
    for (name, expected) in
        [("di", "a "), ("a:b", "b "), ("a=b", "c "), ("a*b", "d "), ("x\\", ": "), ("e=", "= ")]
    {
        assert_eq!(glyph(&icons, name, Kind::Reg, NOTHING), expected, "{name}");
    }
    assert_eq!(glyph(&icons, "di", Kind::Dir, NOTHING), builtin("di", Kind::Dir));
}

/// A glyph that is wider moves all names to the right. In place of an empty glyph there are blanks.
#[test]
fn all_take_the_same_columns() {
    let mut icons = Icons::default();
    assert_eq!(icons.columns(), 2);
    icons.add("di=📁:*.o=:*.c=C:ln=".as_bytes()).unwrap();
    assert_eq!(icons.columns(), 3);
    assert_eq!(glyph(&icons, "x", Kind::Dir, NOTHING), "📁 ");
    assert_eq!(glyph(&icons, "x.o", Kind::Reg, NOTHING), "   ");
    assert_eq!(glyph(&icons, "x.c", Kind::Reg, NOTHING), "C  ");
    assert_eq!(glyph(&icons, "x.rs", Kind::Reg, NOTHING), "\u{e7a8}  ");
    let spaces = glyph(&icons, "x", Kind::Link, NOTHING);
    assert_eq!(spaces, "   ");
    // A heart is one column wide, its picture two.
    let mut hearts = Icons::default();
    hearts.add("di=\u{2764}".as_bytes()).unwrap();
    assert_eq!(hearts.columns(), 2);
    hearts.add("fi=\u{2764}\u{fe0f}".as_bytes()).unwrap();
    assert_eq!(hearts.columns(), 3);
}

#[test]
fn bad_pairs_are_named_and_the_others_taken() {
    for (pair, why) in [
        ("rs", Why::NoValue),
        ("=e001", Why::Key),
        ("/=e001", Why::Key),
        ("a*b*c=e001", Why::Key),
        ("a=d800", Why::Value),
        ("a=110000", Why::Value),
        ("a=0007", Why::Value),
        ("a=\x1b", Why::Value),
        ("a=abc", Why::Value),
        ("a=\u{301}", Why::Value),
        ("a=📁x", Why::Value),
        ("a=\u{fe0f}", Why::Value),
        ("a=ab\u{2764}\u{fe0f}", Why::Value),
    ] {
        let mut icons = Icons::default();
        let text = std::format!("*.x=e00a:{pair}:*.y=e00b:also-bad");
        assert_eq!(icons.add(text.as_bytes()), Err(BadIcon { pair: pair.as_bytes(), why }), "{pair:?}");
        assert_eq!(glyph(&icons, "x.x", Kind::Reg, NOTHING), "\u{e00a} ");
        assert_eq!(glyph(&icons, "x.y", Kind::Reg, NOTHING), "\u{e00b} ");
    }
    let mut icons = Icons::default();
    assert_eq!(icons.add(b""), Ok(()));
    assert_eq!(icons.add(b"::"), Ok(()));
    assert!(icons.add(b"a=\xff").is_err());
}
