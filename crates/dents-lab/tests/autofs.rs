//! A real autofs, whose daemon is this test: what a listing touches there, and that `--git` ends although the daemon never answers.
//!
//! In an autofs every name may be a server's: a look-up of a name that is not there waits for the daemon, as does each use of an
//! entry that is there (`AT_NO_AUTOMOUNT` apart). The kernel tells the daemon by a packet for each. Where no autofs can be mounted, nothing is tested.

use std::ffi::CString;
use std::fs;
use std::io::{PipeReader, PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use dents_lab::fixture::TempDir;
use dents_lab::process::{End, Outcome, Run, Watch};
use dents_lab::suite::{checked, oracle};
use rustix::io::ioctl_fionbio;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// Longer than the budget of `--git`, and less than [`dents_lab::process::DEADLINE`].
const PATIENCE: Duration = Duration::from_secs(15);

/// An autofs with the entries `one` and `two`, which are not mounted.
struct Autofs {
    place: TempDir,
    /// The packets of the kernel.
    packets: PipeReader,
    _writer: PipeWriter,
}

impl Autofs {
    fn mount_or_skip() -> Option<Autofs> {
        let place = TempDir::new("autofs").expect("a directory");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        ioctl_fionbio(&reader, true).expect("a pipe");
        // Processes of this group are the daemon: the kernel lets them make entries, and never waits for their look-ups.
        let group = rustix::process::getpgrp().as_raw_nonzero();
        let options = format!("fd={},pgrp={group},minproto=5,maxproto=5,indirect", writer.as_raw_fd());
        let options = CString::new(options).expect("no NUL");
        if let Err(errno) = mount("test", place.path(), "autofs", MountFlags::empty(), &*options) {
            println!("no autofs can be mounted here ({errno}): nothing is tested");
            return None;
        }
        let autofs = Autofs { place, packets: reader, _writer: writer };
        for name in ["one", "two"] {
            fs::create_dir(autofs.path().join(name)).expect("the daemon may");
        }
        Some(autofs)
    }

    fn path(&self) -> &Path {
        self.place.path()
    }

    /// The names that waited for the daemon since the last call.
    fn names(&mut self) -> Vec<String> {
        /// `struct autofs_v5_packet` of linux/auto_fs.h: the length of the name, and the name.
        const LEN: usize = 40;
        let (mut names, mut packet) = (Vec::new(), [0; 512]);
        // The pipe keeps packets apart.
        while let Ok(len) = self.packets.read(&mut packet) {
            let (size, name) = packet[LEN..len].split_first_chunk().expect("a packet of version 5");
            let name = &name[..u32::from_ne_bytes(*size) as usize];
            names.push(String::from_utf8_lossy(name).into_owned());
        }
        names
    }
}

impl Drop for Autofs {
    fn drop(&mut self) {
        unmount(self.path(), UnmountFlags::DETACH).expect("it is mounted");
    }
}

/// Runs it as a program of another user of the machine would: not as a part of the daemon.
fn run(run: &Run) -> Outcome {
    let mut command = run.command();
    let child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("it can be executed");
    let watch = Watch::over(&child);
    let output = child.wait_with_output().expect("it ends");
    drop(watch);
    Outcome { end: output.status.into(), stdout: output.stdout, stderr: output.stderr }
}

/// The programs to compare, GNU `ls` first.
fn programs() -> [PathBuf; 2] {
    [oracle().path().to_path_buf(), checked().path().to_path_buf()]
}

#[test]
fn a_listing_mounts_nothing_that_gnu_ls_does_not_mount() {
    let Some(mut autofs) = Autofs::mount_or_skip() else { return };
    let inside = autofs.path().join("one");
    let place = TempDir::new("links").expect("a directory");
    std::os::unix::fs::symlink(&inside, place.path().join("to-one")).expect("a link");
    let at = autofs.path().to_path_buf();
    for options in [&["-l"][..], &["-la"], &["-F"], &["-lZ"], &["--color=always"], &["-i"], &["-lt"], &["-d"]]
    {
        // A listing of the autofs itself, and of a directory with a link into it.
        for (cwd, operand) in
            [(&*at, "."), (Path::new("/"), at.to_str().expect("UTF-8")), (place.path(), ".")]
        {
            let [gnu, ours] = programs().map(|program| {
                let outcome = run(&Run::new(&program).args(options).args([operand]).cwd(cwd));
                (outcome.end, outcome.stdout, autofs.names())
            });
            assert_eq!(ours.0, gnu.0, "{options:?} {operand}");
            assert_eq!(ours.1, gnu.1, "{options:?} {operand}");
            let more: Vec<&String> = ours.2.iter().filter(|name| !gnu.2.contains(name)).collect();
            assert!(more.is_empty(), "{options:?} {operand}: {:?}, GNU ls {:?}", ours.2, gnu.2);
        }
    }
}

/// The daemon never answers about `.git`, in the directory, in one above it, or where the directory itself is not there.
#[test]
fn git_ends_within_its_budget_where_the_daemon_never_answers() {
    let Some(mut autofs) = Autofs::mount_or_skip() else { return };
    let at = autofs.path().to_path_buf();
    let far = at.join("two");
    // What the daemon would have mounted: a file system of its own, below the autofs.
    mount("test", &far, "tmpfs", MountFlags::empty(), None).expect("root may");
    fs::create_dir(far.join("sub")).expect("a directory");
    fs::write(far.join("sub/file"), "").expect("a file");
    let unmounted = AtEnd(far.clone());
    for (cwd, operands, shown, asked) in [
        (Path::new("/"), vec![at.clone()], "one", true),
        (&*at, Vec::new(), "one", true),
        (&*at, vec![PathBuf::from("."), far.join("sub")], "file", true),
        (&*far, vec![PathBuf::from("sub")], "file", false),
        (&*far.join("sub"), Vec::new(), "file", false),
    ] {
        let begin = Instant::now();
        let listing = Run::new(checked().path()).args(["-l", "--git"]).args(&operands).cwd(cwd);
        let outcome = run(&listing);
        let took = begin.elapsed();
        let text = String::from_utf8_lossy(&outcome.stdout);
        assert_eq!(outcome.end, End::Exit(0), "{cwd:?} {operands:?} after {took:?}: {text}");
        assert!(text.contains(shown) && took < PATIENCE, "{cwd:?} {operands:?} after {took:?}: {text}");
        let names = autofs.names();
        assert!(names.iter().all(|name| name == ".git"), "{cwd:?} {operands:?}: {names:?}");
        // Above another file system git does not look.
        assert!(asked || names.is_empty(), "{cwd:?} {operands:?}: {names:?}");
        assert_eq!(waiting_processes(), Vec::<String>::new(), "{cwd:?} {operands:?}: nothing is left behind");
    }
    drop(unmounted);
}

/// Unmounts it at the end, also after a panic.
struct AtEnd(PathBuf);

impl Drop for AtEnd {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

/// The processes that wait for the daemon of an autofs, once they had time to end.
fn waiting_processes() -> Vec<String> {
    let begin = Instant::now();
    loop {
        let waiting = |entry: fs::DirEntry| {
            let wchan = fs::read_to_string(entry.path().join("wchan")).ok()?;
            (wchan.starts_with("autofs")).then(|| entry.file_name().to_string_lossy().into_owned())
        };
        let found: Vec<String> = fs::read_dir("/proc").expect("proc").flatten().filter_map(waiting).collect();
        if found.is_empty() || begin.elapsed() > Duration::from_secs(5) {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
