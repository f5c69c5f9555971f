//! The rest of a tree: what the workers of a crew have left when it was ended before its tasks were.

use super::{Group, Level, Stack, Steal};
use alloc::sync::Arc;
use alloc::vec::Vec;

impl<G, P> Steal<G, P> {
    /// Takes all that is left on the stacks of workers, as the stack of the first worker. The crew has ended, and none of its workers is
    /// left in it. Afterwards [`Crew::begin_again`](crate::crew::Crew::begin_again) and [`Steal::offer_all`] let a crew of any number of workers continue with
    /// it; parts and sorted members wait in the order itself.
    ///
    /// A group that was stolen is on several stacks; the rest has it once, so it does not grow with the number of times that it is
    /// gathered.
    pub fn gather<R>(&self, stacks: impl IntoIterator<Item = Stack<G, R>>) -> Stack<G, R> {
        self.offers.iter().for_each(|offers| offers.0.lock().clear());
        let mut rest: Vec<Level<G, R>> = Vec::new();
        for level in stacks.into_iter().flat_map(|stack| stack.levels) {
            let is_new = |group: &Arc<Group<G>>| {
                let is_it = |one: &Level<G, R>| matches!(one, Level::Group(one) if Arc::ptr_eq(one, group));
                group.unclaimed() > 0 && !rest.iter().any(is_it)
            };
            if match &level {
                Level::Group(group) => is_new(group),
                Level::Paused(_) => true,
            } {
                rest.push(level);
            }
        }
        Stack { worker: 0, levels: rest }
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;
    use crate::crew::Next;
    use crate::order::steal::Task;
    use std::vec;

    type Shared = Steal<&'static str, char>;
    type Own = Stack<&'static str, &'static str>;

    #[test]
    fn the_rest_has_each_group_once_and_is_offered_again() {
        let mut steal = Shared::new(0);
        steal.set_workers(2);
        let (mut own, mut thief) = (Own::new(0), Own::new(1));
        steal.push(&mut own, Group::new("shared", 4));
        steal.push(&mut own, Group::new("claimed", 1));
        let Next::Task(Task::Own(claimed, 0)) = steal.next(&mut own) else { panic!("the deepest") };
        assert_eq!(claimed.common, "claimed");
        let Next::Task(Task::Stolen(group)) = steal.next(&mut thief) else { panic!("an offer") };
        steal.push(&mut thief, group);
        thief.pause(1, "half read");
        steal.push_part('p');
        let rest = steal.gather([own, thief]);
        assert_eq!((rest.worker(), rest.levels(), rest.unclaimed(0)), (0, 2, 4));
        assert!(rest.group(0).is_some() && rest.group(1).is_none(), "the group, then what was half read");
        assert!(steal.offers.iter().all(|offers| offers.0.lock().is_empty()));
        // Another thief takes its share of the rest.
        steal.offer_all(&rest);
        let (mut rest, mut thief) = (rest, Own::new(1));
        assert!(matches!(steal.next(&mut thief), Next::Task(Task::Part('p'))));
        let Next::Task(Task::Stolen(group)) = steal.next(&mut thief) else { panic!("offered again") };
        steal.push(&mut thief, group);
        assert!(matches!(steal.next(&mut rest), Next::Task(Task::Resume("half read"))));
        let mut indices = vec![];
        for nth in 0..4 {
            let stack = if nth % 2 == 0 { &mut rest } else { &mut thief };
            let Next::Task(Task::Own(group, index)) = steal.next(stack) else { panic!("a member") };
            indices.push((group.common, index));
        }
        assert_eq!(indices, [("shared", 0), ("shared", 1), ("shared", 2), ("shared", 3)]);
        assert!(matches!(steal.next(&mut rest), Next::Later));
    }
}
