//! The machine, and how busy other programs keep it: read from /proc.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::step::{cargo, workspace};

/// Facts for the head of a report. Figures of different machines are not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// The processor, and whether it is a virtual one.
    pub(crate) cpu: String,
    /// Cores this process may use.
    pub(crate) cores: usize,
    /// Memory in GiB, rounded.
    pub(crate) memory_gib: u64,
    /// The kernel's release.
    pub(crate) kernel: String,
}

impl Machine {
    /// This one.
    pub(crate) fn here() -> Machine {
        let cpuinfo = read("/proc/cpuinfo");
        let field = |name: &str| {
            let line = cpuinfo.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_string())
        };
        let model = field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_string());
        let guest = field("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
        let kib = read("/proc/meminfo").split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok());
        Machine {
            cpu: if guest { format!("{model}, virtual") } else { model },
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: kib.unwrap_or(0).div_ceil(1 << 20),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_string(),
        }
    }
}

/// The state of the sources that are measured.
pub(crate) fn revision() -> String {
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--dirty"]).current_dir(workspace());
    first_line(&mut git).unwrap_or_else(|| "unknown".into())
}

/// Today, in UTC.
pub(crate) fn date() -> String {
    first_line(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"])).unwrap_or_default()
}

/// The compiler of the measured programs.
pub(crate) fn compiler() -> String {
    first_line(cargo(["--version"]).env("LC_ALL", "C")).unwrap_or_default()
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_string())
}

/// The first core this process may use.
pub(crate) fn first_core() -> String {
    let status = read("/proc/self/status");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("0");
    list.trim().split([',', '-']).next().unwrap_or("0").to_string()
}

/// The file system of a directory, and the number of its free inodes, from `df`.
pub(crate) fn file_system(dir: &Path) -> Option<(String, u64)> {
    let mut df = Command::new("df");
    let output = df.arg("--output=fstype,iavail").arg(dir).env("LC_ALL", "C").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = text.lines().nth(1)?.split_whitespace();
    let kind = words.next()?.to_string();
    // btrfs counts none, and has no end of them.
    let free = words.next().and_then(|word| word.parse().ok()).filter(|free| *free > 0);
    Some((kind, free.unwrap_or(u64::MAX)))
}

/// Whether the caches can be dropped: for root, where /proc/sys is writable.
pub(crate) fn can_drop_caches() -> bool {
    fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches").is_ok()
}

/// The load average over a minute.
pub(crate) fn load() -> f64 {
    read("/proc/loadavg").split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// Ticks of all cores, as /proc/stat counts them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ticks {
    busy: u64,
    stolen: u64,
    all: u64,
}

impl Ticks {
    /// Since the machine started.
    pub(crate) fn now() -> Ticks {
        Ticks::parse(&read("/proc/stat")).unwrap_or(Ticks { busy: 0, stolen: 0, all: 0 })
    }

    /// `cpu user nice system idle iowait irq softirq steal …`.
    fn parse(stat: &str) -> Option<Ticks> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line.split_whitespace().take(8).filter_map(|word| word.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq, stolen] = ticks[..] else { return None };
        let busy = user + nice + system + irq + softirq + stolen;
        Some(Ticks { busy, stolen, all: busy + idle + iowait })
    }

    /// The shares of busy and of stolen time since `earlier`, from 0 to 1.
    pub(crate) fn since(self, earlier: Ticks) -> (f64, f64) {
        let all = self.all.saturating_sub(earlier.all).max(1) as f64;
        let share = |now: u64, then: u64| now.saturating_sub(then) as f64 / all;
        (share(self.busy, earlier.busy), share(self.stolen, earlier.stolen))
    }
}

/// The share of all cores that other programs use: those that are busy while this process sleeps.
pub(crate) fn others() -> f64 {
    let before = Ticks::now();
    std::thread::sleep(Duration::from_millis(400));
    Ticks::now().since(before).0
}

/// Seconds since `start`, rounded.
pub(crate) fn seconds_since(start: SystemTime) -> u64 {
    start.elapsed().map_or(0, |elapsed| elapsed.as_secs())
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_time() {
        let before = Ticks::parse("cpu  10 0 10 100 0 0 0 0 0 0\ncpu0 1 1\n").expect("eight numbers");
        let after = Ticks::parse("cpu  20 0 20 160 10 5 5 10 0 0\n").expect("eight numbers");
        let (busy, stolen) = after.since(before);
        assert!((busy - 0.363).abs() < 0.001 && (stolen - 0.090).abs() < 0.001, "{busy} {stolen}");
        assert_eq!(Ticks::parse("cpu0 1 2 3\n"), None);
    }
}
