//! Random cases over everything: any option in any spelling, any environment, pipes and terminals, any locale.
//!
//! Most cases are what people type; the rest are unusual, since there programs differ. About
//! one case in fifteen is an error, so that messages are compared as well.

use std::ffi::OsString;
use std::path::Path;

use crate::case::{BYTE_LOCALES, Case, MODES, Output, WORD_BREAK};
use crate::options::{self, Arity, OPTIONS, Opt};
use crate::palette;
use crate::rng::Rng;

/// Where cases are drawn for.
#[derive(Debug)]
pub struct Site<'a> {
    /// The case without options: its directory, its tree.
    pub base: Case,
    /// The names that operands are chosen from.
    pub operands: &'a [OsString],
    /// Whether links lead out of it: `-LR` would list the machine.
    pub leaks: bool,
}

/// Locales with an order, months and messages of their own, and one that is not installed.
pub const LOCALES: &[&str] = &[
    "en_US.UTF-8",
    "fr_FR.UTF-8",
    "de_DE.UTF-8",
    "sv_SE.UTF-8",
    "ja_JP.UTF-8",
    "tr_TR.UTF-8",
    NOT_INSTALLED,
];

/// A locale that no machine has.
const NOT_INSTALLED: &str = "xx_XX.UTF-8";

/// The locales to draw from: [`BYTE_LOCALES`], and with `wanted` those of [`LOCALES`] (or of `named`, if there are any) that are
/// `installed` (a list as from `locale -a`), and the one that never is.
///
/// # Errors
/// If locales are wanted and none of them is installed: both programs would use C, and the comparison would show
/// nothing. The message says what to install.
pub fn locales(wanted: bool, named: &[&'static str], installed: &str) -> Result<Vec<&'static str>, String> {
    let mut locales = BYTE_LOCALES.to_vec();
    if !wanted {
        return Ok(locales);
    }
    let is_there = |name: &&&str| {
        // As glibc has them: `fr_FR.iso88591` for `fr_FR.ISO-8859-1`.
        let (language, charset) = name.split_once('.').unwrap_or((name, ""));
        let listed = format!("{language}.{}", charset.replace(['-', '_'], "").to_lowercase());
        installed.lines().any(|line| line == listed)
    };
    let named = if named.is_empty() { LOCALES } else { named };
    let there: Vec<&str> = named.iter().filter(is_there).copied().collect();
    if there.is_empty() {
        let names = LOCALES.iter().filter(|name| **name != NOT_INSTALLED);
        let commands: String = names
            .map(|name| format!("\n  localedef -i {} -f UTF-8 {name}", name.trim_end_matches(".UTF-8")))
            .collect();
        return Err(format!(
            "locales are wanted (DLS_LOCALES), and none that is compared is installed: every case would be one in C. \
             Install the package \"locales\" and make them, as root:{commands}\nor unset DLS_LOCALES"
        ));
    }
    locales.extend(there);
    locales.push(NOT_INSTALLED);
    Ok(locales)
}

/// One case.
pub fn case(site: &Site, locales: &[&'static str], rng: &mut Rng) -> Case {
    let mut case = site.base.clone();
    case.name =
        if rng.one_in(15) { rng.pick::<&str>(&["dir", "vdir", "/usr/bin/ls", "../vdir"]) } else { "ls" };
    case.modes = std::slice::from_ref(rng.pick(MODES));
    case.output = output(rng);
    case.options = some_options(rng);
    if rng.one_in(6) {
        case.late_options = vec![spell(rng.pick(OPTIONS), rng)];
    }
    if !site.operands.is_empty() && rng.one_in(3) {
        for _ in 0..1 + rng.below(4) {
            case.operands.push(rng.pick(site.operands).clone());
        }
    }
    case.dashes = rng.one_in(12);
    let mut case = environment(case, locales, rng);
    if site.leaks && case.says("recursive") {
        take_away(&mut case, &["L", "H", "dereference-command-line-symlink-to-dir"]);
    }
    case
}

/// Drops these options, however they are spelled.
fn take_away(case: &mut Case, names: &[&str]) {
    for options in [&mut case.options, &mut case.late_options] {
        let split = options.iter().flat_map(|option| crate::random::split(option));
        *options = split
            .filter(|option| {
                let words: Vec<OsString> = option.split(WORD_BREAK).map(Into::into).collect();
                !options::said(&words).iter().any(|said| names.iter().any(|name| said.option.is(name)))
            })
            .collect();
    }
}

fn output(rng: &mut Rng) -> Output {
    let columns = *rng.pick(&[80, 80, 80, 0, 1, 2, 7, 20, 40, 132, 300, 65_535]);
    match rng.below(10) {
        0..4 => Output::Pipes,
        4 => Output::OnePipe,
        5..8 => Output::Terminal(columns),
        _ => Output::OneTerminal(columns),
    }
}

fn some_options(rng: &mut Rng) -> Vec<String> {
    let mut options = Vec::new();
    // Half of all cases are long: that is where most columns are.
    if rng.one_in(2) {
        options.push("-l".to_string());
    }
    for _ in 0..rng.below(7) {
        options.push(spell(rng.pick(OPTIONS), rng));
    }
    if rng.one_in(4) { cluster(options) } else { options }
}

/// One spelling of an option, with one of its values.
fn spell(option: &Opt, rng: &mut Rng) -> String {
    let odd = !option.odd.is_empty() && rng.one_in(25);
    let value = match option.arity {
        Arity::None => "",
        _ if odd => rng.pick(option.odd),
        _ => rng.pick(option.values),
    };
    let by_letter = option.long.is_none() || (option.letter.is_some() && !rng.one_in(3));
    if let Some(letter) = option.letter.filter(|_| by_letter) {
        let parted = if rng.one_in(3) || value.is_empty() { WORD_BREAK.to_string() } else { String::new() };
        return match option.arity {
            Arity::Required => format!("-{}{parted}{value}", char::from(letter)),
            _ => format!("-{}", char::from(letter)),
        };
    }
    let name = abbreviate(option.long.unwrap_or_default(), rng);
    match option.arity {
        Arity::None => format!("--{name}"),
        Arity::Optional if rng.one_in(3) => format!("--{name}"),
        Arity::Required if rng.one_in(4) => format!("--{name}{WORD_BREAK}{value}"),
        _ => format!("--{name}={value}"),
    }
}

/// The whole name, or a beginning that no other option of GNU shares.
fn abbreviate<'a>(long: &'a str, rng: &mut Rng) -> &'a str {
    if !rng.one_in(3) {
        return long;
    }
    let meant = options::by_long(long);
    let unique = |length: &usize| {
        let prefix = &long[..*length];
        let shared = ["help", "version"].iter().any(|other| other.starts_with(prefix));
        !shared && options::by_long(prefix) == meant
    };
    let least = (1..=long.len()).find(unique).unwrap_or(long.len());
    &long[..least + rng.below(long.len() - least + 1)]
}

/// Joins neighbouring short options into one word; one that takes a value ends it.
fn cluster(options: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut open = false;
    for option in options {
        let short = option.starts_with('-') && !option.starts_with("--");
        match joined.last_mut().filter(|_| open && short) {
            Some(last) => last.push_str(&option[1..]),
            None => joined.push(option.clone()),
        }
        open = short && option.len() == 2;
    }
    joined
}

fn environment(case: Case, locales: &[&'static str], rng: &mut Rng) -> Case {
    let mut case = locale(case, locales, rng);
    case = colours(case, rng);
    let words: &[(&str, usize, &[&str], &[&str])] = &[
        ("QUOTING_STYLE", 6, options::QUOTING_STYLES, options::BAD_QUOTING_STYLES),
        ("TIME_STYLE", 6, options::TIME_STYLES, options::BAD_TIME_STYLES),
        ("LS_BLOCK_SIZE", 8, options::BLOCK_SIZES, options::BAD_BLOCK_SIZES),
        ("BLOCK_SIZE", 8, options::BLOCK_SIZES, options::BAD_BLOCK_SIZES),
        ("BLOCKSIZE", 8, options::BLOCK_SIZES, options::BAD_BLOCK_SIZES),
        (
            "COLUMNS",
            4,
            &["1", "20", "40", "80", "132", "300", "0", "010"],
            &["", "x", "-1", "80x", "18446744073709551616"],
        ),
        ("TABSIZE", 8, &["0", "1", "4", "8", "16", "100"], &["", "x", "-1", "18446744073709551616"]),
        ("POSIXLY_CORRECT", 12, &["", "1"], &["y"]),
        ("TZ", 2, TIME_ZONES, &["nonsense,,"]),
    ];
    for (name, rarity, good, bad) in words {
        if rng.one_in(*rarity) {
            let values = if rng.one_in(8) { bad } else { good };
            case = case.env(name, rng.pick::<&str>(values));
        }
    }
    if rng.one_in(20) {
        case.unset.push("TZ");
    }
    case
}

fn colours(mut case: Case, rng: &mut Rng) -> Case {
    if rng.one_in(3) {
        case.options.insert(0, "--color=auto".into());
    }
    case = match rng.below(9) {
        0 => case.env("LS_COLORS", &palette::full()),
        1 | 2 => case.env("LS_COLORS", palette::EVERY_KEY),
        3 | 4 => case.env("LS_COLORS", rng.pick::<&str>(palette::ODD)),
        5 if rng.one_in(4) => case.env("LS_COLORS", rng.pick::<&str>(palette::BAD)),
        _ => case,
    };
    if rng.one_in(4) {
        case = case.env(
            "TERM",
            rng.pick::<&str>(&[
                "dumb",
                "",
                "unknown",
                "linux",
                "screen.xterm-256color",
                "xterm-256color",
                "vt220",
            ]),
        );
    }
    if rng.one_in(8) {
        case = case.env("COLORTERM", rng.pick::<&str>(&["truecolor", "", "1"]));
    }
    case
}

/// All categories at once, or some by themselves under LC_ALL that is empty or not set. Messages are translated only where
/// the charset is UTF-8: ours does not convert them (docs/DIFFERENCES.md).
fn locale(case: Case, locales: &[&'static str], rng: &mut Rng) -> Case {
    let mut case = categories(case, locales, rng);
    if rng.one_in(8) {
        case = case.env("LANGUAGE", rng.pick::<&str>(&["xx:en", "fr:de", "ja", "xx:tr"]));
    }
    let set = |name| case.variable(name).filter(|value| !value.is_empty());
    let of = |category| set("LC_ALL").or(set(category)).or(set("LANG")).unwrap_or("C");
    // With glibc 2.36, LANGUAGE has an effect in C.UTF-8 too; with 2.41 it has none.
    let differs = ["LC_MESSAGES", "LC_TIME"].into_iter().any(|category| of(category).starts_with("C."));
    let is_utf8 = of("LC_CTYPE").ends_with('8');
    if differs {
        case.env.retain(|(name, _)| name != "LANGUAGE");
    }
    if is_utf8 {
        return case;
    }
    case.env.retain(|(name, _)| name != "LANGUAGE");
    if case.variable("LC_ALL").is_none_or(str::is_empty) { case.env("LC_MESSAGES", "C") } else { case }
}

fn categories(case: Case, locales: &[&'static str], rng: &mut Rng) -> Case {
    let pick = |rng: &mut Rng| *rng.pick::<&str>(locales);
    if !rng.one_in(5) {
        let (wanted, locale) = (if rng.one_in(2) { "LC_ALL" } else { "LANG" }, pick(rng));
        // Under LC_ALL messages would be in the language of a charset that is not UTF-8.
        let is_for_all = locale.ends_with('8') || BYTE_LOCALES.contains(&locale);
        if wanted == "LANG" || !is_for_all {
            let case = Case { unset: vec!["LC_ALL"], ..case };
            return case.env("LANG", locale);
        }
        return case.env("LC_ALL", locale);
    }
    let mut case = if rng.one_in(2) { case.env("LC_ALL", "") } else { case };
    if case.variable("LC_ALL").is_none() {
        case.unset.push("LC_ALL");
    }
    for name in ["LANG", "LC_CTYPE", "LC_COLLATE", "LC_TIME", "LC_NUMERIC", "LC_MESSAGES"] {
        if rng.one_in(2) {
            case = case.env(name, pick(rng));
        }
    }
    case
}

/// Names, POSIX strings, files, an empty value.
const TIME_ZONES: &[&str] = &[
    "UTC0",
    "",
    "Europe/Berlin",
    ":America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "EST5EDT,M3.2.0,M11.1.0",
    "<+0330>-3:30",
    "NZST-12NZDT,M9.5.0,M4.1.0/3",
    "XXX-24:59:59",
    "No/Such_Zone",
    "/usr/share/zoneinfo/Asia/Tokyo",
];

/// Operands for a directory: the names in it (some with more or fewer slashes), and missing ones.
pub fn operands(names: &[&Path], rng: &mut Rng) -> Vec<OsString> {
    let fixed = [
        ".",
        "..",
        "./.",
        "missing",
        "",
        "missing/",
        "missing\nwith newline",
        ".//",
        "/dev/null",
        "-",
        "--x",
        "/nowhere/at/all",
    ];
    let mut operands: Vec<OsString> = Vec::new();
    for name in names {
        let name = name.as_os_str().to_os_string();
        operands.push(match rng.below(6) {
            0 => [name, "/".into()].into_iter().collect::<OsString>(),
            1 => [OsString::from("./"), name].into_iter().collect::<OsString>(),
            _ => name,
        });
    }
    for _ in 0..1 + operands.len() / 4 {
        operands.push((*rng.pick::<&str>(&fixed)).into());
    }
    operands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_what_getopt_takes() {
        let made = cluster(["-l", "-a", "-w80", "-r", "--si", "-s", "-I\0x"].map(String::from).to_vec());
        assert_eq!(made, ["-law80", "-r", "--si", "-sI\0x"]);
    }

    #[test]
    fn every_option_is_drawn_and_abbreviations_stay_what_they_are() {
        let mut rng = Rng::new(5);
        for option in OPTIONS {
            for _ in 0..50 {
                let words: Vec<OsString> =
                    spell(option, &mut rng).split(WORD_BREAK).map(Into::into).collect();
                let said = options::said(&words);
                assert!(said.len() == 1 && said[0].option == option, "{words:?}: {said:?}");
            }
        }
    }

    #[test]
    fn nothing_leaks_where_links_lead_out() {
        let mut rng = Rng::new(6);
        let site = Site { base: Case::new(Path::new("/")), operands: &[], leaks: true };
        for _ in 0..500 {
            let case = case(&site, BYTE_LOCALES, &mut rng);
            assert!(!(case.says("R") && (case.says("L") || case.says("H"))), "{:?}", case.options);
        }
    }

    #[test]
    fn locales_that_are_wanted_must_be_there() {
        assert_eq!(locales(false, &[], ""), Ok(BYTE_LOCALES.to_vec()));
        let nothing =
            locales(true, &[], "C\nC.utf8\nPOSIX\nen_US\nen_US.iso88591\n").expect_err("nothing to compare");
        assert!(nothing.contains("localedef -i sv_SE -f UTF-8 sv_SE.UTF-8\n") && !nothing.contains("xx_XX"));
        let some = locales(true, &[], "C\nde_DE\nde_DE.utf8\n").expect("one");
        assert_eq!(some[BYTE_LOCALES.len()..], ["de_DE.UTF-8", "xx_XX.UTF-8"]);
        let latin = locales(true, &["fr_FR.ISO-8859-1", "lt_LT.UTF-8"], "C\nfr_FR.iso88591\n").expect("one");
        assert_eq!(latin[BYTE_LOCALES.len()..], ["fr_FR.ISO-8859-1", "xx_XX.UTF-8"]);
    }
}
