//! One directory.

use crate::entry::Block;
use crate::threads::Threads;
use crate::walk::core_needs;
use crate::{Entry, Error};
use dents_core::batch::Batch as Core;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::read::{Filter, Hidden, Reader};
use dents_core::stat::{self, Asking, Mode, Resources, Threads as Count};
use dents_sys::{CWD, Errno};
use std::ffi::{CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Opens a directory and lists its entries: one `openat`.
///
/// Entries have names and types; other facts are requested only if [`ReadDir::needs`] declares them. `.` and `..` are
/// not yielded. The order is that of the directory.
///
/// ```
/// # fn main() -> Result<(), dents::Error> {
/// let directories = dents::read_dir("src")?.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_type().is_dir()));
/// println!("{} directories", directories.count());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The error of `openat`; `InvalidInput` for a path with a NUL.
pub fn read_dir(path: impl AsRef<Path>) -> Result<ReadDir, Error> {
    let path = path.as_ref().as_os_str().as_bytes().to_vec();
    let c_path = CString::new(path.clone()).map_err(|_| Error::new(&path, 0, Errno::INVAL))?;
    let reader = Reader::open(CWD, &c_path, true).map_err(|errno| Error::new(&path, 0, errno))?;
    Ok(ReadDir {
        reader: Mutex::new(reader),
        path,
        needs: Needs::TYPE,
        threads: None,
        now: Arc::default(),
        next: 0,
        ended: false,
    })
}

/// The entries of a directory.
#[must_use = "nothing is read before the first call of `next`"]
pub struct ReadDir {
    /// A mutex that is never locked: it makes the type `Sync`, which a reader is not.
    reader: Mutex<Reader>,
    path: Vec<u8>,
    needs: Needs,
    threads: Option<usize>,
    now: Arc<Block>,
    next: usize,
    ended: bool,
}

impl ReadDir {
    /// Declares the facts that each entry must have, beside its name and type. They cost one `statx` for each entry,
    /// made by several threads while the directory is read. The whole directory is then held in memory.
    pub fn needs(mut self, needs: Needs) -> ReadDir {
        self.needs = needs | Needs::TYPE;
        self
    }

    /// The number of threads.
    pub fn threads(mut self, threads: usize) -> ReadDir {
        self.threads = Some(threads.max(1));
        self
    }

    /// Reads the next block. Returns false at the end.
    fn refill(&mut self) -> Result<bool, Error> {
        let filter = Filter { hidden: Hidden::AlmostAll, ..Filter::default() };
        let needs = core_needs(self.needs);
        let asks = self.needs != Needs::TYPE;
        let (mut batch, mut ended) = (Core::new(needs), Ok(()));
        let reader = self.reader.get_mut().unwrap_or_else(PoisonError::into_inner);
        let count = Count::new(self.threads);
        let resources = Resources {
            mode: Mode::Auto,
            threads: &count,
            workers: &Threads,
            mounts: None,
            rings: None,
            lazy: false,
            counter: None,
        };
        if asks {
            (batch, ended) = read(reader, &needs, &filter, &resources);
            self.ended = true;
        } else {
            match reader.read(&filter, &mut batch) {
                Ok(more) => self.ended = !more,
                Err(errno) => (self.ended, ended) = (true, Err(errno)),
            }
            stat::fill(
                &mut batch,
                reader.dir(),
                &Asking { needs: &needs, follow: false, resources: &resources },
            );
        }
        let path = self.path.clone();
        (self.now, self.next) = (Arc::new(Block { path, depth: 1, batch, ..Block::default() }), 0);
        ended.map(|()| !self.ended || asks).map_err(|errno| Error::new(&self.path, 0, errno))
    }
}

impl Iterator for ReadDir {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.next < self.now.batch.len() {
                self.next += 1;
                return Some(self.now.give(self.next - 1));
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.refill() {
                return Some(Err(error));
            }
        }
    }
}

/// All entries of a directory with the declared facts, and the error that ended the reading.
pub(crate) fn read(
    reader: &mut Reader,
    needs: &NeedsByKind,
    filter: &Filter,
    resources: &Resources<'_>,
) -> (Core, dents_sys::Result<()>) {
    let mut batch = Core::new(*needs);
    let asking = Asking { needs, follow: false, resources };
    let progress = stat::read(&mut batch, reader, filter, &asking);
    let (_, ended) = stat::fill_read(progress, &mut batch, reader, filter, &asking);
    (batch, ended)
}

/// Splits a directory into subdirectories and all other entries, with as few system calls as its file system allows,
/// like `aio_scandir` of libeio and IO::AIO. Returns the names of the subdirectories, then those of the others;
/// symbolic links are among the others.
///
/// Where `readdir` returns types, no entry costs a system call. Elsewhere the likely directories are stat'ed first,
/// in inode order, with four requests in flight. It stops when it has found as many directories as the link count of
/// the directory says.
///
/// ```
/// # fn main() -> Result<(), dents::Error> {
/// let (directories, others) = dents::scandir(".")?;
/// assert!(directories.iter().any(|name| name == "src") && others.iter().any(|name| name == "Cargo.toml"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The error of opening or reading the directory. An entry that vanishes before its type is known is left out.
pub fn scandir(path: impl AsRef<Path>) -> Result<(Vec<OsString>, Vec<OsString>), Error> {
    let path = path.as_ref().as_os_str().as_bytes();
    let failed = |errno| Error::new(path, 0, errno);
    let c_path = CString::new(path).map_err(|_| failed(Errno::INVAL))?;
    let options = dents_core::scandir::Options { workers: Some(&Threads), ..Default::default() };
    let scan = dents_core::scandir(&c_path, &options).map_err(failed)?;
    let name = |entry: dents_core::batch::Entry<'_>| OsString::from_vec(entry.name().to_vec());
    // An entry that vanished is in neither list.
    Ok((scan.directories().map(name).collect(), scan.others().map(name).collect()))
}
