//! All questions of a load of entries through an io_uring at once: `statx`, and whether there are attributes.
//!
//! A ring has no `listxattrat`, only `getxattr` by path. So it is asked for each attribute that could matter by name,
//! and what it says counts only if it says that there is none, of every one of them: then the list would not have
//! named them either (`suits` says where that holds). Any other answer, and whatever a ring has no operation for
//! (`readlinkat`), leads to the plain questions of `ask::Asker`, so that marks and faults are the same by
//! construction.
//!
//! That makes the fewest system calls, and not the fastest listing: each request is handed to a thread of the kernel's
//! and costs 1.7 to 2.3 µs warm, and a file takes four; all that one thread asks plainly takes as long as one of them.
//!
//! The path goes through /proc/self/fd. After `fchdir` to the directory a mere name would do, and a listing of 10,000
//! files takes 67 instead of 94 ms of processor time (2 cores, Linux 6.18). But the current directory is the whole
//! process's, which a library leaves alone; and where operands or `-R` need it again, two calls a directory go into
//! moving there and back. Without /proc the plain questions are asked.

use super::ask::Asker;
use super::{Harvest, Question, Todo, dir_is_cwd, xattrs};
use crate::batch::{Bits, Dent, Meta, Metas, Names};
use crate::needs::{Kind, Needs};
use crate::ring::{Device, Rings};
use crate::watchdog::Watch;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::fmt::Write as _;
use dents_sys::stat::{Flags, Mask, Statx};
use dents_sys::statfs::{self, FsType};
use dents_sys::uring::{Answer, Request, Ring};
use dents_sys::{AsRawFd, BorrowedFd, Errno, Result};

/// Requests that are not about entries: the directory itself, a few files to read and descriptors to close.
const OTHERS: usize = 8;

/// The number of the question about the directory itself.
const HOME: u32 = u32::MAX;

/// # Errors
/// What setting up the ring gives, or what stops it midway (`ECANCELED` where the kernel may start no worker,
/// `EOPNOTSUPP` where it knows no `statx`). Slots may have been filled by then; whoever goes on asks for all of them
/// again.
pub(crate) fn fill(todo: &Todo<'_>, metas: &mut Metas, harvest: &mut Harvest, rings: &Rings) -> Result<()> {
    let question = todo.question;
    let mut marks = Marks::new(&question, rings);
    let mut asker = Asker::new(question, harvest.texts.len());
    // What regular files are asked sets the measure.
    let names = xattrs::names(Kind::Reg, question.needs.get(Kind::Reg)).count();
    let each = if marks.by_ring { 1 + names } else { 1 };
    rings.with(todo.dents.len() * each + OTHERS, |ring| {
        let at_once = ((ring.entries() as usize).saturating_sub(OTHERS) / each).max(1);
        let mut load = Load::new(question.dir);
        for dents in todo.dents.chunks(at_once) {
            let entries = Entries { names: todo.names, dents };
            let mut slots = vec![Meta::default(); dents.len()];
            load.begin(&question, entries, &marks);
            load.ask(&question, entries, &mut slots, ring, &mut asker)?;
            marks.check(load.home, question.dir);
            load.settle(&question, entries, &mut slots, &mut asker, &marks)?;
            marks.learn(&load.told);
            metas.append(slots);
        }
        Ok(())
    })?;
    if let Some(home) = marks.home {
        rings.set_suited(marks.suited.then_some(home));
    }
    asker.bring_home(harvest);
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
    /// One `fstatfs`, unless a directory before was on a file system that suits.
    fn new(question: &Question<'_>, rings: &Rings) -> Marks {
        let wanted = question.needs.any().intersects(xattrs::LISTED) && !dir_is_cwd(question.dir);
        let before = rings.suited().filter(|_| wanted);
        let suited = wanted && before.is_none() && suits(question.dir);
        Marks { by_ring: suited || before.is_some(), suited, before, home: None }
    }

    /// Once the directory's own device is known: whether answers may be believed, which is to say that it is the one of
    /// the directory before; or else one that suits as well, for one more `fstatfs`.
    fn check(&mut self, home: Option<Device>, dir: BorrowedFd<'_>) {
        if home.is_none() || self.home.is_some() {
            return;
        }
        self.home = home;
        if !self.suited {
            self.suited = home == self.before || suits(dir);
            self.by_ring = self.suited;
        }
    }

    /// Where most entries have a label, or no attribute can be had, asking twice is dear: the rest is asked plainly.
    fn learn(&mut self, told: &[Told]) {
        let asked = told.iter().filter(|told| told.marks).count();
        let in_vain = told.iter().filter(|told| told.marks && told.doubt).count();
        self.by_ring &= in_vain * 2 <= asked;
    }
}

/// File systems whose lists name what `getxattr` finds and nothing else, and that have no NFSv4 ACLs. On others the
/// list is asked: btrfs lists ACLs that `noacl` hides, which `EOPNOTSUPP` tells and so does no harm; overlays filter;
/// networks have their own ideas.
fn suits(dir: BorrowedFd<'_>) -> bool {
    const SUITED: [FsType; 5] = [FsType::EXT, FsType::XFS, FsType::BTRFS, FsType::TMPFS, FsType::F2FS];
    statfs::fstatfs(dir).is_ok_and(|fs| SUITED.contains(&fs))
}

/// What came back about one entry beside its slot.
#[derive(Clone, Copy, Default)]
struct Told {
    /// Once `statx` has answered.
    device: Option<Device>,
    /// Whether its attributes were asked for.
    marks: bool,
    /// Whether one was there, or something else came between.
    doubt: bool,
    /// Whether it has.
    answered: bool,
    /// Whether `statx` was refused as the kernel refuses what it does not know.
    unknown: bool,
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
struct Load {
    paths: Paths,
    told: Vec<Told>,
    /// The directory's own device; asked with the first load whose attributes are.
    home: Option<Device>,
}

impl Load {
    fn new(dir: BorrowedFd<'_>) -> Load {
        Load { paths: Paths::new(dir), told: Vec::new(), home: None }
    }

    fn begin(&mut self, question: &Question<'_>, entries: Entries<'_>, marks: &Marks) {
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
        metas: &mut [Meta],
        ring: &mut Ring,
        asker: &mut Asker<'_>,
    ) -> Result<()> {
        let Load { paths, told, home } = self;
        let about_home =
            Request::Statx { dir: question.dir, path: c".", flags: Flags::NO_AUTOMOUNT, mask: Mask::TYPE };
        let wants_home = home.is_none() && told.iter().any(|told| told.marks);
        let mut requests = wants_home
            .then_some((HOME, about_home))
            .into_iter()
            .chain((0..entries.len()).flat_map(|number| requests(question, entries, paths, number)));
        let mut awaited = Awaited::new(question, entries);
        ring.want_answers_soon(question.watch.is_some());
        let done = |number: u32, answer: Answer<'_>| match answer {
            Answer::Statx(answer) if number == HOME => *home = answer.ok().map(Statx::dev),
            Answer::Statx(Err(Errno::INVAL)) => told[number as usize].unknown = true,
            Answer::Statx(answer) => {
                told[number as usize].device = asker.store(&mut metas[number as usize], answer);
                awaited.answered(number as usize, told);
            }
            Answer::Getxattr(answer) => told[number as usize].doubt |= answer != Err(Errno::NODATA),
        };
        ring.run(|| requests.next(), done)
    }

    /// Asks plainly what the answers leave open, in the order of the entries.
    fn settle(
        &mut self,
        question: &Question<'_>,
        entries: Entries<'_>,
        metas: &mut [Meta],
        asker: &mut Asker<'_>,
        marks: &Marks,
    ) -> Result<()> {
        for (number, (meta, told)) in metas.iter_mut().zip(&mut self.told).enumerate() {
            let (name, kind) = (entries.name(number), entries.kind(number));
            if told.unknown || !Asker::wants_stat(question, kind) {
                asker.ask(kind, name, meta);
                if told.unknown && meta.bits.contains(Bits::STAT) {
                    return Err(Errno::OPNOTSUPP);
                }
            } else if let Some(device) = told.device {
                // The name may be another file's by now, or the file be on another device than its directory.
                let unchanged = Kind::from_mode(meta.mode) == kind;
                told.doubt |= !(unchanged && marks.suited && marks.home == Some(device));
                if told.marks && !told.doubt {
                    asker.tally.xattrs += 1;
                } else {
                    asker.beyond(name, meta, Kind::from_mode(meta.mode), Some(device));
                }
            }
        }
        Ok(())
    }
}

/// What whoever looks on sees of a load: how many have answered, and the first that has not.
struct Awaited<'t> {
    watch: Option<&'static Watch>,
    entries: Entries<'t>,
    first: usize,
}

/// The desk of whoever waits for a ring.
const DESK: usize = 1;

impl<'t> Awaited<'t> {
    fn new(question: &Question<'_>, entries: Entries<'t>) -> Awaited<'t> {
        let awaited = Awaited { watch: question.watch, entries, first: 0 };
        awaited.show();
        awaited
    }

    fn show(&self) {
        if let Some(watch) = self.watch {
            match self.first < self.entries.len() {
                true => watch.begin(DESK, self.entries.name(self.first).to_bytes()),
                false => watch.end(DESK, 0),
            }
        }
    }

    fn answered(&mut self, number: usize, told: &mut [Told]) {
        let Some(watch) = self.watch else { return };
        told[number].answered = true;
        watch.add_answered(1);
        if self.first == number {
            self.first += told[number..].iter().take_while(|told| told.answered).count();
            self.show();
        }
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.watch.iter().for_each(|watch| watch.end(DESK, 0));
    }
}

/// What the ring is asked about one entry.
fn requests<'r>(
    question: &Question<'r>,
    entries: Entries<'r>,
    paths: &'r Paths,
    number: usize,
) -> impl Iterator<Item = (u32, Request<'r>)> + use<'r> {
    let kind = entries.kind(number);
    let (flags, mask) = Asker::stat_call(question, kind);
    let statx = Request::Statx { dir: question.dir, path: entries.name(number), flags, mask };
    let needs = question.needs.get(kind);
    let getxattr =
        move |path: &'r CStr| xattrs::names(kind, needs).map(move |name| Request::Getxattr { path, name });
    let attributes = paths.get(number).into_iter().flat_map(getxattr);
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
struct Paths {
    prefix: String,
    bytes: Vec<u8>,
    /// Where each path begins; the next begins behind its NUL. None where it is as long as nothing.
    starts: Vec<u32>,
}

impl Paths {
    fn new(dir: BorrowedFd<'_>) -> Paths {
        let mut prefix = String::new();
        // Writing to a String cannot fail.
        let _ = write!(prefix, "/proc/self/fd/{}/", dir.as_raw_fd());
        Paths { prefix, bytes: Vec::new(), starts: Vec::new() }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
    }

    /// The next entry's, if it needs one.
    fn add(&mut self, name: Option<&CStr>) {
        self.starts.push(self.bytes.len() as u32);
        if let Some(name) = name {
            self.bytes.extend_from_slice(self.prefix.as_bytes());
            self.bytes.extend_from_slice(name.to_bytes_with_nul());
        }
    }

    fn get(&self, number: usize) -> Option<&CStr> {
        let end = self.starts.get(number + 1).map_or(self.bytes.len(), |start| *start as usize);
        CStr::from_bytes_with_nul(&self.bytes[self.starts[number] as usize..end]).ok()
    }
}
