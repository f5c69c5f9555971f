//! The outboxes of the threads of a walk under loom: in every interleaving a directory is received before its contents, and no thread
//! waits for ever. Each broken variant is detected.

mod sync {
    pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
    pub(crate) use std::sync::PoisonError;
}
#[path = "../src/outbox.rs"]
mod outbox;

use loom::sync::Condvar;
use loom::thread;
use outbox::{Outboxes, lock};
use sync::{Arc, Mutex};

/// What is wrong with the threads.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The thread that takes the directory over sends its own entries alone.
    SendOwnAlone,
    /// The thread that found the directory sends its message after it has released the lock.
    SendUnlocked,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Directory,
    Contents,
    Other,
}

/// A channel with room for one message.
#[derive(Default)]
struct Channel {
    message: Mutex<Option<Vec<Part>>>,
    changed: Condvar,
}

impl Channel {
    fn send(&self, message: Vec<Part>) -> bool {
        let mut room = lock(&self.message);
        while room.is_some() {
            room = self.changed.wait(room).unwrap();
        }
        *room = Some(message);
        self.changed.notify_all();
        true
    }

    fn receive(&self) -> Vec<Part> {
        let mut message = lock(&self.message);
        loop {
            if let Some(message) = message.take() {
                self.changed.notify_all();
                return message;
            }
            message = self.changed.wait(message).unwrap();
        }
    }
}

/// Thread 0 finds a directory, and thread 1 takes that over, while thread 0 finds something else and sends both.
fn walked(fault: Fault) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let channel = Arc::new(Channel::default());
        let sender = Arc::clone(&channel);
        let boxes = Arc::new(Outboxes::new(move |message| sender.send(message)));
        let finder = boxes.of(0);
        lock(&finder).add(Part::Directory, 1);
        let takes_over = {
            let boxes = Arc::clone(&boxes);
            thread::spawn(move || {
                let own = boxes.of(1);
                if fault != Fault::SendOwnAlone {
                    boxes.send_of(0);
                }
                lock(&own).add(Part::Contents, 1);
                boxes.send(&mut lock(&own));
            })
        };
        let finds = {
            let (boxes, channel) = (Arc::clone(&boxes), Arc::clone(&channel));
            thread::spawn(move || {
                lock(&finder).add(Part::Other, 1);
                if fault == Fault::SendUnlocked {
                    let message = lock(&finder).take();
                    let _ = message.is_empty() || channel.send(message);
                } else {
                    boxes.send(&mut lock(&finder));
                }
            })
        };
        let mut received = Vec::new();
        while received.len() < 3 {
            received.extend(channel.receive());
        }
        takes_over.join().unwrap();
        finds.join().unwrap();
        let at = |part| received.iter().position(|one| *one == part).unwrap();
        assert!(
            at(Part::Directory) < at(Part::Contents),
            "a directory comes before its contents: {received:?}"
        );
    });
}

#[test]
fn a_directory_is_received_before_its_contents() {
    walked(Fault::None);
}

#[test]
#[should_panic(expected = "a directory comes before its contents")]
fn contents_that_are_sent_alone_come_first() {
    walked(Fault::SendOwnAlone);
}

#[test]
#[should_panic(expected = "a directory comes before its contents")]
fn a_message_that_is_sent_without_the_lock_is_overtaken() {
    walked(Fault::SendUnlocked);
}
