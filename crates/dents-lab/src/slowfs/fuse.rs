//! The kernel's requests, each passed to the server with its answer.
//!
//! The tree is read when the answer is sent, not when the request arrives, as on a server behind a slow network.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use fuser::{
    AccessFlags, Errno as FuseErrno, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyXattr,
};
use rustix::io::Errno;

use super::request::{Request, to_fuse};
use super::server::{Answer, Question, Server};
use super::tree::{ROOT, Tree};

/// What the kernel may do with answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Habits {
    pub(super) entry_ttl: Duration,
    pub(super) attr_ttl: Duration,
    pub(super) readdirplus: Readdirplus,
    pub(super) hide_types: bool,
    pub(super) serial: bool,
    pub(super) churns: bool,
}

/// Whether the kernel may read names and attributes at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readdirplus {
    /// Never: the default.
    #[default]
    Off,
    /// As the kernel judges: for the first piece, and while the listing process also calls stat.
    Auto,
    /// Always.
    Always,
}

/// The functions that `fuser` calls.
pub(super) struct Fuse {
    pub(super) server: Arc<Server>,
    pub(super) tree: Arc<Mutex<Tree>>,
    pub(super) habits: Habits,
    /// The device, known once the file system is mounted.
    pub(super) device: Arc<OnceLock<OwnedFd>>,
}

pub(super) fn lock(tree: &Mutex<Tree>) -> MutexGuard<'_, Tree> {
    tree.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Fuse {
    fn accept(&self, request: Request, inode: u64, from: &fuser::Request, answer: Answer) {
        self.server.accept(Question { request, inode, thread: from.pid() }, answer);
    }

    /// A request whose answer is a value of the tree: `ask` finds it, `tell` sends it, `fail` sends the error.
    fn ask<T, R: Send + 'static>(
        &self,
        (request, inode, from): (Request, u64, &fuser::Request),
        reply: R,
        ask: impl FnOnce(&Tree) -> Result<T, Errno> + Send + 'static,
        tell: impl FnOnce(R, T) + Send + 'static,
        fail: impl FnOnce(R, FuseErrno) + Send + 'static,
    ) {
        let tree = self.tree.clone();
        let answer = move |error: Option<Errno>| {
            let found = match error {
                Some(error) => Err(error),
                None => ask(&lock(&tree)),
            };
            match found {
                Ok(value) => tell(reply, value),
                Err(error) => fail(reply, to_fuse(error)),
            }
        };
        self.accept(request, inode, from, Box::new(answer));
    }
}

/// An attribute or the list of them, as `size` asks for it: its length, or all of it.
fn send_xattr(reply: ReplyXattr, size: u32, value: &[u8]) {
    match size as usize {
        0 => reply.size(value.len() as u32),
        room if room < value.len() => reply.error(FuseErrno::ERANGE),
        _ => reply.data(value),
    }
}

impl Filesystem for Fuse {
    fn init(&mut self, _from: &fuser::Request, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = [
            (!self.habits.serial, InitFlags::FUSE_PARALLEL_DIROPS),
            (self.habits.readdirplus != Readdirplus::Off, InitFlags::FUSE_DO_READDIRPLUS),
            (self.habits.readdirplus == Readdirplus::Auto, InitFlags::FUSE_READDIRPLUS_AUTO),
        ];
        for (_, flag) in wanted.into_iter().filter(|row| row.0) {
            config
                .add_capabilities(flag)
                .map_err(|flag| io::Error::other(format!("the kernel lacks {flag:?}")))?;
        }
        Ok(())
    }

    fn lookup(&self, from: &fuser::Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let inode = lock(&self.tree).lookup(parent.0, name).unwrap_or(0);
        let (habits, name) = (self.habits, name.to_os_string());
        self.ask(
            (Request::Lookup, inode, from),
            reply,
            move |tree| tree.attributes(tree.lookup(parent.0, &name)?),
            move |reply, attributes| {
                reply.entry_with_ttls(&habits.attr_ttl, &habits.entry_ttl, &attributes, Generation(0));
            },
            ReplyEntry::error,
        );
    }

    fn forget(&self, from: &fuser::Request, inode: INodeNo, _nlookup: u64) {
        self.accept(Request::Forget, inode.0, from, Box::new(|_| ()));
    }

    fn getattr(&self, from: &fuser::Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let ttl = self.habits.attr_ttl;
        self.ask(
            (Request::Getattr, inode.0, from),
            reply,
            move |tree| tree.attributes(inode.0),
            move |reply, attributes| reply.attr(&ttl, &attributes),
            ReplyAttr::error,
        );
    }

    fn readlink(&self, from: &fuser::Request, inode: INodeNo, reply: ReplyData) {
        self.ask(
            (Request::Readlink, inode.0, from),
            reply,
            move |tree| tree.target(inode.0),
            ReplyData::data,
            ReplyData::error,
        );
    }

    fn open(&self, from: &fuser::Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let opened = |reply: ReplyOpen, _| reply.opened(FileHandle(0), FopenFlags::empty());
        self.ask((Request::Open, inode.0, from), reply, |_| Ok(()), opened, ReplyOpen::error);
    }

    /// A file contains as many spaces as its size.
    fn read(
        &self,
        from: &fuser::Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.ask(
            (Request::Read, inode.0, from),
            reply,
            move |tree| Ok(tree.attributes(inode.0)?.size),
            move |reply, length| {
                let count = length.saturating_sub(offset).min(u64::from(size));
                reply.data(&vec![b' '; count as usize]);
            },
            ReplyData::error,
        );
    }

    fn release(
        &self,
        from: &fuser::Request,
        inode: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.accept(Request::Release, inode.0, from, Box::new(|_| reply.ok()));
    }

    fn opendir(&self, from: &fuser::Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let opened = |reply: ReplyOpen, _| reply.opened(FileHandle(0), FopenFlags::empty());
        self.ask((Request::Opendir, inode.0, from), reply, |_| Ok(()), opened, ReplyOpen::error);
    }

    fn readdir(
        &self,
        from: &fuser::Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let (tree, device, habits) = (self.tree.clone(), self.device.clone(), self.habits);
        let unique = from.unique().0;
        let answer = move |error: Option<Errno>| {
            let mut piece = super::raw::Untyped::new(unique);
            let listed = match error {
                Some(error) => Err(error),
                None => live(&tree, inode, habits).list(inode.0, offset, &mut |listed| {
                    let file_type = listed.kind.file_type();
                    let full = reply.add(INodeNo(listed.inode), listed.cookie, file_type, &listed.name);
                    if !full {
                        piece.add(&listed);
                    }
                    !full
                }),
            };
            match (listed, device.get()) {
                (Ok(()), Some(device)) if habits.hide_types => piece.send(device, reply),
                (Ok(()), _) => reply.ok(),
                (Err(error), _) => reply.error(to_fuse(error)),
            }
        };
        self.accept(Request::Readdir, inode.0, from, Box::new(answer));
    }

    fn readdirplus(
        &self,
        from: &fuser::Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let (tree, habits) = (self.tree.clone(), self.habits);
        let answer = move |error: Option<Errno>| {
            let tree = live(&tree, inode, habits);
            // fuser has one time to live for both; the shorter one is correct for both.
            let ttl = habits.attr_ttl.min(habits.entry_ttl);
            let listed = match error {
                Some(error) => Err(error),
                None => tree.list(inode.0, offset, &mut |listed| match tree.attributes(listed.inode) {
                    Ok(attributes) => {
                        let inode = INodeNo(listed.inode);
                        !reply.add(inode, listed.cookie, &listed.name, &ttl, &attributes, Generation(0))
                    }
                    Err(_) => true,
                }),
            };
            match listed {
                Ok(()) => reply.ok(),
                Err(error) => reply.error(to_fuse(error)),
            }
        };
        self.accept(Request::Readdirplus, inode.0, from, Box::new(answer));
    }

    fn releasedir(
        &self,
        from: &fuser::Request,
        inode: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.accept(Request::Releasedir, inode.0, from, Box::new(|_| reply.ok()));
    }

    fn statfs(&self, from: &fuser::Request, inode: INodeNo, reply: ReplyStatfs) {
        let told =
            |reply: ReplyStatfs, ()| reply.statfs(1 << 20, 1 << 19, 1 << 19, 1 << 20, 0, 4096, 255, 4096);
        self.ask((Request::Statfs, inode.0, from), reply, |_| Ok(()), told, ReplyStatfs::error);
    }

    fn getxattr(&self, from: &fuser::Request, inode: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        let name = name.to_os_string();
        self.ask(
            (Request::Getxattr, inode.0, from),
            reply,
            move |tree| tree.xattr(inode.0, &name).map(<[u8]>::to_vec),
            move |reply, value| send_xattr(reply, size, &value),
            ReplyXattr::error,
        );
    }

    fn listxattr(&self, from: &fuser::Request, inode: INodeNo, size: u32, reply: ReplyXattr) {
        self.ask(
            (Request::Listxattr, inode.0, from),
            reply,
            move |tree| Ok(tree.xattr_names(inode.0)),
            move |reply, names| send_xattr(reply, size, &names),
            ReplyXattr::error,
        );
    }

    fn access(&self, from: &fuser::Request, inode: INodeNo, _mask: AccessFlags, reply: ReplyEmpty) {
        let allowed = |reply: ReplyEmpty, ()| reply.ok();
        self.ask((Request::Access, inode.0, from), reply, |_| Ok(()), allowed, ReplyEmpty::error);
    }
}

/// The tree, after the changing entries of the directory have been added and removed.
fn live(tree: &Mutex<Tree>, inode: INodeNo, habits: Habits) -> MutexGuard<'_, Tree> {
    let mut tree = lock(tree);
    if habits.churns && inode.0 == ROOT {
        tree.churn();
    }
    tree
}
