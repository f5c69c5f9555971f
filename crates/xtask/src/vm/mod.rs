//! `cargo xtask vm KERNEL JOB`: runs a job in a virtual machine with one of Debian's kernels, where real servers run.
//!
//! A machine is a Debian root on a disk image, made once by `mmdebstrap` and kept below `target/vm`. A second, small image has the job
//! and the programs, so that a new build needs no new root. Without hardware acceleration a machine boots in 20 to 75 s, and its times
//! are ratios at best; what it counts is exact.

mod jobs;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{fs, io};

use crate::step::{Result, cargo, target_dir};
use crate::tools;
use jobs::Job;

const USAGE: &str = "\
usage: cargo xtask vm KERNEL JOB [VARIABLE=VALUE]…
       cargo xtask vm --all | --test

KERNEL is 5.10, 6.1, 6.12 or newest. JOB is
  nfs, cifs, sshfs, 9p, gluster
                        requests of dls beside those of GNU ls, on that server
  directories           the job nfs beside GNU ls 9.7, which asks for ACLs on NFS 4, and not the release that came with the kernel
  trees                 those of dls, dents and its Python module beside those of GNU ls, find, du and os, on NFS
  faults                stopped and broken NFS servers: --timeout, Ctrl-C, files that dents writes
  kernels               the bytes of dls beside those of GNU ls, and its system calls, on five local file systems
or a shell script, which runs as root in the machine, in a directory with dls and dents. VARIABLES are those of the job: FILES=10000,
DELAY=10ms, VERSIONS=4.1, LONG=1 (-l of GNU ls too). --all runs every job but nfs on 6.1, 6.12 and newest, directories with NFS 4.1 and LONG and again with 10,000 files, and kernels
on 5.10; --test is the part of `cargo xtask test`: nfs on 6.12, skipped with a line where
no machine can be had.
";

/// A kernel, and the release of Debian that has it.
struct Kernel {
    word: &'static str,
    suite: &'static str,
}

const KERNELS: [Kernel; 4] = [
    Kernel { word: "5.10", suite: "bullseye" },
    Kernel { word: "6.1", suite: "bookworm" },
    Kernel { word: "6.12", suite: "trixie" },
    Kernel { word: "newest", suite: "sid" },
];

const PACKAGES: &str = "linux-image-amd64,nfs-kernel-server,nfs-common,rpcbind,iproute2,kmod,mount,udev,initramfs-tools,acl,attr,strace";

const INIT: &str = include_str!("init.sh");

/// The packages and the names of the programs for a job. Those without servers have the first.
const PROGRAMS: [(&str, &str); 2] = [("dents-ls", "dls"), ("dents-cli", "dents")];

/// The first process: the rest of it is on the image of the job.
const STUB: &str =
    "#!/bin/bash\nmount -t devtmpfs dev /dev 2>/dev/null\nmount /dev/vdb /job && exec bash /job/init.sh\n";

/// A job says with this status that a server could not be started.
const UNAVAILABLE: i32 = 77;

/// The result of a job.
enum Outcome {
    Ended(i32),
    /// There was no machine, or no server in it, for this reason.
    Skipped(String),
}

pub(crate) fn run(args: &[&str]) -> Result<()> {
    match args {
        ["--all"] => all(),
        ["--test"] => test(),
        [word, name, variables @ ..] => finish(job(word, name, &variables.join(" "))?),
        _ => Err(format!("vm takes a kernel and a job\n{USAGE}")),
    }
}

/// The jobs of `--all` on each kernel but the oldest, with their variables.
const JOBS: [(&str, &str); 9] = [
    ("directories", "VERSIONS='4.2 4.1 3' LONG=1"),
    ("directories", "VERSIONS=4.2 FILES=10000"),
    ("trees", ""),
    ("cifs", ""),
    ("sshfs", ""),
    ("9p", ""),
    ("gluster", ""),
    ("faults", ""),
    ("kernels", ""),
];

/// Every job on every kernel. After a failure the run continues; its last lines say how each job ended.
fn all() -> Result<()> {
    let words = ["6.1", "6.12", "newest"];
    let on_each = words.iter().flat_map(|word| JOBS.map(|(name, variables)| (*word, name, variables)));
    let (mut summary, mut has_failed) = (String::new(), false);
    for (word, name, variables) in on_each.chain([("5.10", "kernels", "")]) {
        println!("\n== {word} {name}");
        let start = Instant::now();
        let outcome = job(word, name, variables).and_then(finish);
        has_failed |= outcome.is_err();
        let ended = outcome.err().unwrap_or_else(|| "ok".to_owned());
        let _ = writeln!(summary, "{word:7} {name:8} {:4} s  {ended}", start.elapsed().as_secs());
    }
    println!("\n{summary}");
    if has_failed { Err("not all jobs passed".to_owned()) } else { Ok(()) }
}

/// The run that belongs to `cargo xtask test`: NFS on one kernel. Returns an error where `dls` makes too many requests.
fn test() -> Result<()> {
    match job("6.12", "nfs", "")? {
        Outcome::Skipped(why) => {
            println!("== nothing is tested on a real NFS server: {why}");
            Ok(())
        }
        ended => finish(ended),
    }
}

fn finish(outcome: Outcome) -> Result<()> {
    match outcome {
        Outcome::Ended(0) => Ok(()),
        Outcome::Ended(status) => Err(format!("the job ended with status {status}")),
        Outcome::Skipped(why) => Err(why),
    }
}

/// Runs a job on the kernel with this word. `variables` are set for it, as words of a shell.
fn job(word: &str, name: &str, variables: &str) -> Result<Outcome> {
    let kernel = KERNELS.iter().find(|kernel| kernel.word == word);
    let Some(kernel) = kernel else { return Err(format!("no kernel {word}\n{USAGE}")) };
    let job = jobs::named(name)?;
    if let Err(why) = tools::ensure(tools::FOR_MACHINES) {
        return Ok(Outcome::Skipped(why));
    }
    let servers =
        if job.has_servers { root("servers", jobs::SUITE, jobs::PACKAGES).map(drop) } else { Ok(()) };
    let machine = match servers.and_then(|()| root(kernel.suite, kernel.suite, PACKAGES)) {
        Ok(machine) => machine,
        Err(why) => return Ok(Outcome::Skipped(format!("no machine with kernel {word}: {why}"))),
    };
    for (package, program) in &PROGRAMS[..job.programs()] {
        let built = cargo(["build", "--quiet", "--release", "--package", package]).status();
        if !built.is_ok_and(|status| status.success()) {
            return Err(format!("{program} does not build"));
        }
    }
    boot(&machine, &job, variables).map_err(|error| error.to_string())
}

/// The directory `name` with the image of a root, which is made if it is missing or has other packages.
fn root(name: &str, suite: &str, packages: &str) -> Result<PathBuf> {
    let machine = target_dir().join("vm").join(name);
    let listed = machine.join("packages");
    let has_packages = fs::read_to_string(&listed).is_ok_and(|listed| listed == packages);
    if has_packages && machine.join("root.img").exists() {
        return Ok(machine);
    }
    println!("== making a root of Debian's {suite} for {name}");
    fs::create_dir_all(&machine).map_err(|error| error.to_string())?;
    let root = machine.join("root");
    let _ = fs::remove_dir_all(&root);
    // In a mount namespace of its own: where /proc stayed mounted in the root, it was copied into the image.
    let mut bootstrap = Command::new("unshare");
    bootstrap.args(["--mount", "mmdebstrap", "--quiet", "--variant=apt"]);
    // A mirror may be a copy of some weeks ago.
    bootstrap.arg("--aptopt=Acquire::Check-Valid-Until \"false\"");
    bootstrap.arg(format!("--include={packages}")).arg(suite).arg(&root);
    quietly(&mut bootstrap)?;
    take_kernel(&root, &machine).map_err(|error| error.to_string())?;
    // Under its final name only when it is complete.
    let image = machine.join("root.part");
    image_of(&root, &image, "2500M")?;
    fs::remove_dir_all(&root).map_err(|error| error.to_string())?;
    let complete = fs::rename(image, machine.join("root.img")).and_then(|()| fs::write(listed, packages));
    complete.map_err(|error| error.to_string())?;
    Ok(machine)
}

/// Copies the kernel and its initrd out of the root, and puts the first process into it.
fn take_kernel(root: &Path, machine: &Path) -> io::Result<()> {
    for file in fs::read_dir(root.join("boot"))? {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(kept) = ["vmlinuz", "initrd.img"].into_iter().find(|kept| name.starts_with(kept)) {
            fs::copy(&path, machine.join(kept))?;
        }
    }
    fs::create_dir_all(root.join("job"))?;
    fs::write(root.join("init-job"), STUB)?;
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(root.join("init-job"), fs::Permissions::from_mode(0o755))
}

/// Makes an ext4 image of a directory.
fn image_of(directory: &Path, image: &Path, size: &str) -> Result<()> {
    let _ = fs::remove_file(image);
    let mut make = Command::new("mke2fs");
    make.args(["-q", "-t", "ext4", "-d"]).arg(directory).arg(image).arg(size);
    quietly(&mut make)
}

fn quietly(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = stderr.lines().last().unwrap_or("no message").to_string();
    Err(format!("{}: {last}", command.get_program().display()))
}

/// Starts the machine, prints the job's output, and returns its status.
fn boot(machine: &Path, job: &Job, variables: &str) -> io::Result<Outcome> {
    let files = machine.join(job.directory);
    let (disk, image) = (files.join("disk"), files.join("disk.img"));
    let (console, output) = (files.join("console.log"), files.join("output.log"));
    let _ = fs::remove_dir_all(&disk);
    fs::create_dir_all(&disk)?;
    for (_, program) in &PROGRAMS[..job.programs()] {
        fs::copy(target_dir().join("release").join(program), disk.join(program))?;
    }
    // The package of the Python tests, if they have run.
    let module = target_dir().join("python");
    if job.has_servers && module.exists() {
        quietly(Command::new("cp").arg("-r").arg(module).arg(disk.join("module")))
            .map_err(io::Error::other)?;
    }
    let exports = if variables.is_empty() { String::new() } else { format!("export {variables}\n") };
    fs::write(disk.join("init.sh"), INIT)?;
    fs::write(disk.join("job.sh"), format!("{exports}{}", job.script))?;
    if let Err(why) = image_of(&disk, &image, "128M") {
        return Ok(Outcome::Skipped(why));
    }
    let mut tries = 3;
    let mut emulator = emulator(machine, job, &image, &console, &output);
    emulator.stdin(Stdio::null()).stdout(Stdio::null());
    let output = loop {
        let _ = fs::remove_file(&output);
        let _ = emulator.status()?;
        let written = fs::read(&output).unwrap_or_default();
        // An emulated processor panics now and then while it boots, before the job has said anything.
        if !written.is_empty() || tries == 1 || !has_panicked(&console) {
            break written;
        }
        tries -= 1;
        println!("the kernel panicked at boot: once more");
    };
    let output = String::from_utf8_lossy(&output).replace('\r', "");
    let mut status = None;
    for line in output.lines() {
        match line.strip_prefix("@@status ") {
            Some(number) => status = number.trim().parse().ok(),
            None if status.is_none() => println!("{line}"),
            None => {}
        }
    }
    Ok(match status {
        Some(UNAVAILABLE) => Outcome::Skipped("the machine cannot start the server".to_string()),
        Some(status) => Outcome::Ended(status),
        None => Outcome::Skipped(format!("the machine did not finish: {}", console.display())),
    })
}

fn has_panicked(console: &Path) -> bool {
    fs::read(console).is_ok_and(|text| text.windows(12).any(|words| words == b"Kernel panic"))
}

/// QEMU. It emulates the processor unless that can run guests itself: /dev/kvm may be there although none boots under it.
fn emulator(machine: &Path, job: &Job, disk: &Path, console: &Path, output: &Path) -> Command {
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let is_capable = processor.split_whitespace().any(|flag| flag == "vmx" || flag == "svm");
    let accelerator = if is_capable && Path::new("/dev/kvm").exists() { "kvm" } else { "tcg,thread=multi" };
    let mut command = Command::new("timeout");
    command.args([job.most_seconds, "qemu-system-x86_64", "-accel", accelerator, "-cpu", "max", "-smp", "2"]);
    command.args(["-m", "1500", "-display", "none", "-no-reboot", "-monitor", "none", "-nodefaults"]);
    command.arg("-kernel").arg(machine.join("vmlinuz")).arg("-initrd").arg(machine.join("initrd.img"));
    command.args(["-append", "console=ttyS0 root=/dev/vda rw init=/init-job panic=-1 mitigations=off"]);
    // Whatever a job writes on the root is gone when it ends.
    let drive = |path: &Path, more: &str| format!("file={},if=virtio,format=raw{more}", path.display());
    command.args(["-drive", &drive(&machine.join("root.img"), ",snapshot=on"), "-drive", &drive(disk, "")]);
    if job.has_servers {
        command.args(["-drive", &drive(&target_dir().join("vm/servers/root.img"), ",snapshot=on")]);
    }
    command.args(["-serial", &format!("file:{}", console.display())]);
    command.args(["-serial", &format!("file:{}", output.display())]);
    command
}
