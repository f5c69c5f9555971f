//! All questions of a load of entries through an io_uring at once: `statx`, and whether there are attributes.
//!
//! A ring has no `listxattrat`, only `getxattr` by path. So it is asked for each attribute that could matter by name,
//! and what it says counts only if it says that there is none, of every one of them: then the list would not have
//! named them either (`suits` says where that holds). Any other answer, and whatever a ring has no operation for
//! (`readlinkat`), leads to the plain questions of `ask::Asker`, so that marks and faults are the same by
//! construction. What matters: the access ACL, of a directory the default ACL, capabilities where their colour is on, and
//! SELinux's label whether it runs or not, for GNU `ls` marks such a file in either case. Where SMACK runs each file has
//! a label, and the list is asked.
//!
//! That makes the fewest system calls, and not the fastest listing: each request is handed to a thread of the kernel's,
//! and takes 2 to 3 µs of processor time there and here. A file takes three.
//!
//! A `getxattr` of a ring takes no descriptor. The path it goes by is the directory's, as /proc tells it once; with each
//! load it is looked at whether that leads to the directory that is open. Through /proc/self/fd a request takes twice as
//! long (10,000 files, 3 requests each: 15.7 instead of 9.6 µs of processor time per file, 2 cores, Linux 6.18). A bare
//! name would be no faster, and needs the directory as the working directory, which is the whole process's. Without
//! /proc the plain questions are asked.
//!
//! Where each answer is a round trip, the kernel has a thread for each request in flight, as many as `Means` allow at
//! once; of its own accord it has eight on two cores. On FUSE, 1.2 ms a request, `-U --color=always`, times of `auto`
//! (median of 5 to 7 in turns on a machine busy with other work; processor time in brackets):
//!
//! | files, cores | ring, 256 at once | 256 threads | ring, the kernel's own number |
//! |---|---|---|---|
//! | 2,000, one | 0.75 to 0.83 (0.73 to 0.94) | 0.82 to 0.86 | 3.2 |
//! | 2,000, two | 0.62 to 0.96 (0.74 to 0.99) | 0.61 to 0.99 | 5.3 |
//! | 10,000, one | 0.81 to 0.92 (1.04 to 1.09) | 0.91 to 0.95 | 3.8 |
//! | 10,000, two | 0.48 to 1.25 (1.08 to 1.20) | 0.75 to 1.29 | 9.8 |
//!
//! What is gained is the search for the number in flight, which both do without, and which spares a server that is
//! saturated. Attributes are asked in order: `-l` of 2,000 takes 19 to 36 times as long. So `auto` stays with threads.

use super::ask::Asker;
use super::policy::Policy;
use super::{Harvest, Question, Todo, choose, dir_is_cwd, xattrs};
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
use dents_sys::stat::{Flags, Mask, Statx};
use dents_sys::statfs::{self, FsType};
use dents_sys::uring::{Answer, Request, Ring};
use dents_sys::{BorrowedFd, CWD, Errno, Result};

/// Requests that are not about entries: those that go with each load, a few files to read and descriptors to close.
const OTHERS: usize = 8;

/// The numbers of the questions that go with each load: about the directory, about what its path leads to, and whether
/// SMACK runs.
const HOME: u32 = u32::MAX;
const PATH: u32 = u32::MAX - 1;
const SMACK: u32 = u32::MAX - 2;

/// A load fills the ring so many times: answers to the first requests are looked at while the kernel works on the next.
/// What the load needs is held in memory: some 3 MiB.
const FULL: usize = 8;

/// So many entries with attributes prove nothing about the others.
const FEW: usize = 64;

/// The kernel's limit for a path.
const PATH_MAX: usize = 4096;

/// # Errors
/// What setting up the ring gives, or what stops it midway (`ECANCELED` where the kernel may start no worker,
/// `EOPNOTSUPP` where it knows no `statx`). Slots may have been filled by then; the caller asks for all of them
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
    // What regular files are asked sets the measure.
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

/// Whether attributes are asked through the ring.
struct Marks {
    by_ring: bool,
    /// Whether the file system was seen to suit. Until then it is taken for the one of the directory before.
    suited: bool,
    before: Option<Device>,
    /// The directory's own device, once its answer has come.
    home: Option<Device>,
}

impl Marks {
    /// Beside it the file system, if it was asked for: for attributes by one `fstatfs`, unless a directory before was on a
    /// file system that suits; else if there are entries enough to ask many at once.
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

    /// Whether the answers of a load may be believed: the file system suits, being the one of the directory before or else
    /// for one more `fstatfs`; the path led to the directory; SMACK does not run; not most were in vain.
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

/// File systems whose lists name what `getxattr` finds and nothing else, and that have no NFSv4 ACLs. On others the
/// list is asked: btrfs lists ACLs that `noacl` hides, which `EOPNOTSUPP` tells and so does no harm; overlays filter;
/// networks have their own ideas.
fn suits(fs: FsType) -> bool {
    [FsType::EXT, FsType::XFS, FsType::BTRFS, FsType::TMPFS, FsType::F2FS].contains(&fs)
}

/// What came back about one entry beside its slot.
#[derive(Clone, Copy, Default)]
struct Told {
    /// Once `statx` has answered.
    device: Device,
    stat: Stat,
    /// Whether its attributes were asked for.
    marks: bool,
    /// Whether one was there, or something else came between.
    doubt: bool,
}

/// What became of an entry's `statx`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stat {
    #[default]
    Awaited,
    Answered,
    Failed,
    /// It was refused as the kernel refuses what it does not know.
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

/// What becomes known of the entries of a load beside their slots. One serves for all loads.
#[derive(Default)]
struct Load {
    paths: Paths,
    told: Vec<Told>,
    about: About,
}

/// What was answered beside the entries, where their attributes were asked.
#[derive(Default)]
struct About {
    /// The directory, and what its path leads to.
    home: Option<(Device, u64)>,
    path: Option<(Device, u64)>,
    smack: Option<bool>,
    /// Whether most entries had an attribute, or none could be had: where each file has a label, to ask twice is dear.
    vain: bool,
}

impl About {
    /// What is asked to know it.
    fn requests<'r>(dir: BorrowedFd<'r>, path: &'r CStr) -> [(u32, Request<'r>); 3] {
        [(HOME, dir, c"."), (PATH, CWD, path), (SMACK, CWD, xattrs::SMACK_RUNS)].map(|(number, dir, path)| {
            let (flags, mask) = (Flags::NO_AUTOMOUNT, Mask::TYPE | Mask::INO);
            (number, Request::Statx { dir, path, flags, mask })
        })
    }

    /// Whether it was one of those questions.
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

    /// Asks everything and keeps the answers.
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
        // Once most were in vain, the rest of the load is not asked.
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

    /// Asks plainly what the answers leave open, in the order of the entries.
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

/// What the line of progress shows of a load: how many have answered, and the first that has not.
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

/// What the ring is asked about one entry.
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

/// Whether attributes of entries of this `d_type` can be asked through the ring: what must be stat'ed anyhow, so that its
/// device is known, and is no link, which the ring would follow. A list of all of them a ring does not give.
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
    /// The directory's, with a slash behind it.
    prefix: CString,
    /// Those of so many entries each as a chunk of slots has.
    chunks: Vec<Vec<u8>>,
    /// Where each path begins in its chunk; the next begins behind its NUL. None where it is as long as nothing.
    starts: Vec<u32>,
}

impl Paths {
    /// One `readlink`, if they are wanted. A directory may have none: it was removed, or lies outside of the root.
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

    /// The next entry's, if it needs one.
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
