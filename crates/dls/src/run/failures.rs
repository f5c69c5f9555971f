//! Errors of files: a message in GNU's words, and the exit status. The listing continues.

use super::directory::Origin;
use super::printer::Printer;
use crate::status::Status;
use alloc::format;
use alloc::string::String;
use dents_core::batch::{Asked, Batch, Entry, Mark};
use dents_core::deadline::UNANSWERED;
use dents_core::path::join;
use dents_core::tree::Problem;
use dents_core::tree::hierarchy::Failed;
use dents_render::quote;
use dents_sys::Errno;

impl Printer<'_, '_> {
    pub(super) fn already_listed(&mut self, path: &[u8]) {
        let name = quote::quotef(path, &self.session.plan.locale);
        let id = "%s: not listing already-listed directory";
        self.message().format(id, &[&name]).send(self.out);
        self.record(path, Errno::LOOP, "already being listed");
        self.raise(Status::Serious);
    }

    /// Reports the errors of entries in reading order. `parent` is `None` for operands.
    pub(super) fn faults(&mut self, batch: &Batch, parent: Option<&[u8]>) {
        if !batch.has_faults() {
            return;
        }
        for entry in batch.iter() {
            if let Some((asked, errno)) = entry.fault() {
                self.fault(&entry, asked, errno, parent);
            }
        }
    }

    /// Reports a directory that could not be opened, or not be read to its end.
    pub(super) fn closed(&mut self, failed: &Failed, origin: Origin) {
        match failed.problem {
            Problem::Open => self.cannot("cannot open directory %s", &failed.path, failed.errno, origin),
            Problem::Read => self.cannot("reading directory %s", &failed.path, failed.errno, origin),
            Problem::Loop => self.already_listed(&failed.path),
        }
    }

    /// With `--top`, reports the same errors whether all entries were asked at once or not: those of facts that the order
    /// needs, for all entries; all others for the shown entries.
    #[cold]
    #[inline(never)]
    pub(super) fn faults_of_top(&mut self, batch: &Batch, shown: &[u32], parent: &[u8]) {
        if !batch.has_faults() {
            return;
        }
        let needs = self.session.plan.order.needs(self.session.plan.style.long.time);
        let sorts = |entry: &Entry<'_>| needs.asks(entry.d_kind());
        let shown = batch.entries(shown).filter(|entry| !sorts(entry));
        for entry in batch.iter().filter(sorts).chain(shown) {
            if let Some((asked, errno)) = entry.fault() {
                self.fault(&entry, asked, errno, Some(parent));
            }
        }
    }

    pub(super) fn fault(&mut self, entry: &Entry<'_>, asked: Asked, errno: Errno, parent: Option<&[u8]>) {
        if errno == UNANSWERED {
            // One line counts all of them.
            return;
        }
        let path = match parent {
            None | Some(b".") => entry.name().to_vec(),
            Some(parent) => join(parent, entry.name()),
        };
        let what = match asked {
            Asked::Stat => "cannot access %s",
            Asked::Link => "cannot read symbolic link %s",
            // GNU ls marks it with `?`, without a message.
            Asked::Xattr if Mark::is_gone(errno) => return,
            Asked::Xattr => {
                // Only a mark is missing, the entry is shown: as for GNU, a message that does not change the exit
                // status.
                let name = quote::quotef(&path, &self.session.plan.locale);
                return self.message().text(name).errno(errno).send(self.out);
            }
        };
        if parent.is_none() {
            self.record(&path, errno, crate::errno::message(errno));
            let way_out = if errno == Errno::NOENT { self.way_out(&path) } else { String::new() };
            return self.tell(what, &path, errno, Origin::Operand, &way_out);
        }
        self.complain(what, &path, errno, Origin::Below);
    }

    /// Reports an error of a file in GNU's words. The exit status is worse for an operand.
    pub(super) fn cannot(&mut self, what: &'static str, path: &[u8], errno: Errno, origin: Origin) {
        self.record(path, errno, crate::errno::message(errno));
        self.complain(what, path, errno, origin);
    }

    /// Reports an error of an entry that is shown with a fact missing.
    pub(super) fn complain(&mut self, what: &'static str, path: &[u8], errno: Errno, origin: Origin) {
        self.tell(what, path, errno, origin, "");
    }

    /// A hint for a missing operand that would be a value of the option before it: `--tree 2` is two words, `--tree=2`
    /// an option.
    #[cold]
    fn way_out(&self, path: &[u8]) -> String {
        let said = self.session.plan.apart.iter().find(|(operand, _)| operand.to_bytes() == path);
        let way_out = said.and_then(|(_, option)| {
            let value = core::str::from_utf8(path).ok()?;
            Some(format!("; for {} say --{}={value}", option.value_name, option.long?))
        });
        way_out.unwrap_or_default()
    }

    fn tell(&mut self, what: &'static str, path: &[u8], errno: Errno, origin: Origin, way_out: &str) {
        let message = self.message().format(what, &[&self.quoted(path)]).errno(errno);
        message.text(way_out).send(self.out);
        self.raise(origin.status());
    }
}
