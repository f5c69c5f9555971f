//! Older kernels and containers: the system calls that they lack or refuse.
//!
//! `refuse SET PROGRAM [ARGUMENT]…` (`src/bin/refuse.rs`) executes a program with such a kernel's answers, by a
//! seccomp filter, which needs no privilege and costs little for allowed calls. A filter cannot refuse flags and
//! fields of allowed calls, such as the newer bits of `statx`'s mask.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use nix::libc;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::process::Run;

/// A call: its name, its number, and the kernel that it came with.
struct Call(&'static str, i64, (u32, u32));

/// The calls since Linux 4.8. Numbers from 424 on are the same on every architecture.
const CALLS: &[Call] = &[
    Call("pkey_mprotect", libc::SYS_pkey_mprotect, (4, 9)),
    Call("pkey_alloc", libc::SYS_pkey_alloc, (4, 9)),
    Call("pkey_free", libc::SYS_pkey_free, (4, 9)),
    Call("statx", libc::SYS_statx, (4, 11)),
    Call("rseq", libc::SYS_rseq, (4, 18)),
    Call("pidfd_send_signal", 424, (5, 1)),
    Call("io_uring_setup", 425, (5, 1)),
    Call("io_uring_enter", 426, (5, 1)),
    Call("io_uring_register", 427, (5, 1)),
    Call("open_tree", 428, (5, 2)),
    Call("move_mount", 429, (5, 2)),
    Call("fsopen", 430, (5, 2)),
    Call("fsconfig", 431, (5, 2)),
    Call("fsmount", 432, (5, 2)),
    Call("fspick", 433, (5, 2)),
    Call("pidfd_open", 434, (5, 3)),
    Call("clone3", 435, (5, 3)),
    Call("close_range", 436, (5, 9)),
    Call("openat2", 437, (5, 6)),
    Call("pidfd_getfd", 438, (5, 6)),
    Call("faccessat2", 439, (5, 8)),
    Call("process_madvise", 440, (5, 10)),
    Call("epoll_pwait2", 441, (5, 11)),
    Call("mount_setattr", 442, (5, 12)),
    Call("quotactl_fd", 443, (5, 14)),
    Call("landlock_create_ruleset", 444, (5, 13)),
    Call("landlock_add_rule", 445, (5, 13)),
    Call("landlock_restrict_self", 446, (5, 13)),
    Call("memfd_secret", 447, (5, 14)),
    Call("process_mrelease", 448, (5, 15)),
    Call("futex_waitv", 449, (5, 16)),
    Call("set_mempolicy_home_node", 450, (5, 17)),
    Call("cachestat", 451, (6, 5)),
    Call("fchmodat2", 452, (6, 6)),
    Call("map_shadow_stack", 453, (6, 6)),
    Call("futex_wake", 454, (6, 7)),
    Call("futex_wait", 455, (6, 7)),
    Call("futex_requeue", 456, (6, 7)),
    Call("statmount", 457, (6, 8)),
    Call("listmount", 458, (6, 8)),
    Call("lsm_get_self_attr", 459, (6, 8)),
    Call("lsm_set_self_attr", 460, (6, 8)),
    Call("lsm_list_modules", 461, (6, 8)),
    Call("mseal", 462, (6, 10)),
    Call("setxattrat", 463, (6, 13)),
    Call("getxattrat", 464, (6, 13)),
    Call("listxattrat", 465, (6, 13)),
    Call("removexattrat", 466, (6, 13)),
    Call("open_tree_attr", 467, (6, 15)),
    Call("file_getattr", 468, (6, 17)),
    Call("file_setattr", 469, (6, 17)),
];

/// Calls that Docker's profile keeps for containers with capabilities; those of them that a lister could want.
const PRIVILEGED: &[(&str, i64)] = &[
    ("unshare", libc::SYS_unshare),
    ("setns", libc::SYS_setns),
    ("mount", libc::SYS_mount),
    ("umount2", libc::SYS_umount2),
    ("bpf", libc::SYS_bpf),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("kcmp", libc::SYS_kcmp),
    ("ptrace", libc::SYS_ptrace),
];

/// Calls that a filter may refuse and no profile does.
const OTHERS: &[(&str, i64)] = &[("prctl", libc::SYS_prctl)];

/// The refused system calls, and their errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    numbers: Vec<i64>,
    errno: i32,
}

/// The named sets: kernels (RHEL 8, Ubuntu 20.04, RHEL 9, Debian 12, Ubuntu 24.04), and Docker's profile of 2017,
/// which answers `EPERM` to unknown calls.
pub const PROFILES: &[&str] = &["4.18", "5.4", "5.14", "6.1", "6.8", "docker-2017"];

impl Refusal {
    /// Takes the name of a profile, or names of calls: `listxattrat,getxattrat` gives `ENOSYS`, `EPERM:statx` the other.
    pub fn parse(set: &str) -> Result<Refusal, String> {
        if set == "docker-2017" {
            let unknown = CALLS.iter().map(|call| call.1);
            let numbers = unknown.chain(PRIVILEGED.iter().map(|call| call.1)).collect();
            return Ok(Refusal { numbers, errno: libc::EPERM });
        }
        if let Some(kernel) = version(set) {
            let newer = CALLS.iter().filter(|call| call.2 > kernel).map(|call| call.1);
            return Ok(Refusal { numbers: newer.collect(), errno: libc::ENOSYS });
        }
        let (errno, names) = match set.split_once(':') {
            None => (libc::ENOSYS, set),
            Some(("ENOSYS", names)) => (libc::ENOSYS, names),
            Some(("EPERM", names)) => (libc::EPERM, names),
            Some((other, _)) => return Err(format!("{other}: neither ENOSYS nor EPERM")),
        };
        let numbers = names.split(',').map(number).collect::<Result<_, _>>()?;
        Ok(Refusal { numbers, errno })
    }

    /// Refuses these calls in this process and in those that it starts, for ever.
    pub fn enforce(&self) -> Result<(), String> {
        let rules: BTreeMap<i64, _> = self.numbers.iter().map(|number| (*number, Vec::new())).collect();
        let arch = std::env::consts::ARCH.try_into().map_err(said)?;
        let refused = SeccompAction::Errno(self.errno as u32);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).map_err(said)?;
        let program: BpfProgram = filter.try_into().map_err(said)?;
        seccompiler::apply_filter(&program).map_err(said)
    }
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn number(name: &str) -> Result<i64, String> {
    let known = CALLS.iter().map(|call| (call.0, call.1)).chain(PRIVILEGED.iter().chain(OTHERS).copied());
    let found = known.into_iter().find(|(known, _)| *known == name);
    found
        .map(|(_, number)| number)
        .ok_or_else(|| format!("{name}: not a call, nor a profile: {}", PROFILES.join(", ")))
}

fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The same run, started by `refuse` with the calls of `set` refused. `argv[0]` is unchanged.
pub fn under(run: Run, refuse: &Path, set: &str) -> Run {
    let argv0 = run.argv0.clone();
    run.under(&[refuse.as_os_str(), OsStr::new("--argv0"), &argv0, OsStr::new(set)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_kernels_or_names() {
        let numbers = |set: &str| Refusal::parse(set).map(|refusal| (refusal.numbers.len(), refusal.errno));
        assert_eq!(numbers("6.13"), Ok((3, libc::ENOSYS)));
        assert_eq!(numbers("listxattrat,getxattrat"), Ok((2, libc::ENOSYS)));
        assert_eq!(numbers("EPERM:statx"), Ok((1, libc::EPERM)));
        assert!(Refusal::parse("4.18").unwrap().numbers.contains(&437));
        assert!(!Refusal::parse("4.18").unwrap().numbers.contains(&libc::SYS_statx));
        assert!(Refusal::parse("docker-2017").unwrap().numbers.contains(&libc::SYS_statx));
        assert!(PROFILES.iter().all(|set| Refusal::parse(set).is_ok()));
        for wrong in ["", "6", "nosuchcall", "EIO:statx", "statx,"] {
            assert!(Refusal::parse(wrong).is_err(), "{wrong}");
        }
    }
}
