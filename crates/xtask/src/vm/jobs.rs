//! The jobs that a machine can run. All but `nfs` run in a second root, that of Debian's trixie with more servers, so that a job has the
//! same programs (GNU ls 9.7, strace, Samba) on each kernel, and the root that `cargo xtask test` needs stays small.

use crate::step::{Result, read};

/// The suite of the second root, and its packages.
pub(super) const SUITE: &str = "trixie";
pub(super) const PACKAGES: &str = "samba,cifs-utils,sshfs,openssh-server,diod,glusterfs-server,glusterfs-client,nfs-kernel-server,\
                                   nfs-common,rpcbind,iproute2,kmod,acl,attr,strace,xfsprogs,btrfs-progs,e2fsprogs";

/// A job.
pub(super) struct Job {
    /// The directory below that of the machine where its files are: jobs of different names can run at once.
    pub(super) directory: &'static str,
    pub(super) script: String,
    /// Whether it runs in the second root, with `dents` beside `dls`.
    pub(super) has_servers: bool,
    /// A machine that runs longer is stopped.
    pub(super) most_seconds: &'static str,
}

impl Job {
    /// How many of the programs it needs.
    pub(super) fn programs(&self) -> usize {
        if self.has_servers { 2 } else { 1 }
    }
}

/// Mounts, runs, counts and compares, for the jobs that define how to mount and what to count.
const COMPARED: &str = include_str!("compared.sh");

/// The NFS server, and how requests are counted.
const NFS: &str = include_str!("nfs.sh");

/// The job with this name, or in this file.
pub(super) fn named(name: &str) -> Result<Job> {
    let with_servers = |directory, scripts: &[&str]| Job {
        directory,
        script: scripts.concat(),
        has_servers: true,
        most_seconds: "1800",
    };
    Ok(match name {
        "nfs" => {
            let scripts = [NFS, include_str!("directories.sh")];
            Job { has_servers: false, most_seconds: "900", ..with_servers("nfs", &scripts) }
        }
        "directories" => with_servers("directories", &[NFS, include_str!("directories.sh")]),
        "trees" => with_servers("trees", &[NFS, include_str!("trees.sh")]),
        "cifs" => with_servers("cifs", &[COMPARED, include_str!("cifs.sh")]),
        "sshfs" => with_servers("sshfs", &[COMPARED, include_str!("sshfs.sh")]),
        "gluster" => with_servers("gluster", &[COMPARED, include_str!("gluster.sh")]),
        "9p" => with_servers("9p", &["FILES=${FILES:-300}\n", COMPARED, include_str!("9p.sh")]),
        "faults" => with_servers("faults", &[include_str!("faults.sh")]),
        "kernels" => with_servers("kernels", &[include_str!("kernels.sh")]),
        file => {
            let script = read(file)?;
            with_servers("script", &[&script])
        }
    })
}
