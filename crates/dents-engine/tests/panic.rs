//! A task that panics ends the crew: no other worker waits for ever.
#![cfg(not(feature = "model"))]

use dents_engine::crew::{Crew, Next, Order};
use dents_engine::limit::Limit;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Numbers, the last one first.
struct Stack(Mutex<Vec<u32>>);

impl Order for Stack {
    type Task = u32;
    type Local = ();

    fn next(&self, (): &mut ()) -> Next<u32> {
        self.0.lock().unwrap().pop().map_or(Next::Later, Next::Task)
    }
}

/// Two workers. The first begins with a task of its own if it `brings` one. A task panics once the other worker is
/// idle.
fn ends(brings: bool) {
    let shared = Arc::new((Crew::new(Limit::counted(2, 2), u32::from(brings)), Stack(Mutex::new(vec![1]))));
    let panics = move |shared: Arc<(Crew, Stack)>| {
        let (crew, stack) = &*shared;
        let execute = |(): &mut (), _| {
            while !crew.has_idle() {
                thread::yield_now();
            }
            panic!("as expected");
        };
        if brings { crew.work_on(stack, &mut (), execute) } else { crew.work(stack, &mut (), execute) }
    };
    let first = {
        let shared = shared.clone();
        thread::spawn(move || panics(shared))
    };
    while !shared.1.0.lock().unwrap().is_empty() {
        thread::yield_now();
    }
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut executed = 0;
        shared.0.work(&shared.1, &mut (), |(), _| executed += 1);
        sender.send(executed).unwrap();
    });
    assert_eq!(receiver.recv_timeout(Duration::from_secs(30)), Ok(0), "the other worker returns");
    assert!(first.join().is_err());
}

#[test]
fn a_panic_ends_the_crew() {
    ends(false);
}

#[test]
fn a_panic_of_the_first_worker_ends_the_crew() {
    ends(true);
}
