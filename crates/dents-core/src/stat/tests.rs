//! The contract of the strategies: all fill equal slots.

use super::*;
use crate::batch::{Asked, Entry, Mark, Target};
use crate::needs::Needs;
use crate::read::{Filter, Hidden, Reader};
use crate::test_threads::{Refused, Std};
use crate::watchdog::Watch;
use alloc::ffi::CString;
use core::ffi::CStr;
use dents_engine::limit::policy::Policy;
use dents_sys::{CWD, Errno};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::prelude::v1::*;
use std::{format, fs, vec};

/// A directory inside its own parent, because `..` is listed too and must not change.
struct Tree(std::path::PathBuf);

impl Tree {
    fn new(name: &str, files: usize) -> Tree {
        let path = std::env::temp_dir().join(format!("dents-{name}-{}/tree", std::process::id()));
        fs::create_dir_all(path.join("sub")).expect("temporary directory");
        for i in 0..files {
            fs::write(path.join(format!("file{i}")), vec![b'x'; i % 300]).expect("file");
        }
        symlink("sub", path.join("to-dir")).expect("link");
        symlink("nowhere", path.join("dangling")).expect("link");
        symlink("loop", path.join("loop")).expect("link");
        Tree(path)
    }

    fn read(&self, needs: &NeedsByKind, mode: Mode, workers: &dyn Workers) -> (Batch, Report) {
        let resources = Resources {
            mode,
            threads: &Threads::new(Some(3)),
            workers,
            mounts: None,
            rings: None,
            lazy: false,
            counter: None,
        };
        list(&self.0, needs, false, &resources)
    }

    /// The directory, opened as if it were on NFS.
    fn on_nfs(&self) -> Reader {
        let path = CString::new(self.0.to_str().expect("UTF-8")).expect("no NUL");
        let reader = Reader::open(CWD, &path, true).expect("opens");
        reader.pretend(FsType::NFS);
        reader
    }

    /// Sets an attribute. Returns whether that is permitted here.
    fn mark(&self, name: &str, attribute: &CStr, value: &[u8]) -> bool {
        let path = CString::new(self.0.join(name).to_str().expect("UTF-8")).expect("no NUL");
        rustix::fs::setxattr(path.as_c_str(), attribute, value, rustix::fs::XattrFlags::empty()).is_ok()
    }
}

fn list(path: &Path, needs: &NeedsByKind, follow: bool, resources: &Resources<'_>) -> (Batch, Report) {
    let path = CString::new(path.to_str().expect("UTF-8")).expect("no NUL");
    let mut reader = Reader::open(CWD, &path, true).expect("opens");
    let mut batch = Batch::new(*needs);
    let filter = Filter { hidden: Hidden::All, ..Filter::default() };
    let asking = Asking { needs, follow, resources };
    let progress = read(&mut batch, &mut reader, &filter, &asking);
    let (report, ended) = fill_read(progress, &mut batch, &mut reader, &filter, &asking);
    assert_eq!(ended, Ok(()));
    (batch, report)
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.parent().unwrap_or(&self.0));
    }
}

fn facts(batch: &Batch) -> Vec<String> {
    let mut facts: Vec<String> = batch
        .iter()
        .map(|e| {
            let link = if e.kind() == Kind::Link { (e.link(), Some(e.target())) } else { (None, None) };
            format!(
                "{:?} {:o} {} {} {} {} {} {:?} {link:?} {:?} {:?} {} {:?}",
                e.name(),
                e.mode(),
                e.nlink(),
                e.uid(),
                e.gid(),
                e.size(),
                e.blocks(),
                e.time(),
                e.mark(),
                e.context(),
                e.has_capability(),
                e.fault()
            )
        })
        .collect();
    facts.sort();
    facts
}

fn everything() -> NeedsByKind {
    let most =
        Needs::all().difference(Needs::TIMES | Needs::LINK | Needs::TARGET | Needs::NEAR_MARK) | Needs::MTIME;
    NeedsByKind::all(most) | NeedsByKind::of(Kind::Link, Needs::LINK | Needs::TARGET)
}

#[test]
fn all_strategies_give_equal_slots() {
    for files in [0, 5, 700, 9000] {
        let tree = Tree::new(&format!("equal{files}"), files);
        let needs = everything();
        let (oracle, classic) = tree.read(&needs, Mode::Classic, &Refused);
        assert_eq!(classic.tally.stats as usize, files + 6 + 3, "files, 3 links, sub, . and .., 3 targets");
        for workers in [&Std as &dyn Workers, &Refused] {
            for mode in [Mode::Par, Mode::Iou, Mode::Auto] {
                let (batch, report) = tree.read(&needs, mode, workers);
                assert_eq!(facts(&batch), facts(&oracle), "{mode:?} with {files} files");
                assert_eq!(report.tally, classic.tally, "{mode:?} asks what classic asks");
            }
        }
    }
}

/// Workers whose replacements start at once.
struct Replacing;

impl Workers for Replacing {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        Std.run(workers, job);
    }

    fn with_replacements(
        &self,
        wanted: &(dyn Fn() -> bool + Sync),
        job: &(dyn Fn() + Sync),
        during: &mut dyn FnMut(),
    ) {
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    if wanted() {
                        job()
                    }
                });
            }
            during();
        });
    }
}

/// With replacement workers the same requests are made, each once.
#[test]
fn replacement_workers_change_nothing() {
    static WATCH: Watch = Watch::new();
    for files in [0, 1, 70, 500, 9000] {
        let tree = Tree::new(&format!("replaced{files}"), files);
        let needs = everything();
        let (oracle, classic) = tree.read(&needs, Mode::Classic, &Refused);
        for (mode, threads) in [(Mode::Auto, 2), (Mode::Auto, 1), (Mode::Par, 1), (Mode::Par, 3)] {
            let threads = Threads::new(Some(threads)).watched(Some(&WATCH));
            let resources = Resources {
                mode,
                threads: &threads,
                workers: &Replacing,
                mounts: None,
                rings: None,
                lazy: false,
                counter: None,
            };
            let (batch, report) = list(&tree.0, &needs, false, &resources);
            assert_eq!(facts(&batch), facts(&oracle), "{mode:?} with {files} files");
            let names = |batch: &Batch| batch.iter().map(|entry| entry.name().to_vec()).collect::<Vec<_>>();
            assert_eq!(names(&batch), names(&oracle), "{mode:?} keeps the order");
            assert_eq!(report.tally, classic.tally, "{mode:?} asks what classic asks");
        }
    }
}

#[test]
fn only_needed_facts_are_requested() {
    let tree = Tree::new("lazy", 100);
    let (_, report) = tree.read(&NeedsByKind::all(Needs::TYPE), Mode::Auto, &Std);
    assert_eq!(report.tally, Tally { entries: 106, avoided: 106, ..Tally::default() });
    let (batch, report) = tree.read(&NeedsByKind::of(Kind::Dir, Needs::MODE), Mode::Auto, &Std);
    assert_eq!(report.tally, Tally { entries: 106, stats: 3, avoided: 103, ..Tally::default() });
    assert_eq!(batch.iter().filter(Entry::is_known).count(), 3);
    let (batch, report) = tree.read(&NeedsByKind::of(Kind::Link, Needs::TARGET), Mode::Auto, &Std);
    // Three links; two of them dangle.
    assert_eq!(
        (report.tally.stats, report.tally.links),
        (5, 0),
        "one call through a link, one more if that fails"
    );
    let missing = batch.iter().filter(|e| e.kind() == Kind::Link && e.target() == Target::Missing);
    assert_eq!(missing.count(), 2);
}

#[test]
fn inode_numbers_of_readdir_are_believed_where_they_can_be() {
    use std::os::unix::fs::MetadataExt;
    let tree = Tree::new("inodes", 100);
    let path = CString::new(tree.0.to_str().expect("UTF-8")).expect("no NUL");
    let mut reader = Reader::open(CWD, &path, true).expect("opens");
    let needs = NeedsByKind::all(Needs::INODE);
    let mut batch = Batch::new(needs);
    reader.read_all(&Filter { hidden: Hidden::All, ..Filter::default() }, &mut batch).expect("reads");
    let mounts = crate::mounts::Mounts::default();
    let believed = mounts.below(reader.dir(), batch.len()).is_some();
    let resources = Resources {
        mode: Mode::Classic,
        threads: &Threads::new(None),
        workers: &Std,
        mounts: Some(&mounts),
        rings: None,
        lazy: false,
        counter: None,
    };
    let report =
        fill(&mut batch, reader.dir(), &Asking { needs: &needs, follow: false, resources: &resources });
    assert_eq!(report.tally.stats, if believed { 2 } else { 106 }, "at most . and ..");
    for entry in batch.iter() {
        let name = std::str::from_utf8(entry.name()).expect("UTF-8");
        let truth = fs::symlink_metadata(tree.0.join(name)).expect("is there").ino();
        assert!(entry.knows_ino() && entry.ino() == truth, "{name}");
    }
}

/// Every asker has its own texts; each entry must find its own text. Only root may set a label.
#[test]
fn security_contexts_under_every_strategy() {
    let tree = Tree::new("labels", 300);
    let label = |i: usize| format!("user:role:type_{}:s0", i % 7);
    let set = |i: usize| {
        let value = if i == 5 { "unlabeled".into() } else { label(i) };
        tree.mark(&format!("file{i}"), c"security.selinux", value.as_bytes())
    };
    if !(0..300).step_by(2).chain([5]).all(set) {
        assert!(!rustix::process::geteuid().is_root(), "root may label");
        return;
    }
    for needs in [Needs::MODE | Needs::CONTEXT, Needs::MODE | Needs::CONTEXT | Needs::MARK] {
        for mode in [Mode::Classic, Mode::Par, Mode::Iou, Mode::Auto] {
            let (batch, report) = tree.read(&NeedsByKind::all(needs), mode, &Std);
            assert_eq!(report.tally.faults, 0);
            for entry in batch.iter() {
                let name = std::str::from_utf8(entry.name()).expect("UTF-8");
                let number = name.strip_prefix("file").and_then(|number| number.parse::<usize>().ok());
                let labelled = number.filter(|number| number % 2 == 0).map(label);
                let context = entry.context().map(|context| String::from_utf8_lossy(context).into_owned());
                assert_eq!(context, labelled, "{mode:?} {name}");
            }
        }
    }
}

/// Extras are stored outside the slots; each entry must find its own, and its link and attributes through it.
#[test]
fn extras_under_every_strategy() {
    use std::os::unix::fs::MetadataExt;
    let tree = Tree::new("extras", 300);
    let tagged = tree.mark("file7", c"user.dents", b"12345") && tree.mark("file7", c"user.empty", b"");
    let needs = NeedsByKind::all(
        Needs::MODE | Needs::LINK | Needs::RDEV | Needs::EXTRA | Needs::XATTR_LIST | Needs::MARK,
    );
    for mode in [Mode::Classic, Mode::Par, Mode::Iou, Mode::Auto] {
        let (batch, report) = tree.read(&needs, mode, &Std);
        assert_eq!(report.tally.faults, 0);
        for entry in batch.iter() {
            let name = std::str::from_utf8(entry.name()).expect("UTF-8");
            let truth = fs::symlink_metadata(tree.0.join(name)).expect("is there");
            let extra = entry.extra().expect("was requested");
            let mtime = crate::batch::Time { sec: truth.mtime(), nsec: truth.mtime_nsec() as u32 };
            let ctime = crate::batch::Time { sec: truth.ctime(), nsec: truth.ctime_nsec() as u32 };
            assert_eq!((extra.mtime, extra.ctime), (mtime, ctime), "{mode:?} {name}");
            let link = fs::read_link(tree.0.join(name)).ok();
            let link = link.as_ref().map(|link| link.as_os_str().as_encoded_bytes());
            assert_eq!(entry.link(), link, "{mode:?} {name}");
            let mut list: Vec<_> =
                entry.xattr_list().filter(|(name, _)| name.starts_with(b"user.")).collect();
            list.sort();
            let expected: &[(&[u8], Option<u32>)] = &[(b"user.dents", Some(5)), (b"user.empty", Some(0))];
            let tagged = tagged && name == "file7";
            assert_eq!(list, if tagged { expected } else { &[] }, "{mode:?} {name}");
        }
    }
}

#[test]
fn a_vanished_entry_is_a_fault_of_its_own_and_no_more() {
    let tree = Tree::new("vanish", 300);
    let all = [Mode::Classic, Mode::Par, Mode::Iou, Mode::Auto].into_iter();
    for (mode, needs) in all.flat_map(|mode| [(mode, Needs::SIZE), (mode, Needs::SIZE | Needs::MARK)]) {
        let path = CString::new(tree.0.to_str().expect("UTF-8")).expect("no NUL");
        let mut reader = Reader::open(CWD, &path, true).expect("opens");
        let needs = NeedsByKind::all(needs);
        let mut batch = Batch::new(needs);
        fs::write(tree.0.join("gone"), "").expect("file");
        reader.read_all(&Filter::default(), &mut batch).expect("reads");
        fs::remove_file(tree.0.join("gone")).expect("removed");
        let resources = Resources {
            mode,
            threads: &Threads::new(Some(2)),
            workers: &Std,
            mounts: None,
            rings: None,
            lazy: false,
            counter: None,
        };
        fill(&mut batch, reader.dir(), &Asking { needs: &needs, follow: false, resources: &resources });
        let faults: Vec<_> = batch.iter().filter_map(|e| Some((e.name().to_vec(), e.fault()?))).collect();
        assert_eq!(faults, [(b"gone".to_vec(), (Asked::Stat, Errno::NOENT))], "{mode:?}");
        assert_eq!(batch.iter().filter(Entry::is_known).count(), batch.len() - 1);
    }
}

#[test]
fn magic_links_are_followed_by_their_text() {
    let file = fs::File::open("/proc/self/fd").expect("proc");
    let needs = NeedsByKind::of(Kind::Link, Needs::TARGET);
    let mut reader = Reader::open(CWD, c"/proc/self/ns", true).expect("opens");
    let mut batch = Batch::new(needs);
    reader.read_all(&Filter::default(), &mut batch).expect("reads");
    let resources = Resources {
        mode: Mode::Classic,
        threads: &Threads::new(None),
        workers: &Std,
        mounts: None,
        rings: None,
        lazy: false,
        counter: None,
    };
    fill(&mut batch, reader.dir(), &Asking { needs: &needs, follow: false, resources: &resources });
    // `mnt -> mnt:[4026531841]`: there is no such name, though stat through the link succeeds.
    assert!(batch.iter().all(|e| e.target() == Target::Missing));
    drop(file);
}

/// The value that `setfacl -m u:1:r` stores.
fn acl() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] = [(1, 6, !0), (2, 4, 1), (4, 4, !0), (16, 4, !0), (32, 4, !0)];
    let mut acl: Vec<u8> = 2_u32.to_le_bytes().into();
    for (tag, permissions, id) in entries {
        acl.extend(tag.to_le_bytes().iter().chain(&permissions.to_le_bytes()).chain(&id.to_le_bytes()));
    }
    acl
}

/// Few attributes, so that the ring requests them to the end, and so many that it gives up.
#[test]
fn marks_under_every_strategy() {
    for step in [40, 1] {
        let tree = Tree::new(&format!("marks{step}"), 1000);
        // VFS_CAP_REVISION_2, CAP_NET_RAW permitted and effective.
        let capability = [1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let set = |i: usize| {
            let name = format!("file{i}");
            match i / step % 5 {
                0 => tree.mark(&name, c"system.posix_acl_access", &acl()),
                1 => tree.mark(&name, c"security.capability", &capability),
                2 => tree.mark(&name, c"security.selinux", b"unlabeled"),
                3 => tree.mark(&name, c"security.SMACK64", b"_"),
                _ => tree.mark(&name, c"user.anything", b""),
            }
        };
        let set: Vec<bool> = (0..1000).step_by(step).map(set).collect();
        if set.contains(&false) {
            std::println!("not root, or a file system without attributes: {} set", set.len());
        }
        tree.mark("sub", c"system.posix_acl_default", &acl());
        let needs = everything();
        let (oracle, classic) = tree.read(&needs, Mode::Classic, &Refused);
        for mode in [Mode::Par, Mode::Iou, Mode::Auto] {
            let (batch, report) = tree.read(&needs, mode, &Std);
            assert_eq!(facts(&batch), facts(&oracle), "{mode:?}, every {step}th");
            assert_eq!(report.tally, classic.tally);
        }
    }
}

/// Without SMACK, a SMACK label left by another machine gives no mark, as in GNU ls.
#[test]
fn labels_of_smack_count_where_smack_runs() {
    let tree = Tree::new("smack", 300);
    if !tree.mark("file7", c"security.SMACK64", b"Label") {
        std::println!("not root, or a file system without attributes");
        return;
    }
    let runs = Path::new("/sys/fs/smackfs/load2").exists();
    for mode in [Mode::Classic, Mode::Par, Mode::Iou, Mode::Auto] {
        let (batch, _) = tree.read(&NeedsByKind::all(Needs::MODE | Needs::MARK), mode, &Std);
        let marked = |entry: &Entry<'_>| entry.name() == b"file7" && entry.mark() != crate::batch::Mark::None;
        assert_eq!(batch.iter().any(|entry| marked(&entry)), runs, "{mode:?}");
    }
}

/// One ring for directories on different devices, some without support, with entries on other devices.
#[test]
fn a_ring_goes_from_one_file_system_to_the_next() {
    let tree = Tree::new("devices", 30);
    tree.mark("file1", c"system.posix_acl_access", &acl());
    let rings = Rings::default();
    rings.read_ahead(c"/proc/self/comm".into(), 4096);
    let elsewhere = ["/", "/dev", "/dev/shm", "/proc/self", "/sys", "/"].map(Path::new);
    let paths = [tree.0.as_path()].into_iter().chain(elsewhere).chain([tree.0.as_path()]);
    let needs = NeedsByKind::all(Needs::MODE | Needs::MARK | Needs::CAPABILITY);
    // Names and facts that may change meanwhile are left out.
    let marks = |batch: &Batch| -> std::collections::BTreeMap<Vec<u8>, _> {
        let mark = |e: Entry<'_>| (e.name().to_vec(), (e.mode(), e.mark(), e.has_capability(), e.fault()));
        batch.iter().map(mark).collect()
    };
    for path in paths.filter(|path| path.is_dir()) {
        for follow in [false, true] {
            let threads = Threads::new(None);
            let resources = |mode| Resources {
                mode,
                threads: &threads,
                workers: &Refused,
                mounts: None,
                rings: Some(&rings),
                lazy: false,
                counter: None,
            };
            let oracle = marks(&list(path, &needs, follow, &resources(Mode::Classic)).0);
            let (batch, report) = list(path, &needs, follow, &resources(Mode::Iou));
            for (name, mark) in marks(&batch) {
                assert!(oracle.get(&name).is_none_or(|known| *known == mark), "{path:?} {name:?} {mark:?}");
            }
            assert!(report.refused.is_none() || report.choice.is_some());
        }
    }
    let comm = fs::read("/proc/self/comm").expect("proc");
    assert_eq!(
        (rings.read(c"/proc/self/comm", 4096), rings.read(c"/proc/self/comm", 4096)),
        (Ok(comm.clone()), Ok(comm))
    );
}

/// Faults of a directory with read permission and without search permission. Root may search it anyway.
#[test]
fn an_unsearchable_directory_is_a_fault_of_each_entry() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new("unsearchable", 50);
    fs::set_permissions(&tree.0, PermissionsExt::from_mode(0o744)).expect("chmod");
    let facts = |mode| {
        let needs = everything();
        std::thread::scope(|scope| {
            let nobody = || {
                let id = rustix::fs::Uid::from_raw(65534);
                // Only this thread. Without root, the uid already is another one, or the call fails.
                let _ = rustix::thread::set_thread_res_uid(id, id, id);
                facts(&tree.read(&needs, mode, &Refused).0)
            };
            scope.spawn(nobody).join().expect("no panic")
        })
    };
    let oracle = facts(Mode::Classic);
    assert!(!rustix::process::geteuid().is_root() || oracle.iter().all(|fact| fact.contains("Stat")));
    assert_eq!(facts(Mode::Iou), oracle);
    fs::set_permissions(&tree.0, PermissionsExt::from_mode(0o755)).expect("chmod");
}

/// An ACL that gives user 1 a permission of its own (`struct posix_acl_xattr_header` and entries, linux/posix_acl_xattr.h).
fn acl_of_user_1() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] =
        [(1, 7, u32::MAX), (2, 4, 1), (4, 5, u32::MAX), (0x10, 5, u32::MAX), (0x20, 5, u32::MAX)];
    let mut acl = 2u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        acl.extend([tag.to_le_bytes(), permissions.to_le_bytes()].concat());
        acl.extend(id.to_le_bytes());
    }
    acl
}

#[test]
fn marks_requested_last_are_those_requested_with_the_rest() {
    let tree = Tree::new("last", 300);
    let has_acls = tree.mark("file7", c"system.posix_acl_access", &acl_of_user_1())
        && tree.mark("sub", c"system.posix_acl_default", &acl_of_user_1());
    let needs = NeedsByKind::all(Needs::MODE | Needs::MARK);
    let (oracle, _) = tree.read(&needs, Mode::Classic, &Refused);
    let (mut batch, _) = tree.read(&needs.only(Needs::MODE), Mode::Classic, &Refused);
    let path = CString::new(tree.0.to_str().expect("UTF-8")).expect("no NUL");
    let reader = Reader::open(CWD, &path, true).expect("opens");
    let threads = Threads::new(None);
    let resources = auto(&threads);
    let listed = ListedDir::new(reader.dir(), None);
    let question = resources.question(&listed, &needs, false, true);
    let (policy, mut harvest) = (Policy::of(Some(FsType::NFS)), Harvest::default());
    assert!(marks::are_apart(&needs, policy) && !marks::are_apart(&needs, Policy::of(Some(FsType::EXT))));
    assert!(!marks::are_apart(&NeedsByKind::all(Needs::CONTEXT), policy), "a context has a text");
    let Batch { arena, dents, metas, .. } = &mut batch;
    marks::fill(
        (dents, Names { bytes: arena, from: 0 }),
        question,
        (&resources, policy),
        metas,
        &mut harvest,
    );
    batch.declared = needs;
    let marks = |batch: &Batch| {
        let marks = batch.iter().map(|entry| (entry.name().to_vec(), entry.mark(), entry.fault()));
        let mut marks: Vec<_> =
            marks.filter(|(_, mark, fault)| *mark != Mark::None || fault.is_some()).collect();
        marks.sort_by(|one, other| one.0.cmp(&other.0));
        marks
    };
    assert_eq!(marks(&batch), marks(&oracle));
    assert_eq!(marks(&oracle).len(), if has_acls { 2 } else { 0 });
}

/// Strategies are chosen, and std's threads started.
fn auto(threads: &Threads) -> Resources<'_> {
    let (mode, workers) = (Mode::Auto, &Std);
    Resources { mode, threads, workers, mounts: None, rings: None, lazy: false, counter: None }
}

/// Where marks are requested apart, a large directory is read, asked about and marked a part at a time. What is found is the same.
#[test]
fn marks_of_a_large_directory_come_in_parts() {
    let tree = Tree::new("parts", 3 * marks::AT_ONCE);
    let has_acls = ["file7", "file2500", "file6143"]
        .map(|name| tree.mark(name, c"system.posix_acl_access", &acl_of_user_1()));
    let needs = NeedsByKind::all(Needs::MODE | Needs::INODE | Needs::MARK | Needs::LINK);
    let (oracle, _) = tree.read(&needs, Mode::Classic, &Refused);
    let threads = Threads::new(None);
    let resources = auto(&threads);
    let asking = Asking { needs: &needs, follow: false, resources: &resources };
    let (mut reader, mut batch) = (tree.on_nfs(), Batch::new(needs));
    let filter = Filter { hidden: Hidden::All, ..Filter::default() };
    let progress = directory::read(&mut batch, &mut reader, &filter, &asking);
    let (report, ended) = directory::fill_read(progress, &mut batch, &mut reader, &filter, &asking);
    assert_eq!((ended, report.tally.entries), (Ok(()), oracle.len() as u64));
    let seen = |batch: &Batch| {
        let of = |entry: crate::batch::Entry<'_>| {
            let link = (entry.kind() == Kind::Link).then(|| entry.link().map(<[u8]>::to_vec));
            (entry.name().to_vec(), entry.mode(), entry.ino(), entry.mark(), link, entry.fault())
        };
        let mut seen: Vec<_> = batch.iter().map(of).collect();
        seen.sort_by(|one, other| one.0.cmp(&other.0));
        seen
    };
    assert_eq!(seen(&batch), seen(&oracle));
    let marked = seen(&batch).iter().filter(|entry| entry.3 == Mark::Acl).count();
    assert_eq!(marked, has_acls.iter().filter(|has| **has).count());
}

/// A caller that has read the first reply of a server does not read on before it asks about these names.
#[test]
fn a_first_reply_that_was_read_already_is_asked_about_first() {
    let tree = Tree::new("reply", 14);
    let (needs, threads) = (NeedsByKind::all(Needs::SIZE), Threads::new(None));
    let resources = auto(&threads);
    let asking = Asking { needs: &needs, follow: false, resources: &resources };
    let (mut reader, mut batch) = (tree.on_nfs(), Batch::new(needs));
    let filter = Filter { hidden: Hidden::All, ..Filter::default() };
    assert_eq!(reader.read(&filter, &mut batch), Ok(true));
    assert!(policy::FIRST_REPLY.contains(&batch.len()), "{}", batch.len());
    let progress = directory::read(&mut batch, &mut reader, &filter, &asking);
    assert!(matches!(progress, directory::ReadOutcome::Partial(_)), "it read on");
    let (report, ended) = directory::fill_read(progress, &mut batch, &mut reader, &filter, &asking);
    assert_eq!((ended, report.tally.entries, batch.len()), (Ok(()), 20, 20));
}
