//! Locales that glibc's `localedef` compiled: one that is checked in (tests/fixtures), and the same compiled by this machine's,
//! as files and in an archive, where it has one.
#![cfg(target_endian = "little")]

use dents_locale::archive::Archive;
use dents_locale::file::Category;
use dents_locale::{Collation, Collator, Files, TimeNames, UserLocale, Variables, copy};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicU8;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The bytes of a file, as a map has them.
fn mapped(path: &Path) -> &'static [AtomicU8] {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    bytes.into_iter().map(AtomicU8::new).collect::<Vec<_>>().leak()
}

/// The names of the fixture, in glibc's order, must have rising keys.
fn orders_as_glibc(collate: &'static [AtomicU8]) {
    let names = fs::read(fixtures().join("names")).expect("names");
    let mut names: Vec<&[u8]> = names.split(|byte| *byte == b'\n').collect();
    names.pop();
    assert_eq!(names.len(), 51);
    let mut collator = Collator::new(collate).expect("tables that can be read");
    let mut key = |name: &[u8]| {
        let (mut key, mut parts) = (Vec::new(), Vec::new());
        collator.key(name, &mut key);
        collator.first(name, &mut parts);
        collator.rest(name, &mut parts);
        assert_eq!(key, parts);
        key
    };
    let keys: Vec<Vec<u8>> = names.iter().map(|name| key(name)).collect();
    for (keys, names) in keys.windows(2).zip(names.windows(2)) {
        let [one, two] = [names[0], names[1]].map(|name| String::from_utf8_lossy(name));
        // These two are equal to strcoll.
        let equal = (&*one, &*two) == ("\u{df}", "ss");
        assert!(keys[0] < keys[1] || (equal && keys[0] == keys[1]), "{one} before {two}\n{keys:02x?}");
    }
}

fn has_the_names_of_the_fixture(time: &'static [AtomicU8]) {
    let part = copy(TimeNames::part(time));
    assert!(part.len() < time.len(), "a part of it is enough");
    let names = TimeNames::new(&part).expect("names");
    let words = |first: &str, last: usize| (1..=last).map(|nth| format!("{first}{nth}")).collect::<Vec<_>>();
    let texts = |names: &[&[u8]]| {
        names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&names.short_days), words("d", 7));
    assert_eq!(texts(&names.months), words("month ", 12));
    assert_eq!((names.days[0], names.days[6]), (&b"day one"[..], &b"day seven"[..]));
    assert_eq!(texts(&names.half_days), ["before", "after"]);
    assert_eq!((names.date_time, names.date), (&b"%a %d. %b %Y %T"[..], &b"%d.%m.%Y"[..]));
    assert_eq!((names.time, names.time_12), (&b"%H.%M"[..], &b"%I:%M %p"[..]));
    let width = |name: &[u8]| {
        let chars = std::str::from_utf8(name).expect("UTF-8").chars();
        chars.map(|char| 1 + usize::from(char > '\u{2e80}')).sum()
    };
    let months = names.aligned_months(&width);
    let expected = [
        "m1",
        "m\u{e9}2",
        "m3",
        "\u{3042}4",
        "m5 is longer than twelve",
        "m6",
        "m7",
        "m8",
        "m9",
        "m10",
        "m11",
        "m12",
    ];
    for (month, expected) in months.iter().zip(expected) {
        let columns = 24 - expected.chars().map(|char| 1 + usize::from(char > '\u{2e80}')).sum::<usize>();
        assert_eq!(String::from_utf8_lossy(month), format!("{expected}{}", " ".repeat(columns)));
    }
}

#[test]
fn what_is_checked_in_is_read() {
    orders_as_glibc(mapped(&fixtures().join("small/LC_COLLATE")));
    has_the_names_of_the_fixture(mapped(&fixtures().join("small/LC_TIME")));
}

/// Opens files of a directory, as `LOCPATH` would.
struct Disk;

impl Files<'static> for Disk {
    fn open(&mut self, path: &[u8]) -> Option<&'static [AtomicU8]> {
        let path = Path::new(std::str::from_utf8(path).ok()?);
        path.is_file().then(|| mapped(path))
    }
}

#[test]
fn what_is_checked_in_is_found() {
    let fixtures = fixtures();
    let locpath = fixtures.to_str().expect("the project's path is UTF-8").as_bytes();
    let variables = Variables { collate: Some(b"small"), time: Some(b"small"), ..Variables::default() };
    let found = UserLocale::find(&variables, &[], Some(locpath), &mut Disk);
    assert!(found.is_installed() && found.locale().collation == Collation::Rules);
    orders_as_glibc(found.collate().expect("rules"));
    has_the_names_of_the_fixture(found.time(&mut Disk).expect("names"));
    let missing = Variables { collate: Some(b"large"), ..variables };
    assert!(!UserLocale::find(&missing, &[], Some(locpath), &mut Disk).is_installed());
}

/// Runs `localedef`; `None`, with a message, if it is missing or is not glibc's.
fn localedef(args: &[&std::ffi::OsStr]) -> Option<()> {
    let run = Command::new("localedef").args(args).stdin(Stdio::null()).output();
    // Status 1 means warnings: categories that the source leaves out.
    let done = run.as_ref().is_ok_and(|output| output.status.code().is_some_and(|code| code <= 1));
    if !done {
        println!("not compared with this machine's localedef: {run:?}");
    }
    done.then_some(())
}

/// Compiles the source into `place`, and puts the result into an archive there.
fn compile(place: &Path) -> Option<(PathBuf, PathBuf)> {
    let (source, compiled) = (fixtures().join("small.localedef"), place.join("small"));
    let lib = place.join("usr/lib/locale");
    fs::create_dir_all(&lib).expect("a directory");
    let prefix = format!("--prefix={}", place.display());
    localedef(
        &["-c", "-i"]
            .map(AsRef::as_ref)
            .iter()
            .copied()
            .chain([
                source.as_os_str(),
                "-f".as_ref(),
                "UTF-8".as_ref(),
                "--no-archive".as_ref(),
                compiled.as_os_str(),
            ])
            .collect::<Vec<_>>(),
    )?;
    localedef(&[prefix.as_ref(), "--add-to-archive".as_ref(), compiled.as_os_str()])?;
    let archive = lib.join("locale-archive");
    (compiled.join("LC_COLLATE").is_file() && archive.is_file()).then_some((compiled, archive))
}

#[test]
fn what_this_machine_compiles_is_read() {
    let place = std::env::temp_dir().join(format!("dents-locale-compiled-{}", std::process::id()));
    if let Some((compiled, archive)) = compile(&place) {
        orders_as_glibc(mapped(&compiled.join("LC_COLLATE")));
        has_the_names_of_the_fixture(mapped(&compiled.join("LC_TIME")));
        let archive = Archive::new(mapped(&archive)).expect("an archive");
        for name in [&b"small"[..], b"small.utf8"] {
            let record = archive.find(name).unwrap_or_else(|| panic!("{} is in it", name.escape_ascii()));
            orders_as_glibc(record.category(Category::Collate).expect("an order"));
            has_the_names_of_the_fixture(record.category(Category::Time).expect("names"));
        }
        assert!(archive.find(b"large").is_none());
    }
    let _ = fs::remove_dir_all(&place);
}
