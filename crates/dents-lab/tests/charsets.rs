//! Charsets beside GNU `ls`: which bytes of a name are characters, which of them can be printed, how wide they are, months of
//! such letters, and classes of characters in patterns.

use dents_lab::fixture::TempDir;
use dents_lab::process::Run;
use dents_lab::rng::Rng;
use dents_lab::suite::{checked, number, oracle};
use dents_lab::tree::quote_at_edge;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

/// Locales, of which some have one byte for each character and some have several.
const LOCALES: &[(&str, &str)] = &[
    ("fr_FR", "ISO-8859-1"),
    ("ga_IE", "ISO-8859-1"),
    ("pl_PL", "ISO-8859-2"),
    ("ru_RU", "KOI8-R"),
    ("bg_BG", "CP1251"),
    ("th_TH", "TIS-620"),
    ("zh_CN", "GB18030"),
    ("zh_CN", "GBK"),
    ("zh_CN", "GB2312"),
    ("ja_JP", "EUC-JP"),
    ("ko_KR", "EUC-KR"),
    ("zh_TW", "BIG5"),
    ("zh_HK", "BIG5-HKSCS"),
];

/// What is compared for names that may be anything: no layout, which depends on the release of GNU `ls`.
const STYLES: &str = "-b -Q -q -N --quoting-style=shell --quoting-style=shell-always --quoting-style=shell-escape \
    --quoting-style=shell-escape-always --quoting-style=c-maybe --quoting-style=clocale";

/// What is compared for names all of whose characters are escaped, or can be printed in every charset of several bytes.
const LAYOUTS: &str = "-Cbw40 -xbw70 -mbw30 -b,--sort=width";

/// Makes the locales below a directory: those that can be made, as `LANG` has them.
fn made(place: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for (language, charset) in LOCALES {
        let name = format!("{language}.{charset}");
        let mut define = Command::new("localedef");
        define.args(["-i", language, "-f", charset, "--no-archive"]).arg(place.join(&name));
        let _ = define.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if place.join(&name).join("LC_CTYPE").is_file() {
            names.push(name);
        } else {
            let wanted = number("DLS_LOCALES", 0) != 0;
            assert!(!wanted, "localedef cannot make {name}; install the package \"locales\"");
            println!("skipped: localedef cannot make {name}");
        }
    }
    names
}

/// Asserts that both print the same in a directory, in this locale.
fn compare(dir: &Path, locpath: &Path, locale: &str, options: &str) {
    let shown = |program: &Path| {
        let run = Run { argv0: "ls".into(), ..Run::new(program).cwd(dir).args(options.split(',')) };
        let run = run.env("LOCPATH", locpath.display().to_string()).env("LANG", locale);
        let outcome = run.env("LC_ALL", "").env("LC_MESSAGES", "C").output().expect("it starts");
        assert!(outcome.stderr.is_empty(), "{}", outcome.stderr.escape_ascii());
        outcome.stdout.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let (gnu, ours) = (shown(oracle().path()), shown(checked().path()));
    for (gnu, ours) in gnu.iter().zip(&ours) {
        assert_eq!(ours.escape_ascii().to_string(), gnu.escape_ascii().to_string(), "{locale} {options}");
    }
    assert_eq!(ours.len(), gnu.len(), "{locale} {options}");
}

/// A few characters or broken ones, and some that a shell takes for its own.
fn odd_name(rng: &mut Rng) -> Vec<u8> {
    let mut name = Vec::new();
    for _ in 0..1 + rng.below(5) {
        let first = 0x81 + rng.below(0x7e) as u8;
        match rng.below(6) {
            0 => name.push(0x80 + rng.below(128) as u8),
            1 | 2 => name.extend([first, 0x40 + rng.below(0xbf) as u8]),
            // Beyond the first plane glibc has other widths in GB18030 (docs/DIFFERENCES.md).
            3 => name.extend([0x81 + rng.below(3) as u8, b'0', 0x81 + rng.below(15) as u8, b'5']),
            4 => name.extend([0x8f, 0xa1 + rng.below(94) as u8, 0xa1 + rng.below(94) as u8]),
            _ => name.push(*rng.pick(b"ab' \"\\`[#~")),
        }
    }
    name
}

fn touch(dir: &Path, name: &[u8], second: u64) {
    if let Ok(file) = File::create(dir.join(OsStr::from_bytes(name))) {
        file.set_modified(UNIX_EPOCH + Duration::from_secs(second)).expect("a time");
    }
}

#[test]
fn charsets_that_are_not_utf8() {
    let locales = TempDir::new("locales").expect("a directory");
    let names = made(locales.path());
    names_are_quoted(locales.path(), &names);
    names_that_can_be_printed_have_columns(locales.path(), &names);
    months_are_aligned(locales.path(), &names);
}

fn names_are_quoted(locpath: &Path, locales: &[String]) {
    let (dir, mut rng) = (TempDir::new("names").expect("a directory"), Rng::new(39));
    for _ in 0..300 {
        let name = odd_name(&mut rng);
        // Before 9.5, some of these are quoted wrongly.
        if !quote_at_edge(&name) {
            touch(dir.path(), &name, 0);
        }
    }
    for locale in locales {
        let is_steady = |style: &&str| {
            // Before 9.10, quotes in GB18030 are not those of ASCII.
            oracle().version() >= (9, 10) || !(locale.ends_with("GB18030") && style.ends_with("locale"))
        };
        for options in STYLES.split_whitespace().filter(is_steady).chain(LAYOUTS.split_whitespace()) {
            compare(dir.path(), locpath, locale, options);
        }
    }
}

fn names_that_can_be_printed_have_columns(locpath: &Path, locales: &[String]) {
    let dir = TempDir::new("names").expect("a directory");
    for name in
        [&b"\xb0\xa1"[..], b"\xb0\xa1\xb0\xa2x", b"a", b"a\xb0\xf3bc", b"long name\xb1\xa1", b"\xb5\xc4"]
    {
        touch(dir.path(), name, 0);
    }
    for locale in locales {
        for options in ["-Cw30", "-xw40", "-mw20", "--sort=width", "-CNw25", "-CQw30"] {
            compare(dir.path(), locpath, locale, options);
        }
    }
}

fn months_are_aligned(locpath: &Path, locales: &[String]) {
    let dir = TempDir::new("months").expect("a directory");
    for month in 0..12 {
        touch(dir.path(), format!("{month:02}").as_bytes(), 1_000_000_000 + month * 2_629_746);
    }
    for locale in locales {
        for style in ["+%b|", "+%e %b %Y", "+%B|%h|%5b|"] {
            compare(dir.path(), locpath, locale, &format!("-go,--time-style={style}"));
        }
    }
    for locale in ["fr_FR.ISO-8859-1", "ga_IE.ISO-8859-1"] {
        if locpath.join(locale).exists() {
            compare(dir.path(), locpath, locale, "-l");
        }
    }
}

/// Classes of patterns are those of the C library's tables: digits of other scripts are letters, a no-break space is no space.
#[test]
fn classes_in_patterns() {
    let dir = TempDir::new("classes").expect("a directory");
    for char in "aZ0_é1१٣²½ \u{a0}\u{3000}\u{2003}\t!¡€あ漢ア﹏ǅßı\u{301}\u{200b}\u{e000}Ⅷⓐ".chars()
    {
        touch(dir.path(), format!("x{char}").as_bytes(), 0);
    }
    let classes = "alnum alpha blank cntrl digit graph lower print punct space upper xdigit none";
    for locale in ["C", "C.UTF-8", "en_US.UTF-8", "tr_TR.UTF-8"] {
        for class in classes.split(' ') {
            for set in [format!("[[:{class}:]]"), format!("[![:{class}:]_]")] {
                // The path of no locale: only those of the machine.
                compare(dir.path(), Path::new(""), locale, &format!("-N,-I,x{set}"));
                compare(dir.path(), Path::new(""), locale, &format!("-N,--hide=*{set}"));
            }
        }
    }
}

/// Ranges of patterns are those of the locale's order, in characters, then in bytes: `é` is between `a` and `z`.
#[test]
fn ranges_in_patterns() {
    let dir = TempDir::new("ranges").expect("a directory");
    const CHARS: &str = "amzAMZ059_é\u{e4}ñøßÄÉα日あ~";
    CHARS.chars().for_each(|char| touch(dir.path(), format!("x{char}").as_bytes(), 0));
    [&b"x\xe9"[..], b"x\xc3", b"x"].iter().for_each(|name| touch(dir.path(), name, 0));
    let (mut rng, chars) = (Rng::new(1), CHARS.chars().collect::<Vec<_>>());
    for _ in 0..60 {
        let [from, to, other] = [(); 3].map(|()| chars[rng.below(chars.len())]);
        for locale in ["C", "C.UTF-8", "en_US.UTF-8", "sv_SE.UTF-8", "ja_JP.UTF-8"] {
            for set in
                [format!("[{from}-{to}]"), format!("[!{from}-{to}{other}]"), format!("[[.{from}.]-{to}]*")]
            {
                compare(dir.path(), Path::new(""), locale, &format!("-b,-I,x{set}"));
            }
        }
    }
}

/// Equivalents of patterns are the characters with the same first weight: `é` and `E` for `e`, in characters and in bytes.
#[test]
fn equivalents_in_patterns() {
    let dir = TempDir::new("equivalents").expect("a directory");
    const CHARS: &str = "eEéÉèêëēɛaAàåæßsčcdDđоОёе12²-_ かガカ漢あ\u{301}";
    CHARS.chars().for_each(|char| touch(dir.path(), format!("x{char}").as_bytes(), 0));
    [&b"x\xe9"[..], b"x\xc9", b"x\xea", b"x"].iter().for_each(|name| touch(dir.path(), name, 0));
    let nowhere = Path::new("");
    for char in CHARS.chars() {
        for locale in ["C", "C.UTF-8", "en_US.UTF-8", "sv_SE.UTF-8", "ja_JP.UTF-8"] {
            for set in [format!("[[={char}=]]"), format!("[![={char}=]_]"), format!("[_[={char}=]a-c]*")] {
                compare(dir.path(), nowhere, locale, &format!("-b,-I,x{set}"));
            }
        }
    }
}

/// In a charset of bytes, classes and equivalents are of its letters above ASCII too.
#[test]
fn sets_in_charsets_of_bytes() {
    let dir = TempDir::new("sets").expect("a directory");
    let place = TempDir::new("locales").expect("a directory");
    (0x80..=0xff).for_each(|byte| touch(dir.path(), &[b'x', byte], 0));
    "eEaAzZ09_-".bytes().for_each(|byte| touch(dir.path(), &[b'x', byte], 0));
    let classes = "alnum alpha blank cntrl digit graph lower print punct space upper xdigit";
    let classes = classes.split(' ').map(|class| format!("[[:{class}:]]"));
    let sets: Vec<String> = classes.chain(["[[=e=]]", "[![=a=]]", "[[=-=]_]"].map(String::from)).collect();
    let has_bytes = |name: &&String| ["8859", "KOI8", "CP125", "TIS"].iter().any(|part| name.contains(part));
    for locale in made(place.path()).iter().filter(has_bytes) {
        for set in &sets {
            compare(dir.path(), place.path(), locale, &format!("-b,-I,x{set}"));
        }
    }
}
