//! Errors of files: a message in GNU's words, and the exit status. The listing continues.

use super::Listing;
use super::directory::Origin;
use crate::message::Message;
use crate::status::Status;
use alloc::format;
use alloc::string::String;
use dents_core::batch::{Asked, Batch, Entry, Mark};
use dents_core::deadline::UNANSWERED;
use dents_core::path::join;
use dents_render::quote;
use dents_sys::Errno;

impl Listing<'_, '_, '_> {
    pub(super) fn already_listed(&mut self, path: &[u8]) {
        let name = quote::quotef(path, &self.plan.locale);
        let id = "%s: not listing already-listed directory";
        Message::new(self.plan.program).format(id, &[&name]).send(self.out);
        self.renderer.fail(path, Errno::LOOP.raw_os_error(), "already being listed");
        self.status.raise(Status::Serious);
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

    /// Reports the errors of operands. As for GNU, a path that `--hyperlink` cannot resolve comes first.
    pub(super) fn operand_faults(&mut self, batch: &Batch) {
        if self.plan.style.hyperlink.is_none() {
            return self.faults(batch, None);
        }
        for entry in batch.iter() {
            self.tell_nowhere(entry.name(), Origin::Operand);
            if let Some((asked, errno)) = entry.fault() {
                self.fault(&entry, asked, errno, None);
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
                let name = quote::quotef(&path, &self.plan.locale);
                return Message::new(self.plan.program).text(name).errno(errno).send(self.out);
            }
        };
        if parent.is_none() {
            self.renderer.fail(&path, errno.raw_os_error(), crate::errno::message(errno));
            let way_out = if errno == Errno::NOENT { self.way_out(&path) } else { String::new() };
            return self.tell(what, &path, errno, Origin::Operand, &way_out);
        }
        self.complain(what, &path, errno, Origin::Below);
    }

    /// Reports an error of a file in GNU's words. The exit status is worse for an operand.
    pub(super) fn cannot(&mut self, what: &'static str, path: &[u8], errno: Errno, origin: Origin) {
        self.renderer.fail(path, errno.raw_os_error(), crate::errno::message(errno));
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
        let said = self.plan.apart.iter().find(|(operand, _)| operand.to_bytes() == path);
        let way_out = said.and_then(|(_, option)| {
            let value = core::str::from_utf8(path).ok()?;
            Some(format!("; for {} say --{}={value}", option.value_name, option.long?))
        });
        way_out.unwrap_or_default()
    }

    fn tell(&mut self, what: &'static str, path: &[u8], errno: Errno, origin: Origin, way_out: &str) {
        let name = quote::quoteaf(path, &self.plan.locale);
        let message = Message::new(self.plan.program).format(what, &[&name]).errno(errno);
        message.text(way_out).send(self.out);
        self.status.raise(origin.status());
    }
}
