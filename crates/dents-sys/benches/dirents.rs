//! Measures the parser alone, in nanoseconds for each entry of one buffer of a real directory. For comparison: searches for
//! the end of the name in the way of memchr and byte by byte, and the time of the kernel.
//!
//! `cargo bench -p dents-sys --bench dirents [-- DIRECTORY]`
use dents_sys::dir::{self, Dirents};
use dents_sys::{AsFd, OwnedFd};
use std::ffi::{CStr, CString};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let path =
        std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_else(|| "/usr/bin".into());
    let path = CString::new(path).expect("no NUL");
    let mut buf = vec![0; 1 << 20];
    let filled = dir::getdents64(open(&path).as_fd(), &mut buf).expect("readable");
    let bytes = &buf[..filled];
    let entries = Dirents::new(bytes).count();
    println!("{entries} entries in {filled} bytes");
    let report = |what: &str, sum: fn(&[u8]) -> u64| {
        let ns = per_entry(entries, || sum(black_box(bytes)));
        println!("{what:<24} {ns:6.2} ns an entry");
    };
    report("Dirents", |bytes| Dirents::new(bytes).map(|e| e.ino ^ e.name.count_bytes() as u64).sum());
    report("CStr::from_bytes_until_nul", |bytes| {
        records(bytes)
            .map(|r| CStr::from_bytes_until_nul(&r[19..]).map_or(0, |name| name.count_bytes() as u64))
            .sum()
    });
    report("byte by byte", |bytes| {
        records(bytes).map(|r| r[19..].iter().position(|&b| b == 0).unwrap_or(0) as u64).sum()
    });
    let kernel = {
        let mut buf = vec![0; 1 << 20];
        per_entry(entries, || dir::getdents64(open(&path).as_fd(), &mut buf).map_or(0, |n| n as u64))
    };
    println!("{:<24} {kernel:6.2} ns an entry", "openat + getdents64");
}

fn open(path: &CStr) -> OwnedFd {
    dir::open(dents_sys::CWD, path).expect("a directory")
}

fn records(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let len = usize::from(u16::from_ne_bytes([*bytes.get(16)?, *bytes.get(17)?]));
        let (record, rest) = bytes.split_at(len);
        bytes = rest;
        Some(record)
    })
}

fn per_entry(entries: usize, mut run: impl FnMut() -> u64) -> f64 {
    let mut times: Vec<f64> = (0..501)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed().as_nanos() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[250] / entries as f64
}
