//! Items that are shown one after the other, and prefetched in that order.
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
//! - An item is claimed once, under its own lock: by a worker, or by the consumer in the item's turn.
//! - The consumer waits for an item only in its turn, so a worker that is stuck in an item delays no other item. While
//!   the consumer waits it may execute the next item itself ([`Turns::read_ahead`]), but only an item that is known to
//!   end: otherwise it would be stuck before that item's turn. Where it may not, it sleeps, and there should be as many
//!   workers as cores.
//! - The number of items that are found but not shown is limited. At the limit workers are idle; they are woken when
//!   half of these items have been shown.
//! - A worker notifies the consumer only for the item that the consumer awaits.
//! - A worker may leave instead of sleeping ([`Turns::work_once`]). That loses nothing: the consumer executes what no worker has claimed.

use crate::crew::{Crew, Next, Order};
use crate::limit::Limit;
use crate::lock::Mutex;
use crate::sync::{AtomicUsize, Fault, Ordering, broken};
use crate::wait::{Events, SPINS, now};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;

/// Unread items that make it worth waking a worker: a wake-up costs as much as reading one item.
const WORTH_WAKING: usize = if cfg!(feature = "model") { 1 } else { 4 };

/// An item: its payload and, later, its result.
#[derive(Debug)]
pub struct Item<P, T> {
    payload: P,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
enum State<T> {
    Unread,
    /// A worker or the consumer executes it, or the consumer has its result.
    Taken,
    /// A worker executes it, and the consumer sleeps until it is found.
    Awaited,
    Found(T),
}

impl<P, T> Item<P, T> {
    /// An unread item.
    #[must_use]
    pub fn new(payload: P) -> Arc<Item<P, T>> {
        Arc::new(Item { payload, state: Mutex::new(State::Unread) })
    }

    /// The payload, which a worker executes.
    #[must_use]
    pub fn payload(&self) -> &P {
        &self.payload
    }

    /// Whether the result is there, so that the consumer need neither wait nor execute.
    #[must_use]
    pub fn is_found(&self) -> bool {
        matches!(*self.state.lock(), State::Found(_))
    }

    fn is_unread(&self) -> bool {
        matches!(*self.state.lock(), State::Unread)
    }

    /// Claims the item. Returns true if it was unread.
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

/// What the consumer does in an item's turn.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn<T> {
    /// A worker has found this result.
    Found(T),
    /// The consumer must execute the item now.
    Yours,
    /// A worker executes the item, and the consumer has waited long enough.
    Late,
}

/// The known items, and their workers.
#[derive(Debug)]
pub struct Turns<P, T> {
    crew: Crew,
    /// The next item is on top. The consumer may have executed some of them since.
    unread: Mutex<Vec<Arc<Item<P, T>>>>,
    /// Items that are found and not shown, and the limit for them.
    kept: AtomicUsize,
    most: usize,
    /// Notified when the awaited item is found.
    found: Events,
}

impl<P, T> Turns<P, T> {
    /// No items. Workers are idle while `most` items are found and not shown.
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

    /// The number of unread items, and the next of them.
    #[must_use]
    pub fn next_unread(&self) -> (usize, Option<Arc<Item<P, T>>>) {
        let unread = self.unread.lock();
        (unread.len(), unread.last().cloned())
    }

    /// Adds items whose turns come, in this order, before those of all earlier ones.
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
        if count >= WORTH_WAKING {
            self.crew.announce(count);
        }
    }

    /// The loop of a worker, until [`Turns::end`]. `read` finds the result. The items that `below` takes from the
    /// result are offered before the result is published.
    pub fn work<'t>(&'t self, mut read: impl FnMut(&P) -> T, below: impl Fn(&T) -> &[Arc<Item<P, T>>])
    where
        P: Send + Sync + 't,
        T: Send + 't,
    {
        self.crew.work(self, &mut (), |(), item| self.execute(&item, &mut read, &below));
    }

    /// While a worker executes `item`, the consumer executes the next unread item as a worker would, if `may` says that
    /// it ends. Returns false if there is none, or if `item` is found.
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
        self.execute_next(may, &mut read, &below)
    }

    /// Executes the next unread item. Returns false if there is none, or if enough results are kept: for a worker that does something
    /// else instead of sleeping in [`Turns::work`].
    pub fn work_once(&self, mut read: impl FnMut(&P) -> T, below: impl Fn(&T) -> &[Arc<Item<P, T>>]) -> bool {
        self.execute_next(|_| true, &mut read, &below)
    }

    /// Whether such a worker is worth calling: there is something to execute, and half of what may be kept was shown.
    #[must_use]
    pub fn is_worth_calling(&self) -> bool {
        self.kept.load(Ordering::Relaxed) < self.most.div_ceil(2) && self.unread.lock().len() >= WORTH_WAKING
    }

    fn execute_next(
        &self,
        may: impl Fn(&P) -> bool,
        read: &mut impl FnMut(&P) -> T,
        below: &impl Fn(&T) -> &[Arc<Item<P, T>>],
    ) -> bool {
        let next = self.claim_next(may);
        if let Some(next) = &next {
            self.execute(next, read, below);
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

    /// Claims the next unread item, unless enough results are kept or `may` forbids it.
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

    /// Takes an item in its turn. A consumer that must wait waits for `patience_ns`, or without limit.
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

    /// Removes executed items from the top. Without workers they would accumulate.
    fn forget_executed(&self) {
        let mut unread = self.unread.lock();
        while unread.last().is_some_and(|item| !item.is_unread()) {
            unread.pop();
        }
    }

    /// There are no more turns: workers return.
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

    /// A number, the items it leads to, and a result: ten times the number.
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

    /// Consumes all items with this many workers. Returns the numbers in order, and how many of them workers found.
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
                    Turn::Late => panic!("it waits without limit"),
                };
                shown.push(*item.payload());
                stack.extend(below.into_iter().rev());
            }
            turns.end();
        });
        assert_eq!((turns.kept.into_inner(), turns.unread.into_inner().len()), (0, 0), "no item is left");
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
            assert!(list[6].is_unread(), "fewer than half are shown");
            assert_eq!(turns.take(&list[3], None), Turn::Found(4));
            until(6);
            assert!(list[9].is_found() && list[10].is_unread());
            turns.end();
        });
    }

    #[test]
    fn the_consumer_waits_for_a_worker_until_the_timeout() {
        let (turns, gate) = (Turns::<u32, u32>::new(9), Mutex::new(()));
        let list: Vec<_> = (0..WORTH_WAKING as u32).map(Item::new).collect();
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
                "an item that no worker has begun is not waited for"
            );
            drop(shut);
            assert_eq!(turns.take(&list[0], None), Turn::Found(0));
            turns.end();
        });
    }

    #[test]
    fn executed_items_do_not_accumulate() {
        let (turns, list) = (Turns::<u32, u32>::new(9), (0..3).map(Item::new).collect::<Vec<_>>());
        turns.offer(list.iter());
        assert_eq!(turns.next_unread().1.map(|item| *item.payload()), Some(0));
        assert_eq!(
            (turns.take(&list[1], None), turns.next_unread().0),
            (Turn::Yours, 3),
            "the item is not on top"
        );
        assert_eq!((turns.take(&list[0], None), turns.next_unread().0), (Turn::Yours, 1));
        assert_eq!(turns.next_unread().1.map(|item| *item.payload()), Some(2));
    }
}
