//! The differences between the machine's GNU `ls` and 9.7, the release that `dls` follows.
//!
//! Each entry names the release that changed, from the NEWS of coreutils, and either rewrites the oracle's
//! command line so that an older `ls` behaves as 9.7, or takes the case out of the comparison. The
//! behaviour of 9.7 itself is held by literal expectations in `tests/reference.rs`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::case::Case;

/// What to do with a case that a difference touches.
#[derive(Clone, Copy, Debug)]
pub enum Remedy {
    /// Give the oracle these arguments instead.
    Rewrite(fn(&[OsString]) -> Vec<OsString>),
    /// Do not compare.
    Skip,
}

/// One difference between releases of GNU `ls`.
#[derive(Debug)]
pub struct Difference {
    /// The first release that behaves as 9.7 does.
    pub since: (u32, u32),
    /// What changed.
    pub reason: &'static str,
    /// Whether the case meets it.
    pub applies: fn(&Case) -> bool,
    /// What is done about it.
    pub remedy: Remedy,
}

/// All of them.
pub const DIFFERENCES: &[Difference] = &[
    Difference {
        since: (9, 5),
        reason: "-f is -a -U and no more; it used to take back an earlier -l, -s and --color",
        applies: |case| case.has_short('f'),
        remedy: Remedy::Rewrite(spell_out_f),
    },
    Difference {
        since: (9, 2),
        reason: "-v: a hidden name that is all extension (.profile) is a name again; 9.1 held it for empty",
        applies: |case| case.has_short('v') && case.listed().iter().any(|(dir, deep)| mixes_dots(dir, *deep)),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 4),
        reason: "a symbolic link on the command line that loops is shown, no longer an error",
        applies: |case| case.operands.iter().any(|operand| loops(&case.cwd.join(operand))),
        remedy: Remedy::Skip,
    },
    Difference {
        since: (9, 2),
        reason: "LS_COLORS suffixes that differ only in case, with different colours, are matched by case",
        applies: |case| case.variable("LS_COLORS").is_some_and(suffixes_differ_in_case),
        remedy: Remedy::Skip,
    },
];

/// The differences that a case meets on an oracle of this version.
pub fn met(case: &Case, version: (u32, u32)) -> impl Iterator<Item = &'static Difference> {
    DIFFERENCES.iter().filter(move |known| version < known.since && (known.applies)(case))
}

/// `-lf` becomes `-laU`.
fn spell_out_f(args: &[OsString]) -> Vec<OsString> {
    let mut args = args.to_vec();
    for arg in args.iter_mut().take_while(|arg| *arg != "--") {
        if let Some(cluster) = arg.to_str().filter(|arg| is_cluster(arg)) {
            *arg = cluster.replace('f', "aU").into();
        }
    }
    args
}

/// Whether an argument is a run of short options. The only one here that takes a value is `-w`.
pub fn is_cluster(arg: &str) -> bool {
    arg.starts_with('-') && !arg.starts_with("--") && arg.len() > 1 && !arg.contains('w')
}

fn loops(path: &Path) -> bool {
    fs::metadata(path)
        .is_err_and(|error| error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()))
}

fn suffixes_differ_in_case(colors: &str) -> bool {
    let mut seen: HashMap<String, &str> = HashMap::new();
    let suffixes = colors.split(':').filter_map(|entry| entry.strip_prefix('*')?.split_once('='));
    let mut differ = false;
    for (suffix, value) in suffixes {
        differ |= seen.insert(suffix.to_lowercase(), value).is_some_and(|old| old != value);
    }
    differ
}

/// Whether a directory (or, with `deep`, one below it) holds both hidden names that are all extension and
/// hidden names that are not. Answers are kept: the same few directories are asked about again and again.
fn mixes_dots(dir: &Path, deep: bool) -> bool {
    static ANSWERS: Mutex<Option<HashMap<(PathBuf, bool), bool>>> = Mutex::new(None);
    let key = (dir.to_path_buf(), deep);
    let known = ANSWERS.lock().unwrap().get_or_insert_default().get(&key).copied();
    known.unwrap_or_else(|| {
        let answer = find_mixed(dir, deep);
        ANSWERS.lock().unwrap().get_or_insert_default().insert(key, answer);
        answer
    })
}

fn find_mixed(dir: &Path, deep: bool) -> bool {
    let (mut extensions, mut others) = (false, false);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.as_bytes().starts_with(b".") {
            *(if all_extension(name.as_bytes()) { &mut extensions } else { &mut others }) = true;
        }
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if deep && is_dir && find_mixed(&entry.path(), true) {
            return true;
        }
    }
    extensions && others
}

/// Whether a name is nothing but `.letter…` parts.
fn all_extension(name: &[u8]) -> bool {
    let part = |part: &[u8]| {
        part.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'~')
            && part.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'~')
    };
    name.first() == Some(&b'.') && name[1..].split(|&b| b == b'.').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_is_spelled_out_in_clusters_only() {
        let args: Vec<OsString> = ["-lfs", "-w80", "--full-time", "f", "--", "-f"].map(Into::into).to_vec();
        assert_eq!(spell_out_f(&args), ["-laUs", "-w80", "--full-time", "f", "--", "-f"]);
    }

    #[test]
    fn names_that_are_all_extension() {
        for name in [".profile", ".tar.gz", ".m4", ".~", ".a1~"] {
            assert!(all_extension(name.as_bytes()), "{name}");
        }
        for name in [".", "..", "...", ".1", ".a-b", ".bash_logout", ".a.", "a.b", ".a.1"] {
            assert!(!all_extension(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn suffixes_that_differ_in_case_matter_only_with_different_colours() {
        assert!(suffixes_differ_in_case("*.C=01:di=02:*.c=02"));
        assert!(!suffixes_differ_in_case("*.C=01:*.c=01:*.h=02"));
    }
}
