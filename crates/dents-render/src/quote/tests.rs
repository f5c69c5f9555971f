use super::*;
use crate::indicator::Indicator;
use crate::style::{NameStyle, Style};
use alloc::string::ToString;
use std::process::Command;
use std::string::String;
use std::vec;

const STYLES: [Quoting; 10] = [
    Quoting::Literal,
    Quoting::Shell,
    Quoting::ShellAlways,
    Quoting::ShellEscape,
    Quoting::ShellEscapeAlways,
    Quoting::C,
    Quoting::CMaybe,
    Quoting::Escape,
    Quoting::Locale,
    Quoting::Clocale,
];

/// Undoes `escape_ascii`.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = text.bytes();
    let mut out = vec![];
    while let Some(byte) = bytes.next() {
        out.push(match (byte, byte == b'\\').1 {
            false => byte,
            true => match bytes.next().unwrap() {
                b'x' => {
                    let hex = [bytes.next().unwrap(), bytes.next().unwrap()];
                    u8::from_str_radix(core::str::from_utf8(&hex).unwrap(), 16).unwrap()
                }
                b't' => b'\t',
                b'n' => b'\n',
                b'r' => b'\r',
                other => other,
            },
        });
    }
    out
}

/// `gnu.tsv` was recorded from GNU `ls` 9.1. For each locale, with and without `-F`, it has names and their output in each
/// style, without and with `-q`. One difference is known: if a name has a single quote and ends in an escaped character,
/// 9.1 begins its second pass with the state of the first, and prints another name. Later versions do not, nor does this
/// crate.
#[test]
fn every_style_as_gnu_writes_it() {
    for line in include_str!("gnu.tsv").lines() {
        let mut fields = line.split('\t');
        let locale = if fields.next() == Some("C") { Locale::C } else { Locale::C_UTF8 };
        let indicator = if fields.next() == Some("-F") { Indicator::Classify } else { Indicator::None };
        let name = unescape(fields.next().unwrap());
        for quoting in STYLES {
            for qmark in [false, true] {
                let style = Style {
                    names: NameStyle { quoting, qmark, indicator, ..NameStyle::default() },
                    locale,
                    ..Style::default()
                };
                let quoter = style.name_quoter();
                let mut out = vec![];
                let differs = quoter.write(&name, &mut out);
                let seen = fields.next().unwrap();
                if name == b"\x01'\x02"
                    && matches!(quoting, Quoting::ShellEscape | Quoting::ShellEscapeAlways)
                {
                    assert_eq!(out, b"''$'\\001'\\'''$'\\002'");
                    continue;
                }
                let case = (quoting, qmark, locale.is_utf8(), indicator, name.escape_ascii().to_string());
                assert_eq!(out.escape_ascii().to_string(), seen, "{case:?}");
                assert_eq!(quoter.quotes(&name), differs, "{case:?}");
            }
        }
    }
}

/// GNU's format writes invisible characters raw; the formats that GNU does not have escape them.
#[test]
fn invisible_characters_outside_the_format_of_gnu() {
    use crate::style::Style;
    let name = "exe\u{202e}txt\u{2066}".as_bytes();
    let drawn = |tree: bool, quoting: Quoting, qmark: bool| {
        let style = Style {
            tree,
            names: NameStyle { quoting, qmark, ..NameStyle::default() },
            locale: Locale::C_UTF8,
            ..Style::default()
        };
        let mut out = Vec::new();
        style.name_quoter().write(name, &mut out);
        out
    };
    assert_eq!(drawn(false, Quoting::ShellEscape, false), name);
    assert_eq!(drawn(true, Quoting::ShellEscape, false), br"'exe'$'\342\200\256''txt'$'\342\201\246'");
    assert_eq!(drawn(true, Quoting::Escape, false), br"exe\342\200\256txt\342\201\246");
    assert_eq!(drawn(true, Quoting::Literal, true), b"exe?txt?");
    assert_eq!(drawn(true, Quoting::Literal, false), name);
}

#[test]
fn headers_quote_colons() {
    let header = |quoting| {
        let mut out = vec![];
        Style { names: NameStyle { quoting, ..NameStyle::default() }, ..Style::default() }
            .header_quoter()
            .write(b"./a:x", &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(header(Quoting::ShellEscape), "'./a:x'");
    assert_eq!(header(Quoting::Shell), "'./a:x'");
    assert_eq!(header(Quoting::Escape), "./a\\:x");
    assert_eq!(header(Quoting::C), "\"./a\\:x\"");
    assert_eq!(header(Quoting::Literal), "./a:x");
}

#[test]
fn messages_quote_as_gnu() {
    assert_eq!(quoteaf(b"a b", &Locale::C), b"'a b'");
    assert_eq!(quoteaf(b"it's", &Locale::C), b"\"it's\"");
    assert_eq!(quoteaf(b"a\nb", &Locale::C), b"'a'$'\\n''b'");
    assert_eq!(quotef(b"plain", &Locale::C), b"plain");
    assert_eq!(quotef(b"a:b", &Locale::C), b"'a:b'");
    assert_eq!(quotef(b"", &Locale::C), b"''");
    assert_eq!(quote(b"a'", &Locale::C), b"'a\\''");
    assert_eq!(quote(b"di", &Locale::C_UTF8), "\u{2018}di\u{2019}".as_bytes());
}

/// A small generator of hostile names: the same ones every time.
fn names() -> impl Iterator<Item = Vec<u8>> {
    const SPECIAL: &[u8] = b"'\"\\$ \n\t?*[]{}~#!=:;&|<>()^`@a-";
    const STRANGE: &[u8] = b"\xc3\xa9\xe2\x80\x99\xcc\x81\xff\x01\x1b\x7f\x07";
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    (0..3000).map(move |_| {
        let len = 1 + next() % 8;
        (0..len)
            .map(|_| match next() % 4 {
                0 => SPECIAL[next() as usize % SPECIAL.len()],
                1 => STRANGE[next() as usize % STRANGE.len()],
                2 => 1 + (next() % 255) as u8,
                _ => b'a' + (next() % 26) as u8,
            })
            .collect()
    })
}

/// A shell reads a quoted name back as the name itself, for every name and in all styles for a shell, with and without
/// escapes.
#[test]
fn bash_reads_the_name_back() {
    for locale in [Locale::C, Locale::C_UTF8] {
        for style in [Quoting::Shell, Quoting::ShellAlways, Quoting::ShellEscape, Quoting::ShellEscapeAlways]
        {
            let quoter = Quoter::new(style, &locale, false, b"");
            let (mut script, mut expected) = (b"printf '%s\\0'".to_vec(), vec![]);
            for name in names() {
                script.push(b' ');
                quoter.write(&name, &mut script);
                expected.extend_from_slice(&name);
                expected.push(0);
            }
            let path = std::env::temp_dir().join(std::format!("dents-render-quote-{}", std::process::id()));
            std::fs::write(&path, &script).unwrap();
            let output = Command::new("bash").arg(&path).env("LC_ALL", "C").output().unwrap();
            std::fs::remove_file(&path).unwrap();
            assert!(output.stdout == expected, "{style:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn question_marks_leave_nothing_that_cannot_be_printed() {
    let quoter = Quoter::new(Quoting::Literal, &Locale::C, true, b"");
    for name in names() {
        let mut out = vec![];
        quoter.write(&name, &mut out);
        assert!(out.len() == name.len() && crate::width::is_plain(&out));
    }
}
