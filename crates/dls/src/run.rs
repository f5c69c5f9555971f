//! From a plan to a listing: operands first, then directories, each read, filled, sorted, drawn.

use crate::explain::{self, Seen};
use crate::loops::ActiveDirectories;
use crate::output::{Message, Output};
use crate::plan::Plan;
use crate::timing::{Phase, Timing};
use crate::{Env, Status};
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents::batch::{Asked, Batch, Entry};
use dents::canonical::canonicalize;
use dents::needs::Kind;
use dents::owners::Owners;
use dents::read::Reader;
use dents::sort::{Collate, Key};
use dents::stat::{self, Asking, Dereference, Means, Mode, Report, Threads};
use dents::team::Team;
use dents_locale::Collator;
use dents_render::{Piece, Places, Renderer, quote};
use dents_sys::{CWD, Errno, clock, host};

/// A listing under way.
pub(crate) struct Listing<'l, 'a, 'o> {
    env: &'l Env<'a>,
    plan: &'l Plan<'a>,
    out: &'l mut Output<'o>,
    renderer: Renderer<'l>,
    owners: Owners,
    means: Means<'l>,
    collate: Option<Box<Rules>>,
    pending: Vec<Pending>,
    active: ActiveDirectories,
    spare: Vec<u8>,
    status: Status,
    timing: Timing,
    /// What was listed, if it shall be explained.
    seen: Option<Box<Seen>>,
    told_refusal: bool,
    printed: bool,
    /// What names are relative to, where hyperlinks must know.
    cwd: Option<Vec<u8>>,
}

/// The order of names in the user's locale.
struct Rules(Collator<'static>);

impl Rules {
    /// On the heap, and made out of the way: on the stack its 20 KiB would cost every listing five page faults.
    #[cold]
    #[inline(never)]
    fn new(tables: &'static [u8]) -> Option<Box<Rules>> {
        Collator::new(tables).map(Rules).map(Box::new)
    }
}

impl Collate for Rules {
    fn first(&mut self, name: &[u8], key: &mut Vec<u8>) {
        self.0.first(name, key);
    }

    fn rest(&mut self, name: &[u8], key: &mut Vec<u8>) {
        self.0.rest(name, key);
    }

    fn fork(&self) -> Box<dyn Collate + '_> {
        Box::new(Rules(self.0.clone()))
    }
}

/// Entries from which on several threads sort and draw.
const LARGE: usize = 16_384;

/// What is still to do, last first.
enum Pending {
    /// List this directory.
    List { path: CString, operand: bool },
    /// All of the directory entered last, with everything below it, has been listed.
    Leave,
}

impl<'l, 'a, 'o> Listing<'l, 'a, 'o> {
    /// Nothing happens yet.
    pub(crate) fn new(
        env: &'l Env<'a>,
        plan: &'l Plan<'a>,
        threads: &'l Threads,
        out: &'l mut Output<'o>,
    ) -> Self {
        let mut timing = Timing::off();
        if plan.timing || plan.explain.is_some() {
            timing = Timing::on(clock::monotonic_ns);
            timing.lazy = plan.lazy;
            out.time_with(clock::monotonic_ns);
        }
        plan.read_ahead(env.rings);
        Listing {
            env,
            plan,
            out,
            renderer: Renderer::new(&plan.style),
            owners: Owners::default(),
            means: Means {
                mode: plan.mode,
                threads,
                workers: env.workers,
                mounts: Some(&plan.mounts),
                rings: Some(env.rings),
                lazy: plan.lazy,
                ledger: plan.explain.as_ref().map(|explain| &explain.ledger),
            },
            collate: plan.collate.and_then(Rules::new),
            pending: Vec::new(),
            active: ActiveDirectories::default(),
            spare: Vec::new(),
            status: Status::Ok,
            timing,
            seen: plan.explain.as_ref().map(|_| Box::default()),
            told_refusal: false,
            printed: false,
            cwd: None,
        }
    }

    /// Lists the operands, or the current directory if there are none.
    pub(crate) fn run(mut self, operands: &[&CStr]) -> Status {
        let names = if operands.is_empty() { &[c"."][..] } else { operands };
        if !self.plan.directory
            && let [path] = names
            && let Some(reader) = self.open_alone(path)
        {
            self.list(reader, path, true, self.plan.recursive);
        } else {
            self.operands(names);
        }
        let alone = operands.len() <= 1 && self.pending.len() == 1 && !self.printed;
        let headers = self.plan.recursive || !alone;
        while let Some(next) = self.pending.pop() {
            match next {
                Pending::List { path, operand } => self.directory(&path, operand, headers),
                Pending::Leave => self.active.leave(),
            }
        }
        self.renderer.finish(self.out);
        self.out.flush();
        if self.plan.timing {
            self.timing.report(self.out);
        }
        if let (Some(explain), Some(seen)) = (&self.plan.explain, &self.seen) {
            let text = explain::after(self.plan, explain, seen, &mut self.timing);
            self.out.message(text.as_bytes());
        }
        self.status
    }

    /// The only operand, if it is a directory that can be read: opening it tells as much as a `statx` would, and
    /// is needed anyway. Whatever else it is, [`Self::operands`] finds out, and says so if it must.
    fn open_alone(&mut self, path: &CStr) -> Option<Reader> {
        self.timing.enter(Phase::Read);
        let follow = self.plan.dereference != Dereference::Never;
        Reader::open(CWD, path, follow).ok()
    }

    /// Stats the operands, shows those that are no directories, and leaves the others for later.
    fn operands(&mut self, names: &[&CStr]) {
        let mut batch = Batch::new(self.plan.operand_needs);
        for name in names {
            batch.push(name, Kind::Unknown, 0);
        }
        self.timing.enter(Phase::Stat);
        let report = stat::fill_operands(
            &mut batch,
            CWD,
            &self.plan.operand_needs,
            self.plan.dereference,
            &self.means,
        );
        self.note(&report);
        if let Some(seen) = &mut self.seen {
            seen.operands += names.len() as u64;
            seen.operand_stats += report.tally.stats;
        }
        self.faults(&batch, None);
        self.learn_owners(&batch);
        self.timing.enter(Phase::Sort);
        let mut order = self.sort(&batch);
        order.retain(|index| !matches!(batch.entry(*index as usize).fault(), Some((Asked::Stat, _))));
        if !self.plan.directory {
            let is_directory = |index: &u32| batch.entry(*index as usize).kind() == Kind::Dir;
            for index in order.iter().rev().filter(|index| is_directory(index)) {
                let path = batch.entry(*index as usize).c_name().into();
                self.pending.push(Pending::List { path, operand: true });
            }
            order.retain(|index| !is_directory(index));
        }
        if !order.is_empty() {
            self.locate_operands(&batch);
            self.timing.enter(Phase::Render);
            self.set_now();
            self.renderer.entries(&batch, &order, &self.owners, Piece::Operands, &Team::ALONE, self.out);
            if !self.pending.is_empty() {
                self.renderer.gap(self.out);
            }
            self.printed = true;
        }
    }

    /// One directory, if it can be opened.
    fn directory(&mut self, path: &CStr, operand: bool, header: bool) {
        self.timing.enter(Phase::Read);
        let mut opened = Reader::open(CWD, path, true);
        if matches!(opened, Err(Errno::MFILE)) && self.env.rings.close_now() {
            opened = Reader::open(CWD, path, true);
        }
        match opened {
            Ok(reader) => self.list(reader, path, operand, header),
            Err(errno) => self.cannot("cannot open directory ", path.to_bytes(), errno, operand),
        }
    }

    /// Header, entries, and what is below for later.
    fn list(&mut self, reader: Reader, path: &CStr, operand: bool, header: bool) {
        let mut reader = reader.with_buffer(core::mem::take(&mut self.spare));
        if self.plan.recursive && !self.enter(&reader, path, operand) {
            return;
        }
        let place = self.plan.style.hyperlink.is_some().then(|| self.canonical(path.to_bytes()));
        if header {
            self.timing.enter(Phase::Render);
            if let Some(directory) = &place {
                self.renderer.set_places(Places { directory: directory.clone(), others: Vec::new() });
            }
            self.renderer.header(path.to_bytes(), self.out);
            self.timing.enter(Phase::Read);
        }
        if self.plan.streams {
            self.stream(&mut reader, path, operand, place.as_deref());
        } else {
            self.whole(&mut reader, path, operand, place.as_deref());
        }
        self.printed = true;
        let (directory, buffer) = reader.into_parts();
        self.env.rings.close_later(directory);
        self.spare = buffer;
    }

    /// Reads all of it, for formats that must know all entries before they can show the first.
    fn whole(&mut self, reader: &mut Reader, path: &CStr, operand: bool, place: Option<&[u8]>) {
        let mut batch = Batch::new(self.plan.needs);
        let (filter, means) = (&self.plan.filter, self.means);
        let asking = Asking { needs: &self.plan.needs, follow: self.plan.follows_entries(), means: &means };
        let progress = stat::read(&mut batch, reader, filter, &asking);
        self.timing.enter(Phase::Stat);
        let (report, ended) = stat::fill_read(progress, &mut batch, reader, filter, &asking);
        if let Err(errno) = ended {
            self.cannot("reading directory ", path.to_bytes(), errno, operand);
        }
        self.note(&report);
        self.see(&batch);
        self.learn_owners(&batch);
        self.faults(&batch, Some(path.to_bytes()));
        self.timing.enter(Phase::Sort);
        let order = self.sort(&batch);
        self.locate(&batch, place);
        self.timing.enter(Phase::Render);
        self.set_now();
        let team = self.team(&batch);
        self.renderer.entries(&batch, &order, &self.owners, Piece::Directory, &team, self.out);
        if self.plan.recursive {
            self.descend(&batch, &order, path);
        }
    }

    /// Shows each buffer of names before the next is read: constant memory, first names at once.
    fn stream(&mut self, reader: &mut Reader, path: &CStr, operand: bool, place: Option<&[u8]>) {
        let mut batch = Batch::new(self.plan.needs);
        loop {
            self.timing.enter(Phase::Read);
            match reader.read(&self.plan.filter, &mut batch) {
                Ok(false) => break,
                Ok(true) => {}
                Err(errno) => break self.cannot("reading directory ", path.to_bytes(), errno, operand),
            }
            self.fill(&mut batch, reader);
            self.locate(&batch, place);
            self.timing.enter(Phase::Render);
            self.set_now();
            self.chunk(&batch, path);
            self.out.flush();
            batch.clear();
        }
        batch.clear();
        self.renderer.entries(&batch, &[], &self.owners, Piece::Chunk { last: true }, &Team::ALONE, self.out);
    }

    /// Shows the entries as they were read. A message comes after those before the entry it is about.
    fn chunk(&mut self, batch: &Batch, path: &CStr) {
        let order: Vec<u32> = (0..batch.len() as u32).collect();
        let (mut shown, piece) = (0, Piece::Chunk { last: false });
        let faulty = |entry: &Entry<'_>| batch.has_faults() && entry.fault().is_some();
        for entry in batch.iter().filter(faulty) {
            let before = &order[shown..entry.index()];
            self.renderer.entries(batch, before, &self.owners, piece, &Team::ALONE, self.out);
            shown = entry.index();
            if let Some((asked, errno)) = entry.fault() {
                self.fault(&entry, asked, errno, Some(path.to_bytes()));
            }
        }
        self.renderer.entries(batch, &order[shown..], &self.owners, piece, &Team::ALONE, self.out);
    }

    /// Metadata and owners.
    fn fill(&mut self, batch: &mut Batch, reader: &Reader) {
        self.timing.enter(Phase::Stat);
        let asking =
            Asking { needs: &self.plan.needs, follow: self.plan.follows_entries(), means: &self.means };
        let report = stat::fill(batch, reader.dir(), &asking);
        self.note(&report);
        self.see(batch);
        self.learn_owners(batch);
    }

    /// Counts entries for `--explain`.
    fn see(&mut self, batch: &Batch) {
        if let Some(seen) = &mut self.seen {
            batch.iter().for_each(|entry| seen.entry(entry.kind(), entry.d_kind()));
        }
    }

    fn learn_owners(&mut self, batch: &Batch) {
        if !self.plan.names.is_empty() {
            self.timing.enter(Phase::Owners);
            self.owners.take_files(self.env.rings);
            self.owners.learn(batch, self.plan.names, self.env.getent);
        }
    }

    /// Finds out where the entries of a directory are, if hyperlinks lead there: in the directory under their names,
    /// but for symbolic links, `.` and `..`.
    fn locate(&mut self, batch: &Batch, place: Option<&[u8]>) {
        let Some(directory) = place else { return };
        self.timing.enter(Phase::Read);
        let elsewhere = |entry: &Entry<'_>| {
            let link = matches!(entry.d_kind(), Kind::Link | Kind::Unknown);
            link || matches!(entry.name(), b"." | b"..")
        };
        let others = batch
            .iter()
            .filter(elsewhere)
            .map(|entry| (entry.index() as u32, Some(canonicalize(directory, entry.name()))))
            .collect();
        self.renderer.set_places(Places { directory: directory.to_vec(), others });
    }

    /// The same for operands, which may be anywhere.
    fn locate_operands(&mut self, batch: &Batch) {
        if self.plan.style.hyperlink.is_some() {
            let place = |entry: Entry<'_>| (entry.index() as u32, Some(self.canonical(entry.name())));
            let others = batch.iter().map(place).collect();
            self.renderer.set_places(Places { directory: Vec::new(), others });
        }
    }

    fn canonical(&mut self, path: &[u8]) -> Vec<u8> {
        let cwd = self.cwd.get_or_insert_with(|| host::current_directory().unwrap_or_default());
        canonicalize(cwd, path)
    }

    /// Who sorts and draws a batch. How many cores there are is not asked for the sake of a few entries.
    fn team(&self, batch: &Batch) -> Team<'l> {
        if batch.len() < LARGE || self.plan.mode == Mode::Classic {
            return Team::ALONE;
        }
        Team::new(self.env.workers, self.means.threads.count())
    }

    fn sort(&mut self, batch: &Batch) -> Vec<u32> {
        let order = &self.plan.order;
        let team = self.team(batch);
        let collate = self.collate.as_deref_mut().map(|rules| rules as &mut dyn Collate);
        match order.key {
            Key::Width => order.sort_by_width(batch, collate, &team, &self.renderer.widths(batch)),
            _ => order.sort(batch, collate, &team),
        }
    }

    /// Puts the subdirectories on the list, first one on top.
    fn descend(&mut self, batch: &Batch, order: &[u32], path: &CStr) {
        self.pending.push(Pending::Leave);
        for index in order.iter().rev() {
            let entry = batch.entry(*index as usize);
            if entry.kind() == Kind::Dir && !matches!(entry.name(), b"." | b"..") {
                let path = join(without_slashes(path.to_bytes()), entry.name());
                if let Ok(path) = CString::new(path) {
                    self.pending.push(Pending::List { path, operand: false });
                }
            }
        }
    }

    /// Notes the directory as one being listed; refuses one that is being listed already, or the descent
    /// would never end.
    fn enter(&mut self, reader: &Reader, path: &CStr, operand: bool) -> bool {
        match self.active.enter(reader.dir()) {
            Ok(true) => true,
            Ok(false) => {
                let name = quote::quotef(path.to_bytes(), &self.plan.locale);
                let text = ": not listing already-listed directory";
                Message::new(self.plan.program).text(name).text(text).send(self.out);
                self.status.raise(Status::Serious);
                false
            }
            Err(errno) => {
                self.cannot("cannot determine device and inode of ", path.to_bytes(), errno, operand);
                false
            }
        }
    }

    /// Messages about entries in the order they were read. `parent` is none for operands.
    fn faults(&mut self, batch: &Batch, parent: Option<&[u8]>) {
        if !batch.has_faults() {
            return;
        }
        for entry in batch.iter() {
            if let Some((asked, errno)) = entry.fault() {
                self.fault(&entry, asked, errno, parent);
            }
        }
    }

    fn fault(&mut self, entry: &Entry<'_>, asked: Asked, errno: Errno, parent: Option<&[u8]>) {
        let path = match parent {
            None | Some(b".") => entry.name().to_vec(),
            Some(parent) => join(parent, entry.name()),
        };
        let what = match asked {
            Asked::Stat => "cannot access ",
            Asked::Link => "cannot read symbolic link ",
            Asked::Xattr => {
                // The mark is missing, the entry is not: a message and no more, as GNU has it.
                let name = quote::quotef(&path, &self.plan.locale);
                return Message::new(self.plan.program).text(name).errno(errno).send(self.out);
            }
        };
        if path.is_empty() && self.plan.style.hyperlink.is_some() {
            // A name of no characters is nowhere; GNU says so already when it looks for where the link shall lead.
            self.cannot("error canonicalizing ", &path, Errno::NOENT, true);
        }
        self.cannot(what, &path, errno, parent.is_none());
    }

    /// What went wrong with a file; worse if it was named on the command line.
    fn cannot(&mut self, what: &str, path: &[u8], errno: Errno, operand: bool) {
        let name = quote::quoteaf(path, &self.plan.locale);
        Message::new(self.plan.program).text(what).text(name).errno(errno).send(self.out);
        self.status.raise(if operand { Status::Serious } else { Status::Minor });
    }

    fn note(&mut self, report: &Report) {
        self.timing.note(report);
        if let Some(errno) = report.refused
            && !core::mem::replace(&mut self.told_refusal, true)
        {
            Message::new(self.plan.program)
                .text("io_uring is not available, going on with threads")
                .errno(errno)
                .send(self.out);
        }
    }

    fn set_now(&mut self) {
        if self.plan.shows_times {
            let now = clock::realtime();
            self.renderer.set_now(dents::batch::Time { sec: now.sec, nsec: now.nsec });
            self.renderer.set_zone(self.plan.zone.get(|path| self.env.rings.read(path)));
        }
    }
}

/// The path without the slashes at its end, unless it is nothing else.
fn without_slashes(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte != b'/').map_or(path, |last| &path[..=last])
}

/// `parent/name`, without doubling the slash.
fn join(parent: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(parent.len() + 1 + name.len());
    path.extend_from_slice(parent);
    if !parent.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
