//! Faults: which requests about which entry fail, and how.

use std::collections::HashMap;
use std::time::Duration;

use rustix::io::Errno;

use super::request::Request;

/// How a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No answer, ever; but a waiting thread can be killed, as with NFS, CephFS and Lustre.
    ///
    /// FUSE itself waits uninterruptibly once the server has taken a request. So the server looks at
    /// `/proc/TID/status` of the thread that waits, and answers `EINTR` within some 20 ms when a fatal signal is pending.
    Hang,
    /// No answer, ever, and a waiting thread cannot be killed: FUSE as it is, or a disk that is gone.
    /// Only unmounting ends it.
    HangHard,
    /// This error, after the usual latency.
    Error(Errno),
    /// The right answer, this much later than usual.
    Delay(Duration),
}

impl Fault {
    /// `hang`, `hang-hard`, or the name of an error (`EIO`).
    pub fn parse(word: &str) -> Option<Fault> {
        match word {
            "hang" => Some(Fault::Hang),
            "hang-hard" => Some(Fault::HangHard),
            _ => ERRORS.iter().find(|row| row.0 == word).map(|row| Fault::Error(row.1)),
        }
    }

    pub(super) fn is_hang(self) -> bool {
        matches!(self, Fault::Hang | Fault::HangHard)
    }
}

/// The errors that [`Fault::parse`] knows.
pub const ERRORS: &[(&str, Errno)] = &[
    ("EACCES", Errno::ACCESS),
    ("EINTR", Errno::INTR),
    ("EINVAL", Errno::INVAL),
    ("EIO", Errno::IO),
    ("ELOOP", Errno::LOOP),
    ("ENODATA", Errno::NODATA),
    ("ENOENT", Errno::NOENT),
    ("ENOMEM", Errno::NOMEM),
    ("ENOSYS", Errno::NOSYS),
    ("ENOTCONN", Errno::NOTCONN),
    ("ENOTSUP", Errno::NOTSUP),
    ("EPERM", Errno::PERM),
    ("EREMOTEIO", Errno::REMOTEIO),
    ("ESTALE", Errno::STALE),
    ("ETIMEDOUT", Errno::TIMEDOUT),
];

/// A fault, and the requests it meets.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    requests: u32,
    /// How many such requests still pass unharmed.
    spare: u64,
    fault: Fault,
}

impl Rule {
    pub(super) fn new(requests: &[Request], spare: u64, fault: Fault) -> Rule {
        let requests = requests.iter().fold(0, |bits, request| bits | 1 << *request as u32);
        Rule { requests, spare, fault }
    }

    fn strike(&mut self, request: Request) -> Option<Fault> {
        if self.requests & 1 << request as u32 == 0 {
            return None;
        }
        if self.spare > 0 {
            self.spare -= 1;
            return None;
        }
        Some(self.fault)
    }
}

/// All rules: for single inodes, and for all. The first that matches applies.
#[derive(Debug, Default)]
pub(super) struct Faults {
    by_inode: HashMap<u64, Vec<Rule>>,
    everywhere: Vec<Rule>,
}

impl Faults {
    pub(super) fn add(&mut self, inode: Option<u64>, rule: Rule) {
        match inode {
            Some(inode) => self.by_inode.entry(inode).or_default().push(rule),
            None => self.everywhere.push(rule),
        }
    }

    pub(super) fn strike(&mut self, inode: u64, request: Request) -> Option<Fault> {
        let own = self.by_inode.get_mut(&inode);
        let own = own.and_then(|rules| rules.iter_mut().find_map(|rule| rule.strike(request)));
        own.or_else(|| self.everywhere.iter_mut().find_map(|rule| rule.strike(request)))
    }

    pub(super) fn clear(&mut self) {
        *self = Faults::default();
    }

    pub(super) fn clear_hangs(&mut self) {
        self.everywhere.retain(|rule| !rule.fault.is_hang());
        self.by_inode.values_mut().for_each(|rules| rules.retain(|rule| !rule.fault.is_hang()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_rule_goes_first_and_others_pass() {
        let mut faults = Faults::default();
        faults.add(None, Rule::new(Request::XATTR, 0, Fault::Error(Errno::NOSYS)));
        faults.add(Some(7), Rule::new(&[Request::Listxattr], 0, Fault::Hang));
        assert_eq!(faults.strike(7, Request::Listxattr), Some(Fault::Hang));
        assert_eq!(faults.strike(7, Request::Getxattr), Some(Fault::Error(Errno::NOSYS)));
        assert_eq!(faults.strike(7, Request::Lookup), None);
        faults.clear_hangs();
        assert_eq!(faults.strike(7, Request::Listxattr), Some(Fault::Error(Errno::NOSYS)));
    }

    #[test]
    fn spared_requests_pass() {
        let mut faults = Faults::default();
        faults.add(Some(1), Rule::new(Request::DIRECTORY, 2, Fault::Error(Errno::IO)));
        let struck: Vec<bool> = (0..4).map(|_| faults.strike(1, Request::Readdir).is_some()).collect();
        assert_eq!(struck, [false, false, true, true]);
    }
}
