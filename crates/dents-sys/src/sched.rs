//! How many threads pay off.
//!
//! A container often sees all cores of the machine, but may use the time of two: the scheduler then stops it for the
//! rest of each period. So the number of cores is the smaller of the affinity and of the quotas of all control groups
//! above this process, version 2 (`cpu.max`) and version 1 (`cpu.cfs_quota_us`).
use crate::{file, syscall};
use alloc::vec::Vec;
use core::ffi::CStr;

/// How many cores this process may keep busy, at least 1.
///
/// One `sched_getaffinity`. If that returns more than one core, /proc/self/cgroup is read (3 calls), then there is
/// one `openat` for each group and ancestor, with a `read` and a `close` where the group has a quota. The result is
/// not cached: call it once, and only before starting threads.
pub fn available_cores() -> usize {
    let affinity = affinity_cores().unwrap_or(1).max(1);
    if affinity == 1 {
        return 1;
    }
    affinity.min(quota_cores().unwrap_or(affinity))
}

/// How many cores this process may run on, at least 1, without regard to quotas: one `sched_getaffinity`. That is
/// enough for work of a millisecond: a quota is counted over a tenth of a second.
pub fn affinity() -> usize {
    affinity_cores().unwrap_or(1).max(1)
}

/// Gives this core to another thread, if one waits for a core: one `sched_yield`.
pub fn yield_now() {
    rustix::thread::sched_yield();
}

/// How many descriptors this process may have open (`RLIMIT_NOFILE`, the soft limit), one `prlimit64`; none if there is
/// no limit.
pub fn open_files_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

/// The calling thread's number: one `gettid`.
#[must_use]
pub fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// Whether a thread of this process runs or waits for a core, and does not wait in the kernel: its state in
/// /proc/self/task/N/stat (proc_pid_stat(5)), three system calls. False if that file cannot be read.
#[must_use]
pub fn is_runnable(thread: u32) -> bool {
    let path = alloc::format!("/proc/self/task/{thread}/stat\0");
    let mut buf = [0; 512];
    let stat = CStr::from_bytes_with_nul(path.as_bytes()).map(|path| file::read_once(path, &mut buf));
    stat.is_ok_and(|stat| stat.is_ok_and(|stat| state(stat) == Some(b'R')))
}

/// The state in `1234 (name) R 1 …`. The name may contain any characters, parentheses too.
fn state(stat: &[u8]) -> Option<u8> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    stat.get(name_end + 2).copied()
}

/// The number of cores in this thread's affinity mask. The mask has room for 8,192, the most that any kernel is built
/// for. (rustix's set ends at 1,024, and the kernel refuses a mask smaller than its own.)
fn affinity_cores() -> Option<usize> {
    let mut mask = [0_u64; 128];
    // SAFETY: the kernel writes at most the given size to `mask`, which is borrowed exclusively.
    unsafe {
        let args = [0, size_of_val(&mask), mask.as_mut_ptr() as usize, 0, 0, 0];
        syscall::syscall(syscall::nr::SCHED_GETAFFINITY, args).ok()?;
    }
    Some(mask.iter().map(|word| word.count_ones() as usize).sum())
}

/// The smallest quota in force, in cores, rounded up; `None` if no quota is set or none can be read.
fn quota_cores() -> Option<usize> {
    // There is one line for each hierarchy, a dozen at most.
    let mut buf = [0; 4096];
    let groups = file::read_once(c"/proc/self/cgroup", &mut buf).ok()?;
    let lines = groups.split(|&byte| byte == b'\n').filter_map(Membership::parse);
    lines.filter_map(|line| line.quota()).min()
}

/// One line of /proc/self/cgroup, `hierarchy:controllers:path`, of a group that may have a CPU quota.
#[derive(Debug, PartialEq)]
struct Membership<'a> {
    /// Version 1 has one mount for each set of controllers; version 2 has one mount, and this is empty.
    controllers: &'a [u8],
    path: &'a [u8],
}

impl<'a> Membership<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.splitn(3, |&byte| byte == b':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let concerns_cpu =
            controllers.is_empty() || controllers.split(|&byte| byte == b',').any(|c| c == b"cpu");
        concerns_cpu.then_some(Membership { controllers, path })
    }

    /// The smallest quota from the group up to the root. It skips groups that do not exist here: a container shows
    /// its own part of the tree under the host's paths.
    fn quota(&self) -> Option<usize> {
        let mut group = self.path.strip_suffix(b"/").unwrap_or(self.path);
        let mut tightest: Option<usize> = None;
        loop {
            if let Some(cores) = self.quota_of(group) {
                tightest = Some(tightest.map_or(cores, |so_far| so_far.min(cores)));
            }
            match group.iter().rposition(|&byte| byte == b'/') {
                Some(slash) => group = &group[..slash],
                None => return tightest,
            }
        }
    }

    fn quota_of(&self, group: &[u8]) -> Option<usize> {
        let (mut quota, mut period) = ([0; 64], [0; 64]);
        if self.controllers.is_empty() {
            let text = self.read(group, b"cpu.max", &mut quota)?;
            let (quota, period) = text.split_at(text.iter().position(|&byte| byte == b' ')?);
            return cores(quota, period);
        }
        let quota = self.read(group, b"cpu.cfs_quota_us", &mut quota)?;
        // "-1" is no quota: the second file need not be read.
        number(quota)?;
        cores(quota, self.read(group, b"cpu.cfs_period_us", &mut period)?)
    }

    fn read<'b>(&self, group: &[u8], file: &[u8], buf: &'b mut [u8; 64]) -> Option<&'b [u8]> {
        let path = self.file(group, file);
        file::read_once(CStr::from_bytes_with_nul(&path).ok()?, buf).ok()
    }

    /// Where distributions mount the hierarchies, with its NUL.
    fn file(&self, group: &[u8], file: &[u8]) -> Vec<u8> {
        let slash: &[u8] = if self.controllers.is_empty() { b"" } else { b"/" };
        [b"/sys/fs/cgroup", slash, self.controllers, group, b"/", file, b"\0"].concat()
    }
}

/// quota ÷ period, rounded up, at least 1; `None` if the quota is `max`, -1 or no number.
fn cores(quota: &[u8], period: &[u8]) -> Option<usize> {
    let (quota, period) = (number(quota)?, number(period)?);
    (period > 0).then(|| quota.div_ceil(period).max(1))
}

fn number(digits: &[u8]) -> Option<usize> {
    core::str::from_utf8(digits.trim_ascii()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_thread_that_waits_is_not_runnable() {
        assert!(is_runnable(thread_id()), "it is running this");
        assert!(!is_runnable(0) && !is_runnable(u32::MAX));
        assert_eq!(state(b"7 (a) b) D 1 2"), Some(b'D'));
        assert_eq!(state(b"7 (a"), None);
        assert_eq!(state(b"7 (a)"), None);
    }

    #[test]
    fn quota_is_rounded_up() {
        assert_eq!(cores(b"100000", b" 100000\n"), Some(1));
        assert_eq!(cores(b"150000", b" 100000\n"), Some(2));
        assert_eq!(cores(b"1000", b"100000"), Some(1));
        assert_eq!(cores(b"0", b"100000"), Some(1));
    }

    #[test]
    fn no_quota_is_none() {
        for (quota, period) in
            [("max", "100000"), ("-1", "100000"), ("", "1"), ("1", ""), ("1", "0"), ("x", "y")]
        {
            assert_eq!(cores(quota.as_bytes(), period.as_bytes()), None, "{quota} {period}");
        }
    }

    #[test]
    fn only_memberships_with_a_cpu_controller_count() {
        let text = b"9:name=systemd:/\n4:memory:/a\n3:cpuset:/\n2:cpu,cpuacct:/b:c\n0::/d\nnonsense\n";
        let parsed: Vec<_> = text.split(|&byte| byte == b'\n').filter_map(Membership::parse).collect();
        assert_eq!(parsed.len(), 2);
        assert_eq!((parsed[0].controllers, parsed[0].path), (&b"cpu,cpuacct"[..], &b"/b:c"[..]));
        assert_eq!((parsed[1].controllers, parsed[1].path), (&b""[..], &b"/d"[..]));
        assert_eq!(parsed[0].file(b"/b", b"f"), b"/sys/fs/cgroup/cpu,cpuacct/b/f\0");
        assert_eq!(parsed[1].file(b"", b"f"), b"/sys/fs/cgroup/f\0");
    }

    #[test]
    fn never_more_than_std_sees_rounded_up() {
        // std rounds the quota down, this crate up: at most one apart, never below 1.
        let std_says = std::thread::available_parallelism().unwrap().get();
        let cores = available_cores();
        assert!(cores == std_says || cores == std_says + 1, "{cores} {std_says}");
    }
}
