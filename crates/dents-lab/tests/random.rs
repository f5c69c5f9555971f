//! Random command lines on every place. `DLS_SEED` repeats a run, `DLS_CASES` sets its length.

use std::time::{SystemTime, UNIX_EPOCH};

use dents_lab::case::Case;
use dents_lab::oracle::Subject;
use dents_lab::random;
use dents_lab::rng::Rng;
use dents_lab::suite::{Places, checked, expect_same, number, oracle, release};

/// Draws `count` command lines and runs each on every place, in an environment drawn for the pair.
fn run(subject: &Subject, count: u64, fixed: Option<u64>) {
    let places = Places::new();
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
    let seed = fixed.unwrap_or_else(|| number("DLS_SEED", clock & 0xffff_ffff));
    println!("DLS_SEED={seed} DLS_CASES={count}");
    let mut rng = Rng::new(seed);
    let mut cases: Vec<Case> = Vec::new();
    for _ in 0..count {
        let options = random::options(&mut rng);
        cases.extend(places.all.iter().map(|place| place.case(&options, &mut rng)));
    }
    expect_same(&oracle(), subject, &cases);
}

/// The same thousand on every machine and every day.
#[test]
fn a_thousand_combinations_with_every_assertion_on() {
    run(&checked(), number("DLS_CASES", 1000), Some(number("DLS_SEED", 2)));
}

/// Another hundred each time, with the options of the release: paths that the fixed thousand never takes.
#[test]
fn a_hundred_new_combinations_with_the_release() {
    run(&release(), number("DLS_CASES", 1000) / 10, None);
}
