//! Requests the metadata of many entries (a load) through an io_uring at once: `statx`, and whether there are
//! extended attributes.
//!
//! A ring has no `listxattrat`, only `getxattr` by path. So it requests each attribute that matters by name. The
//! answers are used only if none of these attributes exists: then the list would not have named them either (`suits`
//! says on which file systems). After any other answer, and for requests that a ring does not have (`readlinkat`),
//! `ask::Asker` makes plain system calls, so that marks and faults are always the same. These attributes matter: the
//! access ACL; for a directory the default ACL; capabilities, if their colour is on; and SELinux's label, even where
//! SELinux does not run, because GNU `ls` marks such a file in both cases. Where SMACK runs, each file has a label,
//! so the list is requested.
//!
//! This makes the fewest system calls, but not the fastest listing: the kernel hands each request to a thread of its
//! own, which takes 2 to 3 µs of processor time in all. A file takes three requests.
//!
//! A `getxattr` of a ring takes no descriptor. It uses the path of the directory, which /proc returns once; each load
//! checks that the path still leads to the open directory. Through /proc/self/fd a request takes twice as long
//! (10,000 files, 3 requests each: 15.7 instead of 9.6 µs of processor time per file, 2 cores, Linux 6.18). A bare
//! name would be no faster, and needs the directory as the working directory of the whole process. Without /proc
//! plain system calls are made.
//!
//! The number of requests decides the time: a third request per file takes as long as the first (10,000 files, requests
//! alone: 16 ms for one each, 32 for two, 45 for three). Rings of 256 to 8,192 entries, `IOSQE_IO_HARDLINK` chains of
//! 3, 30 and 90, `COOP_TASKRUN`, one worker or two were equal or slower. Paths from the working directory instead of the
//! root saved 2 to 6 % of the time of a listing, less than the noise.
//!
//! Where each answer is a round trip, the kernel uses a thread for each request in flight, as many as `Resources` allow
//! at once; its default is eight on two cores. The table is for FUSE, 1.2 ms a request, `-U --color=always`, in times
//! of `auto` (medians in turns; processor time in brackets; 10,000 files and the last column on a machine busy with other work):
//!
//! | files, cores | ring, 256 at once | 256 threads | ring, the kernel's own number |
//! |---|---|---|---|
//! | 2,000, one | 0.83 (0.90) | 0.77 | 3.2 |
//! | 2,000, two | 0.84 (1.10) | 0.72 | 5.3 |
//! | 10,000, one | 0.81 to 0.92 (1.04 to 1.09) | 0.91 to 0.95 | 3.8 |
//! | 10,000, two | 0.48 to 1.25 (1.08 to 1.20) | 0.75 to 1.29 | 9.8 |
//!
//! Both fixed numbers save the search for the number in flight, but without it a saturated server gets more requests
//! than it can answer. Attributes are requested one after the other: `-l` of 2,000 files takes 51 times as
//! long. So `auto` uses threads.

use super::ask::Asker;
use super::question::{Harvest, Question, Todo, dir_is_cwd};
use super::xattrs;
use crate::batch::{Bits, Dent, Meta, Metas, Names};
use crate::mounts;
use crate::needs::{Kind, Needs};
use crate::ring::{Device, Rings};
use crate::watchdog::Watch;
use alloc::ffi::CString;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ffi::CStr;
use dents_engine::limit::choose;
use dents_engine::limit::policy::Policy;
use dents_sys::stat::{Flags, Mask, Statx};
use dents_sys::statfs::{self, FsType};
use dents_sys::uring::{Answer, Request, Ring};
use dents_sys::{BorrowedFd, CWD, Errno, Result};

/// Requests that are not about entries: those that go with each load, a few files to read and descriptors to close.
const OTHERS: usize = 8;

/// The numbers of the requests that each load makes beside its entries: for the directory, for the directory that its
/// path leads to, and whether SMACK runs.
const HOME: u32 = u32::MAX;
const PATH: u32 = u32::MAX - 1;
const SMACK: u32 = u32::MAX - 2;

/// A load fills the ring this many times: this thread handles the answers to the first requests while the kernel
/// works on the next. A load takes some 3 MiB of memory.
const FULL: usize = 8;

/// Up to this number, entries with attributes say nothing about the other entries.
const FEW: usize = 64;

/// The kernel's limit for a path.
const PATH_MAX: usize = 4096;

/// Fills the slots by requests through a ring.
///
/// # Errors
/// The error of setting up the ring, or of a ring that fails later (`ECANCELED` if the kernel may start no worker,
/// `EOPNOTSUPP` if it does not have `statx`). Some slots may be filled by then; the caller requests all of them
/// again.
pub(crate) fn fill(
    todo: &Todo<'_>,
    metas: &mut Metas,
    harvest: &mut Harvest,
    (rings, in_flight): (&Rings, usize),
) -> Result<()> {
    let question = todo.question;
    let (mut marks, fs) = Marks::new(&question, rings, todo.dents.len());
    let paths = Paths::new(question.dir, &mut marks);
    let mut asker = Asker::new(question, harvest.texts.len());
    // The requests for a regular file set the size of a load.
    let names = xattrs::names(Kind::Reg, question.needs.get(Kind::Reg)).count();
    let each = if marks.by_ring { 1 + names } else { 1 };
    rings.with(todo.dents.len() * each + OTHERS, |ring| {
        let full = ((ring.entries() as usize).saturating_sub(OTHERS) / each).max(1);
        let policy = Policy::of(fs);
        if policy.is_far() {
            // The kernel's own number is small. An old kernel has no other.
            let _ = ring.set_max_workers(in_flight.min(policy.most) as u32);
        }
        let mut load = Load { paths, ..Load::default() };
        for dents in todo.dents.chunks((FULL * full).next_multiple_of(Metas::CHUNK)) {
            let entries = Entries { names: todo.names, dents };
            let mut slots: Vec<_> =
                dents.chunks(Metas::CHUNK).map(|chunk| vec![Meta::default(); chunk.len()]).collect();
            load.begin(&question, entries, &marks);
            load.ask(&question, entries, &mut slots, ring, &mut asker)?;
            marks.check(&load.about, question.dir);
            load.settle(&question, entries, slots.iter_mut().flatten(), &mut asker, &marks)?;
            slots.into_iter().for_each(|chunk| metas.append(chunk));
        }
        Ok(())
    })?;
    if let Some(home) = marks.home {
        rings.set_suited(marks.suited.then_some(home));
    }
    asker.merge_into(harvest);
    Ok(())
}

/// Whether attributes are requested through the ring.
struct Marks {
    by_ring: bool,
    /// Whether the file system is known to suit. Until then it is assumed to be that of the directory before.
    suited: bool,
    before: Option<Device>,
    /// The device of the directory, when it is known.
    home: Option<Device>,
}

impl Marks {
    /// Returns also the file system, if it was requested by one `fstatfs`: if attributes are needed and no earlier
    /// directory was on a file system that suits, or if there are enough entries for many requests in flight.
    fn new(question: &Question<'_>, rings: &Rings, entries: usize) -> (Marks, Option<FsType>) {
        let wanted = question.needs.any().intersects(xattrs::LISTED) && !dir_is_cwd(question.dir);
        let before = rings.suited().filter(|_| wanted);
        let fs = match wanted {
            true if before.is_some() => None,
            true => statfs::fstatfs(question.dir).ok(),
            false if entries < choose::PROBE_FROM || dir_is_cwd(question.dir) => None,
            false => statfs::of_mount(question.dir).ok(),
        };
        let suited = wanted && fs.is_some_and(suits);
        (Marks { by_ring: suited || before.is_some(), suited, before, home: None }, fs)
    }

    /// Checks whether the answers of a load may be used: the file system suits (it is that of the directory before,
    /// or one more `fstatfs` shows it), the path led to the directory, SMACK does not run, and most of the requests
    /// were not in vain.
    fn check(&mut self, about: &About, dir: BorrowedFd<'_>) {
        let Some((device, _)) = about.home else { return };
        if self.home.is_none() {
            self.home = Some(device);
            self.suited = self.suited || self.home == self.before || statfs::fstatfs(dir).is_ok_and(suits);
        }
        let leads_there = about.path == about.home;
        self.by_ring &= self.suited && leads_there && about.smack == Some(false) && !about.vain;
    }
}

/// File systems whose lists name exactly the attributes that `getxattr` finds, and that have no NFSv4 ACLs. On others
/// the list is requested: overlays filter it, and network file systems have rules of their own. (btrfs lists ACLs
/// that `noacl` hides, but then `getxattr` returns `EOPNOTSUPP`, which is not taken for "no attribute".)
fn suits(fs: FsType) -> bool {
    [FsType::EXT, FsType::XFS, FsType::BTRFS, FsType::TMPFS, FsType::F2FS].contains(&fs)
}

/// The answers about one entry that its slot does not hold.
#[derive(Clone, Copy, Default)]
struct Told {
    /// Once `statx` has answered.
    device: Device,
    stat: Stat,
    /// Whether its attributes were requested.
    marks: bool,
    /// Whether an attribute exists, or a request failed in another way.
    doubt: bool,
}

/// What became of an entry's `statx`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stat {
    #[default]
    Awaited,
    Answered,
    Failed,
    /// It was refused with the error of an operation that the kernel does not have.
    Unknown,
}

/// The entries of a load, by number.
#[derive(Clone, Copy)]
struct Entries<'t> {
    names: Names<'t>,
    dents: &'t [Dent],
}

impl<'t> Entries<'t> {
    fn len(self) -> usize {
        self.dents.len()
    }

    fn kind(self, number: usize) -> Kind {
        self.dents[number].kind()
    }

    fn name(self, number: usize) -> &'t CStr {
        self.dents[number].c_name(self.names)
    }
}

/// The answers of a load that slots do not hold. One value is reused for all loads.
#[derive(Default)]
struct Load {
    paths: Paths,
    told: Vec<Told>,
    about: About,
}

/// The answers to the other requests of a load, if attributes were requested.
#[derive(Default)]
struct About {
    /// The directory, and the directory that its path leads to.
    home: Option<(Device, u64)>,
    path: Option<(Device, u64)>,
    smack: Option<bool>,
    /// Whether most entries had an attribute, or attributes could not be read. Where each file has a label, to make
    /// both requests is expensive.
    vain: bool,
}

impl About {
    /// The requests for these answers.
    fn requests<'r>(dir: BorrowedFd<'r>, path: &'r CStr) -> [(u32, Request<'r>); 3] {
        [(HOME, dir, c"."), (PATH, CWD, path), (SMACK, CWD, xattrs::SMACK_RUNS)].map(|(number, dir, path)| {
            let (flags, mask) = (Flags::NO_AUTOMOUNT, Mask::TYPE | Mask::INO);
            (number, Request::Statx { dir, path, flags, mask })
        })
    }

    /// Stores an answer. Returns whether its number was that of one of these requests.
    fn answered(&mut self, number: u32, answer: Result<&Statx>) -> bool {
        let identity = answer.ok().map(|statx| (statx.dev(), statx.ino()));
        match number {
            HOME => self.home = identity,
            PATH => self.path = identity,
            SMACK => self.smack = Some(identity.is_some()),
            _ => return false,
        }
        true
    }
}

impl Load {
    fn begin(&mut self, question: &Question<'_>, entries: Entries<'_>, marks: &Marks) {
        self.about = About::default();
        self.paths.clear();
        self.told.clear();
        self.told.reserve_exact(entries.len());
        for number in 0..entries.len() {
            let marks = marks.by_ring && suits_ring(question, entries.kind(number));
            self.paths.add(marks.then(|| entries.name(number)));
            self.told.push(Told { marks, ..Told::default() });
        }
    }

    /// Makes all requests of a load and stores the answers.
    fn ask(
        &mut self,
        question: &Question<'_>,
        entries: Entries<'_>,
        slots: &mut [Vec<Meta>],
        ring: &mut Ring,
        asker: &mut Asker<'_>,
    ) -> Result<()> {
        let Load { paths, told, about } = self;
        let others = told.iter().any(|told| told.marks);
        let others = others.then(|| About::requests(question.dir, &paths.prefix));
        // If most were in vain, the remaining requests of the load are not made.
        let (vain, mut doubts) = (Cell::new(false), 0);
        let mut requests = others.into_iter().flatten().chain((0..entries.len()).flat_map(|number| {
            let path = paths.get(number).filter(|_| !vain.get());
            requests(question, entries, path, number)
        }));
        let mut awaited = Awaited::new(question, entries);
        ring.want_answers_soon(question.watch.is_some());
        let done = |number: u32, answer: Answer<'_>| match answer {
            Answer::Statx(answer) if about.answered(number, answer) => {}
            Answer::Statx(answer) => {
                let number = number as usize;
                told[number].stat = Stat::Unknown;
                if !matches!(answer, Err(Errno::INVAL)) {
                    let slot = &mut slots[number / Metas::CHUNK][number % Metas::CHUNK];
                    let device = asker.store(slot, answer);
                    told[number].device = device.unwrap_or_default();
                    told[number].stat = if device.is_some() { Stat::Answered } else { Stat::Failed };
                    awaited.answered(number, told);
                }
            }
            Answer::Getxattr(Err(Errno::NODATA)) => {}
            Answer::Getxattr(_) => {
                doubts += usize::from(!told[number as usize].doubt);
                told[number as usize].doubt = true;
                vain.set(vain.get() || (doubts > FEW && doubts * 2 > number as usize));
            }
        };
        ring.run(|| requests.next(), done)?;
        about.vain = vain.get();
        Ok(())
    }

    /// Makes plain system calls for facts that the answers do not give, in the order of the entries.
    fn settle<'m>(
        &mut self,
        question: &Question<'_>,
        entries: Entries<'_>,
        metas: impl Iterator<Item = &'m mut Meta>,
        asker: &mut Asker<'_>,
        marks: &Marks,
    ) -> Result<()> {
        for (number, (meta, told)) in metas.zip(&self.told).enumerate() {
            let (name, kind) = (entries.name(number), entries.kind(number));
            let unknown = told.stat == Stat::Unknown;
            if unknown || !Asker::wants_stat(question, kind) {
                asker.ask(kind, name, meta);
                if unknown && meta.bits.contains(Bits::STAT) {
                    return Err(Errno::OPNOTSUPP);
                }
            } else if told.stat == Stat::Answered {
                // The name may be another file's by now, or the file be on another device than its directory.
                let unchanged = Kind::from_mode(meta.mode) == kind;
                let home = self.about.home.map(|(device, _)| device);
                let believed = unchanged && marks.by_ring && home == Some(told.device);
                if told.marks && believed && !told.doubt {
                    asker.tally.xattrs += 1;
                } else {
                    asker.beyond(name, meta, Kind::from_mode(meta.mode), Some(told.device));
                }
            }
        }
        Ok(())
    }
}

/// What the progress line shows of a load: how many entries have answered, and the first that has not.
struct Awaited<'t> {
    watch: Option<&'static Watch>,
    entries: Entries<'t>,
    first: usize,
}

/// The seat of the thread that waits for a ring.
const SEAT: usize = 1;

impl<'t> Awaited<'t> {
    fn new(question: &Question<'_>, entries: Entries<'t>) -> Awaited<'t> {
        let awaited = Awaited { watch: question.watch, entries, first: 0 };
        awaited.show();
        awaited
    }

    fn show(&self) {
        if let Some(watch) = self.watch {
            match self.first < self.entries.len() {
                true => watch.begin(SEAT, self.entries.name(self.first).to_bytes()),
                false => watch.end(SEAT, 0),
            }
        }
    }

    fn answered(&mut self, number: usize, told: &[Told]) {
        let Some(watch) = self.watch else { return };
        watch.add_answered(1);
        if self.first == number {
            self.first += told[number..].iter().take_while(|told| told.stat != Stat::Awaited).count();
            self.show();
        }
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.watch.iter().for_each(|watch| watch.end(SEAT, 0));
    }
}

/// The requests of the ring about one entry.
fn requests<'r>(
    question: &Question<'r>,
    entries: Entries<'r>,
    path: Option<&'r CStr>,
    number: usize,
) -> impl Iterator<Item = (u32, Request<'r>)> + use<'r> {
    let kind = entries.kind(number);
    let (flags, mask) = Asker::stat_call(question, kind);
    let statx = Request::Statx { dir: question.dir, path: entries.name(number), flags, mask };
    let needs = question.needs.get(kind);
    let getxattr =
        move |path: &'r CStr| xattrs::names(kind, needs).map(move |name| Request::Getxattr { path, name });
    let attributes = path.into_iter().flat_map(getxattr);
    (!mask.is_empty())
        .then_some(statx)
        .into_iter()
        .chain(attributes)
        .map(move |request| (number as u32, request))
}

/// Whether attributes of entries of this `d_type` can be requested through the ring: if the entries are stat'ed
/// anyway, so that their device is known, and are no links, which the ring would follow. A ring cannot return a list
/// of all attributes.
fn suits_ring(question: &Question<'_>, kind: Kind) -> bool {
    let needs = question.needs.get(kind);
    needs.intersects(xattrs::LISTED)
        && !needs.contains(Needs::XATTR_LIST)
        && !matches!(kind, Kind::Link | Kind::Unknown)
        && Asker::wants_stat(question, kind)
}

/// Paths to the entries of a directory for a call that takes no descriptor.
#[derive(Default)]
struct Paths {
    /// The path of the directory, with a slash at its end.
    prefix: CString,
    /// The paths, in chunks of as many entries as a chunk of slots has.
    chunks: Vec<Vec<u8>>,
    /// Where each path begins in its chunk; the next path begins after its NUL. The path of an entry without requests
    /// is empty.
    starts: Vec<u32>,
}

impl Paths {
    /// Costs one `readlink`, if attributes are requested. A directory may have no path: it was removed, or is outside
    /// the root.
    fn new(dir: BorrowedFd<'_>, marks: &mut Marks) -> Paths {
        if !marks.by_ring {
            return Paths::default();
        }
        let mut text = [0; PATH_MAX];
        let prefix =
            mounts::path_of(dir, &mut text).and_then(|path| CString::new([path, b"/"].concat()).ok());
        marks.by_ring = prefix.is_some();
        Paths { prefix: prefix.unwrap_or_default(), ..Paths::default() }
    }

    fn clear(&mut self) {
        self.chunks.clear();
        self.starts.clear();
    }

    /// Adds the path of the next entry, if it needs one.
    fn add(&mut self, name: Option<&CStr>) {
        if self.starts.len().is_multiple_of(Metas::CHUNK) {
            self.chunks.push(Vec::new());
        }
        let Some(chunk) = self.chunks.last_mut() else { return };
        self.starts.push(chunk.len() as u32);
        if let Some(name) = name {
            chunk.extend_from_slice(self.prefix.to_bytes());
            chunk.extend_from_slice(name.to_bytes_with_nul());
        }
    }

    fn get(&self, number: usize) -> Option<&CStr> {
        let chunk = &self.chunks[number / Metas::CHUNK];
        let next = Some(number + 1).filter(|next| !next.is_multiple_of(Metas::CHUNK));
        let end = next.and_then(|next| self.starts.get(next)).map_or(chunk.len(), |start| *start as usize);
        CStr::from_bytes_with_nul(&chunk[self.starts[number] as usize..end]).ok()
    }
}
