//! Requests that a listing costs a server, counted by the server, beside GNU `ls`: the table of docs/SLOW.md.

use std::time::Duration;

use dents_lab::process::{End, Run};
use dents_lab::slowfs::{Counts, Kind, Mounted, Request, SlowFs};
use dents_lab::suite::{checked, oracle, release};

const FILES: u64 = 1000;

/// Requests for each file, all kinds together, and those for the directory left out.
fn per_file(far: &Mounted, run: &Run) -> f64 {
    far.reset_counts();
    let outcome = run.output().expect("it runs");
    assert_eq!(outcome.end, End::Exit(0), "{}", run.shell());
    let (all, directory): (Counts, Counts) = (far.counts(), far.counts_of("."));
    let about = Request::ALL.into_iter().filter(|request| request.is_awaited());
    let sum = |counts: &Counts| about.clone().map(|request| counts.of(request)).sum::<u64>();
    (sum(&all) - sum(&directory)) as f64 / FILES as f64
}

/// A row of the table: its options, and the counts of GNU, ours, and ours with `--lazy`.
type Row = (&'static [&'static str], bool, [f64; 3]);

/// Of a file FUSE is sent a lookup and a getattr for a `statx`, and with `--lazy` the lookup alone. Attributes come by one
/// more lookup unless the entry is held, which it is far away but for the first; GNU asks for two, by name. (For colours it
/// asks for a capability besides where it was built with libcap, which Debian's is not.)
const TABLE: &[Row] = &[
    (&["-1"], false, [0.0, 0.0, 0.0]),
    (&["-p"], false, [0.0, 0.0, 0.0]),
    (&["--color=always"], false, [2.0, 2.0, 1.0]),
    (&["-F"], false, [2.0, 2.0, 1.0]),
    (&["-s"], false, [2.0, 2.0, 1.0]),
    (&["-l"], false, [6.0, 3.0, 2.0]),
    (&["-lF", "--color=always"], false, [6.0, 3.0, 2.0]),
    (&["-1"], true, [0.0, 0.0, 0.0]),
    (&["-p"], true, [2.0, 2.0, 1.0]),
    (&["--color=always"], true, [2.0, 2.0, 1.0]),
    (&["-F"], true, [2.0, 2.0, 1.0]),
    (&["-s"], true, [2.0, 2.0, 1.0]),
    (&["-l"], true, [6.0, 3.0, 2.0]),
    (&["-lF", "--color=always"], true, [6.0, 3.0, 2.0]),
];

#[test]
fn never_more_than_gnu_sends() {
    let mut wrong = Vec::new();
    for hidden in [false, true] {
        let builder = SlowFs::builder().entries(FILES as usize, &[Kind::File]);
        let builder = builder.latency(Duration::from_micros(300));
        let builder = if hidden { builder.hide_types() } else { builder };
        let Some(far) = builder.mount_or_skip() else { return };
        for (options, _, expected) in TABLE.iter().filter(|row| row.1 == hidden) {
            let run = |program: &std::path::Path| Run::new(program).cwd(far.path()).args(*options);
            let gnu = per_file(&far, &run(oracle().path()));
            let ours = per_file(&far, &run(checked().path()));
            let lazy = per_file(&far, &run(checked().path()).args(["--lazy"]));
            println!("| `{}` | {hidden} | {gnu} | {ours} | {lazy} |", options.join(" "));
            let seen = [gnu, ours, lazy];
            // One or two entries are asked before it is known that all is far away.
            if seen.iter().zip(expected).any(|(seen, expected)| (seen - expected).abs() > 0.05) || ours > gnu
            {
                wrong.push(format!("{options:?} hidden {hidden}: {seen:?} instead of {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// One thread with a ring: as many requests in flight as threads would have, not only as many as the workers that the
/// kernel starts for a ring by default.
#[test]
fn a_ring_asks_hundreds_at_once() {
    let far = SlowFs::builder().entries(600, &[Kind::File]).latency(Duration::from_millis(5));
    let Some(far) = far.mount_or_skip() else { return };
    let run = |mode: &str, most: &str| {
        far.reset_counts();
        let options = ["-U", "--color=always", mode, most];
        let outcome = Run::new(release().path()).cwd(far.path()).args(options).output().expect("it runs");
        assert_eq!(outcome.end, End::Exit(0));
        let refused = !outcome.stderr.is_empty();
        (outcome.stdout, far.peak_in_flight(), refused)
    };
    let (expected, one, _) = run("--mode=classic", "--max-inflight=9");
    let (listing, most, refused) = run("--mode=iou", "--max-inflight=200");
    let (_, few, _) = run("--mode=iou", "--max-inflight=20");
    println!("at most {one} with one thread, {most} and {few} with a ring");
    assert!(listing == expected);
    assert!(refused || (64..=200).contains(&most), "{most} in flight");
    assert!(refused || few <= 20, "{few} in flight");
}
