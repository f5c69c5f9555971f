//! Random command lines over given places, drawn so that they could have been typed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::case::{Case, WORD_BREAK};
use crate::options::{self, Argument};
use crate::palette;
use crate::rng::Rng;

/// Every spelling of every option that `dls` has in common with GNU so far, values included.
pub const OPTIONS: &[&str] = &[
    "-1",
    "-a",
    "-A",
    "-l",
    "-n",
    "-g",
    "-o",
    "-G",
    "-h",
    "-s",
    "-i",
    "-d",
    "-f",
    "-U",
    "-t",
    "-c",
    "-u",
    "-S",
    "-X",
    "-v",
    "-r",
    "-R",
    "-F",
    "-p",
    "-C",
    "-x",
    "-m",
    "-k",
    "-w0",
    "-w1",
    "-w20",
    "-w80",
    "-w132",
    "-w1000000",
    "-w040",
    "-w0x50",
    "--all",
    "--almost-all",
    "--alm",
    "--numeric-uid-gid",
    "--num",
    "--no-group",
    "--human-readable",
    "--hum",
    "--si",
    "--size",
    "--si",
    "--inode",
    "--ino",
    "--directory",
    "--dir",
    "--reverse",
    "--rev",
    "--recursive",
    "--recu",
    "--classify",
    "--classify=always",
    "--classify=never",
    "--classify=auto",
    "--width=40",
    "--width=200",
    "--kibibytes",
    "--kib",
    "--color",
    "--color=always",
    "--color=yes",
    "--color=force",
    "--color=never",
    "--color=no",
    "--color=none",
    "--color=auto",
    "--color=tty",
    "--color=if-tty",
    "--colo=alw",
    "--group-directories-first",
    "--group",
    "--time-style=full-iso",
    "--time-style=long-iso",
    "--time-style=iso",
    "--time-style=full",
    "--time-st=long",
    "--full-time",
    "--full",
    "--zero",
];

/// Somewhere to list.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its name in reports.
    pub name: &'static str,
    /// The working directory.
    pub cwd: PathBuf,
    /// The operands of every case; empty for the working directory.
    pub operands: Vec<OsString>,
    /// If not empty, one to six further operands are chosen from these.
    pub pool: Vec<OsString>,
    /// Whether the place may change by itself.
    pub live: bool,
    /// Whether an option is useful at this place: `-R` is not in `/dev`.
    pub allows: fn(&str) -> bool,
}

impl Place {
    /// The directory `cwd` itself, which does not change.
    pub fn here(name: &'static str, cwd: &Path) -> Place {
        let (operands, pool) = (Vec::new(), Vec::new());
        Place { name, cwd: cwd.to_path_buf(), operands, pool, live: false, allows: |_| true }
    }

    /// The live directory `dir`, listed as an operand.
    pub fn live(name: &'static str, dir: &str) -> Place {
        Place { operands: vec![dir.into()], live: true, ..Place::here(name, Path::new("/")) }
    }

    /// One case with these options, in a random environment.
    pub fn case(&self, options: &[String], rng: &mut Rng) -> Case {
        let options = options.iter().filter(|option| split(option).iter().all(|one| (self.allows)(one)));
        let mut case = Case { options: options.cloned().collect(), live: self.live, ..Case::new(&self.cwd) };
        case.operands = self.operands.clone();
        if !self.pool.is_empty() {
            for _ in 0..1 + rng.below(6) {
                case.operands.push(rng.pick(&self.pool).clone());
            }
        }
        environment(case, rng)
    }
}

/// One to seven options, now and then some of them in one cluster.
pub fn options(rng: &mut Rng) -> Vec<String> {
    let mut options = Vec::new();
    // Half of all cases are long: that is where most columns are.
    if rng.one_in(2) {
        options.push("-l".to_string());
    }
    for _ in 0..1 + rng.below(6) {
        // Users mostly type short options: they get half of the draws.
        let bound = if rng.one_in(2) { 28 } else { OPTIONS.len() };
        options.push(OPTIONS[rng.below(bound)].to_string());
    }
    if rng.one_in(3) { cluster(options) } else { options }
}

/// Joins the short options without a value into one argument, at the place of the first.
fn cluster(options: Vec<String>) -> Vec<String> {
    let (short, mut rest): (Vec<_>, Vec<_>) = options.into_iter().partition(|option| option.len() == 2);
    if !short.is_empty() {
        rest.insert(0, short.iter().fold("-".to_string(), |all, option| all + &option[1..]));
    }
    rest
}

/// `-la` as `-l` and `-a`; any other option as it is.
pub fn split(option: &str) -> Vec<String> {
    let words: Vec<OsString> = option.split(WORD_BREAK).map(Into::into).collect();
    let text = |words: &[OsString]| {
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(&WORD_BREAK.to_string())
    };
    let pieces = options::read(&words);
    let split = pieces.iter().map(|piece| match piece {
        // `-w80` stays as it was spelled.
        Argument::Option(said) if said.words.len() == 2 && words.len() == 1 => {
            said.words[0].to_string_lossy().into_owned() + &text(&said.words[1..])
        }
        Argument::Option(said) => text(&said.words),
        Argument::Other(word) => word.to_string_lossy().into_owned(),
    });
    split.collect()
}

fn environment(case: Case, rng: &mut Rng) -> Case {
    let mut case = case.env("LC_ALL", rng.pick::<&str>(&["C", "C.UTF-8"]));
    match rng.below(5) {
        0 => case.options.push("--color=always".into()),
        1 => case = colored(case, &palette::full()),
        2 => case = colored(case, palette::EVERY_KEY),
        3 => case = colored(case, rng.pick::<&str>(palette::ODD)),
        _ => {}
    }
    if rng.one_in(3) {
        case = case.env("COLUMNS", rng.pick::<&str>(&["1", "40", "80", "132", "300", "0", ""]));
    }
    if rng.one_in(2) {
        case = case.env("TZ", rng.pick::<&str>(TIME_ZONES));
    }
    case
}

/// Names, POSIX strings, files, an empty value, invalid ones.
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
    "nonsense,,",
];

fn colored(mut case: Case, colors: &str) -> Case {
    case.options.push("--color=always".into());
    case.env("LS_COLORS", colors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_split_into_what_they_were_made_of() {
        let made = cluster(["-l", "-w80", "-a", "--si"].map(String::from).to_vec());
        assert_eq!(made, ["-la", "-w80", "--si"]);
        assert_eq!(split(&made[0]), ["-l", "-a"]);
        assert_eq!(split("-w80"), ["-w80"]);
        assert_eq!(split("--si"), ["--si"]);
    }

    #[test]
    fn a_place_keeps_out_what_it_does_not_allow() {
        let place = Place { allows: |option| option != "-R", ..Place::live("dev", "/dev") };
        let options = ["-lR", "-R", "-a"].map(String::from);
        let case = place.case(&options, &mut Rng::new(1));
        assert!(case.options.iter().all(|option| !option.contains('R')), "{:?}", case.options);
        assert!(case.options.contains(&"-a".to_string()));
    }
}
