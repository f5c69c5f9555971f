//! Tests against the GNU `ls` of this machine, and on random command lines.

extern crate std;

use crate::locale::Language;
use core::ffi::CStr;
use dents_locale::Charset;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::string::String;
use std::sync::OnceLock;
use std::vec::Vec;

use super::flags::{self, Flag, testing::said};
use super::{getopt, parse};

/// A small generator, seeded, so that a failure comes back (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    fn pick<'t, T: ?Sized>(&mut self, from: &[&'t T]) -> &'t T {
        from[self.below(from.len())]
    }
}

fn borrow(argv: &[CString]) -> impl Iterator<Item = &CStr> {
    argv.iter().map(CString::as_c_str)
}

/// The directory in which GNU `ls` runs. It is empty, so no argument lists anything.
fn empty_directory() -> &'static std::path::Path {
    static PATH: OnceLock<std::path::PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = std::env::temp_dir().join("dls-args-empty");
        std::fs::create_dir_all(&path).expect("a directory for the tests");
        path
    })
}

/// Runs `/bin/ls argv` as `ls`; gives stderr and the exit status. Called by its path, 9.7 has the path in fewer messages than older ones.
fn gnu(argv: &[CString], locale: &str, posix: bool) -> (Vec<u8>, Option<i32>) {
    let mut ls = Command::new("/bin/ls");
    ls.arg0("ls");
    ls.args(argv.iter().map(|arg| OsStr::from_bytes(arg.to_bytes())));
    ls.env_clear().env("LC_ALL", locale).current_dir(empty_directory());
    if posix {
        ls.env("POSIXLY_CORRECT", "");
    }
    let output = ls.stdin(Stdio::null()).output().expect("/bin/ls runs");
    (output.stderr, output.status.code())
}

/// Our stderr and exit status for the same line. `None`: the line has a meaning.
fn ours(argv: &[CString], utf8: bool, posix: bool) -> Option<(Vec<u8>, Option<i32>)> {
    let error = getopt::read(borrow(argv), posix).err()?;
    Some((
        error.message(b"ls", &Language::english(if utf8 { Charset::Utf8 } else { Charset::Ascii })),
        Some(i32::from(error.status())),
    ))
}

/// The possibilities that GNU lists for `--=` are all its long options in its own order; ours must be the same.
#[test]
fn every_gnu_option_in_gnu_order() {
    let argv = [CString::from(c"--=")];
    assert_eq!(ours(&argv, false, false), Some(gnu(&argv, "C", false)));
}

/// Every letter: the same ones exist, and the same ones need a value. That takes the first `-y`; the second, if
/// not the first, makes every line an error to be compared.
#[test]
fn every_letter() {
    for letter in (b'!'..=b'~').filter(|&letter| letter != b'-') {
        let argv = [CString::new([b'-', letter]).unwrap(), c"-y".into(), c"-y".into()];
        assert_eq!(ours(&argv, false, false), Some(gnu(&argv, "C", false)), "{argv:?}");
    }
}

/// Sixty beginnings of GNU's options, as [`every_letter`]: the message shows whether GNU accepted the abbreviation,
/// found it ambiguous, or misses a value.
#[test]
fn abbreviations() {
    let mut random = Random(0x5eed_0001);
    let gnu_names = || flags::all().filter(|d| !is_ours(d.flag)).filter_map(|d| d.long);
    let mut beginnings: Vec<&str> =
        gnu_names().flat_map(|n| (1..=n.len()).map(move |end| &n[..end])).collect();
    beginnings.sort_unstable();
    beginnings.dedup();
    for _ in 0..60 {
        let beginning = beginnings[random.below(beginnings.len())];
        // --help and --version act at once: GNU prints no error, and there is nothing else to compare.
        let argv = [CString::new(std::format!("--{beginning}")).unwrap(), c"-y".into(), c"-y".into()];
        if beyond_parse(&argv) {
            continue;
        }
        let acts = "help".starts_with(beginning) && beginning.len() > 1 || "version".starts_with(beginning);
        let expected = gnu(&argv, "C", false);
        match ours(&argv, false, false) {
            Some(error) => assert_eq!(error, expected, "{argv:?}"),
            None => assert!(acts && expected.1 == Some(0), "{argv:?}: {expected:?}"),
        }
    }
}

fn is_ours(flag: Flag) -> bool {
    !super::flags::GNU_ORDER.contains(&flag)
}

/// One word of a random command line. Values that 9.1 does not know yet (`--sort=name`, `--time=mtime`) are left
/// out, and so are bad time styles, which are not parse's business.
fn word(random: &mut Random) -> Vec<u8> {
    const VALUES: &str = "0 80 010 0x1f 08 -5 5k K 1KiB kB 1x Z 16E human si '1 a al always yes ne auto if-tty tty x \
        long ver vert c cl shell s size st use birth slash file e lit 99999999999999999999999 9223372036854775808 *.o";
    const ODD_VALUES: &[&[u8]] = &[b"", b" 5", b"\xff\n'", b"\xe2\x80\x99\\"];
    const SHORT: &[u8] = b"1aAbBcCdDfFgGhHiIklLmnNopqQrRsStTuUvwxXZ";
    const ODD: &[&[u8]] =
        &[b"--", b"-", b"./", b".", b"--foo", b"--foo=bar", b"---", b"-y", b"-\xff", b"-:", b"--t"];
    let values: Vec<&[u8]> = VALUES.split(' ').map(str::as_bytes).chain(ODD_VALUES.iter().copied()).collect();
    match random.below(10) {
        0 => random.pick(ODD).to_vec(),
        1..=4 => {
            let letters = (0..1 + random.below(3)).map(|_| SHORT[random.below(SHORT.len())]);
            let mut word: Vec<u8> = core::iter::once(b'-').chain(letters).collect();
            if random.below(4) == 0 {
                word.extend_from_slice(random.pick(&values));
            }
            word
        }
        _ => {
            let names: Vec<&str> = flags::all().filter(|d| !is_ours(d.flag)).filter_map(|d| d.long).collect();
            let name = random.pick(&names);
            let short = if random.below(4) == 0 { 1 + random.below(name.len()) } else { name.len() };
            let mut word = [b"--", &name.as_bytes()[..short]].concat();
            if random.below(2) == 0 {
                word.push(b'=');
                word.extend_from_slice(random.pick(&values));
            }
            word
        }
    }
}

/// Whether an argument has words that 9.1 does not have (`--sort`, `--time`), or that Plan checks (`--time-style`).
fn beyond_parse(argv: &[CString]) -> bool {
    let has = |needle: &str| argv.iter().any(|arg| String::from_utf8_lossy(arg.to_bytes()).contains(needle));
    has("--so") || has("--time")
}

/// Random lines are taken or refused as GNU takes or refuses them, with the same message and exit status.
#[test]
fn random_lines_as_gnu() {
    let mut random = Random(0x5eed_0002);
    let mut compared = 0;
    let mut refused = 0;
    while compared < 200 {
        let mut argv: Vec<CString> =
            (0..1 + random.below(4)).filter_map(|_| CString::new(word(&mut random)).ok()).collect();
        argv.extend([CString::from(c"-d"), CString::from(c".")]);
        if beyond_parse(&argv) {
            continue;
        }
        compared += 1;
        let utf8 = random.below(2) == 0;
        let posix = random.below(4) == 0;
        let (stderr, status) = gnu(&argv, if utf8 { "C.UTF-8" } else { "C" }, posix);
        match ours(&argv, utf8, posix) {
            Some(error) => {
                refused += 1;
                assert_eq!(
                    (String::from_utf8_lossy(&error.0), error.1),
                    (String::from_utf8_lossy(&stderr), status),
                    "{argv:?}"
                );
            }
            None => assert!(!usage_message(&stderr), "{argv:?}: {}", String::from_utf8_lossy(&stderr)),
        }
    }
    assert!((40..160).contains(&refused), "the lines are of both kinds: {refused} refused of {compared}");
}

/// Whether GNU reported an error of the command line: not an error of a file, and not one of options that exclude each
/// other (`-D --zero`), which GNU finds later.
fn usage_message(stderr: &[u8]) -> bool {
    let stderr = String::from_utf8_lossy(stderr);
    stderr.lines().any(|line| {
        !line.contains(": cannot access ") && !line.contains("are incompatible") && !line.is_empty()
    })
}

/// A cluster of letters is the same letters apart.
#[test]
fn clusters_split() {
    let mut random = Random(0x5eed_0003);
    let letters: Vec<u8> =
        flags::all().filter(|d| d.arity != flags::Arity::Required).filter_map(|d| d.letter).collect();
    for _ in 0..500 {
        let chosen: Vec<u8> =
            (0..1 + random.below(8)).map(|_| letters[random.below(letters.len())]).collect();
        let cluster = CString::new([b"-", &chosen[..]].concat()).unwrap();
        let apart: Vec<CString> =
            chosen.iter().map(|&letter| CString::new([b'-', letter]).unwrap()).collect();
        let apart: Vec<&CStr> = borrow(&apart).collect();
        assert_eq!(said(&[&cluster]), said(&apart));
    }
}

/// For any bytes, `parse` returns; the message has whole lines that begin with the program's name.
#[test]
fn no_line_panics() {
    const ALPHABET: &[u8] = b"--==lawTIFyshow-cdtime0589KiB \n\xff\xe2\x80\x99'\\x";
    let mut random = Random(0x5eed_0004);
    for round in 0..20_000 {
        let argv: Vec<CString> = (0..random.below(5))
            .map(|_| {
                let bytes = (0..random.below(12)).map(|_| match round % 2 {
                    0 => ALPHABET[random.below(ALPHABET.len())],
                    _ => 1 + random.below(255) as u8,
                });
                CString::new(bytes.collect::<Vec<u8>>()).unwrap()
            })
            .collect();
        let posix = round % 3 == 0;
        match parse(borrow(&argv), posix) {
            Ok(args) => assert!(
                args.said.len() + args.operands.len() <= argv.iter().map(|a| a.count_bytes() + 1).sum()
            ),
            Err(error) => {
                let message = error.message(
                    b"ls",
                    &Language::english(if round % 5 == 0 { Charset::Utf8 } else { Charset::Ascii }),
                );
                assert!(message.starts_with(b"ls: ") && message.ends_with(b"\n"), "{argv:?}");
                assert!(matches!(error.status(), 1 | 2));
            }
        }
    }
}
