//! What GNU `ls` does not have, and what every program has.

use super::super::numbers::{parse_in_flight, parse_threads, parse_timeout};
use super::super::words::{Explain, Mode};
use super::{Definition, Flag};

/// The group of [`super::Group::Speed`].
pub(super) const SPEED: &[Definition] = &[
    Definition::long(
        "mode",
        Flag::Mode,
        "how to ask the kernel about files: classic (one after the other), par (on several threads), iou \
         (through io_uring), auto (as seems best; the default)",
    )
    .more("All modes print the same. See STRATEGIES.")
    .word::<Mode>("MODE"),
    Definition::long(
        "threads",
        Flag::Threads,
        "use N threads, 1 to 1024; by default one for each processor",
    )
    .more(
        "Files that are slow to answer for, as on a network, are asked about by more threads, 64 at least. \
         With `--threads=1` there is one thread in any case.",
    )
    .value("N", |value| Ok(parse_threads(value).map(drop)?)),
    Definition::long(
        "max-inflight",
        Flag::MaxInflight,
        "where each answer is a round trip, ask up to N questions at a time, 1 to 1024; 256 by default",
    )
    .more("As many as turn out to pay: a server that answers later for being asked more is asked less.")
    .value("N", |value| Ok(parse_in_flight(value).map(drop)?)),
    Definition::long(
        "timeout",
        Flag::Timeout,
        "show what has answered after DURATION (2s, 500ms, 1.5m), and question marks for the rest; 0 waits for ever",
    )
    .more(
        "The time counts from the start of the program, for everything that is listed. What has not answered by then \
         is shown with `?` where GNU `ls` shows what it cannot ask about, coloured by its name and type; one line on \
         standard error says how many, and the exit status is 1, or 2 if a file named on the command line never \
         answered. Then the program ends at once, whatever the kernel is still waiting for. A number without a unit \
         is seconds; units are ms, s, m, h, d, w and y (365.25 days), and several may follow each other, as in 1h30m. With a timeout entries are always asked about by several threads, whatever the mode is.",
    )
    .value("DURATION", |value| Ok(parse_timeout(value).map(drop)?)),
    Definition::long("timing", Flag::Timing, "tell on stderr where the time went").more(
        "A table of the stages with their milliseconds, then what was asked of the kernel, what was not, \
         and the strategy with its reason. See STRATEGIES.",
    ),
    Definition::long(
        "explain",
        Flag::Explain,
        "tell on stderr what was asked about files, for which option or colour, what it cost, and what to change; \
         --explain=plan tells it beforehand, and lists nothing",
    )
    .more(
        "What is asked of each kind of file, and which option, column, sort key, indicator or key of LS_COLORS has \
         to know; how many system calls that took and how long they were waited for; the file system and what is \
         done differently on it; and the cheapest change that avoids most of it.\n\nWith `--explain=plan` no file \
         is touched, and the directory is not even opened.",
    )
    .optional_word::<Explain>("WHEN"),
    Definition::long(
        "lazy",
        Flag::Lazy,
        "do not ask a server again for what is remembered of a file, however old (AT_STATX_DONT_SYNC)",
    )
    .more(
        "Sizes, times and modes may be stale. It spares a request per file, or all of them, on NFS, FUSE, CephFS, \
         SMB and Lustre; local file systems take no notice. What is named on the command line is asked in any case.",
    ),
];

/// The group of [`super::Group::About`].
pub(super) const ABOUT: &[Definition] = &[
    Definition::long("init", Flag::Init, "write a file of default options to begin with, print its path, and exit")
        .more(
            "Every option that can stand in it is there, explained and commented out. Directories that are missing are \
             made; a file that is there is left alone. It must be spelled out: `--ini` is no abbreviation of it. See FILES.",
        ),
    Definition::long("no-config", Flag::NoConfig, "read no file of default options").more(
        "Called as `ls`, `dir` or `vdir` none is read in any case. See FILES.",
    ),
    Definition::long("help", Flag::Help, "print this help and exit"),
    Definition::long("version", Flag::Version, "print the version and exit"),
];

#[cfg(test)]
mod tests {
    use super::super::testing::{complaint, plain, said, valued};
    use super::*;

    #[test]
    fn mode() {
        valued(Flag::Mode, "iou", &[&[c"--mode=iou"], &[c"--mode", c"iou"], &[c"--mod=iou"]]);
        assert_eq!(complaint(&[c"--mode=x"]), "ls: invalid argument 'x' for '--mode'");
    }

    #[test]
    fn threads() {
        valued(Flag::Threads, "4", &[&[c"--threads=4"], &[c"--th", c"4"]]);
        assert_eq!(complaint(&[c"--threads=0"]), "ls: invalid number of threads: '0' (must be 1 to 1024)");
    }

    #[test]
    fn max_inflight() {
        valued(Flag::MaxInflight, "4", &[&[c"--max-inflight=4"], &[c"--ma", c"4"]]);
        assert_eq!(
            complaint(&[c"--max-inflight=0"]),
            "ls: invalid number of questions in flight: '0' (must be 1 to 1024)"
        );
    }

    #[test]
    fn timeout() {
        valued(Flag::Timeout, "1.5s", &[&[c"--timeout=1.5s"], &[c"--timeo", c"1.5s"]]);
        assert_eq!(
            complaint(&[c"--timeout=soon"]),
            "ls: invalid timeout: 'soon' (must be a number of seconds, or end in ms, s, m, h, d, w or y)"
        );
    }

    #[test]
    fn timing() {
        plain(Flag::Timing, &[c"--timing", c"--timi"]);
    }

    #[test]
    fn explain() {
        plain(Flag::Explain, &[c"--explain", c"--exp"]);
        valued(Flag::Explain, "plan", &[&[c"--explain=plan"], &[c"--exp=plan"]]);
        assert_eq!(complaint(&[c"--explain=x"]), "ls: invalid argument 'x' for '--explain'");
    }

    #[test]
    fn lazy() {
        plain(Flag::Lazy, &[c"--lazy", c"--la"]);
        assert_eq!(complaint(&[c"--lazy=1"]), "ls: option '--lazy' doesn't allow an argument");
    }

    #[test]
    fn init() {
        plain(Flag::Init, &[c"--init"]);
        assert_eq!(
            complaint(&[c"--ini"]),
            "ls: unrecognized option '--ini'",
            "what writes a file has no short form"
        );
        assert_eq!(complaint(&[c"--init", c"--rubbish"]), "ls: unrecognized option '--rubbish'");
        assert_eq!(said(&[c"--init", c"--help", c"--rubbish"]), [(Flag::Init, None), (Flag::Help, None)]);
        assert_eq!(complaint(&[c"--init=x"]), "ls: option '--init' doesn't allow an argument");
    }

    #[test]
    fn no_config() {
        plain(Flag::NoConfig, &[c"--no-config", c"--no-c"]);
        // GNU's, as ever.
        plain(Flag::NoGroup, &[c"--no"]);
    }

    #[test]
    fn help_and_version_act_at_once() {
        plain(Flag::Help, &[c"--help", c"--he"]);
        plain(Flag::Version, &[c"--version", c"--v"]);
        assert_eq!(said(&[c"-l", c"--help", c"--rubbish"]), [(Flag::Long, None), (Flag::Help, None)]);
        assert_eq!(said(&[c"--version", c"-y", c"file"]), [(Flag::Version, None)]);
        assert_eq!(complaint(&[c"-y", c"--help"]), "ls: invalid option -- 'y'");
        assert_eq!(complaint(&[c"--help=3"]), "ls: option '--help' doesn't allow an argument");
    }
}
