use super::*;
use alloc::string::ToString;

fn color(colors: &Colors, name: &[u8], kind: Kind, facts: Facts) -> std::string::String {
    colors.entry(name, kind, true, &facts).map_or("none".into(), |color| color.escape_ascii().to_string())
}

fn regular(value: &str, name: &[u8]) -> std::string::String {
    color(&Colors::parse(value.as_bytes()).unwrap(), name, Kind::Reg, Facts::default())
}

/// The errors are those of GNU `ls` 9.1 for the same values.
#[test]
fn bad_values_name_the_key_to_blame() {
    let prefix = |value: &str| Colors::parse(value.as_bytes()).map(|_| ()).map_err(|bad| bad.prefix);
    for (value, blamed) in [
        ("di=\\", Some(b"di")),
        ("di=1;3\\", Some(b"di")),
        ("zz=3", Some(b"zz")),
        ("d", None),
        ("di", None),
        ("dii=3", None),
        ("*", None),
        ("*a", None),
        ("di=^", Some(b"di")),
        ("di=^!", Some(b"di")),
        ("zzz=3", None),
        ("*.c=33;1:x", None),
        ("=3", None),
        ("\n1=3", Some(b"\n1")),
        ("LN=3", Some(b"LN")),
        ("di=31:*.c=^:fi=1", None),
    ] {
        assert_eq!(prefix(value), Err(blamed.copied()), "{value}");
    }
    for value in ["", ":", ":::di=31", "*a=", "di=", "*=3:", "di=31:*=32"] {
        assert_eq!(prefix(value), Ok(()), "{value}");
    }
}

#[test]
fn escape_sequences() {
    let colors =
        Colors::parse(b"di=^?1:ln=\\x4142:fi=\\7777:ex=\\_\\?:pi=\\e\\a^[\\::so=\\101x=\\x").unwrap();
    assert_eq!(colors.get(Key::Dir), Some(&b"\x7f?1"[..]));
    assert_eq!(colors.get(Key::Link), Some(&b"B"[..]));
    assert_eq!(colors.get(Key::File), Some(&b"\xff"[..]));
    assert_eq!(colors.get(Key::Exec), Some(&b" \x7f"[..]));
    assert_eq!(colors.get(Key::Fifo), Some(&b"\x1b\x07\x1b:"[..]));
    assert_eq!(colors.get(Key::Sock), Some(&b"Ax=\0"[..]));
}

#[test]
fn the_newest_suffix_that_fits_counts() {
    let value = "*.gz=1:*.tar.gz=2:*z=3:*README=4:*.c=5:*.C=6:*.H=7:*.h=7:*.verylongsuffix=8:*.tgz=9";
    for (name, seen) in [
        ("a.gz", "3"),
        ("a.tar.gz", "3"),
        ("xz", "3"),
        ("a.tgz", "9"),
        ("A.TGZ", "9"),
        ("README", "4"),
        ("README.md", "none"),
        ("a.c", "5"),
        ("a.C", "6"),
        ("a.H", "7"),
        ("x.VeryLongSuffix", "8"),
        ("VeryLongSuffix", "none"),
        (".c", "5"),
        ("c", "none"),
    ] {
        assert_eq!(regular(value, name.as_bytes()), seen, "{name}");
    }
}

#[test]
fn a_suffix_of_nothing_fits_all_that_is_left() {
    assert_eq!(regular("*.a=1:*=2", b"x.a"), "2");
    assert_eq!(regular("*=2:*.a=1", b"x.a"), "1");
    assert_eq!(regular("*=2:*.a=1", b"x"), "2");
    assert_eq!(regular("*.a=1:fi=3", b"x"), "3");
    assert_eq!(regular("*.A=1:*.a=2:*.A=3", b"x.A"), "3");
    assert_eq!(regular("*.A=1:*.a=2:*.A=3", b"x.a"), "2");
}

/// Compares the look-up with a simple implementation of the rule, with random patterns over two letters.
#[test]
fn suffixes_agree_with_a_search_from_the_newest() {
    let mut state = 7u64;
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..2000 {
        let mut word = |most: u64| {
            (0..next(most)).map(|_| b"ab"[next(2) as usize] as char).collect::<std::string::String>()
        };
        let patterns: Vec<_> = (0..8u8).map(|nth| (word(12), nth)).collect();
        let value: Vec<_> = patterns.iter().map(|(suffix, nth)| std::format!("*{suffix}=x{nth}")).collect();
        let name = word(14) + "b";
        let newest = patterns.iter().rev().find(|(suffix, _)| name.ends_with(suffix.as_str()));
        let expected = newest.map_or("none".into(), |(_, nth)| std::format!("x{nth}"));
        assert_eq!(regular(&value.join(":"), name.as_bytes()), expected, "{value:?} {name}");
    }
}

#[test]
fn types_and_permissions() {
    let colors = Colors::parse(b"mh=44;37:ca=30;41").unwrap();
    let with = |mode: u16| Facts { mode: Some(mode), ..Facts::default() };
    let file = |facts| color(&colors, b"x", Kind::Reg, facts);
    assert_eq!(file(with(0o4755)), "37;41");
    assert_eq!(file(with(0o2755)), "30;43");
    assert_eq!(file(with(0o001)), "01;32");
    assert_eq!(file(Facts { hard_linked: true, ..with(0o644) }), "44;37");
    assert_eq!(file(Facts { capability: true, ..with(0o755) }), "30;41");
    assert_eq!(file(with(0o644)), "none");
    let dir = |mode| color(&colors, b"x", Kind::Dir, with(mode));
    assert_eq!([dir(0o755), dir(0o1777), dir(0o777), dir(0o1755)], ["01;34", "30;42", "34;42", "37;44"]);
}

#[test]
fn links() {
    let plain = Colors::builtin();
    let aware = Colors::parse(b"or=41:mi=42").unwrap();
    let follow = Colors::parse(b"ln=target").unwrap();
    let found = Facts { target: Some(0o040_755), ..Facts::default() };
    let lost = Facts::default();
    let link = |colors: &Colors, facts| color(colors, b"x", Kind::Link, facts);
    assert_eq!([link(&plain, found), link(&plain, lost)], ["01;36", "01;36"]);
    assert_eq!([link(&aware, found), link(&aware, lost)], ["01;36", "41"]);
    assert_eq!([link(&follow, found), link(&follow, lost)], ["01;34", "none"]);
    assert_eq!(aware.target(b"x", &lost), Some(&b"42"[..]));
    assert_eq!(aware.target(b"x", &found), Some(&b"01;34"[..]));
    assert_eq!(plain.target(b"x", &lost), None);
}

#[test]
fn colours_cost_what_they_must() {
    let sherlock = Colors::parse(b"ex=00:su=00:sg=00:ca=00").unwrap().needs(false, false);
    assert!(!sherlock.asks(Kind::Reg) && !sherlock.asks(Kind::Link));
    assert!(sherlock.asks(Kind::Dir));
    let dirs = Colors::parse(b"tw=0:ow=0:st=").unwrap().needs(false, false);
    assert!(!dirs.asks(Kind::Dir) && dirs.asks(Kind::Reg));
    let builtin = Colors::builtin().needs(false, true);
    assert!(!builtin.get(Kind::Link).contains(Needs::TARGET));
    assert!(!builtin.get(Kind::Reg).intersects(Needs::NLINK | Needs::CAPABILITY));
    let mh = Colors::parse(b"mh=1:ex=0:su=0:sg=0").unwrap();
    assert!(!mh.needs(false, false).asks(Kind::Reg));
    assert!(mh.needs(false, true).get(Kind::Reg).contains(Needs::NLINK));
    let or = Colors::parse(b"or=1").unwrap();
    assert!(or.needs(or.checks_targets(false), false).get(Kind::Link).contains(Needs::TARGET));
    let mi = Colors::parse(b"mi=1").unwrap();
    assert!(
        !mi.needs(mi.checks_targets(false), false).asks(Kind::Link)
            && mi.needs(mi.checks_targets(true), false).asks(Kind::Link)
    );
}

/// For any value of the variable parsing ends, and so does every look-up after it.
#[test]
fn any_bytes_are_parsed_or_refused() {
    let mut state = 11u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    const PIECES: [&[u8]; 16] = [
        b"di=",
        b"*.c=",
        b"*",
        b"=",
        b":",
        b"\\",
        b"^",
        b"^?",
        b"\\x",
        b"7",
        b"\\0",
        b"ln=target",
        b"31",
        b"\xff",
        b"*.C=",
        b"no=1:",
    ];
    let (mut parsed, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let value: Vec<u8> = (0..next(9)).flat_map(|_| PIECES[next(PIECES.len())]).copied().collect();
        match Colors::parse(&value) {
            Ok(colors) => {
                parsed += 1;
                for name in [&b""[..], b"c", b".c", b"x.C", b"a longer name.c"] {
                    let _ = color(&colors, name, Kind::Reg, Facts::default());
                }
            }
            Err(_) => refused += 1,
        }
    }
    assert!(parsed > 1000 && refused > 1000, "{parsed} {refused}");
}
