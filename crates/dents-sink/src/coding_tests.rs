//! Decoded rows equal the rows that were encoded; invalid bytes give no row.

use super::*;
use dents_core::batch::Time;

const TIME: Time = Time { sec: 1_700_000_000, nsec: 123_456_789 };

fn facts() -> Facts<'static> {
    Facts {
        dev: (8, 1),
        ino: 12_345_678,
        mode: 0o100_644,
        nlink: 1,
        uid: 1000,
        gid: 100,
        user: Some(b"ann"),
        group: Some(b"users"),
        size: 4711,
        allocated: 8192,
        atime: TIME,
        btime: Some(TIME),
        ctime: TIME,
        mtime: TIME,
        lazy: false,
        unknown: crate::scan_file::Columns::empty(),
    }
}

fn row(name: &'static [u8]) -> Row<'static> {
    Row {
        parent: b"dir",
        name,
        depth: 3,
        kind: Kind::Reg,
        facts: Some(facts()),
        target: None,
        details: Default::default(),
        fault: None,
    }
}

fn odd_rows() -> Vec<Row<'static>> {
    let ancient = Time { sec: i64::MIN, nsec: 999_999_999 };
    let odd = Facts {
        dev: (u32::MAX, 0),
        ino: u64::MAX,
        mode: u16::MAX,
        nlink: u32::MAX,
        uid: u32::MAX,
        gid: 0,
        user: None,
        group: Some(b""),
        size: u64::MAX,
        allocated: 0,
        atime: ancient,
        btime: None,
        ctime: Time { sec: i64::MAX, nsec: 0 },
        mtime: Time { sec: -1, nsec: 1 },
        lazy: true,
        unknown: crate::scan_file::Columns::empty(),
    };
    let fault = |asked, errno| Some(Fault { asked, errno });
    vec![
        row(b"plain"),
        Row { name: b"same owner", ..row(b"") },
        Row { name: b"\xff\n\0", facts: Some(odd), ..row(b"") },
        Row { name: b"another", facts: Some(Facts { user: Some(b"bob"), ..facts() }), ..row(b"") },
        Row { facts: None, fault: fault(Asked::Stat, 13), ..row(b"unknown") },
        Row { kind: Kind::Link, target: Some(b"where/to"), ..row(b"link") },
        Row { kind: Kind::Link, target: Some(b""), fault: fault(Asked::Link, -1), ..row(b"odd") },
        Row { parent: b"", name: b"dir", depth: 2, facts: None, fault: fault(Asked::Open, 13), ..row(b"") },
        Row { fault: fault(Asked::Read, i32::MAX), ..row(b"read") },
        Row { fault: fault(Asked::Loop, i32::MIN), kind: Kind::Unknown, ..row(b"loop") },
        row(&[b'n'; 255]),
    ]
}

fn encoded(rows: &[Row<'_>]) -> Vec<u8> {
    let (mut out, mut before) = (Vec::new(), Before::default());
    rows.iter().for_each(|row| put_row(&mut out, row, b"dir", 3, &mut before));
    out
}

#[test]
fn rows_come_back_as_they_were() {
    let rows = odd_rows();
    let bytes = encoded(&rows);
    let mut reader = Rows::new(Bytes(&bytes), b"dir", 3);
    for row in &rows {
        let back = reader.row().expect("makes sense");
        assert_eq!(format!("{back:?}"), format!("{row:?}"));
    }
    assert!(reader.bytes.0.is_empty());
}

#[test]
fn rows_that_agree_are_short() {
    let rows: Vec<_> = (0..100).map(|_| row(b"a-name-of-20-letters")).collect();
    let bytes = encoded(&rows).len() / rows.len();
    assert!(bytes <= 50, "{bytes} bytes a row");
}

#[test]
fn a_second_has_no_more_nanoseconds() {
    let time = |nsec| {
        let mut out = Vec::new();
        put_time(&mut out, Time { sec: 1, nsec });
        Bytes(&out).time().map(|time| time.nsec)
    };
    assert_eq!(time(999_999_999), Some(999_999_999));
    assert_eq!(time(1_000_000_000), None);
}

#[test]
fn rubbish_ends_the_rows() {
    let bytes = encoded(&odd_rows());
    let mut seed = 7_u64;
    for _ in 0..20_000 {
        let mut bad = bytes.clone();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let at = (seed >> 33) as usize % bad.len();
        bad[at] = (seed >> 20) as u8;
        bad.truncate(1 + (seed >> 40) as usize % bytes.len());
        let mut reader = Rows::new(Bytes(&bad), b"dir", 3);
        let rows = std::iter::from_fn(|| reader.row()).count();
        assert!(rows <= bad.len(), "it ends");
    }
}

#[test]
fn numbers_are_what_they_were() {
    for number in (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1]).chain([u64::MAX]) {
        let mut out = Vec::new();
        put_number(&mut out, number);
        put_signed(&mut out, number as i64);
        put_signed(&mut out, (number as i64).wrapping_neg());
        let mut bytes = Bytes(&out);
        assert_eq!(bytes.number(), Some(number));
        assert_eq!(bytes.signed(), Some(number as i64));
        assert_eq!(bytes.signed(), Some((number as i64).wrapping_neg()));
        assert!(bytes.0.is_empty());
    }
    assert_eq!(Bytes(&[0xff; 9]).number(), None, "no end");
    assert_eq!(
        Bytes(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).number(),
        None,
        "beyond 64 bits"
    );
}

#[test]
fn whole_rows_are_decoded_alone() {
    let mut out = Vec::new();
    odd_rows().iter().for_each(|row| put_whole(&mut out, row));
    let mut bytes = Bytes(&out);
    for row in odd_rows() {
        assert_eq!(whole(&mut bytes), Some(row));
    }
    assert!(bytes.0.is_empty() && whole(&mut bytes).is_none());
}
