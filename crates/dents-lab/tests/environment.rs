//! Files that the environment names: the zone of `TZ`, the options of `DLS_CONFIG`, the locales below `LOCPATH`.
//! Whatever kind of file they are, a listing ends, and does not read from a FIFO or a device.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dents_lab::case::MODES;
use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Run, run, shown};
use dents_lab::suite::release;
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// A directory to list, and beside it files of every kind that is no zone, no list of options and no locale.
struct Place(TempDir);

const HOSTILE: [&str; 7] = ["zero", "random", "null", "fifo", "directory", "sparse", "loop"];

impl Place {
    fn new() -> Place {
        let place = Place(TempDir::new("environment").expect("a directory"));
        fs::create_dir_all(place.at("list")).expect("a directory");
        fs::create_dir_all(place.at("directory")).expect("a directory");
        (0..300).for_each(|at| drop(File::create(place.at(&format!("list/{at:03}"))).expect("a file")));
        File::create(place.at("sparse")).and_then(|file| file.set_len(1 << 40)).expect("a hole");
        mknodat(CWD, place.at("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
        for (name, target) in [("zero", "/dev/zero"), ("random", "/dev/urandom"), ("null", "/dev/null")] {
            symlink(target, place.at(name)).expect("a link");
        }
        symlink("loop", place.at("loop")).expect("a link");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Run {
        Run::new(release().path()).cwd(&self.at("list")).args(args)
    }

    /// A locale `xx_XX.UTF-8` below `LOCPATH`, whose names sort from the last to the first. Returns its file.
    fn locale(&self) -> PathBuf {
        fs::create_dir_all(self.at("locales/xx_XX.UTF-8")).expect("a directory");
        let file = self.at("locales/xx_XX.UTF-8/LC_COLLATE");
        fs::write(&file, backward()).expect("a file");
        file
    }

    fn localized(&self, args: &[&str]) -> Run {
        self.run(args).env("LC_ALL", "xx_XX.UTF-8").env("LOCPATH", self.at("locales"))
    }
}

/// A compiled `LC_COLLATE` of one level, in which a byte weighs the less the larger it is.
fn backward() -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
    let table: Vec<u32> = (0..256).map(|byte| 2 * byte).collect();
    let weights: Vec<u8> = (0..=255).flat_map(|byte: u8| [1, 255 - byte]).collect();
    let fields = [words(&[1]), vec![1, 0, 0, 0], words(&table), weights, vec![0; 4], vec![0; 4]];
    let mut head = vec![0x2005_1014 ^ 3, fields.len() as u32];
    let mut at = 8 + 4 * fields.len();
    for field in &fields {
        head.push(at as u32);
        at += field.len();
    }
    [words(&head), fields.concat()].concat()
}

#[test]
fn a_zone_that_is_none_is_utc() {
    let place = Place::new();
    for mode in MODES {
        let run = |zone: &OsStr| place.run(&[&format!("--mode={mode}"), "-l", "000", "001"]).env("TZ", zone);
        let expected = shown(&run(OsStr::new("UTC0")));
        for name in HOSTILE {
            let path = place.at(name).into_os_string();
            let mut marked = std::ffi::OsString::from(":");
            marked.push(&path);
            assert_eq!(shown(&run(&path)), expected, "{mode} {name}");
            assert_eq!(shown(&run(&marked)), expected, "{mode} :{name}");
            let below = run(OsStr::new(name)).env("TZDIR", place.0.path());
            assert_eq!(shown(&below), expected, "{mode} {name} in TZDIR");
        }
    }
}

#[test]
fn a_zone_takes_nothing_out_of_a_fifo() {
    let place = Place::new();
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let mut fifo = (OpenOptions::new().read(true).write(true).custom_flags(flags))
        .open(place.at("fifo"))
        .expect("a FIFO");
    fifo.write_all(b"TZif").expect("there is room");
    let run = |zone: &OsStr| place.run(&["-l", "000"]).env("TZ", zone);
    assert_eq!(shown(&run(place.at("fifo").as_os_str())), shown(&run(OsStr::new("UTC0"))));
    let mut kept = [0; 8];
    assert_eq!(fifo.read(&mut kept).ok(), Some(4), "taken by a listing");
}

#[test]
fn options_are_read_from_files_alone() {
    let place = Place::new();
    for name in HOSTILE {
        let outcome = run(&place.run(&["-x", "-w0", "000", "001"]).env("DLS_CONFIG", place.at(name)));
        let message = String::from_utf8_lossy(&outcome.stderr);
        assert_eq!((outcome.end, &outcome.stdout[..]), (End::Exit(0), &b"000  001\n"[..]), "{name}");
        assert_eq!(message.lines().count(), usize::from(name != "null"), "{name}: {message}");
    }
}

#[test]
fn a_locale_that_is_none_is_c() {
    let place = Place::new();
    let expected = shown(&place.run(&["-l"]));
    let file = place.locale();
    let backward = shown(&place.localized(&["-l"]));
    assert!(
        backward != expected
            && backward.lines().skip(1).eq(expected.lines().skip(1).collect::<Vec<_>>().into_iter().rev())
    );
    for name in HOSTILE {
        fs::remove_file(&file).expect("a file");
        symlink(place.at(name), &file).expect("a link");
        assert_eq!(shown(&place.localized(&["-l"])), expected, "{name}");
    }
    let whole = self::backward();
    for length in (0..whole.len()).step_by(37) {
        fs::remove_file(&file).expect("a file");
        fs::write(&file, &whole[..length]).expect("a file");
        assert_eq!(shown(&place.localized(&["-1"])).lines().count(), 300, "{length} bytes");
    }
}

/// Lists again and again while another thread does this to the locale's file.
fn while_it_changes(place: &Place, change: impl Fn(&Path, u32) + Sync) -> Vec<Outcome> {
    let file = place.locale();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let _changer = scope.spawn(|| {
            let mut round = 0;
            while !done.load(Ordering::Relaxed) {
                change(&file, round);
                round += 1;
            }
        });
        let outcomes = (0..60).map(|_| run(&place.localized(&["-1"]))).collect();
        done.store(true, Ordering::Relaxed);
        outcomes
    })
}

fn is_whole(outcome: &Outcome) -> bool {
    let lines = outcome.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    outcome.end == End::Exit(0) && lines.count() == 300
}

#[test]
fn a_locale_that_is_replaced_meanwhile() {
    let place = Place::new();
    let new = place.at("new");
    let outcomes = while_it_changes(&place, |file, round| {
        fs::write(&new, &backward()[..if round % 2 == 0 { 1584 } else { 40 }]).expect("a file");
        fs::rename(&new, file).expect("the same directory");
    });
    assert!(outcomes.iter().all(is_whole));
}

/// In any order: a file whose bytes differ at each read defines none.
#[test]
fn a_locale_that_is_overwritten_meanwhile() {
    let place = Place::new();
    let outcomes = while_it_changes(&place, |file, round| {
        let bytes: Vec<u8> = (0..4096_u32).map(|at| (at.wrapping_mul(round | 1) >> 3) as u8).collect();
        let file = OpenOptions::new().write(true).open(file).expect("a file");
        file.write_all_at(&bytes, 32).expect("room");
        file.write_all_at(&backward()[32..], 32).expect("room");
    });
    assert!(outcomes.iter().all(is_whole));
}

/// Cut off in place, which no tool does to a locale, a file that is mapped ends every program that looks beyond its end.
#[test]
fn a_locale_that_is_cut_off_meanwhile() {
    const SIGBUS: i32 = 7;
    let place = Place::new();
    let outcomes = while_it_changes(&place, |file, _| {
        fs::write(file, []).and_then(|()| fs::write(file, backward())).expect("a file");
    });
    for outcome in outcomes {
        assert!(is_whole(&outcome) || outcome.end == End::Signal(SIGBUS), "{:?}", outcome.end);
    }
}
