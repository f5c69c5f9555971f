//! The requests about one entry, in the order of their dependencies: `statx`, then those that need the type (the link's text, its
//! target), then the names of the extended attributes.

use super::question::{Harvest, Question, Tally};
use super::request_counts::{Call, Calls, CallsByKind};
use crate::batch::{Asked, Bits, Dent, Extra, Meta, Names, Texts, Time};
use crate::bulk::Bulk;
use crate::needs::{Kind, Needs};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_sys::stat::{self, Flags, Mask, Statx, Timestamp};
use dents_sys::{AsFd, CWD, Errno, OwnedFd, Result, clock, cwd, dir, link};

/// The kernel's limit for the text of a link (`PATH_MAX`) with its NUL.
const TEXT: usize = 4097;

/// Called with the slot so far, the texts, and the next request.
pub(crate) type Learns<'a> = dyn Fn(&Meta, &Texts, Asked) + 'a;

/// Makes requests for one thread; keeps the texts it reads in its own arena.
pub(crate) struct Asker<'a> {
    pub(crate) question: Question<'a>,
    pub(crate) texts: Texts,
    pub(super) texts_number: usize,
    /// The seat that the watchdog and the line of progress look at.
    pub(crate) seat: usize,
    /// The one time the plan declared.
    time: Needs,
    /// Whether the machine runs SMACK, once that was needed.
    pub(crate) smack: Option<bool>,
    /// The same of SELinux.
    pub(super) selinux: Option<bool>,
    /// Whether a server answers, once that was needed.
    pub(super) far: Option<bool>,
    /// The device whose file system has no extended attributes, if one was found.
    pub(crate) without_xattrs: Option<(u32, u32)>,
    text: Vec<u8>,
    /// Called before each further request, which may never be answered.
    pub(crate) learns: Option<&'a Learns<'a>>,
    /// Room for the names of an entry's attributes.
    pub(super) room: Vec<u8>,
    /// The bytes of `room` that the last list took.
    pub(super) listed: usize,
    pub(crate) tally: Tally,
    /// Whether an entry that needs more than a `statx` is held open meanwhile. That pays off where a lookup is a
    /// round trip.
    holds: bool,
    /// Whether a dangling link is stat'ed itself, if links are followed.
    pub(super) takes_links: bool,
    /// Metadata that a walk has read in bulk, if it is that of this directory's entries.
    pub(super) bulk: Option<&'a Bulk>,
    /// The entry held.
    pub(super) held: Option<OwnedFd>,
    /// Requests for attributes through /proc, without calls that take a descriptor.
    pub(super) asked_by_path: u32,
    /// The directory as this thread's working directory, once that was tried.
    pub(super) away: Option<Result<cwd::Away>>,
    /// The counts by kind of entry, if requested.
    notes: Option<Box<CallsByKind>>,
}

impl Tally {
    pub(super) fn fault(&mut self, meta: &mut Meta, asked: Asked, errno: Errno) {
        meta.set_fault(asked, errno);
        self.faults += 1;
    }
}

impl<'a> Asker<'a> {
    /// `texts_number` is the index of this asker's texts in the batch.
    pub(crate) fn new(question: Question<'a>, texts_number: usize) -> Self {
        Asker {
            question,
            texts: Texts::default(),
            texts_number,
            seat: 1 + texts_number,
            time: question.needs.any() & Needs::TIMES,
            smack: None,
            selinux: None,
            far: None,
            without_xattrs: None,
            text: Vec::new(),
            learns: None,
            room: Vec::new(),
            listed: 0,
            tally: Tally::default(),
            holds: false,
            takes_links: false,
            bulk: None,
            held: None,
            asked_by_path: 0,
            away: None,
            notes: question.counter.map(|_| Box::default()),
        }
    }

    /// From now on, a name that needs several requests is looked up only once: `openat` with `O_PATH`, then all
    /// requests use the descriptor. Measured on FUSE without a time to live: 3 requests instead of 4 for a mode and a
    /// mark, with [`Question::lazy`] 2 instead of 3. Costs two more system calls.
    pub(crate) fn hold(&mut self) {
        self.holds = !self.question.follow;
    }

    /// Adds this asker's texts and counts to the harvest.
    pub(crate) fn merge_into(self, harvest: &mut Harvest) {
        if !self.texts.is_empty() {
            if harvest.texts.len() <= self.texts_number {
                harvest.texts.resize_with(self.texts_number + 1, Texts::default);
            }
            harvest.texts[self.texts_number] = self.texts;
        }
        harvest.tally += self.tally;
        if let (Some(counter), Some(by_kind)) = (self.question.counter, self.notes) {
            counter.note_calls(&by_kind);
        }
    }

    /// Adds the counts so far to the counter: the next request may never return.
    pub(crate) fn leave_notes(&mut self) {
        if let (Some(counter), Some(by_kind)) = (self.question.counter, &mut self.notes) {
            counter.note_calls(&core::mem::take(&mut **by_kind));
        }
    }

    /// The clock, if durations are counted.
    pub(super) fn clock(&self) -> u64 {
        if self.notes.is_some() { clock::monotonic_ns() } else { 0 }
    }

    /// Counts a call that began at `began`.
    pub(super) fn note(&mut self, kind: Kind, call: Call, began: u64) {
        if let Some(by_kind) = &mut self.notes {
            let waited_ns = clock::monotonic_ns() - began;
            by_kind.of_mut(kind).add(call, Calls { count: 1, waited_ns });
        }
    }

    /// Whether an entry of this `d_type` needs a `statx` of its own.
    pub(crate) fn wants_stat(question: &Question<'_>, kind: Kind) -> bool {
        !Self::stat_call(question, kind).1.is_empty()
    }

    /// Flags and mask of that `statx`: exactly the needed fields. With `follow` a link may be of any type, so the mask is that of
    /// an unknown type.
    pub(crate) fn stat_call(question: &Question<'_>, kind: Kind) -> (Flags, Mask) {
        let mut flags = Self::sync(question);
        if question.follow && kind == Kind::Link {
            return (flags, question.needs.mask(Kind::Unknown));
        }
        flags.set(Flags::NOFOLLOW, !question.follow);
        (flags, question.needs.mask(kind))
    }

    /// The flags of every `statx`.
    fn sync(question: &Question<'_>) -> Flags {
        if question.lazy { Flags::NO_AUTOMOUNT | Flags::DONT_SYNC } else { Flags::NO_AUTOMOUNT }
    }

    /// Makes all requests about a few entries, one after the other. Before each entry it calls `go_on` with the
    /// number of requests made so far. If that returns false, the remaining slots stay empty.
    #[inline]
    pub(super) fn ask_all(
        &mut self,
        dents: &[Dent],
        names: Names<'_>,
        mut go_on: impl FnMut(u64) -> bool,
    ) -> Vec<Meta> {
        let mut metas = vec![Meta::default(); dents.len()];
        // The system call is made in this loop, into one buffer. With a function of its own for it, two returns deep,
        // `dents du` took 1.15 of the time: after a system call the processor mispredicts the returns.
        let mut answer = Statx::zeroed();
        let mut joining = self.bulk.map(Bulk::joining);
        for (dent, meta) in dents.iter().zip(&mut metas) {
            if !go_on(self.tally.stats + self.tally.links + self.tally.xattrs) {
                break;
            }
            if let (Some(bulk), Some(joining)) = (self.bulk, &mut joining)
                && Self::wants_stat(&self.question, dent.kind())
                && let Some(answer) = bulk.answer(dent, names, joining)
            {
                self.join(dent.c_name(names), meta, answer);
                continue;
            }
            self.ask_into(&mut answer, dent.kind(), dent.c_name(names), meta);
        }
        metas
    }

    /// Makes all requests about one entry with this `d_type`. The slot must be empty.
    pub(crate) fn ask(&mut self, kind: Kind, name: &CStr, meta: &mut Meta) {
        self.ask_into(&mut Statx::zeroed(), kind, name, meta);
    }

    #[inline(always)]
    fn ask_into(&mut self, answer: &mut Statx, kind: Kind, name: &CStr, meta: &mut Meta) {
        let Some(watch) = self.question.watch else { return self.ask_unwatched(answer, kind, name, meta) };
        watch.begin(self.seat, name.to_bytes());
        self.ask_unwatched(answer, kind, name, meta);
        watch.end(self.seat, 1);
    }

    #[inline(always)]
    fn ask_unwatched(&mut self, answer: &mut Statx, kind: Kind, name: &CStr, meta: &mut Meta) {
        let (flags, mask) = Self::stat_call(&self.question, kind);
        if mask.is_empty() {
            self.tally.avoided += 1;
            return self.beyond(name, meta, kind, None);
        }
        let mut began = self.clock();
        let mut outcome = match self.take_hold(kind, name) {
            Err(errno) => Err(errno),
            Ok(false) => stat::statx_into(answer, self.question.dir, name, flags, mask),
            Ok(true) => match &self.held {
                Some(file) => stat::statx_into(answer, file.as_fd(), c"", flags | Flags::EMPTY_PATH, mask),
                None => Err(Errno::BADF),
            },
        };
        if matches!(outcome, Err(Errno::NOENT | Errno::LOOP)) && self.takes_links && self.question.follow {
            self.tally.stats += 1;
            self.note(kind, Call::Stat, began);
            began = self.clock();
            outcome = stat::statx_into(answer, self.question.dir, name, flags | Flags::NOFOLLOW, mask);
        }
        let known = if outcome.is_ok() { Kind::from_mode(answer.mode() as u16) } else { kind };
        self.note(known, Call::Stat, began);
        self.answered(name, meta, outcome.map(|()| &*answer));
        self.held = None;
    }

    /// Opens an entry that needs more than a `statx`. Without a free descriptor, requests use the name.
    fn take_hold(&mut self, kind: Kind, name: &CStr) -> Result<bool> {
        if !self.holds || !self.question.needs.get(kind).intersects(Needs::XATTRS) {
            return Ok(false);
        }
        match dir::hold(self.question.dir, name) {
            Ok(file) => self.held = Some(file),
            Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => {}
            Err(errno) => return Err(errno),
        }
        Ok(self.held.is_some())
    }

    /// Stores metadata that was read in bulk, and makes the requests that follow.
    fn join(&mut self, name: &CStr, meta: &mut Meta, statx: &Statx) {
        self.tally.joined += 1;
        self.keep(meta, statx);
        self.beyond(name, meta, Kind::from_mode(meta.mode), Some(statx.dev()));
    }

    /// The requests that follow `statx`.
    pub(super) fn answered(&mut self, name: &CStr, meta: &mut Meta, answer: Result<&Statx>) {
        if let Some(device) = self.store(meta, answer) {
            self.beyond(name, meta, Kind::from_mode(meta.mode), Some(device));
        }
    }

    /// Stores the answer of `statx` in the slot. Returns the device.
    pub(super) fn store(&mut self, meta: &mut Meta, answer: Result<&Statx>) -> Option<(u32, u32)> {
        self.tally.stats += 1;
        match answer {
            Err(errno) => {
                self.tally.fault(meta, Asked::Stat, errno);
                None
            }
            Ok(statx) => {
                self.keep(meta, statx);
                Some(statx.dev())
            }
        }
    }

    fn keep(&mut self, meta: &mut Meta, statx: &Statx) {
        meta.store(statx, self.time);
        if self.question.needs.get(Kind::from_mode(meta.mode)).contains(Needs::EXTRA) {
            self.keep_extra(meta, Extra::from(statx));
        }
    }

    /// Requests the link's text and target, and the attributes, as the type requires.
    pub(super) fn beyond(&mut self, name: &CStr, meta: &mut Meta, kind: Kind, device: Option<(u32, u32)>) {
        let needs = self.question.needs.get(kind);
        if kind == Kind::Link && needs.intersects(Needs::LINK | Needs::TARGET) {
            self.before(meta, Asked::Link);
            self.link(name, meta, needs);
        }
        if needs.intersects(Needs::XATTRS) && (device.is_none() || device != self.without_xattrs) {
            self.before(meta, Asked::Xattr);
            self.xattrs(name, meta, kind, needs, device);
        }
    }

    /// Called before each request: it may never be answered.
    fn before(&self, meta: &Meta, asked: Asked) {
        if let Some(learns) = self.learns {
            learns(meta, &self.texts, asked);
        }
    }

    fn link(&mut self, name: &CStr, meta: &mut Meta, needs: Needs) {
        if needs.contains(Needs::LINK) || self.question.by_text {
            if let Err(errno) = self.read_text(name) {
                return self.tally.fault(meta, Asked::Link, errno);
            }
            if needs.contains(Needs::LINK)
                && let Err(errno) = self.keep_text(meta)
            {
                return self.tally.fault(meta, Asked::Link, errno);
            }
        }
        if needs.contains(Needs::TARGET) {
            self.before(meta, Asked::Link);
            meta.bits |= Bits::TARGET;
            let began = self.clock();
            let target = if self.question.by_text { self.target_by_text(name) } else { self.target(name) };
            self.note(Kind::Link, Call::Target, began);
            meta.target_mode = target.unwrap_or(0);
            if target.is_none() && !meta.bits.contains(Bits::STAT) {
                self.check_link(name, meta);
            }
        }
    }

    /// Stats a dangling link itself: GNU ls stats each link before its target, and reports links that it cannot stat. One
    /// `statx`, only for such links.
    #[cold]
    fn check_link(&mut self, name: &CStr, meta: &mut Meta) {
        self.tally.stats += 1;
        let flags = Self::sync(&self.question) | Flags::NOFOLLOW;
        if let Err(errno) = stat::statx(self.question.dir, name, flags, Mask::TYPE) {
            self.tally.fault(meta, Asked::Stat, errno);
        }
    }

    /// Reads the link's text into `self.text`, with its NUL.
    fn read_text(&mut self, name: &CStr) -> Result<()> {
        self.tally.links += 1;
        self.text.resize(TEXT, 0);
        let began = self.clock();
        let read = link::readlinkat(self.question.dir, name, &mut self.text[..TEXT - 1]).map(<[u8]>::len);
        self.note(Kind::Link, Call::Readlink, began);
        self.text.truncate(read?);
        self.text.push(0);
        Ok(())
    }

    /// Stores the extra of a slot.
    fn keep_extra(&mut self, meta: &mut Meta, extra: Extra) {
        self.texts.extras.push(Extra { rdev_or_link: meta.rdev_or_link, ..extra });
        meta.rdev_or_link = self.texts.extras.len() as u32 - 1;
        meta.texts = self.texts_number as u16;
        meta.bits |= Bits::EXTRA;
    }

    /// The extra of the current entry: the last one.
    pub(super) fn extra_mut(&mut self, meta: &Meta) -> Option<&mut Extra> {
        if meta.bits.contains(Bits::EXTRA) {
            self.texts.extras.get_mut(meta.rdev_or_link as usize)
        } else {
            None
        }
    }

    fn keep_text(&mut self, meta: &mut Meta) -> Result<()> {
        let len = self.text.len() - 1;
        let start = self.texts.room(len)?;
        match self.extra_mut(meta) {
            Some(extra) => extra.rdev_or_link = start,
            None => meta.rdev_or_link = start,
        }
        meta.link_len = len as u16;
        meta.texts = self.texts_number as u16;
        meta.bits |= Bits::LINK;
        self.texts.links.extend_from_slice(&self.text[..len]);
        Ok(())
    }

    /// The mode of the link's target, by following the link.
    fn target(&mut self, name: &CStr) -> Option<u16> {
        self.tally.stats += 1;
        let flags = Self::sync(&self.question);
        match stat::statx(self.question.dir, name, flags, Mask::TYPE | Mask::MODE) {
            Ok(statx) => Some(statx.mode() as u16),
            // In a sticky directory the kernel may refuse to follow another user's link (fs.protected_symlinks); its text can
            // still be followed.
            Err(Errno::ACCESS) => {
                self.read_text(name).ok()?;
                self.target_by_text(name)
            }
            Err(_) => None,
        }
    }

    /// The mode of the target in `self.text`, relative to the link's directory.
    fn target_by_text(&mut self, name: &CStr) -> Option<u16> {
        self.tally.stats += 1;
        let name = name.to_bytes();
        let at = if self.text[0] == b'/' { CWD } else { self.question.dir };
        if self.text[0] != b'/'
            && let Some(slash) = memchr::memrchr(b'/', name)
        {
            self.text.splice(0..0, name[..=slash].iter().copied());
        }
        let path = CStr::from_bytes_until_nul(&self.text).ok()?;
        let flags = Self::sync(&self.question);
        let statx = stat::statx(at, path, flags, Mask::TYPE | Mask::MODE).ok()?;
        Some(statx.mode() as u16)
    }
}

impl Meta {
    fn store(&mut self, statx: &Statx, time: Needs) {
        let (major, minor) = statx.rdev();
        let stamp = match time {
            Needs::ATIME => statx.atime(),
            Needs::BTIME if statx.mask().contains(Mask::BTIME) => statx.btime(),
            Needs::BTIME => Timestamp { sec: Time::UNKNOWN.sec, nsec: Time::UNKNOWN.nsec },
            Needs::CTIME => statx.ctime(),
            Needs::MTIME => statx.mtime(),
            _ => Timestamp { sec: 0, nsec: 0 },
        };
        self.ino = statx.ino();
        self.size = statx.size();
        self.blocks = statx.blocks();
        self.sec = stamp.sec;
        self.nsec = stamp.nsec;
        self.nlink = statx.nlink();
        self.uid = statx.uid();
        self.gid = statx.gid();
        self.rdev_or_link = major << 20 | (minor & 0xf_ffff);
        self.mode = statx.mode() as u16;
        self.bits |= Bits::STAT;
    }
}
