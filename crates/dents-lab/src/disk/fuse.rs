//! A FUSE file system with one file: the image, read at the speed of a rotating disk.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEntry, ReplyOpen, Request,
};

use super::model::{Counts, Head};

/// The name of the file.
pub(super) const NAME: &str = "disk";

const ROOT: INodeNo = INodeNo(1);
const IMAGE: INodeNo = INodeNo(2);
/// The most commands that a disk queues.
const QUEUE: u16 = 32;
const FOREVER: Duration = Duration::from_secs(1 << 30);

struct Waiting {
    offset: u64,
    length: u64,
    arrived: Instant,
    reply: ReplyData,
}

struct State {
    head: Head,
    waiting: Vec<Waiting>,
    down: bool,
}

/// The disk: serves one read at a time. Of those that wait it takes the one that the head reaches first, as a disk with a queue of commands
/// does (NCQ).
pub(super) struct Disk {
    image: File,
    size: u64,
    /// How many times as fast it is as a real one.
    speed: f64,
    state: Mutex<State>,
    wake: Condvar,
}

impl Disk {
    pub(super) fn new(image: File, speed: f64) -> io::Result<Arc<Disk>> {
        let size = image.metadata()?.len();
        let state = State { head: Head::new(size), waiting: Vec::new(), down: false };
        let disk = Arc::new(Disk { image, size, speed, state: Mutex::new(state), wake: Condvar::new() });
        let runner = disk.clone();
        std::thread::Builder::new().name("disk".into()).spawn(move || runner.run())?;
        Ok(disk)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(super) fn counts(&self) -> Counts {
        self.state().head.counts()
    }

    /// Fails all reads from now on.
    pub(super) fn go_down(&self) {
        self.state().down = true;
        self.wake.notify_one();
    }

    /// The next read and the time that it takes; `None` when the disk is down.
    fn next(&self) -> Option<(Waiting, Duration)> {
        let mut state = self.state();
        loop {
            if state.down {
                state.waiting.drain(..).for_each(|read| read.reply.error(Errno::EIO));
                return None;
            }
            let reach = |read: &Waiting| state.head.reach(read.offset).0;
            let nearest = (0..state.waiting.len()).min_by_key(|index| reach(&state.waiting[*index]));
            if let Some(index) = nearest {
                let read = state.waiting.remove(index);
                let time = state.head.read(read.offset, read.length);
                return Some((read, time));
            }
            state = self.wake.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    fn run(&self) {
        let mut free = Instant::now();
        let mut buffer = Vec::new();
        while let Some((read, time)) = self.next() {
            // Computed, not measured: a late wake-up delays one answer, but the disk is not slower.
            free = free.max(read.arrived) + time.div_f64(self.speed);
            buffer.resize(read.length as usize, 0);
            let result = self.image.read_exact_at(&mut buffer, read.offset);
            std::thread::sleep(free.saturating_duration_since(Instant::now()));
            match result {
                Ok(()) => read.reply.data(&buffer),
                Err(_) => read.reply.error(Errno::EIO),
            }
        }
    }

    fn accept(&self, offset: u64, length: u64, reply: ReplyData) {
        let mut state = self.state();
        if state.down {
            return reply.error(Errno::EIO);
        }
        state.waiting.push(Waiting { offset, length, arrived: Instant::now(), reply });
        self.wake.notify_one();
    }

    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let (kind, perm, size) = match inode {
            IMAGE => (FileType::RegularFile, 0o400, self.size),
            _ => (FileType::Directory, 0o700, 0),
        };
        let time = SystemTime::UNIX_EPOCH;
        FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

/// The functions that `fuser` calls.
pub(super) struct Fuse(pub(super) Arc<Disk>);

impl Filesystem for Fuse {
    /// Several reads at once, or the loop device would wait for each before it sends the next.
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let refused = |flag| io::Error::other(format!("the kernel lacks {flag:?}"));
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(refused)?;
        config
            .set_max_background(QUEUE)
            .map(drop)
            .map_err(|most| io::Error::other(format!("at most {most} reads")))
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match parent == ROOT && name == NAME {
            true => reply.entry(&FOREVER, &self.0.attributes(IMAGE), Generation(0)),
            false => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOREVER, &self.0.attributes(inode));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let length = self.0.size.saturating_sub(offset).min(u64::from(size));
        self.0.accept(offset, length, reply);
    }
}
