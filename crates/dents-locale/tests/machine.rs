//! Months, formats and the search for locales against the machine's own `ls`. Locales that are not installed are reported and skipped.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use common::{Disk, listed, locale, locales};
use dents_locale::{Catalog, Collation, Files, TimeNames, catalog, copy, find::ARCHIVE};

/// A directory of twelve old files, `01` to `12`, each of the fifth of its month.
struct Year(PathBuf);

impl Year {
    fn new() -> Year {
        let path = env::temp_dir().join(format!("dents-locale-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        for month in 1..=12 {
            let date = format!("2020-{month:02}-05 10:00");
            let file = path.join(format!("{month:02}"));
            let done = Command::new("touch").args(["-d", &date]).arg(file).status().expect("touch starts");
            assert!(done.success());
        }
        Year(path)
    }

    /// The twelve dates as `ls` prints them.
    fn dates(&self, locale: &str, language: &str) -> Vec<Vec<u8>> {
        let output = Command::new("ls")
            .args(["-gGn", "--time-style=locale"])
            .arg(&self.0)
            .env("LC_ALL", locale)
            .env("LANGUAGE", language)
            .output()
            .expect("ls starts")
            .stdout;
        let lines = output.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty());
        // Mode, links and size go before ("-rw-r--r-- 1 0 "), the name after (" 01").
        lines.map(|line| line[15..line.len() - 3].to_vec()).collect()
    }
}

impl Drop for Year {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The fifth of that month of 2020 in such a format; the directives are those that the catalogs have.
fn formatted(format: &[u8], month: usize, name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = format;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            out.push(*byte);
            continue;
        }
        let (flag, after) = if rest[0] == b'-' { (b'-', &rest[1..]) } else { (0, rest) };
        let number = format!("{month:02}");
        out.extend_from_slice(match (flag, after[0]) {
            (_, b'b') => name,
            (0, b'e') => b" 5",
            (0, b'd') => b"05",
            (b'-', _) => b"5",
            (0, b'm') => number.as_bytes(),
            (0, b'Y') => b"2020",
            other => panic!("unexpected directive {other:?} in {}", format.escape_ascii()),
        });
        rest = &after[1..];
    }
    out
}

#[test]
fn dates_are_those_of_ls() {
    let year = Year::new();
    let disk = &mut Disk::default();
    for name in &locales() {
        let found = locale(name, disk);
        let Some(time) = found.time(disk) else {
            println!("skipped: {name} is not installed");
            continue;
        };
        let utf8 = found.locale().is_utf8();
        let width = |name: &[u8]| {
            let text = std::str::from_utf8(name).ok().filter(|_| utf8);
            text.map_or(name.len(), |text| text.chars().map(|char| 1 + usize::from(char >= '\u{2e80}')).sum())
        };
        let months =
            TimeNames::new(copy(TimeNames::part(time)).leak()).expect("months").aligned_months(&width);
        for language in ["", "de:sv", "C:de"] {
            let paths = catalog::paths(found.time_name(), Some(language.as_bytes()), "LC_TIME", "coreutils");
            let bytes = paths.iter().find_map(|path| disk.open(path));
            let catalog = bytes.and_then(Catalog::new);
            let format =
                catalog.and_then(|catalog| catalog.get(b"%b %e  %Y")).unwrap_or(b"%b %e  %Y".to_vec());
            if !utf8 && !format.is_ascii() {
                println!("skipped: {name}'s format would have to be converted");
                continue;
            }
            let dates = year.dates(name, language);
            assert_eq!(dates.len(), 12);
            for (at, date) in dates.iter().enumerate() {
                let ours = formatted(&format, at + 1, &months[at]);
                assert_eq!(
                    ours.escape_ascii().to_string(),
                    date.escape_ascii().to_string(),
                    "{name} {language}"
                );
            }
        }
    }
}

/// glibc's answer for a name: `None` if it is not installed, else whether its charset is UTF-8.
fn glibc(name: &str) -> Option<bool> {
    let output = Command::new("locale").arg("charmap").env("LC_ALL", name).output().expect("locale starts");
    output.stderr.is_empty().then(|| output.stdout == b"UTF-8\n")
}

/// The same locales are found as by glibc: all that `locale -a` lists, and no name that is not installed.
#[test]
fn the_installed_locales_are_found() {
    let disk = &mut Disk::default();
    let unlikely = ["xx_XX.UTF-8", "en_US.UTF-16", "xx", "en_US.UTF-8@nonsense"].map(String::from);
    for name in listed().into_iter().chain(unlikely) {
        let found = locale(&name, disk);
        let plain = ["C", "POSIX", "C.utf8"].contains(&&*name) || !found.is_installed();
        assert_eq!(found.is_installed().then(|| found.locale().is_utf8()), glibc(&name), "{name}");
        assert_eq!(found.locale().collation == Collation::Bytes, plain, "{name}");
        assert_eq!(found.time(disk).is_none(), plain, "{name}");
    }
    // The archive is searched once for each name, and first.
    let mut disk = Disk::default();
    if Path::new(std::str::from_utf8(ARCHIVE).unwrap()).exists()
        && listed().iter().any(|name| name == "en_US.utf8")
    {
        let _ = locale("en_US.UTF-8", &mut disk).time(&mut disk);
        assert_eq!(disk.asked, [ARCHIVE]);
    }
}
