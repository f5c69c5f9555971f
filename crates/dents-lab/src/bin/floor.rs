//! The floor under `ls -al`: reads the names of a directory, then asks for the metadata and the ACL mark of
//! each on all cores, and prints how many there were. Nothing is sorted, formatted or kept.
//!
//! `floor DIR [THREADS]`. What no lister can beat by more than its threads' balance: names come in 1 MiB
//! buffers on one thread; then each thread takes chunks of names from a shared counter, and makes one
//! `statx` of what a long listing shows and one `llistxattr` an entry. Each thread has a directory
//! descriptor of its own, so that none of them shares a reference count.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags, RawDir, StatxFlags, llistxattr, open, statx};
use rustix::io::Result;

/// Names a thread takes at a time: few enough to end together, enough that the counter is cold.
const CHUNK: usize = 256;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let dir = args.next().unwrap_or_else(|| ".".into());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.next().and_then(|arg| arg.to_str()?.parse().ok()).unwrap_or(cores).max(1);
    match std::env::set_current_dir(&dir).map_err(Into::into).and_then(|()| Ok(run(threads)?)) {
        Ok(count) => {
            println!("{count}");
            ExitCode::SUCCESS
        }
        Err::<usize, Box<dyn std::error::Error>>(error) => {
            eprintln!("floor: {}: {error}", dir.display());
            ExitCode::FAILURE
        }
    }
}

fn run(threads: usize) -> Result<usize> {
    let (names, ends) = read_names()?;
    let (names, ends, next) = (&names[..], &ends[..], &AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(|| ask(names, ends, next))).collect();
        let mut total = ask(names, ends, next)?;
        for worker in workers {
            total += worker.join().unwrap_or(Ok(0))?;
        }
        Ok(total)
    })
}

/// All names, each with its NUL, and where each ends.
fn read_names() -> Result<(Vec<u8>, Vec<usize>)> {
    let dir = open(".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut buffer = vec![MaybeUninit::uninit(); 1 << 20];
    let mut entries = RawDir::new(dir, &mut buffer);
    let (mut names, mut ends) = (Vec::new(), Vec::new());
    while let Some(entry) = entries.next() {
        names.extend_from_slice(entry?.file_name().to_bytes_with_nul());
        ends.push(names.len());
    }
    Ok((names, ends))
}

fn ask(names: &[u8], ends: &[usize], next: &AtomicUsize) -> Result<usize> {
    let dir = open(".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut answered = 0;
    loop {
        let first = next.fetch_add(CHUNK, Ordering::Relaxed);
        if first >= ends.len() {
            return Ok(answered);
        }
        let mut start = if first == 0 { 0 } else { ends[first - 1] };
        for &end in &ends[first..ends.len().min(first + CHUNK)] {
            if let Ok(name) = CStr::from_bytes_with_nul(&names[start..end]) {
                let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
                let stat = statx(&dir, name, flags, long_mask());
                // Relative to the working directory, which is the same: rustix has no listxattrat.
                let marks = llistxattr(name, &mut [0u8; 256][..]);
                answered += usize::from(stat.is_ok() && marks.is_ok());
            }
            start = end;
        }
    }
}

/// What the columns of `ls -l` need.
fn long_mask() -> StatxFlags {
    StatxFlags::TYPE
        | StatxFlags::MODE
        | StatxFlags::NLINK
        | StatxFlags::UID
        | StatxFlags::GID
        | StatxFlags::SIZE
        | StatxFlags::BLOCKS
        | StatxFlags::MTIME
}
