//! Walks with few descriptors. The limit applies to the process, so this test has its own.

mod common;

use common::{Playground, Threads, c_path};
use dents_core::batch::Batch;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::tree::{self, Failure, Options, Order, Place, Step, Visitor};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[derive(Default)]
struct Count {
    entries: u64,
    failures: Vec<String>,
}

impl Visitor for Count {
    type State = ();

    fn entries(&mut self, _: &Place<'_>, batch: &Batch, (): &()) -> Step {
        self.entries += batch.len() as u64;
        Step::Enter
    }

    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        self.failures.push(format!("{failure:?}"));
        Step::Enter
    }
}

#[test]
fn sixty_four_descriptors_suffice() {
    let playground = Playground::new("limits");
    let mut made = 1;
    for branch in 0..6 {
        let mut path = playground.0.join(format!("{branch}"));
        for level in 0..100 {
            std::fs::create_dir_all(path.join("leaf")).expect("directories");
            made += 2;
            path = path.join(format!("level{level}"));
        }
    }
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: before.maximum })
        .expect("lower is allowed");
    for needs in [NeedsByKind::all(Needs::TYPE), NeedsByKind::all(Needs::SIZE)] {
        for order in [Order::Any, Order::Inode] {
            // More descriptors than the process has: running out of them must not fail the walk.
            for (workers, descriptors) in
                [(Some(1), None), (Some(8), None), (Some(64), None), (Some(8), Some(1000))]
            {
                let options = Options { needs, order, workers, descriptors, ..Options::default() };
                let operand = c_path(&playground.0);
                let outcome = tree::walk(&[&operand], &options, &Threads, |_| Count::default());
                let entries: u64 = outcome.visitors.iter().map(|one| one.entries).sum();
                let failures: Vec<_> = outcome.visitors.iter().flat_map(|one| &one.failures).collect();
                assert!(failures.is_empty(), "{failures:?}");
                assert_eq!(entries, made, "{workers:?} workers, {descriptors:?} descriptors, {order:?}");
            }
        }
    }
    setrlimit(Resource::Nofile, before).expect("the soft limit goes up to the hard one");
}
