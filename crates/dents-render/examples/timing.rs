//! Measures rendering in several styles, in nanoseconds for each entry, best of ten.
//!
//! `cargo run --release -p dents-render --example timing -- DIR`, for example a directory with 100,000 entries.

use dents_core::batch::{Batch, Time};
use dents_core::needs::Needs;
use dents_core::owners::{Getent, Owners};
use dents_core::read::{Filter, Reader};
use dents_core::sort::Order;
use dents_core::stat::{self, Asking, Mode, Resources, Threads, Workers};
use dents_locale::Locale;
use dents_render::{
    Colors, Format, Frame, FrameKind, Indicator, LongStyle, NameStyle, PrefixStyle, Quoting, Renderer,
    Screen, Sink, SizeFormat, Style, TimeStyle, Zone,
};
use std::ffi::CString;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

/// Discards the bytes, 64 KiB at a time.
struct Nowhere(Vec<u8>, usize);

impl Sink for Nowhere {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    fn position(&self) -> u64 {
        (self.1 + self.0.len()) as u64
    }

    fn checkpoint(&mut self) {
        if self.0.len() >= 1 << 16 {
            self.1 += self.0.len();
            self.0.clear();
        }
    }
}

fn measure(dir: &CString, name: &str, style: &Style, zone: Option<&Arc<Zone>>) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let now = Time { sec: now.as_secs() as i64, nsec: 0 };
    let mut reader = Reader::open(dents_sys::CWD, dir, true).expect("a directory");
    let needs = style.needs();
    let mut batch = Batch::new(needs);
    reader.read_all(&Filter::default(), &mut batch).expect("readable");
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
    let order = Order::default().sort(&batch, None, &dents_core::team::Team::ALONE);
    let mut owners = Owners::default();
    if style.wants_user_names() {
        owners.learn(&batch, Needs::UID | Needs::GID, &NoGetent);
    }
    let mut best = Duration::MAX;
    let mut sink = Nowhere(Vec::with_capacity(1 << 17), 0);
    for _ in 0..10 {
        let start = Instant::now();
        let mut renderer = Renderer::new(style);
        let frame = Frame::new(&batch, &order, FrameKind::Directory, &owners);
        renderer.frame(&Frame { now, zone, ..frame }, &dents_core::team::Team::ALONE, &mut sink);
        renderer.finish(&mut sink);
        best = best.min(start.elapsed());
    }
    let each = best.as_nanos() as f64 / batch.len().max(1) as f64;
    println!("{name:24} {each:6.1} ns an entry, {} bytes", (sink.1 + sink.0.len()) / 10);
}

/// Measures the preparation, which is a part of every run, even of the shortest.
fn measure_setup(name: &str, run: &dyn Fn()) {
    let best = (0..100).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    println!("{name:24} {:6.1} µs", best.min().unwrap_or_default().as_nanos() as f64 / 1000.0);
}

fn main() {
    let dir = std::env::args().nth(1).unwrap_or_else(|| "/usr/bin".into());
    let dir = CString::new(dir).expect("no NUL");
    let plain = Style::default();
    let utf8 = Style { locale: Locale::C_UTF8, ..plain.clone() };
    let long = Style { format: Format::Long, ..utf8.clone() };
    let value = std::env::var("LS_COLORS").unwrap_or_default();
    let colors = Colors::parse(value.as_bytes()).ok();
    let styles = [
        ("-1", plain.clone()),
        ("-1 C.UTF-8", utf8.clone()),
        ("-1 -q", Style { names: NameStyle { qmark: true, ..plain.names.clone() }, ..plain.clone() }),
        (
            "-1 shell-escape",
            Style {
                names: NameStyle { quoting: Quoting::ShellEscape, ..utf8.names.clone() },
                ..utf8.clone()
            },
        ),
        (
            "-1 -F",
            Style {
                names: NameStyle { indicator: Indicator::Classify, ..plain.names.clone() },
                ..plain.clone()
            },
        ),
        (
            "-1 --color",
            Style { names: NameStyle { colors: colors.clone(), ..plain.names.clone() }, ..plain.clone() },
        ),
        ("-m", Style { format: Format::Commas, ..utf8.clone() }),
        ("-C", Style { format: Format::Columns, ..utf8.clone() }),
        (
            "-C -w 200 terminal",
            Style {
                format: Format::Columns,
                screen: Screen { width: 200, tab_size: 0 },
                names: NameStyle {
                    quoting: Quoting::ShellEscape,
                    colors: colors.clone(),
                    ..utf8.names.clone()
                },
                ..utf8.clone()
            },
        ),
        ("-x", Style { format: Format::Across, ..utf8 }),
        ("-l", long.clone()),
        ("-n", Style { long: LongStyle { numeric: true, ..long.long.clone() }, ..long.clone() }),
        (
            "-lh",
            Style { long: LongStyle { file_size: SizeFormat::HUMAN, ..long.long.clone() }, ..long.clone() },
        ),
        (
            "-l --full-time",
            Style { long: LongStyle { time_style: TimeStyle::FullIso, ..long.long.clone() }, ..long.clone() },
        ),
        (
            "-lisF --color",
            Style {
                prefix: PrefixStyle { inode: true, blocks: true, ..long.prefix },
                names: NameStyle { indicator: Indicator::Classify, colors, ..long.names },
                ..long
            },
        ),
    ];
    let zone = std::fs::read("/usr/share/zoneinfo/Europe/Amsterdam").unwrap_or_default();
    measure_setup("Zone::tzif", &|| drop(Zone::tzif(&zone)));
    measure_setup("Colors::parse", &|| drop(Colors::parse(value.as_bytes())));
    measure_setup("Renderer::new, -1", &|| drop(Renderer::new(&styles[0].1)));
    measure_setup("Renderer::new, -l", &|| drop(Renderer::new(&styles[10].1)));
    for (name, style) in &styles {
        measure(&dir, name, style, None);
    }
    let amsterdam = Zone::tzif(&zone).map(Arc::new);
    measure(&dir, "-l Amsterdam", &styles[10].1, amsterdam.as_ref());
}
