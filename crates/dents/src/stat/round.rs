//! Asking about all entries of a supply, on any number of threads: those that a strategy starts, and those that come to
//! help.
//!
//! A question that hangs holds its thread, and whatever that thread has taken and not yet asked. So where somebody looks
//! on ([`Watch`](crate::watchdog::Watch)) the entries a thread takes lie on a *shelf* that others can reach: each is
//! claimed before it is asked. Helpers clear the shelves, then go on with the supply. What only one thread could do
//! (to find out how fast answers come) they do not wait for. Where nobody looks on there are no shelves, and this
//! costs nothing; on a shelf, 64 entries cost a copy of their names, 0.3 µs, and a claim each.

use super::ask::Asker;
use super::auto;
use super::flight::{FIRST, Flight};
use super::par::{Crew, Piece, Scratch, Supply, Taking};
use super::policy::Policy;
use super::{Harvest, Question, Workers, dir_is_cwd};
use crate::batch::{Dent, Meta, Names};
use crate::lock::Mutex;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use dents_sys::{AsFd, OwnedFd, clock, dir};

/// Entries that a helper takes at a time.
const A_FEW: usize = 8;

/// So many answers that were round trips, and a helper calls for others.
const SLOW: u32 = 3;

/// Entries that somebody has taken and that anybody may ask.
struct Shelf {
    start: usize,
    dents: Vec<Dent>,
    names: Vec<u8>,
    /// Where in the arena the names begin.
    from: usize,
    next: AtomicUsize,
}

impl Shelf {
    fn new(piece: &Piece<'_>) -> Shelf {
        let Piece { start, dents, names } = *piece;
        let span = |dent: Option<&Dent>| dent.map_or((names.from, names.from), Dent::span);
        let (from, to) = (span(dents.first()).0, span(dents.last()).1);
        let names = names.bytes[from - names.from..to - names.from].to_vec();
        Shelf { start, dents: dents.to_vec(), names, from, next: AtomicUsize::new(0) }
    }

    fn has_more(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.dents.len()
    }

    /// The next to ask. Each comes once.
    fn claim(&self) -> Option<usize> {
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < self.dents.len())
    }
}

/// One asker's answers: runs of slots, each with the place of its first.
type Pieces = Vec<(usize, Vec<Meta>)>;

/// Somebody who asks.
struct Hand<'h> {
    asker: Asker<'h>,
    pieces: Pieces,
}

impl Hand<'_> {
    /// Everything about a few entries that nobody else can reach.
    fn ask(&mut self, piece: &Piece<'_>) {
        self.pieces.push((piece.start, self.asker.ask_all(piece.dents, piece.names)));
    }

    /// The same about those on a shelf, as long as there are any.
    fn clear(&mut self, shelf: &Shelf) {
        let names = Names { bytes: &shelf.names, from: shelf.from };
        while let Some(at) = shelf.claim() {
            let (dent, mut meta) = (&shelf.dents[at], Meta::default());
            self.asker.ask(dent.kind(), dent.c_name(names), &mut meta);
            self.keep(shelf.start + at, meta, shelf.dents.len() - at);
        }
    }

    /// Keeps a slot, of which as many as `more` may follow in their order.
    fn keep(&mut self, place: usize, meta: Meta, more: usize) {
        if let Some((start, metas)) = self.pieces.last_mut()
            && *start + metas.len() == place
        {
            return metas.push(meta);
        }
        let mut metas = Vec::with_capacity(more);
        metas.push(meta);
        self.pieces.push((place, metas));
    }
}

/// The asking, while it lasts.
pub(crate) struct Round<'r> {
    supply: &'r dyn Supply,
    question: Question<'r>,
    workers: &'r dyn Workers,
    /// The texts of the next asker have this number.
    askers: AtomicUsize,
    shelves: Mutex<Vec<Arc<Shelf>>>,
    /// A strategy is under way, so that enough ask at once.
    is_manned: AtomicBool,
    /// Helpers cannot get at the directory.
    is_helpless: AtomicBool,
    home: Mutex<(Pieces, Harvest)>,
}

impl<'r> Round<'r> {
    pub(crate) fn new(supply: &'r dyn Supply, question: Question<'r>, workers: &'r dyn Workers) -> Round<'r> {
        Round {
            supply,
            question,
            workers,
            askers: AtomicUsize::new(0),
            shelves: Mutex::default(),
            is_manned: AtomicBool::new(false),
            is_helpless: AtomicBool::new(false),
            home: Mutex::default(),
        }
    }

    /// Runs `during`, which asks; if somebody looks on, others may come to help meanwhile. Gives what was
    /// brought home, and the slots in the order of the entries.
    pub(crate) fn slots(
        self,
        during: &mut dyn FnMut(&Round<'r>),
    ) -> (Harvest, impl Iterator<Item = Vec<Meta>> + use<>) {
        match self.question.watch {
            None => during(&self),
            Some(watch) => {
                watch.want(0);
                let wanted = || self.has_work();
                self.workers.with_replacements(&wanted, &|| self.help(), &mut || during(&self));
            }
        }
        let (mut pieces, harvest) = self.home.into_inner();
        pieces.sort_unstable_by_key(|(start, _)| *start);
        (harvest, pieces.into_iter().map(|(_, metas)| metas))
    }

    fn has_work(&self) -> bool {
        !self.is_helpless.load(Ordering::Relaxed) && (self.shelf().is_some() || self.supply.has_more())
    }

    /// Asks about the first few entries on this thread. Returns how long one took, on average since the last but one look
    /// at the clock, beside the policy that says when to look.
    pub(crate) fn probe(&self, policy: &'static Policy) -> (u64, &'static Policy) {
        let (mut hand, mut scratch) = (self.hand(self.question), Scratch::default());
        // A reading of the clock is as good as any call to see what any call takes.
        let before = clock::monotonic_ns();
        let (mut latency_ns, mut last) = (0, clock::monotonic_ns());
        let any_call_ns = last - before;
        for count in policy.looks() {
            let taking = Taking { step: *count, low: 0, dir: self.question.dir };
            // None are left where others have come meanwhile.
            let Some(piece) = self.supply.next(&taking, &mut scratch) else { break };
            self.ask(&mut hand, &piece);
            let now = clock::monotonic_ns();
            latency_ns = auto::latency_ns(now - last, *count, any_call_ns);
            last = now;
            // So fast that nothing but memory can have answered: there is nothing more to find out.
            let sure = latency_ns < auto::FROM_MEMORY_NS;
            if sure || auto::is_round_trip(latency_ns) && policy.believes_the_first_look() {
                break;
            }
        }
        self.bring_home(hand);
        (latency_ns, policy)
    }

    /// Asks about the rest, of which there are about so many.
    pub(crate) fn run(&self, crew: &Crew, entries: usize) {
        let flight = crew.round_trips.then(|| Flight::new(crew.threads, crew.cores));
        let ended = AtomicBool::new(false);
        self.is_manned.store(true, Ordering::Relaxed);
        self.question.watch.iter().for_each(|watch| watch.want(0));
        let step = crew.step(entries);
        // Longer than it takes to read a buffer: 0.3 µs an entry, of which the others ask about one in 2 µs.
        let low = 8 * step * crew.threads;
        self.workers.run(crew.threads, &|worker| {
            let own = self.own_directory(worker);
            let mut question = self.question;
            if let Some(own) = &own {
                question.dir = own.as_fd();
            }
            let mut hand = self.hand(question);
            if crew.holds {
                hand.asker.hold();
            }
            // Read on by the descriptor that was read by so far: one of its own begins at the first entry.
            let (mut scratch, mut taking) =
                (Scratch::default(), Taking { step, low, dir: self.question.dir });
            loop {
                let began =
                    flight.as_ref().map(|flight| flight.enter(worker, &|| ended.load(Ordering::Acquire)));
                taking.step = flight.as_ref().map_or(step, Flight::step);
                let Some(piece) = self.supply.next(&taking, &mut scratch) else { break };
                self.ask(&mut hand, &piece);
                if let (Some(flight), Some(began)) = (&flight, began) {
                    flight.answered(piece.dents.len(), began);
                }
            }
            ended.store(true, Ordering::Release);
            flight.iter().for_each(Flight::end);
            self.clear_shelves(&mut hand);
            self.bring_home(hand);
        });
        if let (Some(ledger), Some(flight)) = (self.question.ledger, &flight) {
            ledger.note_in_flight(flight.highest());
        }
    }

    fn own_directory(&self, worker: usize) -> Option<OwnedFd> {
        let shared = worker > 0 && self.workers.share_descriptors() && !dir_is_cwd(self.question.dir);
        if shared { dir::open(self.question.dir, c".").ok() } else { None }
    }

    fn hand<'h>(&self, question: Question<'h>) -> Hand<'h> {
        let number = self.askers.fetch_add(1, Ordering::Relaxed);
        let asker = Asker::new(question, number);
        question.watch.iter().for_each(|watch| watch.take(asker.desk));
        Hand { asker, pieces: Vec::new() }
    }

    /// Everything about a few entries that were taken. One alone nobody could take off again.
    fn ask(&self, hand: &mut Hand<'_>, piece: &Piece<'_>) {
        if self.question.watch.is_none() || piece.dents.len() < 2 {
            return hand.ask(piece);
        }
        let shelf = Arc::new(Shelf::new(piece));
        let mut shelves = self.shelves.lock();
        shelves.retain(|shelf| shelf.has_more());
        shelves.push(shelf.clone());
        drop(shelves);
        hand.clear(&shelf);
    }

    /// A shelf that is not empty.
    fn shelf(&self) -> Option<Arc<Shelf>> {
        self.shelves.lock().iter().find(|shelf| shelf.has_more()).cloned()
    }

    fn clear_shelves(&self, hand: &mut Hand<'_>) {
        if self.question.watch.is_some() {
            while let Some(shelf) = self.shelf() {
                hand.clear(&shelf);
            }
        }
    }

    /// Goes on in the place of those that wait. A name is looked up once for all its questions, as it pays where answers
    /// are slow.
    fn help(&self) {
        let mut question = self.question;
        let own = (!dir_is_cwd(question.dir)).then(|| dir::of_first_thread(question.dir)).transpose();
        let Ok(own) = own else { return self.is_helpless.store(true, Ordering::Relaxed) };
        if let Some(own) = &own {
            question.dir = own.as_fd();
        }
        let mut hand = self.hand(question);
        hand.asker.hold();
        let (mut scratch, taking) =
            (Scratch::default(), Taking { step: A_FEW, low: A_FEW, dir: question.dir });
        let mut slow = 0;
        loop {
            self.clear_shelves(&mut hand);
            let began = clock::monotonic_ns();
            let Some(piece) = self.supply.next(&taking, &mut scratch) else { break };
            self.ask(&mut hand, &piece);
            let each = (clock::monotonic_ns() - began) / piece.dents.len() as u64;
            slow = if auto::is_round_trip(each) { slow + piece.dents.len() as u32 } else { 0 };
            if slow >= SLOW && !self.is_manned.load(Ordering::Relaxed) {
                // Whoever would have started as many hangs.
                self.question.watch.iter().for_each(|watch| watch.want(FIRST));
            }
        }
        self.bring_home(hand);
    }

    fn bring_home(&self, mut hand: Hand<'_>) {
        let mut home = self.home.lock();
        home.0.append(&mut hand.pieces);
        hand.asker.bring_home(&mut home.1);
    }
}
