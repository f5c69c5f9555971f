//! Requests for extended attributes: the mark after the mode, the capability, the security context.

use super::ask::Asker;
use super::question::dir_is_cwd;
use super::request_counts::Call;
use crate::batch::{Asked, Bits, Meta, xattr_list};
use crate::needs::{Kind, Needs};
use alloc::vec;
use core::ffi::CStr;
use dents_engine::limit::policy::{Lists, Policy};
use dents_sys::stat::{self, Flags, Mask};
use dents_sys::{AsFd, BorrowedFd, CWD, Errno, Result, cwd, statfs, xattr};

/// Room for the attribute names of one file; `XATTR_LIST_MAX` is 64 KiB, used only after `ERANGE`.
const LIST: usize = 1024;
const LIST_MAX: usize = 64 * 1024;

/// Requests through /proc before it pays off to change the working directory.
const BY_PATH: u32 = 8;

/// Room for a security context: SELinux limits it to a page, most have 40 bytes.
const CONTEXT: usize = 256;
const CONTEXT_MAX: usize = 4096;

const SELINUX: &CStr = c"security.selinux";
const SMACK: &CStr = c"security.SMACK64";
const NFS4_ACL: &CStr = c"system.nfs4_acl";

/// The needs that a list of attribute names answers.
pub(super) const LISTED: Needs = Needs::MARKS.union(Needs::CAPABILITY);

/// Where SMACK's file system is mounted on a machine that runs it.
pub(super) const SMACK_RUNS: &CStr = c"/sys/fs/smackfs/load2";

/// Where SELinux's file system is mounted on a machine that runs it.
const SELINUX_RUNS: &CStr = c"/sys/fs/selinux/enforce";

/// The attributes that [`Names`] recognizes on a file system without NFSv4 ACLs, where SMACK does not run, and the
/// needs they serve.
const NAMES: [(&CStr, Needs); 4] = [
    (SELINUX, MARKS),
    (c"system.posix_acl_access", MARKS),
    (DEFAULT_ACL, MARKS),
    (c"security.capability", Needs::CAPABILITY),
];
const MARKS: Needs = Needs::MARKS.union(Needs::CONTEXT);

/// Only directories have this attribute.
const DEFAULT_ACL: &CStr = c"system.posix_acl_default";

/// The attributes to request one by one where no list can be requested.
pub(super) fn names(kind: Kind, needs: Needs) -> impl Iterator<Item = &'static CStr> {
    let wanted = move |(name, of): &(&CStr, Needs)| {
        needs.intersects(*of) && (kind == Kind::Dir || *name != DEFAULT_ACL)
    };
    NAMES.into_iter().filter(wanted).map(|(name, _)| name)
}

/// The attributes of an entry, by their names.
#[derive(Clone, Copy, Default)]
struct Names {
    posix_acl: bool,
    nfs4_acl: bool,
    capability: bool,
    /// The attribute that holds a security context.
    context: Option<&'static CStr>,
}

impl Names {
    fn of(list: &[u8]) -> Names {
        let mut names = Names::default();
        for name in xattr::names(list) {
            match name {
                b"system.posix_acl_access" | b"system.posix_acl_default" => names.posix_acl = true,
                b"system.nfs4_acl" => names.nfs4_acl = true,
                b"security.capability" => names.capability = true,
                b"security.selinux" => names.context = Some(SELINUX),
                b"security.SMACK64" => names.context = names.context.or(Some(SMACK)),
                _ => {}
            }
        }
        names
    }
}

impl<'a> Asker<'a> {
    /// Requests the attributes in `needs`. For a file without attributes, as nearly all files are, one `listxattrat`
    /// is enough for marks and capabilities. A context and an NFSv4 ACL cost a `getxattrat` each. If only the context
    /// is needed, it is requested directly.
    pub(super) fn xattrs(
        &mut self,
        name: &CStr,
        meta: &mut Meta,
        kind: Kind,
        needs: Needs,
        device: Option<(u32, u32)>,
    ) {
        let mut needs = needs;
        if needs.contains(Needs::NEAR_MARK) && self.is_far() {
            meta.bits |= Bits::UNMARKED;
            needs -= Needs::NEAR_MARK;
            if !needs.intersects(Needs::XATTRS) {
                return;
            }
        }
        let began = self.clock();
        let mut answer = if needs.intersects(LISTED) {
            self.attributes(name, meta, kind, needs)
        } else if needs.contains(Needs::CONTEXT) {
            self.bare_context(name, meta)
        } else {
            Ok(())
        };
        if answer.is_ok() && needs.contains(Needs::XATTR_LIST) {
            answer = self.xattr_list(name, meta, needs.intersects(LISTED));
        }
        self.note(kind, Call::Xattr, began);
        match answer {
            Ok(()) => {}
            Err(Errno::OPNOTSUPP) => self.without_xattrs = device,
            // The errors for "no attribute here" of various file systems (acl_get_file(3)).
            Err(Errno::NOSYS | Errno::INVAL | Errno::BUSY | Errno::NODATA) => {}
            Err(errno) => self.tally.fault(meta, Asked::Xattr, errno),
        }
    }

    /// All names, and the sizes of their values. A value that vanished has no size. If `listed`, the names were
    /// already requested for other needs.
    fn xattr_list(&mut self, name: &CStr, meta: &mut Meta, listed: bool) -> Result<()> {
        let len = if listed { self.listed } else { self.names(name)? };
        let start = self.texts.links.len();
        let (room, mut value) =
            (core::mem::take(&mut self.room), vec![0; if len > 0 { LIST_MAX } else { 0 }]);
        for attribute in room[..len].split_inclusive(|byte| *byte == 0) {
            let Ok(attribute) = CStr::from_bytes_with_nul(attribute) else { break };
            self.tally.xattrs += 1;
            let size = self.value(name, attribute, &mut value).ok().map(|value| value.len() as u32);
            xattr_list::write(attribute.to_bytes(), size, &mut self.texts.links);
        }
        self.room = room;
        // Written first because its length is not known before; removed again if it does not fit.
        let list = self.texts.links.split_off(start);
        let start = self.texts.room(list.len())?;
        self.texts.links.extend_from_slice(&list);
        if let Some(extra) = self.extra_mut(meta) {
            extra.xattrs = (start, list.len() as u32);
        }
        Ok(())
    }

    fn attributes(&mut self, name: &CStr, meta: &mut Meta, kind: Kind, needs: Needs) -> Result<()> {
        if self.question.lists == Lists::OfUsers {
            return Ok(());
        }
        if self.question.lists == Lists::Apart && !self.has_selinux() {
            // No such file system has capabilities.
            return self.mark_without_list(name, meta, kind, needs);
        }
        let names = match self.names(name) {
            // An NFS 4.2 server refuses the list of a file that the user may not read, but not its ACL.
            Err(Errno::ACCESS) => return self.mark_without_list(name, meta, kind, needs),
            len => Names::of(&self.room[..len?]),
        };
        meta.bits.set(Bits::CAPABILITY, names.capability);
        if !needs.intersects(MARKS) {
            return Ok(());
        }
        // Only NFS 4 has this attribute: the next entries need no list.
        if names.nfs4_acl {
            self.question.lists = Lists::Apart;
        }
        // An NFSv4 ACL takes precedence. A symbolic link has no ACL, but may have a context.
        let acl = if names.nfs4_acl { self.nfs4_acl(name)? } else { names.posix_acl };
        meta.bits.set(Bits::ACL, acl && kind != Kind::Link);
        match names.context {
            // A label left by another machine; GNU ls ignores it.
            Some(attribute) if attribute == SMACK && !self.has_smack() => Ok(()),
            Some(attribute) => self.context(name, attribute, meta, needs),
            None => Ok(()),
        }
    }

    fn mark_without_list(&mut self, name: &CStr, meta: &mut Meta, kind: Kind, needs: Needs) -> Result<()> {
        let acl = needs.contains(Needs::MARK) && self.acl_without_list(name, kind)?;
        meta.bits.set(Bits::ACL, acl && kind != Kind::Link);
        Ok(())
    }

    /// Whether an entry has an ACL, on NFS. A list would cost a request of its own (LISTXATTRS of NFS 4.2), which returns users'
    /// attributes alone, so the ACL is requested by its name: one GETACL, or none where the server has no ACLs. NFS 4 has one
    /// attribute for it and NFS 3 another; the client refuses that of the other version without a request. An ACL that the user may
    /// not see is none, as for GNU ls.
    fn acl_without_list(&mut self, name: &CStr, kind: Kind) -> Result<bool> {
        let is_hidden = match self.nfs4_acl(name) {
            Err(errno @ (Errno::OPNOTSUPP | Errno::ACCESS)) => errno == Errno::ACCESS,
            answer => return answer,
        };
        for acl in names(kind, Needs::MARK).filter(|acl| *acl != SELINUX) {
            self.tally.xattrs += 1;
            match self.value(name, acl, &mut []) {
                // Longer than the empty buffer: there is one.
                Ok(_) | Err(Errno::RANGE) => return Ok(true),
                Err(Errno::NODATA | Errno::ACCESS) => {}
                Err(Errno::OPNOTSUPP) if is_hidden => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(false)
    }

    /// Lists the names into the buffer. Returns their length in bytes.
    fn names(&mut self, name: &CStr) -> Result<usize> {
        self.tally.xattrs += 1;
        let mut room = core::mem::take(&mut self.room);
        if room.is_empty() {
            room = vec![0; LIST];
        }
        let mut answer = self.list(name, &mut room);
        if answer.as_ref().is_err_and(|errno| *errno == Errno::RANGE) {
            room = vec![0; LIST_MAX];
            self.tally.xattrs += 1;
            answer = self.list(name, &mut room);
        }
        self.room = room;
        self.listed = *answer.as_ref().unwrap_or(&0);
        answer
    }

    /// The directory for requests by name; its descriptor where the kernel takes one (since 6.13).
    #[inline]
    fn base(&mut self) -> BorrowedFd<'a> {
        if xattr::goes_by_path() { self.base_of_bare_names() } else { self.question.dir }
    }

    /// Requests by path go through /proc, which doubles their time. So after a few requests this thread makes the
    /// directory its working directory until its asker is dropped (five system calls), and requests by bare name.
    #[cold]
    #[inline(never)]
    fn base_of_bare_names(&mut self) -> BorrowedFd<'a> {
        if dir_is_cwd(self.question.dir) {
            return CWD;
        }
        self.asked_by_path += 1;
        if self.asked_by_path > BY_PATH {
            let away = self.away.get_or_insert_with(|| cwd::enter(self.question.dir));
            if away.is_ok() {
                return CWD;
            }
        }
        self.question.dir
    }

    /// Lists the attributes of the entry that is held open, else of that name. Inlined, or it would be on a page of its
    /// own (`dls/listing.ld`).
    #[inline(always)]
    fn list(&mut self, name: &CStr, buffer: &mut [u8]) -> Result<usize> {
        if let Some(file) = &self.held {
            match xattr::listxattr(file.as_fd(), buffer) {
                // /proc is not mounted.
                Err(Errno::NOENT) => {}
                answer => return answer.map(<[u8]>::len),
            }
        }
        xattr::listxattrat(self.base(), name, self.question.follow, buffer).map(|list| list.len())
    }

    /// The same for the value of one attribute.
    fn value<'b>(&mut self, name: &CStr, attribute: &CStr, buffer: &'b mut [u8]) -> Result<&'b [u8]> {
        let len = match self.held.as_ref().map(|file| xattr::getxattr(file.as_fd(), attribute, buffer)) {
            None | Some(Err(Errno::NOENT)) => {
                xattr::getxattrat(self.base(), name, self.question.follow, attribute, buffer)?.len()
            }
            Some(answer) => answer?.len(),
        };
        Ok(&buffer[..len])
    }

    /// Whether the NFSv4 ACL grants or denies more than the permission bits.
    fn nfs4_acl(&mut self, name: &CStr) -> Result<bool> {
        self.tally.xattrs += 1;
        let mut acl = [0; nfs4::TRIVIAL_MAX];
        match self.value(name, NFS4_ACL, &mut acl) {
            Ok(acl) => nfs4::is_nontrivial(acl).ok_or(Errno::INVAL),
            Err(Errno::RANGE) => Ok(true),
            Err(Errno::NODATA) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    /// Whether a server answers, as far as the file system of the directory tells: two system calls, once, if its policy is not known (before
    /// Linux 6.8 one of them is a request). Operands may be anywhere, and are asked about.
    fn is_far(&mut self) -> bool {
        if self.question.lists != Lists::WithMetadata {
            return true;
        }
        let dir = self.question.dir;
        let looked_up = || !dir_is_cwd(dir) && Policy::of(statfs::of_mount(dir).ok()).is_far();
        *self.far.get_or_insert_with(looked_up)
    }

    /// Whether the machine runs SMACK: one `statx` of the mount point of its file system, once. Most machines do not,
    /// and a context then has only one possible attribute.
    fn has_smack(&mut self) -> bool {
        let runs = || stat::statx(CWD, SMACK_RUNS, Flags::empty(), Mask::TYPE).is_ok();
        *self.smack.get_or_insert_with(runs)
    }

    /// Whether the machine runs SELinux, in the same way. If so, each file has a context.
    fn has_selinux(&mut self) -> bool {
        let runs = || stat::statx(CWD, SELINUX_RUNS, Flags::empty(), Mask::TYPE).is_ok();
        *self.selinux.get_or_insert_with(runs)
    }

    /// Requests the context directly, without a list.
    fn bare_context(&mut self, name: &CStr, meta: &mut Meta) -> Result<()> {
        match self.context(name, SELINUX, meta, Needs::CONTEXT) {
            Err(Errno::NODATA) if self.has_smack() => self.context(name, SMACK, meta, Needs::CONTEXT),
            answer => answer,
        }
    }

    fn context(&mut self, name: &CStr, attribute: &CStr, meta: &mut Meta, needs: Needs) -> Result<()> {
        self.tally.xattrs += 1;
        let mut short = [0; CONTEXT];
        let mut long;
        let value = match self.value(name, attribute, &mut short) {
            Err(Errno::RANGE) => {
                long = vec![0; CONTEXT_MAX];
                self.tally.xattrs += 1;
                self.value(name, attribute, &mut long)?
            }
            answer => answer?,
        };
        let context = value.split(|byte| *byte == 0).next().unwrap_or_default();
        // Two contexts mean none: SELinux's `unlabeled` is not shown; SMACK's `_` gets no mark.
        if attribute == SELINUX && context == b"unlabeled" {
            return Ok(());
        }
        meta.bits.set(Bits::CONTEXT, !(attribute == SMACK && context == b"_"));
        if needs.contains(Needs::CONTEXT) {
            self.keep_context(context, meta);
        }
        Ok(())
    }

    /// Stores a context among those seen. There are few distinct ones, so a search from the last is short.
    fn keep_context(&mut self, context: &[u8], meta: &mut Meta) {
        let contexts = &mut self.texts.contexts;
        let nth = contexts.iter().rposition(|known| known == context).unwrap_or_else(|| {
            contexts.push(context.to_vec());
            contexts.len() - 1
        });
        // After 65,535 distinct contexts the others count as unknown.
        meta.errno_or_context = u16::try_from(nth + 1).unwrap_or(0);
        meta.texts = self.texts_number as u16;
    }
}

/// NFSv4 ACLs in `system.nfs4_acl`: XDR, big-endian words of four bytes (RFC 7530, 6.2.1).
mod nfs4 {
    /// Six entries of at most four words and a name of three words: three principals, each allowed and denied. A larger
    /// ACL is not trivial.
    pub(super) const TRIVIAL_MAX: usize = 4 * (1 + 6 * 7);

    const TRIVIAL_ENTRIES: u32 = 6;
    const DENY: u32 = 1;
    const IDENTIFIER_GROUP: u32 = 0x40;

    /// Whether an ACL grants or denies more than permission bits can. `None` if it is malformed.
    pub(super) fn is_nontrivial(acl: &[u8]) -> Option<bool> {
        let mut rest = acl;
        let entries = word(&mut rest)?;
        if entries > TRIVIAL_ENTRIES {
            return Some(true);
        }
        for _ in 0..entries {
            let [kind, flags, _mask, len] =
                [word(&mut rest)?, word(&mut rest)?, word(&mut rest)?, word(&mut rest)?];
            let len = len as usize;
            let (who, after) = rest.split_at_checked(len.checked_next_multiple_of(4)?)?;
            rest = after;
            // The group flag is permitted: some servers set it for GROUP@.
            let plain = kind <= DENY && flags & !IDENTIFIER_GROUP == 0;
            if !plain || !matches!(&who[..len], b"OWNER@" | b"GROUP@" | b"EVERYONE@") {
                return Some(true);
            }
        }
        Some(false)
    }

    fn word(rest: &mut &[u8]) -> Option<u32> {
        let (word, after) = rest.split_first_chunk()?;
        *rest = after;
        Some(u32::from_be_bytes(*word))
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use alloc::vec::Vec;

        fn acl(entries: &[(u32, u32, &str)]) -> Vec<u8> {
            let mut acl = (entries.len() as u32).to_be_bytes().to_vec();
            for (kind, flags, who) in entries {
                for word in [*kind, *flags, 0x1f, who.len() as u32] {
                    acl.extend(word.to_be_bytes());
                }
                acl.extend(who.bytes());
                acl.resize(acl.len().next_multiple_of(4), 0);
            }
            acl
        }

        #[test]
        fn an_acl_that_equals_permission_bits_is_trivial() {
            let trivial =
                acl(&[(0, 0, "OWNER@"), (1, 0, "OWNER@"), (0, 0x40, "GROUP@"), (0, 0, "EVERYONE@")]);
            assert_eq!(is_nontrivial(&trivial), Some(false));
            assert_eq!(is_nontrivial(&acl(&[])), Some(false));
            assert!(trivial.len() <= TRIVIAL_MAX);
        }

        #[test]
        fn a_larger_acl_is_not_trivial() {
            for entry in [(0, 0, "ann@example.org"), (0, 1, "OWNER@"), (2, 0, "EVERYONE@"), (0, 0, "OWNER")] {
                assert_eq!(is_nontrivial(&acl(&[(0, 0, "OWNER@"), entry])), Some(true), "{entry:?}");
            }
            assert_eq!(is_nontrivial(&acl(&[(0, 0, "OWNER@"); 7])), Some(true));
        }

        #[test]
        fn invalid_lists_are_neither() {
            let good = acl(&[(0, 0, "OWNER@"), (0, 0, "EVERYONE@")]);
            for end in 0..good.len() {
                assert_eq!(is_nontrivial(&good[..end]), None, "{end}");
            }
            assert_eq!(
                is_nontrivial(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]),
                None
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::prelude::v1::*;

    /// The attributes that a ring requests, one request each: each costs as much as a `statx`.
    #[test]
    fn only_relevant_attributes_are_requested_by_name() {
        let asked = |kind, needs| names(kind, needs).map(|name| name.to_str().unwrap()).collect::<Vec<_>>();
        let (label, acl) = ("security.selinux", "system.posix_acl_access");
        let (default, capability) = ("system.posix_acl_default", "security.capability");
        assert_eq!(asked(Kind::Reg, Needs::MARK), [label, acl]);
        assert_eq!(asked(Kind::Dir, Needs::MARK), [label, acl, default]);
        assert_eq!(asked(Kind::Reg, Needs::MARK | Needs::CAPABILITY), [label, acl, capability]);
        assert_eq!(asked(Kind::Reg, Needs::CAPABILITY), [capability]);
    }
}
