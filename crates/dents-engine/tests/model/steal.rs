//! `order::steal`: every member, paused task and part is executed once, and an offer wakes a sleeping worker.

use super::explore;
use dents_engine::Fault;
use dents_engine::crew::{Next, Order};
use dents_engine::order::steal::{Group, Stack, Steal, Task};
use dents_engine::wait::Events;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

/// The depth of the groups below this one: each member produces another group.
type Below = u32;
type Next1 = Next<Task<Below, char, char>>;

/// The order, wrapped as a consumer of the engine wraps it, and a count of executed tasks.
struct Tree {
    tasks: Steal<Below, char>,
    done: AtomicUsize,
    events: Events,
}

impl Order for Tree {
    type Task = Task<Below, char, char>;
    type Local = Stack<Below, char>;

    fn next(&self, stack: &mut Self::Local) -> Next1 {
        self.tasks.next(stack)
    }
}

impl Tree {
    fn new(most_sorted: usize) -> Tree {
        let mut tasks = Steal::new(most_sorted);
        tasks.set_workers(2);
        Tree { tasks, done: AtomicUsize::new(0), events: Events::default() }
    }

    fn execute(&self, stack: &mut Stack<Below, char>, task: Task<Below, char, char>) {
        match task {
            Task::Stolen(group) => return self.tasks.push(stack, group),
            Task::Found(group, index) => return self.tasks.place(group, index, 0),
            Task::Own(group, _) if group.common > 0 => {
                self.tasks.push(stack, Group::new(group.common - 1, 2));
            }
            Task::Resume('d') => self.tasks.push_part('p'),
            _ => {}
        }
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits until two tasks have come here.
    fn meet(&self) {
        self.done.fetch_add(1, Ordering::AcqRel);
        self.events.notify_all();
        self.events.wait(0, None, || (self.done.load(Ordering::Acquire) == 2).then_some(()));
    }

    /// Starts the second worker.
    fn join(self: &Arc<Tree>) -> thread::JoinHandle<()> {
        let tree = self.clone();
        thread::spawn(move || {
            tree.tasks.crew.work(&*tree, &mut Stack::new(1), |stack, task| tree.execute(stack, task))
        })
    }
}

/// Two workers; the first begins with tasks. `tasks` of them are executed.
fn two(
    fault: Option<Fault>,
    most_sorted: usize,
    tasks: usize,
    bring: impl Fn(&Tree, &mut Stack<Below, char>) + Send + Sync + 'static,
) {
    explore(fault, move || {
        let tree = Arc::new(Tree::new(most_sorted));
        let mut stack = Stack::new(0);
        bring(&tree, &mut stack);
        let other = tree.join();
        tree.tasks.crew.work_on(&*tree, &mut stack, |stack, task| tree.execute(stack, task));
        other.join().unwrap();
        assert_eq!(tree.done.load(Ordering::Relaxed), tasks, "every task, once");
    });
}

/// The thief takes the group while its owner claims the last member.
fn one_group(fault: Option<Fault>) {
    two(fault, 0, 2, |tree, stack| tree.tasks.push(stack, Group::new(0, 2)));
}

#[test]
fn owner_and_thief_claim_each_member_once() {
    one_group(None);
}

#[test]
#[should_panic(expected = "every task, once")]
fn members_that_are_claimed_twice_are_noticed() {
    one_group(Some(Fault::ClaimTwice));
}

#[test]
fn groups_bring_forth_groups() {
    two(None, 0, 3, |tree, stack| tree.tasks.push(stack, Group::new(1, 1)));
}

#[test]
fn members_by_key_are_executed_once() {
    two(None, 4, 2, |tree, _| assert!(tree.tasks.sort(&Group::new(0, 2), &[2, 1])));
}

/// A directory is paused below a group, and produces a part when it is resumed: neither is left at the end.
fn paused(fault: Option<Fault>) {
    two(fault, 0, 3, |tree, stack| {
        tree.tasks.push(stack, Group::new(0, 1));
        stack.pause(0, 'd');
    });
}

#[test]
fn the_end_waits_for_paused_tasks_and_parts() {
    paused(None);
}

#[test]
#[should_panic(expected = "every task, once")]
fn a_paused_task_that_is_forgotten_is_noticed() {
    paused(Some(Fault::ForgetPaused));
}

/// Two workers end the crew after their first tasks. What they have left is gathered, and the first continues with it.
fn in_two_turns(gathers_all: bool) {
    explore(None, move || {
        let tree = Arc::new(Tree::new(0));
        let pausing = |tree: &Tree, stack: &mut Stack<Below, char>, task| {
            tree.execute(stack, task);
            tree.tasks.crew.end();
        };
        let mut stack = Stack::new(0);
        tree.tasks.push(&mut stack, Group::new(1, 2));
        let other = {
            let tree = tree.clone();
            thread::spawn(move || {
                let mut stack = Stack::new(1);
                tree.tasks.crew.work(&*tree, &mut stack, |stack, task| match task {
                    // To steal is half of a task.
                    Task::Stolen(group) => tree.tasks.push(stack, group),
                    task => pausing(&tree, stack, task),
                });
                stack
            })
        };
        tree.tasks.crew.work_on(&*tree, &mut stack, |stack, task| pausing(&tree, stack, task));
        let left = other.join().unwrap();
        let mut rest = tree.tasks.gather([Some(stack), gathers_all.then_some(left)].into_iter().flatten());
        tree.tasks.crew.begin_again(1);
        tree.tasks.offer_all(&rest);
        tree.tasks.crew.work_on(&*tree, &mut rest, |stack, task| tree.execute(stack, task));
        assert_eq!(tree.done.load(Ordering::Relaxed), 6, "every task, once");
    });
}

#[test]
fn what_two_workers_have_left_is_done_in_another_turn() {
    in_two_turns(true);
}

#[test]
#[should_panic(expected = "every task, once")]
fn what_a_thief_has_left_must_be_gathered_too() {
    in_two_turns(false);
}

/// The first worker joins like any other: the second may see no active worker before the first has begun.
#[test]
#[should_panic(expected = "every task, once")]
fn a_worker_that_brings_tasks_along_must_be_counted_from_the_start() {
    explore(None, || {
        let crew = dents_engine::crew::Crew::new(dents_engine::limit::Limit::fixed(), 0);
        let shared = Arc::new((Tree::new(0), crew));
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (tree, crew) = &*shared;
                crew.work(tree, &mut Stack::new(1), |stack, task| tree.execute(stack, task));
            })
        };
        let ((tree, crew), mut stack) = (&*shared, Stack::new(0));
        tree.tasks.push(&mut stack, Group::new(0, 1));
        crew.work(tree, &mut stack, |stack, task| tree.execute(stack, task));
        other.join().unwrap();
        assert_eq!(tree.done.load(Ordering::Relaxed), 1, "every task, once");
    });
}

/// The first worker publishes work when the second may already sleep. Two tasks last until both are executed.
fn published_late(fault: Option<Fault>, publish: fn(&Tree, &mut Stack<Below, char>)) {
    explore(fault, move || {
        let tree = Arc::new(Tree::new(0));
        let execute = move |tree: &Tree, stack: &mut Stack<Below, char>, task| match task {
            Task::Own(group, _) if group.common == 1 => publish(tree, stack),
            Task::Own(..) | Task::Part(_) => tree.meet(),
            other => tree.execute(stack, other),
        };
        let other = {
            let tree = tree.clone();
            thread::spawn(move || {
                tree.tasks.crew.work(&*tree, &mut Stack::new(1), |stack, task| execute(&tree, stack, task));
            })
        };
        let mut stack = Stack::new(0);
        tree.tasks.push(&mut stack, Group::new(1, 1));
        tree.tasks.crew.work_on(&*tree, &mut stack, |stack, task| execute(&tree, stack, task));
        other.join().unwrap();
    });
}

fn offer(tree: &Tree, stack: &mut Stack<Below, char>) {
    tree.tasks.push(stack, Group::new(0, 2));
}

/// A part for the second worker, because the first one waits for it.
fn push_part(tree: &Tree, _: &mut Stack<Below, char>) {
    tree.tasks.push_part('p');
    tree.meet();
}

#[test]
fn an_offer_wakes_a_thief() {
    published_late(None, offer);
}

#[test]
#[should_panic(expected = "deadlock")]
fn an_offer_that_is_announced_before_it_is_there_may_leave_a_thief_asleep() {
    published_late(Some(Fault::NotifyBeforePublishing), offer);
}

#[test]
fn a_part_wakes_another_worker() {
    published_late(None, push_part);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_part_that_is_announced_before_it_is_there_may_leave_a_worker_asleep() {
    published_late(Some(Fault::NotifyBeforePublishing), push_part);
}
