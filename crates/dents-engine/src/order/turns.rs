//! The items of a list that is shown one after the other, prefetched in the order in which they will be shown.
//!
//! ```text
//! consumer   d0 ───── d1 ── d2 ── …      each in its turn: takes what was found, executes what no worker has taken
//!            ▲        ▲
//! workers    d0/a     d1/a d1/b …        claimed from a stack, the next one on top
//!
//! an item    unread ──► taken ──► found       by a worker
//!               │          └► awaited ─┘      the consumer came to it meanwhile, and sleeps until it is found
//!               └──► taken                    by the consumer, in its turn
//! ```
//!
//! - An item is claimed once, under its own lock: by a worker, or by the consumer whose turn it is.
//! - An item that never ends is waited for where it is next, and not before: a worker that is stuck with it delays no other
//!   item. A consumer that waits may execute the next item itself ([`Turns::read_ahead`]), but only one that is known to end:
//!   it would be stuck before its turn. Where it may not it sleeps, and there should be as many workers as cores.
//! - Only so many items are kept. With more found and not yet shown workers are idle; they are woken when half of them
//!   have been shown.
//! - A worker that found what the consumer awaits notifies it; any other item costs no notification.

use crate::crew::{Crew, Next, Order};
use crate::limit::Limit;
use crate::lock::Mutex;
use crate::sync::{AtomicUsize, Fault, Ordering, broken};
use crate::wait::{Events, SPINS, now};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;

/// With so many unread a worker is woken, which costs as much as reading one.
const WAKING: usize = if cfg!(feature = "model") { 1 } else { 4 };

/// An item: the question and its answer.
#[derive(Debug)]
pub struct Item<P, T> {
    payload: P,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
enum State<T> {
    Unread,
    /// A worker or the consumer executes it, or the consumer has what was found.
    Taken,
    /// A worker executes it, and the consumer sleeps until it is found.
    Awaited,
    Found(T),
}

impl<P, T> Item<P, T> {
    /// An item that no worker has taken.
    #[must_use]
    pub fn new(payload: P) -> Arc<Item<P, T>> {
        Arc::new(Item { payload, state: Mutex::new(State::Unread) })
    }

    /// The question.
    #[must_use]
    pub fn payload(&self) -> &P {
        &self.payload
    }

    /// Whether the consumer need not wait for it nor execute it.
    #[must_use]
    pub fn is_found(&self) -> bool {
        matches!(*self.state.lock(), State::Found(_))
    }

    fn is_unread(&self) -> bool {
        matches!(*self.state.lock(), State::Unread)
    }

    /// Whether it is the caller's from now on.
    fn claim(&self) -> bool {
        let mut state = self.state.lock();
        let unread = matches!(*state, State::Unread);
        if broken(Fault::ClaimTwice) {
            drop(state);
            state = self.state.lock();
        }
        if unread {
            *state = State::Taken;
        }
        unread
    }
}

/// What the consumer gets in an item's turn.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn<T> {
    /// A worker found this.
    Found(T),
    /// The item is the consumer's, to be executed now.
    Yours,
    /// A worker is at it, and took longer than the consumer waits.
    Late,
}

/// The items that are known to follow, and their workers.
#[derive(Debug)]
pub struct Turns<P, T> {
    crew: Crew,
    /// The next one on top. The consumer may have executed some of them since.
    unread: Mutex<Vec<Arc<Item<P, T>>>>,
    /// Found and not yet shown, and how many of these there may be.
    kept: AtomicUsize,
    most: usize,
    /// The item that the consumer awaits was found.
    found: Events,
}

impl<P, T> Turns<P, T> {
    /// None yet. Workers are idle while `most` have been found and not shown.
    #[must_use]
    pub fn new(most: usize) -> Turns<P, T> {
        Turns {
            crew: Crew::new(Limit::fixed(), 1),
            unread: Mutex::default(),
            kept: AtomicUsize::new(0),
            most,
            found: Events::default(),
        }
    }

    /// How many are known and unread, and the next of them.
    #[must_use]
    pub fn next_unread(&self) -> (usize, Option<Arc<Item<P, T>>>) {
        let unread = self.unread.lock();
        (unread.len(), unread.last().cloned())
    }

    /// Items whose turns come before those of all that were offered already, in this order.
    pub fn offer<'i>(&self, items: impl DoubleEndedIterator<Item = &'i Arc<Item<P, T>>>)
    where
        P: 'i,
        T: 'i,
    {
        let mut unread = self.unread.lock();
        unread.extend(items.rev().cloned());
        let count = unread.len();
        drop(unread);
        self.announce(count);
    }

    fn announce(&self, count: usize) {
        if count >= WAKING {
            self.crew.announce(count);
        }
    }

    /// A worker's life, until [`Turns::end`]. `read` answers the question; what it leads to is offered before it is
    /// published, as the items that `below` takes from it.
    pub fn work<'t>(&'t self, mut read: impl FnMut(&P) -> T, below: impl Fn(&T) -> &[Arc<Item<P, T>>])
    where
        P: Send + Sync + 't,
        T: Send + 't,
    {
        self.crew.work(self, &mut (), |(), item| self.execute(&item, &mut read, &below));
    }

    /// While a worker is at `item`, the consumer executes the next unread one as a worker would, if `may` says that it ends.
    /// False if there was none, or if `item` need not be waited for.
    pub fn read_ahead(
        &self,
        item: &Item<P, T>,
        may: impl Fn(&P) -> bool,
        mut read: impl FnMut(&P) -> T,
        below: impl Fn(&T) -> &[Arc<Item<P, T>>],
    ) -> bool {
        if !matches!(*item.state.lock(), State::Taken) {
            return false;
        }
        let next = self.claim_next(may);
        if let Some(next) = &next {
            self.execute(next, &mut read, &below);
        }
        next.is_some()
    }

    fn execute(
        &self,
        item: &Item<P, T>,
        read: &mut impl FnMut(&P) -> T,
        below: &impl Fn(&T) -> &[Arc<Item<P, T>>],
    ) {
        let found = read(&item.payload);
        self.offer(below(&found).iter());
        self.publish(item, found);
    }

    /// The next unread item, now the caller's, unless enough are kept or `may` forbids it.
    fn claim_next(&self, may: impl Fn(&P) -> bool) -> Option<Arc<Item<P, T>>> {
        if self.kept.load(Ordering::Relaxed) >= self.most {
            return None;
        }
        let mut unread = self.unread.lock();
        loop {
            if !may(&unread.last()?.payload) {
                return None;
            }
            let item = unread.pop().filter(|item| item.claim());
            if item.is_some() {
                return item;
            }
        }
    }

    fn publish(&self, item: &Item<P, T>, found: T) {
        self.kept.fetch_add(1, Ordering::Relaxed);
        if broken(Fault::NotifyBeforePublishing) {
            self.found.notify(1);
            *item.state.lock() = State::Found(found);
            return;
        }
        let before = mem::replace(&mut *item.state.lock(), State::Found(found));
        if matches!(before, State::Awaited) {
            self.found.notify(1);
        }
    }

    /// It is an item's turn: what was found of it, or the item itself. A consumer that has to wait does so for so long, or
    /// for as long as it takes.
    pub fn take(&self, item: &Item<P, T>, patience_ns: Option<u64>) -> Turn<T> {
        if item.claim() {
            self.forget_executed();
            return Turn::Yours;
        }
        let look = || {
            let mut state = item.state.lock();
            match mem::replace(&mut *state, State::Taken) {
                State::Found(found) => Some(found),
                _ => {
                    *state = State::Awaited;
                    None
                }
            }
        };
        let found = look().or_else(|| {
            let deadline_ns = patience_ns.map(|patience_ns| now().saturating_add(patience_ns));
            self.found.wait(SPINS, deadline_ns, look)
        });
        let Some(found) = found else { return Turn::Late };
        let kept = self.kept.fetch_sub(1, Ordering::Relaxed) - 1;
        if self.crew.has_idle() && kept < self.most.div_ceil(2) {
            let count = self.unread.lock().len();
            self.announce(count);
        }
        Turn::Found(found)
    }

    /// Drops from the top what the consumer has executed, or it would pile up where there is no worker.
    fn forget_executed(&self) {
        let mut unread = self.unread.lock();
        while unread.last().is_some_and(|item| !item.is_unread()) {
            unread.pop();
        }
    }

    /// There will be no more turns: workers return.
    pub fn end(&self) {
        self.crew.end();
    }
}

impl<P: Send + Sync, T: Send> Order for Turns<P, T> {
    type Task = Arc<Item<P, T>>;
    type Local = ();

    fn next(&self, (): &mut ()) -> Next<Self::Task> {
        self.claim_next(|_| true).map_or(Next::Later, Next::Task)
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;
    use std::vec;

    /// A number; it leads to these. What is found of it: ten times the number, and what it leads to.
    type Found = (u32, Vec<Arc<Item<u32, Found2>>>);
    struct Found2(Found);

    fn items(numbers: core::ops::Range<u32>) -> Vec<Arc<Item<u32, Found2>>> {
        numbers.map(Item::new).collect()
    }

    fn read(number: &u32) -> Found2 {
        Found2((
            number * 10,
            if *number < 5 { items(100 * (number + 1)..100 * (number + 1) + 20) } else { vec![] },
        ))
    }

    /// Consumes all, with so many workers; the numbers in their order, and how many of them workers have found.
    fn consume(workers: usize, most: usize) -> (Vec<u32>, usize) {
        let (turns, mut shown, mut ahead) = (Turns::new(most), vec![], 0);
        let mut stack = items(0..40);
        turns.offer(stack.iter());
        stack.reverse();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| turns.work(read, |found| &found.0.1));
            }
            while let Some(item) = stack.pop() {
                let below = match turns.take(&item, None) {
                    Turn::Found(found) => {
                        assert_eq!(found.0.0, item.payload() * 10);
                        ahead += 1;
                        found.0.1
                    }
                    Turn::Yours => {
                        let below = read(item.payload()).0.1;
                        turns.offer(below.iter());
                        below
                    }
                    Turn::Late => panic!("it waits for as long as it takes"),
                };
                shown.push(*item.payload());
                stack.extend(below.into_iter().rev());
            }
            turns.end();
        });
        assert_eq!((turns.kept.into_inner(), turns.unread.into_inner().len()), (0, 0), "nothing is left");
        (shown, ahead)
    }

    #[test]
    fn the_order_is_the_same_with_any_number_of_workers() {
        let (expected, none) = consume(0, 512);
        assert_eq!((expected.len(), none), (140, 0));
        assert_eq!(expected[..3], [0, 100, 101]);
        for (workers, most) in [(1, 512), (4, 512), (3, 2), (2, 1)] {
            (0..20).for_each(|_| assert_eq!(consume(workers, most).0, expected, "{workers} {most}"));
        }
    }

    #[test]
    fn only_so_many_are_kept_and_workers_go_on_when_half_are_shown() {
        let (turns, list) = (Turns::<u32, u32>::new(6), (0..40).map(Item::new).collect::<Vec<_>>());
        turns.offer(list.iter());
        let until = |kept: usize| {
            while turns.kept.load(Ordering::Relaxed) != kept || !turns.crew.has_idle() {
                std::thread::yield_now();
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| turns.work(|number| number + 1, |_| &[]));
            until(6);
            assert!(list[5].is_found() && list[6].is_unread() && turns.next_unread().0 == 34);
            (0..3).for_each(|nth| assert_eq!(turns.take(&list[nth], None), Turn::Found(nth as u32 + 1)));
            assert!(list[6].is_unread(), "not yet half of them");
            assert_eq!(turns.take(&list[3], None), Turn::Found(4));
            until(6);
            assert!(list[9].is_found() && list[10].is_unread());
            turns.end();
        });
    }

    #[test]
    fn what_a_worker_is_at_is_waited_for_so_long() {
        let (turns, gate) = (Turns::<u32, u32>::new(9), Mutex::new(()));
        let list: Vec<_> = (0..WAKING as u32).map(Item::new).collect();
        turns.offer(list.iter());
        std::thread::scope(|scope| {
            let shut = gate.lock();
            scope.spawn(|| {
                turns.work(
                    |number| {
                        drop(gate.lock());
                        *number
                    },
                    |_| &[],
                );
            });
            while list[0].is_unread() {
                std::thread::yield_now();
            }
            let past = Some(0);
            assert_eq!((turns.take(&list[0], past), turns.take(&list[0], past)), (Turn::Late, Turn::Late));
            assert_eq!(
                turns.take(&list[1], past),
                Turn::Yours,
                "one that no worker has begun is not waited for"
            );
            drop(shut);
            assert_eq!(turns.take(&list[0], None), Turn::Found(0));
            turns.end();
        });
    }

    #[test]
    fn what_the_consumer_has_executed_does_not_pile_up() {
        let (turns, list) = (Turns::<u32, u32>::new(9), (0..3).map(Item::new).collect::<Vec<_>>());
        turns.offer(list.iter());
        assert_eq!(turns.next_unread().1.map(|item| *item.payload()), Some(0));
        assert_eq!((turns.take(&list[1], None), turns.next_unread().0), (Turn::Yours, 3), "it is not on top");
        assert_eq!((turns.take(&list[0], None), turns.next_unread().0), (Turn::Yours, 1));
        assert_eq!(turns.next_unread().1.map(|item| *item.payload()), Some(2));
    }
}
