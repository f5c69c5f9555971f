//! `simulate [INODES]`: runs [`dents_lab::cluster`] on the cases of docs/SIMULATION.md, 400 million inodes by default. Prints
//! `CASE<tab>X<tab>SECONDS<tab>IDLE<tab>REQUESTS<tab>LOST<tab>TASKS<tab>DEATHS<tab>WAITING<tab>RANGES` for each.

use dents_lab::cluster::{Directory, Model};
use std::process::ExitCode;
use std::sync::Mutex;

/// Where the figures come from: docs/SIMULATION.md, "Parameters".
fn model() -> Model {
    Model {
        clients: 8,
        in_flight: 64,
        latency: 0.00137,
        capacity: 200_000.0,
        per_directory: 3,
        per_entry: 2,
        part: 512,
        budget: 2_000_000,
        tasks: 2,
        bundle: 4096,
        message: 0.005,
        scheduling: 0.001,
        commit: (0.02, 0.54e-6),
        lifetime: None,
        after_death: (10.0, 60.0),
        seed: 1,
    }
}

/// A larger server: five times the capacity.
fn large() -> Model {
    Model { capacity: 1_000_000.0, ..model() }
}

fn cases() -> Vec<(String, f64, Model)> {
    let mut cases = Vec::new();
    let mut add = |name: &str, x: f64, model: Model| cases.push((name.to_owned(), x, model));
    for clients in [1, 2, 4, 8, 16, 32, 64] {
        add("clients 200 k/s", clients as f64, Model { clients, ..model() });
        add("clients 1 M/s", clients as f64, Model { clients, ..large() });
    }
    for budget in [10_000, 50_000, 200_000, 1_000_000, 2_000_000, 10_000_000, 50_000_000] {
        add("budget no deaths", budget as f64, Model { clients: 16, budget, ..large() });
        let lifetime = Some(600.0);
        add("budget a death in 10 min", budget as f64, Model { clients: 16, budget, lifetime, ..large() });
    }
    for tasks in [1, 2, 3, 4, 8] {
        add("tasks budget 2 M", tasks as f64, Model { clients: 16, tasks, ..large() });
        add("tasks budget 50 k", tasks as f64, Model { clients: 16, tasks, budget: 50_000, ..large() });
    }
    for lifetime in [120.0, 300.0, 600.0, 1800.0, 7200.0] {
        add("lifetime budget 2 M", lifetime, Model { clients: 16, lifetime: Some(lifetime), ..large() });
        let one = Model { clients: 16, lifetime: Some(lifetime), budget: 200_000, ..large() };
        add("lifetime budget 200 k", lifetime, one);
    }
    cases
}

fn main() -> ExitCode {
    let inodes = match std::env::args().nth(1).map(|word| word.parse::<u64>()) {
        None => 400_000_000,
        Some(Ok(inodes)) if inodes > 0 => inodes,
        _ => {
            eprintln!("usage: simulate [INODES]");
            return ExitCode::from(2);
        }
    };
    let root = Directory::root(1, inodes, (inodes / 40) as u32, 60);
    let cases = cases();
    let (next, lines) = (Mutex::new(0), Mutex::new(vec![String::new(); cases.len()]));
    let work = || loop {
        let nth = {
            let mut next = next.lock().expect("no thread panics while it holds the lock");
            *next += 1;
            *next - 1
        };
        let Some((name, x, model)) = cases.get(nth) else { return };
        let it = model.run(root);
        assert_eq!(it.inodes, inodes, "{name} {x}: an inode was lost, or counted twice");
        let line = format!(
            "{name}\t{x}\t{:.1}\t{:.4}\t{}\t{}\t{}\t{}\t{}\t{}",
            it.seconds, it.idle, it.requests, it.lost, it.tasks, it.deaths, it.waiting, it.ranges
        );
        eprintln!("{line}");
        lines.lock().expect("no thread panics while it holds the lock")[nth] = line;
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    for line in lines.into_inner().expect("no thread panicked") {
        println!("{line}");
    }
    ExitCode::SUCCESS
}
