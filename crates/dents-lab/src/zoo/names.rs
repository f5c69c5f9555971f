//! The part of the zoo that is about names: hostile, wide, broken, and those that sort oddly.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Keeper, chmod};

/// Names that shells, terminals and parsers trip over.
const HOSTILE: &[&[u8]] = &[
    b" lead",
    b" lead\ning",
    b"trail ",
    b"new\nline",
    b"tab\tbed",
    b"carriage\rreturn",
    b"\x1b[31mred\x1b[0m",
    b"\x1b]0;title\x07",
    b"bell\x07back\x08del\x7f",
    b"c1-\xc2\x9b-control",
    b"invalid-\xff\xfe",
    b"truncated-\xe2\x82",
    b"overlong-\xc0\xaf",
    b"surrogate-\xed\xa0\x80",
    b"beyond-\xf4\x90\x80\x80",
    b"single'quote",
    b"double\"quote",
    b"both'\"quotes",
    b"back`tick",
    b"dollar$x;semi&amp|pipe*star?mark[x]{y}~tilde#hash=eq!bang\\back",
    b"-dash",
    b"--help",
    b"-",
    b"--",
    b"~",
    b"#",
    b"{",
    b"a=b",
    "宽字符文件名".as_bytes(),
    "ｆｕｌｌｗｉｄｔｈ".as_bytes(),
    "한글".as_bytes(),
    "emoji-😀-👩‍👩‍👧-🇪🇺".as_bytes(),
    "combining-e\u{301}\u{323}".as_bytes(),
    "precomposed-é".as_bytes(),
    "rtl-שלום-\u{202e}override".as_bytes(),
    "zero\u{200b}width\u{feff}".as_bytes(),
    "soft\u{ad}hyphen".as_bytes(),
    "nbsp\u{a0}space\u{3000}wide".as_bytes(),
    "unassigned-\u{378}-private-\u{e000}-last-\u{10ffff}".as_bytes(),
    "line\u{2028}separator".as_bytes(),
    b"...",
    b"....",
    b"..a",
    b".hidden",
    b".hidden.tar.gz",
    b".tar.gz",
    b".a-b",
    b".1",
    b"a.",
    b"a..",
    b"README",
    b"readme",
    b"ReadMe",
    b"Zebra",
    b"apple",
    b"_under",
    b"0",
    b"00",
];

/// Families that `-v` must order by number, not by byte.
const VERSIONS: &[&str] = &[
    "a1",
    "a01",
    "a001",
    "a2",
    "a10",
    "a010",
    "a10a",
    "a10.b",
    "a9.b",
    "1.2.3",
    "1.2.3~rc1",
    "1.2.3~rc10",
    "1.2.3~rc9",
    "1.2.3-1",
    "1.2.10",
    "1.02.3",
    "foo-1.2.tar.gz",
    "foo-1.10.tar.gz",
    "foo-1.2.3.tar.gz",
    "foo-1.2a.tar.gz",
    "foo-1.2",
    "foo.tar.gz",
    "foo",
    "foo~",
    "foo~1",
    "foo0",
    "foo00",
    "x.7z",
    "x.10z",
    "x.z7",
    "x.z10",
    "linux-6.9",
    "linux-6.10",
    "linux-6.10-rc1",
    "18446744073709551616",
    "18446744073709551617",
    "9",
    "99999999999999999999999",
    "a.b.c1",
    "a.b.c10",
    "a.b.c2",
    "A1",
    "a-1",
    "a_1",
    "a+1",
    "a 1",
];

/// Hidden names that are all extension: 9.1 and 9.7 agree on them among themselves.
const HIDDEN_VERSIONS: &[&str] = &[".m4", ".m10", ".m4.b", ".M4", ".tar", ".tar.gz"];

/// Names for LS_COLORS suffixes.
const EXTENSIONS: &[&str] = &[
    "a.tar", "a.TAR", "a.Tar", "b.gz", "b.tar.gz", "c.jpg", "c.JPG", "c.jpeg", "d.mp3", "e.", ".gz", "gz",
    "f.c", "f.C", "f.h", "g.bak", "g~", "#h#", "README", "Makefile", "i.x.y", "i.y", "j.rs", "k.é", "k.É",
];

impl Keeper {
    pub(super) fn names(&mut self) -> io::Result<()> {
        for dir in ["names", "bytes", "versions", "extensions"] {
            fs::create_dir(self.path(dir))?;
        }
        for name in HOSTILE {
            self.named("names", name);
        }
        for letter in ["n", "宽"] {
            let long = letter.repeat(255 / letter.len());
            self.named("names", long.as_bytes());
        }
        for byte in (1..=255u8).filter(|byte| !b"/.".contains(byte)) {
            self.named("bytes", &[byte]);
        }
        for name in VERSIONS.iter().chain(HIDDEN_VERSIONS) {
            self.named("versions", name.as_bytes());
        }
        for name in EXTENSIONS {
            self.named("extensions", name.as_bytes());
        }
        chmod(&self.path("extensions/j.rs"), 0o755)?;
        for name in [".hidden", ".tar.gz", "plain.tar.gz", "with space"] {
            self.file(name)?;
        }
        fs::create_dir(self.path(".hidden-dir"))?;
        fs::create_dir(self.path("dir with space"))?;
        Ok(())
    }

    /// Some file systems refuse some names (NFS and ZFS may insist on UTF-8).
    fn named(&mut self, dir: &str, name: &[u8]) {
        let path = self.path(dir).join(Path::new(OsStr::from_bytes(name)));
        let made = File::create(&path).map(drop);
        self.attempt(format!("{dir}/{}", name.escape_ascii()), made);
    }
}
