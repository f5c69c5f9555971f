use super::*;

fn model() -> Model {
    Model {
        clients: 1,
        in_flight: 64,
        latency: 0.001,
        capacity: f64::INFINITY,
        per_directory: 3,
        per_entry: 2,
        part: 1000,
        budget: 20_000,
        tasks: 2,
        bundle: 1000,
        message: 0.0,
        scheduling: 0.0,
        commit: (0.0, 0.0),
        lifetime: None,
        after_death: (1.0, 5.0),
        seed: 1,
    }
}

/// Directories, inodes and the sum of the numbers of a tree, read without any model.
fn whole(root: Directory) -> (u64, u64, u64) {
    let (mut waiting, mut sums) = (vec![root], (0, 0, 0u64));
    while let Some(directory) = waiting.pop() {
        let files = directory.read(&mut waiting);
        sums = (sums.0 + 1, sums.1 + 1 + files, sums.2.wrapping_add(directory.seed()));
    }
    sums
}

fn read(outcome: &Outcome) -> (u64, u64, u64) {
    (outcome.directories, outcome.inodes, outcome.checksum)
}

fn near(one: f64, other: f64, share: f64) {
    assert!((one / other - 1.0).abs() <= share, "{one} is not {other}");
}

#[test]
fn every_directory_is_read_once() {
    for (seed, clients, tasks, budget, bundle) in
        [(1, 1, 1, 1, 1), (2, 3, 1, 500, 7), (3, 8, 2, 20_000, 1000), (4, 64, 4, 1_000_000, 100_000)]
    {
        let root = Directory::root(seed, 200_000, 5_000, 60);
        let model = Model { clients, tasks, budget, bundle, message: 0.002, commit: (0.02, 1e-6), ..model() };
        let outcome = model.run(root);
        assert_eq!(read(&outcome), whole(root), "{model:?}");
        let (directories, inodes, _) = whole(root);
        assert_eq!(outcome.requests, directories * 3 + (inodes - 1) * 2, "{model:?}");
        assert_eq!((outcome.lost, outcome.deaths), (0, 0));
        assert!((0.0..1.0).contains(&outcome.idle), "{outcome:?}");
    }
}

#[test]
fn every_directory_is_read_once_though_clients_die() {
    let root = Directory::root(5, 200_000, 5_000, 60);
    let mut deaths = 0;
    for seed in 0..20 {
        // The coordinator notices a death before the client is back, or after.
        let after_death = if seed % 2 == 0 { (0.5, 2.0) } else { (2.0, 0.5) };
        let (lifetime, message) = (Some(3.0), 0.01);
        let model = Model { clients: 4, lifetime, after_death, message, seed, ..model() };
        let outcome = model.run(root);
        assert_eq!(read(&outcome), whole(root), "{model:?}");
        let (directories, inodes, _) = whole(root);
        assert_eq!(outcome.requests - outcome.lost, directories * 3 + (inodes - 1) * 2);
        deaths += outcome.deaths;
    }
    assert!(deaths > 20, "{deaths}");
}

#[test]
fn the_same_model_gives_the_same_outcome() {
    let root = Directory::root(6, 100_000, 0, 0);
    let model = Model { clients: 5, lifetime: Some(3.0), capacity: 1e5, ..model() };
    assert_eq!(model.run(root), model.run(root));
    assert_ne!(model.run(root), Model { seed: 2, ..model.clone() }.run(root));
}

#[test]
fn one_client_takes_latency_times_requests_over_those_in_flight() {
    let outcome = model().run(Directory::flat(1, 1_000_001));
    // 1,000 parts of 2,000 requests and 64 workers: some of them are idle at the end.
    near(outcome.seconds, 0.001 * (16.0 * 2000.0 + 3.0), 1e-3);
    let one = Model { in_flight: 1, ..model() }.run(Directory::flat(1, 1_000_001));
    near(one.seconds, 0.001 * 2_000_003.0, 1e-9);
    near(one.idle + 1.0, 1.0, 1e-9);
}

#[test]
fn a_saturated_server_takes_requests_over_its_capacity() {
    let root = Directory::root(7, 2_000_000, 0, 0);
    let model = Model { clients: 16, capacity: 100_000.0, budget: 500_000, ..model() };
    let outcome = model.run(root);
    near(outcome.seconds, outcome.requests as f64 / 100_000.0, 0.1);
    let twice = Model { clients: 32, ..model.clone() }.run(root);
    near(twice.seconds, outcome.seconds, 0.1);
    let alone = Model { clients: 1, ..model }.run(root);
    near(alone.seconds, outcome.requests as f64 * 0.001 / 64.0, 0.1);
}

#[test]
fn leftovers_are_bounded_by_the_budget_and_a_commit_costs_its_time() {
    let root = Directory::root(8, 300_000, 0, 0);
    let (cheap, dear) = (model(), Model { commit: (1.0, 0.0), ..model() });
    let (cheap, dear) = (cheap.run(root), dear.run(root));
    near(dear.seconds - cheap.seconds, dear.tasks as f64, 0.05);
    assert!(cheap.waiting >= cheap.ranges && cheap.waiting < cheap.directories);
}
