//! Measures what each trick of a scan saves: `scandir PATH [-jN] [-u]` scans with all tricks, without each of them, and
//! with none.
//!
//! `-u` treats all types as unknown, as on a file system without `d_type`; `-j` sets the requests in flight (default
//! 4).

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Threads, c_path};
use dents_core::scandir::{Options, Tricks, scandir};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let (mut path, mut requests, mut untyped) = (None, 4, false);
    for arg in std::env::args_os().skip(1) {
        match arg.to_str() {
            Some("-u") => untyped = true,
            Some(text) if text.starts_with("-j") => requests = text[2..].parse().unwrap_or(requests),
            _ => path = Some(PathBuf::from(arg)),
        }
    }
    let Some(path) = path else {
        eprintln!("usage: scandir PATH [-jN] [-u]");
        return ExitCode::FAILURE;
    };
    let all = if untyped { Tricks::all().difference(Tricks::D_TYPE) } else { Tricks::all() };
    let without = |trick| (format!("without {trick:?}"), all.difference(trick));
    let mut ways = vec![("with all".to_string(), all)];
    ways.extend(all.iter().map(without));
    ways.push(("with none".to_string(), Tricks::empty()));
    for (way, tricks) in ways {
        let started = Instant::now();
        let options = Options { tricks, max_requests: requests, workers: Some(&Threads) };
        match scandir(&c_path(&path), &options) {
            Ok(scan) => {
                let (directories, others) = (scan.directories().len(), scan.others().len());
                let savings = scan.savings;
                println!(
                    "{way:38} {directories} directories, {others} others: {:6} questions, {:?}",
                    savings.stats + savings.dots,
                    started.elapsed()
                );
                println!("    {savings:?}");
            }
            Err(errno) => {
                eprintln!("scandir: {}: {errno}", path.display());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
