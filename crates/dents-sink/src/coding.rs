//! The encoding of numbers, bytes and rows in temporary files and journals: 50 to 100 bytes for a row with all metadata.
//!
//! Numbers are those of [`Bytes`]. A device or owner that is equal to that of the previous row takes one bit, and so does
//! a time that is equal to the modification time. Temporary files of other programs may use it too ([`put_whole`]); it changes with the
//! version of this crate.

pub use crate::bytes::{Bytes, put_bytes, put_number};
use crate::bytes::{put_signed, put_time};
use crate::details::Details;
use crate::row::{Asked, Fault, Row};
use dents_core::facts::{Columns, Facts};
use dents_core::needs::Kind;
use std::ops::{BitAnd, BitOr};

/// Flags of a row: which fields follow.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Has(u16);

impl Has {
    /// The row has a directory other than that of the frame.
    const PARENT: Has = Has(1 << 0);
    /// The row has a depth other than that of the frame.
    const DEPTH: Has = Has(1 << 1);
    const FACTS: Has = Has(1 << 2);
    const TARGET: Has = Has(1 << 3);
    const FAULT: Has = Has(1 << 4);
    /// Another owner or group than the previous row.
    const OWNER: Has = Has(1 << 5);
    const DEV: Has = Has(1 << 6);
    const LAZY: Has = Has(1 << 7);
    const BTIME: Has = Has(1 << 8);
    /// These times differ from the modification time.
    const OWN_BTIME: Has = Has(1 << 9);
    const OWN_CTIME: Has = Has(1 << 10);
    const OWN_ATIME: Has = Has(1 << 11);
    const USER: Has = Has(1 << 12);
    const GROUP: Has = Has(1 << 13);
    const DETAILS: Has = Has(1 << 14);
    /// Some facts are not known.
    const UNKNOWN: Has = Has(1 << 15);

    fn when(self, condition: bool) -> Has {
        if condition { self } else { Has(0) }
    }

    fn contains(self, other: Has) -> bool {
        self & other == other
    }
}

impl BitOr for Has {
    type Output = Has;

    fn bitor(self, other: Has) -> Has {
        Has(self.0 | other.0)
    }
}

impl BitAnd for Has {
    type Output = Has;

    fn bitand(self, other: Has) -> Has {
        Has(self.0 & other.0)
    }
}

/// Device and owner of the previous row, which the rows of one directory usually share.
#[derive(Default)]
pub(crate) struct Before {
    dev: Option<(u32, u32)>,
    owner: Option<(u32, u32)>,
    user: Option<Vec<u8>>,
    group: Option<Vec<u8>>,
}

impl Before {
    /// The value after a row with these facts.
    pub(crate) fn of(facts: &Facts<'_>) -> Before {
        let mut before = Before::default();
        before.keep(facts, Has::OWNER);
        before
    }

    /// Whether a row with these facts leaves out device and owner.
    pub(crate) fn is_of(&self, facts: &Facts<'_>) -> bool {
        self.dev == Some(facts.dev) && self.has_owner(facts)
    }

    pub(crate) fn forget(&mut self) {
        self.dev = None;
        self.owner = None;
    }

    fn has_owner(&self, facts: &Facts<'_>) -> bool {
        self.owner == Some((facts.uid, facts.gid))
            && self.user.as_deref() == facts.user
            && self.group.as_deref() == facts.group
    }

    fn keep(&mut self, facts: &Facts<'_>, has: Has) {
        self.dev = Some(facts.dev);
        if has.contains(Has::OWNER) {
            self.owner = Some((facts.uid, facts.gid));
            self.user = facts.user.map(<[u8]>::to_vec);
            self.group = facts.group.map(<[u8]>::to_vec);
        }
    }
}

/// Encodes a row of the directory at `path`, whose entries have this depth.
pub(crate) fn put_row(out: &mut Vec<u8>, row: &Row<'_>, path: &[u8], depth: u32, before: &mut Before) {
    let Row { parent, name, depth: own_depth, kind, facts, target, details, fault } = *row;
    let mut has = Has::PARENT.when(parent != path)
        | Has::DEPTH.when(own_depth != depth)
        | Has::TARGET.when(target.is_some())
        | Has::DETAILS.when(!details.is_empty())
        | Has::FAULT.when(fault.is_some());
    if let Some(facts) = &facts {
        has = has
            | Has::FACTS
            | Has::OWNER.when(!before.has_owner(facts))
            | Has::DEV.when(before.dev != Some(facts.dev))
            | Has::LAZY.when(facts.lazy)
            | Has::BTIME.when(facts.btime.is_some())
            | Has::OWN_BTIME.when(facts.btime.is_some_and(|time| time != facts.mtime))
            | Has::OWN_CTIME.when(facts.ctime != facts.mtime)
            | Has::OWN_ATIME.when(facts.atime != facts.mtime)
            | Has::USER.when(facts.user.is_some())
            | Has::GROUP.when(facts.group.is_some())
            | Has::UNKNOWN.when(!facts.unknown.is_empty());
    }
    out.extend_from_slice(&has.0.to_le_bytes());
    out.push(kind as u8);
    put_bytes(out, name);
    if has.contains(Has::PARENT) {
        put_bytes(out, parent);
    }
    if has.contains(Has::DEPTH) {
        put_number(out, u64::from(own_depth));
    }
    if let Some(facts) = &facts {
        put_facts(out, facts, has);
        before.keep(facts, has);
    }
    if let Some(target) = target {
        put_bytes(out, target);
    }
    if has.contains(Has::DETAILS) {
        put_bytes(out, details.bytes());
    }
    if let Some(Fault { asked, errno }) = fault {
        out.push(asked_code(asked));
        put_signed(out, i64::from(errno));
    }
}

fn put_facts(out: &mut Vec<u8>, facts: &Facts<'_>, has: Has) {
    // All fields, so that the compiler tells if a new one is missing here.
    let Facts {
        dev,
        ino,
        mode,
        nlink,
        uid,
        gid,
        user,
        group,
        size,
        allocated,
        atime,
        btime,
        ctime,
        mtime,
        lazy: _,
        unknown,
    } = *facts;
    if has.contains(Has::DEV) {
        put_number(out, u64::from(dev.0));
        put_number(out, u64::from(dev.1));
    }
    put_number(out, ino);
    out.extend_from_slice(&mode.to_le_bytes());
    put_number(out, u64::from(nlink));
    if has.contains(Has::OWNER) {
        put_number(out, u64::from(uid));
        put_number(out, u64::from(gid));
        user.into_iter().chain(group).for_each(|name| put_bytes(out, name));
    }
    put_number(out, size);
    put_number(out, allocated);
    put_time(out, mtime);
    let others = [(Has::OWN_BTIME, btime.unwrap_or(mtime)), (Has::OWN_CTIME, ctime), (Has::OWN_ATIME, atime)];
    for (own, time) in others {
        if has.contains(own) {
            put_time(out, time);
        }
    }
    if has.contains(Has::UNKNOWN) {
        put_number(out, u64::from(unknown.bits()));
    }
}

/// The name in an encoded row; empty if the bytes are invalid.
pub(crate) fn name_of(row: &[u8]) -> &[u8] {
    /// Flags and type.
    const BEFORE: usize = 3;
    row.get(BEFORE..).and_then(|rest| Bytes(rest).bytes()).unwrap_or_default()
}

/// Encodes a row that is decoded alone.
pub fn put_whole(out: &mut Vec<u8>, row: &Row<'_>) {
    put_row(out, row, b"", 0, &mut Before::default());
}

/// Decodes the row that [`put_whole`] encoded, from the front; `None` if the bytes are invalid.
pub fn whole<'a>(bytes: &mut Bytes<'a>) -> Option<Row<'a>> {
    let mut rows = Rows::new(*bytes, b"", 0);
    let row = rows.row()?;
    *bytes = rows.bytes;
    Some(row)
}

/// Decodes the rows of a frame.
#[derive(Clone)]
pub(crate) struct Rows<'a> {
    pub(crate) bytes: Bytes<'a>,
    pub(crate) path: &'a [u8],
    pub(crate) depth: u32,
    dev: (u32, u32),
    owner: Owner<'a>,
}

#[derive(Clone, Copy, Default)]
struct Owner<'a> {
    uid: u32,
    gid: u32,
    user: Option<&'a [u8]>,
    group: Option<&'a [u8]>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(bytes: Bytes<'a>, path: &'a [u8], depth: u32) -> Self {
        Rows { bytes, path, depth, dev: (0, 0), owner: Owner::default() }
    }

    /// For rows that were encoded after others.
    pub(crate) fn after(self, before: &'a Before) -> Self {
        let (uid, gid) = before.owner.unwrap_or_default();
        let (user, group) = (before.user.as_deref(), before.group.as_deref());
        Rows { dev: before.dev.unwrap_or_default(), owner: Owner { uid, gid, user, group }, ..self }
    }

    /// The next row; `None` if the bytes are invalid.
    pub(crate) fn row(&mut self) -> Option<Row<'a>> {
        let bytes = &mut self.bytes;
        let has = Has(u16::from_le_bytes([bytes.byte()?, bytes.byte()?]));
        let kind = Kind::from_d_type(bytes.byte()?);
        let name = bytes.bytes()?;
        let parent = if has.contains(Has::PARENT) { bytes.bytes()? } else { self.path };
        let depth = if has.contains(Has::DEPTH) { bytes.small()? } else { self.depth };
        let facts = if has.contains(Has::FACTS) { Some(self.facts(has, kind)?) } else { None };
        let bytes = &mut self.bytes;
        let target = if has.contains(Has::TARGET) { Some(bytes.bytes()?) } else { None };
        let details = if has.contains(Has::DETAILS) { bytes.bytes()? } else { b"" };
        let details = Details::parse(details)?;
        let fault = if has.contains(Has::FAULT) {
            let asked = asked_of(bytes.byte()?)?;
            Some(Fault { asked, errno: i32::try_from(bytes.signed()?).ok()? })
        } else {
            None
        };
        Some(Row { parent, name, depth, kind, facts, target, details, fault })
    }

    fn facts(&mut self, has: Has, kind: Kind) -> Option<Facts<'a>> {
        let bytes = &mut self.bytes;
        if has.contains(Has::DEV) {
            self.dev = (bytes.small()?, bytes.small()?);
        }
        let ino = bytes.number()?;
        let mode = u16::from_le_bytes([bytes.byte()?, bytes.byte()?]);
        let nlink = bytes.small()?;
        if has.contains(Has::OWNER) {
            let (uid, gid) = (bytes.small()?, bytes.small()?);
            let user = if has.contains(Has::USER) { Some(bytes.bytes()?) } else { None };
            let group = if has.contains(Has::GROUP) { Some(bytes.bytes()?) } else { None };
            self.owner = Owner { uid, gid, user, group };
        }
        let (size, allocated, mtime) = (bytes.number()?, bytes.number()?, bytes.time()?);
        let mut other = |own| if has.contains(own) { bytes.time() } else { Some(mtime) };
        let (btime, ctime, atime) = (other(Has::OWN_BTIME)?, other(Has::OWN_CTIME)?, other(Has::OWN_ATIME)?);
        let btime = has.contains(Has::BTIME).then_some(btime);
        let lazy = has.contains(Has::LAZY);
        let unknown =
            if has.contains(Has::UNKNOWN) { Columns::from_bits(bytes.small()?)? } else { Columns::empty() };
        let Owner { uid, gid, user, group } = self.owner;
        let dev = self.dev;
        let facts = Facts {
            dev,
            ino,
            mode,
            nlink,
            uid,
            gid,
            user,
            group,
            size,
            allocated,
            atime,
            btime,
            ctime,
            mtime,
            lazy,
            unknown,
        };
        Some(if unknown.is_empty() { facts } else { facts.without(unknown, kind) })
    }
}

fn asked_code(asked: Asked) -> u8 {
    match asked {
        Asked::Stat => 1,
        Asked::Link => 2,
        Asked::Open => 3,
        Asked::Read => 4,
        Asked::Loop => 5,
    }
}

fn asked_of(code: u8) -> Option<Asked> {
    [Asked::Stat, Asked::Link, Asked::Open, Asked::Read, Asked::Loop]
        .into_iter()
        .find(|asked| asked_code(*asked) == code)
}

#[cfg(test)]
#[path = "coding_tests.rs"]
mod tests;
