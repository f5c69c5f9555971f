//! `spans`: each entry is read once, and no read is wasted where positions rise.

use super::explore;
use dents_engine::Fault;
use dents_engine::crew::Crew;
use dents_engine::limit::Limit;
use dents_engine::order::spans::{Own, Spans, Task};
use loom::thread;
use std::sync::{Arc, Mutex};

/// Entries, each its own position. A read returns one. The first worker has read entry 0.
const ENTRIES: u64 = 6;

struct Shared {
    spans: Spans,
    crew: Crew,
    /// The entries of each span.
    read: Mutex<Vec<(usize, Vec<u64>)>>,
}

impl Shared {
    fn execute(&self, read: &mut Vec<u64>, next: &mut u64, own: &mut Own, task: Task) {
        match task {
            Task::Split { span, at } => {
                *next = at;
                if self.spans.split(own, span, at, Some(&[at]), &self.crew) {
                    self.advance(read, next, own);
                }
            }
            Task::Read(_) if *next == ENTRIES => self.finish(read, own, false),
            Task::Read(_) => self.advance(read, next, own),
        }
    }

    fn advance(&self, read: &mut Vec<u64>, next: &mut u64, own: &mut Own) {
        let (span, entry) = (own.expect("a span"), *next);
        *next += 1;
        match self.spans.advance(span, (entry, entry)) {
            Some(marks) if marks.contains(&entry) => self.finish(read, own, true),
            _ => read.push(entry),
        }
    }

    fn finish(&self, read: &mut Vec<u64>, own: &mut Own, has_met: bool) {
        self.read.lock().unwrap().push((own.expect("a span"), std::mem::take(read)));
        self.spans.finish(own, has_met);
    }
}

/// The first worker, and another that splits.
fn two_workers(fault: Option<Fault>) {
    explore(fault, || {
        let spans = Spans::new((0, 0), ENTRIES);
        let shared = Arc::new(Shared { spans, crew: Crew::new(Limit::fixed(), 1), read: Mutex::default() });
        let first = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (mut read, mut next) = (Vec::new(), 1);
                let execute = |own: &mut Own, task| shared.execute(&mut read, &mut next, own, task);
                shared.crew.work_on(&shared.spans, &mut Some(0), execute);
            })
        };
        let (mut read, mut next) = (Vec::new(), 0);
        let execute = |own: &mut Own, task| shared.execute(&mut read, &mut next, own, task);
        shared.crew.work(&shared.spans, &mut None, execute);
        first.join().unwrap();
        let Shared { spans, read, .. } = Arc::into_inner(shared).expect("all have ended");
        let (read, order) = (read.into_inner().unwrap(), spans.order());
        assert_eq!(order.len(), read.len(), "no read is wasted");
        let of_span = |span: usize| read.iter().find(|(one, _)| *one == span).expect("finished").1.clone();
        assert!(order.into_iter().flat_map(of_span).eq(1..ENTRIES), "each once, in order");
    });
}

#[test]
fn two_workers_read_each_entry_once() {
    two_workers(None);
}

#[test]
#[should_panic(expected = "no read is wasted")]
fn marks_that_were_passed_are_never_met() {
    two_workers(Some(Fault::SplitBehind));
}
