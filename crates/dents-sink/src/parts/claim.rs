//! Claims: the log of which task got which directories.
//!
//! A claim begins with its head: number, task, number of directories, and the *sources* that wait after it: the lists of committed
//! tasks, each with the place up to which it was claimed. A process that claims reads the head of the last claim, adds the lists of tasks
//! that were committed since (`waiting/`), and writes the next claim.
//!
//! What a claim implies is done by its process, and again by the one that makes the next claim: the name of the task in `claims/`, and
//! for each source that was used up the file in `taken/`, which keeps it from being added again. So when a claim exists, all is done that
//! the claims before it imply.

use super::files::{is_attempt, is_id, mark, modified, wrong};
use super::list::{Cursor, Reader, Writer};
use super::plan::Plan;
use super::{LOG, PLAN, Parts, TAKEN, WAITING};
use crate::bytes::{Bytes, put_bytes, put_number};
use crate::dir::{Named, PRIVATE};
use crate::message;
use std::io::{self, ErrorKind};
use std::time::Duration;

const MAGIC: &[u8] = b"dents parts claim 2";
/// Without a number, a claim takes this part of what waits, so that others get some too.
const SHARE: u64 = 16;
/// And so many at most.
const MOST: u64 = 8192;

/// A new task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its ID.
    pub id: String,
    /// How many directories it has.
    pub directories: u64,
    /// How many wait after it.
    pub waiting: u64,
}

/// Tasks that are not committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// Each with its number.
    claims: Vec<(u64, Claim)>,
    last: u64,
}

impl Open {
    /// Whether all tasks are committed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }
}

/// A list from which directories are claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The task that left them over; empty for the roots.
    id: String,
    attempt: String,
    at: Cursor,
    /// How many wait.
    left: u64,
}

/// The head of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) number: u64,
    pub(super) id: String,
    pub(super) directories: u64,
    pub(super) sources: Vec<Source>,
    /// Tasks whose lists were used up by this claim.
    pub(super) taken: Vec<String>,
    /// Where the directories begin in the file.
    pub(super) cursor: Cursor,
}

impl Head {
    pub(super) fn read(file: Named) -> io::Result<Head> {
        let path = file.path();
        let (bytes, cursor) = Reader::head(file).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                let id = path.file_name().unwrap_or_default().display();
                wrong(format!(
                    "there is no task {id}: dents parts claim makes tasks, dents parts status lists them"
                ))
            }
            _ => error,
        })?;
        let head = Head::parse(&bytes)
            .ok_or_else(|| message::damaged(&path, "not a claim that this program knows"))?;
        Ok(Head { cursor, ..head })
    }

    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, MAGIC);
        put_number(out, self.number);
        put_bytes(out, self.id.as_bytes());
        put_number(out, self.directories);
        put_number(out, self.sources.len() as u64);
        for Source { id, attempt, at, left } in &self.sources {
            put_bytes(out, id.as_bytes());
            put_bytes(out, attempt.as_bytes());
            [at.frame, at.skip, *left].into_iter().for_each(|number| put_number(out, number));
        }
        put_number(out, self.taken.len() as u64);
        self.taken.iter().for_each(|id| put_bytes(out, id.as_bytes()));
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Head> {
        let mut bytes = Bytes(bytes);
        if bytes.bytes()? != MAGIC {
            return None;
        }
        let mut head = Head { number: bytes.number()?, id: id(&mut bytes)?, ..Head::default() };
        head.directories = bytes.number()?;
        for _ in 0..bytes.number()? {
            let (id, attempt) = (text(&mut bytes)?, text(&mut bytes)?);
            let at = Cursor { frame: bytes.number()?, skip: bytes.number()? };
            let is_roots = id.is_empty() && attempt.is_empty();
            let is_list = is_id(&id) && is_attempt(&attempt);
            if !is_roots && !is_list {
                return None;
            }
            head.sources.push(Source { id, attempt, at, left: bytes.number()? });
        }
        for _ in 0..bytes.number()? {
            head.taken.push(id(&mut bytes)?);
        }
        bytes.0.is_empty().then_some(head)
    }

    fn waiting(&self) -> u64 {
        self.sources.iter().fold(0, |sum, source| sum.saturating_add(source.left))
    }
}

fn text(bytes: &mut Bytes<'_>) -> Option<String> {
    String::from_utf8(bytes.bytes()?.to_vec()).ok()
}

fn id(bytes: &mut Bytes<'_>) -> Option<String> {
    text(bytes).filter(|id| is_id(id))
}

impl Parts {
    /// Makes a task of directories that wait: so many of them, by default a sixteenth and 8,192 at most. Returns `None` if none waits.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn claim(&self, directories: Option<u64>) -> io::Result<Option<Claim>> {
        self.claim_as(directories, None)
    }

    /// Makes a task of this ID, unless it exists.
    ///
    /// # Errors
    /// With [`ErrorKind::InvalidInput`], if the ID is not valid; or if a file cannot be read or written.
    pub fn claim_for(&self, id: &str) -> io::Result<bool> {
        Ok(self.has(id) || self.claim_as(None, Some(id))?.is_some() || self.has(id))
    }

    fn claim_as(&self, directories: Option<u64>, wanted: Option<&str>) -> io::Result<Option<Claim>> {
        loop {
            let mut head = self.now()?;
            let waiting = head.waiting();
            if waiting == 0 || wanted.is_some_and(|id| self.has(id)) {
                return Ok(None);
            }
            let count = directories.unwrap_or((waiting / SHARE).min(MOST)).clamp(1, waiting);
            head.number += 1;
            head.id = wanted.map_or_else(|| self.new_id(head.number), str::to_string);
            head.directories = count;
            if self.append(&mut head)? {
                self.follow(&head)?;
                let Head { id, directories, .. } = &head;
                return Ok(Some(Claim {
                    id: id.clone(),
                    directories: *directories,
                    waiting: head.waiting(),
                }));
            }
        }
    }

    /// The tasks that are not committed, in the order of their claims; `before` are those of an earlier call, as no other tasks than these
    /// and new ones can be open.
    ///
    /// # Errors
    /// If a claim cannot be read.
    pub fn open_tasks(&self, before: Option<Open>) -> io::Result<Open> {
        let Open { mut claims, last } = before.unwrap_or_default();
        claims.retain(|(_, claim)| !self.is_committed(&claim.id));
        let now = self.last();
        for number in last + 1..=now {
            let Head { id, directories, .. } = Head::read(self.claim_file(number)?)?;
            if !self.is_committed(&id) {
                claims.push((number, Claim { id, directories, waiting: 0 }));
            }
        }
        Ok(Open { claims, last: now })
    }

    fn is_committed(&self, id: &str) -> bool {
        self.shard(id).is_ok_and(|shard| shard.exists())
    }

    /// One of these tasks that was claimed this long ago, and not given again since. Times are those of the file server.
    ///
    /// # Errors
    /// If the time cannot be read or written.
    pub fn give_again(&self, open: &Open, age: Duration) -> io::Result<Option<Claim>> {
        let clock = self.temporary(|file| file.create(PRIVATE).map(drop))?;
        let now = clock.modified()?;
        for (number, claim) in &open.claims {
            let file = self.claim_file(*number)?;
            let then = modified(&file)?;
            if now.duration_since(then).is_ok_and(|passed| passed >= age) {
                let touched = file.append().and_then(|open| open.set_modified(now));
                touched.map_err(|error| message::cannot_write(&file.path(), &error))?;
                return Ok(Some(claim.clone()));
            }
        }
        Ok(None)
    }

    /// How many directories wait.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn waiting(&self) -> io::Result<u64> {
        self.now().map(|head| head.waiting())
    }

    /// The number of the last claim.
    pub(super) fn last(&self) -> u64 {
        let _ = self.dir.sub(LOG);
        let is_there = |number: u64| self.claim_file(number).is_ok_and(|claim| claim.exists());
        let mut beyond = 1;
        while is_there(beyond) {
            beyond *= 2;
        }
        let (mut last, mut beyond) = (beyond / 2, beyond);
        while beyond - last > 1 {
            let middle = last + (beyond - last) / 2;
            if is_there(middle) { last = middle } else { beyond = middle }
        }
        last
    }

    /// The last claim, with what waits now.
    fn now(&self) -> io::Result<Head> {
        let mut head = match self.last() {
            0 => self.beginning()?,
            last => {
                let head = Head::read(self.claim_file(last)?)?;
                self.follow(&head)?;
                Head { number: last, ..head }
            }
        };
        head.taken.clear();
        // Opening a directory makes an NFS client ask for changes.
        let _ = self.dir.sub(TAKEN);
        let hints = self.dir.sub(WAITING).and_then(|waiting| waiting.names());
        for name in hints.map_err(|error| message::cannot_read(self.waiting.path(), &error))? {
            if let Some(id) = name.to_str().filter(|id| is_id(id)) {
                self.add(id, &mut head)?;
            }
        }
        Ok(head)
    }

    /// Before the first claim the roots wait.
    fn beginning(&self) -> io::Result<Head> {
        let (at, left) = (Plan::cursor(self.dir.file(PLAN)?)?, self.plan.roots.len() as u64);
        let roots = Source { id: String::new(), attempt: String::new(), at, left };
        Ok(Head { sources: vec![roots], ..Head::default() })
    }

    /// Adds what a committed task left over, unless it is there or was taken.
    fn add(&self, id: &str, head: &mut Head) -> io::Result<()> {
        if head.sources.iter().any(|source| source.id == id) {
            return Ok(());
        }
        let is_taken = self.taken.file(id)?.exists();
        let done = if is_taken { None } else { self.done(id)? };
        match done {
            Some(done) if done.left > 0 => {
                let (_, at) = Reader::head(self.left_file(id, &done.attempt)?)?;
                head.sources.push(Source { id: id.to_string(), attempt: done.attempt, at, left: done.left });
            }
            // A second attempt may have said this again, or one that lost.
            Some(_) => self.forget(id),
            None if is_taken => self.forget(id),
            // Not committed yet.
            None => {}
        }
        Ok(())
    }

    fn forget(&self, id: &str) {
        let _ = self.waiting.file(id).and_then(|hint| hint.remove());
    }

    pub(super) fn left_file(&self, id: &str, attempt: &str) -> io::Result<Named> {
        self.left.file(format!("{id}.{attempt}"))
    }

    fn source_file(&self, source: &Source) -> io::Result<Named> {
        match source.id.is_empty() {
            true => self.dir.file(PLAN),
            false => self.left_file(&source.id, &source.attempt),
        }
    }

    /// The number, unless a task has this ID.
    fn new_id(&self, number: u64) -> String {
        let plain = number.to_string();
        let others = (1..).map(|other| format!("{number}-{other}"));
        let mut ids = std::iter::once(plain).chain(others);
        ids.find(|id| !self.has(id)).unwrap_or_default()
    }

    /// Takes the directories of this claim from its sources, and writes it. Returns false if another process was first.
    fn append(&self, head: &mut Head) -> io::Result<bool> {
        let from = head.sources.clone();
        // First how far, as this stands in front of the directories.
        let mut want = head.directories;
        for source in &mut head.sources {
            let taken = self.take(source, want, &mut |_| Ok(()))?;
            want -= taken;
        }
        let used = head.sources.extract_if(.., |source| source.left == 0);
        head.taken = used.map(|source| source.id).filter(|id| !id.is_empty()).collect();
        let temporary = self.temporary(|file| {
            let mut bytes = Vec::new();
            head.put(&mut bytes);
            let mut writer = Writer::create(file, &bytes)?;
            let mut want = head.directories;
            for mut source in from {
                want -= self.take(&mut source, want, &mut |record| writer.push(record))?;
            }
            writer.finish().map(drop)
        })?;
        temporary.publish(&self.claim_file(head.number)?)
    }

    /// Gives at most so many directories of a source, and moves its place behind them. Returns how many these were.
    fn take(
        &self,
        source: &mut Source,
        want: u64,
        give: &mut dyn FnMut(&super::list::Record<'_>) -> io::Result<()>,
    ) -> io::Result<u64> {
        let count = want.min(source.left);
        if count == 0 {
            return Ok(0);
        }
        let file = self.source_file(source)?;
        let path = file.path();
        let mut reader = Reader::open(file, source.at)?;
        for _ in 0..count {
            match reader.next()? {
                Some(record) => give(&record)?,
                None => return Err(message::damaged(&path, "directories are missing")),
            }
        }
        source.at = reader.cursor();
        source.left -= count;
        Ok(count)
    }

    /// Does what a claim implies, unless it is done.
    fn follow(&self, head: &Head) -> io::Result<()> {
        let claim = self.claims.file(&head.id)?;
        if !claim.exists() {
            let cannot_write = |error| message::cannot_write(&claim.path(), &error);
            match self.claim_file(head.number)?.link(&claim) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(cannot_write(error)),
                _ => {}
            }
            self.claims.sync().map_err(cannot_write)?;
        }
        for id in &head.taken {
            let taken = self.taken.file(id)?;
            if !taken.exists() {
                mark(&taken)?;
            }
            self.forget(id);
        }
        Ok(())
    }
}
