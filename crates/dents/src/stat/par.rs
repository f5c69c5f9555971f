//! Threads, each taking the next few entries until none are left.

use super::ask::Asker;
use super::flight::Flight;
use super::{Harvest, Question, Todo, Workers};
use crate::batch::{Dent, Meta, Metas, Names};
use crate::lock::Mutex;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use dents_sys::{AsFd, dir};

/// A few entries to ask.
pub(crate) struct Piece<'p> {
    /// Their place among all.
    pub(crate) start: usize,
    pub(crate) dents: &'p [Dent],
    pub(crate) names: Names<'p>,
}

/// Memory of a worker's own for the entries it takes, where they cannot stay where they are.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) dents: Vec<Dent>,
    pub(crate) names: Vec<u8>,
}

/// Where workers get their entries from. Pieces come in order and never twice.
pub(crate) trait Supply: Sync {
    /// The next few, `step` at most, or none when all have been handed out.
    fn next<'p>(&'p self, scratch: &'p mut Scratch, step: usize) -> Option<Piece<'p>>;
}

/// Entries that have all been read.
struct Listed<'a> {
    todo: &'a Todo<'a>,
    next: AtomicUsize,
}

impl Supply for Listed<'_> {
    fn next<'p>(&'p self, _: &'p mut Scratch, step: usize) -> Option<Piece<'p>> {
        let start = self.next.fetch_add(step, Ordering::Relaxed);
        let end = self.todo.dents.len().min(start + step);
        let dents = self.todo.dents.get(start..end).filter(|dents| !dents.is_empty())?;
        Some(Piece { start, dents, names: self.todo.names })
    }
}

/// What answers far away need.
#[derive(Clone, Copy)]
pub(crate) struct Far {
    /// Threads, if answers turn out to come from memory after all.
    pub(crate) cores: usize,
    /// Whether to look a name up once for all that is asked about it ([`Asker::hold`]).
    pub(crate) holds: bool,
}

/// Who asks.
#[derive(Clone, Copy)]
pub(crate) struct Crew<'a> {
    pub(crate) threads: usize,
    /// Whether each answer is a round trip: then as many threads ask at once as turns out to pay, on so many cores.
    pub(crate) round_trips: Option<Far>,
    pub(crate) workers: &'a dyn Workers,
}

impl Crew<'_> {
    /// Entries taken at a time: at 2 µs an answer a worker comes back for more every 130 µs, so nobody waits for
    /// anybody, and at the end for no more than that. Fewer where there are few, so that all have work to the end; where
    /// each answer is a round trip, one.
    pub(crate) fn step(&self, entries: usize) -> usize {
        if self.round_trips.is_some() {
            return 1;
        }
        (entries / self.threads.max(1) / 4).clamp(1, Metas::CHUNK).next_power_of_two()
    }
}

pub(crate) fn fill(todo: &Todo<'_>, metas: &mut Metas, harvest: &mut Harvest, crew: Crew<'_>) {
    let step = crew.step(todo.dents.len());
    let listed = Listed { todo, next: AtomicUsize::new(0) };
    for piece in ask(&listed, todo.question, harvest, crew, step) {
        metas.append(piece);
    }
}

/// Asks about all that is supplied, on several threads. Returns the slots in the order of the entries.
pub(crate) fn ask(
    supply: &dyn Supply,
    question: Question<'_>,
    harvest: &mut Harvest,
    crew: Crew<'_>,
    step: usize,
) -> impl Iterator<Item = Vec<Meta>> + use<> {
    let first_texts = harvest.texts.len();
    let home = Mutex::new((Vec::new(), core::mem::take(harvest)));
    let flight = crew.round_trips.map(|far| Flight::new(crew.threads, far.cores));
    let ended = AtomicBool::new(false);
    crew.workers.run(crew.threads, &|worker| {
        let workers = crew.workers;
        let own = if worker > 0 && workers.share_descriptors() && !super::dir_is_cwd(question.dir) {
            dir::open(question.dir, c".").ok()
        } else {
            None
        };
        let mut question = question;
        if let Some(own) = &own {
            question.dir = own.as_fd();
        }
        let mut asker = Asker::new(question, first_texts + worker);
        if crew.round_trips.is_some_and(|far| far.holds) {
            asker.hold();
        }
        let (mut scratch, mut pieces) = (Scratch::default(), Vec::new());
        loop {
            let began = flight.as_ref().map(|flight| flight.enter(worker, &|| ended.load(Ordering::Acquire)));
            let step = flight.as_ref().map_or(step, Flight::step);
            let Some(Piece { start, dents, names }) = supply.next(&mut scratch, step) else { break };
            pieces.push((start, asker.ask_all(dents, names)));
            if let (Some(flight), Some(began)) = (&flight, began) {
                flight.answered(dents.len(), began);
            }
        }
        ended.store(true, Ordering::Release);
        flight.iter().for_each(Flight::end);
        let mut home = home.lock();
        home.0.append(&mut pieces);
        asker.bring_home(&mut home.1);
    });
    if let (Some(ledger), Some(flight)) = (question.ledger, &flight) {
        ledger.note_in_flight(flight.highest());
    }
    let (mut pieces, all) = home.into_inner();
    *harvest = all;
    pieces.sort_unstable_by_key(|(start, _)| *start);
    pieces.into_iter().map(|(_, metas)| metas)
}
