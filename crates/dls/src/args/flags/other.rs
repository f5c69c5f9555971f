//! Options that GNU `ls` does not have, and those that all programs have.

use super::super::numbers::{parse_in_flight, parse_threads, parse_timeout};
use super::super::words::{Acl, Explain, Mode};
use super::{Definition, Flag};

/// The group of [`super::Group::Speed`].
pub(super) const SPEED: &[Definition] = &[
    Definition::long(
        "mode",
        Flag::Mode,
        "how to request metadata: classic (one file after the other), par (on several threads), iou (through \
         io_uring), auto (dls chooses; the default)",
    )
    .more("The output is the same in all modes. See STRATEGIES.")
    .word::<Mode>("MODE"),
    Definition::long(
        "threads",
        Flag::Threads,
        "use N threads, 1 to 1024; by default one for each processor",
    )
    .more(
        "Without this option, more threads request metadata where each answer is a round trip, as on a network: see \
         `--max-inflight`. With `--threads=1` there is one thread in any case.",
    )
    .value("N", |value| Ok(parse_threads(value).map(drop)?)),
    Definition::long(
        "max-inflight",
        Flag::MaxInflight,
        "where each answer is a round trip, have up to N requests in flight, 1 to 1024; 256 by default",
    )
    .more(
        "`dls` begins with fewer, and adds more only while that brings more answers per second. If a server only answers \
         later, `dls` sends it fewer requests at a time.",
    )
    .value("N", |value| Ok(parse_in_flight(value).map(drop)?)),
    Definition::long(
        "timeout",
        Flag::Timeout,
        "list what has answered after DURATION (2s, 500ms, 1.5m), with question marks for all else; 0 sets no limit",
    )
    .more(
        "The time counts from the start of the program, for the whole listing. An entry that has not answered by then \
         has a `?` in each column that is not known, as in GNU `ls`, and the colour of its name and type. One line on \
         standard error has the number of such entries. The exit status is 1, or 2 if an operand did not answer. Then \
         the program ends at once, even while the kernel still waits for a server.\n\nA number without a unit is seconds; \
         units are ms, s, m, h, d, w and y (365.25 days), and several may follow each other, as in 1h30m. With a timeout \
         several threads make the requests, whatever the mode is.",
    )
    .value("DURATION", |value| Ok(parse_timeout(value).map(drop)?)),
    Definition::long("timing", Flag::Timing, "show on stderr where the time went").more(
        "It prints the milliseconds of each stage, the system calls that were made and avoided, and the strategy \
         with its reason. See STRATEGIES.",
    ),
    Definition::long(
        "explain",
        Flag::Explain,
        "show on stderr which requests were made about files, for which option or colour, what they cost, and what \
         to change; --explain=plan shows which would be made, and lists nothing",
    )
    .more(
        "For each type of file it shows the facts that were requested, and the option, column, sort key, indicator or \
         key of LS_COLORS that needs them. It shows the number of system calls and how long they took, what `dls` does \
         differently on this file system, and the cheapest change that avoids most of the requests.\n\n\
         `--explain=plan` opens neither files nor directories.",
    )
    .optional_word::<Explain>("WHEN"),
    Definition::long("no-hints", Flag::NoHints, "after a slow listing, do not say what would make it faster").more(
        "If a listing on a terminal takes so long that the line of progress appears, a hint follows it: the option or the \
         keys of LS_COLORS without which most requests about files are not made. Called as `ls`, `dir` or `vdir`, the \
         program gives no hints.",
    ),
    Definition::long(
        "acl",
        Flag::Acl,
        "request ACLs, for the + after the mode: always (the default), auto (not on a network file system), never",
    )
    .more(
        "On NFS each ACL is a request of its own, where names, modes, sizes and times of a thousand files come with one.          Without them the long format has no mark after the mode: neither the `+` of an ACL nor the `.` of a security          context. ACLs of operands are requested with auto, too.",
    )
    .word::<Acl>("WHEN"),
    Definition::long(
        "lazy",
        Flag::Lazy,
        "accept values that the client of a network file system has cached, however old (AT_STATX_DONT_SYNC)",
    )
    .more(
        "Sizes, times and modes may be stale. On NFS, FUSE, CephFS, SMB and Lustre it saves one request for each file, \
         or all of them; on local file systems it changes nothing. Values of operands are requested in any case.",
    ),
];

/// The group of [`super::Group::About`].
pub(super) const ABOUT: &[Definition] = &[
    Definition::long("init", Flag::Init, "write a file of default options, all commented out, print its path, and exit")
        .more(
            "The file has every option that it may contain, with an explanation. Missing directories are created; an \
             existing file is not changed. The option has no abbreviation. See FILES.",
        ),
    Definition::long("no-config", Flag::NoConfig, "read no file of default options").more(
        "Called as `ls`, `dir` or `vdir`, the program reads none anyway. See FILES.",
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
            "ls: invalid number of requests in flight: '0' (must be 1 to 1024)"
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
    fn no_hints() {
        plain(Flag::NoHints, &[c"--no-hints", c"--no-h"]);
    }

    #[test]
    fn acl() {
        valued(Flag::Acl, "auto", &[&[c"--acl=auto"], &[c"--ac", c"auto"]]);
        assert_eq!(complaint(&[c"--acl"]), "ls: option '--acl' requires an argument");
        assert!(complaint(&[c"--acl=some"]).starts_with("ls: invalid argument 'some' for '--acl'"));
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
