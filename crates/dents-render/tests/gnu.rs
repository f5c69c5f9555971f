//! Compares whole listings with the GNU `ls` of this machine, byte by byte. The directory has unusual entries; `dents-core`
//! reads and stats them, and this crate renders them.

use dents_core::batch::{Batch, Time};
use dents_core::needs::Needs;
use dents_core::owners::{Getent, Owners};
use dents_core::read::{Filter, Hidden, Reader};
use dents_core::sort::Order;
use dents_core::stat::{self, Asking, Mode, Resources, Threads, Workers};
use dents_core::team::Team;
use dents_locale::Locale;
use dents_render::human::{Grouping, Separator};
use dents_render::{
    Colors, Format, Frame, FrameKind, Indicator, LongStyle, NameStyle, PrefixStyle, Quoting, Renderer,
    Screen, SizeFormat, Style, TimeStyle,
};
use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

struct Alone;

impl Workers for Alone {
    fn run(&self, _: usize, job: &(dyn Fn(usize) + Sync)) {
        job(0);
    }
}

struct NoGetent;

impl Getent for NoGetent {
    fn getent(&self, _: &std::ffi::CStr, _: &[u32]) -> Option<Vec<u8>> {
        None
    }
}

/// std's scoped threads.
struct Crowd;

impl Workers for Crowd {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            (1..workers).for_each(|worker| drop(scope.spawn(move || job(worker))));
            job(0);
        });
    }
}

/// Lists a directory as `dls` does.
fn list(dir: &Path, style: &Style) -> Vec<u8> {
    list_by(dir, style, &[Team::ALONE]).remove(0)
}

/// The same: reads the directory once, and draws it with each of these teams.
fn list_by(dir: &Path, style: &Style, teams: &[Team<'_>]) -> Vec<Vec<u8>> {
    let path = CString::new(dir.as_os_str().as_bytes()).unwrap();
    let mut reader = Reader::open(dents_sys::CWD, &path, true).unwrap();
    let needs = style.needs();
    let mut batch = Batch::new(needs);
    reader.read_all(&Filter { hidden: Hidden::All, ..Filter::default() }, &mut batch).unwrap();
    let threads = Threads::default();
    let resources = Resources {
        mode: Mode::Classic,
        threads: &threads,
        workers: &Alone,
        mounts: None,
        rings: None,
        lazy: false,
        counter: None,
    };
    stat::fill(&mut batch, reader.dir(), &Asking { needs: &needs, follow: false, resources: &resources });
    let mut owners = Owners::default();
    let mut names = Needs::empty();
    names.set(Needs::UID, style.wants_user_names());
    names.set(Needs::GID, style.wants_group_names());
    owners.learn(&batch, names, &NoGetent);
    let order = Order::default().sort(&batch, None, &Team::ALONE);
    let now = now();
    let draw = |team: &Team<'_>| {
        let mut out = Vec::new();
        let mut renderer = Renderer::new(style);
        let frame = Frame::new(&batch, &order, FrameKind::Directory, &owners);
        renderer.frame(&Frame { now, ..frame }, team, &mut out);
        renderer.finish(&mut out);
        out
    };
    teams.iter().map(draw).collect()
}

fn gnu(dir: &Path, style: &Style, options: &[&str], colors: &str) -> Vec<u8> {
    let output = Command::new("ls")
        .args(["-a", "--show-control-chars"])
        .args(options)
        .arg(dir)
        .env_clear()
        .env("LC_ALL", if style.locale.is_utf8() { "C.UTF-8" } else { "C" })
        .env("LS_COLORS", colors)
        .env("TERM", "xterm")
        .env("TZ", "UTC0")
        .output()
        .expect("GNU ls is installed");
    output.stdout
}

/// Whether the `ls` of this machine may arrange such a listing in another way. If a character of a name cannot be printed,
/// releases before 9.7 count the others, and 9.7 takes the width as unknown. `dents-lab` compares these listings with a build
/// of 9.7.
fn differs_before_97(style: &Style) -> bool {
    let as_they_are = matches!(style.names.quoting, Quoting::Literal | Quoting::Shell) && !style.names.qmark;
    let by_width = matches!(style.format, Format::Columns | Format::Across | Format::Commas);
    style.locale.is_utf8() && as_they_are && by_width
}

fn check(dir: &Path, style: &Style, options: &[&str], colors: &str) {
    if differs_before_97(style) {
        return;
    }
    let (ours, theirs) = (list(dir, style), gnu(dir, style, options, colors));
    if ours != theirs {
        let at = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
        let near =
            |text: &[u8]| text[at.saturating_sub(60)..text.len().min(at + 60)].escape_ascii().to_string();
        panic!("{dir:?} {options:?} {colors:?}\nours   {}\ntheirs {}", near(&ours), near(&theirs));
    }
}

/// A directory with every kind of entry that an unprivileged user can make.
struct Zoo(PathBuf);

impl Zoo {
    fn new(name: &str) -> Zoo {
        // The parent directory is of this test alone, so that no other test changes the metadata of `..`.
        let dir = std::env::temp_dir().join(format!("dents-render-{name}-{}/zoo", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let file = |name: &[u8], size, mode, seconds: i64| {
            let path = dir.join(std::ffi::OsStr::from_bytes(name));
            let file = File::create(&path).unwrap();
            file.set_len(size).unwrap();
            let then = match u64::try_from(seconds) {
                Ok(after) => UNIX_EPOCH + std::time::Duration::from_secs(after),
                Err(_) => UNIX_EPOCH - std::time::Duration::from_secs(seconds.unsigned_abs()),
            };
            file.set_modified(then).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let names: [&[u8]; 17] = [
            b"plain",
            b"a b",
            b"it's",
            b"new\nline",
            b"tab\t",
            b"\x1b[31m",
            "\u{e9}t\u{e9}".as_bytes(),
            "\u{6f22}\u{5b57}".as_bytes(),
            b"\xff\xfe",
            b"~tilde",
            b"a:b",
            b"star*",
            b"=",
            b"x.tar",
            b"X.TAR",
            b"a very long name indeed, so long that it cannot but be wider than most of the others here",
            "zero\u{200b}width e\u{301}".as_bytes(),
        ];
        for (nth, name) in names.iter().enumerate() {
            file(
                name,
                [0, 999, 1024, 123_456, 1 << 33][nth % 5],
                0o644,
                1_000_000_000 + nth as i64 * 40_000_000,
            );
        }
        for (name, mode) in
            [("exec", 0o755), ("setuid", 0o4755), ("setgid", 0o2755), ("none", 0), ("SsT", 0o7644)]
        {
            file(name.as_bytes(), 1, mode, -1_000_000_000);
        }
        file(b"future", 7, 0o600, 4_000_000_000);
        fs::hard_link(dir.join("plain"), dir.join("second name")).unwrap();
        for (name, mode) in [("dir", 0o755), ("sticky", 0o1755), ("tmp", 0o1777), ("open dir", 0o777)] {
            fs::create_dir_all(dir.join(name)).unwrap();
            fs::set_permissions(dir.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let links = [("to file", "plain"), ("to dir", "dir"), ("dangling", "no where"), ("loop", "loop")];
        for (name, target) in
            links.into_iter().chain([("to exec", "exec"), ("to tar", "x.tar"), ("to fifo", "fifo")])
        {
            symlink(target, dir.join(name)).unwrap();
        }
        assert!(Command::new("mkfifo").arg(dir.join("fifo")).status().unwrap().success());
        drop(UnixListener::bind(dir.join("socket")).unwrap());
        Zoo(dir)
    }
}

impl Drop for Zoo {
    fn drop(&mut self) {
        let _ = self.0.parent().map(fs::remove_dir_all);
    }
}

/// One dimension of a listing: GNU's options for it, and the change of the style.
type Choice = (&'static [&'static str], fn(&mut Style));

const FORMATS: &[Choice] = &[
    (&["-1"], |_| {}),
    (&["-l"], |s| s.format = Format::Long),
    (&["-C"], |s| s.format = Format::Columns),
    (&["-x"], |s| s.format = Format::Across),
    (&["-m"], |s| s.format = Format::Commas),
    (&["-g"], |s| (s.format, s.long.owner) = (Format::Long, false)),
    (&["-gG"], |s| (s.format, s.long.owner, s.long.group) = (Format::Long, false, false)),
    (&["-n", "--author"], |s| (s.format, s.long.numeric, s.long.author) = (Format::Long, true, true)),
];

const PREFIXES: &[Choice] = &[
    (&[], |_| {}),
    (&["-i"], |s| s.prefix.inode = true),
    (&["-s"], |s| s.prefix.blocks = true),
    (&["-ish"], |s| {
        (s.prefix.inode, s.prefix.blocks) = (true, true);
        (s.prefix.block_size, s.long.file_size) = (SizeFormat::HUMAN, SizeFormat::HUMAN);
    }),
    (&["-s", "--si"], |s| {
        (s.prefix.blocks, s.prefix.block_size, s.long.file_size) = (true, SizeFormat::SI, SizeFormat::SI);
    }),
    (&["--zero", "--block-size=1M"], |s| {
        s.eol = 0;
        let mega = SizeFormat::Blocks { size: 1 << 20, suffix: "", grouping: None };
        (s.prefix.block_size, s.long.file_size) = (mega, mega);
    }),
];

const INDICATORS: &[Choice] = &[
    (&[], |_| {}),
    (&["-p"], |s| s.names.indicator = Indicator::Slash),
    (&["--file-type"], |s| s.names.indicator = Indicator::FileType),
    (&["-F"], |s| s.names.indicator = Indicator::Classify),
];

const QUOTINGS: &[Choice] = &[
    (&["--quoting-style=literal"], |_| {}),
    (&["--quoting-style=shell-escape"], |s| s.names.quoting = Quoting::ShellEscape),
    (&["--quoting-style=shell", "-q"], |s| (s.names.quoting, s.names.qmark) = (Quoting::Shell, true)),
    (&["--quoting-style=literal", "-q"], |s| s.names.qmark = true),
    (&["--quoting-style=escape"], |s| s.names.quoting = Quoting::Escape),
    (&["--quoting-style=c"], |s| s.names.quoting = Quoting::C),
    (&["--quoting-style=c-maybe"], |s| s.names.quoting = Quoting::CMaybe),
];

const WIDTHS: &[Choice] = &[
    (&["-w80"], |_| {}),
    (&["-w0"], |s| s.screen.width = 0),
    (&["-w1"], |s| s.screen.width = 1),
    (&["-w120", "-T0"], |s| (s.screen.width, s.screen.tab_size) = (120, 0)),
    (&["-w200", "-T5"], |s| (s.screen.width, s.screen.tab_size) = (200, 5)),
    (&["-w1000"], |s| s.screen.width = 1000),
    (&["-w31"], |s| s.screen.width = 31),
];

const TIMES: &[Choice] = &[
    (&["--time-style=locale"], |_| {}),
    (&["--time-style=full-iso"], |s| s.long.time_style = TimeStyle::FullIso),
    (&["--time-style=long-iso"], |s| s.long.time_style = TimeStyle::LongIso),
    (&["--time-style=iso"], |s| s.long.time_style = TimeStyle::Iso),
    (&["--time-style=+%c %j %Z"], |s| {
        s.long.time_style = TimeStyle::Custom { recent: b"%c %j %Z".to_vec(), other: b"%c %j %Z".to_vec() };
    }),
];

/// `None` for no colours.
const COLORS: &[Option<&str>] = &[
    None,
    None,
    Some(""),
    Some("ex=00:su=00:sg=00:ca=00"),
    Some("*.tar=31:*.TAR=31:or=40;31:mi=05:mh=44"),
    Some("mh=44:ex=0:su=0:sg=0:tw=0:ow=0:st=0"),
    Some("ln=target:or=41:no=33:mi=42"),
    Some("ln=target:ex=0:su=0:sg=0"),
    Some("di=0:fi=00:ln=:rs=1:lc=<:rc=>"),
    Some("ec=E:no=35:cl=!:or=0:mi=7"),
];

fn compose(picks: [usize; 6], utf8: bool, colors: Option<&'static str>) -> (Style, Vec<&'static str>) {
    let mut style = Style { locale: if utf8 { Locale::C_UTF8 } else { Locale::C }, ..Style::default() };
    let mut options = vec![];
    let dimensions = [FORMATS, PREFIXES, INDICATORS, QUOTINGS, WIDTHS, TIMES];
    for (dimension, pick) in dimensions.into_iter().zip(picks) {
        let (words, apply) = dimension[pick % dimension.len()];
        options.extend(words);
        apply(&mut style);
    }
    // `--zero` sets `-1` and a quoting style; the option for the format follows it.
    if style.eol == 0 {
        let format = FORMATS[picks[0] % FORMATS.len()].0;
        options.extend(format);
        options.extend(QUOTINGS[picks[3] % QUOTINGS.len()].0);
    }
    if let Some(value) = colors {
        style.names.colors =
            Some(if value.is_empty() { Colors::builtin() } else { Colors::parse(value.as_bytes()).unwrap() });
        style.screen.tab_size = 0;
        options.push("--color=always");
    }
    (style, options)
}

/// Compares every choice alone, then random combinations of all dimensions.
fn compare(dir: &Path, combinations: u64) {
    let mut state = 42u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for dimension in 0..6 {
        for pick in 0..8 {
            let mut picks = [0; 6];
            picks[dimension] = pick;
            let (style, options) = compose(picks, pick % 2 == 0, None);
            check(dir, &style, &options, "");
        }
    }
    for _ in 0..combinations {
        let picks = [(); 6].map(|()| next());
        let colors = COLORS[next() % COLORS.len()];
        let (style, options) = compose(picks, next() % 2 == 0, colors);
        check(dir, &style, &options, colors.unwrap_or(""));
    }
}

#[test]
fn a_zoo_as_gnu_lists_it() {
    let zoo = Zoo::new("zoo");
    compare(&zoo.0, 1500);
}

#[test]
fn directories_of_this_machine_as_gnu_lists_them() {
    // Not /dev, because the link `stderr -> /proc/self/fd/2` has another target in this process than in a child. dents-lab
    // compares `dls` there, as a process.
    for dir in ["/usr/bin", "/etc", "/usr/lib"] {
        compare(Path::new(dir), 40);
    }
}

/// A number, grouped as in French.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<_> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join("\u{202f}")
}

/// GNU `ls` 9.7 in fr_FR.UTF-8: the long format pads to columns, the others pad to bytes. (The test does not use the locale of
/// this machine.)
#[test]
fn separators_of_several_bytes_are_aligned_as_gnu_aligns_them() {
    let zoo = Zoo::new("separators");
    let sizes = [0, 999, 12_345, 1_234_567_890];
    for size in sizes {
        File::create(zoo.0.join(format!("of{size}"))).unwrap().set_len(size).unwrap();
    }
    fs::write(zoo.0.join("full"), vec![b'x'; 3 << 20]).unwrap();
    let grouping =
        Grouping::new(Separator::new("\u{202f}".as_bytes(), dents_locale::Charset::Utf8).unwrap(), &[3]);
    let size = SizeFormat::Blocks { size: 1, suffix: "", grouping: Some(grouping) };
    let locale = Locale::C_UTF8;
    let empty = TimeStyle::Custom { recent: Vec::new(), other: Vec::new() };
    let lines = Style {
        prefix: PrefixStyle { block_size: size, ..PrefixStyle::default() },
        long: LongStyle { file_size: size, ..LongStyle::default() },
        locale,
        ..Style::default()
    };
    let long = Style {
        format: Format::Long,
        long: LongStyle { owner: false, group: false, time_style: empty, ..lines.long.clone() },
        ..lines.clone()
    };
    let seen = String::from_utf8_lossy(&list(&zoo.0, &long)).into_owned();
    for size in sizes {
        let line = seen.lines().find(|line| line.ends_with(&format!("  of{size}"))).unwrap();
        let text = grouped(size);
        let padding = " ".repeat(13 - text.chars().count());
        assert!(line.ends_with(&format!(" {padding}{text}  of{size}")), "{line}");
    }
    // Commas count bytes.
    let below = zoo.0.join("below");
    fs::create_dir(&below).unwrap();
    (0..9).for_each(|n| fs::write(below.join(format!("full{n}")), vec![b'x'; 2 << 20]).unwrap());
    for width in 40..60 {
        let commas = Style {
            format: Format::Commas,
            prefix: PrefixStyle { blocks: true, ..lines.prefix.clone() },
            screen: Screen { width, ..lines.screen.clone() },
            ..lines.clone()
        };
        let seen = list(&below, &commas);
        assert!(seen.split(|byte| *byte == b'\n').skip(1).all(|line| line.len() <= width), "{width}");
    }
    let seen = String::from_utf8_lossy(&list(
        &zoo.0,
        &Style { prefix: PrefixStyle { blocks: true, ..lines.prefix }, ..lines },
    ))
    .into_owned();
    let blocks = |name: &str| {
        let metadata = fs::symlink_metadata(zoo.0.join(name)).unwrap();
        grouped(std::os::unix::fs::MetadataExt::blocks(&metadata) * 512)
    };
    let width = blocks("full").chars().count();
    for name in ["full", "of0", "of999"] {
        let text = blocks(name);
        let padding = " ".repeat(width.saturating_sub(text.len()));
        assert!(seen.lines().any(|line| line == format!("{padding}{text} {name}")), "{name}: {seen}");
    }
}

/// Compares /dev, because every machine has devices. Colours and indicators are left out, because the link `stderr ->
/// /proc/self/fd/2` has another target in this process than in a child.
#[test]
fn devices_as_gnu_lists_them() {
    let long = Style { format: Format::Long, ..Style::default() };
    let human = Style {
        long: LongStyle { file_size: SizeFormat::HUMAN, ..long.long.clone() },
        prefix: PrefixStyle { block_size: SizeFormat::HUMAN, ..long.prefix.clone() },
        ..long.clone()
    };
    let prefixed = Style {
        prefix: PrefixStyle { inode: true, blocks: true, ..long.prefix.clone() },
        long: LongStyle { numeric: true, ..long.long.clone() },
        ..long.clone()
    };
    let dev = Path::new("/dev");
    for (style, options) in [(&long, &["-l"][..]), (&human, &["-lh"]), (&prefixed, &["-lisn"])] {
        // The times and owners of a terminal change while it is used.
        let same = |_: &usize| {
            let ours = list(dev, &Style { locale: Locale::C_UTF8, ..style.clone() });
            assert!(ours.windows(3).any(|part| part == b"crw"), "no device in /dev");
            ours == dev_of_gnu(options)
        };
        assert!((0..20).any(|attempt| same(&attempt)), "ls -a {options:?} /dev is another");
    }
}

/// More than twice as many rows as one thread measures (16,384) and draws (8,192) at a time. Different threads measure the
/// widest cells of the columns. Only the first colour of the output needs a reset before it.
#[test]
fn many_rows_are_the_same_on_any_number_of_threads() {
    const ROWS: usize = 33_500;
    // The parent directory is of this test alone, so that no other test changes the metadata of `..`.
    let dir = std::env::temp_dir().join(format!("dents-render-many-{}/rows", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    for nth in 0..ROWS {
        File::create(dir.join(format!("{nth:05}{}", ["", ".tar", " x"][nth % 3]))).unwrap();
    }
    File::options().write(true).open(dir.join("33333")).unwrap().set_len(1 << 40).unwrap();
    fs::write(dir.join("20001"), vec![b'x'; 70_000]).unwrap();
    (0..12).for_each(|link| fs::hard_link(dir.join("00030"), dir.join(format!("link{link}"))).unwrap());
    symlink("20001", dir.join("0link")).unwrap();
    let long = Style { format: Format::Long, locale: Locale::C_UTF8, ..Style::default() };
    let all = Style {
        prefix: PrefixStyle { inode: true, blocks: true, ..long.prefix.clone() },
        names: NameStyle {
            quoting: Quoting::ShellEscape,
            indicator: Indicator::Classify,
            ..long.names.clone()
        },
        ..long.clone()
    };
    let colored = Style {
        names: NameStyle { colors: Some(Colors::parse(b"*.tar=1:no=2").unwrap()), ..long.names.clone() },
        ..long.clone()
    };
    let lines = Style { format: Format::Lines, ..colored.clone() };
    let teams = [Team::ALONE, Team::new(&Crowd, 2), Team::new(&Crowd, 5)];
    for (nth, style) in [&long, &all, &colored, &lines].into_iter().enumerate() {
        let drawn = list_by(&dir, style, &teams);
        assert!(drawn[0].iter().filter(|byte| **byte == b'\n').count() > ROWS);
        assert!(drawn[1] == drawn[0] && drawn[2] == drawn[0], "style {nth} is another on several threads");
    }
    // The number of blocks of a file may change while the kernel writes it to the disk.
    let same = || list_by(&dir, &long, &teams[1..2])[0] == gnu(&dir, &long, &["-l"], "");
    assert!((0..5).any(|_| same()), "not as GNU has it");
    fs::remove_dir_all(dir.parent().unwrap()).unwrap();
}

fn dev_of_gnu(options: &[&str]) -> Vec<u8> {
    gnu(Path::new("/dev"), &Style { locale: Locale::C_UTF8, ..Style::default() }, options, "")
}

fn now() -> Time {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Time { sec: now.as_secs() as i64, nsec: now.subsec_nanos() }
}
