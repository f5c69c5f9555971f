//! The calls by descriptor and the calls by path must return the same, on any kernel that runs the tests.
use super::*;
use crate::{AsFd, OwnedFd, dir};
use rustix::fs::{XattrFlags, lsetxattr, setxattr};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::vec::Vec;
use std::{format, fs};

struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Tree {
        let tree = std::env::temp_dir().join(format!("dents-sys-xattr-{}-{name}", std::process::id()));
        fs::create_dir(&tree).unwrap();
        let tree = Tree(tree);
        for file in ["plain", "marked"] {
            fs::write(tree.0.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink("marked", tree.0.join("link")).unwrap();
        let marked = path(&tree.0.join("marked"));
        setxattr(&*marked, "user.one", b"first", XattrFlags::empty()).unwrap();
        setxattr(&*marked, "user.two", b"", XattrFlags::empty()).unwrap();
        tree
    }

    fn open(&self) -> OwnedFd {
        dir::open(CWD, &path(&self.0)).unwrap()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn path(path: &Path) -> CString {
    CString::new(path.to_str().unwrap()).unwrap()
}

fn sorted(list: &[u8]) -> Vec<&[u8]> {
    let mut sorted: Vec<_> = names(list).collect();
    sorted.sort();
    sorted
}

/// Makes the public call and the call by path, which must return the same.
fn list<'b>(dir: BorrowedFd<'_>, name: &CStr, follow: bool, buf: &'b mut [u8]) -> Result<&'b [u8]> {
    let mut old = [0; 1024];
    let size = old.len().min(buf.len());
    let by_path = list_by_path(dir, name, follow, &mut old[..size]);
    let answer = listxattrat(dir, name, follow, buf);
    match (by_path, &answer) {
        (Ok(len), Ok(list)) => assert_eq!(&old[..len], *list),
        (Ok(len), Err(errno)) => assert!(*errno == Errno::RANGE && len > size),
        (Err(errno), answer) => assert_eq!(Err(errno), *answer),
    }
    answer
}

#[test]
fn lists() {
    let tree = Tree::new("lists");
    let dir = tree.open();
    let mut buf = [0; 1024];
    let both: Vec<&[u8]> = [&b"user.one"[..], b"user.two"].into();
    assert_eq!(list(dir.as_fd(), c"marked", false, &mut buf).map(sorted), Ok(both.clone()));
    assert_eq!(list(dir.as_fd(), c"link", true, &mut buf).map(sorted), Ok(both.clone()));
    assert_eq!(list(dir.as_fd(), c"link", false, &mut buf), Ok(&b""[..]));
    assert_eq!(list(dir.as_fd(), c"plain", false, &mut buf), Ok(&b""[..]));
    assert_eq!(list(CWD, &path(&tree.0.join("marked")), false, &mut buf).map(sorted), Ok(both));
    assert_eq!(list(dir.as_fd(), c"missing", false, &mut buf), Err(Errno::NOENT));
    assert_eq!(list(dir.as_fd(), c"", false, &mut buf), Err(Errno::NOENT));
    assert_eq!(list(dir.as_fd(), c"plain/x", false, &mut buf), Err(Errno::NOTDIR));
    let long = CString::new("d/".repeat(2046)).unwrap();
    assert_eq!(list_by_path(dir.as_fd(), &long, false, &mut buf), Err(Errno::NAMETOOLONG));
}

#[test]
fn small_buffers() {
    let tree = Tree::new("small");
    let dir = tree.open();
    assert_eq!(list(dir.as_fd(), c"marked", false, &mut [0; 5]), Err(Errno::RANGE));
    assert_eq!(list(dir.as_fd(), c"marked", false, &mut []), Err(Errno::RANGE));
    assert_eq!(list(dir.as_fd(), c"plain", false, &mut []), Ok(&b""[..]));
}

#[test]
fn values() {
    let tree = Tree::new("values");
    let dir = tree.open();
    type Case<'a> = (&'a CStr, bool, &'a CStr, usize, Result<&'a [u8]>);
    let cases: [Case<'_>; 7] = [
        (c"marked", false, c"user.one", 64, Ok(b"first")),
        (c"link", true, c"user.one", 5, Ok(b"first")),
        (c"marked", false, c"user.two", 0, Ok(b"")),
        (c"marked", false, c"user.one", 4, Err(Errno::RANGE)),
        (c"marked", false, c"user.one", 0, Err(Errno::RANGE)),
        (c"plain", false, c"user.one", 64, Err(Errno::NODATA)),
        (c"missing", false, c"user.one", 64, Err(Errno::NOENT)),
    ];
    for (file, follow, name, size, expected) in cases {
        let (mut new, mut old) = ([0; 64], [0; 64]);
        assert_eq!(
            getxattrat(dir.as_fd(), file, follow, name, &mut new[..size]),
            expected,
            "{file:?} {name:?} {size}"
        );
        let by_path = get_by_path(dir.as_fd(), file, follow, name, &mut old[..size]);
        let by_path = by_path.and_then(|len| old[..size].get(..len).ok_or(Errno::RANGE));
        assert_eq!(by_path, expected, "{file:?} {name:?} {size} by path");
    }
}

#[test]
fn an_acl_and_a_mark_on_a_link_show() {
    let tree = Tree::new("acl");
    let dir = tree.open();
    let mut buf = [0; 1024];
    // What `setfacl -m u:1:r` stores: version 2, then tag, permissions and id of each entry.
    let entries: [(u16, u16, u32); 5] = [(1, 6, !0), (2, 4, 1), (4, 4, !0), (16, 4, !0), (32, 4, !0)];
    let mut acl: Vec<u8> = 2_u32.to_le_bytes().into();
    for (tag, permissions, id) in entries {
        acl.extend(tag.to_le_bytes().iter().chain(&permissions.to_le_bytes()).chain(&id.to_le_bytes()));
    }
    setxattr(&*path(&tree.0.join("plain")), "system.posix_acl_access", &acl, XattrFlags::empty()).unwrap();
    let expected: Vec<&[u8]> = [&b"system.posix_acl_access"[..]].into();
    assert_eq!(list(dir.as_fd(), c"plain", false, &mut buf).map(sorted), Ok(expected));
    // Only root may mark a link.
    if lsetxattr(&*path(&tree.0.join("link")), "trusted.mark", b"1", XattrFlags::empty()).is_ok() {
        let expected: Vec<&[u8]> = [&b"trusted.mark"[..]].into();
        assert_eq!(list(dir.as_fd(), c"link", false, &mut buf).map(sorted), Ok(expected));
    }
}

#[test]
fn file_systems_without_attributes_say_so() {
    let dir = dir::open(CWD, c"/proc/self").unwrap();
    let answer = list(dir.as_fd(), c"status", false, &mut [0; 64]).map(<[u8]>::len);
    assert!(matches!(answer, Ok(0) | Err(Errno::OPNOTSUPP)), "{answer:?}");
    let answer = getxattrat(dir.as_fd(), c"status", false, c"user.x", &mut [0; 64]).map(<[u8]>::len);
    assert_eq!(answer, Err(Errno::OPNOTSUPP));
}

#[test]
fn names_of_anything() {
    let collect = |list| names(list).collect::<Vec<_>>();
    assert_eq!(collect(b""), Vec::<&[u8]>::new());
    assert_eq!(collect(b"\0\0"), Vec::<&[u8]>::new());
    assert_eq!(collect(b"a\0b"), [b"a", b"b"]);
}
