//! The sources of entries: a tree, or a scan file instead. The filters apply to both.
//!
//! ```text
//! tree ─► walk ─► Live ─┐   names and types, then statx of entries that passed, then facts
//!                       ├─► Consumer, one a worker
//! file ─► read ─► Rows ─┘   the directories above, names and types, facts
//! ```

mod bulk;
mod changed;
mod directory_facts;
mod job;
mod live;
mod root;
mod rows;
mod verify;

pub(crate) use changed::subvolumes;
pub(crate) use job::Below;
pub use job::{Budget, File, Gathered, Job, Opened, Source, Special, Way};

use crate::consumer::Consumer;
use crate::filter::Viewer;
use crate::message::counted;
use crate::session::Status;
use dents::Threads;
use dents_core::bulk::When;
use dents_core::needs::{Kind, NeedsByKind};
use dents_core::read::{Filter as Names, Hidden};
use dents_core::tree::{self, End, Options, Order, Tally};
use dents_render::quantity::grouped;
use dents_render::record::words::of_kind;
use dents_sink::Extent;
use dents_sink::read::{Columns, RowGroups, Wanted};
use dents_sys::host;
use directory_facts::DirectoryFacts;
use live::Live;
use rows::Rows;
use std::ffi::{CStr, CString};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

impl Job<'_> {
    /// Passes the entries of a tree to consumers.
    pub fn walk<C: Consumer>(&self, special: &Special<'_>, make: impl Fn() -> C + Sync) -> Gathered<C> {
        let (filter, follows) = (self.filter, self.walk.follows());
        let mut options = self.options(special);
        self.explain(options.needs);
        let plan = live::Plan {
            filter,
            diagnostics: self.diagnostics,
            must: self.must(),
            follows,
            mounts_loop: options.mounts_loop,
            leaves_out_loops: special.leaves_out_loops,
            counts: special.counts,
            must_stop: special.must_stop,
            own: self.diagnostics.session().own(),
            budget: special.budget,
            root_failed: AtomicBool::new(false),
        };
        let of_command_line = self.walk.paths();
        let paths = special.paths.unwrap_or(&of_command_line);
        let mut operands: Vec<&CStr> = paths.iter().map(CString::as_c_str).collect();
        let mut start_points = special.start_points;
        if let Some(journal) = special.journal {
            operands = journal.operands(&operands);
            start_points = journal.start_points();
        }
        let changed = self.changed(&operands, special);
        options.only = changed.as_ref();
        // Other file systems have other inode numbers.
        options.one_file_system |= changed.is_some();
        let make = |_| Live::new(&plan, make());
        let outcome = tree::walk_on(&operands, start_points, &options, &Threads, make);
        let (mut tally, mut kinds) = (outcome.tally, [0; 16]);
        let mut consumers = Vec::with_capacity(outcome.visitors.len());
        for mut one in outcome.visitors {
            one.consumer.finish();
            kinds.iter_mut().zip(one.kinds).for_each(|(all, some)| *all += some);
            tally.faults += one.faults;
            consumers.push(one.consumer);
        }
        if self.source.explain {
            let Tally { entries, stats, directories, joined, .. } = tally;
            let session = self.diagnostics.session();
            session.say(format!("bulk: {}", bulk::report(outcome.bulk, joined)).as_bytes());
            if outcome.order == Order::Inode {
                session.say(b"order: one worker, as the directories are on the disk, because it rotates");
            }
            let entries = counted(entries, "entry", "entries");
            let directories = counted(directories, "directory", "directories");
            let cost = format!("cost: {} statx for {entries}; {directories} read", grouped(stats));
            session.say(cost.as_bytes());
        }
        let root_failed = plan.root_failed.load(Relaxed);
        Gathered {
            consumers,
            end: outcome.end,
            tally,
            kinds,
            root_failed,
            usage: outcome.usage,
            extent: None,
        }
    }

    fn options(&self, special: &Special<'_>) -> Options<'_> {
        let needs = self.filter.needs(self.needs, self.walk.follows()) | self.must();
        let mut options = self.walk.options(needs, self.diagnostics.session());
        options.max_depth = self.filter.max_depth();
        options.extra = special.extra || self.filter.reads_extra();
        options.workers = special.workers.or(options.workers);
        let takes_all = self.takes_most() && self.filter.wants_all(0);
        options.usage_suffices = special.usage_suffices && takes_all;
        if options.bulk == When::Auto && !self.suits_bulk(&options) {
            options.bulk = When::Never;
        }
        if self.filter.hides() {
            options.filter = Names { hidden: Hidden::Skip, ..Names::default() };
        }
        if needs.any().is_empty() {
            // The visitor checks the same flag before each directory. Without a flag the walk may use link counts to find directories
            // where `readdir` gives no types.
            options.cancel = None;
        }
        options
    }

    /// Whether most entries below a directory need metadata, and the user may read it in bulk.
    fn suits_bulk(&self, options: &Options<'_>) -> bool {
        let reads_most = !self.filter.selects() && self.takes_most();
        options.needs.asks(Kind::Reg) && reads_most && host::effective_user_at_start() == 0
    }

    /// What must be known of entries that do not pass.
    fn must(&self) -> NeedsByKind {
        if self.filter.viewer().is_none() {
            return self.must;
        }
        self.must | Viewer::needs(self.walk.follows())
    }

    /// Whether all directories are entered, as far as it is known beforehand.
    fn takes_most(&self) -> bool {
        self.filter.max_depth() == u32::MAX && self.filter.viewer().is_none()
    }

    fn explain(&self, needs: NeedsByKind) {
        if self.source.explain {
            self.filter.explain().iter().for_each(|line| self.diagnostics.session().say(line.as_bytes()));
            let needs = Kind::KNOWN.into_iter().filter(|kind| needs.asks(*kind));
            let kinds: Vec<&str> = needs.map(of_kind).collect();
            let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
            let line = format!(
                "types whose entries cost a statx, if they pass the tests of names and types: {kinds}"
            );
            self.diagnostics.session().say(line.as_bytes());
        }
    }

    /// Passes the entries of a scan file to consumers. At the end one line reports the number of entries that the scan could not read, and
    /// another that the file is partial. An error of the file itself ends the command.
    pub fn read<C: Consumer>(
        &self,
        opened: Opened<'_>,
        way: &Way<'_>,
        make: impl Fn() -> C + Sync,
    ) -> Result<Gathered<C>, Status> {
        self.explain(self.needs);
        let Opened { file, reader } = opened;
        let directory_facts = DirectoryFacts::of(self, file)?;
        let plan = rows::Plan::new(self, &directory_facts, way, file.may_be_partial);
        let below = plan.paths();
        let wanted = Wanted { columns: self.columns(way), below: &below };
        if self.source.explain {
            let RowGroups { read, skipped } = reader.row_groups(&wanted);
            self.diagnostics
                .session()
                .say(format!("cost: {read} row groups read, {skipped} skipped").as_bytes());
        }
        let workers = if way.in_order { 1 } else { self.walk.workers() };
        let mut consumers: Vec<C> = (0..workers).map(|_| make()).collect();
        let unchecked = reader.unchecked();
        // The consumers are borrowed, so that an interrupted command can show its results so far.
        let mut lent = consumers.iter_mut();
        let taker = |_| Rows::new(&plan, lent.next().expect("no more takers than workers"));
        let outcome = reader.read(&wanted, workers, taker).map(|(_, extent)| extent);
        let (extent, end) = match outcome {
            Ok(extent) => (extent, End::Complete),
            Err(_) if self.diagnostics.session().is_stopped() => (None, End::Cancelled),
            Err(_) if (way.must_stop)() => (None, End::Stopped),
            Err(error) => {
                self.diagnostics.session().say(error.to_string().as_bytes());
                return Err(Status::FAILURE);
            }
        };
        consumers.iter_mut().for_each(C::finish);
        if end == End::Complete {
            plan.report(file.path);
            if unchecked.is_some_and(|unchecked| unchecked.load(Relaxed)) {
                self.diagnostics.unchecked(file.path);
            }
            if extent != Some(Extent::Complete) {
                self.diagnostics.partial(file.path, extent, file.may_be_partial);
            }
        }
        let (tally, kinds) = (Tally::default(), [0; 16]);
        Ok(Gathered { consumers, end, tally, kinds, root_failed: false, usage: None, extent })
    }

    /// The columns that the command and the filters read.
    fn columns(&self, way: &Way<'_>) -> Columns {
        let verified = if self.source.verify { Columns::INODE | Columns::CTIME } else { Columns::empty() };
        let columns = way.columns | verified | Columns::of(self.needs.any() | self.filter.facts());
        let by_path = self.filter.reads_names()
            || self.source.verify
            || self.filter.viewer().is_some()
            || self.walk.one_file_system()
            || !self.walk.given().is_empty();
        if by_path { columns | Columns::PATH } else { columns }
    }
}
