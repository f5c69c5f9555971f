//! Tests of the getters of batches and entries: each field has a different value, so that no getter can return another
//! field.

use super::*;
use alloc::vec;
use std::ffi::CString;
use std::format;

const EXTRA: Extra = Extra {
    atime: Time { sec: 31, nsec: 41 },
    btime: Time { sec: 32, nsec: 42 },
    ctime: Time { sec: 33, nsec: 43 },
    mtime: Time { sec: 34, nsec: 44 },
    dev: (8, 51),
    blksize: 4096,
    attributes: 61,
    attributes_mask: 71,
    rdev_or_link: 5 << 20 | 9,
    xattrs: (0, 0),
};

/// A device, a link, and an entry whose `statx` failed, with a slot each.
fn batch(needs: Needs, metas: [Meta; 3], texts: Texts) -> Batch {
    let mut batch = Batch::new(NeedsByKind::all(needs));
    batch.push(c"device", Kind::Block, 101);
    batch.push(c"link", Kind::Link, 102);
    batch.push(c"gone", Kind::Unknown, 103);
    assert!(batch.place_slots(|_, _| true).is_none(), "dense");
    batch.metas.append(metas.to_vec());
    batch.texts.push(texts);
    batch
}

fn device() -> Meta {
    Meta {
        ino: 11,
        size: 12,
        blocks: 13,
        sec: -14,
        nsec: 15,
        nlink: 16,
        uid: 17,
        gid: 18,
        rdev_or_link: 7 << 20 | 3,
        mode: 0o060_640,
        bits: Bits::STAT | Bits::ACL,
        ..Meta::default()
    }
}

/// The link's text and attribute list are surrounded by others; the link leads to a directory.
fn link() -> (Meta, Texts) {
    let mut texts = Texts { links: b"before-to/somewhere".to_vec(), ..Texts::default() };
    let start = texts.links.len() as u32;
    xattr_list::write(b"user.a", Some(5), &mut texts.links);
    xattr_list::write(b"user.b", None, &mut texts.links);
    let xattrs = (start, texts.links.len() as u32 - start);
    texts.links.extend_from_slice(b"after");
    texts.extras = vec![EXTRA, Extra { rdev_or_link: 7, xattrs, ..EXTRA }];
    texts.contexts = vec![b"system_u:a".to_vec(), b"system_u:b".to_vec()];
    let bits = Bits::STAT | Bits::LINK | Bits::TARGET | Bits::CONTEXT | Bits::CAPABILITY | Bits::EXTRA;
    let meta = Meta {
        mode: 0o120_777,
        target_mode: 0o040_755,
        rdev_or_link: 1,
        link_len: 12,
        errno_or_context: 2,
        bits,
        ..Meta::default()
    };
    (meta, texts)
}

fn faulty(asked: Asked, errno: Errno) -> Meta {
    let mut meta = Meta::default();
    meta.set_fault(asked, errno);
    meta
}

#[test]
fn each_number_is_its_own() {
    let (_, texts) = link();
    let batch = batch(Needs::all(), [device(), link().0, faulty(Asked::Stat, Errno::ACCESS)], texts);
    let entry = batch.entry(0);
    assert_eq!((entry.index(), entry.name(), entry.c_name()), (0, &b"device"[..], c"device"));
    assert_eq!((entry.kind(), entry.d_kind(), entry.is_known()), (Kind::Block, Kind::Block, true));
    assert_eq!((entry.ino(), entry.d_ino(), entry.knows_ino()), (11, 101, true));
    assert_eq!((entry.size(), entry.blocks()), (12, 13));
    assert_eq!(entry.time(), Time { sec: -14, nsec: 15 });
    assert_eq!((entry.nlink(), entry.uid(), entry.gid()), (16, 17, 18));
    assert_eq!((entry.mode(), entry.rdev()), (0o060_640, (7, 3)));
    assert_eq!((entry.mark(), entry.has_capability(), entry.context()), (Mark::Acl, false, None));
    assert_eq!((entry.link(), entry.target(), entry.fault()), (None, Target::Unasked, None));
    assert_eq!((entry.extra(), entry.xattr_list().count()), (None, 0));
}

#[test]
fn each_text_is_its_own() {
    let (meta, texts) = link();
    let batch = batch(Needs::all(), [device(), meta, Meta::default()], texts);
    let entry = batch.entry(1);
    assert_eq!(entry.link(), Some(&b"to/somewhere"[..]));
    assert_eq!(entry.context(), Some(&b"system_u:b"[..]));
    assert_eq!(entry.target(), Target::Mode(0o040_755));
    assert_eq!((entry.mark(), entry.has_capability()), (Mark::Context, true));
    assert_eq!(entry.extra().map(|extra| (extra.mtime, extra.dev)), Some((EXTRA.mtime, (8, 51))));
    let list: Vec<_> = entry.xattr_list().collect();
    assert_eq!(list, [(&b"user.a"[..], Some(5)), (b"user.b", None)]);
    let missing = Meta { target_mode: 0, ..meta };
    let batch = self::batch(Needs::all(), [device(), missing, Meta::default()], link().1);
    assert_eq!(batch.entry(1).target(), Target::Missing);
}

/// An extra takes the slot's field for the device number, which then moves into the extra.
#[test]
fn a_device_with_an_extra_keeps_its_number() {
    let meta = Meta { rdev_or_link: 0, bits: Bits::STAT | Bits::EXTRA, ..device() };
    let batch = batch(Needs::all(), [meta, Meta::default(), Meta::default()], link().1);
    assert_eq!(batch.entry(0).rdev(), (5, 9));
    assert_eq!(batch.entry(0).extra(), Some(&EXTRA));
}

#[test]
fn unknown_fields_are_zero_or_none() {
    for (asked, errno) in
        [(Asked::Stat, Errno::NOENT), (Asked::Link, Errno::ACCESS), (Asked::Xattr, Errno::IO)]
    {
        let batch = batch(Needs::all(), [device(), link().0, faulty(asked, errno)], link().1);
        let entry = batch.entry(2);
        assert_eq!(entry.fault(), Some((asked, errno)));
        assert_eq!((entry.kind(), entry.is_known(), entry.knows_ino()), (Kind::Unknown, false, false));
        assert_eq!((entry.ino(), entry.size(), entry.blocks(), entry.time()), (103, 0, 0, Time::default()));
        assert_eq!((entry.mode(), entry.nlink(), entry.uid(), entry.gid()), (0, 0, 0, 0));
        assert_eq!((entry.rdev(), entry.link(), entry.context(), entry.extra()), ((0, 0), None, None, None));
        assert_eq!(
            (entry.target(), entry.mark(), entry.has_capability()),
            (Target::Unasked, Mark::None, false)
        );
        assert_eq!(entry.xattr_list().count(), 0);
    }
}

#[test]
fn an_inode_number_of_readdir_counts_where_it_is_trusted() {
    let mut batch = batch(
        Needs::all(),
        [Meta::default(), Meta::default(), faulty(Asked::Stat, Errno::IO)],
        Texts::default(),
    );
    let knows = |batch: &Batch| batch.iter().map(|entry| entry.knows_ino()).collect::<Vec<_>>();
    assert_eq!(knows(&batch), [false; 3]);
    batch.trusts_d_ino = true;
    assert_eq!(knows(&batch), [true, true, false]);
}

#[test]
fn a_batch_that_is_cleared_is_as_new() {
    let mut batch = batch(Needs::all(), [device(), link().0, Meta::default()], link().1);
    (batch.faulty, batch.trusts_d_ino) = (true, true);
    assert!(batch.has_faults() && !batch.is_full() && batch.len() == 3 && !batch.is_empty());
    batch.clear();
    assert!(!batch.has_faults() && batch.is_empty() && !batch.trusts_d_ino);
    assert!(batch.metas.len() == 0 && batch.texts.is_empty() && batch.arena.is_empty());
    assert_eq!(*batch.declared(), NeedsByKind::all(Needs::all()), "what was declared stays");
    batch.push(c"again", Kind::Reg, 1);
    assert_eq!((batch.entry(0).name(), batch.entry(0).is_known()), (&b"again"[..], false));
}

fn names(count: usize) -> Batch {
    let mut batch = Batch::new(NeedsByKind::all(Needs::TYPE));
    for nth in 0..count {
        let kind = if nth % 3 == 0 { Kind::Dir } else { Kind::Reg };
        batch.push(&CString::new(format!("name{nth}")).unwrap(), kind, (nth * 7 % count) as u64);
    }
    batch
}

type Told<'b> = (&'b [u8], Kind, u64);

fn told(batch: &Batch) -> Vec<Told<'_>> {
    batch.iter().map(|entry| (entry.name(), entry.kind(), entry.d_ino())).collect()
}

#[test]
fn entries_come_in_any_order() {
    let batch = names(100);
    let order: Vec<u32> = (0..100).rev().step_by(3).collect();
    let found: Vec<_> = batch.entries(&order).map(|entry| (entry.index() as u32, entry.name())).collect();
    let expected: Vec<_> = order.iter().map(|nth| (*nth, batch.entry(*nth as usize).name())).collect();
    assert_eq!(found, expected);
}

#[test]
fn pieces_make_up_the_whole() {
    let whole = names(50);
    for at in [0, 1, 49, 50, 99] {
        let mut head = names(50);
        let mut tail = head.split_off(at);
        assert_eq!(head.len(), at.min(50));
        assert_eq!([told(&head), told(&tail)].concat(), told(&whole), "{at}");
        let mut copied = Batch::new(*whole.declared());
        copied.append_copy(&head);
        copied.append_copy(&tail);
        assert_eq!((told(&copied), tail.len()), (told(&whole), 50 - head.len()));
        head.append_names(&mut tail);
        assert_eq!((told(&head), tail.len()), (told(&whole), 0));
    }
}

#[test]
fn types_and_order_can_change_until_something_is_asked() {
    let mut batch = names(20);
    batch.set_kind(4, Kind::Sock);
    assert_eq!((batch.entry(4).name(), batch.entry(4).kind()), (&b"name4"[..], Kind::Sock));
    assert_eq!(batch.entry(3).kind(), Kind::Dir, "the entry beside it is unchanged");
    batch.sort_by_inode();
    assert!(batch.iter().map(|entry| entry.d_ino()).is_sorted());
    batch.forget_types();
    assert!(batch.iter().all(|entry| entry.kind() == Kind::Unknown && entry.d_ino() == 0));
    batch.fail_all(Errno::STALE);
    assert!(batch.has_faults());
    assert!(batch.iter().all(|entry| entry.fault() == Some((Asked::Stat, Errno::STALE))));
    let mut nothing = names(0);
    nothing.fail_all(Errno::STALE);
    assert!(!nothing.has_faults());
}

#[test]
fn names_have_room_for_a_megabyte() {
    let longest = CString::new(vec![b'x'; Name::MAX_LEN]).unwrap();
    let mut batch = Batch::new(NeedsByKind::default());
    batch.push(&longest, Kind::Fifo, 1);
    batch.push(&CString::new(vec![b'x'; Name::MAX_LEN + 1]).unwrap(), Kind::Fifo, 2);
    batch.push(c"z", Kind::Char, 3);
    assert_eq!(batch.len(), 2, "a longer name is left out");
    assert_eq!((batch.entry(0).name().len(), batch.entry(0).kind()), (Name::MAX_LEN, Kind::Fifo));
    assert_eq!(told(&batch)[1], (&b"z"[..], Kind::Char, 3));
    assert_eq!(batch.dents[1].span(), (Name::MAX_LEN + 1, Name::MAX_LEN + 3));
}

/// With few slots, each slot belongs to its entry, and the other entries have none.
#[test]
fn sparse_slots_belong_to_their_entries() {
    let mut batch = Batch::new(NeedsByKind::all(Needs::TYPE | Needs::SIZE));
    (0..40).for_each(|nth| batch.push(&CString::new(format!("n{nth}")).unwrap(), Kind::Reg, nth));
    let todo = batch.place_slots(|_, name| name.ends_with(b"7")).expect("sparse");
    let metas = (0..todo.len()).map(|nth| Meta {
        size: 70 + nth as u64,
        mode: 0o100_000,
        bits: Bits::STAT,
        ..Meta::default()
    });
    batch.metas.append(metas.collect());
    let known: Vec<_> =
        batch.iter().filter(Entry::is_known).map(|entry| (entry.index(), entry.size())).collect();
    assert_eq!(known, [(7, 70), (17, 71), (27, 72), (37, 73)]);
    assert!(batch.place_slots(|_, _| false).is_some_and(|todo| todo.is_empty()));
    assert!(!batch.entry(7).is_known(), "slots that were placed anew are empty");
    let todo = batch.place_slots_of(|index, _| index != 7);
    batch.metas.append(vec![Meta { bits: Bits::STAT, ..Meta::default() }; todo.len()]);
    assert_eq!((todo.len(), batch.entry(7).is_known(), batch.entry(8).is_known()), (39, false, true));
}
