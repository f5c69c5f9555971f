//! Dates beside GNU `ls`: the eras and numerals of locales, letters that change their case, and zones that `TZ` spells.

use dents_lab::fixture::TempDir;
use dents_lab::process::Run;
use dents_lab::suite::{checked, number, oracle};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

/// Locales with eras, numerals, months that stand alone, or an `i` that stays small.
const LOCALES: &[&str] = &["th_TH", "fa_IR", "ja_JP", "az_AZ", "hy_AM", "lo_LA", "my_MM"];

/// Each of them whole: `%5EY` is one conversion.
const FORMATS: &str = "%x %c %X %r %Ex %Ec %EX %EC %Ey %EY %Od %Oe %OH %OI %Om %OM %OS %Ou %OU %OV %Ow %OW %Oy %Og %OG %OC %Oj \
    %Ok %Ol %Oz %OB %Ob %^a %^A %^b %^B %^p %#p %#Z %^x %^c %12x %_12c %5Od %^EY %5EY %-Ey %05Ey %Y %F %C %g %y %D %+Y";

/// Seconds since the epoch: around the beginnings of eras, and the ends of the years that a date can have.
const SECONDS: &[i64] = &[
    0,
    951_782_400,
    1_700_000_000,
    1_710_300_000,
    1_556_668_799,
    1_556_668_800,
    600_188_400,
    -1_357_603_200,
    -1_812_153_600,
    -3_200_000_000,
    -60_000_000_000,
    -62_135_596_800,
    -62_135_596_801,
    -62_262_086_400,
    253_405_756_800,
    67_768_036_191_676_799,
    -67_768_040_609_740_800,
];

/// Whether it is a number in the numerals of the locale: months that stand alone are none.
fn has_number_with_o(format: &str) -> bool {
    format.contains('O') && !format.ends_with(['b', 'B'])
}

/// A file for each of [`SECONDS`], where any time can be kept.
fn files(seconds: &[i64]) -> TempDir {
    let dir = TempDir::in_memory("dates").expect("a directory");
    for (nth, second) in seconds.iter().enumerate() {
        let file = File::create(dir.path().join(format!("{nth:02}"))).expect("a file");
        let far = Duration::from_secs(second.unsigned_abs());
        file.set_modified(if *second < 0 { UNIX_EPOCH - far } else { UNIX_EPOCH + far }).expect("a time");
    }
    dir
}

/// What both print for a directory, with these variables.
fn both(dir: &Path, format: &str, variables: &[(&str, &str)]) -> [String; 2] {
    let shown = |program: &Path| {
        let style = format!("--time-style=+{format}");
        let run = Run { argv0: "ls".into(), ..Run::new(program).cwd(dir).args(["-gGo", &style]) };
        let run = variables.iter().fold(run, |run, (name, value)| run.env(name, value));
        let outcome = run.output().expect("it starts");
        assert!(outcome.stderr.is_empty(), "{}", String::from_utf8_lossy(&outcome.stderr));
        outcome.stdout.escape_ascii().to_string().replace("\\n", "\n")
    };
    [shown(oracle().path()), shown(checked().path())]
}

#[test]
fn dates_of_locales_with_eras_and_numerals() {
    let (dir, locales) = (files(SECONDS), TempDir::new("locales").expect("a directory"));
    for name in LOCALES {
        let path = locales.path().join(format!("{name}.UTF-8"));
        let mut define = Command::new("localedef");
        define.args(["-i", name, "-f", "UTF-8", "--no-archive"]).arg(&path).stdin(Stdio::null());
        let _ = define.stderr(Stdio::null()).status();
        if !path.join("LC_TIME").is_file() {
            assert!(
                number("DLS_LOCALES", 0) == 0,
                "localedef cannot make {name}; install the package \"locales\""
            );
            return eprintln!("skipped: {name} cannot be made");
        }
    }
    let locpath = locales.path().to_str().expect("a path");
    for name in LOCALES {
        let name = format!("{name}.UTF-8");
        // 9.10 has calendars of its own in these, and before it `O` had no flags (docs/DIFFERENCES.md).
        let newer = oracle().version() >= (9, 10);
        if newer && ["th_TH", "fa_IR"].iter().any(|own| name.starts_with(own)) {
            continue;
        }
        let is_known = |format: &&str| newer || !has_number_with_o(format);
        for format in FORMATS.split(' ').filter(is_known) {
            let [gnu, ours] = both(dir.path(), format, &[("LOCPATH", locpath), ("LC_ALL", &name)]);
            assert_eq!(ours, gnu, "{name} {format}");
        }
        // Names of days in English, letters as in this locale.
        let mixed = [("LOCPATH", locpath), ("LC_CTYPE", &name), ("LC_TIME", "C"), ("LC_ALL", "")];
        let [gnu, ours] = both(dir.path(), "%^A %#a %#p", &mixed);
        assert_eq!(ours, gnu, "LC_CTYPE={name}");
    }
}

/// Values of `TZ` that name no file, sensible or not.
const ZONES: &str = "ABC+5:30: ABC+5: ABC3DEF25,M3.2.0,M11.1.0 AAA-24:59:59 CET-1CEST,0/0,J365/24 CET-1CEST,M3.5.0,M10.5.0/3 \
    EST5EDT,M1.1.1,M2.2.2, EST5EDT,M1.1.1 EST5EDT,,EST5EDT,J366,J300 EST5EDT,366,300 EST5EDT,M3.2.0/x,M11.1.0 EST5EDT4:,M3.2.0,M11.1.0 \
    EST5EDT,M3.6.0,M11.1.0 EST5EDT,M3.2.0/-167,M11.1.0/167 EST5EDT,M3.2.0/200,M11.1.0 <+03>-3<+04>,J1,J2 <-03>3<-02>,M3.5.0/-2,M10.5.0/-1 \
    <+0330>-3:30<+0430>,J79/24,J263/24 IST-2IDT,M3.4.4/26,M10.5.0 IST-1GMT0,M10.5.0,M3.5.0/1 AAA-25BBB,M3.2.0,M11.1.0 EST5EDT;x";

#[test]
fn zones_that_are_spelled_out() {
    // Each three weeks of some years, and around the epoch.
    let years = (-2..60).map(|nth| nth * 1_900_800 + 43_200);
    let early = [-60_000_000_000, -2_208_988_800, -62_262_086_400, 253_405_756_800, -3600, -3601];
    let seconds: Vec<i64> = years.chain(early).collect();
    let dir = files(&seconds);
    for zone in ZONES.split_whitespace() {
        let [gnu, ours] = both(dir.path(), "%F %T %::z %Z", &[("TZ", zone)]);
        assert_eq!(ours, gnu, "TZ={zone}");
    }
}
